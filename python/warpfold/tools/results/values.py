# SPDX-License-Identifier: Apache-2.0
"""Numbers of pages by their keys, from the files of docs/numbers. README.md of this folder lists the keys."""

import json
import math
import statistics
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

from .. import correlate
from ..base import units
from . import gpu_kernels, merging, today, verification
from .paper_machine import PaperMachine
from .family import FLOATS, GPUS, Member, member, path_ns
from .simulated import NEAR, Simulated
from .store import ROOT, Document, Missing, Unknown
from .text import percent, two, whole

__all__ = ["GPUS", "LANES", "Missing", "Numbers", "Unknown"]

VECTORS_ON = "h100"
# All units that are synthesized.
LANES = {unit.name: unit.lanes_per_cycle for unit in units.named()}
# What an RTX 4090 has (ARC, 5.4), and its units.
GPU_TRANSISTORS, GPU_UNITS = 76e9, 128 * 4
# Scenes whose launches set the energies; a third was held out.
FITTED_SCENES = ("truck", "kitchen")
# How a number of several traces is made of theirs.
OVER_TRACES: dict[str, Callable[[Sequence[float]], float]] = {
    "mean13": statistics.fmean,
    "max13": max,
    "geomean": lambda found: math.exp(statistics.fmean(map(math.log, found))),
}

Words = Sequence[str]


class Numbers(Simulated):
    """All results, and the text of each key."""

    # ---- what is no simulation of a trace -----------------------------------------------------------

    @cached_property
    def asap7(self) -> dict[str, dict[str, Any]]:
        return {row["top"]: row for row in self.need("asap7")["rows"]}

    @cached_property
    def layouts(self) -> dict[str, dict[str, Any]]:
        """Kind -> row of warpfold layout."""
        return {row["top"].removeprefix("arc_reduction_"): row for row in self.need("layout")["rows"]}

    @cached_property
    def others(self) -> Document:
        found: Document = json.loads((ROOT / "synth/others.json").read_text(encoding="utf-8"))
        return found

    @cached_property
    def microbench(self) -> dict[str, float]:
        """{case: SM cycles of an operation until the last addition is done} of the card that vectors were measured on."""
        document = json.loads((ROOT / f"model/gpus/{VECTORS_ON}-microbench.json").read_text(encoding="utf-8"))
        return {case["name"]: case["extra"]["drained"] for case in document["results"] if "drained" in case["extra"]}

    @cached_property
    def today(self) -> today.Today:
        return today.Today(self.need(today.NAME), self)

    @cached_property
    def merging(self) -> merging.Merging:
        return merging.Merging(self.need(merging.NAME), self.today)

    @cached_property
    def verification(self) -> verification.Verification:
        gates = {row["top"]: row["transistors"] for row in self.need("synthesis")["rows"]}
        document, layouts = self.need(verification.NAME), self.need("layout")
        return verification.Verification(document, verification.Sources(), gates, layouts)

    def correlated(self, group: str) -> list[correlate.Point]:
        """The points of a group: 3d, other, all."""
        if group not in ("3d", "other", "all"):
            raise Unknown(group)
        return [p for p in self.correlation if group == "all" or p["workload"].startswith("3D") == (group == "3d")]

    def path_ns(self, top: str) -> float:
        """The worst path in ASAP7, synthesized for area or for speed."""
        return path_ns(self.asap7[top])

    # ---- keys ---------------------------------------------------------------------------------------

    def summary_value(self, words: Words) -> str:
        """mean13.rtx4090.arc-hw.fused.speedup, geomean.rtx4090.arc-hw.speedup"""
        how, gpu, policy, name = *words[:3], words[-1]
        kind = words[3] if len(words) > 4 else ""
        traces = self.unit_traces if how == "geomean" else self.paper_traces
        return self.shown(name, OVER_TRACES[how](list(self.over(traces, gpu, policy, kind, name).values())))

    def correlation_value(self, words: Words) -> str:
        group, name = words
        if group == "picks":
            chosen = correlate.picks(self.correlation)
            return {"most": percent(max(pick["cost"] for pick in chosen)), "traces": str(len(chosen))}[name]
        found = correlate.summary(self.correlated(group))
        texts: dict[str, str] = {
            "points": str(found["points"]),
            "mean": percent(found["mean_absolute_error"]),
            "worst": percent(abs(found["worst"]["error"])),
            "worst_trace": found["worst"]["trace"],
            "worst_policy": found["worst"]["policy"],
            "pearson": f"{found['pearson']:.4f}",
        }
        return texts[name]

    def kernels_of_today_value(self, words: Words) -> str:
        """Error of the machine h100 on the traces of traces/h100."""
        document = self.need("h100")
        points = [
            (modelled / document["traces"][trace]["ms"][policy] - 1, trace, policy)
            for trace, policy, modelled in document["points"]
        ]
        worst = max(points, key=lambda point: abs(float(point[0])))
        texts: dict[str, str] = {
            "traces": str(len(document["traces"])),
            "points": str(len(points)),
            "mean": percent(statistics.fmean(abs(error) for error, *_ in points)),
            "worst": percent(abs(worst[0])),
            "worst_trace": worst[1],
            "worst_policy": worst[2],
        }
        return texts[words[0]]

    def unit_value(self, words: Words) -> str:
        """ROW.NAME, ROW.NAME.GPU: of a unit with a scheduler."""
        row, name, *where = words
        if name == "lanes":
            return str(LANES[row] if row in LANES else member(row).unit.lanes_per_cycle)
        if name == "path_ns":
            return two(self.path_ns(f"arc_subcore_{row}"))
        if name in ("transistors", "with_coalescer", "share", "share_with_coalescer"):
            # Whatever coalescer stands in front of it, arc_unit is the same.
            of = row.replace("-", "_")
            top = f"arc_subcore_{of}" if name.endswith("coalescer") else f"arc_unit_{of.replace('_staged', '')}"
            count = self.synthesis[top]["transistors"]
            return percent(count * GPU_UNITS / GPU_TRANSISTORS, 4) if name.startswith("share") else whole(count)
        return self.member_value(member(row), name, *where)

    def member_value(self, one: Member, name: str, gpu: str = "rtx4090") -> str:
        """What it is, and what it gains at the clock that it keeps on a machine."""

        def layout() -> dict[str, Any]:
            return self.layouts[one.unit.datapath]

        texts: dict[str, Callable[[], str]] = {
            "name": lambda: one.name,
            "divider": lambda: str(self.clocks.divider(one, gpu)),
            "die": lambda: f"{layout()['die_um2'] / 1e6:.3f}",
            "pj": lambda: f"{layout()['power']['pj_per_lane_reduced']:.0f}",
            "max_ulp": lambda: self.accuracy_value([one.unit.datapath, "max_ulp"]),
            "mean": lambda: two(self.mean_gain("arc-hw", one.row, gpu)),
            "ideal": lambda: two(self.mean_gain("arc-ideal", one.row, gpu)),
            "geomean": lambda: two(self.geomean(gpu, "arc-hw", one.row)),
            "energy": lambda: two(self.geomean(gpu, "arc-hw", one.row, "energy_gain")),
            "energy_share": lambda: percent(1 / self.geomean(gpu, "arc-hw", one.row, "energy_gain"), 0),
            "software": lambda: two(self.over_software(one, gpu)),
            "least": lambda: two(min(self.over(self.unit_traces, gpu, "arc-hw", one.row).values())),
        }
        return texts[name]()

    def over_software(self, one: Member, gpu: str) -> float:
        """How often as fast as ARC-SW's best threshold: geometric mean over the traces of ARC's groups."""
        ours, software = (
            self.over(self.paper_traces, gpu, *policy) for policy in (("arc-hw", one.row), ("arc-sw", ""))
        )
        return statistics.geometric_mean(ours[trace] / software[trace] for trace in ours)

    def chosen_value(self, words: Words) -> str:
        """near: the share that it may be behind. word.NAME, struct.NAME: of the recommended unit of one word, or of a struct; as of any unit."""
        if words[0] == "near":
            return percent(NEAR, 0)
        one = self.chosen[("word", "struct").index(words[0])]
        return self.unit_value([one.row, *words[1:]])

    def layout_value(self, words: Words) -> str:
        """What wires, and wires and the clock tree, add to the path between registers: the span over the kinds."""
        with_what = {"wires": "with_wires", "tree": "with_tree"}[words[0]]
        found = []
        for row in self.layouts.values():
            paths = row["timing"]["reg_to_reg"]
            found.append(paths[with_what]["ns"] / paths["without_wires"]["ns"] - 1)
        return f"{100 * min(found):.0f} to {100 * max(found):.0f} %"

    def accuracy_value(self, words: Words) -> str:
        """Of a kind of unit: the largest over the traces."""
        kind, name = words
        most = max(float(entry[kind][name]) for entry in self.need("accuracy")["traces"].values())
        return whole(most) if most >= 100 else two(most)

    def replay_value(self, document: str, words: Words) -> str:
        errors: dict[str, float] = {}
        for case, measured, modelled in self.need(document)["cases"]:
            errors[case] = modelled / measured - 1
        worst = max(errors, key=lambda case: abs(errors[case]))
        return {
            "cases": str(len(errors)),
            "within5": str(sum(abs(error) <= 0.05 for error in errors.values())),
            "mean": percent(statistics.fmean(map(abs, errors.values()))),
            "worst": percent(abs(errors[worst])),
            "worst_case": worst,
        }[words[0]]

    def energy_value(self, words: Words) -> str:
        """Of the model's energy against the measured one: the largest error, cccl apart; the largest excess of cccl."""
        document = self.need("energy_fit")
        rows = {row[0]: dict(zip(document["columns"][1:], row[1:])) for row in document["rows"]}
        errors = {}  # {(scene, policy): error}
        for scene in dict.fromkeys(label.partition(",")[0] for label in rows):
            measured, model = rows[f"{scene}, measured"], rows[f"{scene}, model"]
            errors.update(
                {
                    (scene, policy): float(model[policy]) / float(measured[policy]) - 1
                    for policy in measured
                    if measured[policy] != "-"
                }
            )
        return {
            "worst": percent(
                max(
                    abs(error)
                    for (scene, policy), error in errors.items()
                    if policy != "cccl" and scene in FITTED_SCENES
                )
            ),
            "cccl": percent(max(error for (_, policy), error in errors.items() if policy == "cccl"), 0),
        }[words[0]]

    def microbench_value(self, words: Words) -> str:
        """Cycles of a case; CASE.over.CASE is how often as many."""
        cycles = self.microbench[words[0]]
        return two(cycles) if len(words) == 1 else two(cycles / self.microbench[words[2]])

    def measured_value(self, words: Words) -> str:
        """mean13.POLICY.speedup, max13.POLICY.speedup, TRACE.POLICY.speedup"""
        which, policy, name = words
        if name != "speedup":
            raise Unknown(name)
        traces = self.paper_traces if which in OVER_TRACES else [which]
        gains = [self.measured(trace, "baseline") / self.measured(trace, policy) for trace in traces]
        return two(OVER_TRACES.get(which, max)(gains))

    def trace_value(self, words: Words) -> str:
        facts = self.traces[words[0]]
        return {"events": whole(facts["events"]), "lanes": two(facts["mean_active_lanes"])}[words[1]]

    def synthesis_value(self, words: Words) -> str:
        value = self.synthesis[words[0]][words[1]]
        return whole(value) if isinstance(value, int) else f"{value:,.3f}"

    def paper_value(self, words: Words) -> str:
        stated: float = self.paper[words[0]]["numbers"][".".join(words[1:])]["value"]
        return two(stated)

    def figure_value(self, figure: str, words: Words) -> str:
        """Ours, under a key of the paper's."""
        ours = self.of_paper[figure][".".join(words)]
        if ours is None:
            raise Unknown(figure)
        return f"{ours:.{1 if abs(ours) >= 20 else 2}f}"

    def run_value(self, words: Words) -> str:
        """TRACE.GPU.POLICY[.UNIT].METRIC"""
        trace, gpu, policy, *rest = words
        if gpu not in GPUS:
            raise Unknown(gpu)
        kind = rest.pop(0) if rest[0] in [one.row for one in FLOATS] else ""
        name = ".".join(rest)
        return self.shown(name, self.metric(trace, gpu, policy, kind, name))

    def family(self, name: str) -> Callable[[Words], str] | None:
        """What gives the text of keys that begin with the name."""
        if name in self.traces:
            return lambda words: self.run_value([name, *words])
        if name in OVER_TRACES:
            return lambda words: self.summary_value([name, *words])
        if name.startswith("fig"):
            return lambda words: self.figure_value(name, words)
        families: dict[str, Callable[[Words], str]] = {
            "accuracy": self.accuracy_value,
            "chosen": self.chosen_value,
            "asap7": lambda words: two(self.asap7[words[0]][words[1]]),
            "correlation": self.correlation_value,
            "energy": self.energy_value,
            "h100-times": lambda words: str(self.need("h100_times")["summary"][words[0]]),
            "kernels-of-today": self.kernels_of_today_value,
            "layout": self.layout_value,
            "measured": self.measured_value,
            "microbench": self.microbench_value,
            "observed": lambda words: str(self.need("observations")["values"][".".join(words)]["value"]),
            "paper": self.paper_value,
            "papersim": lambda words: PaperMachine(self).value(words),
            "replay": lambda words: self.replay_value("replay", words),
            "slots": lambda words: self.replay_value("slots", words),
            "synth": self.synthesis_value,
            "traces": self.trace_value,
            "unit": self.unit_value,
            "vector-replay": lambda words: self.replay_value("vector_replay", words),
            gpu_kernels.FORMS: lambda words: gpu_kernels.form_value(self.need(gpu_kernels.FORMS), words),
            gpu_kernels.TRAINING: lambda words: gpu_kernels.training_value(self.need(gpu_kernels.TRAINING), words),
            merging.NAME: lambda words: self.merging.value(words),
            today.NAME: lambda words: self.today.value(words),
        }
        return families.get(name)

    def value(self, key: str) -> str:
        """Text of a key."""
        head, *rest = key.split(".")
        text_of = self.family(head)
        if text_of is None:
            raise Unknown(key)
        try:
            return text_of(rest)
        except (KeyError, IndexError, TypeError, ValueError) as error:
            raise Unknown(f"{key} ({type(error).__name__})") from error
