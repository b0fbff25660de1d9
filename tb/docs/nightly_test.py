#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of scripts/nightly.sh with stand-ins for the checks that it starts."""

import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

from warpfold.tools.commands import tools

ROOT = Path(__file__).resolve().parents[2]


class Nightly(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        (self.root / "scripts").mkdir()
        for name in ("nightly.sh", "lib.sh"):
            shutil.copy(ROOT / "scripts" / name, self.root / "scripts" / name)
        for line in self.nightly("--list").stdout.splitlines():
            self.stand_in(line[68:].split()[0])
        tool = f'import sys; print(*sys.argv[1:], file=open("{self.root}/called", "a"))'
        (self.root / "python").mkdir()
        (self.root / "python/__main__.py").write_text(tool, encoding="utf-8")

    def stand_in(self, script, code=0):
        path = self.root / script
        path.write_text(f'#!/bin/sh\necho "$(basename "$0") $*" >> "{self.root}/called"\n'
                        f'echo "said by $0"\nexit {code}\n', encoding="utf-8")
        path.chmod(0o755)

    def nightly(self, *arguments):
        return subprocess.run(["bash", self.root / "scripts/nightly.sh", *arguments], capture_output=True, text=True,
                              check=False)

    def called(self):
        path = self.root / "called"
        return path.read_text(encoding="utf-8").splitlines() if path.exists() else []

    def test_every_check_is_a_script_of_the_repository_or_a_tool(self):
        lines = self.nightly("--list").stdout.splitlines()
        self.assertGreaterEqual(len(lines), 10)
        for line in lines:
            words = line[68:].split()
            if words[0] == "python3":
                self.assertEqual(words[:3], ["python3", "-B", "python"])
                self.assertIn(words[3], tools())
            else:
                self.assertTrue((ROOT / words[0]).is_file(), line)
        self.assertEqual(self.called(), [])

    def test_all_without_a_gpu(self):
        done = self.nightly()
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(self.called()[:4], ["test.sh --nightly", "test.sh --elsewhere", "docs.sh --nightly", "regress.sh --seeds 20"])
        self.assertIn("synth --check", self.called())
        self.assertNotIn("sanitize.sh ", self.called())
        without = [line.split()[0] for line in self.nightly("--list").stdout.splitlines() if not line.startswith("gpu-")]
        self.assertEqual([line.split()[0] for line in done.stdout.splitlines()], without)

    def test_named_ones(self):
        self.nightly("proofs", "mutants")
        self.assertEqual(self.called(), ["prove.sh ", "mutate.sh "])

    def test_documents_alone(self):
        self.nightly("--docs")
        self.assertEqual(self.called(), ["docs.sh --nightly"])

    def test_with_a_gpu(self):
        self.nightly("--docs", "--gpu")
        self.assertEqual(self.called(), ["docs.sh --nightly", "docs.sh --gpu", "sanitize.sh "])

    def test_a_failure_stops_no_other(self):
        self.stand_in("scripts/regress.sh", 1)
        done = self.nightly("seeds", "proofs")
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stdout, r"seeds +FAILED")
        self.assertRegex(done.stdout, r"said by scripts/regress.sh\n +all of it: results/nightly/seeds.log")
        self.assertRegex(done.stdout, r"proofs +ok")

    def test_bad_usage(self):
        for argument in ("--fast", "proof"):
            done = self.nightly(argument)
            self.assertEqual(done.returncode, 2)
            self.assertEqual(len(done.stderr.splitlines()), 1)
            self.assertIn(argument, done.stderr)
        self.assertEqual(self.called(), [])


if __name__ == "__main__":
    unittest.main()
