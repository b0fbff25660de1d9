#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The workflow for others runs .ci/run in both releases of Debian, and nothing else; templates can be read."""

import os
import re
import unittest
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[2]
GITHUB = ROOT / ".github"


class Workflow(unittest.TestCase):
    def setUp(self):
        self.text = (GITHUB / "workflows/ci.yml").read_text(encoding="utf-8")
        self.job = yaml.safe_load(self.text)["jobs"]["test"]

    def test_it_runs_the_one_command(self):
        runs = [step["run"] for step in self.job["steps"] if "run" in step]
        self.assertEqual(runs[-1], ".ci/run")
        self.assertTrue(os.access(ROOT / ".ci/run", os.X_OK))
        for run in runs[:-1]:
            self.assertRegex(run, r"^(apt-get|git) ")
        self.assertLess(len(self.text.splitlines()), 40)

    def test_releases_are_those_of_the_platforms(self):
        releases = self.job["strategy"]["matrix"]["debian"]
        self.assertEqual(self.job["container"], "debian:${{ matrix.debian }}")
        said = re.findall(r"^\| Debian (\d+) \|", (ROOT / "docs/tutorial.md").read_text(encoding="utf-8"), re.MULTILINE)
        self.assertEqual(sorted(set(map(int, said))), releases)

    def test_commits_are_all_there(self):
        checkout = next(step for step in self.job["steps"] if step.get("uses", "").startswith("actions/checkout@"))
        self.assertEqual(checkout["with"]["fetch-depth"], 0)


class Templates(unittest.TestCase):
    def test_issue_templates_have_name_and_use(self):
        paths = list((GITHUB / "ISSUE_TEMPLATE").glob("*.md"))
        self.assertGreaterEqual(len(paths), 2)
        for path in paths:
            head = yaml.safe_load(path.read_text(encoding="utf-8").split("---\n")[1])
            self.assertTrue(head["name"] and head["about"], path)

    def test_pull_requests_are_asked_for_the_command(self):
        self.assertIn("`.ci/run`", (GITHUB / "pull_request_template.md").read_text(encoding="utf-8"))

    def test_scripts_that_templates_name_exist(self):
        for path in GITHUB.rglob("*.md"):
            for script in re.findall(r"scripts/\w+\.sh", path.read_text(encoding="utf-8")):
                self.assertTrue((ROOT / script).exists(), script)


if __name__ == "__main__":
    unittest.main()
