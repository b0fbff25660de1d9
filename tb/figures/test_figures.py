#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of the figures: the arithmetic on rows whose results are known, and that every figure, the page and the
lists come out whole.

    test_figures.py [unittest's options]
"""

import csv
import math
import os
import re
import struct
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import made_up
import yaml
from warpfold.tools.figures import data, figures

ROOT = Path(__file__).resolve().parent.parent.parent

PAPER = yaml.safe_load((ROOT / "python/warpfold/tools/figures/paper.yaml").read_text(encoding="utf-8"))
REMARKS = yaml.safe_load((ROOT / "python/warpfold/tools/figures/remarks.yaml").read_text(encoding="utf-8")) or {}


class Arithmetic(unittest.TestCase):
    def setUp(self):
        self.runs = data.Runs(made_up.rows())

    def test_order_of_the_traces_and_the_paper_s_groups(self):
        self.assertEqual(self.runs.traces(), ["a-3d", "b-3d", "c-nv", "d-ps", "e-pr"])
        self.assertEqual(self.runs.of_paper(), ["a-3d", "b-3d", "c-nv", "d-ps"])
        only_others = data.Runs([made_up.row("e-pr", "rtx4090", "baseline", 10)])
        self.assertEqual(only_others.of_paper(), ["e-pr"])

    def test_traces_of_one_workload_keep_their_names(self):
        runs = data.Runs([made_up.row("a-3d", "rtx4090", "baseline", 10), made_up.row("b-3d", "rtx4090", "baseline", 10,
                                                                                     workload="3D-AA"),
                          made_up.row("c-nv", "rtx4090", "baseline", 10)])
        self.assertEqual([runs.label(trace) for trace in runs.traces()], ["3D-AA a-3d", "3D-AA b-3d", "NV-CC"])

    def test_speedups_and_their_mean(self):
        speedups = self.runs.compare("rtx4090", data.cycles, "arc-hw")
        self.assertEqual(speedups["a-3d"], 2.0)
        self.assertAlmostEqual(speedups["b-3d"], 8000 / 5200)
        self.assertEqual(len(speedups), 5)
        summary = self.runs.summary(speedups)
        self.assertAlmostEqual(summary["mean"], (2 + 8000 / 5200 + 8000 / 6400 + 8000 / 7600) / 4)
        self.assertEqual(summary["max"], 2.0)
        self.assertEqual(self.runs.compare("rtx4090", data.cycles, "arc-hw", "fused")["a-3d"], 4.0)

    def test_best_threshold(self):
        self.assertEqual(self.runs.get("a-3d", "rtx4090", "sw-b")["threshold"], 16)
        self.assertEqual(self.runs.get("a-3d", "rtx4090", "sw-s")["threshold"], 24)
        self.assertEqual(self.runs.get("a-3d", "rtx4090", "arc-sw")["policy"], "sw-b")
        # No butterfly there.
        self.assertEqual(self.runs.get("d-ps", "rtx4090", "arc-sw")["policy"], "sw-s")
        self.assertNotIn("d-ps", self.runs.compare("rtx4090", data.cycles, "cccl"))
        self.assertEqual([x for x, _ in self.runs.over_thresholds("a-3d", "rtx4090", "sw-b")], [0, 8, 16, 24, 32])

    def test_atomic_stalls_are_those_in_front_of_queue_and_unit(self):
        stalls = self.runs.compare("rtx4090", data.atomic_stalls, "arc-hw")
        self.assertEqual(stalls["a-3d"], 12.0)    # 6000 / (100 + 400)
        self.assertEqual(self.runs.compare("rtx4090", data.atomic_stalls, "arc-hw", "fused")["a-3d"], math.inf)

    def test_stalls_for_each_instruction(self):
        parts = data.stalls_per_instruction(self.runs.get("a-3d", "rtx4090", "arc-hw"))
        self.assertEqual(parts, {"LSU": 20, "ARC unit": 4, "shuffle": 0.5, "dependency": 4, "barrier": 1.5,
                                 "not selected": 2})

    def test_ratios_of_what_is_not_there(self):
        self.assertIsNone(data.ratio(None, 1))
        self.assertEqual(data.ratio(0, 0), 1.0)
        self.assertEqual(data.ratio(3, 0), math.inf)
        self.assertIsNone(data.mean([None]))

    def test_rows_with_other_parameters_are_left_out(self):
        other = {**made_up.row("a-3d", "rtx4090", "baseline", 1), "set": "lab.bytes=4096"}
        self.assertEqual(data.Runs([*made_up.rows(), other]).get("a-3d", "rtx4090", "baseline")["cycles"], 8000)

    def test_lab_has_the_best_partition_of_each_trace(self):
        def partition(trace, cycles, size, policy="lab"):
            return {**made_up.row(trace, "rtx4090", policy, cycles), "set": f"lab.bytes={size}"}
        rows = [partition("a-3d", 4800, 4096), *made_up.rows(), partition("a-3d", 4900, 8192),
                partition("b-3d", 9999, 4096), partition("a-3d", 1, 4096, "phi"),
                {**made_up.row("a-3d", "rtx4090", "lab", 1), "set": "lab.bytes=4096 l2.rop_cycles=1"}]
        runs = data.Runs(rows)
        self.assertEqual(runs.get("a-3d", "rtx4090", "lab")["cycles"], 4800)
        self.assertEqual(runs.get("a-3d", "rtx3060", "lab")["cycles"], 5000)
        self.assertEqual(runs.get("b-3d", "rtx4090", "lab")["cycles"], 6500)
        self.assertEqual(runs.get("a-3d", "rtx4090", "phi")["cycles"], 7800)

    def test_differences_of_more_than_fifteen_per_cent(self):
        def differs(ours, at_least=False):
            entry = {"value": 2.0, "what": "x", "where": "7", "at_least": at_least}
            return data.Comparison("k", entry, ours).differs
        self.assertEqual([differs(ours) for ours in (1.69, 1.71, 2.29, 2.31)], [True, False, False, True])
        self.assertFalse(differs(None))
        self.assertEqual([differs(ours, True) for ours in (1.69, 9.0)], [True, False])

    def test_utilization_over_time(self):
        timeline = {"cycles": 25, "interval": 10, "busy": {"rop": [100, 25, 50]}}
        self.assertEqual(data.utilization(timeline, "rop"), [(5.0, 1.0), (15.0, 0.25), (22.5, 0.5)])

    def test_remarks_are_on_numbers_of_the_paper(self):
        self.assertEqual(data.check_remarks(REMARKS, PAPER), [])
        self.assertEqual(len(data.check_remarks({"fig19": {"arc-hw.mean": "", "nonsense": ""}}, PAPER)), 1)


class Histogram(unittest.TestCase):
    def test_a_sample_stands_for_its_launch(self):
        events = [7, *range(100, 132)]
        self.assertEqual(data.histogram({"sample_every": 1, "active_histogram": events}), events[1:])
        self.assertEqual(data.histogram({"sample_every": 4, "active_histogram": events})[:2], [400, 404])


class Drawing(unittest.TestCase):
    def draw(self, rows, remarks=None):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        runs = data.Runs(rows)
        inputs = figures.Inputs(runs, Path(os.environ.get("FIGURES_TO", folder.name)), PAPER,
                                {runs.label(trace): made_up.histogram(number + 3)
                                 for number, trace in enumerate(runs.traces())},
                                [(f"3D-AA, rtx4090, policy {number}", made_up.timeline()) for number in range(4)])
        drawn = figures.draw_all(inputs, figures.FIGURES, remarks or {})
        return drawn, inputs.folder

    def test_every_figure_is_a_picture_and_a_table(self):
        drawn, folder = self.draw(made_up.rows())
        page = (folder / "index.html").read_text(encoding="utf-8")
        for figure in drawn:
            with self.subTest(figure.name):
                picture = (folder / f"{figure.name}.png").read_bytes()
                self.assertEqual(picture[:8], b"\x89PNG\r\n\x1a\n")
                width, height = struct.unpack(">II", picture[16:24])
                self.assertGreater(min(width, height), 300)
                with open(folder / f"{figure.name}.csv", encoding="utf-8", newline="") as file:
                    self.assertGreater(len(list(csv.reader(file))), 2)
                self.assertIn(f'src="{figure.name}.png"', page)
                # All that the paper states is computed.
                self.assertEqual(set(figure.paper.get("numbers", {})) - set(figure.numbers), set())
        self.assertEqual({figure.name for figure in drawn}, set(PAPER))
        self.assertEqual(set(re.findall(r'src="([^"]+)"', page)), {f"{figure.name}.png" for figure in drawn})

    def test_numbers_are_those_of_the_rows(self):
        drawn, folder = self.draw(made_up.rows())
        numbers = {figure.name: figure.numbers for figure in drawn}
        self.assertEqual(numbers["fig19"]["arc-hw.max"], 2.0)
        self.assertEqual(numbers["fig19"]["arc-hw-fused.max"], 4.0)
        self.assertAlmostEqual(numbers["fig19"]["lab-ideal_over_lab.mean"], 5000 / 4500)
        self.assertAlmostEqual(numbers["fig25"]["rtx4090.max"], 3600 / 4000)     # sw-s on d-ps, where there is no sw-b
        self.assertAlmostEqual(numbers["fig26"]["ratio.mean"], 3.0)
        self.assertAlmostEqual(numbers["fig28"]["rtx3060.mean"], 9000 / 4000)
        self.assertAlmostEqual(numbers["fig08"]["stalls.mean"], 28)
        self.assertAlmostEqual(numbers["fig08"]["lsu_share.mean"], 20 / 28)
        with open(folder / "fig23.csv", encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual(len(rows), 4 * 5 + 5 * 5)
        self.assertEqual([row["speedup"] for row in rows if (row["workload"], row["policy"], row["threshold"]) ==
                          ("3D-AA", "sw-b", "16")], [str(8000 / 3000)])

    def test_what_differs_wants_a_remark(self):
        drawn, folder = self.draw(made_up.rows(), {"fig19": {"arc-hw.max": "Because <so>."}})
        page = (folder / "index.html").read_text(encoding="utf-8")
        self.assertIn("Because &lt;so&gt;.", page)
        self.assertIn("not explained", page)
        notes = figures.notes(drawn, {"fig19": {"arc-hw.max": "x"}, "fig25": {"rtx3060.max": "y"}}, PAPER)
        self.assertFalse(any(note.startswith("fig19.arc-hw.max") for note in notes))
        self.assertTrue(any(note.startswith("fig19.phi.mean") or note.startswith("fig18.arc-hw.max") for note in notes))

    def test_little_is_drawn_of_little(self):
        drawn, _ = self.draw([row for row in made_up.rows() if row["trace"] == "a-3d" and row["gpu"] == "rtx4090"
                              and row["policy"] in ("baseline", "arc-hw", "sw-b")])
        self.assertEqual(len(drawn), len(figures.FIGURES))


class Command(unittest.TestCase):
    def run_command(self, *words):
        return subprocess.run([sys.executable, ROOT / "python", "figures", *words], capture_output=True, text=True,
                              check=False)

    def test_from_numbers_to_a_page(self):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            made_up.write_numbers(folder / "numbers")
            done = self.run_command("--numbers", folder / "numbers", "--output", folder / "out", "--only",
                                    "fig07,fig19,utilization")
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertEqual(sorted(file.name for file in (folder / "out").iterdir()),
                             ["comparison.csv", "fig07.csv", "fig07.png", "fig19.csv", "fig19.png", "index.html",
                              "utilization.csv", "utilization.png"])
            with open(folder / "out/utilization.csv", encoding="utf-8", newline="") as file:
                self.assertIn("truck, rtx4090, arc-hw (paired-staged, groups)", {row["run"] for row in csv.DictReader(file)})

    def test_bad_usage_is_one_line(self):
        for words in (["--only", "fig99"], ["--numbers", "/none"], ["--output"]):
            done = self.run_command(*words)
            self.assertEqual((done.returncode, len(done.stderr.splitlines())), (2, 1), done.stderr)
            self.assertTrue(done.stderr.startswith("warpfold figures: "), done.stderr)


if __name__ == "__main__":
    unittest.main()
