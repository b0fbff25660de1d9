#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Ends `warpfold record` at random moments while it records a program on a GPU: within seconds, each trace that lies there
whole and the same as of a run to its end, no process left.

usage: WARPFOLD=... WARPFOLD_KILLS=200 [WARPFOLD_SEED=1] kill_record.py ADDITIONS

ADDITIONS is additions.cu, compiled. Needs nothing but Python and the installed command.
"""

import hashlib
import subprocess
import sys
import unittest
from pathlib import Path

from tb.robustness import kill_test
from tb.robustness.command import COMMAND


def events_of(trace):
    """Digest of masks and lanes in order; addresses are of the run. Raises where the trace is damaged."""
    done = subprocess.run([COMMAND, "trace", "dump", trace], capture_output=True, check=True)
    events = [line.split(b" primitive")[0] for line in done.stdout.splitlines() if b" event " in line]
    return len(events), hashlib.sha256(b"\n".join(events)).hexdigest()


class KilledRecording(kill_test.KillTest):
    program = ""

    def setUp(self):
        kill_test.CommandTest.setUp(self)
        self.random = kill_test.random.Random(f"{kill_test.SEED} record")

    def test_traces_are_whole(self):
        expected = {}

        def check(whole, folder, names, ended):
            if not expected:
                expected.update({path.name: events_of(path) for path in (whole / "recorded").glob("*.wft")})
                self.assertGreater(len(expected), 1)
            self.assertLessEqual(names, {"recorded", "arrays"})
            found = {path.name for path in (folder / "recorded").glob("*") if not kill_test.TEMPORARY.search(path.name)}
            self.assertEqual(found, set(expected) if ended else found & set(expected))
            for name in found:
                self.assertEqual(events_of(folder / "recorded" / name), expected[name], name)

        self.kill_often([COMMAND, "record", "--no-profile", "--time-runs", "1", "--out", "recorded", "--", self.program,
                         "arrays"], check)


if __name__ == "__main__":
    if len(sys.argv) != 2 or not Path(sys.argv[1]).is_file():
        print(__doc__.split("\n\n")[1], file=sys.stderr)
        sys.exit(2)
    KilledRecording.program = str(Path(sys.argv[1]).resolve())
    unittest.main(argv=sys.argv[:1])
