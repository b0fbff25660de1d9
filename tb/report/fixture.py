# SPDX-License-Identifier: Apache-2.0
"""Small results for the tests of the report, made by the simulator: a few CTAs of a shipped trace under all
policies on two GPUs, with a timeline."""

import pathlib
import subprocess
import sys

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
WARPFOLD = str(pathlib.Path(sys.argv.pop(1)).resolve())
AREA = REPOSITORY / "synth" / "baseline.json"


def warpfold(*arguments, **options):
    return subprocess.run([WARPFOLD, *map(str, arguments)], capture_output=True, text=True, check=False, **options)


def must(*arguments):
    done = warpfold(*arguments)
    assert done.returncode == 0, f"{arguments}: {done.stderr}"
    return done


def simulate(folder):
    """Writes small.json and small.timeline.json."""
    folder = pathlib.Path(folder)
    trace = folder / "small.wft"
    must("trace", "slice", REPOSITORY / "traces/data/dynibar.wft", trace, "--every", 384)
    must("sim", trace, "--gpu", "rtx4090,rtx3060", "--policy", "all,sw-b:8,sw-s:8", "--unit", "golden",
         "--json", folder / "small.json", "--timeline", folder / "small.timeline.json", "--timeline-interval", 2000)
    return folder / "small.json", folder / "small.timeline.json"
