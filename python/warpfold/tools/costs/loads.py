# SPDX-License-Identifier: Apache-2.0
"""Loads and stores that are recorded apart, each with what it touches: which they are, and where a warp waits for them.

An instruction waits for a scoreboard, and a scoreboard stands for the loads that were asked for with it and of which
nobody has waited since. Which those are is found by data flow over the kernel: at a marker that several ways lead to
they are those of all of these. A way is cut in parts where it waits for such loads.
"""

from __future__ import annotations

from typing import Any

from .cost import ISSUED, Cost, Tally
from .instructions import NO_BARRIER, Instruction
from .kernel_flow import KernelFlow, Stack
from .kernel_ways import KernelWays
from .markers import always_runs

# Of a generic one (LD, ST) nobody can tell beforehand whether it goes to global memory.
ACCESSES = {"LDG": "load", "STG": "store"}
BYTES = {"U8": 1, "S8": 1, "U16": 2, "S16": 2, "64": 8, "128": 16}
# Where it looks for its data, by a modifier; the first that it has counts.
CACHES = {"GPU": "cg", "SYS": "cg", "CONSTANT": "nc", "EF": "ef", "EL": "el"}
COUNTERS = 6  # scoreboards of a warp
SLOW = "global_load"  # results that may come later than what was loaded
SPREAD = ISSUED + ["stall_cycles", "branches"]
State = tuple[int, ...]  # for each scoreboard a set of loads, as bits
NOTHING: State = (0,) * COUNTERS


def access(instruction: Instruction) -> dict[str, Any] | None:
    """What a load or store of global memory does: kind, bytes of a lane, cache as in a trace; None for what is none."""
    kind = ACCESSES.get(instruction.opcode)
    if kind is None:
        return None
    modifiers = instruction.name.split(".")[1:]
    width = next((BYTES[m] for m in modifiers if m in BYTES), 4)
    cache = next((to for m, to in CACHES.items() if m in modifiers), "ca")
    return {"kind": kind, "bytes": width, "cache": cache, "name": instruction.name}


def set_apart(instructions: list[Instruction]) -> None:
    """From here on, loads and stores are in no cost, and nothing of a cost waits for what they load."""
    for i in instructions:
        if access(i):
            i.apart = True
            i.result = None


class PendingLoads:
    """For each node the loads that a scoreboard may stand for behind it."""

    def __init__(self, flow: KernelFlow) -> None:
        self.flow = flow
        self.loads = [n for n, i in enumerate(flow.code) if i.apart and i.write_barrier != NO_BARRIER]
        self.bit = {number: 1 << at for at, number in enumerate(self.loads)}
        self.behind: dict[int, State] = {}
        self._spread()

    def issue(self, number: int, state: State, runs: bool = True) -> State:
        """The state behind an instruction. It is known not to run where not `runs`."""
        i = self.flow.code[number]
        asks = runs and number in self.bit
        if not i.wait_mask and not asks:
            return state
        changed = [0 if i.wait_mask >> counter & 1 else loads for counter, loads in enumerate(state)]
        if asks:
            changed[i.write_barrier] |= self.bit[number]
        return tuple(changed)

    def waited_for(self, number: int, state: State) -> int:
        """Loads that an instruction waits for."""
        mask = self.flow.code[number].wait_mask
        found = 0
        for counter, loads in enumerate(state):
            if mask >> counter & 1:
                found |= loads
        return found

    def addresses(self, loads: int) -> list[int]:
        return [self.flow.code[n].address for at, n in enumerate(self.loads) if loads >> at & 1]

    def _onward(self, number: int) -> list[int]:
        node = self.flow.nodes[number]
        following = node.next + node.rare + self.flow.sides(number)
        if node.callee is not None:
            following = following + [node.callee]
        if node.returns:
            following = following + [n for f in self.flow.owners.get(number, ()) for n in self.flow.return_to[f]]
        return following

    def _spread(self) -> None:
        ahead: dict[int, State] = {0: NOTHING}
        rest = [0] if self.loads else []
        while rest:
            number = rest.pop()
            state = ahead[number]
            node = self.flow.nodes[number]
            for n in range(node.first, node.last + 1):
                state = self.issue(n, state)
            if self.behind.get(number) == state:
                continue
            self.behind[number] = state
            for to in self._onward(number):
                before = ahead.get(to)
                merged = state if before is None else tuple(a | b for a, b in zip(before, state))
                if merged != before:
                    ahead[to] = merged
                    rest.append(to)


class Parts:
    """Cuts ways in parts: of each what its warp waits for ahead of it, and its cost."""

    def __init__(self, kernel: KernelWays) -> None:
        self.kernel = kernel
        self.pending = PendingLoads(kernel.flow)

    def of(self, way: Stack, cost: Cost | None) -> list[dict[str, Any]] | None:
        """[{"loads": addresses, "cost": cost, or null where it has nothing}, ...] of a way that costs so much in all;
        None where no way leads there."""
        found = None if cost is None else self.kernel.steps(way)
        if cost is None or found is None:
            return None
        tally, cuts = self._walk(None if way[0] == -1 else self.kernel.place(way[0]), found[0])
        return self._parts(cost, tally, cuts)

    def _walk(self, first: int | None, steps: list[list[int]]) -> tuple[Tally, list[tuple[int, Cost, int, int]]]:
        """Where the way waits: (loads, cost up to there, number of waits up to there, clock)."""
        flow = self.kernel.flow
        tally = Tally()
        state = NOTHING
        if first is not None:
            tally.begin([flow.code[flow.nodes[first].last]])
            state = self.pending.behind.get(first, NOTHING)
        cuts = []
        for nodes in steps:
            for at, number in enumerate(nodes):
                node = flow.nodes[number]
                for n in range(node.first, node.last + 1):
                    i = flow.code[n]
                    idle = n == node.last and at + 1 < len(nodes) and node.marker and not always_runs(i)
                    loads = self.pending.waited_for(n, state)
                    if loads:
                        clock = tally.board.clock + tally.shift
                        cuts.append((loads, dict(tally.cost), len(tally.waits), clock))
                    state = self.pending.issue(n, state, not idle)
                    if idle:
                        tally.add_idle(i)
                    else:
                        tally.add(i)
        return tally, cuts

    def _parts(self, cost: Cost, tally: Tally, cuts: list[tuple[int, Cost, int, int]]) -> list[dict[str, Any]]:
        whole = tally.cost
        issued = sum(whole[f] for f in ISSUED)
        start = min((asked for _, asked, _ in tally.waits), default=0)
        ends = [*cuts, (0, whole, len(tally.waits), 0)]
        parts = []
        done = dict.fromkeys(SPREAD, 0)
        before, first, clock, loads = dict.fromkeys(SPREAD, 0), 0, start, 0
        for following, up_to, last, next_clock in ends:
            part: Cost = {}
            slots = sum(up_to[f] for f in ISSUED)
            for field in SPREAD:
                # Of what was found beside what is on the way each part has its share.
                if whole[field]:
                    reached = round(cost[field] * up_to[field] / whole[field])
                else:
                    reached = cost[field] if slots == issued else round(cost[field] * slots / issued)
                part[field] = reached - done[field]
                done[field] = reached
            part["branches"] = min(part["branches"], sum(part[f] for f in ISSUED))
            # What was asked for ahead of a wait for the memory is there behind it.
            part["waits"] = [
                [kind, max(asked - clock, 0), wanted - clock]
                for kind, asked, wanted in tally.waits[first:last]
                if asked >= clock or kind == SLOW
            ]
            if cost.get("estimated"):
                part["estimated"] = True
            something = any(up_to[f] > before[f] for f in SPREAD)
            parts.append({"loads": self.pending.addresses(loads), "cost": part if something else None})
            before, first, clock, loads = up_to, last, next_clock, following
        return parts
