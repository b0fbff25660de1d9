# SPDX-License-Identifier: Apache-2.0
"""The serial unit under its two schedulers, beside the best software, and how fast any scheduler could be."""

import statistics
from collections.abc import Sequence
from typing import NamedTuple

from ..figures.data import Row
from .simulated import GPUS, Simulated
from .store import Missing, Unknown
from .text import Table, percent, two, whole

GREEDY, GROUPS = "greedy", "reduce-groups"
SETTING = f"rules.scheduler={GROUPS}"


class Bounds(NamedTuple):
    """Cycles on the rtx4090 below which no scheduler of a unit with one lane a cycle comes."""

    issue: float  # instructions to issue, when nearly every group is reduced
    unit: float  # lanes to read then, in units that have equal shares
    sums: float  # what is left for the ROPs then
    plain: float  # what the ROPs have when nothing is reduced
    split: float  # the best split of groups between the two ways

    def all(self) -> float:
        return max(self.issue, self.split)


class Schedulers:
    """Cycles of arc-hw with the serial unit, by scheduler."""

    def __init__(self, n: Simulated) -> None:
        self.n = n
        self.groups = {(row["trace"], row["gpu"]): row for row in n.rows if row["set"] == SETTING and not row["thin"]}

    def with_groups(self, trace: str, gpu: str) -> Row:
        """The run of reduce-groups."""
        if (trace, gpu) not in self.groups:
            raise Missing(f"{trace} {gpu} arc-hw {SETTING}")
        return self.groups[trace, gpu]

    def cycles(self, trace: str, gpu: str, what: str) -> int:
        """Of a scheduler, the baseline or arc-sw."""
        if what == GROUPS:
            cycles: int = self.with_groups(trace, gpu)["cycles"]
            return cycles
        return self.n.cycles(trace, gpu, {GREEDY: "arc-hw", "baseline": "baseline", "arc-sw": "arc-sw"}[what])

    def has_software(self, trace: str, gpu: str) -> bool:
        return self.n.runs.get(trace, gpu, "arc-sw") is not None

    def over(self, trace: str, gpu: str, what: str, other: str = "baseline") -> float:
        """How often as fast a scheduler or arc-sw is as `other`: baseline, greedy or arc-sw."""
        return self.cycles(trace, gpu, other) / self.cycles(trace, gpu, what)

    def mean(self, gpu: str, what: str, other: str = "baseline") -> float:
        """The same over the 13 traces."""
        return statistics.fmean(self.over(trace, gpu, what, other) for trace in self.n.paper_traces)

    def bounds(self, trace: str) -> Bounds:
        run = self.with_groups(trace, "rtx4090")
        issue, sums = (float(run[f"bounds.cycles.{part}"]) for part in ("issue", "rop"))
        unit = float(run["utilization.arc_unit"] * run["cycles"])
        plain = float(self.n.run(trace, "rtx4090", "baseline")["bounds.cycles.rop"])
        share = min(1, plain / (unit + plain - sums))  # of the groups, to the units
        return Bounds(issue, unit, sums, plain, max(share * unit, plain - share * (plain - sums)))

    def value(self, words: Sequence[str]) -> str:
        """over.SCHEDULER.OTHER.GPU: the mean over the 13 traces; bound: that of the bound over arc-sw; trace.TRACE.GPU.OTHER:
        reduce-groups over another."""
        what, *rest = words
        if what == "over":
            scheduler, other, gpu = rest
            return two(self.mean(gpu, scheduler, other))
        if what == "bound":
            traces = self.n.paper_traces
            return two(statistics.fmean(self.cycles(t, "rtx4090", "arc-sw") / self.bounds(t).all() for t in traces))
        if what == "trace":
            trace, gpu, other = rest
            return two(self.over(trace, gpu, GROUPS, other))
        raise Unknown(".".join(words))


def by_trace(found: Schedulers) -> Table:
    """Every trace on every machine."""

    def cells(trace: str, gpu: str) -> list[str]:
        return [
            two(found.over(trace, gpu, GREEDY)),
            two(found.over(trace, gpu, GROUPS)),
            two(found.over(trace, gpu, "arc-sw")) if found.has_software(trace, gpu) else "-",
        ]

    rows = [[trace] + [cell for gpu in GPUS for cell in cells(trace, gpu)] for trace in sorted(found.n.traces)]
    means = ["**mean of the 13**"]
    for gpu in GPUS:
        means += [f"**{two(found.mean(gpu, scheduler))}**" for scheduler in (GREEDY, GROUPS)]
        all_have = all(found.has_software(trace, gpu) for trace in found.n.paper_traces)
        means.append(f"**{two(found.mean(gpu, 'arc-sw'))}**" if all_have else "-")
    head = ["trace"] + [f"{name} {gpu}" for gpu in GPUS for name in ("greedy", "groups", "ARC-SW")]
    return head, rows + [means]


def bound_rows(found: Schedulers) -> Table:
    """The 13 traces on the rtx4090."""
    rows = []
    for trace in found.n.paper_traces:
        bound = found.bounds(trace)
        greedy, groups, software = (found.cycles(trace, "rtx4090", what) for what in (GREEDY, GROUPS, "arc-sw"))
        rows.append(
            [
                trace,
                *map(whole, (bound.unit, bound.plain, bound.sums, bound.split, bound.issue)),
                *map(whole, (greedy, groups, software)),
                percent(bound.all() / groups, 0),
                two(software / bound.all()),
                two(software / groups),
            ]
        )
    head = [
        "trace",
        "units",
        "ROPs, nothing reduced",
        "ROPs, all groups reduced",
        "best split",
        "issue",
        "greedy",
        "groups",
        "ARC-SW",
        "groups: bound of its cycles",
        "bound over ARC-SW",
        "groups over ARC-SW",
    ]
    return head, rows
