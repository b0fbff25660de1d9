# SPDX-License-Identifier: Apache-2.0
"""Holds the model's cycles against the kernel times in the headers of traces. Run by correlate.sh.

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
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from .base import guard, whole_file
from .base.places import ROOT
from .base.progress import Progress


COMMAND = Path(os.environ.get("WARPFOLD", ROOT / "build/release/model/warpfold"))
SCHEMA = "warpfold.correlation/1"
POLICIES = ("baseline", "sw-s", "sw-b", "skip", "cccl", "vector", "skip-vector", "shared-slot")
# Those whose simulations take longest come first, so that all jobs end at about the same time.
LONGEST_FIRST = ("shared-slot", "cccl", "sw-s", "sw-b", "skip", "skip-vector", "baseline", "vector")
# Samples with more additions of lanes than that are thinned, to one of so many CTAs.
THIN_ABOVE = 60_000_000
THIN_TO_ONE_IN = 3


class BadInput(Exception):
    """One line."""


@dataclasses.dataclass
class Measured:
    """What the header of a trace says."""

    workload: str
    times: dict  # {policy: ms}
    lane_atomics: int  # in the file
    sample_every: int  # it has one CTA in so many; 1: it is the launch, or a part that stands for itself

    def large(self):
        """A sample that takes long."""
        return self.sample_every > 1 and self.lane_atomics > THIN_ABOVE

    def thinned(self, args):
        return not args.as_shipped and self.large()

    def to_simulate(self, args):
        """Additions of lanes in all points."""
        return self.lane_atomics * len(self.times) / (THIN_TO_ONE_IN if self.thinned(args) else 1)


# ---- arithmetic -------------------------------------------------------------------------------------


def pearson(xs, ys):
    """Correlation of two lists; None if it is not defined."""
    if len(xs) < 2:
        return None
    mx, my = statistics.fmean(xs), statistics.fmean(ys)
    xx = sum((x - mx) ** 2 for x in xs)
    yy = sum((y - my) ** 2 for y in ys)
    if xx == 0 or yy == 0:
        return None
    return sum((x - mx) * (y - my) for x, y in zip(xs, ys)) / math.sqrt(xx * yy)


def ranks(values):
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


def summary(points):
    """Figures over points, dicts with trace, policy, modelled_ms and measured_ms."""
    errors = [p["modelled_ms"] / p["measured_ms"] - 1 for p in points]
    worst = max(range(len(points)), key=lambda i: abs(errors[i]))
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


def groups(points):
    """Figures for each family of workloads: "3D" of 3D-TK and 3D-KI, in the order in which they come."""
    names = dict.fromkeys(p["workload"].split("-")[0] for p in points)
    return {name: summary([p for p in points if p["workload"].split("-")[0] == name]) for name in names}


def picks(points):
    """For each trace with thresholds: the best one, the model's, and what that costs."""
    result = []
    for trace in dict.fromkeys(p["trace"] for p in points):
        own = [p for p in points if p["trace"] == trace and p["policy"].startswith(("sw-b:", "sw-s:"))]
        if len(own) < 2:
            continue
        best = min(own, key=lambda p: p["measured_ms"])
        pick = min(own, key=lambda p: p["modelled_ms"])
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


def run(*arguments, command=COMMAND, **options):
    try:
        return subprocess.run(
            [str(command), *map(str, arguments)], check=True, text=True, stdout=subprocess.PIPE, **options
        ).stdout
    except OSError as error:
        raise BadInput(f"{command}: {error.strerror}") from error
    except subprocess.CalledProcessError as error:
        raise BadInput(f"{' '.join(map(str, error.cmd))}: exit code {error.returncode}") from error


def is_of(gpu, machine):
    """Whether a machine is the GPU of this name, as `warpfold sim` decides it: "h100" of "NVIDIA H100 80GB HBM3"."""
    words = re.findall(r"[a-z0-9]+", gpu.lower())
    wanted = "".join(re.findall(r"[a-z0-9]+", Path(machine).stem.lower()))
    return any("".join(words[i:j]) == wanted for i in range(len(words)) for j in range(i + 1, len(words) + 1))


def measured_times(trace, args):
    """What a trace has, with times of what it has code of, too.

    Times are of whole launches. A sample of one CTA in N is simulated so that it stands for its launch; any other
    part of one has no times.
    """
    info = json.loads(run("trace", "info", "--json", trace))["traces"][0]
    found = measured_of(info, args.arch, args.policy, args.gpu)
    if not found.times:
        print(f"correlate.py: {trace}: no measured times of what it holds; left out", file=sys.stderr)
    return found


def measured_of(info, gpu_arch, only=None, machine=None):
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


def correlate(trace, has, args):
    policies = sorted(has.times, key=lambda policy: LONGEST_FIRST.index(policy.split(":")[0]))
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "r.json"
        simulated, every = trace, has.sample_every
        if has.thinned(args):
            simulated, every = Path(folder) / Path(trace).name, every * THIN_TO_ONE_IN
            run("trace", "sample", trace, simulated, "--every", THIN_TO_ONE_IN)
        run(
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
        results = {one["policy"]: one for one in json.loads(out.read_text(encoding="utf-8"))["runs"]}
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


def correlate_all(traces, args):
    """Points of all traces, in their order. Those with most to add begin, so that all jobs end at about the same
    time."""
    with ThreadPoolExecutor(max(args.jobs, 1)) as pool:
        try:
            known = dict(zip(traces, pool.map(lambda trace: measured_times(trace, args), traces)))
            timed = {trace: has for trace, has in known.items() if has.times}
            longest_first = sorted(timed, key=lambda trace: -timed[trace].to_simulate(args))
            of_trace = {trace: pool.submit(correlate, trace, timed[trace], args) for trace in longest_first}
            with Progress(sum(has.to_simulate(args) for has in timed.values()), "additions") as progress:
                for trace, points in of_trace.items():
                    points.add_done_callback(lambda _, has=timed[trace]: progress.step(has.to_simulate(args)))
                return [p for trace in timed for p in of_trace[trace].result()]
        except BadInput:
            pool.shutdown(cancel_futures=True)
            raise


# ---- output -----------------------------------------------------------------------------------------


def table(points):
    lines = [f"{'trace':16} {'policy':10} {'modelled ms':>11} {'measured ms':>11} {'error':>8}"]
    for p in points:
        error = p["modelled_ms"] / p["measured_ms"] - 1
        lines.append(
            f"{p['trace']:16} {p['policy']:10} {p['modelled_ms']:11.4f} {p['measured_ms']:11.4f} {error:+8.1%}"
        )
    return "\n".join(lines)


def number(value):
    return "-" if value is None else f"{value:.4f}"


def text_of(all_points, overall, chosen):
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


def plotter():
    """matplotlib's pyplot, for files only."""
    try:
        import matplotlib

        matplotlib.use("Agg")
        from matplotlib import pyplot
    except ImportError as error:
        raise BadInput(
            f"this Python, {sys.executable}, has no matplotlib ({error}); Debian's package "
            "python3-matplotlib is for /usr/bin/python3, which scripts/correlate.sh takes"
        ) from error
    return pyplot


def draw(points, path):
    pyplot = plotter()
    figure, axes = pyplot.subplots(figsize=(6, 6))
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
    whole_file.write_figure(path, figure, dpi=150)


def main(argv=None):
    parser = argparse.ArgumentParser(description="The model's cycles against measured times.")
    parser.add_argument("traces", nargs="*", help="default: those of traces/data that have times")
    parser.add_argument("--gpu", default="h200", help="machine, of the GPU that the times are of (%(default)s)")
    parser.add_argument("--arch", default="sm_90", help="its code (%(default)s)")
    parser.add_argument("--clock", type=float, default=1.98, help=argparse.SUPPRESS)
    parser.add_argument(
        "--launch-us",
        type=float,
        default=5.0,
        help="between events around an empty kernel (%(default)s, control/launch_alone on an H200)",
    )
    parser.add_argument("--policy", type=lambda t: t.split(","), help="only these, comma-separated")
    parser.add_argument(
        "--as-shipped",
        action="store_true",
        help=f"thin no trace: those that are samples and have more than {THIN_ABOVE:,} additions of "
        f"lanes are otherwise simulated as 1 in {THIN_TO_ONE_IN} of their CTAs",
    )
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--out", type=Path, help="folder for correlation.json, .csv and .png")
    args = parser.parse_args(argv)
    traces = args.traces or sorted(str(p) for p in (ROOT / "traces/data").glob("*.wft"))
    try:
        if args.out:
            plotter()  # what is missing is missed before the simulations
            args.out.mkdir(parents=True, exist_ok=True)
        points = correlate_all(traces, args)
        if not points:
            raise BadInput("no trace has measured times")
        overall, chosen = summary(points), picks(points)
        print(text_of(points, overall, chosen))
        if args.out:
            result = {
                "schema": SCHEMA,
                "gpu": args.gpu,
                "launch_us": args.launch_us,
                "summary": overall,
                "groups": groups(points),
                "thresholds": chosen,
                "points": points,
            }
            whole_file.write(args.out / "correlation.json", json.dumps(result, indent=1) + "\n")
            rows = ["trace,policy,cycles,modelled_ms,measured_ms"]
            rows += [
                f"{p['trace']},{p['policy']},{p['cycles']},{p['modelled_ms']:.6f},{p['measured_ms']:.6f}"
                for p in points
            ]
            whole_file.write(args.out / "correlation.csv", "\n".join(rows) + "\n")
            draw(points, args.out / "correlation.png")
    except (BadInput, OSError) as error:
        print(f"correlate.py: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    guard.end("correlate.py", main)
