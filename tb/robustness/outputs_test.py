#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Files that the command writes: nothing that is held open or read is replaced, and names lead where they say."""

import gzip
import json
import os
import shutil
import subprocess
import unittest

from tb.robustness.command import ROOT, CommandTest

SIM = ("sim", "small.wft", "--unit", "golden", "--policy", "baseline")


class HeldOpen(CommandTest):
    def setUp(self):
        super().setUp()
        self.small_trace()

    def test_a_log_is_gone_on_with(self):
        for name in ("/dev/stdout", "/dev/fd/1", "/proc/self/fd/1", "link"):
            if name == "link":
                (self.folder / "link").symlink_to("/dev/stdout")
            with self.subTest(name):
                (self.folder / "log").write_text("before\n", encoding="utf-8")
                inode = (self.folder / "log").stat().st_ino
                done = self.shell(f'"$warpfold" {" ".join(SIM)} --json {name} >>log && echo behind >>log')
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                self.assertEqual((self.folder / "log").stat().st_ino, inode)
                text = (self.folder / "log").read_text(encoding="utf-8")
                self.assertTrue(text.startswith('before\n{\n  "schema": "warpfold.sim/1"'), text[:80])
                self.assertTrue(text.endswith("behind\n"))

    def test_a_descriptor_of_another_process_is_written_behind_what_it_has(self):
        path = self.folder / "log"
        with path.open("w", encoding="utf-8") as held:
            held.write("before\n")
            held.flush()
            self.succeeds(*SIM, "--json", f"/proc/{os.getpid()}/fd/{held.fileno()}")
            self.assertTrue(path.read_text(encoding="utf-8").startswith("before\n{"))

    def test_pipes(self):
        done = self.shell(f'"$warpfold" {" ".join(SIM)} --json >(gzip >a.gz) --energy >(gzip >b.gz) >/dev/null; '
                          'code=$?; wait; until gzip -tq a.gz b.gz; do sleep 0.1; done 2>/dev/null; exit $code')
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        for name in ("a.gz", "b.gz"):
            with gzip.open(self.folder / name) as file:
                json.load(file)
        os.mkfifo(self.folder / "fifo")
        with subprocess.Popen(["cat", "fifo"], cwd=self.folder, stdout=subprocess.PIPE) as reader:
            self.succeeds(*SIM, "--json", "fifo")
            json.loads(reader.communicate(timeout=60)[0])
        self.assertTrue((self.folder / "fifo").is_fifo())

    def test_what_cannot_be_written_is_refused(self):
        self.assertEqual(self.refusal(*SIM, "--json", "/dev/fd/77"),
                         "/dev/fd/77: cannot be written: Bad file descriptor")
        with (ROOT / "README.md").open("rb") as reading:
            self.assertEqual(self.refusal(*SIM, "--json", "/dev/fd/0", stdin=reading),
                             "/dev/fd/0: cannot be written: Bad file descriptor")

    def test_the_file_behind_standard_output_is_not_replaced(self):
        for stream, words in (("stdout", SIM), ("stderr", SIM), ("stdout", ("trace", "slice", "small.wft"))):
            with self.subTest(stream, words=words), (self.folder / "x").open("w", encoding="utf-8") as file:
                output = ("x",) if words[0] == "trace" else ("--json", "x")
                done = self.run_command(*words, *output, **{stream: file})
                self.assertEqual(done.returncode, 2)
                self.assertEqual((self.folder / "x").stat().st_ino, os.fstat(file.fileno()).st_ino)

    def test_a_trace_does_not_replace_what_is_held_open(self):
        for name in ("/dev/stdout", "/proc/self/fd/1"):
            (self.folder / "log").write_text("before\n", encoding="utf-8")
            done = self.shell(f'"$warpfold" trace slice small.wft {name} >>log')
            self.assertEqual(done.returncode, 2)
            self.assertIn("is not a regular file", done.stderr)
            self.assertEqual((self.folder / "log").read_text(encoding="utf-8"), "before\n")


class Kept(CommandTest):
    def setUp(self):
        super().setUp()
        self.small_trace()

    def test_permissions_and_links_stay(self):
        for mode in (0o600, 0o640, 0o664):
            for name, words in (("o.json", (*SIM, "--json")), ("o.wft", ("trace", "slice", "small.wft"))):
                with self.subTest(name, mode=oct(mode)):
                    path = self.folder / name
                    path.write_text("old", encoding="utf-8")
                    path.chmod(mode)
                    link = self.folder / f"link-{name}"
                    link.unlink(missing_ok=True)
                    link.symlink_to(name)
                    self.succeeds(*words, link.name)
                    self.assertTrue(link.is_symlink())
                    self.assertNotEqual(path.read_bytes(), b"old")
                    self.assertEqual(path.stat().st_mode & 0o777, mode)

    def test_the_longest_name(self):
        self.succeeds(*SIM, "--json", "j" * 255)
        self.succeeds("trace", "slice", "small.wft", "t" * 251 + ".wft")


class OneFileUnderTwoNames(CommandTest):
    def setUp(self):
        super().setUp()
        self.small_trace()
        (self.folder / "d").mkdir()
        (self.folder / "l").symlink_to("d")

    def names_of_one(self):
        (self.folder / "there.json").write_text("x", encoding="utf-8")
        os.link(self.folder / "there.json", self.folder / "hard.json")
        (self.folder / "soft.json").symlink_to("there.json")
        return [("x.json", "x.json"), ("x.json", "./x.json"), ("x.json", "d/../x.json"), ("d/x.json", "l/x.json"),
                ("x.json", self.folder / "x.json"), ("there.json", "hard.json"), ("there.json", "soft.json"),
                ("-", "/dev/stdout"), ("/dev/stdout", "/dev/fd/1")]

    def test_two_results(self):
        for one, other in self.names_of_one():
            for options in (("--json", "--energy"), ("--json", "--timeline")):
                with self.subTest(one=one, other=other):
                    self.assertEqual(self.refusal(*SIM, options[0], one, options[1], other),
                                     f"{options[1]} {other}: is the file of {options[0]}")
        self.succeeds(*SIM, "--json", "d/x.json", "--energy", "x.json")

    def test_an_input_is_not_destroyed(self):
        costs = (ROOT / "traces/data/costs.json").read_bytes()
        (self.folder / "c.json").write_bytes(costs)
        os.link(self.folder / "c.json", self.folder / "hard.json")
        (self.folder / "soft.json").symlink_to("c.json")
        times = {"schema": "warpfold.times/1", "times": []}
        (self.folder / "t.json").write_text(json.dumps(times), encoding="utf-8")
        for out in ("c.json", "./c.json", "hard.json", "soft.json"):
            self.assertEqual(self.refusal("trace", "recost", "small.wft", out, "--costs", "c.json"),
                             f"{out}: is a file to read")
            self.assertEqual((self.folder / "c.json").read_bytes(), costs)
        self.assertEqual(self.refusal("trace", "retime", "small.wft", "d/../t.json", "--times", "t.json"),
                         "d/../t.json: is a file to read")
        self.assertEqual(json.loads((self.folder / "t.json").read_text(encoding="utf-8")), times)
        shutil.copy(self.folder / "small.wft", self.folder / "d/small.wft")
        for out in ("small.wft", "./small.wft", "d/../small.wft"):
            self.assertEqual(self.refusal("trace", "recost", "small.wft", out, "--costs", "c.json"),
                             f"{out}: is the trace to read")


class TimesOfSeveralGpus(CommandTest):
    def test_a_machine_is_compared_with_its_own_gpu(self):
        trace = ROOT / "traces/recorded/pytorch-index-add.wft"  # a whole launch, of an H100
        info = json.loads(self.succeeds("trace", "info", "--json", trace).stdout)["traces"][0]
        own = {time["policy"]: time["median_ms"] for time in info["header"]["times"]}
        times = {"schema": "warpfold.times/1", "scene": info["header"]["scene"], "gpu": "NVIDIA H200",
                 "times": [{"policy": "baseline", "median_ms": 0.125, "min_ms": 0.1, "max_ms": 0.2, "runs": 9,
                            "sm_clock_mhz": 1000}]}
        (self.folder / "times.json").write_text(json.dumps(times), encoding="utf-8")
        self.succeeds("trace", "retime", trace, "two.wft", "--times", "times.json")
        self.succeeds("sim", "two.wft", "--gpu", "h100,h200,rtx4090", "--policy", "baseline", "--unit", "golden",
                      "--json", "r.json")
        runs = json.loads((self.folder / "r.json").read_text(encoding="utf-8"))["runs"]
        measured = {run["gpu"]: run["measured"] for run in runs}
        self.assertEqual((measured["h200"]["ms"], measured["h200"]["cycles"]), (0.125, 125000))
        self.assertIsNotNone(measured["h200"]["ratio"])
        self.assertEqual(measured["h100"]["ms"], own["baseline"])
        self.assertIsNotNone(measured["h100"]["ratio"])
        self.assertEqual(measured["rtx4090"]["ms"], own["baseline"])
        self.assertIsNone(measured["rtx4090"]["ratio"])


if __name__ == "__main__":
    unittest.main()
