#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The diffs of docs/extend.md apply, and changed.py finds those of a page that do not."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/extend.md"


class Changed(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.out = self.folder / "out"

    def apply(self, page):
        return subprocess.run([sys.executable, "-B", ROOT / "tb/docs/changed.py", page, self.out], capture_output=True,
                              text=True, check=False)

    def refused(self, old, new, words):
        text = PAGE.read_text(encoding="utf-8")
        self.assertTrue(old in text, old)
        page = self.folder / "page.md"
        page.write_text(text.replace(old, new, 1), encoding="utf-8")
        done = self.apply(page)
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertIn(words, done.stderr)

    def test_the_page(self):
        done = self.apply(PAGE)
        self.assertEqual(done.returncode, 0, done.stderr)
        before = (ROOT / "model/rules.cmake").read_text(encoding="utf-8").splitlines()
        after = (self.out / "model/rules.cmake").read_text(encoding="utf-8").splitlines()
        self.assertEqual([line for line in after if line not in before], ["  reduce_all", "  oldest_first"])
        self.assertEqual(len(after), len(before) + 2)
        made = [path for path in self.out.rglob("*.cpp") if not path.is_symlink()]
        self.assertEqual(sorted(path.name for path in made), ["oldest_first.cpp", "reduce_all.cpp"])

    def test_diffs_that_do_not_apply(self):
        self.refused("\n   reduce_groups\n", "\n   lazy\n", "does not apply")
        self.refused("+++ b/model/unit/scheduler/reduce_all.cpp", "+++ b/model/unit/scheduler/greedy.cpp", "does not apply")

    def test_diffs_of_more(self):
        self.refused("\n   in_turn\n+", "\n+  in_turn\n+", "one new file and one line")
        self.refused("\n   in_turn\n+", "\n-  in_turn\n+", "one new file and one line")
        self.refused("--- /dev/null\n+++ b/model/unit", "--- a/model/types.hpp\n+++ b/model/unit", "one new file and one line")

    def test_a_page_without_diffs(self):
        done = self.apply(ROOT / "README.md")
        self.assertEqual((done.returncode, "no diff" in done.stderr), (1, True), done.stderr)


if __name__ == "__main__":
    unittest.main()
