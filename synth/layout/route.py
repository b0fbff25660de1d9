# SPDX-License-Identifier: Apache-2.0
"""Routing by qrouter, and the wires of its DEF file.

qrouter 1.4.71 now and then draws two parts of a net over each other and leaves out the via between them. Such a via
is added here; the comparison with the netlist and the design rules judge the result.
"""

import re
from dataclasses import dataclass, field

import synth
from place import LEF, UNITS, tool

LAYERS = [f"metal{number}" for number in range(1, 7)]
VIAS = {f"M{number + 1}_M{number}": number - 1 for number in range(1, 6)}  # -> index of its lower layer
VIA_NAMES = [f"M{number + 1}_M{number}" for number in range(1, 6)]


@dataclass
class Route:
    """Wires and vias of one net, in DEF units; layers as indices."""

    wires: list = field(default_factory=list)  # (layer, x0, y0, x1, y1), ends in order
    vias: list = field(default_factory=list)  # (lower layer, x, y)


def route(netlist, folder, logs):
    """Routes the DEF file in the folder; (routed DEF file, file of resistances and capacitances)."""
    top = netlist.top
    script = ["verbose 1", f"read_lef {LEF}", f"layers {len(LAYERS)}", "via stack 1", "vdd vdd", "gnd gnd",
              (folder / f"{top}.obs").read_text(encoding="ascii"), f"read_def {top}.def",
              f"qrouter::standard_route {top}_route.def false", "quit", ""]
    (folder / f"{top}.cfg").write_text("\n".join(script), encoding="ascii")
    tool(["qrouter", "-nog", "-s", f"{top}.cfg"], logs / "qrouter.log", top, folder,
         [f"{top}_route.def", f"{top}_route.rc"])
    failed = re.findall(r"Final: (.*)", (logs / "qrouter.log").read_text(encoding="latin-1"))
    if not failed or "No failed" not in failed[-1]:
        raise synth.ToolFailed(f"{top}: qrouter left nets without a route: {failed[-1] if failed else 'no result'}")
    return folder / f"{top}_route.def", folder / f"{top}_route.rc"


def parse_path(tokens, layer, result):
    """Points and vias behind a layer's name."""
    x = y = None
    position = 0
    while position < len(tokens):
        if tokens[position] != "(":
            if tokens[position] in VIAS:
                result.vias.append((VIAS[tokens[position]], x, y))
            position += 1
            continue
        close = tokens.index(")", position)
        new_x, new_y = (old if text == "*" else int(text) for text, old in
                        zip(tokens[position + 1:close], (x, y)))
        if x is not None:
            result.wires.append((layer, min(x, new_x), min(y, new_y), max(x, new_x), max(y, new_y)))
        x, y, position = new_x, new_y, close + 1


def routes(def_file):
    """Net -> Route, with the short stubs that qrouter writes as special nets."""
    text = def_file.read_text(encoding="ascii")
    result = {}
    for section in ("NETS", "SPECIALNETS"):
        body = re.search(rf"^{section} \d+ *;?\n(.*?)^END {section}", text, re.MULTILINE | re.DOTALL)
        for net, rest in re.findall(r"^- (\S+)(.*?);$", body.group(1) if body else "", re.MULTILINE | re.DOTALL):
            paths = re.split(r"\bROUTED\b|\bNEW\b", rest)[1:]
            for path in paths:
                layer, *tokens = path.split()
                if layer in LAYERS:
                    parse_path(tokens, LAYERS.index(layer), result.setdefault(net, Route()))
    return result


def length_by_layer(nets):
    """Layer -> um of wire. The supplies' stripes are no wires."""
    lengths = dict.fromkeys(LAYERS, 0)
    for net, wires in nets.items():
        if net in ("vdd", "gnd"):
            continue
        for layer, x0, y0, x1, y1 in wires.wires:
            lengths[LAYERS[layer]] += x1 - x0 + y1 - y0
    return {layer: length / UNITS for layer, length in lengths.items()}


# ------------------------------------------------------------------------------------------------
# Vias that are missing
# ------------------------------------------------------------------------------------------------

def touch(one, other):
    """Whether two pieces (layer, x0, y0, x1, y1) of one net meet."""
    return one[0] == other[0] and one[1] <= other[3] and other[1] <= one[3] and one[2] <= other[4] and other[2] <= one[4]


def parts(wires):
    """Pieces of a net, in groups that are joined."""
    pieces = [*wires.wires, *((layer, x, y, x, y) for via, x, y in wires.vias for layer in (via, via + 1))]
    group = list(range(len(pieces)))

    def root(index):
        while group[index] != index:
            index = group[index]
        return index

    for index, piece in enumerate(pieces):
        for before in range(index):
            if touch(piece, pieces[before]):
                group[root(index)] = root(before)
    first = len(wires.wires)
    for index in range(len(wires.vias)):  # its two layers
        group[root(first + 2 * index)] = root(first + 2 * index + 1)
    result = {}
    for index, piece in enumerate(pieces):
        result.setdefault(root(index), []).append(piece)
    return list(result.values())


def missing_via(groups):
    """(lower layer, x, y) where two groups lie over each other, or None."""
    for index, group in enumerate(groups):
        for other in groups[:index]:
            for one in group:
                for two in other:
                    if abs(one[0] - two[0]) == 1 and touch((0, *one[1:]), (0, *two[1:])):
                        return min(one[0], two[0]), max(one[1], two[1]), max(one[2], two[2])
    return None


def add_missing_vias(def_file, nets):
    """Adds those of some nets to the DEF file; how many."""
    text = def_file.read_text(encoding="ascii")
    added = 0
    for net, wires in routes(def_file).items():
        if net not in nets:
            continue
        while (via := missing_via(parts(wires))) is not None:
            wires.vias.append(via)
            layer, x, y = via
            piece = f"{LAYERS[layer]} ( {x} {y} ) {VIA_NAMES[layer]} \n  NEW "
            text, done = re.subn(rf"(^- {re.escape(net)}\n(?:  \(.*\n)*\+ ROUTED )", rf"\g<1>{piece}", text, count=1,
                                 flags=re.MULTILINE)
            added += done
    if added:
        def_file.write_text(text, encoding="ascii")
    return added
