# SPDX-License-Identifier: Apache-2.0
"""Costs of ways of a warp through any kernel, from one marker that it reported to the next.

Between two markers a warp may have come by several ways. Those that the launch's parameters rule out are none. Of the
others the longest counts, which in kernels that were compared with ncu's count of instructions is the one that is
gone. A loop without a marker counts with one pass. Both are marked as estimates where it makes a difference.

Ways are looked for level by level. First those without calls of subroutines that have no marker: slow paths of
divisions and roots. Then all that a converged warp can go. Then those over `rare` edges of the flow. Where none of
them leads to the marker, the warp has left lanes waiting, or ended, and gone on on another side of a branch.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

from .constants import Constants
from .cost import Cost, Tally, counted, is_branch, stall_of
from .graph import Exploration
from .instructions import Instruction, SassError
from .kernel_flow import ASIDE, CALLS, NO_CALLS, RARE, KernelFlow, Stack
from .markers import always_runs

ENTRY = -1
LONGEST_STRAIGHT = 64  # nodes
MOST_WAITS = 4096  # that a cost of the trace format holds
# The sum of a way as one number, so that ways can be compared and added up: fields of FIELD_BITS bits, slots on top.
FIELD_BITS = 40
FIELDS = [
    "slots",
    "stall_cycles",
    "integer",
    "sfu",
    "shared",
    "shared_wide",
    "global_load",
    "shuffle",
    "shuffle_index",
    "match",
    "redux",
    "branches",
]
SHIFT = {name: FIELD_BITS * (len(FIELDS) - 1 - at) for at, name in enumerate(FIELDS)}


def weight(instruction: Instruction, idle: bool = False) -> int:
    """What an instruction adds to a sum. `idle`: its predicate is false."""
    if idle:
        return (1 << SHIFT["slots"]) + (instruction.stall << SHIFT["stall_cycles"])
    total = stall_of(instruction) << SHIFT["stall_cycles"]
    if counted(instruction):
        total += 1 << SHIFT["slots"]
        if instruction.kind != "alu":
            total += 1 << SHIFT[instruction.kind]
        total += is_branch(instruction) << SHIFT["branches"]
    return total


def slots_of(total: int) -> int:
    """Issue slots of a sum."""
    return total >> SHIFT["slots"]


State = tuple[int, Stack, bool]  # node, call stack, changed sides?
Best = tuple[int, bool, bool, State | None]  # sum, is it the only one?, by way of a loop?, state before
# Nodes of the way to the last marker, and the steps before: the markers of a way may be hundreds.
Steps = tuple[list[int], Any]
Found = tuple[int, bool, Steps | None]  # sum, is it sure?, steps


class Search:
    """All ways from `starts` up to the next marker. A state is (node, call stack, changed sides?)."""

    def __init__(self, kernel: KernelWays, starts: list[State], level: int) -> None:
        self.kernel = kernel
        self.level = level
        self.graph = Exploration(starts, self._onward)
        self._measure(starts)

    def _onward(self, state: State) -> list[State]:
        number, stack, changed = state
        flow = self.kernel.flow
        node = flow.nodes[number]
        if node.marker and not node.silent:
            return []
        found = [(n, s, changed) for n, s in flow.onward(number, stack, self.level)]
        if self.level >= ASIDE and not changed:
            found += [(n, s, True) for n, s in flow.aside(number, stack)]
        return found

    def _measure(self, starts: list[State]) -> None:
        """The longest way to each state, and whether others differ."""
        # Up to the state, without it; and by node and call stack with the marker there.
        self.best: dict[State, Best] = {}
        self.least: dict[State, int] = {}  # slots of the shortest way to the state, without it
        self.least_to: dict[int, int] = {}  # and to a node with its marker
        self.arrived: dict[int, dict[Stack, Best]] = {}
        for start in starts:
            self.best[start] = (0, True, False, None)
            self.least[start] = 0
        kernel = self.kernel
        for state in reversed(self.graph.order):
            total, alone, loop, _ = self.best[state]
            loop = loop or state in self.graph.looped
            number, stack, changed = state
            node = kernel.flow.nodes[number]
            if node.marker:
                self._arrive(number, stack, (total + kernel.weights[number], alone and not changed, loop, state))
                shortest = self.least[state] + slots_of(kernel.weights[number])
                self.least_to[number] = min(shortest, self.least_to.get(number, shortest))
            total += kernel.idle_weights[number]
            least = self.least[state] + slots_of(kernel.idle_weights[number])
            for to in self.graph.following[state]:
                if (state, to) in self.graph.back:
                    continue
                self.least[to] = min(least, self.least.get(to, least))
                before = self.best.get(to)
                if before is None:
                    self.best[to] = (total, alone, loop, state)
                else:
                    self.best[to] = self._merged(before, (total, alone, loop, state))

    def _arrive(self, number: int, stack: Stack, found: Best) -> None:
        by_stack = self.arrived.setdefault(number, {})
        by_stack[stack] = self._merged(by_stack[stack], found) if stack in by_stack else found

    @staticmethod
    def _merged(one: Best, two: Best) -> Best:
        longer = two if two[0] > one[0] else one
        return longer[0], one[1] and two[1] and one[0] == two[0], one[2] or two[2], longer[3]

    def way_to(self, last: State | None) -> list[int]:
        """Nodes of the longest way, the last one that with the marker."""
        nodes = []
        state = last
        while state is not None:
            nodes.append(state[0])
            state = self.best[state][3]
        return nodes[::-1]


class KernelWays:
    """Costs of ways through one kernel; an address of a marker, or ENTRY, names each step. `memory` has the words of
    constant memory that are known."""

    def __init__(
        self,
        instructions: list[Instruction],
        tables: dict[int, list[int]] | None = None,
        kinds: set[str] | None = None,
        memory: Mapping[int, int] | None = None,
    ) -> None:
        self.flow = KernelFlow(instructions, tables, kinds)
        # Of ways that a warp went although no parameter allows it.
        self._unbound: Callable[[], KernelWays] | None = None
        if memory:
            self._unbound = cache(lambda: KernelWays(instructions, tables, kinds))
            for number, to in Constants(self.flow, memory).dead:
                self.flow.nodes[number].next.remove(to)
        self.weights = []  # of a node whose marker reports
        self.idle_weights = []  # of one whose marker does not
        for node in self.flow.nodes:
            ahead = sum(weight(i) for i in instructions[node.first : node.last])
            last = instructions[node.last]
            self.weights.append(ahead + weight(last))
            self.idle_weights.append(ahead + weight(last, node.marker and not always_runs(last)))
        self.silent_loops = self._find_silent_loops()
        self._searches: dict[tuple[int | None, Stack, int], Search] = {}
        self._bounds: dict[tuple[int, int], tuple[int, int]] = {}
        self._costs: dict[Stack, Cost | None] = {}
        self._places: dict[int, int] = {}

    def _find_silent_loops(self) -> set[int]:
        """Nodes that a warp can pass again and again without a report, whoever called."""
        flow = self.flow

        def onward(number: int) -> list[int]:
            node = flow.nodes[number]
            if node.marker and not node.silent:
                return []
            returns = [n for f in flow.owners.get(number, ()) for n in flow.return_to[f]] if node.returns else []
            return node.next + node.rare + ([] if node.callee is None else [node.callee]) + returns

        return Exploration(range(len(flow.nodes)), onward).looped

    def cost(self, way: Sequence[int]) -> Cost | None:
        """The cost of everything behind way[0] up to and with the last marker; None where no way leads there."""
        key = tuple(way)
        if key not in self._costs:
            self._costs[key] = self._cost(key)
        return self._costs[key]

    def place(self, address: int) -> int:
        """The node that ends with the marker at an address."""
        found = self._places.get(address)
        if found is None:
            number = self.flow.number(address)
            found = self.flow.node_of[number]
            if self.flow.marker[number] is None:
                raise SassError(f"{self.flow.code[number].text} at {address:#x} is no marker")
            self._places[address] = found
        return found

    def issued_by_model(self, way: list[int] | tuple[int, int, int, int]) -> int:
        """Atomics and barriers among the markers behind way[0], which no cost holds."""
        return sum(not counted(self.flow.code[self.flow.number(a)]) for a in way[1:])

    def _cost(self, way: Stack) -> Cost | None:
        found = self.steps(way)
        if found is None:
            return None
        steps, certain = found
        return self._tally(None if way[0] == ENTRY else self.place(way[0]), steps, certain)

    def steps(self, way: Stack) -> tuple[list[list[int]], bool] | None:
        """For each marker behind way[0] the nodes from the one before it up to it, and whether they are known to be
        what the warp went; None where no way leads there."""
        if len(way) < 2:
            raise SassError("a way has two markers or more")
        at = first = None if way[0] == ENTRY else self.place(way[0])
        # By call stack: (sum, is it certain?, steps so far); a step is the nodes to the next marker.
        found = {() if first is None else self.flow.bottom(first): (0, True, None)}
        for address in way[1:]:
            to = self.place(address)
            found = self._step(at, to, found)
            if not found:
                return None if self._unbound is None else self._unbound().steps(way)
            at = to
        best = max(found.values(), key=lambda f: f[0])
        certain = all(f[1] and f[0] == best[0] for f in found.values())
        steps: list[list[int]] = []
        step = best[2]
        while step is not None:
            nodes, step = step
            steps.append(nodes)
        return steps[::-1], certain

    def bounds(self, way: Sequence[int]) -> tuple[int, int]:
        """The fewest and the most issue slots of a way that is gone: the shortest way for all lanes, and all that may
        lie between two markers once. A loop without a marker counts with one pass in both."""
        least = most = 0
        for step in zip(way, way[1:]):
            if step not in self._bounds:
                self._bounds[step] = self._step_bounds(*step)
            least += self._bounds[step][0]
            most += self._bounds[step][1]
        return least, most

    def _step_bounds(self, start: int, end: int) -> tuple[int, int]:
        at = None if start == ENTRY else self.place(start)
        stack = () if at is None else self.flow.bottom(at)
        to = self.place(end)
        least = 0
        for level in (NO_CALLS, CALLS, RARE, ASIDE):
            found = self._search(at, stack, level).least_to.get(to)
            if found is not None:
                least = found
                break
        return least, sum(slots_of(self.weights[number]) for number in self.nodes_between(start, end))

    def nodes_between(self, start: int, end: int) -> set[int]:
        """All nodes that a warp may pass from one marker, or ENTRY, to the next, that of the next among them."""
        at = None if start == ENTRY else self.place(start)
        to = self.place(end)
        search = self._search(at, () if at is None else self.flow.bottom(at), CALLS)
        before: dict[State, list[State]] = {}
        for state, following in search.graph.following.items():
            for onward in following:
                before.setdefault(onward, []).append(state)
        rest = [state for state in search.graph.following if state[0] == to]
        seen = set(rest)
        while rest:
            for state in before.get(rest.pop(), ()):
                if state not in seen:
                    seen.add(state)
                    rest.append(state)
        return {state[0] for state in seen}

    def _step(self, at: int | None, to: int, found: dict[Stack, Any]) -> dict[Stack, Any]:
        if not self.flow.silent_callees:
            result = self._by_level(at, to, found, CALLS)
        else:
            result = self._by_level(at, to, found, NO_CALLS)
            longer = self._by_level(at, to, found, CALLS)
            if not result:
                result = longer
            elif any(result.get(s, (None,))[0] != f[0] for s, f in longer.items()):
                result = {stack: (total, False, steps) for stack, (total, _, steps) in result.items()}
        return result or self._by_level(at, to, found, RARE) or self._by_level(at, to, found, ASIDE)

    def _by_level(self, at: int | None, to: int, found: dict[Stack, Found], level: int) -> dict[Stack, Found]:
        result: dict[Stack, Found] = {}

        def keep(
            after: Stack,
            total: int,
            sure: bool,
            nodes: list[int],
            steps: Steps | None,
        ) -> None:
            before = result.get(after)
            if before is not None:
                sure = sure and before[1] and before[0] == total
                if total <= before[0]:
                    result[after] = (before[0], sure, before[2])
                    return
            result[after] = (total, sure, (nodes, steps))

        for stack, (total, certain, steps) in found.items():
            straight = self._straight(at, to, stack, level)
            if straight:
                more, after, nodes = straight
                keep(after, total + more, certain, nodes, steps)
                continue
            search = self._search(at, stack, level)
            for after, (more, alone, loop, state) in search.arrived.get(to, {}).items():
                keep(after, total + more, certain and alone and not loop and level < RARE, search.way_to(state), steps)
        return result

    def _straight(self, at: int | None, to: int, stack: Stack, level: int) -> tuple[int, Stack, list[int]] | None:
        """(sum, call stack, nodes) of the only way, where there is no branch before `to`; else None. Saves a search
        through all that may come behind markers with predicates."""
        flow = self.flow
        if level >= RARE:
            return None
        total = 0
        nodes: list[int] = []
        found = [(0, stack)] if at is None else flow.onward(at, stack, level)
        while len(found) == 1 and len(nodes) < LONGEST_STRAIGHT:
            number, stack = found[0]
            node = flow.nodes[number]
            nodes.append(number)
            if number in self.silent_loops:
                return None
            if number == to:
                return total + self.weights[number], stack, nodes
            if node.marker and not node.silent:
                return None
            total += self.idle_weights[number]
            found = flow.onward(number, stack, level)
        return None

    def _search(self, at: int | None, stack: Stack, level: int) -> Search:
        key = (at, stack, level)
        if key not in self._searches:
            if at is None:
                starts = [(0, stack, False)]
            else:
                starts = [(n, s, False) for n, s in self.flow.onward(at, stack, level)]
                if level >= ASIDE:
                    starts += [(n, s, True) for n, s in self.flow.aside(at, stack)]
            self._searches[key] = Search(self, starts, level)
        return self._searches[key]

    def _tally(self, first: int | None, steps: list[list[int]], certain: bool) -> dict[str, Any]:
        code = self.flow.code
        tally = Tally()
        if first is not None:
            tally.begin([code[self.flow.nodes[first].last]])
        for nodes in steps:
            for at, number in enumerate(nodes):
                node = self.flow.nodes[number]
                for i in code[node.first : node.last]:
                    tally.add(i)
                last = code[node.last]
                if at + 1 < len(nodes) and node.marker and not always_runs(last):
                    tally.add_idle(last)
                else:
                    tally.add(last)
        certain = certain and len(tally.waits) <= MOST_WAITS
        del tally.waits[MOST_WAITS:]
        cost = tally.result()
        if not certain:
            cost["estimated"] = True
        return cost
