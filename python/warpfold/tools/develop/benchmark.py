# SPDX-License-Identifier: Apache-2.0
"""Speed of the simulator: warp-atomics and GPU cycles per second of wall time, and peak memory.

It runs `warpfold sim` one simulation at a time, several times, and prints the median with the spread. Wall time is that
of the simulation itself, without reading the reference sums of the trace."""

import argparse
import os
import platform
import statistics
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from ..base import files
from ..base.errors import BadInput, ToolFailed
from ..base.parser import Parser
from ..base.places import TRACES, warpfold
from ..base.progress import Progress

# One simulation, as the results file has it.
Run = dict[str, Any]


def count(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"is {number}, must be at least 1")
    return number


def counts(text: str) -> list[int]:
    return [count(number) for number in text.split(",")]


def simulate(arguments: argparse.Namespace, policy: str, unit: str, threads: int, clock_all: bool = False) -> Run:
    """One run: the entry of the results file (schema warpfold.sim/1), and the peak memory in bytes.

    The memory is that of the largest process: of the command and the child that simulates.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "r.json")
        command = [
            arguments.warpfold,
            "sim",
            arguments.trace,
            "--gpu",
            arguments.gpu,
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
                complaint = f"{' '.join(map(str, command))}: {errors.read().strip()}"
                raise BadInput(complaint) if process.returncode == 2 else ToolFailed(complaint)
        result: Run = files.read_json(path)["runs"][0]
        result["peak_memory_bytes"] = usage.ru_maxrss * 1024
        return result


def options(parser: Parser) -> None:
    parser.add_argument("trace", nargs="?", type=Path, default=TRACES / "truck.wft", help="What is simulated")
    parser.add_argument("--warpfold", metavar="FILE", type=Path, help="Another command than that of the build")
    parser.add_argument("--gpu", metavar="GPU", default="rtx4090", help="On which GPU")
    parser.add_argument("--policies", metavar="LIST", default="baseline,arc-hw", help="Under which policies")
    parser.add_argument(
        "--threads",
        type=counts,
        metavar="N,...",
        help="Host threads of a simulation, a row for each number; else 1 and all cores",
    )
    parser.add_argument("-n", "--runs", type=count, metavar="N", default=5, help="Counted runs, after one warm-up")
    parser.add_argument(
        "--reference", action="store_true", help="Beside each row a run that clocks every block in every cycle"
    )
    parser.add_argument("--json", metavar="FILE", help="Also write the rows to this file")


def run(arguments: argparse.Namespace) -> int:
    arguments.threads = arguments.threads or sorted({1, os.cpu_count() or 1})
    arguments.warpfold = arguments.warpfold or warpfold()
    for path in (arguments.trace, arguments.warpfold):
        if not path.exists():
            raise BadInput(f"{path}: no such file")
    print(
        f"{platform.machine()}, {os.cpu_count()} cores; {arguments.trace} on {arguments.gpu}, "
        f"median of {arguments.runs} (min..max)"
    )
    row = "{:<10} {:<12} {:>7} {:>30} {:>26} {:>8} {:>5}"
    print(row.format("policy", "unit", "threads", "warp-atomics/s", "GPU cycles/s", "seconds", "MiB"))
    policies = arguments.policies.split(",")
    of_unit = 1 + arguments.runs * len(arguments.threads) + (1 if arguments.reference else 0)
    # Only arc-hw has a reduction unit.
    units = {policy: ("golden", "rtl") if policy == "arc-hw" else ("golden",) for policy in policies}
    progress = Progress(sum(map(len, units.values())) * of_unit, "runs")
    rows = []
    for policy in policies:
        for unit in units[policy]:
            simulate(arguments, policy, unit, arguments.threads[0])
            progress.step()
            runs: dict[int, list[Run]] = {threads: [] for threads in arguments.threads}
            for _ in range(arguments.runs):  # in turns, so that a slow minute of the machine meets all
                for threads, own in runs.items():
                    own.append(simulate(arguments, policy, unit, threads))
                    progress.step()
            progress.wipe()
            for threads, own in runs.items():
                print(row.format(policy, unit, threads, *figures(own)), flush=True)
                rows.append(entry_of(policy, unit, threads, False, own))
            if arguments.reference:
                every = simulate(arguments, policy, unit, 1, clock_all=True)
                progress.step()
                progress.wipe()
                print(row.format(policy, f"{unit}, all", 1, *figures([every])), flush=True)
                rows.append(entry_of(policy, unit, 1, True, [every]))
    if arguments.json:
        document = {"schema": "warpfold.speed/1", "trace": str(arguments.trace), "gpu": arguments.gpu, "rows": rows}
        files.write_json(arguments.json, document, indent=1)
    return 0


def entry_of(policy: str, unit: str, threads: int, clock_all: bool, runs: list[Run]) -> dict[str, Any]:
    """A row as numbers."""
    rates = [run["warp_atomics"] / run["wall_seconds"] for run in runs]
    return {
        "policy": policy,
        "unit": unit,
        "threads": threads,
        "clock_all": clock_all,
        "runs": len(runs),
        "warp_atomics_per_second": [round(rate) for rate in (statistics.median(rates), min(rates), max(rates))],
        "mebibytes": round(max(run["peak_memory_bytes"] for run in runs) / 2**20),
    }


def figures(runs: list[Run]) -> tuple[str, str, str, str]:
    """What a row shows of runs: texts of atomics and cycles a second, seconds, mebibytes."""

    def spread(values: list[float]) -> str:
        text = f"{statistics.median(values):,.0f}"
        return text if len(values) == 1 else f"{text} ({min(values) / 1e3:,.0f}k..{max(values) / 1e3:,.0f}k)"

    return (
        spread([run["warp_atomics"] / run["wall_seconds"] for run in runs]),
        spread([run["cycles"] / run["wall_seconds"] for run in runs]),
        f"{statistics.median(run['wall_seconds'] for run in runs):.2f}",
        f"{max(run['peak_memory_bytes'] for run in runs) / 2**20:.0f}",
    )
