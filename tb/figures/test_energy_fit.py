#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of energy_fit.py: it finds the energies that made-up measurements were made with."""

import contextlib
import io
import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from warpfold.tools.calibrate import energy_fit

ROOT = Path(__file__).resolve().parent.parent.parent

TRUTH = {"instruction_pj": 400.0, "shuffle_pj": 300.0, "rop_pj": 1200.0, "active_watts": 50.0}
# Millions of instructions, shuffles, sector operations; milliseconds.
LAUNCHES = [(160, 0, 90, 1.4), (220, 20, 15, 0.6), (330, 54, 37, 0.7), (240, 34, 7, 0.9), (1300, 0, 800, 5.0),
            (1700, 136, 77, 2.0)]


def launch(number, instructions, shuffles, rop, ms, truth):
    run = {"trace": f"t{number}.wft", "policy": "skip", "rop_ops": rop * 1e6, "noc_bytes": rop * 40e6,
           "activity": {"instructions": instructions * 1e6, "shuffles": (shuffles + 7) * 1e6,
                        "shuffles_of_zeros": 7e6, "l2_misses": 6e3,
                        "l2_evictions": 4e3},
           "config": {"l2": {"line_bytes": 128}, "energy": {"noc_byte_pj": 8.0, "dram_byte_pj": 32.0}}}
    # 1e6 x 1 pJ = 1e-3 mJ; 1 W x 1 ms = 1 mJ.
    mj = (instructions * truth["instruction_pj"] + shuffles * truth["shuffle_pj"] + rop * (truth["rop_pj"] + 40 * 8)) * 1e-3
    return run, ms, mj + ms * truth["active_watts"] + 1e4 * 128 * 32e-9


class Fit(unittest.TestCase):
    def test_energies_are_found_again(self):
        points = [launch(number, *counts, TRUTH) for number, counts in enumerate(LAUNCHES)]
        coefficients = energy_fit.fit(points)
        for name, value in TRUTH.items():
            self.assertAlmostEqual(coefficients[name], value, places=3)
        for run, ms, mj in points:
            self.assertAlmostEqual(energy_fit.modelled(coefficients, run, ms), mj, places=6)

    def test_none_is_below_zero(self):
        points = [launch(number, *counts, {**TRUTH, "active_watts": -5.0}) for number, counts in enumerate(LAUNCHES)]
        coefficients = energy_fit.fit(points)
        self.assertEqual(coefficients["active_watts"], 0)
        self.assertTrue(all(value >= 0 for value in coefficients.values()))

    def test_from_files(self):
        with tempfile.TemporaryDirectory() as name:
            points = [launch(number, *counts, TRUTH) for number, counts in enumerate(LAUNCHES)]
            results, measured = Path(name) / "r.json", Path(name) / "m.json"
            results.write_text(json.dumps({"runs": [run for run, *_ in points]}), encoding="utf-8")
            measured.write_text(json.dumps({"scenes": [
                {"scene": f"t{number}", "energy": [{"policy": "skip", "kernel_ms": ms,
                                                    "joules_per_launch_above_idle": mj / 1e3}]}
                for number, (_, ms, mj) in enumerate(points)] + [
                {"scene": "other", "energy": [{"policy": "skip", "kernel_ms": 1, "joules_per_launch_above_idle": 1}]}]}),
                encoding="utf-8")
            done = subprocess.run([sys.executable, ROOT / "python", "fit-energy", "--measured", measured, results],
                                  capture_output=True, text=True, check=True)
        self.assertIn("rop_pj = 1200.0", done.stdout)
        self.assertIn("worst 0.0 %", done.stdout)
        self.assertEqual(done.stderr, "warpfold fit-energy: other skip: measured, but not among the results\n")


    def test_what_is_held_out_is_compared_and_not_fitted(self):
        points = [launch(number, *counts, TRUTH) for number, counts in enumerate(LAUNCHES)]
        run, ms, mj = points[0]
        with contextlib.redirect_stdout(io.StringIO()) as text:
            energy_fit.report([(run, ms, mj / 2), *points[1:]], [], ["t0"])
        self.assertIn("rop_pj = 1200.0", text.getvalue())
        self.assertIn("worst 0.0 %\nmean absolute error, held out 100.0 %", text.getvalue())


class BadInput(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def write(self, name, text):
        (self.folder / name).write_text(text, encoding="utf-8")

    def refused(self, *words, **environment):
        """The one line."""
        done = subprocess.run([sys.executable, "-B", ROOT / "python", "fit-energy", *words], cwd=self.folder,
                              capture_output=True, text=True, check=False, env={**os.environ, **environment})
        self.assertEqual((done.returncode, done.stdout, len(done.stderr.splitlines())), (2, "", 1), done.stderr)
        return done.stderr

    def test_is_one_line(self):
        self.write("good.json", json.dumps({"runs": []}))
        self.assertEqual(self.refused("none.json"), "warpfold fit-energy: none.json: No such file or directory\n")
        self.assertIn("warpfold fit-energy: none: No such file", self.refused("--measured", "none", "good.json"))
        for text in ("", "{", "[]", "3", "{}", '{"runs": 3}', '{"runs": [{}]}'):
            self.write("bad.json", text)
            self.assertIn("bad.json: ", self.refused("bad.json"))
            self.assertIn("bad.json: ", self.refused("--measured", "bad.json", "good.json"))

    def test_runs_that_lack_what_is_fitted(self):
        self.write("r.json", json.dumps({"runs": [{"trace": f"{n}.wft", "policy": "skip"} for n in range(6)]}))
        self.write("m.json", json.dumps({"scenes": [
            {"scene": str(n), "energy": [{"policy": "skip", "kernel_ms": 1, "joules_per_launch_above_idle": 1}]}
            for n in range(6)]}))
        self.assertIn("the runs: not such that can be fitted ('config')", self.refused("--measured", "m.json", "r.json"))

    def test_no_numpy(self):
        self.write("numpy.py", "raise ImportError\n")
        self.assertIn("no module numpy; it is in Debian's package python3-numpy", self.refused("r.json", PYTHONPATH=str(self.folder)))


if __name__ == "__main__":
    unittest.main()
