# SPDX-License-Identifier: Apache-2.0
"""The shipped costs of ARC-SW's code, and that the generator makes them: from a listing of the kernels of two
parameters."""

import json
import os
import tempfile
import unittest

from warpfold.tools.costs import reduction_costs
from warpfold.tools.costs.cost import FIELDS, slots
from warpfold.tools.costs.listings import Listings
from warpfold.tools.costs.shapes import SEGMENTS
from tb.tools import run_tool

HERE = os.path.dirname(os.path.abspath(__file__))

SHIPPED = os.path.join(HERE, "..", "..", "traces", "data", "reduction_costs.json")
LISTING = os.path.join(HERE, "reductions")


def shipped():
    with open(SHIPPED, encoding="utf-8") as file:
        return json.load(file)


class Shipped(unittest.TestCase):
    def entries(self):
        for arch, variants in shipped()["costs"].items():
            for variant, by_parameters in variants.items():
                yield arch, variant, by_parameters

    def test_what_is_there(self):
        data = shipped()
        self.assertEqual(data["schema"], "warpfold.reduction-costs/1")
        self.assertEqual(sorted(data["costs"]), ["sm_86", "sm_89", "sm_90"])
        for _, variant, by_parameters in self.entries():
            self.assertIn(variant, ("sw-s", "sw-b", "skip"))
            self.assertEqual([int(n) for n in by_parameters], [1, 2, 3, 4, 6, 8, 9, 12, 16, 24, 32])
            for entry in by_parameters.values():
                self.assertEqual(set(entry["reduce"]), set(SEGMENTS[variant]))
                self.assertIn(entry["registers"], range(65))
                for cost in entry["reduce"].values():
                    self.assertEqual(list(cost), FIELDS)
                    self.assertEqual(cost["global_load"], 0)
                    self.assertTrue(all(0 <= asked <= wanted for _, asked, wanted in cost["waits"]))

    def test_costs_grow_with_the_number_of_parameters(self):
        for arch, variant, by_parameters in self.entries():
            def total(entry):
                return sum(slots(c) for c in entry["reduce"].values())

            entries = list(by_parameters.values())
            for less, more in zip(entries, entries[1:]):
                self.assertLess(total(less), total(more), (arch, variant))
            for n, entry in by_parameters.items():
                if variant == "sw-s":
                    self.assertEqual(entry["reduce"]["per_lane"]["shuffle_index"], int(n))
                else:
                    butterfly = entry["reduce"]["butterfly"]
                    self.assertEqual((butterfly["shuffle"], butterfly["alu"]), (5 * int(n), 5 * int(n)))

    def test_addresses_are_not_in_them(self):
        for _, variant, by_parameters in self.entries():
            for entry in by_parameters.values():
                self.assertLess(slots(entry["reduce"]["leader"]), 10)
                self.assertLess(slots(entry["reduce"].get("plain", entry["reduce"]["leader"])), 10)


class Generator(unittest.TestCase):
    def test_the_table_is_what_it_makes(self):
        made = reduction_costs.table(Listings(LISTING), [2])
        for variant, by_parameters in made["costs"]["sm_90"].items():
            self.assertEqual(by_parameters["2"], shipped()["costs"]["sm_90"][variant]["2"])
        # The ballot, its branch and a zero for each value: SEL and FSEL, or a predicate in front of the load.
        skip = made["costs"]["sm_90"]["skip"]["2"]
        self.assertEqual(slots(skip["reduce"]["check"]), 19 - 12)
        self.assertEqual(skip["registers"], 22 - 20)

    def test_its_text(self):
        made = reduction_costs.table(Listings(LISTING), [2])
        text = reduction_costs.as_text(made)
        self.assertEqual(json.loads(text), made)
        self.assertEqual(sum(line.lstrip().startswith('"2": {') and len(line) > 500 for line in text.splitlines()), 3)

    def test_bad_input_is_one_line(self):
        with tempfile.TemporaryDirectory() as folder:
            for sass, message in ((folder, "holds no sm_"), (LISTING, "has no warpfold_reduction_baseline_1")):
                code, _, err = run_tool("reduction-costs", "--sass", sass, "--json", os.path.join(folder, "x.json"))
                self.assertEqual((code, err.count("\n"), os.listdir(folder)), (2, 1, []))
                self.assertRegex(err, message)


if __name__ == "__main__":
    unittest.main()
