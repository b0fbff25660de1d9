#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of scripts/unit_kinds.py, with a stand-in for the simulator that notes how it is called."""

import json
import os
import stat
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[2] / "scripts/unit_kinds.py"

# Cycles by trace, machine and kind; a trace "broken" fails on the h200, "wrong" has wrong sums there.
SIMULATOR = """#!/usr/bin/env python3
import json, os, sys
args = sys.argv[1:]
value = lambda name: args[args.index(name) + 1]
trace, gpu, policy = os.path.basename(args[1]), value("--gpu"), value("--policy")
kind = value("--unit-kind") if "--unit-kind" in args else ""
with open(os.environ["CALLS"], "a") as calls:
    calls.write(f"{trace} {gpu} {policy} {kind}\\n")
if trace == "broken.wft" and gpu == "h200":
    sys.exit("warpfold: it broke")
cycles = {"": 1200, "serial": 800, "pipelined": 600, "fused": 400}[kind] * (2 if trace == "b.wft" else 1)
if gpu == "h200" and kind: cycles //= 2
run = {"cycles": cycles, "wall_seconds": 0.1, "conserved": True, "sums_match": not (trace == "wrong.wft" and gpu == "h200")}
json.dump({"runs": [run]}, open(value("--json"), "w"))
"""


class UnitKinds(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.simulator = self.folder / "warpfold"
        self.install(SIMULATOR)
        for name in ("a", "b", "broken", "wrong"):
            (self.folder / f"{name}.wft").write_text(name, encoding="utf-8")

    def install(self, text):
        self.simulator.write_text(text, encoding="utf-8")
        self.simulator.chmod(self.simulator.stat().st_mode | stat.S_IXUSR)

    def run_script(self, *arguments):
        """(exit code, lines of stdout, stderr, calls of the simulator)."""
        calls = self.folder / "calls"
        calls.write_text("", encoding="utf-8")
        env = dict(os.environ, WARPFOLD=str(self.simulator), CALLS=str(calls))
        done = subprocess.run([sys.executable, "-B", SCRIPT, "--points", str(self.folder / "p/points.json"), *arguments],
                              cwd=self.folder, env=env, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout.splitlines(), done.stderr, calls.read_text(encoding="utf-8").splitlines()

    def test_one_table_of_traces_kinds_and_machines(self):
        code, lines, errors, calls = self.run_script("--markdown", "a.wft", "b.wft")
        self.assertEqual((code, errors), (0, ""))
        self.assertEqual(lines[0], "| trace | serial rtx4090 | serial rtx3060 | serial h200 | pipelined rtx4090 | "
                                   "pipelined rtx3060 | pipelined h200 | fused rtx4090 | fused rtx3060 | fused h200 |")
        self.assertRegex(lines[2], r"^\| transistors \| [\d,]+ \|  \|  \| [\d,]+ \|  \|  \| [\d,]+ \|  \|  \|$")
        speedups = "| 1.50 | 1.50 | 3.00 | 2.00 | 2.00 | 4.00 | 3.00 | 3.00 | 6.00 |"
        self.assertEqual(lines[3:], ["| a " + speedups, "| b " + speedups, "| geometric mean " + speedups])
        # One baseline for each trace and machine, whatever the kinds.
        self.assertEqual(len(calls), 2 * 3 * (1 + 3))
        self.assertEqual(sorted(call for call in calls if "baseline" in call),
                         [f"{trace}.wft {gpu} baseline " for trace in "ab" for gpu in ("h200", "rtx3060", "rtx4090")])

    def test_plain_table_has_the_same_cells(self):
        _, lines, _, _ = self.run_script("--gpu", "h200", "a.wft")
        self.assertEqual(lines[0].split(), ["trace", "serial", "pipelined", "fused"])
        self.assertEqual(lines[1].split(), ["h200"] * 3)
        self.assertEqual(lines[3].split(), ["a", "3.00", "4.00", "6.00"])
        self.assertEqual(len(lines), 4)  # of one trace there is no mean

    def test_goes_on_where_it_was(self):
        self.run_script("--gpu", "h200", "a.wft")
        code, lines, _, calls = self.run_script("--gpu", "h200", "--kind", "serial,fused", "a.wft", "b.wft")
        self.assertEqual(code, 0)
        self.assertEqual(sorted(calls), ["b.wft h200 arc-hw fused", "b.wft h200 arc-hw serial", "b.wft h200 baseline "])
        self.assertEqual(lines[3].split(), ["a", "3.00", "6.00"])
        self.assertEqual(self.run_script("--gpu", "h200", "a.wft", "b.wft", "--kind", "fused")[3], [])

    def test_a_changed_trace_or_program_is_simulated_again(self):
        arguments = ("--gpu", "h200", "--kind", "fused", "a.wft")
        self.assertEqual(len(self.run_script(*arguments)[3]), 2)
        (self.folder / "a.wft").write_text("another", encoding="utf-8")
        self.assertEqual(len(self.run_script(*arguments)[3]), 2)
        self.install(SIMULATOR + "# another build\n")
        self.assertEqual(len(self.run_script("--any-build", *arguments)[3]), 0)
        self.assertEqual(len(self.run_script(*arguments)[3]), 2)

    def test_show_simulates_nothing(self):
        self.run_script("--gpu", "h200", "a.wft")
        code, lines, _, calls = self.run_script("--show", "--gpu", "h200,rtx4090", "a.wft")
        self.assertEqual((code, calls), (0, []))
        self.assertEqual(lines[3].split(), ["a", "3.00", "-", "4.00", "-", "6.00", "-"])

    def test_what_fails_is_told_and_the_rest_is_done(self):
        code, lines, errors, _ = self.run_script("--gpu", "rtx4090,h200", "--kind", "serial", "broken.wft", "wrong.wft", "a.wft")
        self.assertEqual(code, 1)
        self.assertIn("broken.wft on h200, serial: warpfold: it broke", errors)
        self.assertIn("wrong.wft on h200, baseline: its checks do not hold", errors)
        self.assertEqual([line.split()[-2:] for line in lines[3:]], [["1.50", "-"], ["1.50", "-"], ["1.50", "3.00"], ["1.50", "-"]])

    def test_bad_usage_is_one_line_and_2(self):
        (self.folder / "p").mkdir()
        for arguments in (["--kind", "wide"], ["--jobs", "0"], ["nowhere.wft"], ["--gpu", "none", "a.wft"]):
            code, lines, errors, calls = self.run_script(*arguments)
            self.assertEqual((code, lines, calls), (2, [], []), arguments)
            self.assertEqual(len(errors.splitlines()), 1, errors)
        for text in ("no json", json.dumps({"schema": "other"}), "[]"):
            (self.folder / "p/points.json").write_text(text, encoding="utf-8")
            self.assertEqual(self.run_script("a.wft")[0], 2)
        (self.folder / "p/points.json").unlink()
        self.simulator.unlink()
        self.assertEqual(self.run_script("a.wft")[0], 2)


if __name__ == "__main__":
    unittest.main()
