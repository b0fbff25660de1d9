# SPDX-License-Identifier: Apache-2.0
"""A clock tree: buffers between the clock's port and the flops, every flop behind the same number of them.

The tree is cut after a first placement. After the second one, which places the buffers too, flops and buffers are
handed out anew by where they came to stand: the second placement does not keep to the first.
"""

from .netlist import Cell, Netlist

BUFFER = "CLKBUF1"
FLOPS = ("DFFPOSX1", "DFFNEGX1", "DFFSR")
CLOCK_PIN = "CLK"
FLOPS_PER_BUFFER = 16
BUFFERS_PER_BUFFER = 8
Places = dict[str, tuple[float, float]]  # of cells, um


def cut(items: list[str], places: Places, parts: int) -> list[list[str]]:
    """Items in `parts` groups of about the same size that lie together."""
    if parts == 1:
        return [items]
    spans = [max(places[item][axis] for item in items) - min(places[item][axis] for item in items) for axis in (0, 1)]
    axis = 0 if spans[0] >= spans[1] else 1
    items = sorted(items, key=lambda item: (places[item][axis], places[item][1 - axis], item))
    half = parts // 2
    middle = len(items) * half // parts
    return cut(items[:middle], places, half) + cut(items[middle:], places, parts - half)


def centre(items: list[str], places: Places) -> tuple[float, float]:
    x, y = (sum(places[item][axis] for item in items) / len(items) for axis in (0, 1))
    return x, y


def flops_of(netlist: Netlist, clock: str) -> list[Cell]:
    return [cell for cell in netlist.cells if cell.type in FLOPS and cell.pins.get(CLOCK_PIN) == clock]


def insert(netlist: Netlist, clock: str, places: Places) -> list[list[Cell]]:
    """Adds a tree to the netlist; the levels of buffers from the flops up, empty where no flop has this clock."""
    cells = {cell.name: cell for cell in flops_of(netlist, clock)}
    places = dict(places)
    levels: list[list[Cell]] = []
    below, pin, limit = list(cells), CLOCK_PIN, FLOPS_PER_BUFFER
    while below:
        level: list[Cell] = []
        for group in cut(below, places, -(-len(below) // limit)):
            net = f"clock_{len(levels)}_{len(level)}"
            buffer = netlist.add(BUFFER, {"A": clock, "Y": net})
            for name in group:
                cells[name].pins[pin] = net
            cells[buffer.name] = buffer
            places[buffer.name] = centre(group, places)
            level.append(buffer)
        levels.append(level)
        if len(level) == 1:
            break
        below, pin, limit = [buffer.name for buffer in level], "A", BUFFERS_PER_BUFFER
    return levels


def assign(netlist: Netlist, levels: list[list[Cell]], places: Places) -> None:
    """Hands out what each buffer drives by where all of them stand."""
    cells = {cell.name: cell for cell in netlist.cells}
    nets = {buffer.pins["Y"] for buffer in levels[0]} if levels else set()
    below, pin = [cell.name for cell in netlist.cells if cell.pins.get(CLOCK_PIN) in nets], CLOCK_PIN
    for level in levels:
        free = [buffer.name for buffer in level]
        for group in cut(below, places, len(level)):
            middle = centre(group, places)
            near = min(
                free, key=lambda name: (abs(places[name][0] - middle[0]) + abs(places[name][1] - middle[1]), name)
            )
            free.remove(near)
            for name in group:
                cells[name].pins[pin] = cells[near].pins["Y"]
        below, pin = [buffer.name for buffer in level], "A"
