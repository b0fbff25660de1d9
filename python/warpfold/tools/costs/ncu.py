# SPDX-License-Identifier: Apache-2.0
"""Warp instructions that ncu counted, and how far a prediction may be from them."""

import csv

from ..base.files import read_text
from .instructions import SassError


METRIC = "smsp__inst_executed.sum"
MOST_OFF = 0.10


def read_counts(path: str) -> list[tuple[str, str, int]]:
    """ncu --csv -> [(kernel name, architecture, warp instructions)] in the order of launches."""
    lines = [line for line in read_text(path).splitlines() if line.startswith('"')]
    found = []
    for row in csv.DictReader(lines):
        if row.get("Metric Name") != METRIC:
            continue
        try:
            count = int(float((row.get("Metric Value") or "").replace(",", "")))
        except ValueError as error:
            raise SassError(f"{path}: {METRIC} of {row.get('Kernel Name')} is no number") from error
        if count <= 0:
            raise SassError(f"{path}: {METRIC} of {row.get('Kernel Name')} is {count}")
        found.append((row.get("Kernel Name") or "", "sm_" + (row.get("CC") or "").replace(".", ""), count))
    return found


def read_executed(path: str, function: str) -> list[int]:
    """How often warps issued each instruction of the last launch of a kernel, from ncu --csv with the metric
    inst_executed, --print-metric-instances values and --kernel-name-base mangled."""
    lines = [line for line in read_text(path).splitlines() if line.startswith('"')]
    values = [
        row.get("Metric Value") or ""
        for row in csv.DictReader(lines)
        if row.get("Metric Name") == "inst_executed" and row.get("Kernel Name") == function
    ]
    if not values:
        raise SassError(f"{path}: has no counts of the instructions of {function}")
    total, _, instances = values[-1].partition("(")
    try:
        counts = [int(x.replace(",", "")) for x in instances.rstrip(") ").split(";")]
        whole = int(total.replace(",", ""))
    except ValueError as error:
        raise SassError(f"{path}: inst_executed of {function} has no number for each instruction") from error
    if sum(counts) != whole:
        raise SassError(f"{path}: the counts of the instructions of {function} do not add up to {whole}")
    return counts


def verdict(predicted: int, measured: int) -> str | None:
    """None where a prediction is near enough, else what it means, in one line."""
    ratio = predicted / measured
    if abs(ratio - 1) <= MOST_OFF:
        return None
    off = f"{abs(ratio - 1):.0%} {'more' if ratio > 1 else 'fewer'} warp instructions than ncu counted"
    if ratio > 1:
        return (
            f"{off}: the costs hold code that warps did not issue, as a reduction that most passes leave out or a "
            "branch that no lane took; do not use them"
        )
    return (
        f"{off}: warps issued code that the costs do not hold, as passes of a loop or both sides of a branch; do not "
        "use them"
    )
