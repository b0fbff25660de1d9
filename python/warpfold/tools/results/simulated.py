# SPDX-License-Identifier: Apache-2.0
"""What was simulated and measured of the shipped traces, from the files of docs/numbers."""

import statistics
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path
from typing import Any

from .. import correlate
from ..base.modules import module
from ..figures import data
from ..figures.data import Row
from ..sweep import plan as planning
from . import family, points, store
from .family import ARC_TRACES, MEMBERS, PAPER_GPUS, Clocks, Member, clock_ghz, of_run
from .store import Document, Missing, Unknown
from .text import percent, two

HERE = Path(__file__).resolve().parent
NEAR = 0.03


class Simulated:
    """Rows by trace, machine, policy and kind of unit, and what is computed of them."""

    def __init__(self, folder: Path = store.FOLDER) -> None:
        self.folder = folder
        self.sims = store.read("simulations", folder)
        self.traces: dict[str, points.Facts] = self.need("traces")["traces"]
        columns = self.sims["columns"] if self.sims else []
        lists = self.sims["rows"] if self.sims else []
        self.rows: list[Row] = [dict(zip(columns, row)) for row in lists if len(row) == len(columns)]
        self.left_out: list[Row] = [dict(zip(columns, row)) for row in lists if len(row) < len(columns)]
        for row in self.rows:
            kind, _, threshold = row["policy"].partition(":")
            row.update(
                full_policy=row["policy"],
                policy=kind,
                threshold=int(threshold) if threshold else "",
                workload=self.traces[row["trace"]]["workload"],
            )
        self.runs = data.Runs([row for row in self.rows if not row["thin"] and row["divider"] == 1])
        of_paper = [Path(path).stem for path, _ in planning.select_traces(ARC_TRACES, HERE)]
        self.paper_traces = [trace for trace in of_paper if trace in self.traces]
        self.unit_traces = sorted(self.traces)
        self.by_key: dict[tuple[str, str, str, str, int], Row] = {
            (row["trace"], row["gpu"], row["full_policy"], row["unit_kind"], row["thin"]): row
            for row in self.rows
            if not row["set"] and row["divider"] == 1
        }
        # Of units: by trace, machine, member's row and divider.
        self.of_members: dict[tuple[str, str, str, int], Row] = {
            (row["trace"], row["gpu"], one.row, row["divider"]): row
            for row in self.rows
            if row["policy"] == "arc-hw" and not row["thin"] and (one := of_run(row["unit_kind"], row["set"]))
        }

    def need(self, name: str) -> Document:
        document = store.read(name, self.folder)
        if document is None:
            raise Missing(f"docs/numbers/{name}.json")
        return document

    # ---- simulations --------------------------------------------------------------------------------

    @cached_property
    def clocks(self) -> Clocks:
        return Clocks(self.need("asap7"))

    def run(self, trace: str, gpu: str, policy: str, kind: str = "") -> Row:
        """A row. `kind` is the row of a unit: under `arc-hw` at the clock that its path allows, under `arc-ideal` at that of
        the machine behind a coalescer that takes no cycle; without it `arc-hw` is what the command simulates by default.
        `arc-sw`, `sw-b` and `sw-s` are those of the best threshold, `lab` of the best partition is `lab-best`."""
        row: Row | None
        if kind:
            one = family.member(kind)
            if policy == "arc-ideal":
                row = self.of_members.get((trace, gpu, one.direct.row, 1))
            else:
                row = self.of_members.get((trace, gpu, kind, self.clocks.divider(one, gpu)))
        elif policy in ("arc-sw", "sw-b", "sw-s"):
            row = self.runs.get(trace, gpu, policy)
        elif policy == "lab-best":
            row = self.runs.get(trace, gpu, "lab")
        else:
            row = self.by_key.get((trace, gpu, policy, "serial", 0))
        if row is None:
            raise Missing(f"{trace} {gpu} {policy} {kind}".rstrip())
        return row

    def cycles(self, trace: str, gpu: str, policy: str, kind: str = "") -> int:
        cycles: int = self.run(trace, gpu, policy, kind)["cycles"]
        return cycles

    def has_code(self, trace: str, gpu: str, policy: str) -> bool:
        """No where a trace has no code of the policy."""
        return not any((row["trace"], row["gpu"], row["policy"]) == (trace, gpu, policy) for row in self.left_out)

    def metric(self, trace: str, gpu: str, policy: str, kind: str, name: str) -> float:
        """A number of a run: a counter, or what is computed from several."""
        row = self.run(trace, gpu, policy, kind)
        found: float
        if name in ("speedup", "energy_gain"):
            counter = "cycles" if name == "speedup" else "energy_nj.total"
            found = self.run(trace, gpu, "baseline")[counter] / row[counter]
            return found
        head, _, part = name.partition(".")
        if head == "stall":
            total = sum(row[f"stalls.subcore_cycles.{each}"] for each in points.STALLS)
            found = row[f"stalls.subcore_cycles.{part}"] / total
            return found
        where = {"busy": f"utilization.{part}", "bound": f"bounds.cycles.{part}"}.get(head, name)
        if where not in row:
            raise Unknown(name)
        found = row[where]
        return found

    @staticmethod
    def shown(name: str, value: float) -> str:
        head = name.partition(".")[0]
        if head in ("stall", "busy"):
            return percent(value)
        return two(value) if head in ("speedup", "energy_gain") else f"{value:,.0f}"

    def over(
        self, traces: Iterable[str], gpu: str, policy: str, kind: str = "", name: str = "speedup"
    ) -> dict[str, float]:
        """{trace: number}; all of them have to be there, but those whose trace has no code."""
        return {
            trace: self.metric(trace, gpu, policy, kind, name) for trace in traces if self.has_code(trace, gpu, policy)
        }

    def mean_gain(self, policy: str, kind: str = "", gpu: str = "rtx4090") -> float:
        """The mean speedup over the traces of ARC's groups."""
        return statistics.fmean(self.over(self.paper_traces, gpu, policy, kind).values())

    @cached_property
    def chosen(self) -> list[Member]:
        """The recommended units: of those with an instruction for one word, and of those for a struct, the smallest whose
        geometric mean over all their traces is within a small share of the best one's, on every machine."""
        found = []
        for wide in (False, True):
            among = [one for one in MEMBERS if (one.unit.words > 1) == wide]
            gains = {(one, gpu): self.geomean(gpu, "arc-hw", one.row) for one in among for gpu in family.GPUS}
            best = {gpu: max(gains[one, gpu] for one in among) for gpu in family.GPUS}
            near = [one for one in among if all(gains[one, gpu] >= (1 - NEAR) * best[gpu] for gpu in family.GPUS)]
            # None may be near on every machine: then the best of the first.
            near = near or [max(among, key=lambda one: gains[one, family.GPUS[0]])]
            found.append(min(near, key=self.transistors))
        return found

    def geomean(self, gpu: str, policy: str, kind: str = "", name: str = "speedup") -> float:
        """Over all traces that tables of units have."""
        return statistics.geometric_mean(self.over(self.unit_traces, gpu, policy, kind, name).values())

    @cached_property
    def synthesis(self) -> dict[str, dict[str, Any]]:
        return {row["top"]: row for row in self.need("synthesis")["rows"]}

    def transistors(self, one: Member) -> int:
        """That it adds to a sub-core."""
        count: int = self.synthesis[one.unit_row]["transistors"]
        return count

    def measured(self, trace: str, policy: str) -> float:
        """Milliseconds on the H200."""
        if trace not in self.traces:
            raise Missing(trace)
        ms = self.traces[trace]["ms"]
        if policy == "arc-sw":
            return min(value for name, value in ms.items() if name.startswith("sw-"))
        if policy not in ms:
            raise Unknown(f"{trace} was not measured under {policy}")
        return ms[policy]

    # ---- beside others ------------------------------------------------------------------------------

    @cached_property
    def correlation(self) -> list[correlate.Point]:
        """Points of the measured policies on the GPU that was measured, as correlate.py has them."""
        out = []
        for trace, facts in self.traces.items():
            for policy, ms in facts["ms"].items():
                row = self.by_key.get((trace, points.MEASURED_ON, policy, "serial", facts["thin"]))
                if row is None:
                    raise Missing(f"{trace} {points.MEASURED_ON} {policy}")
                out.append(
                    {
                        "trace": trace,
                        "workload": facts["workload"],
                        "policy": policy,
                        "cycles": row["cycles"],
                        "modelled_ms": row["cycles"] / (clock_ghz(points.MEASURED_ON) * 1e6) + points.LAUNCH_US / 1e3,
                        "measured_ms": ms,
                    }
                )
        return out

    @cached_property
    def paper(self) -> dict[str, Any]:
        """What ARC's paper states, by figure."""
        stated: dict[str, Any] = module("yaml").safe_load(
            (HERE.parent / "figures/paper.yaml").read_text(encoding="utf-8")
        )
        return stated

    @cached_property
    def of_paper(self) -> dict[str, dict[str, float | None]]:
        """Our numbers under the paper's keys, when every simulation is there."""
        for gpu in PAPER_GPUS:
            for trace in self.paper_traces:
                for policy, kind in (
                    ("baseline", ""),
                    ("arc-ideal", "serial"),
                    ("arc-ideal", "fused"),
                    ("lab-best", ""),
                    ("lab-ideal", ""),
                    ("phi", ""),
                    ("arc-sw", ""),
                ):
                    self.run(trace, gpu, policy, kind)
        wanted = set(self.paper_traces)
        rows = [
            row
            for row in self.rows
            if row["trace"] in wanted and row["gpu"] in PAPER_GPUS and not row["thin"] and row["divider"] == 1
        ]
        return data.paper_numbers(data.Runs(rows), PAPER_GPUS)
