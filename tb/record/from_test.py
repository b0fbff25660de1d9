#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`warpfold record --from` as a user meets it: exit codes, and one line for what it refuses.

usage: from_test.py WARPFOLD
"""

import json
import struct
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

WARPFOLD = sys.argv.pop(1)
LAUNCH = {"kernel": "adds", "launch": 1, "grid": [1, 1, 1], "block": [32, 1, 1], "registers": 16, "shared": 0,
          "arch": "sm_90", "gpu": "a GPU", "driver": "a driver", "cuda": "13.0", "every": 1, "sites": [], "arrays": [],
          "milliseconds": []}
ALL = 0xffffffff
ENTER, EXIT, UNIFORM_ADDITION = 1, 2, 3 | 1 << 9 | 1 << 10


def recording():
    """One warp whose lanes add to one address, ten times."""
    words = [ENTER, 1, 1, ALL]
    for event in range(10):
        words += [UNIFORM_ADDITION, 1, 1, ALL, 0x1000 + 4 * event, 1 << 31, 0, 0]
    words += [EXIT, 1, 1, ALL]
    text = json.dumps(LAUNCH).encode()
    return (b"warpfold.record/1".ljust(32, b"\n")
            + struct.pack(f"<{len(words) + 4}I", *words, 0, len(text), len(words), 0) + text)


class From(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="warpfold-from-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.file = self.folder / "adds.wfrec"
        self.file.write_bytes(recording())

    def record(self, *arguments):
        return subprocess.run([WARPFOLD, "record", *map(str, arguments)], capture_output=True, text=True, check=False,
                              cwd=self.folder)

    def refused(self, text, *arguments):
        done = self.record(*arguments)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        self.assertIn(text, done.stderr)

    def test_a_recording_is_simulated(self):
        done = self.record("--from", self.file, "--out", "made", "--workload", "mine")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("adds, launch 1: 10 events at 1 site, 320 lane additions", done.stdout)
        done = subprocess.run([WARPFOLD, "sim", self.folder / "made/adds.wft", "--gpu", "rtx4090", "--policy",
                               "baseline,arc-hw,sw-s:8", "--unit", "golden", "--json", self.folder / "out.json"],
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        runs = json.loads((self.folder / "out.json").read_text())["runs"]
        self.assertEqual([run["policy"] for run in runs], ["baseline", "arc-hw", "sw-s:8"])

    def test_what_is_refused(self):
        self.refused("nowhere.wfrec: cannot be opened", "--from", "nowhere.wfrec")
        self.file.write_bytes(recording()[:-1])
        self.refused("adds.wfrec: is cut off", "--from", self.file)
        self.assertEqual(list(self.folder.glob("*.wft*")), [])
        self.refused("--from", "--from", self.file, "--kernel", "adds")
        self.refused("neither a program", "--out", "made")


if __name__ == "__main__":
    unittest.main()
