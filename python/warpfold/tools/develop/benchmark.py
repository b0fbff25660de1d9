# SPDX-License-Identifier: Apache-2.0
"""Speed of the simulator: warp-atomics and GPU cycles per second of wall time, and peak memory.

Runs `warpfold sim` one simulation at a time, several times, and prints the median with the spread.
Wall time is that of the simulation itself, without reading the reference sums of the trace. --reference
adds one run each that clocks every block in every cycle.
"""
import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile

from ..base import whole_file
from ..base.places import ROOT
from ..base.progress import Progress


class Parser(argparse.ArgumentParser):
    """Says what is wrong in one line."""

    def error(self, message):
        refuse(f"{message} (see --help)")


def refuse(message):
    print(f"benchmark.py: {message}", file=sys.stderr)
    sys.exit(2)


def count(text):
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"is {number}, must be at least 1")
    return number


def counts(text):
    return [count(number) for number in text.split(",")]


def simulate(args, policy, unit, threads, clock_all=False):
    """One run: the entry of the results file (schema warpfold.sim/1), and the peak memory in bytes.

    The memory is that of the largest process: of the command and the child that simulates.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "r.json")
        command = [
            args.warpfold,
            "sim",
            args.trace,
            "--gpu",
            args.gpu,
            "--policy",
            policy,
            "--unit",
            unit,
            "--threads",
            str(threads),
            "--json",
            path,
            *["--reference"] * clock_all,
        ]
        with (
            tempfile.TemporaryFile("w+") as errors,
            subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=errors) as process,
        ):
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            if process.returncode != 0:
                errors.seek(0)
                print(f"benchmark.py: {' '.join(command)}: {errors.read().strip()}", file=sys.stderr)
                sys.exit(2 if process.returncode == 2 else 1)
        with open(path, encoding="utf-8") as file:
            run = json.load(file)["runs"][0]
        run["peak_memory_bytes"] = usage.ru_maxrss * 1024
        return run


def main():
    root = str(ROOT)
    parser = Parser(description=__doc__.splitlines()[0])
    parser.add_argument("trace", nargs="?", default=os.path.join(root, "traces/data/truck.wft"))
    parser.add_argument("--warpfold", default=os.path.join(root, "build/release/model/warpfold"))
    parser.add_argument("--gpu", default="rtx4090")
    parser.add_argument("--policies", default="baseline,arc-hw")
    parser.add_argument(
        "--threads",
        type=counts,
        default=sorted({1, os.cpu_count()}),
        metavar="N,...",
        help="host threads of a simulation; a row for each number (1 and all cores)",
    )
    parser.add_argument("-n", "--runs", type=count, default=5, help="counted runs, after one warm-up")
    parser.add_argument(
        "--reference", action="store_true", help="beside each row a run that clocks every block in every cycle"
    )
    parser.add_argument("--json", metavar="FILE", help="also write the rows to this file")
    args = parser.parse_args()
    for path in (args.trace, args.warpfold):
        if not os.path.exists(path):
            refuse(f"{path}: no such file")
    print(
        f"{platform.machine()}, {os.cpu_count()} cores; {args.trace} on {args.gpu}, "
        f"median of {args.runs} (min..max)"
    )
    row = "{:<10} {:<12} {:>7} {:>30} {:>26} {:>8} {:>5}"
    print(row.format("policy", "unit", "threads", "warp-atomics/s", "GPU cycles/s", "seconds", "MiB"))
    policies = args.policies.split(",")
    of_unit = 1 + args.runs * len(args.threads) + (1 if args.reference else 0)
    # Only arc-hw has a reduction unit.
    units = {policy: ("golden", "rtl") if policy == "arc-hw" else ("golden",) for policy in policies}
    progress = Progress(sum(map(len, units.values())) * of_unit, "runs")
    rows = []
    for policy in policies:
        for unit in units[policy]:
            simulate(args, policy, unit, args.threads[0])
            progress.step()
            runs = {threads: [] for threads in args.threads}
            for _ in range(args.runs):  # in turns, so that a slow minute of the machine meets all
                for threads, own in runs.items():
                    own.append(simulate(args, policy, unit, threads))
                    progress.step()
            progress.wipe()
            for threads, own in runs.items():
                print(row.format(policy, unit, threads, *figures(own)), flush=True)
                rows.append(entry_of(policy, unit, threads, False, own))
            if args.reference:
                run = simulate(args, policy, unit, 1, clock_all=True)
                progress.step()
                progress.wipe()
                print(row.format(policy, f"{unit}, all", 1, *figures([run])), flush=True)
                rows.append(entry_of(policy, unit, 1, True, [run]))
    if args.json:
        whole_file.write(
            args.json,
            json.dumps({"schema": "warpfold.speed/1", "trace": args.trace, "gpu": args.gpu, "rows": rows}, indent=1),
        )


def entry_of(policy, unit, threads, clock_all, runs):
    """A row as numbers."""
    rates = [run["warp_atomics"] / run["wall_seconds"] for run in runs]
    return {
        "policy": policy,
        "unit": unit,
        "threads": threads,
        "clock_all": clock_all,
        "runs": len(runs),
        "warp_atomics_per_second": [round(f(rates)) for f in (statistics.median, min, max)],
        "mebibytes": round(max(run["peak_memory_bytes"] for run in runs) / 2**20),
    }


def figures(runs):
    """What a row shows of runs: texts of atomics and cycles a second, seconds, mebibytes."""

    def spread(values):
        text = f"{statistics.median(values):,.0f}"
        return text if len(values) == 1 else f"{text} ({min(values) / 1e3:,.0f}k..{max(values) / 1e3:,.0f}k)"

    return (
        spread([run["warp_atomics"] / run["wall_seconds"] for run in runs]),
        spread([run["cycles"] / run["wall_seconds"] for run in runs]),
        f"{statistics.median(run['wall_seconds'] for run in runs):.2f}",
        f"{max(run['peak_memory_bytes'] for run in runs) / 2**20:.0f}",
    )


if __name__ == "__main__":
    from ..base import guard

    guard.end("benchmark.py", main)
