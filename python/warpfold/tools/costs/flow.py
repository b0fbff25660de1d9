# SPDX-License-Identifier: Apache-2.0
"""Control flow of a kernel in the form that the project's own kernels have: loops and ways within one function."""

from collections.abc import Callable, Collection

from .instructions import ATOMICS, INSTRUCTION_BYTES, OTHER_MEMORY, Instruction, SassError

# What an instruction may be, and which of its successors an address goes on with: None ends a way.
Test = Callable[[Instruction], bool]
Choice = Callable[[int, list[int]], int | None]


class Flow:
    """Control flow of one kernel, instruction by instruction."""

    def __init__(self, instructions: list[Instruction]) -> None:
        if not instructions:
            raise SassError("no instructions")
        self.code = {i.address: i for i in instructions}
        order = sorted(self.code)
        for address, after in zip(order, order[1:]):
            if after != address + INSTRUCTION_BYTES:
                raise SassError(f"the disassembly lacks the instruction behind {address:#x}")
        following = dict(zip(order, order[1:]))
        self.entry = order[0]
        self.next: dict[int, list[int]] = {}
        rest = [self.entry]
        while rest:  # what can be reached; helper code of diverged warps is not
            address = rest.pop()
            if address in self.next:
                continue
            if address not in self.code:
                raise SassError(f"a jump leads to {address:#x}, where no instruction is")
            instruction = self.code[address]
            if instruction.opcode in OTHER_MEMORY:
                raise SassError(f"{instruction.text} at {address:#x}: memory of a kind that has no cost")
            self.next[address] = instruction.successors(following.get(address, address + INSTRUCTION_BYTES))
            rest += self.next[address]
        self.previous: dict[int, list[int]] = {a: [] for a in self.next}
        for address, successors in self.next.items():
            for s in successors:
                self.previous[s].append(address)
        self.loops = self._find_loops()

    def _find_loops(self) -> dict[int, set[int]]:
        """Header -> addresses of its natural loop."""
        loops: dict[int, set[int]] = {}
        for address, successors in self.next.items():
            for header in successors:
                if header > address or header == address:
                    continue
                body = {header}
                rest = [address]
                while rest:
                    a = rest.pop()
                    if a not in body:
                        body.add(a)
                        rest += self.previous[a]
                if self.entry in body and header != self.entry:
                    raise SassError(f"the backward branch at {address:#x} closes no loop")
                loops.setdefault(header, set()).update(body)
        return loops

    def reaches(self, start: int, wanted: Test, blocked: Collection[int] = ()) -> bool:
        """Can `wanted(instruction)` come about from `start` without passing `blocked`?"""
        seen = set()
        rest = [start]
        while rest:
            address = rest.pop()
            if address in seen or address in blocked:
                continue
            if wanted(self.code[address]):
                return True
            seen.add(address)
            rest += self.next[address]
        return False

    def walk(self, start: int, stop: set[int], choose: Choice) -> list[int]:
        """Addresses from `start` up to and without `stop` (address set), with choose(address, successors)
        at each branch, which gives None to end there."""
        way = []
        address = start
        while address not in stop:
            if address in way:
                raise SassError(f"a way through the kernel runs in circles at {address:#x}")
            way.append(address)
            successors = self.next[address]
            if not successors:
                break
            if len(set(successors)) > 1:
                following = choose(address, successors)
                if following is None:
                    break
                address = following
            else:
                address = successors[0]
        return way


def is_opcode(*names: str) -> Test:
    return lambda i: i.opcode in names


def is_at(address: int) -> Test:
    return lambda i: i.address == address


IS_ATOMIC = is_opcode(*ATOMICS)
IS_SHUFFLE = is_opcode("SHFL")
IS_SHARED_ATOMIC = is_opcode("ATOMS")
