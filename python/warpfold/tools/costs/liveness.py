# SPDX-License-Identifier: Apache-2.0
"""Whether the result of an instruction is ever read or waited for, by data flow over a kernel. In doubt it is."""

import re
from collections.abc import Callable

from .instructions import NO_BARRIER, NO_RESULT, REGISTER, Instruction
from .markers import always_runs, result_width
from .kernel_flow import KernelFlow


WIDE = re.compile(r"\.(?:64|U64|S64|WIDE|F64|F32x2|F16x4|BF16x4)\b|^D[A-Z]")
FOUR = re.compile(r"\.(?:128|F32x4|F16x8|BF16x8)\b")
STORES = NO_RESULT | {"ST", "STL", "STSM", "SUST", "LDGSTS", "BRX", "JMX", "JMP", "BPT"}
MATRIX_REGISTERS = 64  # no instruction reads more in a row


def source_width(name: str, operand: str) -> int:
    """Registers in a row that a source operand may stand for."""
    if "MMA" in name.split(".")[0]:
        return MATRIX_REGISTERS
    if FOUR.search(name):
        return 4
    return 2 if "[" in operand or WIDE.search(name) else 1


def uses(instruction: Instruction) -> set[str]:
    """Names of the registers that it may read."""
    operands = instruction.operands
    if instruction.opcode not in STORES and operands and "[" not in operands[0]:
        operands = operands[1:]
    return {
        f"R{int(n) + at}"
        for o in operands
        for prefix, n in REGISTER.findall(o)
        if prefix == "R"
        for at in range(source_width(instruction.name, o))
    }


def overwritten(instruction: Instruction) -> set[str]:
    """Names of the registers that it surely overwrites."""
    if not always_runs(instruction) or instruction.opcode in STORES or not instruction.operands:
        return set()
    found = re.fullmatch(r"R(\d+)", instruction.operands[0])
    return {f"R{int(found.group(1)) + at}" for at in range(result_width(instruction))} if found else set()


class Liveness:
    """`flow` is None where the flow of control is not known."""

    def __init__(self, flow: KernelFlow | None) -> None:
        self.flow = flow
        self._uses: dict[int, set[str]] = {}

    def is_read(self, number: int, register: str) -> bool:
        """Is a register read behind instruction `number`, with the value that it has there?"""

        def found(n: int, i: Instruction) -> bool | None:
            if n not in self._uses:
                self._uses[n] = uses(i)
            if register in self._uses[n] or (i.opcode == "CALL" and i.target is None):
                return True
            return False if register in overwritten(i) else None

        return self._first(number, found)

    def is_waited_for(self, number: int) -> bool:
        """Does an instruction wait for the scoreboard of instruction `number` while it stands for that one alone? The
        warp then waits for the result, whether it reads it or not, as before a CCTL.IVALL."""
        if self.flow is None:
            return True
        counter = self.flow.code[number].write_barrier
        if counter == NO_BARRIER:
            return False

        def found(n: int, i: Instruction) -> bool | None:
            if i.wait_mask >> counter & 1:
                return True
            return False if i.write_barrier == counter else None

        return self._first(number, found)

    def _first(self, number: int, found: Callable[[int, Instruction], bool | None]) -> bool:
        """Whether on a way behind instruction `number` an instruction is found before one that ends the search (False)."""
        if self.flow is None:
            return True
        flow = self.flow
        inside = flow.node_of[number] == flow.node_of[number + 1]
        rest = [number + 1] if inside else self._behind(flow, flow.node_of[number])
        seen = set()
        while rest:
            first = rest.pop()
            if first in seen:
                continue
            seen.add(first)
            node = flow.nodes[flow.node_of[first]]
            for n in range(first, node.last + 1):
                what = found(n, flow.code[n])
                if what:
                    return True
                if what is not None:
                    break
            else:
                rest += self._behind(flow, flow.node_of[first])
        return False

    @staticmethod
    def _behind(flow: KernelFlow, number: int) -> list[int]:
        """First instructions of what may come behind a node, whoever called."""
        node = flow.nodes[number]
        following = node.next + node.rare + ([] if node.callee is None else [node.callee])
        if node.returns:
            following = following + [n for f in flow.owners.get(number, ()) for n in flow.return_to[f]]
        return [flow.nodes[n].first for n in following]
