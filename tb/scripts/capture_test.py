#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of scripts/capture.sh and scripts/capture_workload.sh, with stand-ins for the tools they call."""

import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"

# Notes how it is called, with paths from the folder of the test.
TOOL = """#!/bin/sh
echo "${0##*/} $*" | sed "s,$FOLDER/,,g" >>"$FOLDER/calls"
case "${0##*/}" in $FAILS) exit 1 ;; esac
"""


# Stands for the Python package.
PYTHON = """import os, sys
with open(os.environ["FOLDER"] + "/calls", "a") as calls:
    calls.write(" ".join(sys.argv[1:]).replace(os.environ["FOLDER"] + "/", "") + "\\n")
sys.exit(os.environ["FAILS"] == sys.argv[1])
"""


class Capture(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        for name in ("capture.sh", "capture_workload.sh", "lib.sh"):
            (self.folder / "scripts").mkdir(exist_ok=True)
            shutil.copy(SCRIPTS / name, self.folder / "scripts")
        (self.folder / "python").mkdir()
        (self.folder / "python/__main__.py").write_text(PYTHON)
        for name in ("program", "cuobjdump", "ncu", "nvidia-smi"):
            self.install(f"bin/{name}")
        (self.folder / "a.splat").touch()
        (self.folder / "a.gaussians").touch()
        (self.folder / "cameras.json").touch()

    def install(self, name):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(TOOL)
        path.chmod(0o755)

    def run_script(self, name, *options, fails="none"):
        """Exit code, output and calls, those of the capture program at `bin/program`."""
        (self.folder / "calls").unlink(missing_ok=True)
        path = f"{self.folder}/bin:/usr/bin:/bin"
        done = subprocess.run(
            ["bash", str(self.folder / "scripts" / name), *options], cwd=self.folder, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            env={**os.environ, "PATH": path, "FOLDER": str(self.folder), "FAILS": fails})
        calls = self.folder / "calls"
        return done.returncode, done.stdout, calls.read_text().splitlines() if calls.exists() else []

    def test_a_scene_is_checked_timed_and_recorded_with_its_costs(self):
        code, output, calls = self.run_script(
            "capture.sh", "--scene", "a.splat", "--camera", "cameras.json", "--name", "a", "--out", "o",
            "--program", "bin/program", "--value-bytes", "5")
        self.assertEqual(code, 0, output)
        view = "--scene a.splat --name a --camera cameras.json"
        self.assertEqual(calls, [
            "nvidia-smi -L",
            f"program check {view}",
            f"program time {view} --json o/a-times.json",
            "kernel-costs dump --program bin/program --out o/sass",
            "kernel-costs costs --sass o/sass --json o/a-costs.json",
            f"program record {view} --workload 3D --out o --value-bytes 5 --manifest o/MANIFEST.json"
            " --times o/a-times.json --costs o/a-costs.json",
            "ncu --clock-control none --metrics smsp__inst_executed.sum -k regex:warpfold_backward --csv"
            f" --log-file o/a-ncu.csv bin/program launch {view}",
            "kernel-costs predict --costs o/a-costs.json --counts o/a-counts.json --ncu o/a-ncu.csv"])

    def test_tight_lists_have_names_of_their_own(self):
        code, output, calls = self.run_script(
            "capture.sh", "--scene", "a.gaussians", "--name", "a", "--out", "o", "--program", "bin/program",
            "--tiles", "tight", "--no-profile")
        self.assertEqual(code, 0, output)
        view = "--scene a.gaussians --name a"
        self.assertEqual([call for call in calls if call.startswith("program")], [
            f"program check {view}",
            f"program time {view} --tiles tight --json o/a-tight-times.json",
            f"program record {view} --tiles tight --workload 3D --out o --value-bytes 2000000"
            " --manifest o/MANIFEST.json --times o/a-tight-times.json --costs o/a-tight-costs.json"])
        self.assertIn("done: o/a-tight.wft", output)

    def test_a_workload_is_loaded_once_and_its_options_are_passed_on(self):
        code, output, calls = self.run_script(
            "capture_workload.sh", "pagerank", "--name", "g", "--label", "PR", "--out", "o",
            "--program", "bin/program", "--ctas", "7", "--", "--graph", "a b.txt")
        self.assertEqual(code, 0, output)
        self.assertEqual(calls, [
            "nvidia-smi -L",
            "kernel-costs dump --program bin/program --out o/sass-workloads",
            "kernel-costs costs --workload pagerank --sass o/sass-workloads --json o/pagerank-costs.json",
            "program pagerank --name g --graph a b.txt check time --json o/g-times.json record --label PR"
            " --out o --ctas 7 --value-bytes 1600000 --times o/g-times.json --manifest o/MANIFEST.json"
            " --costs o/pagerank-costs.json",
            "ncu --clock-control none --metrics smsp__inst_executed.sum -k regex:warpfold_pagerank_ --csv"
            " --log-file o/g-ncu.csv bin/program pagerank --name g --graph a b.txt launch",
            "kernel-costs predict --costs o/pagerank-costs.json --counts o/g-counts.json --ncu o/g-ncu.csv"])

    def test_costs_and_their_comparison_are_left_out_on_demand(self):
        scene = ("capture.sh", "--scene", "a.gaussians", "--name", "a", "--program", "bin/program")
        workload = ("capture_workload.sh", "w", "--name", "a", "--label", "L", "--program", "bin/program")
        for command in (scene, workload):
            code, output, calls = self.run_script(*command, "--no-costs")
            self.assertEqual(code, 0, output)
            self.assertFalse([call for call in calls if call.startswith(("kernel-costs", "ncu"))], calls)
            code, output, calls = self.run_script(*command, "--no-profile")
            self.assertEqual(code, 0, output)
            self.assertFalse([call for call in calls if call.startswith("ncu")], calls)
            code, output, calls = self.run_script(*command, fails="ncu")
            self.assertEqual(code, 0, output)
            self.assertIn("ncu cannot read the counters here", output)

    def test_what_is_wrong_is_said_in_one_line(self):
        scene = ("--scene", "a.splat", "--name", "a", "--program", "bin/program")
        workload = ("w", "--name", "a", "--label", "L")
        for name, options, fails, message in (
                ("capture.sh", (), "", "needs --scene and --name"),
                ("capture.sh", ("--scene",), "", "--scene needs a value"),
                ("capture.sh", ("--other", "x"), "", "unknown option --other (--help lists them)"),
                ("capture.sh", ("--scene", "b", "--name", "a"), "", "b: no such scene"),
                ("capture.sh", (*scene, "--name", "a/b"), "", '"a/b" is no name of a view'),
                ("capture.sh", scene, "", "a .splat file needs --camera"),
                ("capture.sh", (*scene, "--tiles", "round"), "", 'no tiles "round": box or tight'),
                ("capture.sh", scene, "nvidia-smi", "no NVIDIA GPU on this machine"),
                ("capture_workload.sh", ("w",), "", "needs a workload, --name and --label"),
                ("capture_workload.sh", (*workload, "v"), "", "one workload at a time"),
                ("capture_workload.sh", (*workload, "--program", "none"), "", "none: no such program")):
            with self.subTest(name=name, options=options):
                code, output, _ = self.run_script(name, *options, fails=fails or "none")
                self.assertEqual((code, output), (2, f"{name}: {message}\n"))

    def test_a_failed_check_ends_it(self):
        code, _, calls = self.run_script(
            "capture.sh", "--scene", "a.gaussians", "--name", "a", "--program", "bin/program", fails="program")
        self.assertEqual(code, 1)
        self.assertEqual(len(calls), 2, calls)


if __name__ == "__main__":
    unittest.main()
