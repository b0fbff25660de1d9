# SPDX-License-Identifier: Apache-2.0
"""Routing by qrouter, and the wires of its DEF file."""

from pathlib import Path
import re
from dataclasses import dataclass, field

from ...base.errors import ToolFailed
from .place import LEF, UNITS, tool
from .netlist import Netlist


LAYERS = [f"metal{number}" for number in range(1, 7)]
VIA_NAMES = [f"M{number + 1}_M{number}" for number in range(1, 6)]
VIAS = {name: index for index, name in enumerate(VIA_NAMES)}  # -> index of its lower layer


@dataclass
class Route:
    """Wires and vias of one net, in DEF units; layers as indices."""

    wires: list[tuple[int, int, int, int, int]] = field(default_factory=list)  # (layer, x0, y0, x1, y1), ends in order
    vias: list[tuple[int, int, int]] = field(default_factory=list)  # (lower layer, x, y)


def route(netlist: Netlist, folder: Path, logs: Path) -> tuple[Path, Path]:
    """Routes the DEF file in the folder; (routed DEF file, file of resistances and capacitances)."""
    top = netlist.top
    script = [
        "verbose 1",
        f"read_lef {LEF}",
        f"layers {len(LAYERS)}",
        "via stack 1",
        "vdd vdd",
        "gnd gnd",
        (folder / f"{top}.obs").read_text(encoding="ascii"),
        f"read_def {top}.def",
        f"qrouter::standard_route {top}_route.def false",
        "quit",
        "",
    ]
    (folder / f"{top}.cfg").write_text("\n".join(script), encoding="ascii")
    tool(
        ["qrouter", "-nog", "-s", f"{top}.cfg"],
        logs / "qrouter.log",
        top,
        folder,
        [f"{top}_route.def", f"{top}_route.rc"],
    )
    failed = re.findall(r"Final: (.*)", (logs / "qrouter.log").read_text(encoding="latin-1"))
    if not failed or "No failed" not in failed[-1]:
        raise ToolFailed(f"{top}: qrouter left nets without a route: {failed[-1] if failed else 'no result'}")
    return folder / f"{top}_route.def", folder / f"{top}_route.rc"


def parse_path(tokens: list[str], layer: int, result: Route) -> None:
    """Points and vias behind a layer's name."""
    points: list[tuple[int, int]] = []
    position = 0
    while position < len(tokens):
        if tokens[position] != "(":
            if tokens[position] in VIAS:
                result.vias.append((VIAS[tokens[position]], *points[-1]))
            position += 1
            continue
        close = tokens.index(")", position)
        # A star stands for what it was at the point before.
        before = points[-1] if points else (0, 0)
        x, y = (old if text == "*" else int(text) for text, old in zip(tokens[position + 1 : close], before))
        if points:
            result.wires.append((layer, min(before[0], x), min(before[1], y), max(before[0], x), max(before[1], y)))
        points.append((x, y))
        position = close + 1


def routes(def_file: Path) -> dict[str, Route]:
    """Net -> Route, with the short stubs that qrouter writes as special nets."""
    text = def_file.read_text(encoding="ascii")
    result: dict[str, Route] = {}
    for section in ("NETS", "SPECIALNETS"):
        body = re.search(rf"^{section} \d+ *;?\n(.*?)^END {section}", text, re.MULTILINE | re.DOTALL)
        for net, rest in re.findall(r"^- (\S+)(.*?);$", body.group(1) if body else "", re.MULTILINE | re.DOTALL):
            paths = re.split(r"\bROUTED\b|\bNEW\b", rest)[1:]
            for path in paths:
                layer, *tokens = path.split()
                if layer in LAYERS:
                    parse_path(tokens, LAYERS.index(layer), result.setdefault(net, Route()))
    return result


def length_by_layer(nets: dict[str, Route]) -> dict[str, float]:
    """Layer -> um of wire. The supplies' stripes are no wires."""
    lengths = dict.fromkeys(LAYERS, 0)
    for net, wires in nets.items():
        if net in ("vdd", "gnd"):
            continue
        for layer, x0, y0, x1, y1 in wires.wires:
            lengths[LAYERS[layer]] += x1 - x0 + y1 - y0
    return {layer: length / UNITS for layer, length in lengths.items()}
