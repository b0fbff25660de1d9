# SPDX-License-Identifier: Apache-2.0
"""What these tests share: the built command, a folder to run it in, and a small trace."""

import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
COMMAND = os.environ.get("WARPFOLD", str(ROOT / "build/release/model/warpfold"))
TRACE = ROOT / "traces/data/dynibar.wft"


class CommandTest(unittest.TestCase):
    """Each test has a folder of its own."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def small_trace(self):
        """A shipped trace cut to one CTA, as small.wft."""
        path = self.folder / "small.wft"
        if not path.exists():
            self.succeeds("trace", "slice", TRACE, path, "--last-cta", "0")
        return path

    def run_command(self, *words, **options):
        options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "timeout": 300, **options}
        return subprocess.run([COMMAND, *map(str, words)], cwd=self.folder, text=True, check=False, **options)

    def succeeds(self, *words, **options):
        done = self.run_command(*words, **options)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def refusal(self, *words, code=2, **options):
        """The one line with which a command refuses."""
        done = self.run_command(*words, **options)
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertRegex(done.stderr, r"\Awarpfold: [^\n]*\n\Z")
        return done.stderr.removeprefix("warpfold: ").rstrip("\n")

    def shell(self, script):
        """A bash script in the folder, with the command as $warpfold."""
        return subprocess.run([shutil.which("bash"), "-c", script], cwd=self.folder, text=True, check=False,
                              timeout=300, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              env={**os.environ, "warpfold": COMMAND})
