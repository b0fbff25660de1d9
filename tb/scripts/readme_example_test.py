#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""README.md shows the example of reduce_arc.cuh as it is compiled."""

import re
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = "traces/capture/examples/reduce_arc_example.cu"


class ReadmeExample(unittest.TestCase):
    def test_is_the_file(self):
        shown = re.findall(r"^```cuda\n(.*?)^```$", (ROOT / "README.md").read_text(), re.M | re.S)
        self.assertEqual(len(shown), 1, "README.md has one block of CUDA")
        self.maxDiff = None
        self.assertMultiLineEqual(shown[0], (ROOT / EXAMPLE).read_text(), f"README.md and {EXAMPLE} differ")


if __name__ == "__main__":
    unittest.main()
