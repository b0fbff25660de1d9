# SPDX-License-Identifier: Apache-2.0
"""Simulates one point of a plan: what a job of the workflow does.

The result appears whole or not at all. What went wrong is left, in one line, in the plan's folder of errors."""

import argparse
import json
import os
import tempfile
from pathlib import Path
from typing import Any

from ..base import files, processes
from ..base.parser import Parser
from . import plan as planning

# What `warpfold sim` says of a policy whose code a trace does not have: no failure, `--policy all` leaves such
# runs out as well.
NO_CODE = " code of variant "


def simulate(simulator: str, point: planning.Point, folder: Path) -> tuple[dict[str, Any] | None, str | None]:
    """(result, error): one of them is None."""
    command = [
        simulator,
        "sim",
        *point.arguments(),
        "--jobs",
        "1",
        "--threads",
        "1",
        "--json",
        str(folder / "run.json"),
    ]
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
    done = processes.run_beside(int(os.environ.get(planning.SWEEP_PROCESS, "0")), command)
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


def options(parser: Parser) -> None:
    parser.add_argument("plan", metavar="PLAN.json", type=Path, help="What the sweep has written")
    parser.add_argument("point", metavar="ID", help="Which of its points")
    parser.add_argument("result", metavar="RESULT.json", type=Path, help="Written whole or not at all")


def run(arguments: argparse.Namespace) -> int:
    plan = files.read_json(arguments.plan)
    point = next(planning.from_json(entry) for entry in plan["points"] if entry["id"] == arguments.point)
    error_file = Path(plan["errors"]) / f"{arguments.point}.txt"
    error_file.unlink(missing_ok=True)
    arguments.result.parent.mkdir(parents=True, exist_ok=True)
    try:
        with tempfile.TemporaryDirectory() as folder:
            result, error = simulate(plan["simulator"], point, Path(folder))
    except (OSError, ValueError, KeyError, IndexError) as problem:
        result, error = None, f"{type(problem).__name__}: {problem}"
    if error is not None:
        error_file.parent.mkdir(parents=True, exist_ok=True)
        error_file.write_text(" ".join(error.split()) + "\n", encoding="utf-8")
        return 1
    files.write_json(arguments.result, result, indent=None)
    return 0
