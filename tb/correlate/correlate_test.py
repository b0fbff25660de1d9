# SPDX-License-Identifier: Apache-2.0
"""The arithmetic of `warpfold correlate` on results that are made up."""

import argparse
import json
import math
import os
import tempfile
import unittest
import unittest.mock

from warpfold.tools import correlate
from tb.tools import run_tool


def point(trace, policy, modelled, measured, workload="3D-TK"):
    return {"trace": trace, "workload": workload, "policy": policy, "sample_every": 1, "modelled_ms": modelled,
            "measured_ms": measured}


class Arithmetic(unittest.TestCase):
    def test_pearson(self):
        self.assertAlmostEqual(correlate.pearson([1, 2, 3], [10, 20, 30]), 1)
        self.assertAlmostEqual(correlate.pearson([1, 2, 3], [3, 2, 1]), -1)
        # Deviations (-1, 0, 1) and (-1, 1, 0): 1 / sqrt(2 * 2).
        self.assertAlmostEqual(correlate.pearson([1, 2, 3], [1, 3, 2]), 0.5)
        self.assertIsNone(correlate.pearson([1], [1]))
        self.assertIsNone(correlate.pearson([1, 1], [1, 2]))

    def test_equal_values_share_their_ranks(self):
        self.assertEqual(correlate.ranks([5, 1, 5, 9]), [2.5, 1, 2.5, 4])

    def test_summary(self):
        points = [point("a", "baseline", 1.1, 1.0), point("a", "skip", 1.6, 2.0), point("b", "baseline", 4.0, 4.0)]
        figures = correlate.summary(points)
        self.assertEqual(figures["points"], 3)
        self.assertAlmostEqual(figures["mean_absolute_error"], 0.1)
        self.assertAlmostEqual(figures["mean_error"], -0.1 / 3)
        self.assertEqual((figures["worst"]["trace"], figures["worst"]["policy"]), ("a", "skip"))
        self.assertAlmostEqual(figures["worst"]["error"], -0.2)
        self.assertAlmostEqual(figures["rank_correlation"], 1)
        logs = [[math.log(x) for x in v] for v in ([1.1, 1.6, 4.0], [1.0, 2.0, 4.0])]
        self.assertAlmostEqual(figures["pearson_log"], correlate.pearson(*logs))

    def test_families_of_workloads(self):
        points = [point("a", "baseline", 1.1, 1.0), point("n", "baseline", 3.0, 2.0, "NV-BB"),
                  point("b", "baseline", 0.9, 1.0, "3D-KI")]
        found = correlate.groups(points)
        self.assertEqual(list(found), ["3D", "NV"])
        self.assertEqual((found["3D"]["points"], found["NV"]["points"]), (2, 1))
        self.assertAlmostEqual(found["3D"]["mean_absolute_error"], 0.1)
        self.assertAlmostEqual(found["NV"]["worst"]["error"], 0.5)

    def test_the_launch_is_added_to_the_models_time(self):
        points = self.correlate_made_up({"sampling": "", "sample_every": 1}, 1.0)
        self.assertEqual(len(points), 1)
        self.assertAlmostEqual(points[0]["modelled_ms"], 0.025)
        self.assertEqual((points[0]["trace"], points[0]["workload"], points[0]["cycles"]), ("bob", "NV-BB", 40000))

    def test_a_part_has_no_times_unless_it_stands_for_the_launch(self):
        with unittest.mock.patch.object(correlate.sys, "stderr"):
            self.assertEqual(self.correlate_made_up({"sampling": "2,000 of 20,000 CTAs", "sample_every": 1}, None), [])
        self.assertEqual(len(self.correlate_made_up({"sampling": "1 CTA in 4", "sample_every": 4}, 1.0)), 1)

    def test_times_of_another_gpu_are_refused(self):
        with self.assertRaises(correlate.BadInput) as refused:
            self.correlate_made_up({"sampling": "", "sample_every": 1}, None)
        self.assertEqual(str(refused.exception), "x/bob.wft: its times are of NVIDIA H200, the machine is h200")

    def test_times_are_of_the_machines_gpu_where_there_are_some(self):
        def time(policy, ms, gpu=None):
            return {"policy": policy, "median_ms": ms, **({"gpu": gpu} if gpu else {})}

        header = {"workload": "NV-BB", "gpu": "NVIDIA H200", "costs": {"sm_90": {"baseline": {}, "skip": {}}},
                  "sampling": "", "sample_every": 1,
                  "times": [time("baseline", 1.0), time("skip", 2.0), time("baseline", 3.0, "NVIDIA H100 80GB HBM3")]}
        info = {"header": header, "stats": {"lane_atomics": 1}}
        times = {machine: correlate.measured_of(info, "sm_90", None, machine).times
                 for machine in (None, "h200", "h100", "made/h100.toml", "h10", "rtx4090")}
        own = {"baseline": 1.0, "skip": 2.0}
        self.assertEqual(times, {None: own, "h200": own, "h100": {"baseline": 3.0}, "made/h100.toml": {"baseline": 3.0},
                                 "h10": own, "rtx4090": own})

    def test_what_takes_longest_begins(self):
        whole = {"sampling": "", "sample_every": 1}
        lanes = {"x/a.wft": 3, "x/b.wft": 5, "x/c.wft": 4}
        begun = []
        points = self.correlate_made_up(whole, 1.0, lanes, begun)
        self.assertEqual(begun, ["x/b.wft", "x/c.wft", "x/a.wft"])
        self.assertEqual([p["trace"] for p in points], ["a", "b", "c"])

    def test_large_samples_are_thinned(self):
        lanes = {"x/large.wft": correlate.THIN_ABOVE + 1, "x/small.wft": correlate.THIN_ABOVE}
        sample = {"sampling": "1 CTA in 4", "sample_every": 4}
        thinned, begun = [], []
        points = self.correlate_made_up(sample, 1.0, lanes, begun, thinned)
        self.assertEqual(begun[0], "x/small.wft")  # since of the other one a third is left
        self.assertEqual([(source, os.path.basename(out), every) for source, out, every in thinned],
                         [("x/large.wft", "large.wft", 3)])
        self.assertEqual(begun[1], thinned[0][1])
        self.assertEqual([(p["trace"], p["sample_every"]) for p in points], [("large", 12), ("small", 4)])
        text = correlate.text_of(points, correlate.summary(points), [])
        self.assertIn("samples, 1 CTA in: large 12, small 4", text)

        thinned.clear()
        points = self.correlate_made_up(sample, 1.0, lanes, None, thinned, as_shipped=True)
        self.assertEqual(([p["sample_every"] for p in points], thinned), ([4, 4], []))
        # A whole launch that is as large stays whole.
        points = self.correlate_made_up({"sampling": "", "sample_every": 1}, 1.0, lanes, None, thinned)
        self.assertEqual(([p["sample_every"] for p in points], thinned), ([1, 1], []))

    def correlate_made_up(self, part, ratio, lanes=None, begun=None, thinned=None, as_shipped=False):
        """Of traces with so many lane atomics each; those that are simulated go to `begun`, those that are thinned
        before to `thinned`."""
        lanes = lanes or {"x/bob.wft": 1}
        header = {"workload": "NV-BB", "gpu": "NVIDIA H200", "costs": {"sm_90": {"baseline": {}}},
                  "times": [{"policy": "baseline", "median_ms": 0.025}, {"policy": "skip", "median_ms": 1}], **part}

        def run(command, *arguments, **_):
            if command == "trace" and arguments[0] == "sample":
                thinned.append((arguments[1], str(arguments[2]), arguments[4]))
                return ""
            if command == "trace":
                stats = {"lane_atomics": lanes[arguments[-1]]}
                return json.dumps({"traces": [{"header": header, "stats": stats}]})
            if begun is not None:
                begun.append(str(arguments[0]))
            with open(arguments[arguments.index("--json") + 1], "w", encoding="utf-8") as file:
                json.dump({"runs": [{"policy": "baseline", "cycles": 40000,
                                     "measured": {"gpu": "NVIDIA H200", "ratio": ratio},
                                     "config": {"sm": {"clock_ghz": 2.0}}}]}, file)
            return ""

        args = argparse.Namespace(arch="sm_90", policy=None, gpu="h200", jobs=1, clock=1.0, launch_us=5.0,
                                  as_shipped=as_shipped)
        with unittest.mock.patch.object(correlate, "simulator", run):
            return correlate.correlate_all(list(lanes), args)

    def test_the_choice_of_a_threshold(self):
        points = [point("a", "baseline", 0.1, 0.1), point("a", "sw-b:0", 1.0, 1.03), point("a", "sw-b:8", 1.2, 1.0),
                  point("a", "sw-s:8", 2.0, 2.0), point("b", "sw-b:8", 1, 1), point("c", "sw-b:0", 2, 1),
                  point("c", "sw-b:8", 3, 2)]
        chosen = correlate.picks(points)
        self.assertEqual([(c["trace"], c["best"], c["pick"]) for c in chosen],
                         [("a", "sw-b:8", "sw-b:0"), ("c", "sw-b:0", "sw-b:0")])
        self.assertAlmostEqual(chosen[0]["cost"], 0.03)
        self.assertEqual(chosen[1]["cost"], 0)

    def test_the_text_names_every_point(self):
        points = [point("a", "sw-b:0", 1.1, 1.0), point("a", "sw-b:8", 2.0, 2.0)]
        text = correlate.text_of(points, correlate.summary(points), correlate.picks(points))
        self.assertRegex(text, r"a +sw-b:0 +1\.1000 +1\.0000 +\+10\.0%")
        self.assertIn("2 points: mean absolute error 5.0%, mean error +5.0%", text)
        self.assertIn("the model's sw-b:0, which costs 0.0%", text)

    def test_what_a_plot_needs_is_looked_for_first(self):
        def run(*_arguments, **_options):
            self.fail("a simulation was begun")

        with tempfile.TemporaryDirectory() as folder, unittest.mock.patch.object(correlate, "simulator", run), \
                unittest.mock.patch.dict(correlate.sys.modules, {"matplotlib": None}):
            code, _, err = run_tool("correlate", "x.wft", "--out", os.path.join(folder, "out"))
            self.assertEqual((code, err.count("\n")), (2, 1), err)
            self.assertIn("python3-matplotlib", err)
            self.assertEqual(os.listdir(folder), [])

    def test_a_plot(self):
        try:
            import matplotlib  # noqa: F401
        except ImportError:
            self.skipTest("no matplotlib")
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "p.png")
            correlate.draw([point("a", "sw-b:0", 1.1, 1.0), point("a", "skip", 2.0, 2.0)], path)
            with open(path, "rb") as file:
                self.assertEqual(file.read(8), b"\x89PNG\r\n\x1a\n")


if __name__ == "__main__":
    unittest.main()
