#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of scripts/lab_partition.py, and of what scripts/replay_microbench.py refuses, with a stand-in for the
simulator."""

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"

# A partition of 16 KiB is the best.
SIMULATOR = """#!/usr/bin/env python3
import json, sys, tomllib
value = lambda name: sys.argv[sys.argv.index(name) + 1]
runs = []
for gpu in value("--gpu").split(","):
    size = tomllib.load(open(gpu, "rb"))["lab"]["bytes"]
    runs.append({"cycles": 1000 + abs(size - 16384), "config": {"lab": {"bytes": size}}})
json.dump({"runs": runs}, open(value("--json"), "w"))
"""


class Studies(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.simulator = self.folder / "warpfold"
        self.simulator.write_text(SIMULATOR, encoding="utf-8")
        self.simulator.chmod(0o755)
        (self.folder / "t.wft").touch()
        (self.folder / "bare.toml").write_text('name = "bare"\n', encoding="utf-8")
        (self.folder / "binary.toml").write_bytes(b"\xff\x00")

    def run_script(self, name, *arguments):
        done = subprocess.run([sys.executable, "-B", SCRIPTS / name, *arguments], cwd=self.folder, capture_output=True,
                              text=True, check=False, env={**os.environ, "WARPFOLD": str(self.simulator)})
        return done.returncode, done.stdout, done.stderr

    def refused(self, *words):
        """The one line."""
        code, output, errors = self.run_script(*words)
        self.assertEqual((code, output, len(errors.splitlines())), (2, "", 1), errors)
        self.assertTrue(errors.startswith(f"{words[0]}: "), errors)
        return errors

    def test_best_partition(self):
        code, output, errors = self.run_script("lab_partition.py", "--gpu", "rtx4090,h200", "--kib", "8,16", "t.wft")
        self.assertEqual((code, errors), (0, ""))
        self.assertEqual(output.splitlines(), [
            "| trace | machine | 8 KiB | 16 KiB | best |", "|---|---|---|---|---|",
            "| t | rtx4090 | 9,192 | 1,000 | 16 KiB |", "| t | h200 | 9,192 | 1,000 | 16 KiB |"])

    def test_partitions_of_what_is_not_there(self):
        name = "lab_partition.py"
        self.assertIn("nosuch.toml: No such file", self.refused(name, "--gpu", "nosuch", "t.wft"))
        self.assertIn("nosuch.toml: No such file", self.refused(name, "--gpu", "h200,nosuch", "t.wft"))
        self.assertIn("bare.toml: has no [lab]", self.refused(name, "--gpu", "bare.toml", "t.wft"))
        self.assertIn("binary.toml: is not text", self.refused(name, "--gpu", "binary.toml", "t.wft"))
        self.assertIn("none.wft: no such file", self.refused(name, "t.wft", "none.wft"))
        self.assertIn("--kib x", self.refused(name, "--kib", "x"))
        self.simulator.unlink()
        self.assertIn("build first", self.refused(name, "t.wft"))

    def test_cases_by_a_bad_expression(self):
        self.assertIn("--match (: is no regular expression", self.refused("replay_microbench.py", "--match", "("))


if __name__ == "__main__":
    unittest.main()
