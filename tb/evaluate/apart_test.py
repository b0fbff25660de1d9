#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Unit libraries that end the program, crash it, hang, take memory, leave processes or write over the results: each is a
verdict in one line, with exit code 1, and nothing of it is left.

  apart_test.py WARPFOLD HOSTILE TRACE
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

# What a script starts in its background ignores SIGINT, and so would the programs that are started here.
signal.signal(signal.SIGINT, signal.default_int_handler)

CYCLE = ", in its cycle 1000"
# What the unit does: what is said of it.
VERDICTS = {
    "exits": f"ended the program with exit code 0{CYCLE}",
    "exits at once": f"ended the program with exit code 0{CYCLE}",
    "exits as it is loaded": "ended the program with exit code 0, while its library was loaded",
    "crashes": f"crashed{CYCLE}: Segmentation fault",
    "aborts": f"crashed{CYCLE}: Aborted",
    "hangs": f"did not come back within 1 s{CYCLE}",
    "hangs as it is loaded": "did not come back within 1 s, while its library was loaded",
    "turns": f"did not come back within 1 s{CYCLE}",
    "stops": f"did not come back within 1 s{CYCLE}",
    "eats memory": f"took more than 400 MiB of memory{CYCLE}",
    "forks": f"forked its process, and both went on{CYCLE}",
    "leaves a process": "left processes behind, which were ended",
    "begins processes": f"began more than 64 processes{CYCLE}",
    "writes over the results": f"ended the program with exit code 0{CYCLE}",
    "goes on writing": "left processes behind, which were ended",
}
# What a unit throws is a broken rule that can be replayed.
THROWN = {
    "throws": ": in its cycle 1000: of no use",
    "throws a number": ": in its cycle 1000: threw what is no std::exception",
    "throws as it is made": ": cannot be made: not today",
    "returns null": ": cannot be made: make() returned null",
}


def processes():
    """Ids of all that have the unit loaded or began in such a process."""
    found = set()
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                if b"HOSTILE=" in (entry / "environ").read_bytes() and "\nState:\tZ" not in (entry / "status").read_text():
                    found.add(int(entry.name))
            except OSError:
                pass
    return found


class Apart(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.results = self.folder / "results.json"

    def run_unit(self, what, *words, command="contract"):
        before = processes()
        seconds = "20" if what in ("eats memory", "begins processes") else "1"
        done = subprocess.run(
            [WARPFOLD, command, "--unit-library", HOSTILE, "--unit-seconds", seconds, "--unit-memory", "400", *map(str, words)],
            env={**os.environ, "HOSTILE": what, "RESULTS": str(self.results)},
            capture_output=True, text=True, timeout=120, check=False,
        )
        self.assertEqual(processes() - before, set(), what)
        return done

    def contract(self, what, *words):
        return self.run_unit(what, "--requests", "4000", "--json", self.results, *words)

    def test_without_a_fault_it_is_as_any_unit(self):
        done = self.contract("")
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        self.assertIn("serial: the unit keeps the contract\n", done.stdout)
        self.assertTrue(json.loads(self.results.read_text())["kept"])

    def test_every_end_is_a_verdict(self):
        for what, verdict in VERDICTS.items():
            with self.subTest(what=what):
                self.results.write_text("of an earlier run")
                done = self.contract(what)
                self.assertEqual(done.returncode, 1, done.stderr)
                self.assertTrue(done.stderr.startswith(f"warpfold: {HOSTILE}: {verdict}"), done.stderr)
                self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
                result = json.loads(self.results.read_text())
                self.assertEqual((result["kept"], result["rule"]), (False, "keeps running"))
                self.assertIn(verdict, result["message"])

    def test_what_a_unit_throws_breaks_a_rule(self):
        for what, verdict in THROWN.items():
            with self.subTest(what=what):
                replay = self.folder / "replay"
                done = self.contract(what, "--save-replay", replay, "--wave", self.folder / "wave.fst")
                self.assertEqual(done.returncode, 1, done.stderr)
                self.assertIn(f"keeps running: {HOSTILE}{verdict}", done.stderr)
                self.assertEqual(json.loads(self.results.read_text())["rule"], "keeps running")
                if "made" not in what and "null" not in what:
                    again = self.run_unit(what, "--replay", replay)
                    self.assertEqual(again.returncode, 1, again.stderr)
                    self.assertIn(f"keeps running: {HOSTILE}{verdict}", again.stderr)

    def test_regress_and_sim_watch_it_too(self):
        for command, words in (("regress", [TRACE, "--max-events", "2000"]),
                               ("sim", [TRACE, "--policy", "arc-hw", "--gpu", "rtx3060", "--json", self.results])):
            for what in ("exits", "crashes", "hangs", "leaves a process"):
                with self.subTest(command=command, what=what):
                    self.results.write_text("of an earlier run")
                    done = self.run_unit(what, *words, command=command)
                    self.assertEqual(done.returncode, 1, done.stderr)
                    self.assertIn(HOSTILE, done.stderr)
                    self.assertEqual(self.results.read_text(), "of an earlier run")
        done = self.run_unit("", TRACE, "--policy", "arc-hw", "--gpu", "rtx3060", "--json", self.results, command="sim")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(len(json.loads(self.results.read_text())["runs"]), 1)

    def test_stimulus_watches_it_too(self):
        for what in ("exits", "crashes", "leaves a process"):
            with self.subTest(what=what):
                before = processes()
                done = subprocess.run([WARPFOLD, "stimulus", TRACE, HOSTILE, "4000", "0.1"], check=False,
                                      env={**os.environ, "HOSTILE": what}, capture_output=True, text=True, timeout=120)
                self.assertEqual(done.returncode, 1, done.stderr)
                self.assertTrue(done.stderr.startswith(f"warpfold: {HOSTILE}: "), done.stderr)
                self.assertEqual(processes() - before, set())

    def test_bad_input_is_no_verdict(self):
        done = self.run_unit("", "--replay", self.folder / "none")
        self.assertEqual(done.returncode, 2)
        self.assertEqual(done.stderr, f"warpfold: {self.folder}/none: cannot be read\n")
        done = subprocess.run([WARPFOLD, "contract", "--unit-library", self.folder / "none.so"], capture_output=True,
                              text=True, check=False)
        self.assertEqual((done.returncode, done.stderr.count("\n")), (2, 1), done.stderr)

    def test_a_signal_ends_both(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            before = processes()
            with subprocess.Popen([WARPFOLD, "contract", "--unit-library", HOSTILE, "--requests", "4000", "--json", self.results],
                                  env={**os.environ, "HOSTILE": "hangs"}, stderr=subprocess.PIPE, text=True) as child:
                while len(processes() - before) < 2:
                    time.sleep(0.02)
                child.send_signal(number)
                child.communicate(timeout=60)
            self.assertEqual(child.returncode, -number)
            self.assertEqual(processes() - before, set())
            self.assertFalse(self.results.exists())


if __name__ == "__main__":
    WARPFOLD, HOSTILE, TRACE = sys.argv[1:4]
    del sys.argv[1:4]
    unittest.main()
