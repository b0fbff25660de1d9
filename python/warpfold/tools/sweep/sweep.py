# SPDX-License-Identifier: Apache-2.0
"""Simulates every combination of traces, machines, policies and parameters that a sweep file asks for, and
puts the results into one table.

    scripts/sweep.sh [--cores N | --slurm [--jobs N]] [--output DIR] FILE.yaml

python/warpfold/tools/sweep/README.md describes the file, the table and what happens to failures and interruptions.
"""

import argparse
import fcntl
import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import asdict
from pathlib import Path

from ..base import guard
from ..base.places import tool
from ..base.progress import Progress
from . import plan as planning, table

HERE = Path(__file__).resolve().parent

ROOT = planning.ROOT
DONE, FAILED, BAD_INPUT = 0, 1, 2


class Parser(argparse.ArgumentParser):
    """Says what is wrong in one line."""

    def error(self, message):
        print(f"{Path(self.prog).name}: {' '.join(message.split())} (see --help)", file=sys.stderr)
        sys.exit(BAD_INPUT)


def positive(text):
    value = int(text)
    if value < 1:
        raise ValueError
    return value


def parse(arguments):
    parser = Parser(
        prog="scripts/sweep.sh",
        description="Simulate what a sweep file asks for; one table.",
        epilog="Example: scripts/sweep.sh --cores 2 examples/sweep/thresholds.yaml. "
        "Exit code: 0 done, 1 a point failed, 2 bad usage or bad input.",
    )
    parser.add_argument("file", metavar="FILE.yaml", help="sweep file; see python/warpfold/tools/sweep/README.md")
    where = parser.add_mutually_exclusive_group()
    where.add_argument(
        "--cores",
        type=positive,
        metavar="N",
        default=os.cpu_count(),
        help="simulations at once on this machine [%(default)s]",
    )
    where.add_argument(
        "--slurm",
        action="store_true",
        help="a job for each simulation on a Slurm cluster; "
        "sbatch takes partition and account from SBATCH_PARTITION and SBATCH_ACCOUNT",
    )
    parser.add_argument(
        "--jobs", type=positive, metavar="N", default=100, help="with --slurm: jobs in the queue at once [%(default)s]"
    )
    parser.add_argument("--output", metavar="DIR", help="folder of the table [results/sweep/NAME OF THE FILE]")
    parser.add_argument("--dry-run", action="store_true", help="list the points and simulate none")
    return parser.parse_args(arguments)


class Sweep:
    """A planned sweep: its points and where everything goes."""

    def __init__(self, file, output=None, simulator=None):
        file = Path(file)
        document = planning.load(file)
        self.simulator = str(
            Path(simulator or os.environ.get("WARPFOLD") or ROOT / "build/release/model/warpfold").resolve()
        )
        if not Path(self.simulator).is_file():
            raise planning.PlanError(f"no {self.simulator}; build first, or set WARPFOLD to the command")
        policies = planning.list_policies(self.simulator)
        try:
            self.points = planning.expand(document, file.resolve().parent, self.simulator, policies)
        except planning.PlanError as error:
            raise planning.PlanError(f"{file}: {error}") from None
        self.memory_mb = document["memory_mb"]
        self.folder = Path(output).resolve() if output else ROOT / "results/sweep" / file.stem
        # Shared by all sweeps: what one has simulated no other simulates again.
        self.cache = Path(os.environ.get("WARPFOLD_POINTS") or ROOT / "results/points").resolve()
        self.errors = self.folder / "errors"
        self.plan = self.folder / "plan.json"
        self.log = self.folder / "snakemake.log"

    def write(self):
        self.errors.mkdir(parents=True, exist_ok=True)
        self.cache.mkdir(parents=True, exist_ok=True)
        plan = {
            "simulator": self.simulator,
            "cache": str(self.cache),
            "errors": str(self.errors),
            "memory_mb": self.memory_mb,
            "run": tool("sweep.point"),
            "points": [asdict(point) for point in self.points],
        }
        self.plan.write_text(json.dumps(plan, indent=1), encoding="utf-8")

    def result_file(self, point):
        return self.cache / f"{point.id}.json"

    def missing(self):
        return [point for point in self.points if not self.result_file(point).exists()]

    def results(self):
        """(simulated, left out): lists of (point, result)."""
        simulated, left_out = [], []
        for point in self.points:
            if self.result_file(point).exists():
                result = json.loads(self.result_file(point).read_text(encoding="utf-8"))
                (simulated if "run" in result else left_out).append((point, result))
        return simulated, left_out

    def failure(self, point):
        """One line."""
        file = self.errors / f"{point.id}.txt"
        reason = file.read_text(encoding="utf-8").strip() if file.exists() else f"was not run; see {self.log}"
        # The line of the simulator begins with most of this.
        return (
            f"{Path(point.trace).stem} {Path(point.machine).stem} {point.policy} "
            + (f"{table.settings(point)} " if point.set else "")
            + f"({point.unit_kind}): {reason}"
        )


def snakemake_command(sweep, options):
    command = [
        "snakemake",
        "--snakefile",
        str(HERE / "Snakefile"),
        "--directory",
        str(sweep.folder),
        "--config",
        f"plan={sweep.plan}",
        "--keep-going",
        "--rerun-incomplete",
        "--rerun-triggers",
        "mtime",
        # The sweep's folder has a lock that ends with its process.
        "--nolock",
        "--nocolor",
    ]
    if options.slurm:
        return [*command, "--profile", str(HERE / "slurm"), "--jobs", str(options.jobs)]
    return [*command, "--cores", str(options.cores)]


def run_workflow(sweep, options, lock):
    """Until every point has a result or has failed. Ctrl-C and SIGTERM end the jobs, too."""
    # What was there before took no time.
    there = len(sweep.points) - len(sweep.missing())
    progress = Progress(len(sweep.points) - there, "points")
    with open(sweep.log, "w", encoding="utf-8") as log:
        try:
            # A session of its own: a Ctrl-C reaches it once, from here.
            child = subprocess.Popen(
                snakemake_command(sweep, options),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                pass_fds=[lock.fileno()],
                # Jobs elsewhere go on without it; those of this machine do not (point.py).
                preexec_fn=None if options.slurm else guard.die_with_parent,
                env=os.environ if options.slurm else {**os.environ, planning.SWEEP_PROCESS: str(os.getpid())},
            )
        except FileNotFoundError:
            raise planning.PlanError("no snakemake; it is in Debian's package snakemake") from None

        stopped = []

        def stop(number, _frame):
            stopped.append(number)
            if options.slurm:
                child.send_signal(signal.SIGINT)  # it cancels its jobs
            else:
                os.killpg(child.pid, signal.SIGINT if len(stopped) == 1 else signal.SIGKILL)

        before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
        try:
            while True:
                try:
                    child.wait(timeout=0.5)
                    break
                except subprocess.TimeoutExpired:
                    progress.at(progress.total - len(sweep.missing()))
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
            progress.wipe()
    return stopped[0] if stopped else 0


def report(sweep, stopped):
    simulated, left_out = sweep.results()
    target = sweep.folder / "table.csv"
    table.write_csv(target, table.rows(simulated))
    for point, result in left_out:
        print(f"left out: {result['left_out']}")
    missing = sweep.missing()
    for point in missing:
        if not stopped or (sweep.errors / f"{point.id}.txt").exists():
            print(f"sweep.sh: failed: {sweep.failure(point)}", file=sys.stderr)
    print(f"{target}: {len(simulated)} of {len(sweep.points) - len(left_out)} points")
    if stopped:
        print("sweep.sh: interrupted; the same command goes on from here", file=sys.stderr)
        return 128 + stopped
    return FAILED if missing else DONE


def run(sweep, options):
    sweep.folder.mkdir(parents=True, exist_ok=True)
    with open(sweep.folder / "lock", "w", encoding="ascii") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise planning.PlanError(f"{sweep.folder}: a sweep is at work there") from None
        sweep.write()
        stopped = 0
        if sweep.missing():
            for point in sweep.missing():
                (sweep.errors / f"{point.id}.txt").unlink(missing_ok=True)
            began = time.monotonic()
            todo = len(sweep.missing())
            stopped = run_workflow(sweep, options, lock)
            print(f"{todo - len(sweep.missing())} points simulated in {time.monotonic() - began:.0f} s")
        return report(sweep, stopped)


def main(arguments):
    options = parse(arguments)
    try:
        sweep = Sweep(options.file, options.output)
        if options.dry_run:
            for point in sweep.points:
                state = "done" if sweep.result_file(point).exists() else "to do"
                print(f"{state:5}  {point.id}")
            return DONE
        return run(sweep, options)
    except planning.PlanError as error:
        print(f"sweep.sh: {error}", file=sys.stderr)
        return BAD_INPUT
    except OSError as error:
        print(f"sweep.sh: {error.filename or ''}: {error.strerror}", file=sys.stderr)
        return BAD_INPUT


if __name__ == "__main__":
    guard.end("sweep.sh", main, sys.argv[1:])
