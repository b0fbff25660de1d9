# SPDX-License-Identifier: Apache-2.0
"""Simulates one point of a plan: what a job of the workflow does.

    point.py PLAN.json ID RESULT.json

The result appears whole or not at all. What went wrong is left, in one line, in the plan's folder of errors.
Exit code: 0 done, 1 not.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from ..base import guard
from . import plan as planning


# What `warpfold sim` says of a policy whose code a trace does not have: no failure, `--policy all` leaves such
# runs out as well.
NO_CODE = " code of variant "


def simulate(simulator, point, folder):
    """(result, error): one of them is None."""
    command = [simulator, "sim", *point.arguments(), "--jobs", "1", "--json", str(folder / "run.json")]
    if point.timeline:
        command += [
            "--timeline",
            str(folder / "timeline.json"),
            "--timeline-interval",
            str(point.timeline),
            "--timeline-sm",
            "none",
            "--timeline-l2",
            "none",
        ]
    done = guard.run_beside(
        int(os.environ.get(planning.SWEEP_PROCESS, "0")),
        command,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
    )
    complaint = " ".join(done.stderr.split()).removeprefix("warpfold: ")
    if done.returncode == 2 and "the trace has no " in complaint and NO_CODE in complaint:
        return {"left_out": complaint}, None
    if done.returncode != 0:
        return None, complaint or f"the simulator ended with {done.returncode} and said nothing"
    result = {"run": json.loads((folder / "run.json").read_text(encoding="utf-8"))["runs"][0]}
    if point.timeline:
        timelines = json.loads((folder / "timeline.json").read_text(encoding="utf-8"))["warpfold"]
        result["timeline"] = timelines["runs"][0]
    return result, None


def main(plan_file, name, result_file):
    plan = json.loads(Path(plan_file).read_text(encoding="utf-8"))
    point = next(planning.from_json(entry) for entry in plan["points"] if entry["id"] == name)
    error_file = Path(plan["errors"]) / f"{name}.txt"
    error_file.unlink(missing_ok=True)
    target = Path(result_file)
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        with tempfile.TemporaryDirectory() as folder:
            result, error = simulate(plan["simulator"], point, Path(folder))
    except (OSError, ValueError, KeyError, IndexError) as problem:
        result, error = None, f"{type(problem).__name__}: {problem}"
    if error is not None:
        error_file.parent.mkdir(parents=True, exist_ok=True)
        error_file.write_text(" ".join(error.split()) + "\n", encoding="utf-8")
        return 1
    scratch = target.with_name(f".{target.name}.{os.getpid()}")
    scratch.write_text(json.dumps(result), encoding="utf-8")
    os.replace(scratch, target)
    return 0


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
