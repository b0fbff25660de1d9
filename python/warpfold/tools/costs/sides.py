# SPDX-License-Identifier: Apache-2.0
"""How often a warp issued what lies ahead of a branch where its lanes part.

Lanes that part behind a marker are followed apart, so each side's way begins at that marker, and what all of them
have in common would count once for each. A marker is left more often than it was reached where lanes parted behind
it: the common begin of the ways onward then ran as often as it was reached.
"""

from collections import Counter
from collections.abc import Sequence

from .kernel_ways import ENTRY, KernelWays


class Onward:
    """The ways from one marker, as a tree of the nodes that they pass."""

    def __init__(self) -> None:
        self.gone = 0
        self.next: dict[int, Onward] = {}

    def add(self, nodes: Sequence[int], passes: int) -> None:
        self.gone += passes
        place = self
        for number in nodes:
            place = place.next.setdefault(number, Onward())
            place.gone += passes

    def visits(self, most: int, count: Counter[int]) -> None:
        """Adds how often each node was issued, if the begin was at most so often."""
        rest = [(self, min(most, self.gone))]
        while rest:
            place, issued = rest.pop()
            for number, behind in place.next.items():
                times = min(issued, behind.gone)
                count[number] += times
                rest.append((behind, times))


def issued(kernel: KernelWays, ways: Sequence[Sequence[int]], passes: Sequence[int], warps: int) -> list[float] | None:
    """How often each instruction was issued by `warps` warps that went these ways; None where no lanes parted behind a
    marker."""
    onward: dict[int, Onward] = {}
    reached: Counter[int] = Counter({ENTRY: warps})
    for way, times in zip(ways, passes):
        found = kernel.steps(tuple(way))
        if found is None:
            continue
        for start, end, nodes in zip(way, way[1:], found[0]):
            onward.setdefault(start, Onward()).add(nodes, times)
            reached[end] += times
    # The first marker of a recording of a part may have been reached by others.
    if all(tree.gone <= reached[start] or reached[start] == 0 for start, tree in onward.items()):
        return None
    count: Counter[int] = Counter()
    for start, tree in onward.items():
        tree.visits(reached[start] or tree.gone, count)
    flow = kernel.flow
    return [float(count[flow.node_of[number]]) for number in range(len(flow.code))]
