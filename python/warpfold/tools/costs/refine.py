# SPDX-License-Identifier: Apache-2.0
"""Costs of ways, held to how often the GPU ran each instruction.

Markers do not tell everything: a pass of a loop in which a warp meets no marker is not reported, two ways between two
markers look alike, and lanes that part issue the place where they meet once each. ncu counts how often warps issued
each instruction of a launch (inst_executed). What a block was run more often than its ways say is shared out among
the steps between two markers that may pass it, by how often these were gone; what it was run less often is taken
from the steps that were thought to pass it. So the sum over all ways is what the GPU issued, block by block; how
it is spread over the ways of a block is an estimate.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence

from .cost import ISSUED, Cost, counted, is_branch, stall_of
from .instructions import SassError
from .kernel_flow import Node
from .kernel_ways import KernelWays


FIELDS = ISSUED + ["stall_cycles", "branches"]
FILLERS = {"NOP", "BRA"}  # behind the end of a kernel
Step = tuple[int, int]  # from a marker to the next
Contents = defaultdict[str, float]  # by field of a cost; also parts of a whole


def contents(kernel: KernelWays, node: Node) -> Contents:
    """What a node adds to a cost."""
    found: Contents = defaultdict(float)
    for i in kernel.flow.code[node.first : node.last + 1]:
        found["stall_cycles"] += stall_of(i)
        found["branches"] += is_branch(i)
        if counted(i):
            found[i.kind] += 1
    return found


class Refinement:
    """Of the ways of one launch. `executed`: for each instruction, how often the warps whose passes these are issued
    it; a fraction where that is part of a launch."""

    def __init__(
        self, kernel: KernelWays, ways: Sequence[Sequence[int]], passes: list[int], executed: Sequence[float]
    ) -> None:
        behind = len(kernel.flow.code) - len(executed)
        # ncu leaves out what fills a kernel up.
        if behind < 0 or any(i.opcode not in FILLERS for i in kernel.flow.code[len(executed) :]):
            raise SassError(
                f"the counts are of {len(executed)} instructions, and the kernel has " f"{len(kernel.flow.code)}"
            )
        self.kernel = kernel
        self.ways = [tuple(way) for way in ways]
        self.passes = passes
        self.executed = [*executed, *[0] * behind]
        self.gone: Counter[Step] = Counter()  # passes
        self.predicted: dict[Step, Counter[int]] = {}  # nodes in a pass
        self._follow()
        # What a pass costs beside what was thought.
        self.more: dict[Step, Contents] = {step: defaultdict(float) for step in self.gone}
        self.unplaced = 0.0  # instructions that no step can have issued
        self._share_out()

    def _follow(self) -> None:
        for way, passes in zip(self.ways, self.passes):
            found = self.kernel.steps(way)
            if found is not None:
                for start, end, nodes in zip(way, way[1:], found[0]):
                    self.gone[start, end] += passes
                    self.predicted.setdefault((start, end), Counter(nodes))

    def _share_out(self) -> None:
        kernel = self.kernel
        thought: Counter[int] = Counter()  # node -> visits
        passing: dict[int, list[Step]] = {}  # node -> steps that may pass it
        for step, passes in self.gone.items():
            for number, visits in self.predicted[step].items():
                thought[number] += visits * passes
            for number in kernel.nodes_between(*step) | set(self.predicted[step]):
                passing.setdefault(number, []).append(step)
        for number, node in enumerate(kernel.flow.nodes):
            beyond: float = self.executed[node.first] - thought[number]
            if beyond == 0:
                continue
            weights = {
                step: self.gone[step] * (1 if beyond > 0 else self.predicted[step][number])
                for step in passing.get(number, ())
            }
            total = sum(weights.values())
            if total == 0:
                self.unplaced += beyond * (node.last + 1 - node.first)
                continue
            holds = contents(kernel, node)
            for step, weight in weights.items():
                share = beyond * weight / total / self.gone[step]
                for field, count in holds.items():
                    self.more[step][field] += share * count

    def costs(self) -> list[Cost | None]:
        """One for each way, None where no way leads there. What rounding leaves of rare ways goes to frequent ones."""
        found = [self.kernel.cost(way) for way in self.ways]
        carried: dict[str, float] = dict.fromkeys(FIELDS, 0.0)
        for place in sorted(range(len(self.ways)), key=lambda p: self.passes[p]):
            thought = found[place]
            if thought is None or self.passes[place] == 0:
                continue
            cost = dict(thought)
            more: Contents = defaultdict(float)
            for step in zip(self.ways[place], self.ways[place][1:]):
                for field, extra in self.more[step].items():
                    more[field] += extra
            changed = False
            for field in FIELDS:
                wanted = cost[field] + more[field] + carried[field] / self.passes[place]
                # Only ways that differ from what was thought take over what rounding left of others.
                rounded = max(0, round(wanted if more[field] else cost[field]))
                if more[field]:
                    carried[field] = (wanted - rounded) * self.passes[place]
                changed = changed or rounded != cost[field]
                cost[field] = rounded
            cost["branches"] = min(cost["branches"], sum(cost[f] for f in ISSUED))
            if changed:
                cost["estimated"] = True
            found[place] = cost
        return found


def refined(
    kernel: KernelWays, ways: Sequence[Sequence[int]], passes: list[int], executed: Sequence[float]
) -> list[Cost | None]:
    """Costs as Refinement.costs gives them."""
    return Refinement(kernel, ways, passes, executed).costs()
