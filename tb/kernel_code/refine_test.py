# SPDX-License-Identifier: Apache-2.0
"""Costs held to how often each instruction was issued: the sums are those counted, whatever the markers missed."""

import os
import unittest

from kernel_code_test import code_of
from warpfold.tools.costs.cost import slots
from warpfold.tools.costs.instructions import SassError
from warpfold.tools.costs.kernel_ways import KernelWays
from warpfold.tools.costs.refine import Refinement

HERE = os.path.dirname(os.path.abspath(__file__))

# A loop in which a pass may go without a marker (at 0x20 it leaves out the load), and an end.
LOOP = code_of("MOV R1, RZ",                 # 00
               "ISETP.GE.AND P0, PT, R1, R2, PT",  # 10
               "@P0 BRA 0x50",               # 20
               "LDG.E R3, [R4]",             # 30
               "FADD R5, R5, R3",            # 40
               "IADD3 R1, R1, 0x1, RZ",      # 50
               "ISETP.LT.AND P1, PT, R1, R6, PT",  # 60
               "@P1 BRA 0x10",               # 70
               "EXIT")                       # 80
LOAD, END = 0x30, 0x80


def refine(ways, passes, executed):
    kernel = KernelWays(LOOP, None, {"global", "exit"})
    return kernel, Refinement(kernel, ways, passes, executed)


def total(kernel, ways, passes, costs):
    return sum((slots(c) + kernel.issued_by_model(w)) * p for w, p, c in zip(ways, passes, costs) if c is not None)


class Refine(unittest.TestCase):
    WAYS = [(-1, LOAD), (LOAD, LOAD), (LOAD, END)]

    def test_passes_without_a_marker_are_found(self):
        # A warp of 100 passes, 10 of which load: 1 + 10 * 8 + 90 * 6 + 1 instructions.
        executed = [1, 100, 100, 10, 10, 100, 100, 100, 1]
        passes = [1, 9, 1]
        kernel, found = refine(self.WAYS, passes, executed)
        costs = found.costs()
        thought = total(kernel, self.WAYS, passes, [kernel.cost(w) for w in self.WAYS])
        self.assertLess(thought, 0.25 * sum(executed))
        self.assertAlmostEqual(total(kernel, self.WAYS, passes, costs) / sum(executed), 1, delta=0.02)
        self.assertTrue(all(c["estimated"] for c in costs))
        self.assertEqual(found.unplaced, 0)

    def test_what_agrees_stays_as_it_is(self):
        # Every pass loads.
        executed = [1, 10, 10, 10, 10, 10, 10, 10, 1]
        kernel, found = refine(self.WAYS, [1, 9, 1], executed)
        for way, cost in zip(self.WAYS, found.costs()):
            self.assertEqual(slots(cost), slots(kernel.cost(way)))

    def test_classes_are_those_of_the_blocks(self):
        executed = [1, 100, 100, 10, 10, 100, 100, 100, 1]
        passes = [1, 9, 1]
        _, found = refine(self.WAYS, passes, executed)
        # ISETP twice and IADD3 once in each pass; the rest of it is branches.
        integer = sum(c["integer"] * p for c, p in zip(found.costs(), passes))
        self.assertAlmostEqual(integer / 300, 1, delta=0.04)
        loads = sum(c["global_load"] * p for c, p in zip(found.costs(), passes))
        self.assertEqual(loads, 10)

    def test_counts_of_another_kernel_are_refused(self):
        with self.assertRaisesRegex(SassError, "the counts are of 4 instructions"):
            refine(self.WAYS, [1, 9, 1], [1, 1, 1, 1])
        with self.assertRaises(SassError):
            refine(self.WAYS, [1, 9, 1], [1] * 30)


if __name__ == "__main__":
    unittest.main()
