# SPDX-License-Identifier: Apache-2.0
"""warpfold report as a command: what it writes, and that bad input is one line, exit code 2, and no file."""

import json
import os
import pathlib
import tempfile
import unittest

import fixture
from fixture import warpfold


class Command(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.temporary.name)
        cls.results, cls.timeline = fixture.simulate(cls.folder)

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    def refused(self, *arguments, says):
        before = sorted(os.listdir(self.folder))
        done = warpfold("report", *arguments, cwd=self.folder)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertEqual(done.stdout, "")
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        self.assertIn(says, done.stderr)
        self.assertEqual(sorted(os.listdir(self.folder)), before)

    def test_writes_a_page(self):
        done = warpfold("report", self.results, cwd=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        runs = len(json.loads(self.results.read_text())["runs"])
        self.assertRegex(done.stdout, rf"^report\.html: {runs} runs, all checks ok, \d+ KB\n$")
        page = (self.folder / "report.html").read_text()
        os.remove(self.folder / "report.html")
        self.assertTrue(page.startswith("<!DOCTYPE html>") and page.rstrip().endswith("</html>"))
        self.assertEqual(warpfold("report", self.results, "--out", "-", cwd=self.folder).stdout, page)

    def test_says_that_checks_failed(self):
        document = json.loads(self.results.read_text())
        document["runs"][0]["sums_match"] = False
        path = self.folder / "failed.json"
        path.write_text(json.dumps(document))
        done = warpfold("report", path, "--out", self.folder / "failed.html")
        self.assertEqual(done.returncode, 0)
        self.assertIn("checks NOT ok in 1,", done.stdout)

    def test_refuses_bad_input(self):
        (self.folder / "text.json").write_text("text")
        self.refused(says="RESULTS is required")
        self.refused("text.json", says="text.json: is no JSON")
        self.refused("absent.json", says="absent.json: cannot be read")
        self.refused(self.timeline, says="warpfold.sim/1 is needed")
        self.refused(self.results, self.results, says="given twice")
        self.refused(self.results, "--out", self.results, says="is an input of this report")
        self.refused(self.results, "--timeline", self.timeline, "--out", self.timeline, says="is an input of this report")
        self.refused(self.results, "--area", self.results, says="given twice")
        self.refused(self.results, "--out", self.folder / "no" / "such.html", says="cannot be written")
        self.refused(self.results, "--out", "", says="--out")

    def test_refuses_a_timeline_of_other_runs(self):
        document = json.loads(self.results.read_text())
        document["runs"] = [run for run in document["runs"] if run["gpu"] == "rtx3060"]
        path = self.folder / "half.json"
        path.write_text(json.dumps(document))
        self.refused(path, "--timeline", self.timeline, says="small on rtx4090 under baseline")

    def test_a_bad_run_leaves_an_old_page(self):
        page = self.folder / "old.html"
        page.write_text("old")
        self.refused(self.timeline, "--out", page, says="is needed")
        self.assertEqual(page.read_text(), "old")


if __name__ == "__main__":
    unittest.main()
