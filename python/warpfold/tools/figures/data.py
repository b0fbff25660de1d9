# SPDX-License-Identifier: Apache-2.0
"""What the figures show, computed from the rows of a sweep's table. No drawing."""

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

# A simulation: its point and its counters.
Row = dict[str, Any]
# A number of each trace, or of each summary; None where it is not known.
Numbers = Mapping[str, float | None]

# The groups of ARC's workloads (its table 2), over which its means are taken.
GROUPS = ("3D", "NV", "PS")
SOFTWARE = ("sw-b", "sw-s")
PARTITION = re.compile(r"lab\.bytes=\d+")
# Warp-cycle counters by the names that profilers give such stalls; what is not "issued" is a stall.
STALLS = {
    "LSU": ["memory_queue"],
    "ARC unit": ["arc_unit"],
    "shuffle": ["shuffle"],
    "dependency": ["dependency"],
    "barrier": ["barrier"],
    "not selected": ["not_selected"],
}


def group_of(workload: str) -> str:
    return workload.partition("-")[0]


def mean(values: Iterable[float | None]) -> float | None:
    """Arithmetic, as "on average" of the paper; None of nothing."""
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def largest(values: Iterable[float | None]) -> float | None:
    return max((value for value in values if value is not None), default=None)


def ratio(above: float | None, below: float | None) -> float | None:
    """None where one is not known."""
    if above is None or below is None:
        return None
    return quotient(above, below)


def quotient(above: float, below: float) -> float:
    """Infinite over nothing."""
    return above / below if below else (math.inf if above else 1.0)


class Runs:
    """The rows of a sweep without parameters, found by trace, machine and policy. Of LAB the partition of the L1 that
    takes the fewest cycles, for each trace and machine as in the paper's section 6: rows with lab.bytes count too."""

    def __init__(self, rows: list[Row]) -> None:
        self.rows: dict[tuple[str, str, str, str], Row] = {}
        self.thresholds: dict[tuple[str, str, str], dict[int, Row]] = {}
        self.workloads: dict[str, str] = {}
        for row in rows:
            partition = row["policy"] == "lab" and PARTITION.fullmatch(row["set"])
            if row["set"] and not partition:
                continue
            key = (row["trace"], row["gpu"], row["policy"], row["unit_kind"])
            if row["threshold"] == "":
                if key not in self.rows or row["cycles"] < self.rows[key]["cycles"]:
                    self.rows[key] = row
            else:
                self.thresholds.setdefault(key[:3], {})[row["threshold"]] = row
            self.workloads[row["trace"]] = row["workload"] or row["trace"]

    def traces(self) -> list[str]:
        """In the order of the groups, others last; by label within a group."""

        def place(trace: str) -> tuple[int, str, str]:
            group = group_of(self.workloads[trace])
            return (GROUPS.index(group) if group in GROUPS else len(GROUPS), self.workloads[trace], trace)

        return sorted(self.workloads, key=place)

    def of_paper(self) -> list[str]:
        """Those that means are taken over: of the paper's groups, or all if there are none."""
        found = [trace for trace in self.traces() if group_of(self.workloads[trace]) in GROUPS]
        return found or self.traces()

    def label(self, trace: str) -> str:
        """The workload, with the trace's own name where others have the same."""
        workload = self.workloads[trace]
        alone = list(self.workloads.values()).count(workload) == 1
        return workload if alone else f"{workload} {trace}"

    def get(self, trace: str, gpu: str, policy: str, unit_kind: str = "serial") -> Row | None:
        if policy == "arc-sw":
            return self.best(trace, gpu, SOFTWARE)
        if policy in SOFTWARE:
            return self.best(trace, gpu, [policy])
        return self.rows.get((trace, gpu, policy, unit_kind))

    def best(self, trace: str, gpu: str, kinds: Sequence[str]) -> Row | None:
        """The run of the threshold that takes the fewest cycles."""
        candidates = [row for kind in kinds for row in self.thresholds.get((trace, gpu, kind), {}).values()]
        return min(candidates, key=lambda row: (row["cycles"], row["threshold"])) if candidates else None

    def over_thresholds(self, trace: str, gpu: str, policy: str) -> list[tuple[int, Row]]:
        """(threshold, row), from the lowest."""
        return sorted(self.thresholds.get((trace, gpu, policy), {}).items())

    def compare(
        self, gpu: str, value: Callable[[Row], float], policy: str, unit_kind: str = "serial", over: str = "baseline"
    ) -> dict[str, float]:
        """{trace: value of `over` / value of the policy}, for traces that have both."""
        out = {}
        for trace in self.traces():
            ours, theirs = self.get(trace, gpu, policy, unit_kind), self.get(trace, gpu, over)
            if ours is not None and theirs is not None:
                out[trace] = quotient(value(theirs), value(ours))
        return out

    def summary(self, by_trace: Numbers) -> dict[str, float | None]:
        """{"mean": ..., "max": ...} over the paper's groups."""
        values = [by_trace[trace] for trace in self.of_paper() if trace in by_trace]
        return {"mean": mean(values), "max": largest(values)}


def cycles(row: Row) -> float:
    return float(row["cycles"])


def atomic_stalls(row: Row) -> float:
    """Sub-core cycles that nothing issued in because the memory path took no atomic. Under arc-hw a warp that
    waits for that path stands in front of the unit."""
    return float(row["stalls.subcore_cycles.memory_queue"] + row["stalls.subcore_cycles.arc_unit"])


def stalls_per_instruction(row: Row) -> dict[str, float]:
    """{kind: warp cycles for each instruction issued}."""
    instructions = row["activity.instructions"]
    return {
        kind: sum(row[f"stalls.warp_cycles.{name}"] for name in names) / instructions for kind, names in STALLS.items()
    }


def energy(row: Row) -> float:
    """Of the whole GPU, idle power included, as a power meter sees it."""
    return float(row["energy_nj.total"])


def flatten_summary(values: Mapping[str, Numbers]) -> dict[str, float | None]:
    """{"arc-hw": {"mean": 2}} -> {"arc-hw.mean": 2}."""
    return {f"{name}.{key}": value for name, entry in values.items() for key, value in entry.items()}


class Comparison:
    """One number of the paper beside ours."""

    TOLERANCE = 0.15

    def __init__(self, key: str, paper: dict[str, Any], ours: float | None) -> None:
        self.key, self.ours = key, ours
        self.paper, self.what, self.where = paper["value"], paper["what"], paper["where"]
        self.at_least = paper.get("at_least", False)

    @property
    def difference(self) -> float | None:
        """Ours over the paper's, less one; None if ours is not known."""
        return None if self.ours is None else self.ours / self.paper - 1

    @property
    def differs(self) -> bool:
        if self.difference is None:
            return False
        return self.difference < -self.TOLERANCE or (not self.at_least and self.difference > self.TOLERANCE)


def compare(paper: dict[str, Any], ours: Numbers) -> list[Comparison]:
    """Comparisons of a figure, in the paper's order."""
    return [Comparison(key, entry, ours.get(key)) for key, entry in paper.get("numbers", {}).items()]


def check_remarks(remarks: dict[str, dict[str, str]], paper: dict[str, dict[str, Any]]) -> list[str]:
    """Lines on remarks that name nothing of the paper's."""
    return [
        f"remarks.yaml: {figure}.{key}: paper.yaml has no such number"
        for figure, entries in remarks.items()
        for key in entries
        if key not in paper.get(figure, {}).get("numbers", {})
    ]


def histogram(facts: Mapping[str, Any]) -> list[int]:
    """Events of the launch with 1 to 32 active lanes, from a trace's entry in docs/numbers/traces.json.

    A sample of one CTA in N stands for N times its events.
    """
    return [facts["sample_every"] * events for events in facts["active_histogram"][1:]]


def utilization(timeline: dict[str, Any], kind: str) -> list[tuple[float, float]]:
    """[(cycle in the middle of an interval, busy share of the units of that kind)]."""
    interval, total = timeline["interval"], timeline["cycles"]
    return [
        ((index * interval + min((index + 1) * interval, total)) / 2, percent / 100)
        for index, percent in enumerate(timeline["busy"].get(kind, []))
    ]


def machine_numbers(runs: Runs, gpu: str, value: Callable[[Row], float]) -> dict[str, float | None]:
    """ARC-HW, LAB-ideal and PHI over the baseline, as the paper's figures 18 to 21 have them."""
    by_policy = {
        "arc-hw": runs.compare(gpu, value, "arc-hw"),
        "arc-hw-fused": runs.compare(gpu, value, "arc-hw", "fused"),
        "lab": runs.compare(gpu, value, "lab"),
        "lab-ideal": runs.compare(gpu, value, "lab-ideal"),
        "phi": runs.compare(gpu, value, "phi"),
    }
    ratios = {
        trace: ratio(by_policy["lab-ideal"][trace], of_lab)
        for trace, of_lab in by_policy["lab"].items()
        if trace in by_policy["lab-ideal"]
    }
    summaries = {name: runs.summary(values) for name, values in by_policy.items()}
    return flatten_summary({**summaries, "lab-ideal_over_lab": runs.summary(ratios)})


def stall_numbers(runs: Runs, gpus: Sequence[str], policy: str) -> dict[str, float | None]:
    """Stall cycles for each instruction, and the share of them in front of the load-store unit."""
    parts = [
        stalls_per_instruction(row)
        for gpu in gpus
        for trace in runs.of_paper()
        if (row := runs.get(trace, gpu, policy)) is not None
    ]
    totals = [sum(entry.values()) for entry in parts]
    # Under arc-hw a warp that waits for the LSU's path stands in front of the unit.
    shares = [(entry["LSU"] + entry["ARC unit"]) / total if total else None for entry, total in zip(parts, totals)]
    return {"stalls.mean": mean(totals), "lsu_share.mean": mean(shares)}


def paper_numbers(runs: Runs, gpus: Sequence[str]) -> dict[str, dict[str, float | None]]:
    """{figure: {key of paper.yaml: ours}}; None where a simulation is missing."""

    def over(
        value: Callable[[Row], float], policy: str, unit_kind: str = "serial", base: str = "baseline"
    ) -> dict[str, dict[str, float | None]]:
        return {gpu: runs.summary(runs.compare(gpu, value, policy, unit_kind, base)) for gpu in gpus}

    first = gpus[0]
    cccl = runs.compare(first, cycles, "cccl")
    arc = runs.compare(first, cycles, "arc-sw")
    fused = {f"{gpu}-fused": entry for gpu, entry in over(cycles, "arc-hw", "fused", "arc-sw").items()}
    return {
        "fig08": stall_numbers(runs, gpus, "baseline"),
        "fig24": stall_numbers(runs, gpus, "arc-sw"),
        "fig19": machine_numbers(runs, first, cycles),
        "fig21": machine_numbers(runs, first, atomic_stalls),
        "fig18": machine_numbers(runs, gpus[1], cycles),
        "fig20": machine_numbers(runs, gpus[1], atomic_stalls),
        "fig22": flatten_summary(over(cycles, "arc-sw")),
        "fig25": flatten_summary({**over(cycles, "arc-hw", "serial", "arc-sw"), **fused}),
        "fig26": flatten_summary(
            {"ratio": runs.summary({trace: ratio(arc[trace], cccl[trace]) for trace in arc if trace in cccl})}
        ),
        "fig27": flatten_summary(over(energy, "arc-sw")),
        "fig28": flatten_summary(over(energy, "arc-hw")),
    }
