# SPDX-License-Identifier: Apache-2.0
"""What a unit gains: arc-hw over plain atomics on traces, beside the kinds that are built in."""

import json
import os
import subprocess
import tempfile
from pathlib import Path

from .build import ROOT
from .unit import BadInput, ToolFailed


DATA = ROOT / "traces/data"
# A scene in front of a camera, an object, a texture, spheres: dense and thin warps.
SOME = ("truck-values", "lego-ballot", "bob", "spheres-small")
QUICK = ("lego-ballot",)
# The traces of the results page.
ALL = ("3D-LE-1K", "3D-LE-7K", "3D-SH-1K", "3D-SH-7K", "3D-TA")


def trace_paths(names):
    paths = [Path(name) if name.endswith(".wft") else DATA / f"{name}.wft" for name in names]
    for path in paths:
        if not path.is_file():
            raise BadInput(f"no trace {path}")
    return paths


def every_trace():
    """All shipped traces that the RTX 4090's model runs."""
    return [path.stem for path in sorted(DATA.glob("*.wft"))]


def simulate(warpfold, paths, policy, options):
    """Cycles by trace."""
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        done = subprocess.run(
            [warpfold, "sim", *map(str, paths), "--gpu", "rtx4090", "--policy", policy, *options, "--json", file.name],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
        if done.returncode != 0:
            raise ToolFailed("simulation: " + (done.stderr.strip().splitlines() or ["no message"])[-1])
        runs = json.loads(Path(file.name).read_text(encoding="utf-8"))["runs"]
    return {Path(run["trace"]).stem: run["cycles"] for run in runs}


def mean(values):
    values = list(values)
    return sum(values) / len(values) if values else None


def gains(warpfold, paths, library, divider, kinds):
    """Speedups by unit: each a mean and a value for each trace."""
    base = simulate(warpfold, paths, "baseline", ["--unit", "golden"])

    def speedups(options):
        cycles = simulate(warpfold, paths, "arc-hw", options)
        by_trace = {trace: round(base[trace] / cycles[trace], 4) for trace in base}
        return {"mean": round(mean(by_trace.values()), 4), "traces": by_trace}

    result = {"traces": [path.stem for path in paths], "unit": speedups(["--unit-library", str(library)])}
    if divider and divider > 1:
        result["unit_at_its_clock"] = speedups(["--unit-library", str(library), "--unit-divider", str(divider)])
    result["kinds"] = {kind: speedups(["--unit", "golden", "--unit-kind", kind]) for kind in kinds}
    return result


def find_warpfold():
    return os.environ.get("WARPFOLD") or str(ROOT / "build/release/model/warpfold")
