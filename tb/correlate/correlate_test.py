# SPDX-License-Identifier: Apache-2.0
"""The arithmetic of scripts/correlate.py on results that are made up."""

import importlib.util
import math
import os
import tempfile
import unittest

SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "scripts", "correlate.py")
spec = importlib.util.spec_from_file_location("correlate", SCRIPT)
correlate = importlib.util.module_from_spec(spec)
spec.loader.exec_module(correlate)


def point(trace, policy, modelled, measured):
    return {"trace": trace, "policy": policy, "modelled_ms": modelled, "measured_ms": measured}


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
