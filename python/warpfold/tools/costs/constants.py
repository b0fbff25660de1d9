# SPDX-License-Identifier: Apache-2.0
"""Branches that the parameters of a launch decide, by constant propagation over a kernel.

Parameters lie in constant memory and are the same for all lanes. What they decide every warp takes alike, and the
other side of such a branch is no way. Whatever is not known to be a constant counts as unknown.
"""

import re
from collections import deque
from collections.abc import Callable, Mapping
from itertools import product

from .instructions import REGISTER, Instruction
from .kernel_flow import KernelFlow
from .markers import always_runs

WORD = 0xFFFFFFFF
ZERO = {"RZ": 0, "URZ": 0, "SRZ": 0}
IMMEDIATE = re.compile(r"^(-)?0x([0-9a-f]+)$")
CONSTANT = re.compile(r"^c\[0x0\]\[0x([0-9a-f]+)\]$")
PLAIN_REGISTER = re.compile(r"^U?R\d+$")
PREDICATE = re.compile(r"^(!)?U?P(\d+|T)$")
COMPARISONS: dict[str, Callable[[int, int], bool]] = {
    "EQ": lambda a, b: a == b,
    "NE": lambda a, b: a != b,
    "LT": lambda a, b: a < b,
    "LE": lambda a, b: a <= b,
    "GT": lambda a, b: a > b,
    "GE": lambda a, b: a >= b,
}
COMBINATIONS: dict[str, Callable[[bool, bool], bool]] = {
    "AND": lambda a, b: a and b,
    "OR": lambda a, b: a or b,
    "XOR": lambda a, b: a != b,
}
# Those that write one register, or as many as their modifiers say; of others it is not asked how many.
NARROW = frozenset(
    "MOV UMOV IMAD UIMAD IADD3 UIADD3 VIADD LOP3 ULOP3 SHF USHF LEA ULEA ISETP UISETP FSETP PLOP3 UPLOP3 SEL USEL FSEL "
    "FMUL FADD FFMA FMNMX IMNMX VIMNMX PRMT UPRMT IABS SGXT BMSK POPC FLO BREV MUFU S2R S2UR R2UR ULDC LDC LDCU HFMA2 "
    "HADD2 HMUL2 LDG LD LDS LDL SHFL NOP BAR BSYNC BSSY WARPSYNC".split()
)
PARTS = {"U8": (8, False), "S8": (8, True), "U16": (16, False), "S16": (16, True)}  # of a word: bits, signed?
MOST_WRITTEN = 4  # registers in a row that any other instruction writes; products of matrices write more
MOST_OF_MATRICES = 64

Value = int | bool
State = dict[str, Value]  # what is known of registers and predicates


def signed(value: int) -> int:
    return value - (1 << 32) if value >> 31 else value


def lookup(table: int, inputs: list[bool | None]) -> bool | None:
    """What a table of three inputs gives, if what is not known makes no difference."""
    choices = [(False, True) if i is None else (i,) for i in inputs]
    found = {bool(table >> (4 * a + 2 * b + c) & 1) for a, b, c in product(*choices)}
    return found.pop() if len(found) == 1 else None


class Operation:
    """An instruction, taken apart once."""

    def __init__(self, instruction: Instruction) -> None:
        self.instruction = instruction
        self.modifiers = instruction.name.split(".")
        self.opcode = instruction.opcode
        self.operands = [o.removesuffix(".reuse") for o in instruction.operands]
        self.guard = None if always_runs(instruction) else instruction.guard
        self.written = self._written()

    def _written(self) -> set[str]:
        """Names of all that it may write."""
        names: set[str] = set()
        if self.opcode == "R2P":
            return {f"P{n}" for n in range(7)}
        span = MOST_OF_MATRICES if "MMA" in self.opcode else MOST_WRITTEN
        if self.opcode in NARROW:
            wide = {"WIDE", "64", "F64"}.intersection(self.modifiers)
            span = 4 if "128" in self.modifiers else 2 if wide else 1
        for operand in self.operands:
            if PREDICATE.match(operand):  # a source as well, which does no harm
                names.add(operand.lstrip("!"))
        # Where the first is a predicate, the second may be written.
        few = 1 if span == 1 and self.operands and not PREDICATE.match(self.operands[0]) else 2
        for operand in self.operands[:few]:
            if "[" not in operand:
                for prefix, number in REGISTER.findall(operand):
                    if prefix in ("R", "UR"):
                        names.update(f"{prefix}{int(number) + at}" for at in range(span))
        return names


class Constants:
    """`memory` has the words of constant bank 0 that are known, by their address."""

    def __init__(self, flow: KernelFlow, memory: Mapping[int, int]) -> None:
        self.flow = flow
        self.memory = memory
        self.operations = [Operation(i) for i in flow.code]
        self.before: dict[int, State] = {}  # node -> what is known at its begin, if a warp can come there
        self.dead: set[tuple[int, int]] = set()  # (node, node behind it) that no warp goes
        self._run()

    def _run(self) -> None:
        flow = self.flow
        rest = deque([0])
        waiting = {0}
        self.before[0] = {}
        live: set[tuple[int, int]] = set()
        while rest:
            number = rest.popleft()
            waiting.discard(number)
            for to, state in self._behind(number):
                live.add((number, to))
                known = self.before.get(to)
                if known is None:
                    merged = dict(state)
                else:
                    merged = {k: v for k, v in known.items() if state.get(k) == v and k in state}
                    if len(merged) == len(known):
                        continue
                self.before[to] = merged
                if to not in waiting:
                    waiting.add(to)
                    rest.append(to)
        for number in self.before:
            self.dead.update((number, to) for to in flow.nodes[number].next if (number, to) not in live)

    def _behind(self, number: int) -> list[tuple[int, State]]:
        """What comes behind a node, and what is known there."""
        flow = self.flow
        node = flow.nodes[number]
        state = dict(self.before[number])
        for n in range(node.first, node.last + 1):
            self._apply(self.operations[n], state)
        if node.callee is not None:
            # A subroutine may be called from anywhere and write anything.
            return [(to, {}) for to in (node.callee, *node.next, *node.rare)]
        following = node.next
        last = self.operations[node.last]
        if (
            len(following) > 1
            and last.opcode == "BRA"
            and not last.instruction.name.startswith(("BRA.DIV", "BRA.CONV"))
        ):
            jumps = self._jumps(last, state)
            target = last.instruction.target
            if jumps is not None and target is not None:
                at = flow.node_of[flow.number(target)]
                following = [to for to in following if (to == at) == jumps]
        elif following and last.opcode == "EXIT" and self._guard(last, state):
            following = []
        return [(to, state) for to in [*following, *node.rare]]

    def _jumps(self, branch: Operation, state: State) -> bool | None:
        conditions = [self._guard(branch, state)]
        conditions += [self._predicate(o, state) for o in branch.operands[:-1] if PREDICATE.match(o)]
        if False in conditions:
            return False
        return None if None in conditions else True

    def _guard(self, operation: Operation, state: State) -> bool | None:
        return True if operation.guard is None else self._predicate(operation.guard, state)

    @staticmethod
    def _predicate(text: str, state: State) -> bool | None:
        found = PREDICATE.match(text)
        if found is None:
            return None
        value: Value | None = True if found.group(2) == "T" else state.get(text.lstrip("!"))
        if value is None:
            return None
        return bool(value) != bool(found.group(1))

    def _word(self, text: str, state: State, high: int = 0) -> int | None:
        """A source of 32 bits, or the word `high` words behind it."""
        if text in ZERO:
            return 0
        if PLAIN_REGISTER.match(text):
            prefix = text.rstrip("0123456789")
            value = state.get(f"{prefix}{int(text[len(prefix):]) + high}")
            return None if value is None else int(value)
        found = IMMEDIATE.match(text)
        if found:
            value = int(found.group(2), 16)
            return (-value if found.group(1) else value) & WORD if high == 0 else None
        found = CONSTANT.match(text)
        if found:
            return self.memory.get(int(found.group(1), 16) + 4 * high)
        if text[:1] in ("-", "~") and high == 0:
            inner = self._word(text[1:], state)
            if inner is not None:
                return (-inner if text[0] == "-" else ~inner) & WORD
        return None

    def _apply(self, operation: Operation, state: State) -> None:
        runs = self._guard(operation, state)
        if runs is False:
            return
        results = self._results(operation, state)
        if runs is None:
            results = {k: v for k, v in results.items() if k in state and state[k] == v}
        for name in operation.written:
            state.pop(name, None)
        state.update(results)

    def _results(self, operation: Operation, state: State) -> State:
        """What it leaves that is known."""
        name, operands = operation.instruction.name, operation.operands
        if operation.opcode in ("ISETP", "UISETP"):
            return self._compared(operation, state)
        if operation.opcode in ("PLOP3", "UPLOP3"):
            return self._looked_up(operation, state)
        if not operands or not PLAIN_REGISTER.match(operands[0]):
            return {}
        sources = [self._word(o, state) for o in operands[1:]]
        value: int | None = None
        if name in ("MOV", "UMOV", "IMAD.MOV", "IMAD.MOV.U32"):
            value = sources[-1]
        elif operation.opcode in ("ULDC", "LDC", "LDCU"):
            return self._loaded(operation, state)
        elif name in ("IADD3", "UIADD3", "VIADD") and not any(PREDICATE.match(o) for o in operands):
            value = self._sum(sources)
        elif name == "IMAD.IADD" and len(sources) == 3:
            value = self._sum([sources[0], sources[2]]) if sources[1] == 1 else None
        elif name in ("IMAD", "IMAD.SHL.U32", "IMAD.SHL", "UIMAD") and len(sources) == 3:
            one, two, three = sources
            if one is not None and two is not None and three is not None:
                value = (one * two + three) & WORD
        elif name in ("LOP3.LUT", "ULOP3.LUT") and len(sources) >= 4:
            value = self._bitwise(sources[:4])
        return {} if value is None else {operands[0]: value}

    @staticmethod
    def _sum(sources: list[int | None]) -> int | None:
        known = [s for s in sources if s is not None]
        return sum(known) & WORD if len(known) == len(sources) else None

    @staticmethod
    def _bitwise(sources: list[int | None]) -> int | None:
        one, two, three, table = sources
        if one is None or two is None or three is None or table is None:
            return None
        value = 0
        for bit in range(32):
            index = 4 * (one >> bit & 1) + 2 * (two >> bit & 1) + (three >> bit & 1)
            value |= (table >> index & 1) << bit
        return value

    def _loaded(self, operation: Operation, state: State) -> State:
        to = operation.operands[0]
        prefix = to.rstrip("0123456789")
        found: State = {}
        part = next((m for m in operation.modifiers if m in PARTS), None)
        if part is not None:
            address = CONSTANT.match(operation.operands[1])
            word = self.memory.get(int(address.group(1), 16) & ~3) if address else None
            if address and word is not None:
                bits, is_signed = PARTS[part]
                value = word >> 8 * (int(address.group(1), 16) & 3) & ((1 << bits) - 1)
                found[to] = value | (WORD & -(1 << bits)) if is_signed and value >> (bits - 1) else value
            return found
        for at in range(2 if "64" in operation.modifiers else 1):
            whole = self._word(operation.operands[1], state, at)
            if whole is not None:
                found[f"{prefix}{int(to[len(prefix):]) + at}"] = whole
        return found

    def _compared(self, operation: Operation, state: State) -> State:
        modifiers, operands = operation.modifiers, operation.operands
        comparison = COMPARISONS.get(modifiers[1])
        combination = next((COMBINATIONS[m] for m in modifiers[2:] if m in COMBINATIONS), None)
        if comparison is None or combination is None or len(operands) < 5 or operands[1].lstrip("U") != "PT":
            return {}
        one, two = (self._word(o, state) for o in operands[2:4])
        is_true: bool | None = None
        if one is not None and two is not None:
            if "U32" not in modifiers:
                one, two = signed(one), signed(two)
            is_true = comparison(one, two)
            if "EX" in modifiers:
                # Upper words, the lower ones are compared in the last operand; only they decide where these are equal.
                below = self._predicate(operands[5], state) if len(operands) > 5 else None
                if one == two:
                    is_true = below
        return self._combined(operands[0], combination, is_true, self._predicate(operands[4], state))

    @staticmethod
    def _combined(to: str, combination: Callable[[bool, bool], bool], one: bool | None, two: bool | None) -> State:
        choices = [(False, True) if i is None else (i,) for i in (one, two)]
        found = {combination(a, b) for a, b in product(*choices)}
        return {to: found.pop()} if len(found) == 1 else {}

    def _looked_up(self, operation: Operation, state: State) -> State:
        operands = operation.operands
        if len(operands) < 7 or operands[1].lstrip("U") != "PT":
            return {}
        found = IMMEDIATE.match(operands[5])
        if not found:
            return {}
        value = lookup(int(found.group(2), 16), [self._predicate(o, state) for o in operands[2:5]])
        return {} if value is None else {operands[0]: value}
