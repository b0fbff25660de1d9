# SPDX-License-Identifier: Apache-2.0
"""Control flow of any kernel: subroutines, jump tables, and sides of a branch that wait for each other.

Nodes are pieces of basic blocks that end behind a marker at the latest. Where a node leads, `next` says for a warp that
is converged where BRA.DIV and BRA.CONV ask. `rare` says what else can come: the helper code of diverged warps, the
return of a call into code that is not the kernel's (a failed assertion, printf), what is behind a trap.

BSYNC falls through. `sides` says where a warp may go on that leaves lanes waiting there: on either side of a branch of
the region that BSSY opened.
"""

import re

from .instructions import INSTRUCTION_BYTES, REGISTER, Instruction, SassError, UnknownFlow
from .markers import always_reports, always_runs, marker_of


TABLE_JUMPS = {"BRX", "BRXU", "JMX", "JMXU"}
ENDS = {"BRA", "JMP", "CALL", "RET", "EXIT", "BPT", "KILL"} | TABLE_JUMPS
# Which edges a way may take; each level has those before it. Subroutines without a marker are for the most part slow
# paths of divisions and roots, which hardly a warp takes.
NO_CALLS, CALLS, RARE, ASIDE = range(4)
UNKNOWN = -1  # below the known part of a call stack
Stack = tuple[int, ...]  # nodes that the calls on the way return to
RETURN_ADDRESS = re.compile(r"^(?:MOV|IMAD\.MOV(?:\.U32)?|LEPC) (R\d+), (?:RZ, RZ, )?0x([0-9a-f]+)$")

MOVE = re.compile(r"^(?:MOV|IMAD\.MOV(?:\.U32)?) (R\d+), (?:RZ, RZ, )?(R\d+)$")


class Node:
    """Instructions `first` to `last`, by their number."""

    __slots__ = ("first", "last", "marker", "silent", "next", "rare", "callee", "returns")

    def __init__(self, first: int, last: int) -> None:
        self.first = first
        self.last = last
        self.marker = False  # is its last instruction one?
        self.silent = False  # a marker that a warp may pass without a report
        self.next: list[int] = []  # nodes
        self.rare: list[int] = []
        self.callee: int | None = None  # node that its CALL leads to; then `next` is where that returns
        self.returns = False


class KernelFlow:
    """`tables` has the targets of jump tables by the address of the jump, `kinds` the kinds of markers that were
    recorded (None: all). Throws UnknownFlow where it cannot be followed."""

    def __init__(
        self, instructions: list[Instruction], tables: dict[int, list[int]] | None = None, kinds: set[str] | None = None
    ) -> None:
        if not instructions:
            raise SassError("no instructions")
        self.code = instructions
        self.tables = tables or {}
        for number, i in enumerate(instructions):
            if i.address != number * INSTRUCTION_BYTES:
                raise SassError(f"the disassembly lacks the instruction at {number * INSTRUCTION_BYTES:#x}")
        self.marker = [kind if kinds is None or kind in kinds else None for kind in map(marker_of, instructions)]
        self.block = block_numbers(instructions, self.tables)
        self._make_nodes()
        for node in self.nodes:
            self._connect(node)
        self._find_functions()
        self._sides: dict[int, list[int]] = {}

    def number(self, address: int) -> int:
        """Of the instruction at an address."""
        if address % INSTRUCTION_BYTES or not 0 <= address < len(self.code) * INSTRUCTION_BYTES:
            raise SassError(f"no instruction is at {address:#x}")
        return address // INSTRUCTION_BYTES

    def _make_nodes(self) -> None:
        self.nodes: list[Node] = []
        self.node_at = {}  # number of a first instruction -> node
        self.node_of = []  # number of an instruction -> node
        first = 0
        for n, i in enumerate(self.code):
            if n + 1 < len(self.code) and self.block[n + 1] == self.block[n] and not self.marker[n]:
                continue
            node = Node(first, n)
            node.marker = self.marker[n] is not None
            node.silent = node.marker and not always_reports(i)
            self.node_at[first] = len(self.nodes)
            self.node_of += [len(self.nodes)] * (n + 1 - first)
            self.nodes.append(node)
            first = n + 1

    def _at(self, address: int, by: Instruction) -> int:
        number, rest = divmod(address, INSTRUCTION_BYTES)
        if rest or number not in self.node_at:
            raise UnknownFlow(f"{by.text} at {by.address:#x} leads to {address:#x}, where no instruction is")
        return self.node_at[number]

    def _connect(self, node: Node) -> None:
        i = self.code[node.last]
        following = [self.node_at[node.last + 1]] if node.last + 1 < len(self.code) else []
        passes_by = [] if always_runs(i) else following
        if i.opcode in TABLE_JUMPS:
            if i.address not in self.tables:
                raise UnknownFlow(
                    f"{i.text} at {i.address:#x}: a jump table whose targets the disassembly does not name"
                )
            node.next = passes_by + [self._at(t, i) for t in self.tables[i.address]]
        elif i.opcode == "RET":
            node.returns = True
            node.next = passes_by
        elif i.opcode == "CALL":
            if i.target is None:
                node.next, node.rare = passes_by, following
            else:
                node.callee = self._at(i.target, i)
                node.next = following
                if passes_by:
                    raise UnknownFlow(f"{i.text} at {i.address:#x}: a call under a predicate")
        elif i.opcode in ("EXIT", "KILL"):
            node.next = passes_by
        elif i.opcode == "BPT":
            node.next, node.rare = passes_by, following
        elif i.opcode in ("BRA", "JMP"):
            self._connect_branch(node, i, following)
        else:
            node.next = following

    def _connect_branch(self, node: Node, i: Instruction, following: list[int]) -> None:
        if i.target is None:
            raise UnknownFlow(f"{i.text} at {i.address:#x}: a jump to a place that is not known")
        target = [self._at(i.target, i)]
        if i.name.startswith("BRA.DIV"):
            node.next, node.rare = following, target
        elif i.name.startswith("BRA.CONV"):
            node.next, node.rare = target, following
        elif always_runs(i) and not any(REGISTER.search(o) for o in i.operands[:-1]):
            node.next = target
        else:
            node.next = list(dict.fromkeys(following + target))

    # Subroutines.

    def _find_functions(self) -> None:
        """Which nodes belong to the kernel itself and which to a subroutine, and where that returns to."""
        self.main = self._within(0)
        self.functions = {}  # first node of a subroutine -> its nodes
        self.owners: dict[int, list[int]] = {}  # node -> first nodes of the subroutines that have it
        calls: dict[int, list[int]] = {}
        for number, node in enumerate(self.nodes):
            if node.callee is not None:
                calls.setdefault(node.callee, []).append(number)
        for callee, callers in calls.items():
            self.functions[callee] = self._within(callee)
            for number in self.functions[callee]:
                self.owners.setdefault(number, []).append(callee)
            for caller in callers:
                self._find_return(caller, callee)
        self.return_to = {
            callee: sorted({n for c in callers for n in self.nodes[c].next}) for callee, callers in calls.items()
        }

        self.silent_callees = {c for c in self.functions if not self._reports(c, set())}

    def _reports(self, callee: int, seen: set[int]) -> bool:
        """Does a subroutine, or one that it calls, have a marker?"""
        seen.add(callee)
        nodes = [self.nodes[n] for n in self.functions[callee]]
        return any(
            node.marker or (node.callee is not None and node.callee not in seen and self._reports(node.callee, seen))
            for node in nodes
        )

    def _within(self, start: int) -> set[int]:
        seen = set()
        rest = [start]
        while rest:
            number = rest.pop()
            if number not in seen:
                seen.add(number)
                rest += self.nodes[number].next + self.nodes[number].rare
        return seen

    def _find_return(self, caller: int, callee: int) -> None:
        """A subroutine returns to the address that stands in the register that its RET names: as a rule, and where
        nobody sets it in front of the call, to what is behind the call."""
        registers = return_registers(
            [i for n in self.functions[callee] for i in self.code[self.nodes[n].first : self.nodes[n].last + 1]]
        )
        last = self.nodes[caller].last
        for n in range(last - 1, -1, -1):
            if self.block[n] != self.block[last]:
                return
            found = RETURN_ADDRESS.match(self.code[n].text)
            if found and found.group(1) in registers:
                self.nodes[caller].next = [self._at(int(found.group(2), 16), self.code[n])]
                return

    def bottom(self, number: int) -> Stack:
        """The call stack at a node, as far as it is known."""
        return () if number in self.main or number not in self.owners else (UNKNOWN,)

    def onward(self, number: int, stack: Stack, level: int) -> list[tuple[int, Stack]]:
        """What comes behind a node by edges of a level: [(node, stack)]."""
        node = self.nodes[number]
        following = node.next + node.rare if level >= RARE else node.next
        if node.callee is not None:
            if level < CALLS and node.callee in self.silent_callees:
                return []
            return [(node.callee, self._push(stack, to)) for to in following]
        found = [(n, stack) for n in following]
        if node.returns and stack:
            if stack[-1] == UNKNOWN:
                found += [(to, stack) for f in self.owners.get(number, ()) for to in self.return_to[f]]
            else:
                found.append((stack[-1], stack[:-1]))
        return found

    def _push(self, stack: Stack, to: int) -> Stack:
        if to in stack:
            raise UnknownFlow(f"a subroutine calls itself ahead of {self.code[self.nodes[to].first].address:#x}")
        return stack + (to,)

    # Sides of a branch.

    def sides(self, number: int) -> list[int]:
        """Nodes where a warp may go on whose lanes wait or have ended at the end of a node; none where they do not."""
        i = self.code[self.nodes[number].last]
        if i.opcode not in ("BSYNC", "EXIT"):
            return []
        if number not in self._sides:
            region = self._region(number, i) if i.opcode == "BSYNC" else None
            inside = range(len(self.nodes)) if region is None else sorted(region)
            self._sides[number] = sorted({s for n in inside for s in self._parted(n)})
        return self._sides[number]

    def aside(self, number: int, stack: Stack) -> list[tuple[int, Stack]]:
        """The same with the call stack there: [(node, stack)]."""

        def same(to: int) -> bool:
            return self.owners.get(to) == self.owners.get(number) and (to in self.main) == (number in self.main)

        return [(to, stack if same(to) else self.bottom(to)) for to in self.sides(number)]

    def _parted(self, number: int) -> list[int]:
        node = self.nodes[number]
        opcode = self.code[node.last].opcode
        if len(node.next) > 1 or opcode == "BSYNC" or (opcode == "EXIT" and node.next):
            return node.next
        return []

    def _region(self, number: int, sync: Instruction) -> set[int] | None:
        """Nodes between the BSSY that a BSYNC belongs to and the place where its lanes meet; None if it is not found."""
        register = sync.operands[0]
        found = set()
        for at, i in enumerate(self.code):
            if i.opcode == "BSSY" and i.operands[0] == register:
                region = self._until(self.node_of[at], self._bssy_target(i))
                if number in region:
                    found |= region
        return found or None

    def _bssy_target(self, bssy: Instruction) -> int | None:
        found = re.fullmatch(r"0x([0-9a-f]+)", bssy.operands[-1])
        return self.node_at.get(int(found.group(1), 16) // INSTRUCTION_BYTES) if found else None

    def _until(self, start: int, end: int | None) -> set[int]:
        seen = set()
        rest = [start]
        while rest:
            n = rest.pop()
            if n in seen or n == end:
                continue
            seen.add(n)
            rest += self.nodes[n].next
        return seen


def return_registers(instructions: list[Instruction]) -> set[str]:
    """Registers that a RET takes its address from, also by way of others."""
    found = {i.operands[0].split(" ")[0] for i in instructions if i.opcode == "RET"}
    moves = [m.groups() for m in (MOVE.match(i.text) for i in instructions) if m]
    more = found
    while more:
        more = {source for to, source in moves if to in found} - found
        found |= more
    return found


def block_numbers(instructions: list[Instruction], tables: dict[int, list[int]]) -> list[int]:
    """Number of the basic block of each instruction, whether or not the flow is known."""
    starts = {0}
    returns = return_registers(instructions)
    for n, i in enumerate(instructions):
        if i.opcode in ENDS:
            starts.add(n + 1)
        if i.target is not None:
            starts.add(i.target // INSTRUCTION_BYTES)
        if i.opcode == "BSSY":
            found = re.fullmatch(r"0x([0-9a-f]+)", i.operands[-1])
            if found:
                starts.add(int(found.group(1), 16) // INSTRUCTION_BYTES)
        found = RETURN_ADDRESS.match(i.text)
        if found and found.group(1) in returns:
            starts.add(int(found.group(2), 16) // INSTRUCTION_BYTES)
        starts.update(t // INSTRUCTION_BYTES for t in tables.get(i.address, ()))
    numbers: list[int] = []
    for n in range(len(instructions)):
        numbers.append(len(numbers) and numbers[-1] + (n in starts))
    return numbers
