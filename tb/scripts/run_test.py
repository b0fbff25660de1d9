#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of scripts/run.sh, with stand-ins for what it builds and calls."""

import json
import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
KINDS = " ".join(unit["name"] for unit in json.loads((ROOT / "rtl/units.json").read_text(encoding="utf-8"))["units"])

# Notes how it is called. As dpkg-query it says that a package is there.
TOOL = """#!/bin/sh
echo "${0##*/} $*" >>"$FOLDER/calls"
printf "install ok installed"
"""

# Stands for the Python package.
PYTHON = f"""import os, sys
if sys.argv[1] == "units":  # the family, as it is
    os.execv(sys.executable, [sys.executable, "-B", {str(ROOT / "python")!r}, *sys.argv[1:]])
print(*sys.argv[1:], file=open(os.environ["FOLDER"] + "/calls", "a"))
"""


class Run(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        for name in ("scripts/run.sh", "scripts/lib.sh", "rtl/units.json"):
            (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, self.folder / name)
        for name in ("bin/cmake", "bin/dpkg-query", "build/release/model/warpfold_sim"):
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(TOOL, encoding="utf-8")
            path.chmod(0o755)
        (self.folder / "python").mkdir()
        (self.folder / "python/__main__.py").write_text(PYTHON, encoding="utf-8")

    def run_script(self, *options):
        """Exit code, output, and the calls of the command."""
        (self.folder / "calls").unlink(missing_ok=True)
        done = subprocess.run(["bash", str(self.folder / "scripts/run.sh"), *options], cwd=self.folder, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
                              env={**os.environ, "PATH": f"{self.folder}/bin:{os.environ['PATH']}",
                                   "FOLDER": str(self.folder)})
        calls = self.folder / "calls"
        lines = calls.read_text(encoding="utf-8").splitlines() if calls.exists() else []
        return done.returncode, done.stdout, [line for line in lines if line.startswith(("warpfold", "synth "))]

    def test_simulates_and_counts(self):
        code, output, calls = self.run_script()
        self.assertEqual(code, 0, output)
        self.assertEqual(calls, [
            "warpfold_sim sim traces/data/truck.wft --gpu rtx4090 --policy all --unit rtl --json out/truck.json",
            "synth --top arc_unit_serial --top arc_subcore_serial --transistors-only"
            " --json out/transistors.json"])
        self.assertTrue(output.endswith("results: out/truck.json, out/transistors.json\n"), output)

    def test_options_of_the_simulator_are_passed_on(self):
        options = ["--gpu", "h200", "--policy=lab", "--unit", "golden", "--set", "sm.count=7", "--jobs", "2",
                   "--threads", "2", "--bounds", "--whole-gpu", "--reference", "--json=a.json"]
        code, output, calls = self.run_script(*options)
        self.assertEqual(code, 0, output)
        self.assertTrue(calls[0].endswith(" --json out/truck.json " + " ".join(options)), calls[0])
        self.assertTrue(output.endswith("results: a.json, out/transistors.json\n"), output)

    def test_the_kind_that_is_simulated_is_counted(self):
        for options in (["--unit-kind", "fused"], ["--unit-kind=serial", "--unit-kind=fused"]):
            code, output, calls = self.run_script(*options)
            self.assertEqual(code, 0, output)
            self.assertTrue(calls[0].endswith(" ".join(options)), calls[0])
            self.assertIn(" --top arc_unit_fused --top arc_subcore_fused ", calls[1])

    def test_help_lists_every_option_that_is_taken(self):
        code, output, calls = self.run_script("--help")
        self.assertEqual((code, calls), (0, []))
        listed = output[output.index("Options of"):].replace(".", "").replace(",", " ").split()
        values = {"--unit-kind": "fused"}
        for option in [word for word in listed if word.startswith("--")]:
            flag = option in ("--bounds", "--whole-gpu", "--reference")
            code, output, _ = self.run_script(*([option] if flag else [option, values.get(option, "x")]))
            self.assertEqual(code, 0, output)

    def test_what_is_wrong_is_said_in_one_line(self):
        for options, message in (
                (["--other"], "unknown option '--other' (--help lists them)"),
                (["truck.wft"], "unknown option 'truck.wft' (--help lists them)"),
                (["--unit-kind"], "--unit-kind needs a value"),
                (["--unit-kind", "wide"], f"no kind of unit 'wide'; there are: {KINDS}, or DATAPATH[-FORMAT][-WORDS][-staged]"),
                (["--whole-gpu=1"], "unknown option '--whole-gpu=1' (--help lists them)")):
            with self.subTest(options):
                self.assertEqual(self.run_script(*options), (2, f"run.sh: {message}\n", []))


if __name__ == "__main__":
    unittest.main()
