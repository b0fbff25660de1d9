# SPDX-License-Identifier: Apache-2.0
"""Vias that qrouter 1.4.71 left out.

It takes stacked vias apart, and now and then two parts of a net lie over each other afterwards, or a wire over a pin,
with no via between them. Such vias are added to nets that differ from the netlist; the comparison and the design rules
judge the result.
"""

import re
from pathlib import Path

from ...base.errors import ToolFailed
from .netlist import Netlist
from .place import LEF, UNITS
from .route import LAYERS, VIA_NAMES, Route, routes

Piece = tuple[int, int, int, int, int]  # layer, and its two corners, in DEF units as all below
Rectangle = tuple[int, int, int, int]
Via = tuple[int, int, int]  # lower layer, x, y

HALF_WIDTH = 20  # of a via's pad


def units(um: str) -> int:
    return round(float(um) * UNITS)


def touch(one: Piece, other: Piece) -> bool:
    """Whether two pieces of one net meet."""
    return (
        one[0] == other[0] and one[1] <= other[3] and other[1] <= one[3] and one[2] <= other[4] and other[2] <= one[4]
    )


def parts(wires: Route) -> list[list[Piece]]:
    """Pieces of a net, in groups that are joined."""
    pieces = [*wires.wires, *((layer, x, y, x, y) for via, x, y in wires.vias for layer in (via, via + 1))]
    group = list(range(len(pieces)))

    def root(index: int) -> int:
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
    result: dict[int, list[Piece]] = {}
    for index, piece in enumerate(pieces):
        result.setdefault(root(index), []).append(piece)
    return list(result.values())


def missing_via(groups: list[list[Piece]]) -> Via | None:
    """(lower layer, x, y) where two groups lie over each other, or None."""
    for index, group in enumerate(groups):
        for other in groups[:index]:
            for one in group:
                for two in other:
                    if abs(one[0] - two[0]) == 1 and touch((0, *one[1:]), (0, *two[1:])):
                        return min(one[0], two[0]), max(one[1], two[1]), max(one[2], two[2])
    return None


def pin_shapes() -> tuple[dict[tuple[str, str], list[Rectangle]], dict[str, tuple[int, int]]]:
    """(type of cell, pin) -> rectangles on metal1, DEF units; type -> (width, height)."""
    shapes: dict[tuple[str, str], list[Rectangle]] = {}
    sizes: dict[str, tuple[int, int]] = {}
    with open(LEF, encoding="latin-1") as file:
        text = file.read()
    for cell, body in re.findall(r"^MACRO (\S+)\n(.*?)^END \1", text, re.MULTILINE | re.DOTALL):
        size = re.search(r"SIZE\s+(\S+)\s+BY\s+(\S+)", body)
        if size:
            sizes[cell] = units(size.group(1)), units(size.group(2))
        for pin, ports in re.findall(r"^  PIN (\S+)\n(.*?)^  END \1", body, re.MULTILINE | re.DOTALL):
            metal1 = "".join(re.findall(r"LAYER metal1 ;\n((?:\s+RECT.*\n)+)", ports))
            shapes[cell, pin] = [
                (units(x0), units(y0), units(x1), units(y1))
                for x0, y0, x1, y1 in re.findall(r"RECT\s+(\S+)\s+(\S+)\s+(\S+)\s+(\S+)\s*;", metal1)
            ]
    return shapes, sizes


def placed(rectangle: Rectangle, size: tuple[int, int], corner: tuple[int, int], orientation: str) -> Rectangle:
    """A rectangle of a cell where the cell stands."""
    x0, y0, x1, y1 = rectangle
    if orientation in ("S", "FN"):
        x0, x1 = size[0] - x1, size[0] - x0
    if orientation in ("S", "FS"):
        y0, y1 = size[1] - y1, size[1] - y0
    return x0 + corner[0], y0 + corner[1], x1 + corner[0], y1 + corner[1]


def via_to_pin(wires: Route, rectangles: list[Rectangle]) -> Via | None:
    """(0, x, y) where metal2 of a net ends over a pin that its metal1 does not touch, or None."""

    def over(x0: int, y0: int, x1: int, y1: int, margin: float) -> bool:
        return any(
            x0 <= right + margin and left - margin <= x1 and y0 <= top + margin and bottom - margin <= y1
            for left, bottom, right, top in rectangles
        )

    if any(layer == 0 and over(x0, y0, x1, y1, HALF_WIDTH) for layer, x0, y0, x1, y1 in wires.wires) or any(
        layer == 0 and over(x, y, x, y, HALF_WIDTH) for layer, x, y in wires.vias
    ):
        return None
    points = [point for layer, x0, y0, x1, y1 in wires.wires if layer == 1 for point in ((x0, y0), (x1, y1))]
    points += [(x, y) for layer, x, y in wires.vias if layer == 1]
    return next(((0, x, y) for x, y in sorted(set(points)) if over(x, y, x, y, 0)), None)


def missing_vias(
    netlist: Netlist,
    net: str,
    wires: Route,
    text: str,
    shapes: dict[tuple[str, str], list[Rectangle]],
    sizes: dict[str, tuple[int, int]],
) -> list[Via]:
    """All vias to add to a net."""
    found = []
    while (via := missing_via(parts(wires))) is not None:
        wires.vias.append(via)
        found.append(via)
    kinds = {cell.name: cell.type for cell in netlist.cells}
    for cell, pin in netlist.pins_of()[net]:
        at = re.search(rf"^- {re.escape(cell)} \S+ \+ PLACED \( (-?\d+) (-?\d+) \) (\w+)", text, re.MULTILINE)
        if not at:
            raise ToolFailed(f"{netlist.top}: cell {cell} is not placed")
        corner = int(at.group(1)), int(at.group(2))
        rectangles = [
            placed(rectangle, sizes[kinds[cell]], corner, at.group(3)) for rectangle in shapes[kinds[cell], pin]
        ]
        if (via := via_to_pin(wires, rectangles)) is not None:
            wires.vias.append(via)
            found.append(via)
    return found


def add_missing_vias(netlist: Netlist, def_file: Path, nets: set[str]) -> int:
    """Adds those of some nets to the DEF file; how many."""
    text = def_file.read_text(encoding="ascii")
    shapes, sizes = pin_shapes()
    all_routes = routes(def_file)
    added = 0
    for net in sorted(nets & set(all_routes)):
        for layer, x, y in missing_vias(netlist, net, all_routes[net], text, shapes, sizes):
            piece = f"{LAYERS[layer]} ( {x} {y} ) {VIA_NAMES[layer]} \n  NEW "
            text, done = re.subn(
                rf"(^- {re.escape(net)}\n(?:  \(.*\n)*\+ ROUTED )", rf"\g<1>{piece}", text, count=1, flags=re.MULTILINE
            )
            added += done
    if added:
        def_file.write_text(text, encoding="ascii")
    return added
