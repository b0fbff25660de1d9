# SPDX-License-Identifier: Apache-2.0
"""What a unit gains: arc-hw over plain atomics on traces, beside the kinds that are built in."""

import statistics
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..base import processes
from ..base.errors import BadInput, ToolFailed
from ..base.files import read_json
from ..base.places import TRACES, warpfold

# A scene in front of a camera, an object, a texture, spheres: dense and thin warps.
SOME = ("truck-values", "lego-ballot", "bob", "spheres-small")
QUICK = ("lego-ballot",)
# The traces of the results page.
ALL = ("3D-LE-1K", "3D-LE-7K", "3D-SH-1K", "3D-SH-7K", "3D-TA")


def trace_paths(names: Sequence[str]) -> list[Path]:
    paths = [Path(name) if name.endswith(".wft") else TRACES / f"{name}.wft" for name in names]
    for path in paths:
        if not path.is_file():
            raise BadInput(f"no trace {path}")
    return paths


def every_trace() -> list[str]:
    """All shipped traces that the RTX 4090's model runs."""
    return [path.stem for path in sorted(TRACES.glob("*.wft"))]


def simulate(paths: list[Path], policy: str, options: list[str]) -> dict[str, int]:
    """Cycles by trace."""
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        done = processes.run(
            [warpfold(), "sim", *paths, "--gpu", "rtx4090", "--policy", policy, *options, "--json", file.name]
        )
        if done.returncode != 0:
            raise ToolFailed("simulation: " + (done.stderr.strip().splitlines() or ["no message"])[-1])
        runs = read_json(file.name)["runs"]
    return {Path(run["trace"]).stem: run["cycles"] for run in runs}


def gains(paths: list[Path], library: Path, divider: int | None, kinds: list[str]) -> dict[str, Any]:
    """Speedups by unit: each a mean and a value for each trace."""
    base = simulate(paths, "baseline", ["--unit", "golden"])

    def speedups(options: list[str]) -> dict[str, Any]:
        cycles = simulate(paths, "arc-hw", options)
        by_trace = {trace: round(base[trace] / cycles[trace], 4) for trace in base}
        return {"mean": round(statistics.fmean(by_trace.values()), 4), "traces": by_trace}

    result: dict[str, Any] = {
        "traces": [path.stem for path in paths],
        "unit": speedups(["--unit-library", str(library)]),
    }
    if divider and divider > 1:
        result["unit_at_its_clock"] = speedups(["--unit-library", str(library), "--unit-divider", str(divider)])
    result["kinds"] = {kind: speedups(["--unit", "golden", "--unit-kind", kind]) for kind in kinds}
    return result
