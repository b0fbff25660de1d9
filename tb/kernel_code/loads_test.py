# SPDX-License-Identifier: Apache-2.0
"""Loads and stores that are recorded apart: which they are, and where ways are cut because a warp waits for them."""

import json
import os
import unittest

from tb.kernel_code.made_code import code_of
from tb.tools import run_tool
from warpfold.tools.costs.instructions import Instruction
from warpfold.tools.costs.kernel_ways import KernelWays
from warpfold.tools.costs.loads import Parts, access, set_apart

HERE = os.path.dirname(os.path.abspath(__file__))


def parts_of(code, *way):
    set_apart(code)
    kernel = KernelWays(code)
    return [
        (p["loads"], None if p["cost"] is None else (p["cost"]["alu"], p["cost"]["stall_cycles"], p["cost"]["waits"]))
        for p in Parts(kernel).of(way, kernel.cost(way))
    ]


class Accesses(unittest.TestCase):
    def test_what_they_are(self):
        for name, wanted in {
            "LDG.E": ("load", 4, "ca"),
            "LDG.E.128.CONSTANT": ("load", 16, "nc"),
            "LDG.E.U8": ("load", 1, "ca"),
            "LDG.E.64.STRONG.GPU": ("load", 8, "cg"),
            "STG.E.EF.U16": ("store", 2, "ef"),
        }.items():
            found = access(Instruction(0, name + " R0, [R2]", 0, 0))
            self.assertEqual((found["kind"], found["bytes"], found["cache"], found["name"]), (*wanted, name))
        for name in ("LD.E", "LDS", "REDG.E.ADD.F32", "LDL", "FADD"):
            self.assertIsNone(access(Instruction(0, name + " R0, [R2]", 0, 0)))


class Cuts(unittest.TestCase):
    def test_a_way_is_cut_where_it_waits(self):
        code = code_of("LDG.E R1, [R2] #0", "FADD R3, R3, R3", "FADD R1, R1, R1 ?0", "REDG.E.ADD.F32 [R4], R1", "EXIT")
        self.assertEqual(parts_of(code, 0, 0x30), [([], (1, 2, [])), ([0], (1, 3, []))])
        # What has been waited for is not waited for again.
        self.assertEqual(parts_of(code, 0x30, 0x40), [([], (1, 2, []))])

    def test_a_load_ahead_of_another_marker_is_waited_for_behind_it(self):
        code = code_of("LDG.E R1, [R2] #0", "LDG.E R3, [R2] #1", "FADD R1, R1, R3 ?1", "FADD R1, R1, R1 ?0", "EXIT")
        self.assertEqual(parts_of(code, 0, 0x10), [([], (0, 1, []))])
        self.assertEqual(parts_of(code, 0x10, 0x40), [([], None), ([0x10], (1, 2, [])), ([0], (2, 4, []))])

    def test_a_scoreboard_stands_for_all_loads_that_it_was_set_for(self):
        code = code_of("LDG.E R1, [R2] #0", "LDG.E R3, [R2] #0", "FADD R1, R1, R3 ?0", "EXIT")
        self.assertEqual(parts_of(code, 0x10, 0x30), [([], None), ([0, 0x10], (2, 4, []))])

    def test_what_came_from_a_pass_before_is_waited_for(self):
        code = code_of("FADD R1, R1, R1 ?2", "LDG.E R1, [R2] #2", "@P0 BRA 0x0", "EXIT ?2")
        self.assertEqual(parts_of(code, -1, 0x10), [([], (1, 3, []))])
        self.assertEqual(parts_of(code, 0x10, 0x10), [([], (1, 2, [])), ([0x10], (1, 3, []))])
        self.assertEqual(parts_of(code, 0x10, 0x30), [([], (1, 2, [])), ([0x10], (1, 2, []))])

    def test_other_results_are_waited_for_in_their_parts(self):
        code = code_of("LDG.E R1, [R2] #0", "MUFU.EX2 R5, R5 #1", "FADD R6, R5, R5 ?1", "MUFU.EX2 R5, R5 #1",
                       "FADD R1, R1, R1 ?0", "FADD R6, R5, R5 ?1", "EXIT")
        # The second special function was asked for ahead of the load's wait, and is there behind it.
        self.assertEqual(parts_of(code, 0, 0x60), [([], (1, 6, [["sfu", 0, 2]])), ([0], (3, 6, []))])

    def test_the_command_gives_parts_and_leaves_loads_out(self):
        ways = {"ways": [[0xC0, 0xF0], [0xF0, 0x110]], "apart": True}
        path = os.path.join(HERE, "without_loop.sm_90.sass")
        code, out, err = run_tool(
            "kernel-code", "ways", "--text", path, "--function", "without_loop", stdin=json.dumps(ways)
        )
        self.assertEqual((code, err), (0, ""))
        found = json.loads(out)
        self.assertEqual([cost["global_load"] for cost in found["costs"]], [0, 0])
        self.assertEqual([[part["loads"] for part in parts] for parts in found["parts"]], [[[]], [[], [0xC0], [0xF0]]])
        self.assertEqual(found["parts"][1][1]["cost"]["alu"], 1)


if __name__ == "__main__":
    unittest.main()
