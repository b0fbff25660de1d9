#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Commands that are ended at random moments: with nothing half-written under a final name, no process left, and nothing
lost on resuming. WARPFOLD_KILLS: how often each [a few]; WARPFOLD_SEED: of the moments."""

import csv
import json
import os
import random
import re
import signal
import subprocess
import sys
import time
import unittest
from pathlib import Path

from tb.robustness.command import COMMAND, ROOT, CommandTest

# What a script starts in its background ignores SIGINT, and so would the programs that are started here.
signal.signal(signal.SIGINT, signal.default_int_handler)

KILLS = int(os.environ.get("WARPFOLD_KILLS", "3"))
SEED = int(os.environ.get("WARPFOLD_SEED", "1"))
PATIENCE = 60.0  # seconds: a command that is still there has not understood
PYTHON = "/usr/bin/python3" if os.access("/usr/bin/python3", os.X_OK) else sys.executable
# What only a killed process may leave: names that nobody takes for results.
TEMPORARY = re.compile(r"\.tmp-\d+-\d+$|^\.|^tmp|^warpfold-(wave-)?\w{6}$")


def processes_of(mark):
    """Those with this in their environment, by number."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and mark in (entry / "environ").read_bytes():
                state = (entry / "stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()[0]
                found += [] if state in "ZX" else [int(entry.name)]
        except OSError:
            pass
    return found


def name_of(pid):
    try:
        return Path(f"/proc/{pid}/comm").read_text(encoding="utf-8").strip()
    except OSError:
        return ""


class KillTest(CommandTest):
    def setUp(self):
        super().setUp()
        self.random = random.Random(f"{SEED} {self.id()}")
        self.trace = self.folder / "many.wft"
        self.succeeds("trace", "slice", ROOT / "traces/data/dynibar.wft", self.trace, "--last-cta", 400)

    def kill_once(self, command, folder, seconds):
        """Starts it, ends it at a random moment, and returns (signal, exit code)."""
        mark = f"WARPFOLD_KILL_TEST={os.getpid()}-{self.random.random()}"
        key, value = mark.split("=")
        child = subprocess.Popen(list(map(str, command)), cwd=folder, stdin=subprocess.DEVNULL,
                                 stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True,
                                 env={**os.environ, key: value, "TMPDIR": str(folder)})
        number = self.random.choice([signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
        moment = self.random.uniform(0, seconds)
        try:
            child.wait(moment)
        except subprocess.TimeoutExpired:
            pass
        child.send_signal(number)
        _, said = child.communicate(timeout=PATIENCE)
        # One of an interrupt is of Python's own start: a script that has begun says nothing (base/guard.py).
        if not said.endswith(b"KeyboardInterrupt\n"):
            self.assertNotIn(b"Traceback", said)
        until = time.monotonic() + PATIENCE
        while processes_of(mark.encode()) and time.monotonic() < until:
            time.sleep(0.05)
        self.assertEqual(processes_of(mark.encode()), [], f"{command}: signal {number}")
        self.assertIn(child.returncode, (0, -number, 128 + number), said)
        if moment < 0.1 * seconds:
            self.assertNotEqual(child.returncode, 0, f"{command}: went on in spite of signal {number}")
        return number, child.returncode

    def kill_often(self, command, check):
        """`check(folder, ended)`: of what lies there then; `ended`: whether the command came to its end."""
        began = time.monotonic()
        whole = self.folder / "whole"
        whole.mkdir()
        subprocess.run(list(map(str, command)), cwd=whole, check=True, stdout=subprocess.DEVNULL)
        seconds = 1.1 * (time.monotonic() - began)
        for number in range(KILLS):
            with self.subTest(number):
                folder = self.folder / f"killed-{number}"
                folder.mkdir()
                how, code = self.kill_once(command, folder, seconds)
                names = {path.name for path in folder.iterdir()}
                left = {name for name in names if TEMPORARY.search(name)}
                if how != signal.SIGKILL:
                    self.assertEqual(left, set(), f"left by signal {how}")
                check(whole, folder, names - left, code == 0)


class Killed(KillTest):
    def test_sim(self):
        def runs_of(path):
            document = json.loads(path.read_text(encoding="utf-8"))
            for run in document["runs"]:
                run.pop("wall_seconds")
                run.pop("speedup", None)  # over a run that may not have ended
            return document

        def check(whole, folder, names, ended):
            self.assertLessEqual(names, {"o.json"})
            if ended:
                self.assertEqual(names, {"o.json"})
            if names:
                expected, found = runs_of(whole / "o.json"), runs_of(folder / "o.json")
                if found.pop("partial", False):
                    self.assertLess(len(found["runs"]), len(expected["runs"]))
                    self.assertFalse(ended)
                    expected["runs"] = [run for run in expected["runs"]
                                        if run["policy"] in {other["policy"] for other in found["runs"]}]
                self.assertEqual(found, expected)

        self.kill_often([COMMAND, "sim", self.trace, "--unit", "golden", "--policy", "all", "--json", "o.json"], check)

    def check_file(self, name):
        def check(whole, folder, names, ended):
            self.assertEqual(names, {name} if ended else names & {name})
            if names:
                self.assertEqual((folder / name).read_bytes(), (whole / name).read_bytes())
        return check

    def test_trace_sample(self):
        whole = ROOT / "traces/data/web-stanford.wft"
        self.kill_often([COMMAND, "trace", "sample", whole, "o.wft", "--every", 16], self.check_file("o.wft"))

    def test_regress_wave(self):
        self.kill_often([COMMAND, "regress", self.trace, "--max-events", 300, "--wave", "o.fst"],
                        lambda whole, folder, names, ended: self.assertEqual(names, {"o.fst"} if ended else
                                                                             names & {"o.fst"}))

    def test_import(self):
        example = ROOT / "traces/import/accelsim/example/kernelslist.g"
        self.kill_often([COMMAND, "trace", "import-accelsim", example, "--out", "."], self.check_file("kernel-1.wft"))


class KilledFigures(KillTest):
    def test_pages_are_whole(self):
        """Files may be missing, none is cut off."""
        def check(whole, folder, names, ended):
            self.assertLessEqual(names, {"figures"})
            found = {path.name: path.read_bytes() for path in (folder / "figures").glob("[!.]*")}
            expected = {path.name: path.read_bytes() for path in (whole / "figures").iterdir()}
            self.assertEqual(found, expected if ended else {name: expected[name] for name in found})

        self.kill_often([PYTHON, "-B", ROOT / "python", "figures", "--only", "fig07,fig19", "--output", "figures"],
                        check)


class KilledSweep(KillTest):
    def test_no_job_outlives_it(self):
        """However it ends: this one simulates for longer than anybody waits here."""
        (self.folder / "s.yaml").write_text("sweeps:\n- {traces: [truck], machines: [rtx3060, rtx4090], "
                                            "policies: [baseline], unit: rtl}\n", encoding="utf-8")
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
            with self.subTest(number):
                mark = f"{os.getpid()}-{number}"
                child = subprocess.Popen([PYTHON, "-B", ROOT / "python", "sweep", self.folder / "s.yaml",
                                          "--output", self.folder / f"out-{mark}"], stdout=subprocess.DEVNULL,
                                         stderr=subprocess.DEVNULL, start_new_session=True,
                                         env={**os.environ, "WARPFOLD": COMMAND, "WARPFOLD_KILL_TEST": mark,
                                              "WARPFOLD_POINTS": str(self.folder / f"points-{mark}")})
                wanted = f"WARPFOLD_KILL_TEST={mark}".encode()
                until = time.monotonic() + 60
                while not any(name_of(pid) == "warpfold" for pid in processes_of(wanted)):
                    self.assertLess(time.monotonic(), until, "no simulation has begun")
                    time.sleep(0.05)
                time.sleep(0.2)  # it is not only asked for the policies
                child.send_signal(number)
                child.wait(60)
                until = time.monotonic() + PATIENCE
                while processes_of(wanted) and time.monotonic() < until:
                    time.sleep(0.05)
                left = processes_of(wanted)
                for pid in left:
                    os.kill(pid, signal.SIGKILL)
                self.assertEqual(left, [])

    def test_goes_on_from_where_it_was(self):
        (self.folder / "s.yaml").write_text(
            f"sweeps:\n- {{traces: [{self.trace}], machines: [rtx3060], policies: [baseline, lab, 'sw-b:1..3'], "
            "unit: golden}\n", encoding="utf-8")

        def command(name):
            return ["env", f"WARPFOLD={COMMAND}", f"WARPFOLD_POINTS={self.folder}/{name}-points", PYTHON, "-B",
                    ROOT / "python", "sweep", self.folder / "s.yaml", "--output", self.folder / name]

        began = time.monotonic()
        subprocess.run(command("whole"), check=True, stdout=subprocess.DEVNULL)
        seconds = time.monotonic() - began
        done = {}
        for _ in range(max(1, KILLS // 2)):
            self.kill_once(command("killed"), self.folder, seconds)
            done |= {path: path.read_bytes() for path in (self.folder / "killed-points").glob("[!.]*.json")}
        subprocess.run(command("killed"), check=True, stdout=subprocess.DEVNULL)
        self.assertEqual({path: path.read_bytes() for path in done}, done)
        self.assertEqual(self.table("killed"), self.table("whole"))

    def table(self, name):
        """All but what it took."""
        with (self.folder / name / "table.csv").open(encoding="utf-8", newline="") as file:
            return [{key: value for key, value in row.items() if key != "wall_seconds"}
                    for row in csv.DictReader(file)]


if __name__ == "__main__":
    unittest.main()
