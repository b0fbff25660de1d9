# SPDX-License-Identifier: Apache-2.0
"""What the tests of the package share: the programs on their command line, and a folder that goes away.

Each test is called with the command warpfold and the program that makes a trace.
"""

import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import warpfold

ROOT = Path(__file__).resolve().parents[2]
TRACES = ROOT / "traces/data"
WARPFOLD, MADE_TRACE = sys.argv[1:3] if len(sys.argv) >= 3 else (None, None)


def run(*command):
    return subprocess.run([str(word) for word in command], check=True, stdout=subprocess.PIPE, text=True).stdout


class Case(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Path(tempfile.mkdtemp(prefix="warpfold-python-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.made = cls.folder / "made.wft"
        run(MADE_TRACE, cls.made)

    def refused(self, pattern, function, *arguments, **named):
        """It raises an Error of one line that the pattern is found in."""
        with self.assertRaisesRegex(warpfold.Error, pattern) as caught:
            function(*arguments, **named)
        self.assertNotIn("\n", str(caught.exception))

    def equal(self, found, wanted):
        """As assertEqual of long lists, which would compare their texts for minutes where they differ."""
        found, wanted = list(found), list(wanted)
        self.assertEqual(len(found), len(wanted))
        for i, (one, other) in enumerate(zip(found, wanted)):
            if one != other:
                self.fail(f"entry {i} is {one}, not {other}")


def main():
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
