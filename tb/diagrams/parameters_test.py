#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Values of parameters that pages quote are those that the h200 is simulated with, from its file or from the defaults."""

import json
import os
import re
import subprocess
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SMALLEST = ROOT / "traces/h100/camera-pose-halved.wft"
QUOTED = re.compile(r"`(\w+)\.(\w+)` = ([\d.,]*\d)")


def number(text):
    return float(text.replace(",", ""))


class Parameters(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        command = [os.environ["WARPFOLD"], "sim", str(SMALLEST), "--gpu", "h200", "--policy", "baseline", "--unit", "golden", "--json", "-"]
        cls.machine = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)["runs"][0]["config"]

    def test_docs_model(self):
        quoted = QUOTED.findall((ROOT / "docs/model.md").read_text(encoding="utf-8"))
        self.assertGreater(len(quoted), 25)
        for section, key, value in quoted:
            self.assertEqual(number(value), self.machine[section][key], f"docs/model.md: {section}.{key}")

    def test_parameters_that_pages_name_exist(self):
        known = {f"{section}.{key}" for section, keys in self.machine.items() if isinstance(keys, dict) for key in keys}
        for page in ("docs/model.md", "docs/fidelity.md"):
            text = (ROOT / page).read_text(encoding="utf-8")
            sections = "|".join(name for name, keys in self.machine.items() if isinstance(keys, dict))
            for name in re.findall(rf"`((?:{sections})\.\w+)`", text):
                self.assertIn(name, known, page)

    def test_calibration(self):
        rows = json.loads((ROOT / "docs/numbers/calibration.json").read_text(encoding="utf-8"))["rows"]
        self.assertGreater(len(rows), 30)
        for names, values, *_ in rows:
            # A comma before three digits belongs to a number.
            for name, value in zip(names.split(", "), values.split(", "), strict=True):
                section, key = name.strip("`").split(".")
                expected = self.machine[section][key]
                self.assertEqual(value if isinstance(expected, str) else number(value), expected, name)


if __name__ == "__main__":
    unittest.main()
