#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What each kind of the reduction unit does to a whole GPU: speedup of arc-hw over the baseline, for every
trace and machine, beside the kind's transistors. Markdown to stdout.

    scripts/unit_kinds.py [TRACE...]      default: the shipped traces
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
COMMAND = Path(os.environ.get("WARPFOLD", ROOT / "build/release/model/warpfold"))
GPUS = "rtx4090,rtx3060,h200"


def shipped_traces():
    manifest = json.loads((ROOT / "traces/data/MANIFEST.json").read_text(encoding="utf-8"))
    return [str(ROOT / "traces/data" / entry["file"]) for entry in manifest["traces"]]


def kinds():
    """(kind, transistors of what ARC adds) as recorded by scripts/synth.sh."""
    rows = json.loads((ROOT / "synth/baseline.json").read_text(encoding="utf-8"))["rows"]
    return [(row["kind"], row["transistors"]) for row in rows if "kind" in row and "left_out" in row]


def simulate(traces, kind):
    """(trace, gpu) -> speedup of arc-hw."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "runs.json"
        subprocess.run([COMMAND, "sim", *traces, "--gpu", GPUS, "--policy", "baseline,arc-hw", "--unit", "golden",
                        "--unit-kind", kind, "--json", file], check=True, stdout=subprocess.DEVNULL)
        runs = json.loads(file.read_text(encoding="utf-8"))["runs"]
    failed = [run for run in runs if not (run["sums_match"] and run["conserved"])]
    if failed:
        sys.exit(f"unit_kinds: a run of {kind} failed its checks")
    return {(run["trace"], run["gpu"]): run["speedup"] for run in runs if run["policy"] == "arc-hw"}


def main(arguments):
    if not COMMAND.exists():
        sys.exit(f"unit_kinds: no {COMMAND}; build first, or set WARPFOLD to the command")
    traces = arguments or shipped_traces()
    results = {kind: simulate(traces, kind) for kind, _ in kinds()}
    columns = list(next(iter(results.values())))
    print("| kind | transistors | " + " | ".join(f"{Path(trace).stem}, {gpu}" for trace, gpu in columns) + " |")
    print("|---|---|" + "---|" * len(columns))
    for kind, transistors in kinds():
        print(f"| {kind} | {transistors:,} | " + " | ".join(f"{results[kind][column]:.2f}" for column in columns) + " |")


if __name__ == "__main__":
    main(sys.argv[1:])
