#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Speed of the simulator: warp-atomics and GPU cycles per second of wall time, and peak memory.

Runs `warpfold sim` one simulation at a time, several times, and prints the median with the spread.
Wall time is that of the simulation itself, without reading the reference sums of the trace.
"""
import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile


def simulate(args, policy, unit):
    """One run; the entry of the results file (schema warpfold.sim/1)."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "r.json")
        command = [args.warpfold, "sim", args.trace, "--gpu", args.gpu, "--policy", policy,
                   "--unit", unit, "--jobs", "1", "--json", path]
        done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        if done.returncode != 0:
            sys.exit(f"benchmark.py: {' '.join(command)}: {done.stderr.strip()}")
        with open(path, encoding="utf-8") as file:
            return json.load(file)["runs"][0]


def main():
    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("trace", nargs="?", default=os.path.join(root, "traces/data/truck.wft"))
    parser.add_argument("--warpfold", default=os.path.join(root, "build/release/model/warpfold"))
    parser.add_argument("--gpu", default="rtx4090")
    parser.add_argument("--policies", default="baseline,arc-hw")
    parser.add_argument("-n", "--runs", type=int, default=5, help="counted runs, after one warm-up")
    args = parser.parse_args()
    for path in (args.trace, args.warpfold):
        if not os.path.exists(path):
            sys.exit(f"benchmark.py: {path}: no such file")
    print(f"{platform.machine()}, {os.cpu_count()} cores; {args.trace} on {args.gpu}, "
          f"median of {args.runs} (min..max)")
    row = "{:<10} {:<7} {:>26} {:>26} {:>12} {:>10}"
    print(row.format("policy", "unit", "warp-atomics/s", "GPU cycles/s", "seconds", "MiB"))
    for policy in args.policies.split(","):
        for unit in ("golden", "rtl"):
            simulate(args, policy, unit)
            runs = [simulate(args, policy, unit) for _ in range(args.runs)]

            def spread(values):
                return (f"{statistics.median(values):,.0f} "
                        f"({min(values) / 1e3:,.0f}k..{max(values) / 1e3:,.0f}k)")

            seconds = statistics.median(r["wall_seconds"] for r in runs)
            print(row.format(policy, unit,
                             spread([r["warp_atomics"] / r["wall_seconds"] for r in runs]),
                             spread([r["cycles"] / r["wall_seconds"] for r in runs]),
                             f"{seconds:.2f}",
                             f"{max(r['peak_memory_bytes'] for r in runs) / 2**20:.0f}"))


if __name__ == "__main__":
    main()
