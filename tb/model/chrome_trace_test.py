#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`warpfold sim --timeline` holds to the Chrome trace event format, as Perfetto and chrome://tracing read it: the
keys of every event, names for every track, slices of a track one after the other, bounded size, the same bytes
whatever the threads, and the options' errors.

    chrome_trace_test.py WARPFOLD
"""

import collections
import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

TRACE = Path(__file__).resolve().parents[2] / "traces/data/lego-ballot.wft"
KEYS = {
    "M": {"ph", "pid", "tid", "name", "args"},
    "C": {"ph", "pid", "tid", "ts", "name", "args"},
    "X": {"ph", "pid", "tid", "ts", "dur", "name"},
}
WINDOW = (3000, 6000)


class ChromeTrace(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = Path(folder.name)
        cls.warpfold("trace", "slice", TRACE, "t.wft", "--every", 20)
        cls.warpfold("sim", "t.wft", "--gpu", "rtx4090,h200", *cls.common(), "--timeline", "t.json", "--json", "r.json")
        cls.text = (cls.folder / "t.json").read_text(encoding="utf-8")
        cls.file = json.loads(cls.text)
        cls.runs = json.loads((cls.folder / "r.json").read_text(encoding="utf-8"))["runs"]
        cls.events = cls.file["traceEvents"]

    @staticmethod
    def common():
        return ["--policy", "baseline,arc-hw", "--unit", "golden", "--timeline-interval", 500, "--timeline-window",
                "%d:%d" % WINDOW, "--timeline-sm", "0,3", "--timeline-l2", "1"]

    @classmethod
    def command(cls, *words):
        return subprocess.run([WARPFOLD, *map(str, words)], cwd=cls.folder, capture_output=True, text=True, check=False)

    @classmethod
    def warpfold(cls, *words):
        done = cls.command(*words)
        if done.returncode != 0:
            raise AssertionError(done.stderr)

    def refusal(self, *words):
        before = sorted(self.folder.iterdir())
        done = self.command("sim", "t.wft", "--policy", "baseline", *words)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertEqual(done.stdout, "")
        self.assertEqual(done.stderr.count("\n"), 1)
        self.assertEqual(sorted(self.folder.iterdir()), before)
        return done.stderr.removeprefix("warpfold: ").strip()

    def names(self, kind):
        """{(pid, tid): name} of metadata events."""
        return {(e["pid"], e["tid"]): e["args"]["name"] for e in self.events if e["name"] == kind}

    def test_every_event_has_the_keys_of_its_kind(self):
        self.assertEqual(list(self.file), ["traceEvents", "displayTimeUnit", "otherData", "warpfold"])
        self.assertEqual(self.file["displayTimeUnit"], "ns")
        for event in self.events:
            with self.subTest(event=event):
                self.assertIn(event["ph"], KEYS)
                self.assertEqual(set(event) - {"args"}, KEYS[event["ph"]] - {"args"})
                for key in ("pid", "tid"):
                    self.assertIs(type(event[key]), int)
                for key in {"ts", "dur"} & set(event):
                    self.assertIsInstance(event[key], (int, float))
                    self.assertGreaterEqual(event[key], 0)
                self.assertIs(type(event["name"]), str)
                if event["ph"] == "M":
                    key = "name" if event["name"].endswith("_name") else "sort_index"
                    self.assertIn(event["name"], ("process_name", "thread_name", "process_sort_index",
                                                  "thread_sort_index"))
                    self.assertEqual(list(event["args"]), [key])
                elif event["ph"] == "C":
                    self.assertEqual(list(event["args"]), ["value"])
                    self.assertGreaterEqual(event["args"]["value"], 0)
                else:
                    self.assertGreater(event["dur"], 0)

    def test_every_track_has_a_name(self):
        processes, threads = self.names("process_name"), self.names("thread_name")
        titles = [f"{run['policy']} on {run['gpu']}" for run in self.runs]
        places = ["GPU", "SM 0", "SM 3", "L2 port 1"]
        self.assertEqual(sorted(processes.values()), sorted(f"{t}: {p}" for t in titles for p in places))
        self.assertEqual(len(processes), 16)
        for event in self.events:
            self.assertIn((event["pid"], 0), processes)
            if event["ph"] == "X":
                self.assertIn((event["pid"], event["tid"]), threads)
        by_name = {name: pid for (pid, _), name in processes.items()}
        of = collections.defaultdict(list)
        for (pid, _), name in threads.items():
            of[pid].append(name)
        cores, units = ([f"{kind} {i}" for i in range(4)] for kind in ("sub-core", "reduction unit"))
        rest = ["LSU", "LSU blocked", "injection port"]
        self.assertEqual(sorted(of[by_name["baseline on rtx4090: SM 3"]]), sorted(cores + rest))
        self.assertEqual(sorted(of[by_name["arc-hw on h200: SM 0"]]), sorted(cores + units + rest))
        self.assertTrue(all(name.startswith("slice ") for name in of[by_name["arc-hw on h200: L2 port 1"]]))

    def test_slices_lie_in_the_window_one_after_the_other(self):
        ends = collections.defaultdict(lambda: WINDOW[0])
        slices = [event for event in self.events if event["ph"] == "X"]
        self.assertGreater(len(slices), 1000)
        for event in slices:
            track = event["pid"], event["tid"]
            self.assertGreaterEqual(event["ts"], ends[track], event)
            ends[track] = event["ts"] + event["dur"]
            self.assertLessEqual(ends[track], WINDOW[1])
        # Perfetto counts nanoseconds, and rounds begin and length apart.
        for rounding in (int, round):
            last = collections.defaultdict(int)
            for event in slices:
                track, begin = (event["pid"], event["tid"]), rounding(event["ts"] * 1000)
                self.assertGreaterEqual(begin, last[track], event)
                last[track] = begin + rounding(event["dur"] * 1000)
        # A sub-core does something all the time.
        busy = collections.Counter()
        for event in slices:
            busy[event["pid"], event["tid"]] += event["dur"]
        for track, name in self.names("thread_name").items():
            if name.startswith("sub-core"):
                self.assertEqual(busy[track], WINDOW[1] - WINDOW[0], name)

    def test_counters_are_in_order_and_shares(self):
        last = {}
        for event in self.events:
            if event["ph"] == "C":
                key = event["pid"], event["name"]
                self.assertGreaterEqual(event["ts"], last.get(key, 0))
                last[key] = event["ts"]
                if event["name"].endswith("%"):
                    self.assertLessEqual(event["args"]["value"], 101)
        processes = self.names("process_name")
        gpu = next(pid for (pid, _), name in processes.items() if name == "baseline on rtx4090: GPU")
        self.assertEqual({name for pid, name in last if pid == gpu},
                         {"issue slots busy, %", "reduction units busy, %", "LSUs busy, %", "atomic buffers busy, %",
                          "injection ports busy, %", "ROP units busy, %", "memory queues full, %",
                          "injection queues full, %", "L2 buffers full, %"})

    def test_scripts_read_the_arrays(self):
        arrays = self.file["warpfold"]
        self.assertEqual(arrays["schema"], "warpfold.timeline/2")
        self.assertEqual(len(arrays["runs"]), 4)
        for timeline, run, about in zip(arrays["runs"], self.runs, self.file["otherData"]["runs"]):
            for key in ("trace", "gpu", "policy", "unit", "unit_kind", "cycles", "gpu_part"):
                self.assertEqual(timeline[key], run[key])
            intervals = -(-run["cycles"] // 500)
            for kind, busy in timeline["busy"].items():
                self.assertEqual(len(busy), intervals)
                share = sum(busy) / (timeline["units"][kind] * run["cycles"])
                self.assertAlmostEqual(share, run["utilization"][kind])
            for kind, held in timeline["held"].items():
                self.assertEqual(len(held), intervals)
                self.assertLessEqual(max(held), timeline["room"][kind])
            self.assertEqual(about["cycle_ns"], 1 / run["config"]["sm"]["clock_ghz"])
            self.assertEqual(about["window_cycles"], list(WINDOW))
            self.assertIn({"ph": "M", "pid": about["pid"], "tid": 0, "name": "process_name",
                           "args": {"name": about["name"] + ": GPU"}}, self.events)

    def test_bytes_do_not_depend_on_who_computes(self):
        for threads, jobs in ((2, 1), (3, 2)):
            self.warpfold("sim", "t.wft", "--gpu", "rtx4090,h200", *self.common(), "--timeline", "again.json", "--threads",
                          threads, "--jobs", jobs)
            self.assertTrue((self.folder / "again.json").read_text(encoding="utf-8") == self.text)
        (self.folder / "again.json").unlink()

    def test_size_is_bounded(self):
        self.warpfold("sim", "t.wft", "--policy", "baseline", "--unit", "golden", "--timeline", "s.json",
                      "--timeline-interval", 1, "--timeline-sm", "none", "--timeline-l2", "none")
        file = json.loads((self.folder / "s.json").read_text(encoding="utf-8"))
        run = file["warpfold"]["runs"][0]
        self.assertGreater(run["cycles"], 16384)
        self.assertGreater(run["interval"], 1)
        self.assertLess(len(run["busy"]["issue"]), 16384)
        self.assertLess((self.folder / "s.json").stat().st_size, 20e6)
        self.assertEqual({event["pid"] for event in file["traceEvents"]}, {1})
        (self.folder / "s.json").unlink()

    def test_several_traces_are_told_apart(self):
        self.warpfold("trace", "slice", TRACE, "u.wft", "--every", 40)
        self.warpfold("sim", "t.wft", "u.wft", "--policy", "baseline", "--unit", "golden", "--timeline", "two.json")
        events = json.loads((self.folder / "two.json").read_text(encoding="utf-8"))["traceEvents"]
        names = [e["args"]["name"] for e in events if e["name"] == "process_name"]
        self.assertIn("t: baseline on rtx4090: SM 0", names)
        self.assertIn("u: baseline on rtx4090: SM 0", names)
        self.assertEqual(len(set(names)), len(names))

    def test_bad_options_are_refused(self):
        def refused(*words):
            return self.refusal("--timeline", "x.json", *words)

        order = "must be A:B, two cycles of which A is the lower"
        for window in ("5", "5:", ":5", "7:7", "8:7", "a:b", "1:2:3", "1.5:3"):
            self.assertEqual(refused("--timeline-window", window), f"--timeline-window {window}: {order}")
        self.assertEqual(refused("--timeline-window", "0:100001"),
                         "--timeline-window 0:100001: is more than 100000 cycles")
        self.assertEqual(refused("--timeline-window", "0:40000", "--timeline-sm", "0,1"),
                         "--timeline-window 0:40000: 40000 cycles of 3 SMs and L2 ports are more than 100000")
        self.assertEqual(refused("--timeline-sm", "0,x"), "--timeline-sm 0,x: 'x' is no number")
        self.assertEqual(refused("--timeline-sm", "2,2"), "--timeline-sm 2,2: 2 is given twice")
        self.assertEqual(refused("--timeline-sm", "128"), "--timeline-sm 128: rtx4090 has SMs 0 to 127 for t.wft")
        self.assertRegex(refused("--timeline-l2", "999"), "^--timeline-l2 999: rtx4090 has ports of the L2 0 to ")
        for option in ("--timeline-window", "--timeline-sm", "--timeline-l2"):
            self.assertEqual(self.refusal(option, "0:5"),
                             f"{option} requires --timeline (see 'warpfold sim --help')")


if __name__ == "__main__":
    WARPFOLD = sys.argv.pop(1)
    unittest.main()
