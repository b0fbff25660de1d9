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


class UnitFailed(Exception):
    """A simulation with the unit came to no end; the text is one line."""


def simulate(paths: list[Path], policy: str, options: list[str]) -> dict[str, int]:
    """Cycles by trace."""
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        done = processes.run(
            [warpfold(), "sim", *paths, "--gpu", "rtx4090", "--policy", policy, *options, "--json", file.name]
        )
        if done.returncode != 0:
            line = (done.stderr.strip().splitlines() or ["no message"])[-1].removeprefix("warpfold: ")
            if "--unit-library" in options and done.returncode != 2:
                raise UnitFailed(line)
            raise ToolFailed("simulation: " + line)
        runs = read_json(file.name)["runs"]
    return {Path(run["trace"]).stem: run["cycles"] for run in runs}


def gains(paths: list[Path], unit: list[Any], costs: dict[str, Any], kinds: list[str]) -> dict[str, Any]:
    """Speedups by unit: each a mean and a value for each trace; unit: its library, and options. With `costs`, which have dividers, also at the clock
    that the paths of each allow."""
    base = simulate(paths, "baseline", ["--unit", "golden"])

    def speedups(options: list[str], divider: int = 1) -> dict[str, Any]:
        cycles = simulate(paths, "arc-hw", [*options, "--unit-divider", str(divider)])
        by_trace = {trace: round(base[trace] / cycles[trace], 4) for trace in base}
        return {"mean": round(statistics.fmean(by_trace.values()), 4), "traces": by_trace}

    def both(options: list[str], divider: int | None) -> tuple[dict[str, Any], dict[str, Any] | None]:
        """At the GPU's clock and at its own."""
        full = speedups(options)
        return full, {"divider": divider, **(speedups(options, divider) if divider > 1 else full)} if divider else None

    result: dict[str, Any] = {"verdict": "done", "traces": [path.stem for path in paths]}
    try:
        result["unit"], own = both(["--unit-library", *map(str, unit)], costs.get("divider"))
    except UnitFailed as error:
        return {"verdict": "failed", "why": str(error).replace(f"{unit[0]}: ", "")}
    dividers = costs.get("kind_dividers", {})
    of_kinds = {kind: both(["--unit", "golden", "--unit-kind", kind], dividers.get(kind)) for kind in kinds}
    result["kinds"] = {kind: full for kind, (full, _) in of_kinds.items()}
    if own:
        result["unit_at_its_clock"] = own
        result["kinds_at_their_clocks"] = {kind: slow for kind, (_, slow) in of_kinds.items()}
    return result
