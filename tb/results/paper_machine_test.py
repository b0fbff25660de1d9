#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""ARC's numbers on its own machine (paper_machine.py), on simulations that are made up."""

import unittest
from pathlib import Path

import yaml
from warpfold.tools.results import paper_machine
from warpfold.tools.results.store import Missing, Unknown
from warpfold.tools.results.text import markdown

ROOT = Path(__file__).resolve().parents[2]


class Made:
    """What the module reads: each policy takes as many cycles on every trace but one, which takes ten times as many."""

    def __init__(self, cycles):
        self.paper = yaml.safe_load((ROOT / "python/warpfold/tools/figures/paper.yaml").read_text(encoding="utf-8"))
        self.rows = []
        for (gpu, settings), of_policy in cycles.items():
            for trace, software in paper_machine.TRACES.items():
                for policy, count in of_policy.items():
                    self.rows.append({"trace": trace, "gpu": gpu, "full_policy": software if policy == "software" else policy,
                                      "unit_kind": "serial", "set": settings, "divider": 1, "thin": 0,
                                      "cycles": count * (10 if trace == "truck" else 1)})


def machines():
    of_policy = {"baseline": 2000, "software": 1000, "arc-hw": 800, "lab": 1250, "lab-ideal": 1000, "phi": 2500}
    few = {policy: count for policy, count in of_policy.items() if policy not in ("lab", "phi")}
    return {("rtx4090", ""): of_policy, ("rtx3060", ""): of_policy,
            ("arc-4090-sim", ""): {**of_policy, "arc-hw": 1000}, ("arc-3060-sim", ""): of_policy,
            ("arc-4090-sim", paper_machine.CHANNELS["4090"]): {**few, "arc-hw": 2000},
            ("arc-4090-sim", paper_machine.FREE["4090"]): {**few, "lab-ideal": 1400},
            ("arc-3060-sim", paper_machine.FREE["3060"]): few,
            ("arc-4090-sim", paper_machine.OPEN["4090"]): {**few, "arc-hw": 1000},
            ("arc-3060-sim", paper_machine.OPEN["3060"]): few}


class PaperMachine(unittest.TestCase):
    def test_means_are_of_ratios_of_each_trace(self):
        found = paper_machine.PaperMachine(Made(machines()))
        self.assertEqual(found.value(["4090", "silicon", "arc-hw"]), "2.50")
        self.assertEqual(found.value(["4090", "simulator", "arc-hw"]), "2.00")
        self.assertEqual(found.value(["4090", "channels", "arc-hw"]), "1.00")
        self.assertEqual(found.value(["4090", "free", "lab-ideal"]), "1.43")
        self.assertEqual(found.value(["3060", "simulator", "arc-hw/software"]), "1.25")

    def test_the_table_marks_what_is_near(self):
        found = paper_machine.PaperMachine(Made(machines()))
        rows = markdown(*paper_machine.rows_of(found)).splitlines()
        self.assertEqual(rows[2], "| 4090: ARC-HW | 2.06 | 2.50 (+21 %) | **2.00 (-3 %)** | 1.00 (-51 %) | 2.50 (+21 %) "
                                  "| **2.00 (-3 %)** |")
        self.assertEqual(rows[3], "| 4090: LAB-ideal | 1.40 | 2.00 (+43 %) | 2.00 (+43 %) | 2.00 (+43 %) | **1.43 (+2 %)** "
                                  "| 2.00 (+43 %) |")
        self.assertEqual(rows[5], "| 4090: PHI | 1.01 | 0.80 (-21 %) | 0.80 (-21 %) | - | - | - |")
        self.assertEqual(rows[6].split("|")[2:4], [" 1.13 ", " **1.25 (+11 %)** "])
        self.assertEqual(rows[7].split("|")[5], " - ")
        self.assertEqual(len(rows), 2 + 2 * len(paper_machine.ROWS))

    def test_how_many_are_near(self):
        found = paper_machine.PaperMachine(Made(machines()))
        # ARC-HW on the 4090, and on both ARC-HW over software: 1.00 for 1.13, 1.25 for 1.14.
        self.assertEqual((found.value(["within", "simulator"]), found.value(["of", "simulator"])), ("3", "10"))
        self.assertEqual(found.value(["of", "channels"]), "3")
        self.assertEqual(found.value(["of", "free"]), "6")

    def test_what_is_not_simulated_is_missing(self):
        without = machines()
        del without["arc-3060-sim", ""]
        with self.assertRaises(Missing):
            paper_machine.rows_of(paper_machine.PaperMachine(Made(without)))
        with self.assertRaises(Unknown):
            paper_machine.PaperMachine(Made(machines())).value(["5090", "silicon", "phi"])


if __name__ == "__main__":
    unittest.main()
