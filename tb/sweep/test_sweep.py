#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of the sweep workflow: what a sweep file may say, which points it means, that a sweep resumes, that a
failed point stops no other, and the table.

    test_sweep.py WARPFOLD [unittest's options]
"""

import csv
import functools
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import textwrap
import time
import unittest
from pathlib import Path

from warpfold.tools.base.errors import BadInput
from warpfold.tools.base.places import MACHINES
from warpfold.tools.sweep import plan as planning
from warpfold.tools.sweep import table

# What a script starts in its background ignores SIGINT, and so would the programs that are started here.
signal.signal(signal.SIGINT, signal.default_int_handler)

ROOT = Path(__file__).resolve().parent.parent.parent

SWEEP = ("-B", ROOT / "python", "sweep")
WARPFOLD = ""
# A simulator that notes each run, takes its time, and fails where it is told to.
FAKE = """\
#!/usr/bin/env python3
import json, os, sys, time
args = sys.argv[1:]
if args == ["policies"] or os.devnull in args:
    os.execv({simulator!r}, [{simulator!r}, *args])  # what there is, only a simulator knows
value = lambda name: args[args.index(name) + 1]
with open({notes!r}, "a") as notes:
    notes.write(value("--policy") + "\\n")
time.sleep(float(os.environ.get("FAKE_SECONDS", "0")))
if value("--policy") == os.environ.get("FAKE_FAILS"):
    sys.exit("warpfold: t.wft rtx4090 lab:\\n sums differ")
if value("--policy") == "cccl":
    print("warpfold: t.wft: the trace has no sm_89 code of variant cccl, which cccl needs", file=sys.stderr)
    sys.exit(2)
run = {{"trace": args[-1], "gpu": value("--gpu"), "policy": value("--policy"), "unit": "golden",
       "unit_kind": value("--unit-kind"), "cycles": 100 if value("--policy") == "baseline" else 40,
       "stalls": {{"subcore_cycles": {{"issued": 7}}}}, "measured": None, "config": {{"lab": {{"bytes": 4096}}}}}}
with open(value("--json"), "w") as file:
    json.dump({{"schema": "warpfold.sim/1", "runs": [run]}}, file)
"""


@functools.cache
def policies():
    return planning.Simulator(WARPFOLD).policies


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        (self.folder / "t.wft").write_text("a trace", encoding="ascii")

    def write(self, text, name="s.yaml"):
        path = self.folder / name
        path.write_text(textwrap.dedent(text), encoding="utf-8")
        return path


class SweepFile(Case):
    def setUp(self):
        super().setUp()
        self.simulator = planning.Simulator(WARPFOLD)

    def refused(self, text, *words):
        path = self.write(text)
        with self.assertRaises(BadInput) as caught:
            planning.expand(planning.load(path), self.folder, self.simulator)
        self.assertNotIn("\n", str(caught.exception))
        for word in words:
            self.assertIn(word, str(caught.exception))

    def points(self, text):
        path = self.write(text)
        return planning.expand(planning.load(path), self.folder, self.simulator)

    def test_mistakes_are_one_line(self):
        good = "sweeps: [{traces: [t.wft], machines: [rtx4090], policies: [%s]%s}]"
        self.refused("sweeps: [}", "line 1")
        self.refused("", "the file", "object")
        self.refused("sweeps: []", "sweeps", "[]")
        self.refused("sweeps: [{traces: [truck], machines: [h200]}]", "sweeps[0]", "policies")
        self.refused(good % ("lab", ", polices: 1"), "sweeps[0]", "polices")
        self.refused(good % ("lab", ", set: {lab.bytes: 3}"), "sweeps[0].set.lab.bytes", "array")
        self.refused(good % ("lab", ", set: {'a b': [3]}"), "a b")
        self.refused(good % ("lab", ", unit: silver"), "silver")
        self.refused(good % ("arc-hw", ", unit_kinds: [serial, wide]"), "unit_kinds: unknown unit kind 'wide'")
        self.refused(good % ("lab", ", timeline: 0"), "timeline")
        self.refused(good % ("'sw-b:9..3'", ""), "sw-b:9..3", "empty")
        self.refused("sweeps: [{traces: [none.wft], machines: [h200], policies: [lab]}]", "none.wft")
        self.refused("sweeps: [{traces: [trick], machines: [h200], policies: [lab]}]", "trick")
        self.refused("sweeps: [{traces: ['workload:4D-*'], machines: [h200], policies: [lab]}]", "4D-*")
        self.refused("sweeps: [{traces: [t.wft], machines: [my.toml], policies: [lab]}]", "my.toml")
        self.refused("\x00", "s.yaml")
        self.refused("sweeps: [{traces: [t.wft], machines: [rtx5090], policies: [lab]}]", "machines: unknown GPU 'rtx5090'", "rtx4090, rtx3060")
        self.refused(good % ("lab", ", set: {lab.bites: [3]}"), "lab.bites", "did you mean lab.bytes?")
        self.refused(good % ("lab", ", set: {lab: [3]}"), "lab=3: is an integer")
        self.refused(good % ("lap", ""), "unknown policy 'lap'", "baseline, sw-s:X, sw-b:X, skip")
        self.refused(good % ("'sw-b:0..40..8'", ""), "sw-b:40", "0 to 32")
        self.refused(good % ("'sw-b:0..999999999'", ""), "sw-b:999999999", "0 to 32")

    def test_parameters_that_a_machine_may_leave_out(self):
        for key, value in (("rules.packets", "flit-a-sector"), ("latency.shared_cas", 43), ("lsu.red_word", 1.5)):
            settings = f"{{{key}: [{value}]}}"
            text = f"sweeps: [{{traces: [t.wft], machines: [rtx4090], policies: [lab], set: {settings}}}]"
            self.assertEqual(len(self.points(text)), 1)

    def test_a_missing_file_is_one_line(self):
        with self.assertRaises(BadInput) as caught:
            planning.load(self.folder / "none.yaml")
        self.assertIn("No such file", str(caught.exception))

    def test_product_of_the_lists(self):
        points = self.points("""
            sweeps:
              - traces: [t.wft]
                machines: [rtx4090, h200]
                policies: [baseline, "sw-b:0..32", "sw-s:0..8..4"]
                set: {lab.bytes: [4096, 8192], sm.issue_order: [gto]}
            """)
        self.assertEqual(len(points), 2 * (1 + 33 + 3) * 2)
        self.assertEqual(len({point.id for point in points}), len(points))
        self.assertEqual([point.policy for point in points[34:37]], ["sw-s:0", "sw-s:4", "sw-s:8"])
        self.assertEqual(points[0].set, (("lab.bytes", 4096), ("sm.issue_order", "gto")))
        self.assertIn("lab.bytes=4096", points[0].arguments())

    def test_points_that_two_sweeps_name_are_one(self):
        one = "{traces: [t.wft], machines: [rtx4090], policies: [baseline, lab]}"
        self.assertEqual(len(self.points(f"sweeps: [{one}, {one}]")), 2)

    def test_unit_kinds_are_for_arc_hw(self):
        points = self.points("""
            sweeps: [{traces: [t.wft], machines: [rtx4090], policies: [baseline, arc-hw],
                      unit_kinds: [serial, fused]}]
            """)
        self.assertEqual([(point.policy, point.unit_kind) for point in points],
                         [("baseline", "serial"), ("arc-hw", "serial"), ("arc-hw", "fused")])

    def test_shipped_traces_by_name_and_by_label(self):
        points = self.points("""
            sweeps: [{traces: [truck, "workload:NV-*"], machines: [rtx4090], policies: [baseline]}]
            """)
        labels = {entry["workload"] for entry in planning.manifest()}
        self.assertEqual(points[0].workload, "3D-TK")
        self.assertEqual({point.workload for point in points[1:]}, {name for name in labels if name[:2] == "NV"})

    def test_traces_can_be_left_out(self):
        points = self.points("""
            sweeps: [{traces: ["!*-values", "workload:3D-TK", "!t.wft"], machines: [rtx4090], policies: [baseline]}]
            """)
        self.assertEqual([Path(point.trace).stem for point in points], ["truck"])
        self.refused("sweeps: [{traces: [truck, '!tr*'], machines: [h200], policies: [lab]}]", "nothing is left")

    def test_all_that_a_result_depends_on_is_in_its_name(self):
        text = "sweeps: [{traces: [t.wft], machines: [my.toml], policies: [lab]}]"
        shutil.copy(MACHINES / "rtx4090.toml", self.folder / "my.toml")
        (self.folder / "simulator").write_text(f"#!/bin/sh\nexec {WARPFOLD} \"$@\"\n", encoding="utf-8")
        (self.folder / "simulator").chmod(0o755)

        def name():
            simulator = planning.Simulator(self.folder / "simulator")
            return planning.expand(planning.load(self.write(text)), self.folder, simulator)[0].id
        names = {name()}
        self.assertEqual({name()}, names)
        for file in ("my.toml", "t.wft", "simulator"):
            with open(self.folder / file, "a", encoding="utf-8") as changed:
                changed.write("# another\n")
            names.add(name())
        self.assertEqual(len(names), 4)

    def test_all_is_what_the_simulator_calls_all(self):
        listed = subprocess.run([WARPFOLD, "policies"], capture_output=True, text=True, check=True).stdout
        patterns = [line.split()[0] for line in listed.split("\n\n", maxsplit=1)[0].splitlines() if line[0] != " "]
        for apart in ("none", "vector", "skip-vector", "shared-slot", "arc-merge", "arc-merge-l2"):    # named alone
            patterns.remove(apart)
        self.assertEqual([re.sub(":.*", ":X", name) for name in policies()], patterns)
        self.assertEqual(planning.expand_policies(["all", "lab,phi"], self.simulator), policies())

    def test_what_lists_no_policies_is_refused_in_one_line(self):
        for simulator, words in (("/bin/true", "lists no policies"),
                                 (self.folder / "t.wft", "t.wft: Permission denied")):
            with self.assertRaises(BadInput) as caught:
                planning.Simulator(simulator).policies
            self.assertIn(words, str(caught.exception))

    def test_examples_are_sound(self):
        for file in sorted((ROOT / "examples/sweep").glob("*.yaml")):
            with self.subTest(file.name):
                self.assertTrue(planning.expand(planning.load(file), file.parent, self.simulator))


class Workflow(Case):
    """Real Snakemake, pretended simulations."""

    SMALL = "sweeps: [{traces: [t.wft], machines: [rtx4090], policies: [baseline, lab, phi, skip]}]"

    def setUp(self):
        super().setUp()
        self.notes = self.folder / "notes"
        self.fake = self.write(FAKE.format(notes=str(self.notes), simulator=WARPFOLD), "fake")
        self.fake.chmod(0o755)
        self.tools = SWEEP

    def start(self, file, *options, **environment):
        return subprocess.Popen([sys.executable, *self.tools, *options, "--output", self.folder / "out", file], text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                env={**os.environ, "WARPFOLD": str(self.fake),
                                     "WARPFOLD_POINTS": str(self.folder / "points"), **environment})

    def sweep(self, file, *options, **environment):
        with self.start(file, *options, **environment) as child:
            out, err = child.communicate(timeout=300)
        return child.returncode, out, err

    def simulated(self):
        return sorted(self.notes.read_text(encoding="ascii").split()) if self.notes.exists() else []

    def rows(self):
        return table.read_csv(self.folder / "out/table.csv")

    def test_a_failed_point_is_reported_and_stops_no_other(self):
        file = self.write(self.SMALL)
        code, _, err = self.sweep(file, "--cores", "2", FAKE_FAILS="lab")
        self.assertEqual(code, 1)
        self.assertEqual(err.splitlines(), ["warpfold sweep: failed: t rtx4090 lab (serial): t.wft rtx4090 lab: sums differ"])
        self.assertEqual([row["policy"] for row in self.rows()], ["baseline", "phi", "skip"])
        # Only that one is tried again.
        self.notes.unlink()
        code, _, err = self.sweep(file, "--cores", "2")
        self.assertEqual((code, err, self.simulated()), (0, "", ["lab"]))
        self.assertEqual([row["policy"] for row in self.rows()], ["baseline", "lab", "phi", "skip"])
        # And now none.
        self.notes.unlink()
        self.assertEqual(self.sweep(file)[0], 0)
        self.assertEqual(self.simulated(), [])

    def test_folders_may_have_any_name(self):
        for name in ("{point}", "a\nb", "it's $HOME; #1"):
            with self.subTest(name):
                self.folder = self.folder / name
                self.folder.mkdir()
                (self.folder / "t.wft").write_text("a trace", encoding="ascii")
                tools = self.folder / "python"
                shutil.copytree(ROOT / "python", tools, ignore=shutil.ignore_patterns("__pycache__", ".*"))
                for part in ("model", "rtl", "synth", "traces"):
                    (self.folder / part).symlink_to(ROOT / part)
                self.tools = ("-B", tools, "sweep")
                code, _, err = self.sweep(self.write(self.SMALL), "--cores", "2")
                self.assertEqual((code, err), (0, ""))
                self.assertEqual(len(self.rows()), 4)

    def test_an_interrupted_sweep_goes_on(self):
        file = self.write(self.SMALL)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
            with self.subTest(number.name):
                self.notes.unlink(missing_ok=True)
                for result in (self.folder / "points").glob("*.json"):
                    result.unlink()
                with self.start(file, "--cores", "1", FAKE_SECONDS="1") as child:
                    deadline = time.monotonic() + 120
                    while len(self.simulated()) < 2 and time.monotonic() < deadline:
                        time.sleep(0.05)
                    if number == signal.SIGKILL:
                        # All of it, as when a machine goes down.
                        for pid in descendants(child.pid):
                            os.kill(pid, number)
                    child.send_signal(number)
                    child.communicate(timeout=120)
                self.assertNotEqual(child.returncode, 0)
                done = len(list((self.folder / "points").glob("*.json")))
                self.assertIn(done, (1, 2, 3))
                self.notes.unlink()
                code, _, err = self.sweep(file, "--cores", "2")
                self.assertEqual((code, err), (0, ""))
                self.assertEqual(len(self.simulated()), 4 - done)
                self.assertEqual(len(self.rows()), 4)

    def test_what_a_trace_has_no_code_for_is_left_out(self):
        file = self.write("sweeps: [{traces: [t.wft], machines: [rtx4090], policies: [cccl, lab]}]")
        code, out, err = self.sweep(file)
        self.assertEqual((code, err), (0, ""))
        self.assertIn("left out: t.wft: the trace has no sm_89 code", out)
        self.assertEqual([row["policy"] for row in self.rows()], ["lab"])

    def test_the_table_is_tidy(self):
        self.sweep(self.write("""
            sweeps:
              - {traces: [t.wft], machines: [rtx4090], policies: [baseline, "sw-b:8"],
                 set: {lab.bytes: [4096, 8192]}}
            """))
        rows = self.rows()
        self.assertEqual(len(rows), 4)
        self.assertEqual(list(rows[0])[:len(table.FIRST)], table.FIRST)
        self.assertEqual([(row["policy"], row["threshold"], row["set"], row["speedup"]) for row in rows],
                         [("baseline", "", "lab.bytes=4096", 1.0), ("sw-b", 8, "lab.bytes=4096", 2.5),
                          ("baseline", "", "lab.bytes=8192", 1.0), ("sw-b", 8, "lab.bytes=8192", 2.5)])
        self.assertEqual(rows[1]["stalls.subcore_cycles.issued"], 7)
        self.assertEqual(rows[1]["config.lab.bytes"], 4096)
        self.assertEqual(rows[1]["measured"], "")

    def test_two_at_once_in_one_folder_are_refused(self):
        file = self.write(self.SMALL)
        with self.start(file, FAKE_SECONDS="2") as first:
            deadline = time.monotonic() + 120
            while not self.simulated() and time.monotonic() < deadline:
                time.sleep(0.05)
            code, _, err = self.sweep(file)
            self.assertEqual(code, 2)
            self.assertIn("a sweep is at work there", err)
            first.communicate(timeout=120)
        self.assertEqual(first.returncode, 0)

    def test_bad_usage_is_one_line(self):
        for words in (["none.yaml"], ["--cores", "0", "none.yaml"], ["--cores", "2", "--slurm", "none.yaml"], []):
            done = subprocess.run([sys.executable, *SWEEP, *words], capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 2, words)
            self.assertEqual((len(done.stderr.splitlines()), done.stdout), (1, ""), done.stderr)
            self.assertTrue(done.stderr.startswith("warpfold sweep: "), done.stderr)


def descendants(pid):
    """Processes that this one has started, and those that they have, from the innermost out."""
    children = {}
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            words = status.read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
        except OSError:
            continue
        children.setdefault(int(words[1]), []).append(int(status.parent.name))
    out = []
    for child in children.get(pid, []):
        out += [*descendants(child), child]
    return out


class Simulator(Case):
    """The built command on a shipped trace."""

    def test_a_sweep_of_real_points(self):
        file = self.write("""
            sweeps:
              - traces: [truck-values]
                machines: [rtx4090]
                policies: [baseline, arc-hw, lab]
                unit_kinds: [serial, fused]
                set: {lab.bytes: [8192], sm.count: [8]}
              - {traces: [truck-values], machines: [rtx4090], policies: [lab], set: {lab.bytes: [1], sm.count: [8]}}
              - {traces: [truck-values], machines: [rtx4090], policies: [lab], set: {sm.issue_order: [fifo]}}
            """)
        done = subprocess.run([sys.executable, *SWEEP, "--cores", "2", "--output", self.folder / "out", file],
                              capture_output=True, text=True, check=False,
                              env={**os.environ, "WARPFOLD": WARPFOLD, "WARPFOLD_POINTS": str(self.folder / "points")})
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertEqual(len(done.stderr.splitlines()), 2, done.stderr)
        self.assertIn("is 1, must be 128 to", done.stderr)
        self.assertIn('is "fifo", must be "lrr" or "gto"', done.stderr)
        with open(self.folder / "out/table.csv", encoding="utf-8", newline="") as text:
            rows = list(csv.DictReader(text))
        self.assertEqual([(row["policy"], row["unit_kind"]) for row in rows],
                         [("baseline", "serial"), ("arc-hw", "serial"), ("arc-hw", "fused"), ("lab", "serial")])
        for row in rows:
            self.assertEqual((row["sums_match"], row["workload"], row["config.sm.count"], row["config.lab.bytes"]),
                             ("True", "3D-TK", "8", "8192"))
            result = json.loads((self.folder / "points" / f"{row['point']}.json").read_text(encoding="utf-8"))
            self.assertEqual(int(row["cycles"]), result["run"]["cycles"])


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    WARPFOLD = sys.argv.pop(1)
    unittest.main()
