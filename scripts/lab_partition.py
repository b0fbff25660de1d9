#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Sweeps the part of the L1 SRAM that policy lab takes as its buffer ([lab] bytes of a machine file), and
names the best size for each trace and machine. ARC takes the best for each workload (section 6). Markdown
to stdout.

    scripts/lab_partition.py [--gpu NAME,...] [--kib N,...] [--jobs N] [TRACE...]
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
COMMAND = Path(os.environ.get("WARPFOLD", ROOT / "build/release/model/warpfold"))
KIB = 1024


def refuse(message):
    print(f"lab_partition.py: {message}", file=sys.stderr)
    sys.exit(2)


class Parser(argparse.ArgumentParser):
    """Says what is wrong in one line."""

    def error(self, message):
        refuse(f"{message} (see --help)")


def machine_text(gpu):
    file = Path(gpu) if gpu.endswith(".toml") else ROOT / f"model/gpus/{gpu}.toml"
    try:
        return file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        refuse(f"{file}: {getattr(error, 'strerror', None) or 'is not text'}")


def with_partition(text, gpu, kib):
    """The machine with another [lab] bytes, and a name that says so."""
    head, section, rest = text.partition("\n[lab]\n")
    if not section:
        refuse(f"{gpu}: has no [lab]")
    rest = re.sub(r"^bytes = \S+", f"bytes = {kib * KIB}", rest, count=1, flags=re.M)
    head = re.sub(r'^name = "[^"]*"', f'name = "lab-{kib}-kib"', head, count=1, flags=re.M)
    return head + section + rest


def sweep(trace, machines, jobs):
    """{KiB: run of the results file} of {KiB: text of the machine}."""
    with tempfile.TemporaryDirectory() as folder:
        files = []
        for kib, text in machines.items():
            files.append(Path(folder) / f"{kib}.toml")
            files[-1].write_text(text, encoding="utf-8")
        result = Path(folder) / "runs.json"
        done = subprocess.run([COMMAND, "sim", trace, "--gpu", ",".join(map(str, files)), "--policy", "lab", "--unit",
                               "golden", "--jobs", str(jobs), "--json", result], stdout=subprocess.DEVNULL, check=False)
        if done.returncode != 0:
            sys.exit(done.returncode)
        runs = json.loads(result.read_text(encoding="utf-8"))["runs"]
    return {run["config"]["lab"]["bytes"] // KIB: run for run in runs}


def main():
    parser = Parser(description="Sweep of the partition size of policy lab.")
    parser.add_argument("traces", nargs="*", metavar="TRACE", default=[str(ROOT / "traces/data/truck.wft")])
    parser.add_argument("--gpu", default="rtx4090,rtx3060,h200", help="machines, comma-separated")
    parser.add_argument("--kib", default="16,32,48,64,80,96,104,112", help="sizes in KiB, comma-separated")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="simulations at once")
    args = parser.parse_args()
    try:
        sizes = [int(size) for size in args.kib.split(",")]
    except ValueError:
        parser.error(f"--kib {args.kib}: is no list of numbers")
    if not COMMAND.exists():
        refuse(f"no {COMMAND}; build first, or set WARPFOLD to the command")
    machines = {}
    for gpu in args.gpu.split(","):
        text = machine_text(gpu)
        machines[gpu] = {size: with_partition(text, gpu, size) for size in sizes}
    for trace in args.traces:
        if not Path(trace).is_file():
            refuse(f"{trace}: no such file")
    print("| trace | machine | " + " | ".join(f"{size} KiB" for size in sizes) + " | best |")
    print("|---|---|" + "---|" * (len(sizes) + 1))
    for trace in args.traces:
        for gpu, texts in machines.items():
            runs = sweep(trace, texts, args.jobs)
            best = min(runs, key=lambda size: (runs[size]["cycles"], size))
            cells = " | ".join(f"{runs[size]['cycles']:,}" for size in sizes)
            print(f"| {Path(trace).stem} | {gpu} | {cells} | {best} KiB |", flush=True)


if __name__ == "__main__":
    main()
