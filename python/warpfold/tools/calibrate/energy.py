# SPDX-License-Identifier: Apache-2.0
"""The energies of a machine file, fitted to launches that NVML measured (docs/calibrate.md, "Energy").

The launches are those of one scene under the policies other than cccl. Their counts come from the simulator, on the
machine whose energies they become. Launches of other scenes and of cccl have no part in it: they show how it carries
over."""

import tempfile
from pathlib import Path
from typing import Any

from ..base.errors import BadInput
from ..base.files import read_json
from ..base.modules import module
from ..base.places import SHIPPED, warpfold
from ..base.processes import Word, output
from . import energy_fit
from .energy_fit import Run
from .machine_file import line_of

Launch = tuple[str, str, Run, float, float]  # scene, policy, run, milliseconds, millijoules above idle

HELD_OUT = "cccl"
FOLDERS = ("traces/calibrate", "traces/data")


def scenes_of(file: str) -> list[dict[str, Any]]:
    """[{"scene", "idle_watts", "energy": [...]}] of what `warpfold_capture energy` wrote, or several of these."""
    with energy_fit.reading(file, "energies of warpfold_capture"):
        content = read_json(file)
        scenes: list[dict[str, Any]] = content["scenes"] if "scenes" in content else [content]
        for scene in scenes:
            if not scene["energy"] or not scene["idle_watts"] > 0 or not isinstance(scene["scene"], str):
                raise ValueError("no launches, or no power of the idle GPU")
        return scenes


def trace_of(scene: str, traces: list[str]) -> Path | None:
    """The trace of a scene: of those given the one of that name, else a shipped one; None."""
    places = [*map(Path, traces), *(SHIPPED / folder / f"{scene}.wft" for folder in FOLDERS)]
    return next((place for place in places if place.stem == scene and place.exists()), None)


def simulated(machine: Path, trace: Path, policies: list[str], jobs: int) -> dict[str, Run]:
    """{policy: run} on the machine file."""
    with tempfile.TemporaryDirectory() as folder:
        results = Path(folder) / "results.json"
        which: list[Word] = ["--gpu", machine, "--unit", "golden", "--policy", ",".join(policies)]
        output([warpfold(), "sim", trace, *which, "--jobs", jobs, "--json", results])
        return {run["policy"]: run for run in read_json(results)["runs"]}


def points_of(
    machine: Path, scenes: list[dict[str, Any]], traces: list[str], jobs: int
) -> tuple[list[Launch], list[str]]:
    """Launches; scenes without a trace are left out."""
    points, missing = [], []
    for scene in scenes:
        trace = trace_of(scene["scene"], traces)
        if trace is None:
            missing.append(scene["scene"])
            continue
        with energy_fit.reading(scene["scene"], "energies of warpfold_capture"):
            measured = {
                entry["policy"]: (entry["kernel_ms"], 1e3 * entry["joules_per_launch_above_idle"])
                for entry in scene["energy"]
            }
        print(f"simulate {trace}", flush=True)
        runs = simulated(machine, trace, list(measured), jobs)
        points += [(scene["scene"], policy, runs[policy], *measured[policy]) for policy in measured if policy in runs]
    return points, missing


def rewritten(text: str, values: dict[str, tuple[float, str]]) -> str:
    """A machine file with these energies, {key: (value, comment)}."""
    lines, section = [], ""
    for line in text.splitlines():
        section = line if line.startswith("[") else section
        key = line.partition(" = ")[0]
        lines.append(line_of(key, *values[key]) if section == "[energy]" and key in values else line)
    return "\n".join(lines) + "\n"


def table(
    points: list[Launch],
    coefficients: dict[str, float],
    fitted_scene: str,
) -> tuple[list[str], float]:
    lines = ["", f"{'scene':16} {'policy':9} {'measured mJ':>12} {'model mJ':>9} {'error':>7}"]
    errors: dict[bool, list[float]] = {True: [], False: []}
    for scene, policy, run, milliseconds, millijoules in points:
        ours = energy_fit.modelled(coefficients, run, milliseconds)
        fitted = scene == fitted_scene and policy != HELD_OUT
        errors[fitted].append(abs(ours / millijoules - 1))
        lines.append(
            f"{scene:16} {policy:9} {millijoules:12.2f} {ours:9.2f} {ours / millijoules - 1:+7.1%}"
            f"{'  fitted' if fitted else ''}"
        )
    lines.append("")
    for fitted, found in errors.items():
        if found:
            lines.append(
                f"{len(found)} launches {'that were fitted' if fitted else 'that had no part in the fit'}: "
                f"mean {sum(found) / len(found):.1%}, worst {max(found):.1%}"
            )
    return lines, max(errors[True])


def fit(text: str, gpu: str, files: list[str], traces: list[str], jobs: int) -> tuple[str, list[str]]:
    """(the machine file `text` with the energies, lines to print). The first scene of the files is fitted. `gpu`: that
    the machine is of. BadInput before anything is printed, but for what a simulation says."""
    module("numpy")  # what is missing is missed first
    scenes = [scene for file in files for scene in scenes_of(file)]
    names = {scene.get("gpu") for scene in scenes}
    if names != {gpu}:
        raise BadInput(
            f"{files[0]}: energies of {', '.join(sorted(map(str, names)))}, the microbenchmarks are of {gpu}"
        )
    first = scenes[0]["scene"]
    with tempfile.TemporaryDirectory() as folder:
        machine = Path(folder) / "machine.toml"
        machine.write_text(text, encoding="utf-8")
        points, missing = points_of(machine, scenes, traces, jobs)
    chosen = [(run, ms, mj) for scene, policy, run, ms, mj in points if scene == first and policy != HELD_OUT]
    if len(chosen) <= len(energy_fit.FITTED):
        raise BadInput(
            f"{files[0]}: {len(chosen)} launches of {first} with a trace are too few for "
            f"{len(energy_fit.FITTED)} unknowns"
        )
    with energy_fit.reading(files[0], "energies that can be fitted"):
        coefficients = energy_fit.fit(chosen)
    lines, worst = table(points, coefficients, first)
    lines += [f"{scene}: measured, but there is no trace of it" for scene in missing]
    source = f"calibrated: {len(chosen)} launches of {first}, `warpfold calibrate`; within {worst:.0%}"
    values = {
        name: (round(float(value), 1 if name.endswith("watts") else 0), source) for name, value in coefficients.items()
    }
    idle = sum(scene["idle_watts"] for scene in scenes) / len(scenes)
    values["idle_watts"] = (round(idle, 0), f"measured: NVML without work, {len(scenes)} readings")
    return rewritten(text, values), lines
