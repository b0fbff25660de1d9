#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Progress of long commands: a line on a terminal, with the time left where that is known, and none in a pipe.

    progress_test.py WARPFOLD
"""

import os
import pty
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "traces/data"
LINE = "\r\x1b[K"

SLOW = """
import time
from warpfold.tools.base.progress import Progress
with Progress(4, "cases") as progress:
    for _ in range(4):
        time.sleep(0.4)
        progress.step()
print("done")
"""

SHELL = """
source "$1/progress.sh"
for i in 0 1 2 3; do progress $i 4 seeds; sleep 0.8; done
wipe_progress
echo done
"""


def on_terminal(command, cwd):
    """What it wrote to a terminal: stdout and stderr together."""
    try:
        me, other = pty.openpty()
    except OSError as error:
        raise unittest.SkipTest(f"no terminal to be had here: {error} (is /dev/pts mounted?)") from error
    child = subprocess.Popen(command, cwd=cwd, stdout=other, stderr=other, stdin=subprocess.DEVNULL)
    os.close(other)
    text = b""
    while True:
        try:
            piece = os.read(me, 65536)
        except OSError:
            break
        if not piece:
            break
        text += piece
    os.close(me)
    return child.wait(), text.decode()


class Lines(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def check(self, command, expected, in_time=False):
        code, text = on_terminal(command, self.folder)
        self.assertEqual(code, 0, text)
        self.assertIn(LINE, text)
        self.assertIn(expected, text)
        self.assertRegex(text, r"\d+ %  ")
        if in_time:
            self.assertRegex(text, r"\d+ (s|min \d+ s|min) left, ")
        # What comes after the last line is not on it.
        last = [match.start() for match in re.finditer(r"\d %  ", text)][-1]
        self.assertGreater(text.rfind(LINE), last, text)
        for old in self.folder.glob("out*"):
            old.unlink()
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr, "")
        self.assertNotIn("\x1b", done.stdout)
        return text

    def warpfold(self, *words):
        return [WARPFOLD, *map(str, words)]

    def test_simulations_and_regressions_say_how_far_they_are(self):
        # Some seconds each: the time left is told after one.
        self.check(self.warpfold("sim", DATA / "lego-ballot.wft", "--policy", "baseline,arc-hw,cccl", "--unit", "golden"),
                   "running: ", in_time=True)
        self.check(self.warpfold("regress", DATA / "dynibar.wft", "--max-events", 150000), "events", in_time=True)

    def test_commands_on_traces_say_how_far_they_are(self):
        trace = DATA / "lego-ballot-values.wft"
        self.check(self.warpfold("trace", "verify", trace), "verifying")
        self.check(self.warpfold("trace", "info", trace), "reading")
        self.check(self.warpfold("trace", "slice", trace, "out.wft", "--every", 2), "writing out.wft")
        self.check(self.warpfold("trace", "sample", DATA / "truck-struct.wft", "out.wft", "--every", 3),
                   "writing out.wft")
        self.check(self.warpfold("trace", "recost", DATA / "truck-values.wft", "out.wft", "--costs", DATA / "costs.json"),
                   "writing out.wft")

    def test_lines_of_results_stand_alone(self):
        text = self.check(self.warpfold("trace", "verify", DATA / "lego-ballot.wft", DATA / "truck-values.wft"),
                          "verifying")
        results = [line for line in text.replace("\r\n", "\n").split("\n") if "lego-ballot.wft: " in line]
        self.assertEqual(len(results), 1)
        self.assertTrue(results[0].rsplit(LINE, 1)[-1].startswith(str(DATA)), results)

    def test_python_scripts_say_how_far_they_are(self):
        text = self.check([sys.executable, "-B", "-c", SLOW], "of 4 cases", in_time=True)
        self.assertIn("  0 %  0 of 4 cases", text)
        self.assertIn("100 %", text)

    def test_shell_scripts_say_how_far_they_are(self):
        self.check(["bash", "-c", SHELL, "-", str(ROOT / "scripts")], "3 of 4 seeds", in_time=True)


if __name__ == "__main__":
    WARPFOLD = sys.argv.pop(1)
    unittest.main()
