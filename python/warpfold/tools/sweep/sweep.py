# SPDX-License-Identifier: Apache-2.0
"""Simulates every combination of traces, machines, policies and parameters that a sweep file asks for, and puts the
results into one table: `warpfold sweep`. docs/simulate.md describes the file, the table, and what happens to failures
and interruptions."""

import argparse
import fcntl
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import FrameType
from typing import IO

from ..base.errors import BadInput
from ..base.parser import Parser
from ..base.places import tool, warpfold
from ..base.processes import die_with_parent, missing
from ..base.progress import Progress
from . import plan as planning, table
from .plan import Point

HERE = Path(__file__).resolve().parent

DONE, FAILED = 0, 1
POINTS = ".points"


def positive(text: str) -> int:
    value = int(text)
    if value < 1:
        raise ValueError
    return value


def options(parser: Parser) -> None:
    parser.add_argument("file", metavar="FILE.yaml", type=Path, help="Sweep file (docs/simulate.md)")
    where = parser.add_mutually_exclusive_group()
    where.add_argument(
        "--cores", type=positive, metavar="N", help="Simulations at once on this machine; else all cores"
    )
    where.add_argument(
        "--slurm",
        action="store_true",
        help="A job of a Slurm cluster for each simulation; partition and account are those of SBATCH_PARTITION and "
        "SBATCH_ACCOUNT",
    )
    parser.add_argument("--jobs", type=positive, metavar="N", default=100, help="Jobs in the queue at once")
    parser.add_argument(
        "--output", metavar="DIR", type=Path, help="Folder of the table; else results/sweep/NAME OF FILE"
    )
    parser.add_argument("--dry-run", action="store_true", help="List the points and simulate none")
    parser.footer(
        "Example: thresholds of both kinds of software reduction, two simulations at once\n"
        "  warpfold sweep --cores 2 thresholds.yaml\n\n"
        "Exit code: 0 done, 1 a point failed, 2 bad usage or bad input."
    )


class Sweep:
    """A planned sweep: its points and where everything goes."""

    def __init__(self, file: Path, output: Path | None = None) -> None:
        document = planning.load(file)
        simulator = planning.Simulator(warpfold())
        try:
            self.points = planning.expand(document, file.resolve().parent, simulator)
        except BadInput as error:
            raise BadInput(f"{file}: {error}") from None
        self.simulator = simulator.path
        self.memory_mb = document["memory_mb"]
        self.folder = (output or Path("results/sweep") / file.stem).resolve()
        # Shared by all sweeps: what one has simulated no other simulates again.
        self.cache = Path(os.environ.get("WARPFOLD_POINTS") or "results/points").resolve()
        self.errors = self.folder / "errors"
        self.plan = self.folder / "plan.json"
        self.log = self.folder / "snakemake.log"

    def write(self) -> None:
        self.errors.mkdir(parents=True, exist_ok=True)
        self.cache.mkdir(parents=True, exist_ok=True)
        # The workflow has its names from the sweep's folder: braces in one would be a pattern.
        link = self.folder / POINTS
        if link.is_symlink():
            link.unlink()
        link.symlink_to(self.cache)
        plan = {
            "simulator": self.simulator,
            "cache": POINTS,
            "errors": str(self.errors),
            "memory_mb": self.memory_mb,
            "run": tool("sweep-point"),
            "points": [planning.to_json(point) for point in self.points],
        }
        self.plan.write_text(json.dumps(plan, indent=1), encoding="utf-8")

    def result_file(self, point: Point) -> Path:
        return self.cache / f"{point.id}.json"

    def missing(self) -> list[Point]:
        return [point for point in self.points if not self.result_file(point).exists()]

    def results(self) -> tuple[table.Results, table.Results]:
        """(simulated, left out): lists of (point, result)."""
        simulated: table.Results = []
        left_out: table.Results = []
        for point in self.points:
            if self.result_file(point).exists():
                result = json.loads(self.result_file(point).read_text(encoding="utf-8"))
                (simulated if "run" in result else left_out).append((point, result))
        return simulated, left_out

    def failure(self, point: Point) -> str:
        """One line."""
        file = self.errors / f"{point.id}.txt"
        reason = file.read_text(encoding="utf-8").strip() if file.exists() else f"was not run; see {self.log}"
        # The line of the simulator begins with most of this.
        return (
            f"{Path(point.trace).stem} {Path(point.machine).stem} {point.policy} "
            + (f"{table.settings(point)} " if point.set else "")
            + f"({point.unit_kind}): {reason}"
        )


def snakemake_command(sweep: Sweep, arguments: argparse.Namespace) -> list[str]:
    command = [
        "snakemake",
        "--snakefile",
        str(HERE / "Snakefile"),
        "--directory",
        str(sweep.folder),
        "--config",
        f"plan={sweep.plan.name}",
        "--keep-going",
        "--rerun-incomplete",
        "--rerun-triggers",
        "mtime",
        # The sweep's folder has a lock that ends with its process.
        "--nolock",
        "--nocolor",
    ]
    if arguments.slurm:
        return [*command, "--profile", str(HERE / "slurm"), "--jobs", str(arguments.jobs)]
    return [*command, "--cores", str(arguments.cores or os.cpu_count())]


def run_workflow(sweep: Sweep, arguments: argparse.Namespace, lock: IO[str]) -> int:
    """Until every point has a result or has failed. Ctrl-C and SIGTERM end the jobs, too."""
    # What was there before took no time.
    there = len(sweep.points) - len(sweep.missing())
    progress = Progress(len(sweep.points) - there, "points")
    with open(sweep.log, "w", encoding="utf-8") as log:
        try:
            # A session of its own: a Ctrl-C reaches it once, from here.
            child = subprocess.Popen(
                snakemake_command(sweep, arguments),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                pass_fds=[lock.fileno()],
                # Jobs elsewhere go on without it; those of this machine do not (point.py).
                preexec_fn=None if arguments.slurm else die_with_parent,
                env=os.environ if arguments.slurm else {**os.environ, planning.SWEEP_PROCESS: str(os.getpid())},
            )
        except FileNotFoundError:
            raise BadInput(missing("snakemake")) from None

        stopped: list[int] = []

        def stop(number: int, _frame: FrameType | None) -> None:
            stopped.append(number)
            if arguments.slurm:
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


def report(sweep: Sweep, stopped: int) -> int:
    simulated, left_out = sweep.results()
    target = sweep.folder / "table.csv"
    table.write_csv(target, table.rows(simulated))
    for _, result in left_out:
        print(f"left out: {result['left_out']}")
    missing = sweep.missing()
    for point in missing:
        if not stopped or (sweep.errors / f"{point.id}.txt").exists():
            print(f"warpfold sweep: failed: {sweep.failure(point)}", file=sys.stderr)
    print(f"{target}: {len(simulated)} of {len(sweep.points) - len(left_out)} points")
    if stopped:
        print("warpfold sweep: interrupted; the same command goes on from here", file=sys.stderr)
        return 128 + stopped
    return FAILED if missing else DONE


def simulate(sweep: Sweep, arguments: argparse.Namespace) -> int:
    sweep.folder.mkdir(parents=True, exist_ok=True)
    with open(sweep.folder / "lock", "w", encoding="ascii") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise BadInput(f"{sweep.folder}: a sweep is at work there") from None
        sweep.write()
        stopped = 0
        if sweep.missing():
            for point in sweep.missing():
                (sweep.errors / f"{point.id}.txt").unlink(missing_ok=True)
            began = time.monotonic()
            todo = len(sweep.missing())
            stopped = run_workflow(sweep, arguments, lock)
            print(f"{todo - len(sweep.missing())} points simulated in {time.monotonic() - began:.0f} s")
        return report(sweep, stopped)


def run(arguments: argparse.Namespace) -> int:
    sweep = Sweep(arguments.file, arguments.output)
    if arguments.dry_run:
        for point in sweep.points:
            state = "done" if sweep.result_file(point).exists() else "to do"
            print(f"{state:5}  {point.id}")
        return DONE
    return simulate(sweep, arguments)
