# SPDX-License-Identifier: Apache-2.0
"""What merging of sums behind the unit gains, by the sectors that an SM holds, and at the ports of the L2: kernels of today
under arc-merge and arc-merge-l2 (merging.json)."""

import itertools
from collections.abc import Sequence

from . import points
from .store import Document
from .text import Table
from .family import clock_ghz, member
from .today import SERIAL, STRUCT, WIDE, Today

NAME = "merging"
GPU = "h100"
# At the ports of the L2.
PORT_UNITS = (WIDE, STRUCT)
PORT_KERNELS = ("truck-tight", "camera-pose", "camera-pose-halved", "embedding-rows", "embedding", "hash-grid")
# What each leaves of the additions that lanes make, if it waits for all that are to come.
LEVELS = ("lanes", "warps", "ctas", "sms", "gpu")
SMS = 132
# Sectors that the merge buffer of an SM holds; the least and the most that are looked at lie far apart.
ROWS = (32, 128, 512, 2048, 8192)
BUILT_ROWS = 512  # of the RTL
MERGED = ("truck-tight", "camera-pose", "embedding-rows", "embedding", "hash-grid")
MERGED_UNITS = (SERIAL, WIDE, STRUCT)


def at_ports() -> list[tuple[str, str]]:
    """(trace, unit) under arc-merge-l2."""
    return list(itertools.product(PORT_KERNELS, PORT_UNITS))


def in_sms() -> list[tuple[str, str, int]]:
    """(trace, unit, rows) under arc-merge."""
    return [
        *((trace, STRUCT, rows) for trace, rows in itertools.product(MERGED, ROWS)),
        *((trace, unit, BUILT_ROWS) for trace, unit in itertools.product(MERGED, MERGED_UNITS) if unit != STRUCT),
    ]


def milliseconds(cycles: int) -> float:
    """Of a launch, with what it takes to be launched."""
    return cycles / (clock_ghz(GPU) * 1e6) + points.LAUNCH_US / 1e3


class Merging:
    """docs/numbers/merging.json, beside docs/numbers/today.json."""

    def __init__(self, document: Document, today: Today) -> None:
        self.today = today
        self.at_ports: dict[tuple[str, str], int] = {
            (trace, unit): cycles for trace, unit, cycles in document["at_ports"]
        }
        self.merged: dict[tuple[str, str, int], int] = {
            (trace, unit, rows): cycles for trace, unit, rows, cycles in document["merged"]
        }
        self.left: dict[str, list[int]] = {trace: counts for trace, *counts in document["left"]}

    def port_ms(self, trace: str, unit: str) -> float:
        return milliseconds(self.at_ports[trace, unit])

    def merged_ms(self, trace: str, unit: str, rows: int) -> float:
        return milliseconds(self.merged[trace, unit, rows])

    def value(self, words: Sequence[str]) -> str:
        """TRACE.merged.UNIT in ms under arc-merge, TRACE.merged-gain.UNIT over arc-hw; TRACE.port-gain.UNIT, the same under
        arc-merge-l2."""
        trace, what, *rest = words
        if what == "merged":
            return f"{self.merged_ms(trace, rest[0], BUILT_ROWS):.3f}"
        if what == "merged-gain":
            return f"{self.today.ms(trace, GPU, 'arc-hw', rest[0]) / self.merged_ms(trace, rest[0], BUILT_ROWS):.2f}"
        if what == "port-gain":
            return f"{self.today.ms(trace, GPU, 'arc-hw', rest[0]) / self.port_ms(trace, rest[0]):.2f}"
        raise KeyError(what)

    def left_rows(self) -> Table:
        """The table `sums-left`."""
        return ["kernel", "lanes", "warps", "CTAs", "SMs", "GPU"], [
            [f"`{trace}`", *(f"{count:,}" for count in counts)] for trace, counts in self.left.items()
        ]

    def merged_rows(self) -> Table:
        """The table `merged`: milliseconds."""
        head = [
            "kernel",
            f"`arc-hw` {member(STRUCT).name}",
            *(f"{rows * 32 // 1024} KiB" for rows in ROWS),
            *(
                f"`arc-hw` {member(unit).name}" if policy else f"{member(unit).name}, {BUILT_ROWS * 32 // 1024} KiB"
                for unit in MERGED_UNITS[:-1]
                for policy in (True, False)
            ),
            "no atomics",
        ]
        return head, [
            [
                f"`{trace}`",
                f"{self.today.ms(trace, GPU, 'arc-hw', STRUCT):.3f}",
                *(f"{self.merged_ms(trace, STRUCT, rows):.3f}" for rows in ROWS),
                *(
                    f"{self.today.ms(trace, GPU, 'arc-hw', unit) if policy else self.merged_ms(trace, unit, BUILT_ROWS):.3f}"
                    for unit in MERGED_UNITS[:-1]
                    for policy in (True, False)
                ),
                f"{self.today.ms(trace, GPU, 'none'):.3f}",
            ]
            for trace in MERGED
        ]

    def rows(self) -> Table:
        """The table `merging`: milliseconds."""
        head = [
            "kernel",
            *(
                text
                for unit in PORT_UNITS
                for text in (f"`arc-hw` {member(unit).name}", f"{member(unit).name}, merged at ports")
            ),
            "no atomics",
        ]
        return head, [
            [
                f"`{trace}`",
                *(
                    f"{ms:.3f}"
                    for unit in PORT_UNITS
                    for ms in (self.today.ms(trace, GPU, "arc-hw", unit), self.port_ms(trace, unit))
                ),
                f"{self.today.ms(trace, GPU, 'none'):.3f}",
            ]
            for trace in PORT_KERNELS
        ]
