# SPDX-License-Identifier: Apache-2.0
"""The serial unit under its two schedulers, beside the best software, and how fast any scheduler could be."""

import statistics

from . import values
from .values import GPUS, Missing, Unknown


GREEDY, GROUPS = "greedy", "reduce-groups"
SETTING = f"rules.scheduler={GROUPS}"


class Schedulers:
    """Cycles of arc-hw with the serial unit, by scheduler."""

    def __init__(self, n):
        self.n = n
        self.groups = {(row["trace"], row["gpu"]): row for row in n.rows if row["set"] == SETTING and not row["thin"]}

    def cycles(self, trace, gpu, scheduler):
        if scheduler == GREEDY:
            return self.n.run(trace, gpu, "arc-hw")["cycles"]
        if (trace, gpu) not in self.groups:
            raise Missing(f"{trace} {gpu} arc-hw {SETTING}")
        return self.groups[trace, gpu]["cycles"]

    def software(self, trace, gpu):
        """Of the best threshold that was simulated, or None."""
        row = self.n.runs.get(trace, gpu, "arc-sw")
        return row["cycles"] if row else None

    def over(self, trace, gpu, scheduler, other):
        """How often as fast a scheduler is as `other`: baseline, greedy or arc-sw."""
        cycles = {
            "baseline": lambda: self.n.run(trace, gpu, "baseline")["cycles"],
            "greedy": lambda: self.cycles(trace, gpu, GREEDY),
            "arc-sw": lambda: self.software(trace, gpu),
        }[other]()
        return None if cycles is None else cycles / self.cycles(trace, gpu, scheduler)

    def over_software(self, trace, gpu):
        """The speedup of software over the baseline, or None."""
        software = self.software(trace, gpu)
        return self.n.run(trace, gpu, "baseline")["cycles"] / software if software else None

    def bounds(self, trace):
        """Cycles on the rtx4090 below which no scheduler of a unit with one lane a cycle comes. Of the run of reduce-groups, in
        which nearly every group is reduced: instructions to issue, lanes to read in units that have equal shares, and what is left for the ROPs.
        Of one in which none is: what the ROPs have then. And the best split of groups between the two ways."""
        if (trace, "rtx4090") not in self.groups:
            raise Missing(f"{trace} rtx4090 arc-hw {SETTING}")
        run = self.groups[trace, "rtx4090"]
        issue, sums = (run[f"bounds.cycles.{part}"] for part in ("issue", "rop"))
        unit = run["utilization.arc_unit"] * run["cycles"]
        plain = self.n.run(trace, "rtx4090", "baseline")["bounds.cycles.rop"]
        share = min(1, plain / (unit + plain - sums))  # of the groups, to the units
        split = max(share * unit, plain - share * (plain - sums))
        return {"issue": issue, "unit": unit, "plain": plain, "sums": sums, "split": split, "all": max(issue, split)}

    def value(self, words):
        """over.SCHEDULER.OTHER.GPU: the mean over the 13 traces; bound: that of the bound over arc-sw; trace.TRACE.GPU.OTHER:
        reduce-groups over another."""
        if words[0] == "over":
            scheduler, other, gpu = words[1:]
            found = [self.over(trace, gpu, scheduler, other) for trace in self.n.paper_traces]
            return values.two(statistics.fmean(found))
        if words[0] == "bound":
            return values.two(
                statistics.fmean(
                    self.software(trace, "rtx4090") / self.bounds(trace)["all"] for trace in self.n.paper_traces
                )
            )
        if words[0] == "trace":
            trace, gpu, other = words[1:]
            return values.two(self.over(trace, gpu, GROUPS, other))
        raise Unknown(".".join(words))


def by_trace(n, markdown):
    """Every trace on every machine."""
    found = Schedulers(n)

    def cells(trace, gpu):
        software = found.over_software(trace, gpu)
        return [
            values.two(found.over(trace, gpu, GREEDY, "baseline")),
            values.two(found.over(trace, gpu, GROUPS, "baseline")),
            values.two(software) if software else "-",
        ]

    rows = [[trace] + [cell for gpu in GPUS for cell in cells(trace, gpu)] for trace in sorted(n.traces)]
    means = ["**mean of the 13**"]
    for gpu in GPUS:
        means += [
            f"**{values.two(statistics.fmean(found.over(t, gpu, s, 'baseline') for t in n.paper_traces))}**"
            for s in (GREEDY, GROUPS)
        ]
        software = [found.over_software(t, gpu) for t in n.paper_traces]
        means.append(f"**{values.two(statistics.fmean(software))}**" if all(software) else "-")
    head = ["trace"] + [f"{name} {gpu}" for gpu in GPUS for name in ("greedy", "groups", "ARC-SW")]
    return markdown(head, rows + [means])


def bounds(n, markdown):
    """The 13 traces on the rtx4090."""
    found, rows = Schedulers(n), []
    for trace in n.paper_traces:
        bound, software = found.bounds(trace), found.software(trace, "rtx4090")
        rows.append(
            [
                trace,
                *(values.whole(bound[part]) for part in ("unit", "plain", "sums", "split", "issue")),
                values.whole(found.cycles(trace, "rtx4090", GREEDY)),
                values.whole(found.cycles(trace, "rtx4090", GROUPS)),
                values.whole(software),
                values.percent(bound["all"] / found.cycles(trace, "rtx4090", GROUPS), 0),
                values.two(software / bound["all"]),
                values.two(found.over(trace, "rtx4090", GROUPS, "arc-sw")),
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
    return markdown(head, rows)
