#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Commits since the base keep to the rule of CONTRIBUTING.md, and scripts/check_commits.sh finds those that do not."""

import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
WHO = {f"GIT_{role}_{what}": value for role in ("AUTHOR", "COMMITTER")
       for what, value in (("NAME", "A"), ("EMAIL", "a@example.org"))}


def run(folder, *command):
    environment = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False,
                          env={**environment, **WHO, "GIT_CONFIG_GLOBAL": os.devnull})


class Commits(unittest.TestCase):
    def test_those_of_the_repository(self):
        done = run(ROOT, "scripts/check_commits.sh")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


@unittest.skipUnless(shutil.which("git"), "no git")
class Rule(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        (self.root / "scripts").mkdir()
        shutil.copy(ROOT / "scripts/check_commits.sh", self.root / "scripts")

    def check(self, *arguments):
        return run(self.root, "scripts/check_commits.sh", *arguments)

    def commit(self, message):
        done = run(self.root, "git", "commit", "-q", "--allow-empty", "--cleanup=verbatim", "-m", message)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_messages(self):
        run(self.root, "git", "init", "-q")
        self.commit("Begin\n\nThe first one.")
        for message, words in (("S" * 51 + "\n\nWhy.", "subject of 51 characters"), ("Do it", "no body"),
                               ("Do it.\n\nWhy.", "full stop"), ("do it\n\nWhy.", "no capital"),
                               ("Do it\nWhy.\n\nAnd more.", "no empty line")):
            with self.subTest(message=message):
                self.commit(message)
                done = self.check("HEAD~1..HEAD")
                self.assertEqual(done.returncode, 1, done.stdout)
                # Git joins the lines up to the first empty one to a subject.
                self.assertIn(words, done.stdout)
        self.commit("S" * 50 + "\n\nWhy.")
        self.assertEqual(self.check("HEAD~1..HEAD").stdout, "commits: 1, ok\n")

    def test_history_that_is_not_there(self):
        done = self.check()
        self.assertEqual((done.returncode, "no Git history" in done.stdout), (0, True), done.stdout + done.stderr)
        run(self.root, "git", "init", "-q")
        self.commit("do.")
        done = self.check()
        self.assertEqual((done.returncode, "does not reach back" in done.stdout), (0, True), done.stdout)

    def test_bad_usage(self):
        run(self.root, "git", "init", "-q")
        self.commit("Begin\n\nWhy.")
        for arguments in (["--all"], ["none..HEAD"], ["HEAD", "HEAD"]):
            done = self.check(*arguments)
            self.assertEqual((done.returncode, len(done.stderr.splitlines())), (2, 1), done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main()
