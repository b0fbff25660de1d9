#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Instruction costs of the backward kernels, from their machine code.

  sass_cost.py dump     --program FILE --out DIR          text of cuobjdump into DIR
  sass_cost.py costs    --sass DIR [--json FILE] [--explain]
  sass_cost.py predict  --costs FILE --counts FILE [--ncu FILE]

`costs` follows each way that a warp takes through a kernel and adds up what it issues there.

Ways. A kernel is loops around one place that adds; its Shape tells how many there are and what their passes
are called. A pass through the innermost loop is the way of the lane that comes furthest: a lane that leaves
earlier goes straight to the place where the warp meets again, and what is there is counted once although
lanes that come at different times issue its BSYNC each. A branch leaves a pass where one side of it can no
longer come to an atomic: the divergent kernels of 3DGS have three such branches (position, power, alpha),
the converged ones two (position; power and alpha together behind the ballot), and cccl none: every pass
reduces, and one without an active lane leaves out no more than the leader's atomics and what comes with them.

The pass that is taken goes on to the variant's own reduction. Where code of both is mixed in one block, an
instruction belongs to the reduction if nothing that is added or kept for the next pass depends on it: for
the most part addresses, popc, match and the branches. So a pass and the segments that follow it always
add up to what is issued.

Costs. One issue slot for each instruction, also for NOP, BSSY, BSYNC, WARPSYNC and for those whose predicate
is false. Atomics and BAR.SYNC have none, since the model issues them; an atomic's stall count beyond 1 is in.
A store to global memory counts as a load that nobody waits for.
stall_cycles is the sum of the stall counts in the encodings. waits lists the instructions that wait for a
scoreboard: the class of the result, when it was asked for and when the instruction would issue without
waiting, both on a clock that counts nothing but stall counts. With the latencies of a machine, that gives
when a lone warp is through. branches counts BRA, taken or not, and BSYNC, but not the tests for divergence.
"""

import argparse
import csv
import json
import os
import re
import subprocess
import sys

SCHEMA = "warpfold.costs/3"
COUNTS_SCHEMA = "warpfold.path-counts/1"
SEGMENTS = {
    "baseline": ["plain"],
    "sw-s": ["check", "plain", "setup", "per_lane", "leader"],
    "sw-b": ["check", "agree", "plain", "butterfly", "leader"],
    "skip": ["check", "butterfly", "leader"],
    "cccl": ["butterfly", "leader"],
}
CONVERGED = ("sw-b", "skip")
WARP_LANES = 32
ISSUED = ["alu", "integer", "sfu", "shared", "shared_wide", "global_load", "shuffle", "shuffle_index", "match", "redux"]
FIELDS = ISSUED + ["stall_cycles", "branches", "waits"]
# Thresholds of the policies that `warpfold_capture launch` runs.
PROFILED_THRESHOLD = 16


class SassError(Exception):
    """Machine code that is not as expected: one line."""


# ---- instructions -----------------------------------------------------------------------------------

LINE = re.compile(r"^\s*/\*([0-9a-f]{4,})\*/\s+(.*?)\s*;\s*/\*\s*0x([0-9a-f]{16})\s*\*/\s*$")
UPPER_WORD = re.compile(r"^\s*/\*\s*0x([0-9a-f]{16})\s*\*/\s*$")
FUNCTION = re.compile(r"^\s*Function\s*:\s*(\S+)")
GUARD = re.compile(r"^@(!?U?P[0-9T]+)\s+")
REGISTER = re.compile(r"\b(UR|R|UP|P)(\d+)\b")
NO_BARRIER = 7
INSTRUCTION_BYTES = 16

# What an instruction is counted as, if not as alu. Integer: the pipe of half rate, which also compares and
# selects; products go through that of FFMA.
CLASSES = {"LDS": "shared", "STS": "shared", "ATOMS": "shared", "LDG": "global_load", "STG": "global_load",
           "SHFL": "shuffle", "MATCH": "match", "REDUX": "redux"}
CLASSES |= dict.fromkeys(("MUFU", "POPC", "FLO", "BREV", "I2F", "F2I", "F2F", "FRND", "FCHK"), "sfu")
CLASSES |= dict.fromkeys(("IADD3", "VIADD", "LOP3", "SHF", "LEA", "ISETP", "FSETP", "SEL", "FSEL", "FMNMX", "IMNMX",
                          "VIMNMX", "VIADDMNMX", "PRMT", "IABS", "SGXT", "BMSK"), "integer")
# Class of a result that arrives when it does, for which a scoreboard stands.
RESULTS = {"LDS": "shared", "ATOMS": "shared", "LDG": "global_load", "SHFL": "shuffle", "MATCH": "match",
           "REDUX": "redux", "S2R": "special", "B2R": "special", "S2UR": "uniform", "R2UR": "uniform", "LDC": "constant"}
RESULTS |= {opcode: kind for opcode, kind in CLASSES.items() if kind == "sfu"}
# Lanes that are named take longer than those at a distance; 16 bytes a lane longer than 8.
SLOWER = {"LDS.128": "shared_wide", "STS.128": "shared_wide", "SHFL.IDX": "shuffle_index"}
COUNTS = {"POPC", "UPOPC"}  # active lanes, for the threshold
ATOMICS = {"RED", "REDG", "ATOM", "ATOMG"}
OTHER_MEMORY = {"LD", "ST", "LDL", "STL", "LDSM", "LDGSTS", "TEX", "TLD", "SULD", "SUST"}
NO_RESULT = ATOMICS | {"STS", "STG", "BRA", "BSSY", "BSYNC", "BAR", "WARPSYNC", "EXIT", "NOP", "CALL", "RET", "YIELD", "BREAK"}
JUMPS = {"BRA", "CALL"}
BRANCHES = {"BRA", "BSYNC"}  # those that take longer than their stall counts
UNKNOWN_FLOW = {"BRX", "BRXU", "JMP", "JMX", "JMXU", "BPT", "KILL", "RPCMOV"}


class Instruction:
    """One instruction with its control bits."""

    def __init__(self, address, text, low, high):
        self.address = address
        self.text = text
        word = low | high << 64
        self.stall = word >> 105 & 0xF
        self.write_barrier = word >> 110 & 0x7
        self.wait_mask = word >> 116 & 0x3F
        guard = GUARD.match(text)
        self.guard = guard.group(1) if guard else None
        body = text[guard.end():] if guard else text
        self.name, _, operands = body.partition(" ")
        self.opcode = self.name.split(".")[0]
        self.operands = [o.strip() for o in operands.split(",")] if operands.strip() else []
        self.kind = SLOWER.get(self.name, CLASSES.get(self.opcode, "alu"))
        self.result = "shuffle_index" if self.kind == "shuffle_index" else RESULTS.get(self.opcode)
        self.target = None
        if self.opcode in JUMPS:
            found = re.search(r"0x([0-9a-f]+)\W*$", text)
            if found:
                self.target = int(found.group(1), 16)

    @property
    def counted(self):
        """Is it in a cost? The model issues atomics and barriers itself."""
        return self.opcode not in ATOMICS and self.opcode != "BAR"

    def successors(self, following):
        """Addresses that may come next for a warp that is converged where BRA.DIV and BRA.CONV ask."""
        always = self.guard is None or self.guard in ("PT", "UPT")
        if self.opcode in UNKNOWN_FLOW or self.opcode == "RET":
            raise SassError(f"{self.text} at {self.address:#x}: control flow that is not known here")
        if self.opcode == "EXIT":
            return [] if always else [following]
        if self.opcode not in JUMPS:
            return [following]
        if self.target is None:
            raise SassError(f"{self.text} at {self.address:#x}: a jump without an address")
        if self.name.startswith("BRA.DIV"):
            return [following]
        if self.name.startswith("BRA.CONV"):
            return [self.target]
        # BRA with a predicate among its operands ("BRA P0, 0x40") is conditional as well.
        if always and not any(REGISTER.search(o) for o in self.operands[:-1]):
            return [self.target]
        return [following, self.target]

    # What it writes and reads, as names of 32-bit registers and predicates: to tell address arithmetic
    # from gradients.

    def _width(self):
        if ".128" in self.name:
            return 4
        if ".64" in self.name or ".WIDE" in self.name or self.name == "CS2R":
            return 2
        return 1

    def _split(self):
        """Operands that are written, and the others."""
        if self.opcode in NO_RESULT:
            return [], self.operands
        ops = self.operands
        is_predicate = [bool(re.fullmatch(r"!?U?P(\d+|T)", o)) for o in ops]
        count = 1
        if self.opcode in ("ISETP", "FSETP", "UISETP", "PLOP3", "UPLOP3", "DSETP", "HSETP2"):
            count = 2
        elif self.opcode in ("VOTE", "VOTEU"):
            count = 1 if is_predicate[0] else 2
        elif self.opcode in ("SHFL", "LOP3", "ULOP3", "MATCH", "R2UR") and is_predicate[0]:
            count = 2
        elif self.opcode in ("LEA", "ULEA", "IADD3", "UIADD3", "IMAD", "UIMAD"):
            while count < len(ops) - 1 and is_predicate[count]:
                count += 1
        return ops[:count], ops[count:]

    @staticmethod
    def _expand(prefix, number, width):
        return [f"{prefix}{int(number) + i}" for i in range(width)]

    def writes(self):
        result = []
        for operand in self._split()[0]:
            for prefix, number in REGISTER.findall(operand):
                wide = self._width() if prefix in ("R", "UR") else 1
                if self.opcode in ("SHFL", "ISETP", "FSETP", "UISETP"):
                    wide = 1
                result += self._expand(prefix, number, wide)
        return result

    def reads(self, operands=None):
        result = []
        sources = self._split()[1] if operands is None else operands
        for i, operand in enumerate(sources):
            address = "[" in operand
            for prefix, number in REGISTER.findall(operand):
                wide = 1
                if prefix in ("R", "UR"):
                    if address:
                        wide = 2 if ".64" in operand or "desc[" in operand else 1
                    elif ".WIDE" in self.name and i == 2:
                        wide = 2  # the addend
                    elif self.opcode == "STS" or self.opcode in ATOMICS:
                        wide = self._width()
                result += self._expand(prefix, number, wide)
        if operands is None and self.guard:
            result += [g for g in [self.guard.lstrip("!")] if not g.endswith("T")]
        return result

    def value_reads(self):
        """What of it can carry into the value that it produces."""
        if self.opcode == "SHFL":
            return self.reads(self.operands[2:3])  # the value; not the lane
        return self.reads()

    def added_value(self):
        """Registers that an atomic adds."""
        return self.reads(self.operands[-1:])


def parse_sass(text):
    """cuobjdump -sass of one architecture -> {function: [Instruction]}."""
    functions = {}
    current = None
    pending = None
    for line in text.splitlines():
        found = FUNCTION.match(line)
        if found:
            current = functions.setdefault(found.group(1), [])
            pending = None
            continue
        found = LINE.match(line)
        if found and current is not None:
            pending = (int(found.group(1), 16), found.group(2), int(found.group(3), 16))
            continue
        found = UPPER_WORD.match(line)
        if found and pending:
            current.append(Instruction(*pending, int(found.group(1), 16)))
            pending = None
    if not functions:
        raise SassError("no function in the disassembly")
    return functions


def parse_registers(text):
    """cuobjdump -res-usage -> {arch: {function: registers}}."""
    registers = {}
    arch = function = None
    for line in text.splitlines():
        found = re.match(r"\s*arch = (sm_\d+)", line)
        if found:
            arch = found.group(1)
        found = re.match(r"\s*Function (\S+):", line)
        if found:
            function = found.group(1)
        found = re.search(r"\bREG:(\d+)", line)
        if found and arch and function:
            registers.setdefault(arch, {})[function] = int(found.group(1))
            function = None
    return registers


# ---- control flow -----------------------------------------------------------------------------------


class Flow:
    """Control flow of one kernel, instruction by instruction."""

    def __init__(self, instructions):
        if not instructions:
            raise SassError("no instructions")
        self.code = {i.address: i for i in instructions}
        order = sorted(self.code)
        for address, after in zip(order, order[1:]):
            if after != address + INSTRUCTION_BYTES:
                raise SassError(f"the disassembly lacks the instruction behind {address:#x}")
        following = dict(zip(order, order[1:]))
        self.entry = order[0]
        self.next = {}
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
            self.next[address] = instruction.successors(following.get(address))
            rest += self.next[address]
        self.previous = {a: [] for a in self.next}
        for address, successors in self.next.items():
            for s in successors:
                self.previous[s].append(address)
        self.loops = self._find_loops()

    def _find_loops(self):
        """Header -> addresses of its natural loop."""
        loops = {}
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

    def reaches(self, start, wanted, blocked=()):
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

    def walk(self, start, stop, choose):
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


def is_opcode(*names):
    return lambda i: i.opcode in names


IS_ATOMIC = is_opcode(*ATOMICS)
IS_SHUFFLE = is_opcode("SHFL")


# ---- shapes of kernels ------------------------------------------------------------------------------


class Shape:
    """The shape of a kernel: loops around one place that adds.

    levels      names of the loops around the innermost one that adds, from the outside: a pass through one
                is the path of its name, without what is in the loops within
    leaves      places where a pass of the innermost loop ends early, in their order: (path, alone). Where
                `alone`, converged kernels do not vote, and the path is that of the next place that votes.
                A path of None is never gone by a whole warp.
    exits       paths that lead past the outermost loop, in the order of their branches
    turns       loops that do not add, in the order of their addresses: one turn is the path of its name,
                without what is in the loops within
    parameters  atomics of a reduction
    variants    those that there are"""

    def __init__(self, parameters, variants, levels=(), leaves=(), exits=(), turns=()):
        self.parameters = parameters
        self.variants = variants
        self.levels = list(levels)
        self.leaves = list(leaves)
        self.exits = list(exits)
        self.turns = list(turns)
        named = [name for name, _ in self.leaves if name]
        self.paths = self.exits + ["prologue"] + self.levels + self.turns + named + ["taken", "epilogue"]


DIVERGENT = ("baseline", "sw-s")  # a warp cannot stay together
SCATTER = ("baseline", "sw-s", "sw-b")  # lanes of a warp may differ in their primitive
ALL = ("baseline", "sw-s", "sw-b", "skip", "cccl")

# By name; `paths` are in the order of Workload::paths(). 3DGS is that of warpfold_capture.
GAUSSIANS = "backward"
WORKLOADS = {
    GAUSSIANS: Shape(9, ALL, levels=["batch"],
                     leaves=[("skip_position", False), ("skip_power", True), ("skip_alpha", False)]),
    "dynibar": Shape(6, ALL, exits=["outside"]),
    "envmap": Shape(3, SCATTER, exits=["outside"]),
    "fit_ballot": Shape(9, ALL, leaves=[("skip", False)], turns=["cull", "paint"]),
    "fit_staged": Shape(9, ALL, leaves=[("skip", False)], turns=["group", "collect", "append", "sort", "paint"]),
    "four_pixels": Shape(9, ALL, levels=["batch"], leaves=[("skip_position", False), ("skip_alpha", False)]),
    "gradient_struct": Shape(9, ALL, levels=["batch"],
                             leaves=[("skip_position", False), ("skip_power", True), ("skip_alpha", False)]),
    "hexplane": Shape(24, SCATTER, exits=["outside"]),
    "pagerank": Shape(1, SCATTER, leaves=[(None, False)]),
    "spheres": Shape(8, DIVERGENT, exits=["outside"], leaves=[("empty", False)]),
}


# ---- costs ------------------------------------------------------------------------------------------


class Stretch:
    """Part of a way: addresses in the order of issue, those before it, which set scoreboards, and which of
    its addresses count for it (None: all; the others belong to another path or segment)."""

    def __init__(self, before, way, own=None):
        self.before = before
        self.way = way
        self.own = own

    def counts(self, address):
        return self.own is None or address in self.own


class Ways:
    """Ways of a warp through a kernel that its Shape describes, by path and segment."""

    def __init__(self, flow, variant, shape):
        self.flow = flow
        self.variant = variant
        self.shape = shape
        self.parameters = shape.parameters
        self.converged = variant in CONVERGED
        self.every_pass = variant == "cccl"  # no branch leaves a pass but the leader's
        self._find_loops()
        self._find_pass()
        self.parts = {}  # path or segment -> [Stretch]
        self._outer()
        self._skips()
        self._taken()

    def _find_loops(self):
        flow = self.flow
        adding = {h: b for h, b in flow.loops.items() if any(IS_ATOMIC(flow.code[a]) for a in b)}
        chain = sorted(adding, key=lambda h: len(adding[h]))
        if len(chain) != 1 + len(self.shape.levels):
            raise SassError(f"found {len(chain)} loops around the atomics, not {1 + len(self.shape.levels)}")
        for within, around in zip(chain, chain[1:]):
            if not flow.loops[within] < flow.loops[around]:
                raise SassError("the loops around the atomics are not one in the other")
        self.inner = chain[0]
        body = flow.loops[self.inner]
        if any(IS_ATOMIC(flow.code[a]) and a not in body for a in flow.next):
            raise SassError("there are atomics outside of the innermost loop")
        self.outer = list(reversed(chain[1:]))  # from the outside
        others = [h for h in sorted(flow.loops) if h not in adding]
        self.serial = [h for h in others if self.variant == "sw-s" and flow.loops[h] < body
                       and any(IS_SHUFFLE(flow.code[a]) for a in flow.loops[h])]
        self.turns = [h for h in others if h not in self.serial]
        if len(self.turns) != len(self.shape.turns):
            raise SassError(f"found {len(self.turns)} loops without atomics, not {len(self.shape.turns)}")
        self._find_meet()

    def _find_meet(self):
        """The first place behind the atomics that every pass of the innermost loop comes by."""
        flow = self.flow
        body = flow.loops[self.inner]
        ends = {a for a in body if any(s == self.inner or s not in body for s in flow.next[a])}

        def is_end(i):
            return i.address in ends

        places = []
        for a in body:
            behind = not IS_ATOMIC(flow.code[a]) and not any(
                flow.reaches(s, IS_ATOMIC, {self.inner}) for s in flow.next[a] if s in body)
            if behind and (a in ends or not flow.reaches(self.inner, is_end, {a})):
                places.append(a)
        # The one that comes before all the others.
        first = [a for a in places
                 if all(b == a or flow.reaches(a, lambda i, b=b: i.address == b, {self.inner}) for b in places)]
        if not first:
            raise SassError("found no place behind the atomics that every pass comes by")
        self.meet = first[0]

    def _through(self, address, successors, wanted, blocked, stay=None):
        """The side of a branch that a warp takes on its way to `wanted`. Of a body that only some lanes
        run, it runs the body."""
        able = [s for s in successors if (stay is None or s in stay) and self.flow.reaches(s, wanted, blocked)]
        if not able:
            raise SassError(f"no way on from the branch at {address:#x}")
        if len(able) == 1:
            return able[0]
        around = {h for h in self.turns + self.serial if address in self.flow.loops[h]}
        away = [s for s in able if s not in around]
        if len(away) == 1:
            return away[0]
        stop = set(blocked) | around
        body = [s for s in able for t in able
                if s != t and self.flow.reaches(s, lambda i, t=t: i.address == t, stop - {t})]
        if len(body) == 1:
            return body[0]
        # The test at the head of a loop that does not add, on a way past it.
        if around:
            loop = self.flow.loops[min(around, key=lambda h: len(self.flow.loops[h]))]
            out = [s for s in able if s not in loop]
            if len(out) == 1:
                return out[0]
        raise SassError(f"the sides of the branch at {address:#x} do not pass each other by")

    def _side(self, address, successors, wanted, what):
        """The side of a branch that comes to `wanted` within the pass, and the other."""
        able = [s for s in successors if self.flow.reaches(s, wanted, {self.inner, self.meet})]
        if len(able) != 1:
            raise SassError(f"the branch at {address:#x} does not part the ways to {what}")
        return able[0], [s for s in successors if s != able[0]][0]

    def _find_pass(self):
        flow = self.flow
        body = flow.loops[self.inner]
        wanted = [(name, alone) for name, alone in self.shape.leaves
                  if (not self.converged and name) or (self.converged and not alone)]
        if self.every_pass:
            wanted = [(None, False)]  # the leader's branch: a pass without an event does not go there
        self.leaves = []
        self.exits = {}

        def choose(address, successors):
            stay = [s for s in successors if s in body]
            if len(stay) == 1:
                return stay[0]
            able = [s for s in stay if flow.reaches(s, IS_ATOMIC, {self.inner, self.meet})]
            if len(able) == 1 and len(self.leaves) < len(wanted):
                self.leaves.append(address)
                self.exits[address] = [s for s in stay if s != able[0]][0]
                return None if self.every_pass else able[0]
            if len(able) != len(stay) or self._parts_reduction(stay):
                return None
            return self._through(address, stay, IS_ATOMIC, {self.inner, self.meet})

        flow.walk(self.inner, {self.meet}, choose)
        if len(self.leaves) != len(wanted):
            raise SassError(f"found {len(self.leaves)} of the {len(wanted)} branches that leave a pass")
        self.leave_names = [name for name, _ in wanted]

    def _parts_reduction(self, successors):
        """Is it the first branch of the reduction, where some way goes without the shuffles?"""
        able = [s for s in successors if self.flow.reaches(s, IS_SHUFFLE, {self.inner, self.meet})]
        return len(able) == 1

    def _until(self, leave):
        way = self.flow.walk(self.inner, {self.meet}, lambda a, s: None if a == leave else self._onward(a, s))
        return way, self._onward(leave, self.flow.next[leave])

    def _onward(self, address, successors):
        if address in self.exits:
            return [s for s in successors if s != self.exits[address]][0]
        stay = [s for s in successors if s in self.flow.loops[self.inner]]
        return self._through(address, stay, IS_ATOMIC, {self.inner, self.meet})

    def _before_reduction(self):
        if self.leaves:
            return self._until(self.leaves[-1])
        return [], self.inner

    def _latch(self):
        return self._to_header(self.meet, self.inner, self.flow.loops[self.inner])

    def _to_header(self, start, header, within):
        """From `start` on to the next pass of the loop `header`, by way of nothing that adds."""
        goal = lambda i: i.address == header
        return self.flow.walk(start, {header}, lambda a, s: self._through(
            a, [t for t in s if t in within], goal, set()) if len([t for t in s if t in within]) > 1
            else [t for t in s if t in within][0])

    def _outer(self):
        flow = self.flow
        headers = self.outer + [self.inner]
        turning = {a for h in self.turns for a in flow.loops[h]}

        def add(name, way):
            self.parts[name] = [Stretch([], way, {a for a in way if a not in turning})]

        def to(goal, blocked):
            return lambda a, s: self._through(a, s, lambda i: i.address == goal, blocked)

        # Branches and returns ahead of the outermost loop that lead past it.
        exits = []

        def choose(address, successors):
            able = [s for s in successors if flow.reaches(s, lambda i: i.address == headers[0])]
            if len(able) == 1:
                exits.append((address, [s for s in successors if s != able[0]][0]))
                return able[0]
            return self._through(address, successors, lambda i: i.address == headers[0], set())

        prologue = flow.walk(flow.entry, {headers[0]}, choose)
        for a in prologue:
            if flow.code[a].opcode == "EXIT":
                exits.append((a, None))
        exits.sort(key=lambda e: prologue.index(e[0]))
        if len(exits) < len(self.shape.exits):
            raise SassError(f"found {len(exits)} of the {len(self.shape.exits)} early ends")
        for name, (address, start) in zip(self.shape.exits, exits):
            way = prologue[:prologue.index(address) + 1]
            if start is not None:
                way = way + flow.walk(start, set(), lambda a, s: s[0])
            add(name, way)
        add("prologue", prologue)
        for name, header, within in zip(self.shape.levels, headers, headers[1:]):
            body = flow.loops[header]
            head = flow.walk(header, {within}, to(within, {header} - {within}))
            add(name, head + self._to_header(self._end_of(within), header, body))
        last = self._end_of(headers[0])
        epilogue = flow.walk(last, set(), lambda a, s: self._through(a, s, lambda i: i.opcode == "EXIT", set()))
        if flow.code[epilogue[-1]].opcode != "EXIT":
            raise SassError("the kernel does not end with EXIT")
        add("epilogue", epilogue)
        for name, header in zip(self.shape.turns, self.turns):
            body = flow.loops[header]
            goal = lambda i, h=header: i.address == h
            rest = flow.walk(flow.next[header][0] if len(flow.next[header]) == 1 else [
                s for s in flow.next[header] if s in body][0], {header}, lambda a, s, b=body, g=goal: self._through(
                    a, [t for t in s if t in b], g, set()) if len([t for t in s if t in b]) > 1
                else [t for t in s if t in b][0])
            within = {a for h in self.turns if flow.loops[h] < body for a in flow.loops[h]}
            way = [header] + rest
            self.parts[name] = [Stretch([], way, {a for a in way if a not in within})]

    def _end_of(self, header):
        """Where the loop goes on when it ends."""
        body = self.flow.loops[header]
        ends = {s for a in body for s in self.flow.next[a] if s not in body}
        if len(ends) != 1:
            raise SassError(f"the loop at {header:#x} does not end in one place")
        return ends.pop()

    def _skips(self):
        body = self.flow.loops[self.inner]
        for name, _ in self.shape.leaves:
            if name is None:
                continue
            names = [n for n, _ in self.shape.leaves]
            later = [None] if self.every_pass else [n for n in names[names.index(name):] if n in self.leave_names]
            if not later:
                raise SassError(f"there is no branch for the path {name}")
            leave = self.leaves[self.leave_names.index(later[0])]
            way = self._until(leave)[0] + self._to_header(self.exits[leave], self.inner, body)
            self.parts[name] = [Stretch([], way)]

    # The reduction. Each way of it ends where the warp meets.

    def _to_branch(self, start, wanted, what):
        """From `start` to the branch that parts the ways to `wanted`, past branches around bodies that only some
        lanes run: the way, and both sides."""
        sides = []

        def choose(address, successors):
            able = [s for s in successors if self.flow.reaches(s, wanted, {self.inner, self.meet})]
            if len(able) == len(successors):
                return self._through(address, successors, wanted, {self.inner, self.meet})
            sides.extend(self._side(address, successors, wanted, what))
            return None

        way = self.flow.walk(start, {self.meet}, choose)
        if not sides:
            raise SassError(f"found no branch that parts the ways to {what}")
        return way, sides[0], sides[1]

    def _to_meet(self, start):
        blocked = {self.inner, self.meet}
        way = self.flow.walk(start, {self.meet}, lambda a, s: self._through(a, s, IS_ATOMIC, blocked)
                             if any(self.flow.reaches(t, IS_ATOMIC, blocked) for t in s) else s[0])
        atomics = sum(IS_ATOMIC(self.flow.code[a]) for a in way)
        if atomics != self.parameters:
            raise SassError(f"the way from {start:#x} has {atomics} atomics, not {self.parameters}")
        return way

    def _taken(self):
        getattr(self, "_taken_" + self.variant.replace("-", "_"))()

    def _taken_baseline(self):
        before, start = self._before_reduction()
        rest = self._to_meet(start)
        own = self._not_values(rest, [rest])
        self._mixed(before, rest, {a: "plain" for a in own})
        self.parts.setdefault("plain", [])  # nothing but the atomics, where the loop moves the address on

    def _taken_sw_s(self):
        flow = self.flow
        before, start = self._before_reduction()
        trunk, to_loop, to_plain = self._to_branch(start, IS_SHUFFLE, "the serial loop")
        if not any(flow.code[a].opcode == "MATCH" for a in trunk):
            raise SassError("found no MATCH in front of the serial loop")
        serial = [h for h in flow.loops if flow.loops[h] < flow.loops[self.inner]
                  and any(IS_SHUFFLE(flow.code[a]) for a in flow.loops[h])]
        if len(serial) != 1:
            raise SassError(f"found {len(serial)} serial loops")
        header = serial[0]
        loop = flow.loops[header]
        setup = flow.walk(to_loop, {header}, lambda a, s: self._side(a, s, IS_SHUFFLE, "the serial loop")[0])
        ends = set()

        def around(address, successors):
            stay = [s for s in successors if s in loop]
            ends.update(s for s in successors if s not in loop)
            if len(stay) != 1:
                raise SassError(f"unknown branch at {address:#x} in the serial loop")
            return stay[0]

        first = flow.next[header][0]
        turn = [header] + flow.walk(first, {header}, around)
        if sum(IS_SHUFFLE(flow.code[a]) for a in turn) != self.parameters:
            raise SassError(f"a turn of the serial loop does not have {self.parameters} SHFL: it has been unrolled")
        if len(ends) != 1:
            raise SassError("the serial loop does not end in one place")
        leader = self._to_meet(ends.pop())
        plain = self._to_meet(to_plain)
        own = self._not_values(trunk, [trunk + setup + turn + leader, trunk + plain])
        self._mixed(before, trunk, {a: "check" for a in own}, plain)
        trunk_way = before + trunk
        self._add("plain", Stretch(trunk_way, plain))
        self._add("setup", Stretch(trunk_way, setup))
        self._add("per_lane", Stretch(trunk_way + setup + turn, turn))
        self._add("leader", Stretch(trunk_way + setup + turn, leader))

    def _butterfly(self, before, start):
        """From `start` through the butterfly to the leader's branch, and the leader's way."""
        def parts_leader(address, successors):
            able = [s for s in successors if self.flow.reaches(s, IS_ATOMIC, {self.inner, self.meet})]
            return None if len(able) == 1 else self._through(address, successors, IS_ATOMIC, {self.inner, self.meet})

        way = self.flow.walk(start, {self.meet}, parts_leader)
        branch = way[-1]
        to_leader, _ = self._side(branch, self.flow.next[branch], IS_ATOMIC, "the atomics")
        leader = self._to_meet(to_leader)
        return way, leader

    def _check_shuffles(self, way):
        shuffles = sum(IS_SHUFFLE(self.flow.code[a]) for a in way)
        if shuffles != 5 * self.parameters:
            raise SassError(f"the butterfly has {shuffles} SHFL, not {5 * self.parameters}")

    def _taken_sw_b(self):
        before, start = self._before_reduction()
        is_butterfly = lambda i: i.name.startswith("SHFL.BFLY")
        trunk, to_test, to_plain = self._to_branch(start, is_butterfly, "the butterfly")
        test, to_sums, fails = self._to_branch(to_test, is_butterfly, "the butterfly, once its lanes agree")
        if not any(self.flow.code[a].opcode == "VOTE" for a in test):
            raise SassError("found no VOTE in front of the butterfly")
        if not any(self.flow.code[a].opcode in COUNTS for a in self._where_counted(trunk)):
            raise SassError("found no POPC in front of the threshold's branch")
        if fails != to_plain:
            raise SassError("lanes that disagree and too few lanes do not go the same way")
        sums, leader = self._butterfly(before + trunk + test, to_sums)
        self._check_shuffles(sums)
        plain = self._to_meet(to_plain)
        own = self._not_values(trunk, [trunk + test + sums + leader, trunk + plain])
        self._mixed(before, trunk, {a: "check" for a in own}, plain)
        trunk_way = before + trunk
        self._add("agree", Stretch(trunk_way, test))
        self._add("plain", Stretch(trunk_way, plain))
        whole = trunk_way + test
        lone = self._not_values(sums, [sums + leader])
        self._labelled(whole, sums, {a: "leader" for a in lone if not self._keeps_together(a)}, "butterfly")
        self._add("leader", Stretch(whole + sums, leader))

    def _where_counted(self, trunk):
        return self.flow.next  # once for all passes where the active lanes stay the same

    def _keeps_together(self, address):
        return self.flow.code[address].name.startswith(("BRA.DIV", "BRA.CONV", "WARPSYNC"))

    def _taken_cccl(self):
        self._always_reduced([], self.inner)

    def _taken_skip(self):
        self._always_reduced(*self._before_reduction())
        self.parts["check"] = []  # the ballot and its branch are part of the passes

    def _always_reduced(self, before, start):
        rest, leader = self._butterfly(before, start)
        self._check_shuffles(rest)
        own = self._not_values(rest, [rest + leader])
        labels = {a: "butterfly" if self._keeps_together(a) else "leader" for a in own}
        tainted = set()
        for a in rest:
            i = self.flow.code[a]
            if IS_SHUFFLE(i) or (tainted & set(i.reads()) and a not in own):
                labels[a] = "butterfly"
                tainted |= set(i.writes())
            else:
                tainted -= set(i.writes())
        self._mixed(before, rest, labels, leader)
        self._add("leader", Stretch(before + rest, leader))

    def _add(self, name, stretch):
        self.parts.setdefault(name, []).append(stretch)

    def _labelled(self, before, way, labels, rest):
        """Splits `way`, whose instructions belong to `labels` or else to `rest`."""
        for name in sorted(set(labels.values()) | {rest}):
            self._add(name, Stretch(before, way, {a for a in way if labels.get(a, rest) == name}))

    def _mixed(self, before, way, labels, through=()):
        """The pass that is taken: `before`, then what of `way` has no label, then the end of the pass. Between
        the two it comes `through` a way of the reduction, which counts elsewhere."""
        whole = before + way + list(through) + self._latch()
        labels = labels | dict.fromkeys(through)
        for name in sorted(set(labels.values()) - {None}):
            self._add(name, Stretch(before, way, {a for a in way if labels.get(a) == name}))
        self._add("taken", Stretch([], whole, {a for a in whole if a not in labels}))

    def _not_values(self, way, continuations):
        """Instructions of `way` that nothing depends on that is added or kept for the next pass."""
        code = self.flow.code
        kept = self._live_at_meet()
        needed = set()
        for continuation in continuations:
            want = set(kept)
            for a in reversed(continuation):
                i = code[a]
                if IS_ATOMIC(i):
                    want |= set(i.added_value())
                    continue
                written = set(i.writes())
                if written & want:
                    needed.add(a)
                    if i.guard is None:
                        want -= written
                    want |= set(i.value_reads())
        return {a for a in way if a not in needed and not IS_ATOMIC(code[a])}

    def _live_at_meet(self):
        """Registers whose value where the warp meets is still needed, by data flow over the kernel."""
        code = self.flow.code
        live = {a: set() for a in self.flow.next}
        changed = True
        while changed:
            changed = False
            for a in sorted(live, reverse=True):
                out = set()
                for s in self.flow.next[a]:
                    out |= live[s]
                i = code[a]
                if i.guard is None:
                    out -= set(i.writes())
                out |= set(i.reads())
                if out != live[a]:
                    live[a] = out
                    changed = True
        return live[self.meet]

    # Costs of the parts.

    def cost(self, name):
        """The cost of a path or segment, and how many results of an unknown class it waits for."""
        cost = dict.fromkeys(FIELDS, 0)
        waits = []
        unknown = 0
        start = 0  # of the stretch, behind those before it
        for stretch in self.parts[name]:
            board = Scoreboard()
            for a in stretch.before:
                board.issue(self.flow.code[a])
            shift = start - board.clock
            for a in stretch.way:
                i = self.flow.code[a]
                found, others = board.issue(i)
                if not stretch.counts(a):
                    continue
                waits += [[kind, asked + shift, wanted + shift] for kind, asked, wanted in found]
                unknown += others
                if IS_ATOMIC(i):
                    cost["stall_cycles"] += max(i.stall - 1, 0)
                if i.counted:
                    cost[i.kind] += 1
                    cost["stall_cycles"] += i.stall
                    cost["branches"] += i.opcode in BRANCHES and not i.name.startswith(("BRA.DIV", "BRA.CONV"))
            start = board.clock + shift
        first = min((asked for _, asked, _ in waits), default=0)
        cost["waits"] = [[kind, asked - first, wanted - first] for kind, asked, wanted in waits]
        return cost, unknown

    def addresses(self, name):
        return [a for stretch in self.parts[name] for a in stretch.way if stretch.counts(a)]


class Scoreboard:
    """The six counters that an instruction can wait for, on one way."""

    def __init__(self):
        self.pending = {}  # counter -> {class: when last asked for}
        self.clock = 0     # sum of the stall counts

    def issue(self, instruction):
        """Results that the instruction waits for, [(class, asked for, wanted)], and how many of no known class."""
        found = {}
        others = 0
        for counter in range(6):
            if not instruction.wait_mask >> counter & 1:
                continue
            for kind, when in self.pending.pop(counter, {}).items():
                if kind is None:
                    others += 1
                else:
                    found[kind] = max(when, found.get(kind, when))
        waits = [(kind, when, self.clock) for kind, when in sorted(found.items())]
        if instruction.write_barrier != NO_BARRIER:
            self.pending.setdefault(instruction.write_barrier, {})[instruction.result] = self.clock
        self.clock += instruction.stall
        return waits, others


def ranges(addresses):
    """Addresses in the order of issue, runs as first-last."""
    text = []
    first = last = None
    for a in addresses:
        if last is not None and a == last + INSTRUCTION_BYTES:
            last = a
            continue
        if first is not None:
            text.append(f"{first:x}" if first == last else f"{first:x}-{last:x}")
        first = last = a
    if first is not None:
        text.append(f"{first:x}" if first == last else f"{first:x}-{last:x}")
    return " ".join(text)


def variant_costs(instructions, variant, registers, shape, explain=None):
    """trace::VariantCost of a kernel as JSON has it. `explain(line)` gets the addresses of each part."""
    flow = Flow(instructions)
    ways = Ways(flow, variant, shape)
    result = {"paths": [], "reduce": {}, "registers": registers}
    for name in shape.paths + SEGMENTS[variant]:
        cost, unclassed = ways.cost(name)
        if name in shape.paths:
            result["paths"].append(cost)
        else:
            result["reduce"][name] = cost
        if explain:
            slots = sum(cost[f] for f in ISSUED)
            explain(f"  {name:14} {slots:4} slots {cost['stall_cycles']:5} stall "
                    + " ".join(f"{f}={cost[f]}" for f in FIELDS if f not in ("stall_cycles", "waits") and cost[f])
                    + "".join(f" {kind}:{wanted - asked}" for kind, asked, wanted in cost["waits"])
                    + (f" (waits of no known class: {unclassed})" if unclassed else ""))
            explain(f"  {'':14} {ranges(ways.addresses(name))}")
    return result


def kernel_name(workload, variant):
    return f"warpfold_{workload}_{variant.replace('-', '_')}"


# ---- commands ---------------------------------------------------------------------------------------


def read_text(path):
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except (OSError, UnicodeDecodeError) as error:
        raise SassError(f"{path}: cannot be read: {getattr(error, 'strerror', None) or error}") from error


def read_json(path, schema):
    try:
        data = json.loads(read_text(path))
    except ValueError as error:
        raise SassError(f"{path}: {error}") from error
    if not isinstance(data, dict) or data.get("schema") != schema:
        raise SassError(f"{path}: is not {schema}")
    return data


def write_text(path, text):
    temporary = f"{path}.part"
    try:
        with open(temporary, "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(temporary, path)
    except OSError as error:
        raise SassError(f"{path}: cannot be written: {error.strerror}") from error


def run_tool(*command):
    try:
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout
    except FileNotFoundError as error:
        raise SassError(f"{command[0]} is not installed") from error
    except subprocess.CalledProcessError as error:
        raise SassError(f"{command[0]}: {error.stderr.strip().splitlines()[-1:] or error}") from error


def dump(args):
    sass = run_tool("cuobjdump", "-sass", args.program)
    resources = run_tool("cuobjdump", "-res-usage", args.program)
    by_arch = {}
    arch = None
    for line in sass.splitlines(keepends=True):
        found = re.match(r"\s*code for (sm_\d+)", line)
        if found:
            arch = found.group(1)
        if arch:
            by_arch.setdefault(arch, []).append(line)
    if not by_arch:
        raise SassError(f"{args.program}: holds no machine code")
    os.makedirs(args.out, exist_ok=True)
    for arch, lines in by_arch.items():
        write_text(os.path.join(args.out, f"{arch}.sass"), "".join(lines))
    write_text(os.path.join(args.out, "resources.txt"), resources)
    version = re.findall(r"release [^\n]*", run_tool("cuobjdump", "--version"))
    write_text(os.path.join(args.out, "compiler.txt"), (version[-1] if version else "unknown") + "\n")
    print(f"machine code for {', '.join(sorted(by_arch))} in {args.out}")


def costs(args):
    files = sorted(f for f in os.listdir(args.sass) if re.fullmatch(r"sm_\d+\.sass", f)) \
        if os.path.isdir(args.sass) else []
    if not files:
        raise SassError(f"{args.sass}: holds no sm_*.sass; make them with dump")
    registers = parse_registers(read_text(os.path.join(args.sass, "resources.txt")))
    shape = WORKLOADS[args.workload]
    result = {"schema": SCHEMA, "paths": shape.paths, "costs": {}}
    if args.workload != GAUSSIANS:
        result["kernel"] = args.workload
    compiler = os.path.join(args.sass, "compiler.txt")
    result["compiler"] = read_text(compiler).strip() if os.path.exists(compiler) else "unknown"
    explain = print if args.explain else None
    for file in files:
        arch = file.removesuffix(".sass")
        functions = parse_sass(read_text(os.path.join(args.sass, file)))
        variants = result["costs"][arch] = {}
        for variant in shape.variants:
            name = kernel_name(args.workload, variant)
            if name not in functions:
                raise SassError(f"{file}: has no {name}")
            count = registers.get(arch, {}).get(name)
            if count is None:
                raise SassError(f"{args.sass}/resources.txt: has no registers of {name} for {arch}")
            if explain:
                explain(f"{arch} {variant}: {count} registers")
            try:
                variants[variant] = variant_costs(functions[name], variant, count, shape, explain)
            except SassError as error:
                raise SassError(f"{arch} {name}: {error}") from error
    if args.json:
        text = json.dumps(result, indent=1)
        text = re.sub(r'\[\s+("\w+"),\s+(\d+),\s+(\d+)\s+\]', r"[\1, \2, \3]", text)  # a wait on one line
        write_text(args.json, text + "\n")
    if not explain:
        print_table(result)


def slots(cost):
    return sum(cost[f] for f in ISSUED)


def print_table(result):
    """Issue slots of each path and segment."""
    segments = list(dict.fromkeys(s for v in SEGMENTS.values() for s in v))
    print("issue slots: " + " ".join(result["paths"]) + " | " + " ".join(segments))
    for arch, variants in result["costs"].items():
        for variant, cost in variants.items():
            row = [str(slots(c)) for c in cost["paths"]] + ["|"]
            row += [str(slots(cost["reduce"][s])) if s in cost["reduce"] else "-" for s in segments]
            print(f"{arch} {variant:9} {cost['registers']:3} registers  " + " ".join(row))


def predict_variant(cost, counts, variant, threshold):
    """Warp instructions that a launch issues, from how often each path was gone."""
    total = sum(slots(c) * n for c, n in zip(cost["paths"], counts["paths"].values()))
    total += counts["barriers"]
    reduce = {name: slots(c) for name, c in cost["reduce"].items()}
    adds = counts["parameters"]
    by_lanes = counts["events_by_lanes"]
    total += sum(by_lanes) * reduce.get("check", 0)
    alike = counts.get("one_address_by_lanes", by_lanes)  # events whose lanes share a primitive
    if variant == "baseline":
        total += sum(by_lanes) * (reduce["plain"] + adds)
    elif variant == "sw-s":
        from_threshold = range(max(threshold, 1), WARP_LANES + 1)
        serial = counts["serial_events"][threshold] if "serial_events" in counts \
            else sum(by_lanes[n] for n in from_threshold)
        turns = counts["serial_turns"][threshold] if "serial_turns" in counts \
            else sum(by_lanes[n] * (n - 1) for n in from_threshold)
        plain = counts["plain_events"][threshold] if "plain_events" in counts else sum(by_lanes) - serial
        total += serial * (reduce["setup"] + reduce["leader"] + adds) + turns * reduce["per_lane"]
        total += plain * (reduce["plain"] + adds)
    else:
        enough = max(threshold, 1) if variant == "sw-b" else 0
        total += sum(by_lanes[enough:]) * reduce.get("agree", 0)
        together = sum(alike[enough:])
        total += together * (reduce["butterfly"] + reduce["leader"] + adds)
        total += (sum(by_lanes) - together) * (reduce.get("plain", 0) + adds)
    return total


def read_ncu(path, workload):
    """ncu --csv -> (compute capability, {variant: warp instructions})."""
    lines = [line for line in read_text(path).splitlines() if line.startswith('"')]
    kernel = kernel_name(workload, "")
    measured = {}
    arch = None
    for row in csv.DictReader(lines):
        if row.get("Metric Name") != "smsp__inst_executed.sum":
            continue
        found = re.search(kernel + r"(\w+)", row.get("Kernel Name", ""))
        variant = found.group(1).replace("_", "-") if found else None
        if variant in SEGMENTS:
            # The last launch: some programs run their baseline before the launch that is captured.
            measured[variant] = int(row["Metric Value"].replace(",", ""))
            arch = "sm_" + row.get("CC", "").replace(".", "")
    if not measured:
        raise SassError(f"{path}: has no instructions of {kernel}*")
    return arch, measured


def predict(args):
    table = read_json(args.costs, SCHEMA)
    counts = read_json(args.counts, COUNTS_SCHEMA)
    measured = {}
    machines = sorted(table["costs"])
    if counts.get("kernel") != table.get("kernel") or list(counts["paths"]) != table["paths"]:
        raise SassError(f"{args.counts}: is of another kernel than {args.costs}")
    if args.ncu:
        arch, measured = read_ncu(args.ncu, table.get("kernel", GAUSSIANS))
        if arch not in table["costs"]:
            raise SassError(f"{args.costs}: has no costs of {arch}, which {args.ncu} was measured on")
        machines = [arch]
    for arch in machines:
        for variant, cost in table["costs"][arch].items():
            predicted = predict_variant(cost, counts, variant, PROFILED_THRESHOLD)
            line = f"{arch} {variant:9} predicted {predicted:12} warp instructions"
            if variant in measured:
                line += f", measured {measured[variant]:12}: {predicted / measured[variant]:.4f}"
            print(line)


def main(argv=None):
    parser = argparse.ArgumentParser(description="Instruction costs of the backward kernels, from SASS.")
    commands = parser.add_subparsers(dest="command", required=True)
    command = commands.add_parser("dump", help="disassemble the capture program")
    command.add_argument("--program", required=True)
    command.add_argument("--out", required=True, help="folder")
    command.set_defaults(run=dump)
    command = commands.add_parser("costs", help="costs of every architecture and variant")
    command.add_argument("--sass", required=True, help="folder that dump has filled")
    command.add_argument("--workload", choices=sorted(WORKLOADS), default=GAUSSIANS,
                         help="which kernels of warpfold_capture_workloads; those of 3DGS if not given")
    command.add_argument("--json", help="write the costs there")
    command.add_argument("--explain", action="store_true", help="list the instructions of each path")
    command.set_defaults(run=costs)
    command = commands.add_parser("predict", help="warp instructions of a launch, against ncu")
    command.add_argument("--costs", required=True)
    command.add_argument("--counts", required=True, help="NAME-counts.json of a capture")
    command.add_argument("--ncu", help="CSV with smsp__inst_executed.sum")
    command.set_defaults(run=predict)
    args = parser.parse_args(argv)
    try:
        args.run(args)
    except SassError as error:
        print(f"sass_cost.py: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
