# SPDX-License-Identifier: Apache-2.0
"""Markers: the instructions of a kernel that a recorder can report, and what its global atomics do."""

from collections.abc import Callable
from typing import Any

from .instructions import ATOMICS, ROW_ATOMICS, Instruction

MARKERS = dict.fromkeys(("LDG", "STG", "LD", "ST", "RED", "REDG", "ATOM", "ATOMG"), "global")
MARKERS |= dict.fromkeys(("LDS", "STS", "ATOMS", "LDSM", "STSM"), "shared")
MARKERS |= dict.fromkeys(("LDL", "STL"), "local")
MARKERS |= {"LDGSTS": "async", "UBLKRED": "bulk"}
MARKERS |= dict.fromkeys(("UBLKCP", "UTMALDG", "UTMASTG", "UTMAREDG"), "tensor")
MARKERS |= {"BAR": "barrier", "SHFL": "shuffle", "WARPSYNC": "warpsync", "NOP": "warpsync", "EXIT": "exit"}
KINDS = sorted(set(MARKERS.values()))
# A NOP reports only where it stands for a __syncwarp(), and a WARPSYNC perhaps not where the compiler put it; whether a
# move of matrices or of a tensor does, depends on the recorder.
MAY_NOT_REPORT = {"NOP", "WARPSYNC", "LDSM", "STSM", "UBLKCP", "UTMALDG", "UTMASTG", "UTMAREDG"}

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
# Of a row, whose halves go in pairs.
ROW_ADDITIONS = {"F32": "f32", "F64": "f64", "F16": "f16x2", "BF16": "bf16x2"}
WIDE = {"64", "U64", "S64"}


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
    return 2 if WIDE.intersection(modifiers) else 1


def atomic(
    instruction: Instruction, is_read: Callable[[str], bool], is_waited_for: Callable[[], bool]
) -> dict[str, Any] | None:
    """What an atomic on global memory is; None for what is none. `is_read(register)` tells whether a register of the
    result is read behind it, `is_waited_for()` whether its scoreboard is waited for.
      kind    "red": its warp goes on; "atom": its result is used or waited for; "bulk": a reduction of a row of shared
              memory; "tensor": the same by a tensor map
      type    of what a lane adds; "u32" or "u64" of anything but an addition of floats
      words   elements that a lane adds to
    """
    modifiers = instruction.name.split(".")
    kind, words = ("u64" if WIDE.intersection(modifiers) else "u32"), 1
    adds = False
    if instruction.opcode in ROW_ATOMICS:
        what = ROW_ATOMICS[instruction.opcode]
        if what == "bulk" and modifiers[1:2] != ["G"]:
            return None  # into shared memory
        row = next((ROW_ADDITIONS[m] for m in modifiers if m in ROW_ADDITIONS), None)
        # A tensor map has the type.
        adds = "ADD" in modifiers and (row is not None or what == "tensor")
        return {
            "kind": what,
            "type": row if adds and row else kind,
            "words": 1,
            "adds_floats": adds,
            "name": instruction.name,
        }
    if instruction.opcode not in ATOMICS:
        return None
    found = next((ADDITIONS[m] for m in modifiers if m in ADDITIONS), None)
    if "ADD" in modifiers and found:
        kind, words = found
        adds = True
    used = any(is_read(register) for register in result_registers(instruction)) or is_waited_for()
    return {
        "kind": "atom" if used else "red",
        "type": kind,
        "words": words,
        "adds_floats": adds,
        "name": instruction.name,
    }
