#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What each kind of the reduction unit does to a whole GPU: speedup of arc-hw over the baseline for every
trace and machine, one row a trace, beside the kind's transistors.

    scripts/unit_kinds.py [--markdown] [TRACE...]               default: the shipped traces
    scripts/unit_kinds.py --gpu rtx4090,my.toml --kind fused TRACE
    scripts/unit_kinds.py --show                                what is there, nothing simulated

Golden unit; every simulation is a process of its own, --jobs of them at once. What is finished is kept in a
file (--points), so that a run that was stopped goes on where it was. A point counts for the trace, the
machine file and the program that it was simulated with; others are simulated again.

Exit 1: a simulation failed or its checks did not hold; the others are in the table. Exit 2: bad usage.
"""

import argparse
import concurrent.futures
import hashlib
import json
import math
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
COMMAND = Path(os.environ.get("WARPFOLD", ROOT / "build/release/model/warpfold"))
SCHEMA = "warpfold.unit_kinds/1"


def refuse(message):
    print(f"unit_kinds.py: {message}", file=sys.stderr)
    sys.exit(2)


class Parser(argparse.ArgumentParser):
    """Says what is wrong in one line."""

    def error(self, message):
        refuse(f"{message} (see --help)")


@dataclass(frozen=True)
class Point:
    """One simulation. The baseline has no reduction unit, so it is simulated once for all kinds."""

    trace: str
    gpu: str
    kind: str  # "" for the baseline

    def command(self, result):
        policy = ["--policy", "arc-hw", "--unit-kind", self.kind] if self.kind else ["--policy", "baseline"]
        return [str(COMMAND), "sim", self.trace, "--gpu", self.gpu, *policy, "--unit", "golden", "--jobs", "1",
                "--json", str(result)]

    def __str__(self):
        return f"{Path(self.trace).name} on {machine_name(self.gpu)}, {self.kind or 'baseline'}"


def machine_name(gpu):
    return Path(gpu).stem


def shipped_traces():
    manifest = json.loads((ROOT / "traces/data/MANIFEST.json").read_text(encoding="utf-8"))
    return [str(ROOT / "traces/data" / entry["file"]) for entry in manifest["traces"]]


def kind_transistors():
    """kind -> transistors of what ARC adds, as recorded by scripts/synth.sh."""
    rows = json.loads((ROOT / "synth/baseline.json").read_text(encoding="utf-8"))["rows"]
    return {row["kind"]: row["transistors"] for row in rows if "kind" in row and "left_out" in row}


# ------------------------------------------------------------------------------------------------
# Finished points
# ------------------------------------------------------------------------------------------------

class Points:
    """Cycles of finished points, in a file that is always whole."""

    def __init__(self, path, any_build):
        self.path = Path(path)
        self.hashes = {}
        self.any_build = any_build
        self.program = self.hash_of(COMMAND)
        self.cycles = {}
        try:
            text = self.path.read_text(encoding="utf-8")
        except FileNotFoundError:
            return
        except OSError as error:
            refuse(f"{path}: {error.strerror}")
        try:
            content = json.loads(text)
            if content["schema"] != SCHEMA:
                raise ValueError
            self.cycles = {entry["key"]: entry for entry in content["points"]}
        except (ValueError, KeyError, TypeError):
            refuse(f"{path} is no file of finished points")

    def hash_of(self, path):
        path = str(path)
        if path not in self.hashes:
            try:
                self.hashes[path] = hashlib.sha256(Path(path).read_bytes()).hexdigest()[:16]
            except OSError as error:
                refuse(f"{path}: {error.strerror}")
        return self.hashes[path]

    def key(self, point):
        machine = point.gpu if point.gpu.endswith(".toml") else ROOT / f"model/gpus/{point.gpu}.toml"
        return " ".join([self.hash_of(point.trace), machine_name(point.gpu), self.hash_of(machine),
                         point.kind or "baseline"])

    def get(self, point):
        entry = self.cycles.get(self.key(point))
        return entry["cycles"] if entry and (self.any_build or entry["program"] == self.program) else None

    def put(self, point, cycles, seconds):
        key = self.key(point)
        self.cycles[key] = {"key": key, "point": str(point), "cycles": cycles, "program": self.program,
                            "seconds": round(seconds, 1)}
        content = {"schema": SCHEMA, "points": [self.cycles[name] for name in sorted(self.cycles)]}
        self.path.parent.mkdir(parents=True, exist_ok=True)
        part = self.path.with_name(self.path.name + ".part")
        part.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
        os.replace(part, self.path)


def simulate(point):
    """(cycles, seconds), or the text of what went wrong."""
    with tempfile.TemporaryDirectory() as folder:
        result = Path(folder) / "run.json"
        done = subprocess.run(point.command(result), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                              check=False)
        if done.returncode != 0:
            return done.stderr.strip().splitlines()[-1] if done.stderr.strip() else f"exit {done.returncode}"
        run = json.loads(result.read_text(encoding="utf-8"))["runs"][0]
    if not (run["sums_match"] and run["conserved"]):
        return "its checks do not hold"
    return run["cycles"], run["wall_seconds"]


def simulate_all(wanted, points, jobs):
    """Simulates what is not there yet. Number of failures."""
    left = [point for point in wanted if points.get(point) is None]
    # The largest first, so that no core is left with one at the end.
    left.sort(key=lambda point: -Path(point.trace).stat().st_size)
    failures = 0
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        futures = {pool.submit(simulate, point): point for point in left}
        try:
            for done, future in enumerate(concurrent.futures.as_completed(futures), 1):
                point, result = futures[future], future.result()
                if isinstance(result, str):
                    print(f"unit_kinds.py: {point}: {result}", file=sys.stderr)
                    failures += 1
                    continue
                points.put(point, *result)
                if sys.stderr.isatty():
                    print(f"{done}/{len(left)} {point}: {result[0]:,} cycles, {result[1]:.0f} s", file=sys.stderr)
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
    return failures


# ------------------------------------------------------------------------------------------------
# Table
# ------------------------------------------------------------------------------------------------

def speedup(points, trace, gpu, kind):
    baseline, cycles = points.get(Point(trace, gpu, "")), points.get(Point(trace, gpu, kind))
    return baseline / cycles if baseline and cycles else None


def table(points, traces, gpus, kinds, transistors):
    """Rows of cells: two of head, one a trace, one of geometric means where every trace is there."""
    head = ["trace"] + [f"{kind} {machine_name(gpu)}" for kind in kinds for gpu in gpus]
    rows = [["transistors"] + [f"{transistors[kind]:,}" if gpu == gpus[0] else "" for kind in kinds for gpu in gpus]]
    columns = [[speedup(points, trace, gpu, kind) for trace in traces] for kind in kinds for gpu in gpus]
    for index, trace in enumerate(traces):
        rows.append([Path(trace).stem] + ["-" if column[index] is None else f"{column[index]:.2f}" for column in columns])
    if len(traces) > 1:
        rows.append(["geometric mean"] + ["-" if None in column else
                                          f"{math.exp(sum(map(math.log, column)) / len(column)):.2f}"
                                          for column in columns])
    return head, rows


def print_table(head, rows, markdown):
    if markdown:
        print("| " + " | ".join(head) + " |")
        print("|---|" + "---:|" * (len(head) - 1))
        for row in rows:
            print("| " + " | ".join(row) + " |")
        return
    # The head in two lines, kind above machine.
    lines = [[cell.partition(" ")[part] for cell in head] for part in (0, 2)]
    lines[0][1:] = [kind if kind != before else "" for before, kind in zip([""] + lines[0][1:], lines[0][1:])]
    widths = [max(len(row[index]) for row in (*lines, *rows)) for index in range(len(head))]
    for row in (*lines, *rows):
        cells = [cell.ljust(width) if index == 0 else cell.rjust(width)
                 for index, (cell, width) in enumerate(zip(row, widths))]
        print("  ".join(cells).rstrip())


def parse_arguments(arguments):
    parser = Parser(prog="unit_kinds.py", description="Speedup of arc-hw over the baseline with each kind of unit.",
                    formatter_class=argparse.RawDescriptionHelpFormatter, epilog=__doc__.partition("\n\n")[2])
    parser.add_argument("traces", nargs="*", metavar="TRACE", help="default: the shipped traces")
    parser.add_argument("--gpu", default="rtx4090,rtx3060,h200", help="machines, comma-separated")
    parser.add_argument("--kind", default=",".join(kind_transistors()), help="kinds of unit, comma-separated")
    parser.add_argument("--jobs", type=int, default=2, help="simulations at once (2)")
    parser.add_argument("--points", metavar="FILE", default=str(ROOT / "out/unit_kinds.json"),
                        help="finished points (out/unit_kinds.json)")
    parser.add_argument("--any-build", action="store_true", help="take points of another build of the program too")
    parser.add_argument("--show", action="store_true", help="simulate nothing: '-' stands for what is not there")
    parser.add_argument("--markdown", action="store_true", help="the table as Markdown")
    args = parser.parse_args(arguments)
    args.gpus, args.kinds = args.gpu.split(","), args.kind.split(",")
    unknown = [kind for kind in args.kinds if kind not in kind_transistors()]
    if unknown:
        parser.error(f"no kind '{unknown[0]}'; there are: {' '.join(kind_transistors())}")
    if args.jobs < 1:
        parser.error(f"--jobs must be at least 1, not {args.jobs}")
    args.traces = args.traces or shipped_traces()
    return args


def main(arguments):
    args = parse_arguments(arguments)
    if not COMMAND.exists():
        refuse(f"no {COMMAND}; build first, or set WARPFOLD to the command")
    points = Points(args.points, args.any_build)
    wanted = [Point(trace, gpu, kind) for trace in args.traces for gpu in args.gpus for kind in ["", *args.kinds]]
    for point in wanted:  # a file that cannot be read is told of before anything is simulated
        points.key(point)
    failures = 0 if args.show else simulate_all(wanted, points, args.jobs)
    print_table(*table(points, args.traces, args.gpus, args.kinds, kind_transistors()), args.markdown)
    return 1 if failures else 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
