# SPDX-License-Identifier: Apache-2.0
"""Holds the model's cycles against the kernel times in the headers of traces. `warpfold correlate` runs it.

A point is a trace under a policy that was measured. Measured times are those between two events, and so have
in them what an empty kernel takes there (--launch-us); the model begins with the first CTA, so that this is
added to its time. Errors are modelled over measured time less 1. Of the thresholds of sw-b and of sw-s
together, the pick is the one that the model has fastest; it costs what its measured time is above the least
measured.

Traces that are samples of a launch and have most to add are thinned before they are simulated: to the middle one
of every three of their CTAs, which stands for the launch as they do (`warpfold trace sample`, docs/fidelity.md,
"Samples"), in a third of the time. --as-shipped takes them whole.
"""

import argparse
import dataclasses
import json
import math
import os
import re
import statistics
import sys
import tempfile
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

from .base import files
from .base.errors import BadInput
from .base.files import read_json
from .base.modules import pyplot
from .base.parser import Parser
from .base.places import TRACES, warpfold
from .base.processes import Word, output
from .base.progress import Progress

Point = dict[str, Any]  # "trace", "workload", "policy", "sample_every", "cycles", "modelled_ms", "measured_ms"

SCHEMA = "warpfold.correlation/1"
POLICIES = ("baseline", "sw-s", "sw-b", "skip", "cccl", "vector", "skip-vector", "shared-slot")
# Those whose simulations take longest come first, so that all jobs end at about the same time.
LONGEST_FIRST = ("shared-slot", "cccl", "sw-s", "sw-b", "skip", "skip-vector", "baseline", "vector")
# Samples with more additions of lanes than that are thinned, to one of so many CTAs.
THIN_ABOVE = 60_000_000
THIN_TO_ONE_IN = 3


@dataclasses.dataclass
class Measured:
    """What the header of a trace says."""

    workload: str
    times: dict[str, float]  # milliseconds by policy
    lane_atomics: int  # in the file
    sample_every: int  # it has one CTA in so many; 1: it is the launch, or a part that stands for itself

    def large(self) -> bool:
        """A sample that takes long."""
        return self.sample_every > 1 and self.lane_atomics > THIN_ABOVE

    def thinned(self, args: argparse.Namespace) -> bool:
        return not args.as_shipped and self.large()

    def to_simulate(self, args: argparse.Namespace) -> float:
        """Additions of lanes in all points."""
        return self.lane_atomics * len(self.times) / (THIN_TO_ONE_IN if self.thinned(args) else 1)


# ---- arithmetic -------------------------------------------------------------------------------------


def pearson(xs: list[float], ys: list[float]) -> float | None:
    """Correlation of two lists; None if it is not defined."""
    if len(xs) < 2:
        return None
    mx, my = statistics.fmean(xs), statistics.fmean(ys)
    xx = sum((x - mx) ** 2 for x in xs)
    yy = sum((y - my) ** 2 for y in ys)
    if xx == 0 or yy == 0:
        return None
    return sum((x - mx) * (y - my) for x, y in zip(xs, ys)) / math.sqrt(xx * yy)


def ranks(values: list[float]) -> list[float]:
    """Rank of each value from 1; equal ones share the mean of theirs."""
    order = sorted(range(len(values)), key=lambda i: values[i])
    result = [0.0] * len(values)
    start = 0
    while start < len(order):
        end = start
        while end + 1 < len(order) and values[order[end + 1]] == values[order[start]]:
            end += 1
        for i in order[start : end + 1]:
            result[i] = (start + end) / 2 + 1
        start = end + 1
    return result


def summary(points: list[Point]) -> dict[str, Any]:
    """Figures over points, dicts with trace, policy, modelled_ms and measured_ms."""
    errors = [p["modelled_ms"] / p["measured_ms"] - 1 for p in points]
    worst = max(range(len(points)), key=lambda i: abs(float(errors[i])))
    modelled = [p["modelled_ms"] for p in points]
    measured = [p["measured_ms"] for p in points]
    return {
        "points": len(points),
        "mean_absolute_error": statistics.fmean(abs(e) for e in errors),
        "mean_error": statistics.fmean(errors),
        "worst": {"trace": points[worst]["trace"], "policy": points[worst]["policy"], "error": errors[worst]},
        "pearson": pearson(modelled, measured),
        "pearson_log": pearson([math.log(m) for m in modelled], [math.log(m) for m in measured]),
        "rank_correlation": pearson(ranks(modelled), ranks(measured)),
    }


def groups(points: list[Point]) -> dict[str, dict[str, Any]]:
    """Figures for each family of workloads: "3D" of 3D-TK and 3D-KI, in the order in which they come."""
    names = dict.fromkeys(p["workload"].split("-")[0] for p in points)
    return {name: summary([p for p in points if p["workload"].split("-")[0] == name]) for name in names}


def picks(points: list[Point]) -> list[Point]:
    """For each trace with thresholds: the best one, the model's, and what that costs."""
    result = []
    for trace in dict.fromkeys(p["trace"] for p in points):
        own = [p for p in points if p["trace"] == trace and p["policy"].startswith(("sw-b:", "sw-s:"))]
        if len(own) < 2:
            continue
        best = min(own, key=lambda p: float(p["measured_ms"]))
        pick = min(own, key=lambda p: float(p["modelled_ms"]))
        result.append(
            {
                "trace": trace,
                "best": best["policy"],
                "pick": pick["policy"],
                "cost": pick["measured_ms"] / best["measured_ms"] - 1,
            }
        )
    return result


# ---- runs -------------------------------------------------------------------------------------------


def simulator(*words: Word) -> str:
    """What the command prints."""
    return output([warpfold(), *words])


def is_of(gpu: str, machine: str) -> bool:
    """Whether a machine is the GPU of this name, as `warpfold sim` decides it: "h100" of "NVIDIA H100 80GB HBM3"."""
    words = re.findall(r"[a-z0-9]+", gpu.lower())
    wanted = "".join(re.findall(r"[a-z0-9]+", Path(machine).stem.lower()))
    return any("".join(words[i:j]) == wanted for i in range(len(words)) for j in range(i + 1, len(words) + 1))


def measured_times(trace: str, args: argparse.Namespace) -> Measured:
    """What a trace has, with times of what it has code of, too.

    Times are of whole launches. A sample of one CTA in N is simulated so that it stands for its launch; any other
    part of one has no times.
    """
    info = json.loads(simulator("trace", "info", "--json", trace))["traces"][0]
    found = measured_of(info, args.arch, args.policy, args.gpu)
    if not found.times:
        print(f"warpfold correlate: {trace}: no measured times of what it holds; left out", file=sys.stderr)
    return found


def measured_of(
    info: dict[str, Any], gpu_arch: str, only: list[str] | None = None, machine: str | None = None
) -> Measured:
    """The same from an entry of `warpfold trace info --json`: on the machine's GPU, or on the one that was traced where
    there is no time of that."""
    header = info["header"]
    gpus = {time.get("gpu", header["gpu"]) for time in header["times"]}
    gpu = next((name for name in sorted(gpus) if machine and is_of(name, machine)), header["gpu"])
    times = {}
    if not header["sampling"] or header["sample_every"] != 1:
        code = header["costs"].get(gpu_arch, {})
        for time in header["times"]:
            policy = time["policy"]
            kind = policy.split(":")[0]
            if (
                kind in POLICIES
                and kind in code
                and (not only or policy in only)
                and time.get("gpu", header["gpu"]) == gpu
            ):
                times[policy] = time["median_ms"]
    return Measured(header["workload"], times, info["stats"]["lane_atomics"], header["sample_every"])


def correlate(trace: str, has: Measured, args: argparse.Namespace) -> list[Point]:
    policies = sorted(has.times, key=lambda policy: LONGEST_FIRST.index(policy.split(":")[0]))
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "r.json"
        simulated, every = Path(trace), has.sample_every
        if has.thinned(args):
            simulated, every = Path(folder) / Path(trace).name, every * THIN_TO_ONE_IN
            simulator("trace", "sample", trace, simulated, "--every", THIN_TO_ONE_IN)
        simulator(
            "sim",
            simulated,
            "--gpu",
            args.gpu,
            "--policy",
            ",".join(policies),
            "--unit",
            "golden",
            "--jobs",
            1,
            "--threads",
            1,
            "--json",
            out,
        )
        results = {one["policy"]: one for one in read_json(out)["runs"]}
    points = []
    for one in (results[policy] for policy in has.times):
        measured = one["measured"]
        if measured and measured["ratio"] is None:
            raise BadInput(f"{trace}: its times are of {measured['gpu']}, the machine is {args.gpu}")
        clock = one["config"]["sm"]["clock_ghz"] if isinstance(one.get("config"), dict) else args.clock
        points.append(
            {
                "trace": Path(trace).stem,
                "workload": has.workload,
                "policy": one["policy"],
                "sample_every": every,
                "cycles": one["cycles"],
                "modelled_ms": one["cycles"] / (clock * 1e6) + args.launch_us / 1e3,
                "measured_ms": has.times[one["policy"]],
            }
        )
    return points


def correlate_all(traces: list[str], args: argparse.Namespace) -> list[Point]:
    """Points of all traces, in their order. Those with most to add begin, so that all jobs end at about the same
    time."""
    with ThreadPoolExecutor(args.jobs or os.cpu_count() or 1) as pool:
        try:
            known = dict(zip(traces, pool.map(lambda trace: measured_times(trace, args), traces)))
            timed = {trace: has for trace, has in known.items() if has.times}
            longest_first = sorted(timed, key=lambda trace: -timed[trace].to_simulate(args))
            of_trace = {trace: pool.submit(correlate, trace, timed[trace], args) for trace in longest_first}
            with Progress(sum(has.to_simulate(args) for has in timed.values()), "additions") as progress:

                def counted(size: float) -> Callable[[Future[list[Point]]], None]:
                    return lambda _: progress.step(size)

                for trace, points in of_trace.items():
                    points.add_done_callback(counted(timed[trace].to_simulate(args)))
                return [p for trace in timed for p in of_trace[trace].result()]
        except BadInput:
            pool.shutdown(cancel_futures=True)
            raise


# ---- output -----------------------------------------------------------------------------------------


def table(points: list[Point]) -> str:
    lines = [f"{'trace':16} {'policy':10} {'modelled ms':>11} {'measured ms':>11} {'error':>8}"]
    for p in points:
        error = p["modelled_ms"] / p["measured_ms"] - 1
        lines.append(
            f"{p['trace']:16} {p['policy']:10} {p['modelled_ms']:11.4f} {p['measured_ms']:11.4f} {error:+8.1%}"
        )
    return "\n".join(lines)


def number(value: float | None) -> str:
    return "-" if value is None else f"{value:.4f}"


def text_of(all_points: list[Point], overall: dict[str, Any], chosen: list[Point]) -> str:
    lines = [table(all_points), ""]
    samples = {p["trace"]: p["sample_every"] for p in all_points if p["sample_every"] > 1}
    if samples:
        lines.append("samples, 1 CTA in: " + ", ".join(f"{trace} {every}" for trace, every in samples.items()))
    lines.append(
        f"{overall['points']} points: mean absolute error {overall['mean_absolute_error']:.1%}, "
        f"mean error {overall['mean_error']:+.1%}"
    )
    worst = overall["worst"]
    lines.append(f"worst: {worst['trace']} {worst['policy']} {worst['error']:+.1%}")
    lines.append(
        f"Pearson {number(overall['pearson'])} (of logarithms {number(overall['pearson_log'])}), "
        f"ranks {number(overall['rank_correlation'])}"
    )
    for name, figures in groups(all_points).items():
        lines.append(
            f"{name}: {figures['points']} points, mean absolute error {figures['mean_absolute_error']:.1%}, "
            f"worst {figures['worst']['error']:+.1%}, Pearson {number(figures['pearson'])}"
        )
    for p in chosen:
        lines.append(
            f"{p['trace']}: the best threshold is {p['best']}, the model's {p['pick']}, which costs " f"{p['cost']:.1%}"
        )
    return "\n".join(lines)


def draw(points: list[Point], path: Path) -> None:
    figure, axes = pyplot().subplots(figsize=(6, 6))
    for kind in POLICIES:
        own = [p for p in points if p["policy"].split(":")[0] == kind]
        if own:
            axes.scatter([p["measured_ms"] for p in own], [p["modelled_ms"] for p in own], s=14, label=kind)
    values = [p[k] for p in points for k in ("measured_ms", "modelled_ms")]
    low, high = min(values) / 1.3, max(values) * 1.3
    axes.plot([low, high], [low, high], color="black", linewidth=0.8)
    for factor in (0.75, 1.25):
        axes.plot([low, high], [low * factor, high * factor], color="grey", linewidth=0.5, linestyle="--")
    axes.set(
        xscale="log", yscale="log", xlim=(low, high), ylim=(low, high), xlabel="measured, ms", ylabel="modelled, ms"
    )
    axes.set_aspect("equal")
    axes.legend()
    figure.tight_layout()
    files.write_figure(path, figure, dpi=150)


def options(parser: Parser) -> None:
    parser.add_argument("traces", nargs="*", metavar="TRACE", help="Traces; else the shipped ones that have times")
    parser.add_argument("--gpu", default="h200", help="Machine, of the GPU that the times are of")
    parser.add_argument("--arch", default="sm_90", help="Its code")
    parser.add_argument("--clock", type=float, default=1.98, help=argparse.SUPPRESS)
    parser.add_argument(
        "--launch-us",
        metavar="US",
        type=float,
        default=5.0,
        help="Time between events around an empty kernel, as control/launch_alone measures it",
    )
    parser.add_argument(
        "--policy", metavar="LIST", type=lambda text: text.split(","), help="Only these, comma-separated"
    )
    parser.add_argument("--as-shipped", action="store_true", help="Thin no trace")
    parser.add_argument("--jobs", metavar="N", type=int, help="Simulations at once [one for each processor]")
    parser.add_argument("--out", metavar="DIR", type=Path, help="Folder for correlation.json, .csv and a scatter plot")
    parser.footer(
        f"Samples of more than {THIN_ABOVE:,} additions of lanes are thinned to 1 in {THIN_TO_ONE_IN} of their CTAs.\n\n"
        "Example: the shipped traces on the model of an H200\n"
        "  warpfold correlate --out correlation\n\n"
        "Exit code: 0 done, 2 bad usage or bad input."
    )


def run(arguments: argparse.Namespace) -> int:
    traces = arguments.traces or sorted(str(path) for path in TRACES.glob("*.wft"))
    out: Path | None = arguments.out
    if out:
        pyplot()  # what is missing is missed before the simulations
        out.mkdir(parents=True, exist_ok=True)
    points = correlate_all(traces, arguments)
    if not points:
        raise BadInput("no trace has measured times")
    overall, chosen = summary(points), picks(points)
    print(text_of(points, overall, chosen))
    if out:
        result = {
            "schema": SCHEMA,
            "gpu": arguments.gpu,
            "launch_us": arguments.launch_us,
            "summary": overall,
            "groups": groups(points),
            "thresholds": chosen,
            "points": points,
        }
        files.write_json(out / "correlation.json", result, indent=1)
        rows = ["trace,policy,cycles,modelled_ms,measured_ms"]
        rows += [
            f"{p['trace']},{p['policy']},{p['cycles']},{p['modelled_ms']:.6f},{p['measured_ms']:.6f}" for p in points
        ]
        files.write(out / "correlation.csv", "\n".join(rows) + "\n")
        draw(points, out / "correlation.png")
    return 0
