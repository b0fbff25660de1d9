# SPDX-License-Identifier: Apache-2.0
"""What a warp issues and waits for along a way through machine code: an InstructionCost of traces/FORMAT.md.

One issue slot for each instruction, also for NOP, BSSY, BSYNC, WARPSYNC and for those whose predicate is false.
Atomics and BAR have none, since the model issues them, and waits for the results of atomics; an atomic's stall count
beyond 1 is in. So it is with loads and stores that are recorded apart, one by one; of others a store to global memory
counts as a load that nobody waits for.

stall_cycles is the sum of the stall counts in the encodings. waits lists the instructions that wait for a
scoreboard: the class of the result, when it was asked for and when the instruction would issue without waiting,
both on a clock that counts nothing but stall counts. A MEMBAR of the GPU or the system is a wait of class fence.
With the latencies of a machine, that gives when a lone warp is through. branches counts BRA, taken or not, and
BSYNC, but not the tests for divergence.
"""

from collections.abc import Iterable
from typing import Any

from .instructions import ATOMICS, BRANCHES, NO_BARRIER, ROW_ATOMICS, Instruction

ISSUED = ["alu", "integer", "sfu", "shared", "shared_wide", "global_load", "shuffle", "shuffle_index", "match", "redux"]
FIELDS = ISSUED + ["stall_cycles", "branches", "waits"]
# Numbers by field; of "waits" a list of [class, asked, wanted].
Cost = dict[str, Any]


def slots(cost: Cost) -> int:
    return sum(cost[f] for f in ISSUED)


def counted(instruction: Instruction) -> bool:
    """Is it in a cost? The model issues atomics and barriers itself."""
    return (
        instruction.opcode not in ATOMICS
        and instruction.opcode != "BAR"
        and not instruction.apart
        and ROW_ATOMICS.get(instruction.opcode) != "bulk"
    )


def stall_of(instruction: Instruction) -> int:
    if instruction.opcode in ATOMICS or instruction.apart:
        return max(instruction.stall - 1, 0)
    return instruction.stall if counted(instruction) else 0


def is_branch(instruction: Instruction) -> bool:
    return instruction.opcode in BRANCHES and not instruction.name.startswith(("BRA.DIV", "BRA.CONV"))


class Scoreboard:
    """The six counters that an instruction can wait for, on one way."""

    def __init__(self) -> None:
        self.pending: dict[int, dict[str | None, int]] = {}  # counter -> {class: when last asked for}
        self.clock = 0  # sum of the stall counts

    def issue(self, instruction: Instruction, asks: bool = True) -> tuple[list[tuple[str, int, int]], int]:
        """Results that the instruction waits for, [(class, asked for, wanted)], and how many of no known class.
        An instruction that is known not to run `asks` for nothing."""
        waits = []
        others = 0
        if instruction.wait_mask and self.pending:
            found: dict[str, int] = {}
            for counter in range(6):
                if not instruction.wait_mask >> counter & 1:
                    continue
                for kind, when in self.pending.pop(counter, {}).items():
                    if kind is None:
                        others += 1
                    else:
                        found[kind] = max(when, found.get(kind, when))
            waits = [(kind, when, self.clock) for kind, when in sorted(found.items())]
        if asks and instruction.write_barrier != NO_BARRIER:
            self.pending.setdefault(instruction.write_barrier, {})[instruction.result] = self.clock
        self.clock += instruction.stall
        return waits, others


class Tally:
    """Adds up the cost of a way that consists of one stretch or several, whose clocks go on from each other."""

    def __init__(self) -> None:
        self.cost: Cost = dict.fromkeys(FIELDS, 0)
        self.waits: list[tuple[str, int, int]] = []
        self.unclassed = 0  # results of no known class that were waited for
        self.board = Scoreboard()
        self.shift = 0  # from the board's clock to that of the whole

    def begin(self, before: Iterable[Instruction]) -> None:
        """A stretch, behind instructions that are issued ahead of it and set scoreboards."""
        end = self.board.clock + self.shift
        self.board = Scoreboard()
        for i in before:
            self.board.issue(i)
        self.shift = end - self.board.clock

    def skip(self, instruction: Instruction) -> None:
        """On the way, but it belongs to the cost of another part."""
        self.board.issue(instruction)

    def add(self, instruction: Instruction) -> None:
        before = self.board.clock
        self._wait(*self.board.issue(instruction))
        if instruction.is_fence:
            self._wait([("fence", before, self.board.clock)], 0)
        if counted(instruction):
            self.cost[instruction.kind] += 1
            self.cost["branches"] += is_branch(instruction)
        self.cost["stall_cycles"] += stall_of(instruction)

    def add_idle(self, instruction: Instruction) -> None:
        """Of an instruction whose predicate is known to be false: a slot, whatever it would have done."""
        self._wait(*self.board.issue(instruction, asks=False))
        self.cost["alu"] += 1
        self.cost["stall_cycles"] += instruction.stall

    def _wait(self, found: list[tuple[str, int, int]], others: int) -> None:
        self.waits += [(kind, asked + self.shift, wanted + self.shift) for kind, asked, wanted in found]
        self.unclassed += others

    def result(self) -> Cost:
        first = min((asked for _, asked, _ in self.waits), default=0)
        self.cost["waits"] = [[kind, asked - first, wanted - first] for kind, asked, wanted in self.waits]
        return self.cost


class Stretch:
    """Part of a way: addresses in the order of issue, those before it, which set scoreboards, and which of
    its addresses count for it (None: all; the others belong to another path or segment)."""

    def __init__(self, before: list[int], way: list[int], own: set[int] | None = None) -> None:
        self.before = before
        self.way = way
        self.own = own

    def counts(self, address: int) -> bool:
        return self.own is None or address in self.own


def cost_of(code: dict[int, Instruction], stretches: list[Stretch]) -> tuple[Cost, int]:
    """The cost of stretches of `code`, and how many results of an unknown class they wait for."""
    tally = Tally()
    for stretch in stretches:
        tally.begin(code[a] for a in stretch.before)
        for a in stretch.way:
            if stretch.counts(a):
                tally.add(code[a])
            else:
                tally.skip(code[a])
    return tally.result(), tally.unclassed
