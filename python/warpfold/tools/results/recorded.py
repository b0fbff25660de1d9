# SPDX-License-Identifier: Apache-2.0
"""Public kernels that were recorded on a GPU (recorded.json, of tb/record/gpu/record_all.py)."""

from typing import Any

from .store import Document
from .text import Table

Row = dict[str, Any]  # of recorded.json

NAME = "recorded"
LOADS = "recorded_loads"
OFF = 0.15  # beyond it `warpfold sim` marks speedups


def ratio_of(row: Row) -> float | None:
    """Modelled over measured time: of warm launches where there are any, as `warpfold sim` has it; None without times."""
    ratio: float | None = row.get("warm_ratio", row.get("cold_ratio"))
    return ratio


def reason(row: Row) -> str:
    """Why a row's ratio is off."""
    ratio = ratio_of(row)
    if ratio is None or abs(ratio - 1) <= OFF:
        return ""
    return "loads" if ratio < 1 and row["loads"] else "yes"


def number(row: Row, key: str, digits: int = 2) -> str:
    return f"{row[key]:.{digits}f}" if key in row else "-"


def kernel_rows(document: Document) -> Table:
    """Head and rows of the table `recorded`."""
    head = ["library", "operation", "kernel", "additions", "lane additions", "by code / ncu", "held / ncu"]
    head += ["warm, us", "model / warm", "model / cold", "off", "command, s"]
    rows = []
    for row in document["kernels"]:
        cells = [
            row["library"],
            f"`{row['case']}`",
            f"`{row['kernel'][:40]}`",
            row["adds"],
            f"{row['lane_additions']:,}",
        ]
        cells += [number(row, "by_code"), number(row, "held"), number(row, "warm_us", 1)]
        cells += [number(row, "warm_ratio"), number(row, "cold_ratio"), reason(row)]
        ended = f", ended {row['ended']}" if "ended" in row else ""
        rows.append([*cells, f"{row['seconds']:.0f}{ended}"])
    return head, rows


def without_rows(document: Document) -> Table:
    """Of the table `recorded-none`: programs of which there is no trace, in the command's words."""
    return ["library", "operation", "what it says"], [
        [row["library"], f"`{row['case']}`", f"`{row['said']}`"] for row in document["not_recorded"]
    ]


def summary_rows(document: Document) -> Table:
    """Of the table `recorded-summary`."""
    kernels = document["kernels"]
    counted = [row for row in kernels if "held" in row]
    ratios = [ratio for ratio in map(ratio_of, kernels) if ratio is not None]
    loads = [row for row in kernels if reason(row) == "loads"]
    eight = document["eight"]

    def within(values: list[float], share: float) -> str:
        return f"{sum(abs(value - 1) <= share for value in values)} of {len(values)}"

    programs = len({row["case"] for row in kernels})
    return ["on one " + document["gpu"], ""], [
        ["programs that left traces", f"{programs} of {programs + len(document['not_recorded'])}"],
        ["kernels in them", f"{len(kernels)}"],
        ["machine code alone within 20 % of ncu's count", within([row["by_code"] for row in counted], 0.20)],
        ["held costs within 5 % of ncu's count", within([row["held"] for row in counted], 0.05)],
        ["modelled within 15 % of the measured time", within(ratios, OFF)],
        ["too short by more than that, and has loads", f"{len(loads)}"],
        ["recorder built at its first use", f"{document['prepare_seconds']:.0f} s"],
        [
            f"a program of {eight['kernels']} kernels by itself, and recorded with all its runs",
            f"{eight['program_seconds']:.1f} s, {eight['record_seconds']:.1f} s",
        ],
    ]


def own_rows(document: Document) -> Table:
    """Of the table `recorded-own`: programs whose arrays say what was added."""
    rows = []
    for row in document["own"]:
        held = f"{row['recorded']:,} of {row['left']:,}, {row['differ']} elements differ" if row["arrays"] else "-"
        rows.append(
            [
                f"`{row['program']}`",
                f"{row['traces']}",
                held,
                f"{row['seconds']:.1f}",
                f"`{row['said']}`" if row["said"] else "",
            ]
        )
    return ["program", "traces", "additions recorded, and left in arrays", "command, s", "what it says"], rows


# Kernels whose loads say what they touch (recorded_loads.json): beside those whose loads cost constants, and ncu.


def loads_rows(document: Document) -> Table:
    """Of the table `recorded-loads`."""
    head = ["library", "operation", "kernel", "warm, us", "constants / warm", "loads / warm", "cold, us"]
    head += ["constants / cold", "loads / cold"]
    rows = []
    for row in document["kernels"]:
        cells = [row["library"], f"`{row['case']}`", f"`{row['kernel'][:40]}`"]
        for state in ("warm", "cold"):
            cells += [number(row, f"{state}_us", 1), number(row, f"{state}_before"), number(row, state)]
        rows.append(cells)
    return head, rows


def loads_summary_rows(document: Document) -> Table:
    """Of the table `recorded-loads-summary`."""
    rows = []
    for state in ("warm", "cold"):
        for key, what in ((f"{state}_before", "constants"), (state, "what they touch")):
            # The same kernels for both.
            ratios = [row[key] for row in document["kernels"] if state in row and f"{state}_before" in row]
            off = [abs(ratio - 1) for ratio in ratios]
            rows.append(
                [
                    f"{state}, loads cost {what}",
                    f"{len(off)}",
                    f"{sum(off) / len(off):.1%}",
                    f"{sorted(ratios)[len(ratios) // 2]:.2f}",
                    f"{sum(o <= 0.10 for o in off)}",
                    f"{sum(o <= OFF for o in off)}",
                ]
            )
    return ["launches", "kernels", "mean error", "median ratio", "within 10 %", "within 15 %"], rows


def cache_rows(document: Document) -> Table:
    """Of the table `recorded-caches`: cold launches."""
    head = ["operation", "sectors loaded", "ncu", "L1 hits", "ncu", "L2 hits", "ncu", "MB read from DRAM", "ncu"]
    rows = []
    for row in document["kernels"]:
        if "ncu" not in row:
            continue
        cells = [f"`{row['case']}`"]
        both = (row["model"], row["ncu"])
        cells += [f"{one['sectors']:,}" for one in both]
        cells += [f"{one['l1_hits'] / one['sectors']:.1%}" for one in both]
        cells += [f"{one['l2_hits'] / one['l2_reads']:.1%}" for one in both]
        cells += [f"{one['dram_read'] / 1e6:.1f}" for one in both]
        rows.append(cells)
    return head, rows
