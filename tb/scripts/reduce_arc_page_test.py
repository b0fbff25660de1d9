#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""docs/record.md shows parts of the example of reduce_arc.cuh as it is compiled."""

import re
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = "traces/capture/reduce/reduce_arc_example.cu"
PAGE = "docs/record.md"


class ReduceArcExample(unittest.TestCase):
    def test_shows_parts_of_the_file(self):
        shown = re.findall(r"^```cuda\n(.*?)^```$", (ROOT / PAGE).read_text(encoding="utf-8"), re.M | re.S)
        self.assertGreaterEqual(len(shown), 2, f"{PAGE} has blocks of CUDA")
        example = (ROOT / EXAMPLE).read_text(encoding="utf-8")
        for block in shown:
            self.assertIn("\n" + block, example, f"{PAGE} shows what is not in {EXAMPLE}:\n{block}")


if __name__ == "__main__":
    unittest.main()
