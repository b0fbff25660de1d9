# SPDX-License-Identifier: Apache-2.0
"""What merging of sums behind the unit gains, by the sectors that an SM holds, and could gain at most at a port of the L2:
kernels of today on machines whose memory is partly for nothing (merging.json)."""

import itertools

import points
import today

NAME = "merging"
GPU = "h100"
KINDS = ("fused", "vector")
# Those that the vector kind leaves more than a tenth above the time without atomics.
KERNELS = ("truck-tile-warp-halved", "camera-pose", "camera-pose-halved", "embedding-rows", "embedding", "hash-grid")
# What each leaves of the additions that lanes make, if it waits for all that are to come.
LEVELS = ("lanes", "warps", "ctas", "sms", "gpu")
SMS = 132
ADDITIONS = ("l2.rop_cycles", "l2.line_cycles", "l2.sector_cycles")
# Parameters that are at their least, 1/100 of a cycle. Whatever is merged at a port of the L2 has come through the port.
FREE = {"additions": ADDITIONS}
LEAST = 0.01


# Sectors that the merge buffer of an SM holds; the least and the most that are looked at lie far apart.
ROWS = (32, 128, 512, 2048, 8192)
BUILT_ROWS = 512  # of the RTL
MERGED = ("truck-tight", "camera-pose", "embedding-rows", "embedding", "hash-grid")
MERGED_KINDS = ("serial", "fused", "vector")


def plan():
    return list(itertools.product(KERNELS, KINDS, FREE))


def built():
    """(trace, kind, rows) under arc-merge."""
    return [*((trace, "vector", rows) for trace, rows in itertools.product(MERGED, ROWS)),
            *((trace, kind, BUILT_ROWS) for trace, kind in itertools.product(MERGED, MERGED_KINDS) if kind != "vector")]


def settings(free):
    return [f"{parameter}={LEAST}" for parameter in FREE[free]]


class Merging:
    """docs/numbers/merging.json, beside docs/numbers/today.json."""

    def __init__(self, document, today_document):
        self.today = today.Today(today_document)
        self.cycles = {tuple(row[:3]): row[3] for row in document["rows"]}
        self.merged = {tuple(row[:3]): row[3] for row in document["merged"]}
        self.left = {trace: dict(zip(LEVELS, counts)) for trace, *counts in document["left"]}

    def ms(self, trace, kind, free):
        return self.cycles[trace, kind, free] / (today.MACHINES[GPU] * 1e6) + points.LAUNCH_US / 1e3

    def merged_ms(self, trace, kind, rows):
        return self.merged[trace, kind, rows] / (today.MACHINES[GPU] * 1e6) + points.LAUNCH_US / 1e3

    def value(self, words):
        """TRACE.KIND.FREE in ms; TRACE.gain.KIND.FREE, how often as fast; TRACE.fewer.LEVEL.OTHER, how many times as many
        additions LEVEL leaves as OTHER; TRACE.merged.KIND in ms under arc-merge; TRACE.merged-gain.KIND over arc-hw."""
        trace, what, *rest = words
        if what == "merged":
            return f"{self.merged_ms(trace, rest[0], BUILT_ROWS):.3f}"
        if what == "merged-gain":
            return f"{self.today.ms(trace, GPU, 'arc-hw', rest[0]) / self.merged_ms(trace, rest[0], BUILT_ROWS):.2f}"
        if what == "gain":
            return f"{self.today.ms(trace, GPU, 'arc-hw', rest[0]) / self.ms(trace, *rest):.2f}"
        if what == "fewer":
            return f"{self.left[trace][rest[0]] / self.left[trace][rest[1]]:.2f}"
        return f"{self.ms(trace, what, *rest):.3f}"

    def left_rows(self):
        """Head and rows of the table `sums-left`."""
        return ["kernel", "lanes", "warps", "CTAs", "SMs", "GPU"], [
            [f"`{trace}`", *(f"{count:,}" for count in counts.values())] for trace, counts in self.left.items()]

    def merged_rows(self):
        """Head and rows of the table `merged`: milliseconds."""
        head = ["kernel", "`arc-hw` vector", *(f"{rows * 32 // 1024} KiB" for rows in ROWS),
                *(f"`arc-hw` {kind}" if policy else f"{kind}, {BUILT_ROWS * 32 // 1024} KiB"
                  for kind in MERGED_KINDS[:-1] for policy in (True, False)), "no atomics"]
        return head, [[f"`{trace}`", f"{self.today.ms(trace, GPU, 'arc-hw', 'vector'):.3f}",
                       *(f"{self.merged_ms(trace, 'vector', rows):.3f}" for rows in ROWS),
                       *(f"{self.today.ms(trace, GPU, 'arc-hw', kind) if policy else self.merged_ms(trace, kind, BUILT_ROWS):.3f}"
                         for kind in MERGED_KINDS[:-1] for policy in (True, False)),
                       f"{self.today.ms(trace, GPU, 'none'):.3f}"] for trace in MERGED]

    def rows(self):
        """Head and rows of the table `merging`: milliseconds."""
        head = ["kernel", *(f"{kind}{what}" for kind in KINDS for what in
                            ("", ", additions in no time")), "no atomics"]
        return head, [[f"`{trace}`", *itertools.chain.from_iterable(
            [f"{self.today.ms(trace, GPU, 'arc-hw', kind):.3f}", *(f"{self.ms(trace, kind, free):.3f}" for free in FREE)]
            for kind in KINDS), f"{self.today.ms(trace, GPU, 'none'):.3f}"] for trace in KERNELS]
