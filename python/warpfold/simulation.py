# SPDX-License-Identifier: Apache-2.0
"""`warpfold sim` and `warpfold record`, called from Python."""

import json
import os
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from .errors import Error
from .rows import columns, flat
from .tools.base.places import warpfold
from .trace import Trace

# A path as a caller has it.
Name = str | os.PathLike[str]


@dataclass(frozen=True)
class Run:
    """One simulation. run["stalls.subcore_cycles.memory_queue"] is any number of the results file."""

    trace: str  # path
    gpu: str
    policy: str  # without its threshold
    threshold: int | None  # active lanes that a reduction in software wants, 0 to 32
    unit_kind: str
    cycles: int  # SM cycles of the launch
    speedup: float | None  # over the baseline of the same call; None where it was not simulated
    rop_ops: int  # additions in the L2
    checked: bool  # all sums are right and every lane was added once
    row: Mapping[str, Any] = field(repr=False)  # all of it, keys as in docs/results-file.md

    def __getitem__(self, key: str) -> Any:
        return self.row[key]


class Runs(list[Run]):
    """The simulations of a call, by GPU, then by policy: a list that can do more."""

    def of(self, policy: str, gpu: str | None = None) -> "Runs":
        """Those of a policy, whatever its threshold."""
        return Runs(run for run in self if run.policy == policy and gpu in (None, run.gpu))

    def columns(self) -> dict[str, NDArray[Any]]:
        """All numbers as NumPy arrays, an entry for each run; `threshold` among them."""
        return columns([{**run.row, "policy": run.policy, "threshold": run.threshold} for run in self])

    def frame(self) -> Any:
        """The same as a pandas.DataFrame."""
        import pandas

        return pandas.DataFrame(self.columns())

    def __repr__(self) -> str:
        lines = [f"{'policy':14} {'gpu':12} {'cycles':>14} {'speedup':>8}"]
        for run in self:
            name = run.policy if run.threshold is None else f"{run.policy}:{run.threshold}"
            speedup = "" if run.speedup is None else f"{run.speedup:.2f}"
            lines.append(f"{name:14} {Path(run.gpu).stem:12} {run.cycles:>14,} {speedup:>8}".rstrip())
        return "\n".join(lines)


def simulate(
    trace: Name | Trace,
    gpu: str | Iterable[str] = "rtx4090",
    policies: str | Iterable[str] = "all",
    set: Mapping[str, Any] | None = None,
    unit: str = "golden",
    unit_kind: str = "serial",
    jobs: int | None = None,
) -> Runs:
    """Simulates a trace on GPUs, one run for each policy.

    gpu: names of `warpfold gpus`, or .toml files. policies: those of `warpfold policies`, thresholds behind a colon.
    set: other values for parameters of the GPUs, {"lab.bytes": 65536}. unit: golden or rtl, which give the same results.
    jobs: simulations at once; else one for each core. Raises Error, with the command's line, where that fails.
    """
    path = trace.path if isinstance(trace, Trace) else os.fspath(trace)
    words = [
        "sim",
        path,
        "--gpu",
        _listed(gpu),
        "--policy",
        _listed(policies),
        "--unit",
        unit,
        "--unit-kind",
        unit_kind,
    ]
    for key, value in (set or {}).items():
        words += ["--set", f"{key}={value}"]
    if jobs is not None:
        words += ["--jobs", str(jobs)]
    return Runs(_run_of(flat(run)) for run in json.loads(_output([*words, "--json", "-"]))["runs"])


def record(
    program: Iterable[Name], out: Name = ".", kernel: str | None = None, launch: int | str = 1, every: int = 1
) -> list[Trace]:
    """Records the atomic additions of a CUDA program, unchanged: its traces, which lie in the folder `out`.

    program: the command and its arguments. kernel: a regular expression for names of kernels; else all that add.
    launch: which launch of each, or "all". every: of so many CTAs one. Raises Error where the command fails.
    """
    folder = Path(out)
    before = _written(folder)
    words = ["record", "--out", str(folder), "--launch", str(launch), "--every", str(every)]
    words += ["--kernel", kernel] if kernel is not None else []
    _output([*words, "--", *(os.fspath(word) for word in program)])
    return [Trace(path) for path, when in _written(folder).items() if before.get(path) != when]


def sample(trace: Name | Trace, every: int, out: Name) -> Trace:
    """Writes a trace with one of `every` CTAs, which simulates in about so much less time, on that part of the GPU."""
    path = trace.path if isinstance(trace, Trace) else os.fspath(trace)
    _output(["trace", "sample", path, os.fspath(out), "--every", str(every)])
    return Trace(out)


def _written(folder: Path) -> dict[Path, int]:
    """When each trace was written."""
    return {path: path.stat().st_mtime_ns for path in sorted(folder.glob("*.wft"))}


def _listed(names: str | Iterable[str]) -> str:
    return names if isinstance(names, str) else ",".join(names)


def _output(words: list[str]) -> str:
    command = str(warpfold())
    try:
        done = subprocess.run([command, *words], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    except OSError as error:
        raise Error(f"{command}: {error.strerror}; WARPFOLD may name the command") from None
    if done.returncode != 0:
        said = done.stderr.strip().splitlines()
        raise Error(said[-1].removeprefix("warpfold: ") if said else f"{command} ended with {done.returncode}")
    return done.stdout


def _run_of(row: dict[str, Any]) -> Run:
    policy, _, threshold = row["policy"].partition(":")
    return Run(
        row["trace"],
        row["gpu"],
        policy,
        int(threshold) if threshold else None,
        row["unit_kind"],
        row["cycles"],
        row["speedup"],
        row["rop_ops"],
        row["sums_match"] and row["conserved"],
        row,
    )
