# SPDX-License-Identifier: Apache-2.0
"""Numbers of pages by their keys, from the files of docs/numbers. README.md of this folder lists the keys."""

import json
import math
import statistics
from functools import cached_property
from pathlib import Path

from .. import correlate
from ..base import units
from ..base.modules import module
from ..figures import data
from ..sweep import plan as planning
from . import gpu_kernels, merging, points, store, today
from .store import ROOT, Missing, Unknown

HERE = Path(__file__).resolve().parent

GPUS = ("rtx4090", "rtx3060", "h200")
VECTORS_ON = "h100"
PAPER_GPUS = ("rtx4090", "rtx3060")
# Units that tables of simulations have, and all of those that are synthesized.
KINDS = ("serial", "paired", "fused")
LANES = {unit.name: unit.lanes_per_cycle for unit in units.named()}
# Those whose layouts the documents have.
LAID_OUT = ("serial", "paired", "fused")
# Those that were simulated with ARC's traces alone, and on these machines (points.yaml).
ON_ARC_TRACES = {"paired": ("rtx4090",)}
# One trace of each workload of ARC's groups; of a scene in training that of 7,000 iterations.
ARC_TRACES = ["workload:3D-??", "workload:NV-??", "workload:PS-??", "!*-1K", "!*-values"]
# What an RTX 4090 has (ARC, 5.4), and its units.
GPU_TRANSISTORS, GPU_UNITS = 76e9, 128 * 4
# Scenes whose launches set the energies; a third was held out.
FITTED_SCENES = ("truck", "kitchen")
H200_GHZ = 1.98


def whole(value):
    return f"{value:,.0f}"


def two(value):
    return f"{value:.2f}"


def percent(value, digits=1):
    return f"{100 * value:.{digits}f} %"


class Numbers:
    """All results, and the text of each key."""

    def __init__(self, folder: Path = store.FOLDER) -> None:
        self.folder = folder
        self.sims = store.read("simulations", folder)
        self.traces = self.need("traces")["traces"]
        columns = self.sims["columns"] if self.sims else []
        self.rows = [dict(zip(columns, row)) for row in (self.sims or {}).get("rows", []) if len(row) == len(columns)]
        self.left_out = [
            dict(zip(columns, row)) for row in (self.sims or {}).get("rows", []) if len(row) < len(columns)
        ]
        for row in self.rows:
            kind, _, threshold = row["policy"].partition(":")
            row.update(
                full_policy=row["policy"],
                policy=kind,
                threshold=int(threshold) if threshold else "",
                workload=self.traces[row["trace"]]["workload"],
            )
        self.runs = data.Runs([row for row in self.rows if not row["thin"]])
        self.paper_traces = [Path(path).stem for path, _ in planning.select_traces(ARC_TRACES, HERE)]
        self.by_key = {
            (row["trace"], row["gpu"], row["full_policy"], row["unit_kind"], row["thin"]): row
            for row in self.rows
            if not row["set"]
        }

    def need(self, name):
        document = store.read(name, self.folder)
        if document is None:
            raise Missing(f"docs/numbers/{name}.json")
        return document

    # ---- simulations --------------------------------------------------------------------------------

    def run(self, trace, gpu, policy, kind="serial"):
        """A row; `arc-sw`, `sw-b` and `sw-s` are those of the best threshold, `lab` of the best partition is `lab-best`."""
        if policy in ("arc-sw", "sw-b", "sw-s"):
            row = self.runs.get(trace, gpu, policy)
        elif policy == "lab-best":
            row = self.runs.get(trace, gpu, "lab")
        else:
            row = self.by_key.get((trace, gpu, policy, kind, 0))
        if row is None:
            raise Missing(f"{trace} {gpu} {policy} {kind}")
        return row

    def has_code(self, trace, gpu, policy):
        """No where a trace has no code of the policy."""
        return not any((row["trace"], row["gpu"], row["policy"]) == (trace, gpu, policy) for row in self.left_out)

    def metric(self, trace, gpu, policy, kind, name):
        """A number of a run: cycles, or what is computed from several counters."""
        row = self.run(trace, gpu, policy, kind)
        if name in ("speedup", "energy_gain"):
            counter = "cycles" if name == "speedup" else "energy_nj.total"
            return self.run(trace, gpu, "baseline")[counter] / row[counter]
        if name == "measured_ms":
            return self.measured(trace, row["full_policy"])
        if name == "ratio":
            return (row["cycles"] / (H200_GHZ * 1e6) + points.LAUNCH_US / 1e3) / self.measured(
                trace, row["full_policy"]
            )
        head, _, part = name.partition(".")
        if head == "stall":
            total = sum(
                row[f"stalls.subcore_cycles.{each}"]
                for each in ("issued", "memory_queue", "arc_unit", "shuffle", "dependency", "barrier", "idle")
            )
            return row[f"stalls.subcore_cycles.{part}"] / total
        where = {
            "busy": f"utilization.{part}",
            "bound": f"bounds.cycles.{part}",
            "noc_mb": "noc_bytes",
            "energy_mj": "energy_nj.total",
            "instructions": "activity.instructions",
        }.get(head, name)
        if where not in row:
            raise Unknown(name)
        return row[where] / {"noc_mb": 1e6, "energy_mj": 1e6}.get(head, 1)

    @staticmethod
    def shown(name, value):
        head = name.partition(".")[0]
        if head in ("stall", "busy"):
            return percent(value)
        if head in ("speedup", "energy_gain", "ratio"):
            return two(value)
        return {"noc_mb": "{:,.1f}", "energy_mj": "{:,.2f}", "measured_ms": "{:.3f}"}.get(head, "{:,.0f}").format(value)

    def over(self, traces, gpu, policy, kind="serial", name="speedup"):
        """{trace: number}; all of them have to be there, but those whose trace has no code."""
        return {
            trace: self.metric(trace, gpu, policy, kind, name) for trace in traces if self.has_code(trace, gpu, policy)
        }

    def measured(self, trace, policy):
        if trace not in self.traces:
            raise Missing(trace)
        ms = self.traces[trace]["ms"]
        if policy == "arc-sw":
            return min(value for name, value in ms.items() if name.startswith("sw-"))
        if policy not in ms:
            raise Unknown(f"{trace} was not measured under {policy}")
        return ms[policy]

    # ---- correlation --------------------------------------------------------------------------------

    @cached_property
    def correlation(self):
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
                        "modelled_ms": row["cycles"] / (H200_GHZ * 1e6) + points.LAUNCH_US / 1e3,
                        "measured_ms": ms,
                    }
                )
        return out

    def correlated(self, group):
        """The points of a group: 3d, other, all, or a family as NV."""
        if group == "all":
            return self.correlation
        is_3d = group.upper() == "3D"
        found = [
            p
            for p in self.correlation
            if (
                p["workload"].startswith("3D") == is_3d
                if group in ("3d", "other")
                else p["workload"].partition("-")[0].lower() == group
            )
        ]
        if not found:
            raise Unknown(group)
        return found

    def correlation_value(self, words):
        if words[0] == "picks":
            chosen = correlate.picks(self.correlation)
            worst = max(chosen, key=lambda pick: pick["cost"])
            return {"most": percent(worst["cost"]), "traces": str(len(chosen)), "trace": worst["trace"]}[words[1]]
        found = correlate.summary(self.correlated(words[0]))
        return {
            "points": str(found["points"]),
            "mean": percent(found["mean_absolute_error"]),
            "bias": f"{100 * found['mean_error']:+.1f} %",
            "worst": percent(abs(found["worst"]["error"])),
            "worst_trace": found["worst"]["trace"],
            "worst_policy": found["worst"]["policy"],
            "pearson": f"{found['pearson']:.4f}",
            "ranks": f"{found['rank_correlation']:.4f}",
        }[words[1]]

    # ---- what is no simulation of a trace -----------------------------------------------------------

    @cached_property
    def synthesis(self):
        return {row["top"]: row for row in self.need("synthesis")["rows"]}

    @cached_property
    def asap7(self):
        return {row["top"]: row for row in self.need("asap7")["rows"]}

    @cached_property
    def others(self):
        return json.loads((ROOT / "synth/others.json").read_text(encoding="utf-8"))

    def unit_value(self, kind, name):
        if kind not in LANES:
            raise Unknown(kind)
        whole_row, added = f"arc_subcore_{kind}", f"arc_unit_{kind}"
        transistors = self.synthesis[added]["transistors"]
        if name == "share_with_coalescer":
            return percent(self.synthesis[whole_row]["transistors"] * GPU_UNITS / GPU_TRANSISTORS, 4)
        return {
            "transistors": whole(transistors),
            "lanes": str(LANES[kind]),
            "with_coalescer": whole(self.synthesis[whole_row]["transistors"]),
            "coalescer": whole(self.synthesis[whole_row]["transistors"] - transistors),
            "flops": whole(self.synthesis[added]["flops"]),
            "of_arc": percent(transistors / 70_000),
            "millions": f"{transistors * GPU_UNITS / 1e6:.1f}",
            "share": percent(transistors * GPU_UNITS / GPU_TRANSISTORS, 4),
            "path_ns": two(min(self.asap7[added]["path_ns"], self.asap7[added]["fast_path_ns"])),
            "osu018_path_ns": two(min(self.synthesis[added]["path_ns"], self.synthesis[added]["fast_path_ns"])),
        }[name]

    @cached_property
    def layouts(self):
        """Kind -> row of warpfold layout."""
        return {row["top"].removeprefix("arc_reduction_"): row for row in self.need("layout")["rows"]}

    def layout_value(self, kind, name):
        def of(row):
            paths = {key: path["ns"] for key, path in row["timing"]["reg_to_reg"].items()}
            return {
                "wires": paths["with_wires"] / paths["without_wires"] - 1,
                "tree": paths["with_tree"] / paths["without_wires"] - 1,
                "filled": row["filled"],
                "longest": paths["with_tree"],
                "skew": row["clock"]["skew_ns"],
            }[name]

        show = two if name in ("longest", "skew") else lambda value: f"{100 * value:.0f} %"
        if kind != "all":
            return show(of(self.layouts[kind]))
        found = [of(row) for row in self.layouts.values()]
        return f"{show(min(found)).removesuffix(' %')} to {show(max(found))}"

    def accuracy_value(self, words):
        traces = self.need("accuracy")["traces"]
        if words[0] in traces:
            value = traces[words[0]]
            for word in words[1:]:
                value = value[word]
            return whole(value) if isinstance(value, int) else two(value)
        if words[0] in ("serial", "fused", "paired"):
            most = max(entry[words[0]][words[1]] for entry in traces.values())
            return whole(most) if most >= 100 else two(most)
        return whole(sum(entry[words[0]] for entry in traces.values()))

    def replay_value(self, document, name):
        errors = {case: modelled / measured - 1 for case, measured, modelled in self.need(document)["cases"]}
        worst = max(errors, key=lambda case: abs(errors[case]))
        return {
            "cases": str(len(errors)),
            "within5": str(sum(abs(error) <= 0.05 for error in errors.values())),
            "mean": percent(statistics.fmean(map(abs, errors.values()))),
            "worst": percent(abs(errors[worst])),
            "worst_case": worst,
        }[name]

    def energy_value(self, name):
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
        }[name]

    def speed_value(self, words):
        document = self.need("speed")
        if words[0] == "host":
            return document["source"]["host"]
        if words[0] == "mebibytes":
            return whole(max(row["mebibytes"] for row in document["rows"]))
        policy, unit, threads = words[:3]
        for row in document["rows"]:
            if (row["policy"], row["unit"], "all" if row["clock_all"] else str(row["threads"])) == (
                policy,
                unit,
                threads,
            ):
                index = {"least": 1, "most": 2}.get(words[3], 0) if len(words) > 3 else 0
                return whole(float(f"{row['warp_atomics_per_second'][index]:.3g}"))
        raise Unknown(".".join(words))

    @cached_property
    def microbench(self):
        """{case: SM cycles of an operation until the last addition is done} of the card that vectors were measured on."""
        document = json.loads((ROOT / f"model/gpus/{VECTORS_ON}-microbench.json").read_text(encoding="utf-8"))
        return {case["name"]: case["extra"]["drained"] for case in document["results"] if "drained" in case["extra"]}

    def microbench_value(self, words):
        """Cycles of a case; CASE.over.CASE is how often as many."""
        cycles = self.microbench[words[0]]
        return two(cycles) if len(words) == 1 else two(cycles / self.microbench[words[2]])

    # ---- the paper ----------------------------------------------------------------------------------

    @cached_property
    def paper(self):
        return module("yaml").safe_load((HERE.parent / "figures/paper.yaml").read_text(encoding="utf-8"))

    @cached_property
    def of_paper(self):
        """Our numbers under the paper's keys, when every simulation is there."""
        for gpu in PAPER_GPUS:
            for trace in self.paper_traces:
                for policy, kind in (
                    ("baseline", "serial"),
                    ("arc-hw", "serial"),
                    ("arc-hw", "fused"),
                    ("lab-best", "serial"),
                    ("lab-ideal", "serial"),
                    ("phi", "serial"),
                    ("arc-sw", "serial"),
                ):
                    self.run(trace, gpu, policy, kind)
        wanted = set(self.paper_traces)
        rows = [row for row in self.rows if row["trace"] in wanted and row["gpu"] in PAPER_GPUS and not row["thin"]]
        return data.paper_numbers(data.Runs(rows), PAPER_GPUS)

    # ---- keys ---------------------------------------------------------------------------------------

    def summary(self, words):
        """mean13.rtx4090.arc-hw.fused.speedup, geomean.rtx4090.arc-hw.speedup"""
        gpu, policy, name = words[1], words[2], words[-1]
        kind = words[3] if len(words) > 4 else "serial"
        traces = sorted(self.traces) if words[0] == "geomean" else self.paper_traces
        values = list(self.over(traces, gpu, policy, kind, name).values())
        how = {
            "mean13": statistics.fmean,
            "max13": max,
            "min13": min,
            "geomean": lambda found: math.exp(statistics.fmean(map(math.log, found))),
        }[words[0]]
        return self.shown(name, how(values))

    def trace_value(self, trace, name):
        facts = self.traces[trace]
        return {
            "events": whole(facts["events"]),
            "lane_atomics": whole(facts["lane_atomics"]),
            "ctas": whole(facts["ctas"]),
            "lanes": two(facts["mean_active_lanes"]),
            "one_address": percent(facts["one_address_share"]),
        }[name]

    def measured_value(self, words):
        if words[0] in ("mean13", "max13"):
            gains = [self.measured(trace, "baseline") / self.measured(trace, words[1]) for trace in self.paper_traces]
            return two(statistics.fmean(gains) if words[0] == "mean13" else max(gains))
        ms = self.measured(words[0], words[1])
        return f"{ms:.3f}" if words[2] == "ms" else two(self.measured(words[0], "baseline") / ms)

    def value(self, key):
        """Text of a key."""
        words = key.split(".")
        rest = words[1:]
        try:
            if words[0] in ("mean13", "max13", "min13", "geomean"):
                return self.summary(words)
            if words[0] == "paper":
                entry = self.paper[rest[0]]["numbers"][".".join(rest[1:])]["value"]
                return f"{entry:.2f}"
            if words[0].startswith("fig"):
                ours = self.of_paper[words[0]][".".join(rest)]
                return f"{ours:.{1 if abs(ours) >= 20 else 2}f}"
            simple = {
                "correlation": self.correlation_value,
                "accuracy": self.accuracy_value,
                "speed": self.speed_value,
                "measured": self.measured_value,
                "microbench": self.microbench_value,
            }
            if words[0] in simple:
                return simple[words[0]](rest)
            if words[0] == "unit":
                return self.unit_value(*rest)
            if words[0] == "today":
                return today.Today(self.need(today.NAME)).value(rest)
            if words[0] == merging.NAME:
                return merging.Merging(self.need(merging.NAME), self.need(today.NAME)).value(rest)
            if words[0] in (gpu_kernels.FORMS, gpu_kernels.TRAINING):
                value_of = gpu_kernels.form_value if words[0] == gpu_kernels.FORMS else gpu_kernels.training_value
                return value_of(self.need(words[0]), rest)
            if words[0] == "scheduler":
                from . import schedulers  # which imports this one

                return schedulers.Schedulers(self).value(rest)
            if words[0] == "papersim":
                from . import paper_machine  # which imports this one

                return paper_machine.PaperMachine(self).value(rest)
            if words[0] == "layout":
                return self.layout_value(*rest)
            if words[0] == "h100-times":
                return self.need("h100_times")["summary"][rest[0]]
            if words[0] == "energy":
                return self.energy_value(*rest)
            if words[0] in ("replay", "vector-replay", "slots"):
                return self.replay_value(words[0].replace("-", "_"), *rest)
            if words[0] == "traces":
                return self.trace_value(*rest)
            if words[0] == "synth":
                value = self.synthesis[rest[0]][rest[1]]
                return whole(value) if isinstance(value, int) else f"{value:,.3f}"
            if words[0] == "asap7":
                return f"{self.asap7[rest[0]][rest[1]]:.2f}"
            if words[0] == "observed":
                return self.need("observations")["values"][".".join(rest)]["value"]
            if words[0] == "points":
                right = sum(bool(row["sums_match"] and row["conserved"]) for row in self.rows)
                return {"simulations": whole(len(self.rows)), "right": whole(right)}[rest[0]]
            if words[0] in self.traces and len(words) >= 4 and words[1] in GPUS:
                kind = words[3] if words[3] in KINDS else "serial"
                name = ".".join(words[4 if words[3] in KINDS else 3 :])
                return self.shown(name, self.metric(words[0], words[1], words[2], kind, name))
        except (KeyError, IndexError, TypeError, ValueError) as error:
            raise Unknown(f"{key} ({type(error).__name__})") from error
        raise Unknown(key)


def source_lines(folder=store.FOLDER):
    """(file, source) of all files."""
    return [
        (path.name, json.loads(path.read_text(encoding="utf-8")).get("source", {}))
        for path in sorted(folder.glob("*.json"))
    ]
