#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `warpfold replay` refuses."""

import subprocess
import sys
import unittest
from pathlib import Path

PYTHON = Path(__file__).resolve().parents[2] / "python"


class Studies(unittest.TestCase):
    def test_cases_by_a_bad_expression(self):
        done = subprocess.run([sys.executable, "-B", PYTHON, "replay", "--match", "("],
                              capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stdout, len(done.stderr.splitlines())), (2, "", 1), done.stderr)
        self.assertIn("warpfold replay: --match (: is no regular expression", done.stderr)


if __name__ == "__main__":
    unittest.main()
