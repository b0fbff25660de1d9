#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""yardstick.py: the table is that of the measurements, right results have no error, a planted wrong value is
found, bad input is one line.

"""

import csv
import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ("-B", ROOT / "python", "yardstick")
TABLE = ROOT / "docs/yardstick.csv"
WRONG = "red/sectors/lanes=8/warps=32/gpu"


class Yardstick(unittest.TestCase):
    """The command on files that are made up."""

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = Path(scratch.name)
        with open(TABLE, encoding="utf-8", newline="") as file:
            self.rows = {row["case"]: row for row in csv.DictReader(file)}

    def run_on(self, text, *options):
        path = self.folder / "results"
        path.write_text(text, encoding="utf-8")
        return self.call(*options, path)

    @staticmethod
    def call(*words):
        return subprocess.run([sys.executable, "-B", *SCRIPT, *words], capture_output=True, text=True, check=False)

    def refusal(self, text, *options):
        done = self.run_on(text, *options)
        self.assertEqual((done.returncode, done.stdout, done.stderr.count("\n")), (2, "", 1), done.stderr)
        return done.stderr

    def cycles(self, gpu):
        """Of all cases, what that GPU takes."""
        return {name: float(row[gpu]) * int(row["reds"]) for name, row in self.rows.items()}

    def test_the_table_is_that_of_the_measurements(self):
        made = self.folder / "made.csv"
        done = self.call("--table", made)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(made.read_text(encoding="utf-8"), TABLE.read_text(encoding="utf-8"))
        self.assertGreater(len(self.rows), 500)

    def test_launches_are_what_the_cases_say(self):
        row = self.rows["red/same/lanes=32/warps=64/gpu"]
        self.assertEqual((row["ctas"], row["threads"]), (str(4 * 132), "512"))
        row = self.rows["red/hot_line/lanes=4/addresses=1/stride=4"]
        self.assertEqual((row["ctas"], row["threads"], row["group"]), ("132", "512", "hot_line on all SMs"))
        self.assertNotIn("red/same/lanes=32/warps=64/sm", self.rows)
        self.assertNotIn("red/same/lanes=32/warps=4/subcores=1/sm", self.rows)

    def test_what_a_gpu_takes_has_no_error(self):
        for gpu in ("h200", "h100"):
            done = self.run_on(json.dumps({"cycles": self.cycles(gpu)}), "--gpu", gpu, "--limit", "0.0001")
            self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
            last = done.stdout.splitlines()[-1].split()
            self.assertEqual(last[:4], ["all", str(len(self.rows)), "0.0%", "+0.0%"])

    def test_a_planted_wrong_value_is_found(self):
        cycles = self.cycles("h100")
        cycles[WRONG] *= 1.3
        text = "case,cycles\n" + "".join(f"{name},{value}\n" for name, value in cycles.items())
        done = self.run_on(text, "--limit", "0.1", "--cases")
        self.assertEqual(done.returncode, 1)
        lines = done.stdout.splitlines()
        self.assertEqual(lines[-1].split()[-2:], ["+30.0%", WRONG])
        # 22 cases of the group, one of them 30 % off.
        own = next(line for line in lines if line.startswith("sectors on all SMs "))
        self.assertEqual(own.split()[-5:], ["22", "1.4%", "+1.4%", "+30.0%", WRONG])
        case = next(line for line in lines if line.startswith(WRONG + " "))
        self.assertEqual(case.split()[-1], "+30.0%")
        self.assertEqual(self.run_on(text, "--limit", "0.1", "--match", "lanes=32").returncode, 0)

    def test_bad_input_is_one_line(self):
        self.assertIn("no case 'red/nonsense' in docs/yardstick.csv", self.refusal("case,cycles\nred/nonsense,5\n"))
        self.assertIn("is there twice", self.refusal(f"case,cycles\n{WRONG},5\n{WRONG},6\n"))
        for value in ("many", "", "-3", "0", "nan", "inf"):
            self.assertIn("is no number of cycles", self.refusal(f"case,cycles\n{WRONG},{value}\n"))
        self.assertIn("is no number of cycles", self.refusal(json.dumps({"cycles": {WRONG: True}})))
        self.assertIn("has no object \"cycles\"", self.refusal("{}"))
        self.assertIn("has no columns", self.refusal("name,time\n"))
        self.assertIn("has no case", self.refusal("case,cycles\n"))
        self.assertIn("no case has 'x='", self.refusal(f"case,cycles\n{WRONG},5\n", "--match", "x="))
        self.assertIn("is no regular expression", self.refusal(f"case,cycles\n{WRONG},5\n", "--match", "("))
        done = self.call(self.folder / "absent")
        self.assertEqual((done.returncode, done.stderr.count("\n")), (2, 1))


if __name__ == "__main__":
    unittest.main()
