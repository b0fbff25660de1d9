# SPDX-License-Identifier: Apache-2.0
"""Instructions of NVIDIA GPUs as cuobjdump prints them: control bits, classes, registers."""

import re

from ..base.errors import BadInput


class SassError(BadInput):
    """Machine code that is not as expected: one line."""


class UnknownFlow(SassError):
    """Control flow that cannot be followed: the kernel has no costs."""


LINE = re.compile(r"^\s*/\*([0-9a-f]{4,})\*/\s+(.*?)\s*;\s*/\*\s*0x([0-9a-f]{16})\s*\*/\s*$")
UPPER_WORD = re.compile(r"^\s*/\*\s*0x([0-9a-f]{16})\s*\*/\s*$")
FUNCTION = re.compile(r"^\s*Function\s*:\s*(\S+)")
GUARD = re.compile(r"^@(!?U?P[0-9T]+)\s+")
REGISTER = re.compile(r"\b(UR|R|UP|P)(\d+)\b")
NO_BARRIER = 7
INSTRUCTION_BYTES = 16

# What an instruction is counted as, if not as alu. Integer: the pipe of half rate, which also compares and
# selects; products go through that of FFMA.
CLASSES = {
    "LDS": "shared",
    "STS": "shared",
    "ATOMS": "shared",
    "LDG": "global_load",
    "STG": "global_load",
    "SHFL": "shuffle",
    "MATCH": "match",
    "REDUX": "redux",
}
# Of kernels of any kind: local memory, textures and copies into shared memory go the way of global memory.
CLASSES |= dict.fromkeys(
    ("LD", "ST", "LDL", "STL", "LDGSTS", "TEX", "TLD", "TLD4", "TXQ", "SULD", "SUST"), "global_load"
)
CLASSES |= dict.fromkeys(("LDSM", "STSM"), "shared_wide")
CLASSES |= dict.fromkeys(("MUFU", "POPC", "FLO", "BREV", "I2F", "F2I", "F2F", "FRND", "FCHK"), "sfu")
CLASSES |= dict.fromkeys(
    (
        "IADD3",
        "VIADD",
        "LOP3",
        "SHF",
        "LEA",
        "ISETP",
        "FSETP",
        "SEL",
        "FSEL",
        "FMNMX",
        "IMNMX",
        "VIMNMX",
        "VIADDMNMX",
        "PRMT",
        "IABS",
        "SGXT",
        "BMSK",
    ),
    "integer",
)
# Class of a result that arrives when it does, for which a scoreboard stands.
RESULTS = {
    "LDS": "shared",
    "ATOMS": "shared",
    "LDG": "global_load",
    "SHFL": "shuffle",
    "MATCH": "match",
    "REDUX": "redux",
    "S2R": "special",
    "B2R": "special",
    "S2UR": "uniform",
    "R2UR": "uniform",
    "LDC": "constant",
}
RESULTS |= dict.fromkeys(("LD", "TEX", "TLD", "TLD4", "TXQ", "SULD"), "global_load")
RESULTS |= {"LDL": "next_word", "LDSM": "shared"}  # local memory is mostly served by the L1
RESULTS |= {opcode: kind for opcode, kind in CLASSES.items() if kind == "sfu"}
# Lanes that are named take longer than those at a distance; 16 bytes a lane longer than 8.
SHARED_CAS = ("ATOMS.CAS", "ATOMS.CAST")  # an addition of a float swaps until nobody has come in between
SLOWER = {"LDS.128": "shared_wide", "STS.128": "shared_wide", "SHFL.IDX": "shuffle_index"}
COUNTS = {"POPC", "UPOPC"}  # active lanes, for the threshold
ATOMICS = {"RED", "REDG", "ATOM", "ATOMG"}
# Reductions of rows of shared memory to global memory.
ROW_ATOMICS = {"UBLKRED": "bulk", "UTMAREDG": "tensor"}
OTHER_MEMORY = {"LD", "ST", "LDSM", "LDGSTS", "TEX", "TLD", "SULD", "SUST"}
NO_RESULT = ATOMICS | {
    "STS",
    "STG",
    "STL",
    "BRA",
    "BSSY",
    "BSYNC",
    "BAR",
    "WARPSYNC",
    "EXIT",
    "NOP",
    "CALL",
    "RET",
    "YIELD",
    "BREAK",
}
JUMPS = {"BRA", "CALL", "JMP"}
BRANCHES = {"BRA", "BSYNC"}  # those that take longer than their stall counts
UNKNOWN_FLOW = {"BRX", "BRXU", "JMP", "JMX", "JMXU", "BPT", "KILL", "RPCMOV"}


class Instruction:
    """One instruction with its control bits."""

    def __init__(self, address: int, text: str, low: int, high: int) -> None:
        self.address = address
        self.text = text
        word = low | high << 64
        self.stall = word >> 105 & 0xF
        self.write_barrier = word >> 110 & 0x7
        self.wait_mask = word >> 116 & 0x3F
        guard = GUARD.match(text)
        self.guard = guard.group(1) if guard else None
        body = text[guard.end() :] if guard else text
        self.name, _, operands = body.partition(" ")
        self.opcode = self.name.split(".")[0]
        self.operands = [o.strip() for o in operands.split(",")] if operands.strip() else []
        self.kind = SLOWER.get(self.name, CLASSES.get(self.opcode, "alu"))
        self.result = RESULTS.get(self.opcode)
        if self.kind == "shuffle_index":
            self.result = "shuffle_index"
        elif self.name.startswith(SHARED_CAS):
            self.result = "shared_cas"
        # One of the CTA takes a third of the time or less, and is not counted.
        self.is_fence = self.opcode == "MEMBAR" and not self.name.endswith(".CTA")
        self.apart = False  # a load or store that is no part of a cost
        self.target = None
        if self.opcode in JUMPS:
            found = re.search(r"0x([0-9a-f]+)\W*$", text)
            if found:
                self.target = int(found.group(1), 16)

    def successors(self, following: int) -> list[int]:
        """Addresses that may come next for a warp that is converged where BRA.DIV and BRA.CONV ask."""
        always = self.guard is None or self.guard in ("PT", "UPT")
        if self.opcode == "RET":
            raise SassError(
                f"{self.text} at {self.address:#x}: a subroutine, as a division or root needs that is not "
                "__fdividef, rsqrtf or the like"
            )
        if self.opcode in UNKNOWN_FLOW:
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

    def _width(self) -> int:
        if ".128" in self.name or ".F32x4" in self.name:
            return 4
        if ".64" in self.name or ".F32x2" in self.name or ".WIDE" in self.name or self.name == "CS2R":
            return 2
        return 1

    def _split(self) -> tuple[list[str], list[str]]:
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
    def _expand(prefix: str, number: str, width: int) -> list[str]:
        return [f"{prefix}{int(number) + i}" for i in range(width)]

    def writes(self) -> list[str]:
        result = []
        for operand in self._split()[0]:
            for prefix, number in REGISTER.findall(operand):
                wide = self._width() if prefix in ("R", "UR") else 1
                if self.opcode in ("SHFL", "ISETP", "FSETP", "UISETP"):
                    wide = 1
                result += self._expand(prefix, number, wide)
        return result

    def reads(self, operands: list[str] | None = None) -> list[str]:
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

    def value_reads(self) -> list[str]:
        """What of it can carry into the value that it produces."""
        if self.opcode == "SHFL":
            return self.reads(self.operands[2:3])  # the value; not the lane
        return self.reads()

    def added_value(self) -> list[str]:
        """Registers that an atomic adds."""
        return self.reads(self.operands[-1:])


def parse_sass(text: str) -> dict[str, list[Instruction]]:
    """cuobjdump -sass of one architecture -> {function: [Instruction]}."""
    functions: dict[str, list[Instruction]] = {}
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
        if found and pending and current is not None:
            current.append(Instruction(*pending, int(found.group(1), 16)))
            pending = None
    if not functions:
        raise SassError("no function in the disassembly")
    return functions


def parse_registers(text: str) -> dict[str, dict[str, int]]:
    """cuobjdump -res-usage -> {arch: {function: registers}}."""
    registers: dict[str, dict[str, int]] = {}
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
