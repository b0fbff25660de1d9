# SPDX-License-Identifier: Apache-2.0
"""Markers: the instructions of a kernel that a recorder can report, and what its global atomics add."""

from collections.abc import Callable
from typing import Any

from .instructions import ATOMICS, Instruction

MARKERS = dict.fromkeys(("LDG", "STG", "LD", "ST", "RED", "REDG", "ATOM", "ATOMG"), "global")
MARKERS |= dict.fromkeys(("LDS", "STS", "ATOMS", "LDSM", "STSM"), "shared")
MARKERS |= dict.fromkeys(("LDL", "STL"), "local")
MARKERS |= dict.fromkeys(("LDGSTS", "UBLKCP", "UBLKRED", "UTMALDG", "UTMASTG", "UTMAREDG"), "async")
MARKERS |= {"BAR": "barrier", "SHFL": "shuffle", "WARPSYNC": "warpsync", "NOP": "warpsync", "EXIT": "exit"}
KINDS = sorted(set(MARKERS.values()))
# A NOP reports only where it stands for a __syncwarp(), and a WARPSYNC perhaps not where the compiler put it; whether a
# move of matrices or of a tensor does, depends on the recorder.
MAY_NOT_REPORT = {"NOP", "WARPSYNC", "LDSM", "STSM", "UBLKCP", "UBLKRED", "UTMALDG", "UTMASTG", "UTMAREDG"}

# The types of additions, as modifiers of the instruction name them: type, elements of a lane.
ADDITIONS = {
    "F32": ("f32", 1),
    "F32x2": ("f32", 2),
    "F32x4": ("f32", 4),
    "F64": ("f64", 1),
    "F16x2": ("f16x2", 1),
    "F16x4": ("f16x2", 2),
    "F16x8": ("f16x2", 4),
    "BF16x2": ("bf16x2", 1),
    "BF16x4": ("bf16x2", 2),
    "BF16x8": ("bf16x2", 4),
}


def marker_of(instruction: Instruction) -> str | None:
    """The kind of a marker, or None."""
    return MARKERS.get(instruction.opcode)


def always_runs(instruction: Instruction) -> bool:
    return instruction.guard in (None, "PT", "UPT")


def always_reports(instruction: Instruction) -> bool:
    return always_runs(instruction) and instruction.opcode not in MAY_NOT_REPORT


def result_registers(instruction: Instruction) -> list[str]:
    """Registers of an ATOM's result; none of a RED, and of an ATOM that leaves its result in RZ."""
    if instruction.opcode in ("RED", "REDG"):
        return []
    for operand in instruction.operands:
        if "[" in operand:
            return []
        name = operand.split(".")[0]
        if name.startswith("R") and name[1:].isdigit():
            return [f"R{int(name[1:]) + i}" for i in range(result_width(instruction))]
    return []


def result_width(instruction: Instruction) -> int:
    """Registers in a row that a load or an atomic has its result in, at least."""
    modifiers = instruction.name.split(".")
    for modifier in modifiers:
        if modifier in ADDITIONS:
            kind, words = ADDITIONS[modifier]
            return words * (2 if kind == "f64" else 1)
    if "128" in modifiers:
        return 4
    return 2 if any(m in ("64", "U64", "S64") for m in modifiers) else 1


def addition(instruction: Instruction, is_read: Callable[[str], bool]) -> dict[str, Any] | None:
    """What a global atomic adds: None for what is none, "other" as type for all that is no addition of floats.
    `is_read(register)` tells whether a register of the result is read behind it."""
    if instruction.opcode not in ATOMICS:
        return None
    modifiers = instruction.name.split(".")
    kind, words = "other", 1
    if "ADD" in modifiers:
        kind, words = next((ADDITIONS[m] for m in modifiers if m in ADDITIONS), (kind, words))
    reduces = not any(is_read(register) for register in result_registers(instruction))
    return {"type": kind, "words": words, "reduces": reduces, "name": instruction.name}
