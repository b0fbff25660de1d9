# SPDX-License-Identifier: Apache-2.0
"""What is known of a way without a count: what parameters of the launch rule out, what lanes that part have in common,
and how few and how many instructions it may be."""

import json
import unittest

from kernel_code_test import code_of, load, run_main, path_of
from warpfold.tools.costs.constants import Constants
from warpfold.tools.costs.cost import slots
from warpfold.tools.costs.instructions import SassError
from warpfold.tools.costs.kernel_code import costs_by_code, launch_memory
from warpfold.tools.costs.kernel_flow import KernelFlow
from warpfold.tools.costs.kernel_ways import KernelWays

PARAMETER = 0x210


def known(*lines, memory=None):
    """Registers and predicates that are known at the last of the lines, which begins a block of its own."""
    code = code_of(*lines[:-1], f"BRA 0x{16 * len(lines):x}", lines[-1])
    flow = KernelFlow(code)
    return Constants(flow, memory or {PARAMETER: 5, PARAMETER + 4: 0xFFFFFFFF}).before[flow.node_of[len(lines)]]


class ConstantsTest(unittest.TestCase):
    def test_what_instructions_make_of_constants(self):
        load_it = "LDC R2, c[0x0][0x210]"
        for line, name, value in (
                ("MOV R3, R2", "R3", 5), ("IMAD.MOV.U32 R3, RZ, RZ, R2", "R3", 5), ("MOV R3, 0x7", "R3", 7),
                ("MOV R3, c[0x0][0x214]", "R3", 0xFFFFFFFF), ("IADD3 R3, R2, -0x1, RZ", "R3", 4),
                ("IADD3 R3, -R2, 0x6, RZ", "R3", 1), ("VIADD R3, R2, 0x3", "R3", 8),
                ("IMAD.IADD R3, R2, 0x1, R2", "R3", 10), ("IMAD R3, R2.reuse, R2, R2", "R3", 30),
                ("IMAD.SHL.U32 R3, R2, 0x4, RZ", "R3", 20), ("LOP3.LUT R3, R2, 0x4, RZ, 0xc0, !PT", "R3", 4),
                ("ULDC.U8 UR4, c[0x0][0x210]", "UR4", 5), ("ULDC.S8 UR4, c[0x0][0x215]", "UR4", 0xFFFFFFFF),
                ("ULDC.U16 UR4, c[0x0][0x216]", "UR4", 0xFFFF), ("ULDC.64 UR4, c[0x0][0x210]", "UR5", 0xFFFFFFFF),
                ("ISETP.NE.AND P0, PT, R2, 0x5, PT", "P0", False), ("ISETP.GT.AND P0, PT, R2, RZ, PT", "P0", True),
                ("ISETP.GT.AND P0, PT, R2, c[0x0][0x214], PT", "P0", True),
                ("ISETP.GT.U32.AND P0, PT, R2, c[0x0][0x214], PT", "P0", False),
                ("ISETP.EQ.OR P0, PT, R9, 0x5, PT", "P0", True), ("ISETP.EQ.AND P0, PT, R9, 0x5, !PT", "P0", False),
                ("PLOP3.LUT P0, PT, P4, !PT, PT, 0x80, 0x0", "P0", False)):
            with self.subTest(line):
                found = known(load_it, line, "EXIT")
                self.assertEqual((found.get(name), type(found.get(name))), (value, type(value)))

    def test_upper_words_decide_but_where_they_are_equal(self):
        for low, high, expected in (("0x6", "0x0", True), ("0x4", "0x0", False), ("0x4", "0x1", True), ("0x6", "-0x1", False)):
            found = known("LDC R2, c[0x0][0x210]", f"ISETP.LT.U32.AND P0, PT, R2, {low}, PT",
                          f"ISETP.LT.AND.EX P0, PT, RZ, {high}, PT, P0", "EXIT")
            self.assertIs(found["P0"], expected, (low, high))

    def test_what_is_not_known_is_not(self):
        for lines, name in ((["LDC R2, c[0x0][0x210]", "LDG.E.64 R1, [R4]"], "R2"),
                            (["LDC R2, c[0x0][0x210]", "HMMA.16816.F32 R0, R4, R8, R12"], "R2"),
                            (["LDC R2, c[0x0][0x210]", "@P0 MOV R2, 0x6"], "R2"),
                            (["LDC R2, c[0x0][0x218]"], "R2"), (["LDC R2, c[0x0][R4+0x210]"], "R2"),
                            (["LDC R2, c[0x1][0x210]"], "R2"), (["S2R R2, SR_TID.X"], "R2"),
                            (["LDC R2, c[0x0][0x210]", "IADD3 R3, R2, R9, RZ"], "R3"),
                            (["LDC R2, c[0x0][0x210]", "IADD3.X R3, R2, 0x1, RZ, P0, !PT"], "R3"),
                            (["ISETP.NE.AND P0, PT, RZ, 0x5, PT", "R2P PR, R4, 0x7f"], "P0"),
                            (["ISETP.NE.AND P0, PT, RZ, 0x5, PT", "VOTE.ANY P0, P1"], "P0")):
            with self.subTest(lines[-1]):
                self.assertNotIn(name, known(*lines, "EXIT"))
        self.assertEqual(known("LDC R2, c[0x0][0x210]", "@!PT MOV R2, 0x6", "EXIT")["R2"], 5)
        self.assertEqual(known("LDC R2, c[0x0][0x210]", "@P0 MOV R2, 0x5", "EXIT")["R2"], 5)

    # Passes of a loop and sides of a branch leave what they agree on.
    def test_what_ways_agree_on_stays(self):
        code = code_of("LDC R2, c[0x0][0x210]", "MOV R3, 0x0", "S2R R4, SR_TID.X", "ISETP.EQ.AND P0, PT, R4, RZ, PT",
                       "@P0 BRA 0x70", "IADD3 R3, R3, 0x1, RZ", "MOV R2, 0x5", "ISETP.NE.AND P1, PT, R3, 0x9, PT",
                       "@P1 BRA 0x30", "EXIT")
        flow = KernelFlow(code)
        found = Constants(flow, {PARAMETER: 5})
        end = found.before[flow.node_of[9]]
        self.assertEqual(end["R2"], 5)
        self.assertNotIn("R3", end)
        self.assertEqual(found.dead, set())

    def test_a_branch_on_a_parameter_has_one_side(self):
        code = code_of("LDC R2, c[0x0][0x210]", "ISETP.NE.AND P0, PT, R2, 0x1, PT", "@!P0 BRA 0x50", "MOV R3, R2",
                       "MOV R3, R2", "STG.E [R4], R3", "EXIT")
        for value, expected in ((1, 4), (2, 6), (None, 6)):
            cost = KernelWays(code, memory=None if value is None else {PARAMETER: value}).cost((-1, 0x50))
            self.assertEqual((slots(cost), cost.get("estimated", False)), (expected, value is None), value)

    # A warp that went a way that the parameters rule out went it: then they are not what they seem.
    def test_a_way_that_was_gone_has_a_cost(self):
        code = code_of("ISETP.NE.AND P0, PT, RZ, c[0x0][0x210], PT", "@!P0 BRA 0x40", "STG.E [R4], R3", "EXIT",
                       "STG.E [R2], R3", "EXIT")
        kernel = KernelWays(code, memory={PARAMETER: 0})
        self.assertEqual([slots(kernel.cost(w)) for w in ((-1, 0x40), (-1, 0x20))], [3, 3])

    def test_a_launch_sets_constant_memory(self):
        launch = {"launch": {"block": [64, 2, 1], "grid": [7, 8, 9], "parameters": "01000000ffff000012"}}
        self.assertEqual(launch_memory("sm_90", launch, "x"),
                         {0: 64, 4: 2, 8: 1, 12: 7, 16: 8, 20: 9, 0x210: 1, 0x214: 0xFFFF})
        self.assertEqual(launch_memory("sm_86", launch, "x")[0x160], 1)
        self.assertEqual(launch_memory("sm_120", launch, "x"), {0x380: 1, 0x384: 0xFFFF})
        self.assertEqual(launch_memory("unknown", launch, "x"), {})
        self.assertEqual(launch_memory("sm_90", {}, "x"), {})
        for wrong in ({}, {"block": [1, 1, 1], "grid": [1, 1, 1], "parameters": "0g"},
                      {"block": [1, 1], "grid": [1, 1, 1], "parameters": ""}, [],
                      {"block": [1, 1, -1], "grid": [1, 1, 1], "parameters": ""}):
            with self.assertRaises(SassError, msg=wrong):
                launch_memory("sm_90", {"launch": wrong}, "x")


def costs(kernel, ways, passes, warps):
    found = costs_by_code(kernel, [list(w) for w in ways], {"passes": passes, "warps": warps}, "x")
    return [(slots(c), c.get("bounds")) for c in found]


class Sides(unittest.TestCase):
    # Lanes part at 0x40: one side stores at 0x60, the other at 0x80.
    CODE = ("LDG.E R1, [R2]", "MOV R3, R1", "MOV R3, R1", "ISETP.NE.AND P0, PT, R1, RZ, PT", "@P0 BRA 0x70", "MOV R4, R5",
            "STG.E [R4], R3", "MOV R4, R6", "STG.E [R4], R3", "EXIT")

    def test_what_they_have_in_common_counts_once(self):
        kernel = KernelWays(code_of(*self.CODE))
        ways = [(-1, 0x0), (0x0, 0x60), (0x0, 0x80)]
        # All lanes go the one or the other way.
        self.assertEqual(costs(kernel, ways, [10, 4, 6], 10), [(1, None), (6, None), (6, None)])
        # In six of ten warps lanes go both: 4 + 2 instructions and 2 more.
        found = costs(kernel, ways, [10, 10, 6], 10)
        self.assertEqual(found[0], (1, None))
        self.assertAlmostEqual(10 * found[1][0] + 6 * found[2][0], 10 * 4 + 2 * 10 + 2 * 6, delta=8)
        self.assertEqual([f[1][1] for f in found[1:]], [6, 6])

    def test_at_the_entry_too(self):
        code = code_of("MOV R3, R1", "MOV R3, R1", "@P0 BRA 0x50", "STG.E [R4], R3", "EXIT", "STG.E [R6], R3", "EXIT")
        found = costs(KernelWays(code), [(-1, 0x30), (-1, 0x50)], [8, 8], 8)
        self.assertEqual(sum(f[0] for f in found), 3 + 2)

    def test_a_kernel_whose_lanes_stay_together_keeps_its_costs(self):
        kernel = KernelWays(load("unrolled").instructions)
        ways = [(-1, 0xD0), (0xD0, 0x1A0)]
        self.assertEqual(costs(kernel, ways, [3, 3], 3), [(slots(kernel.cost(w)), None) for w in ways])


class Bounds(unittest.TestCase):
    def test_the_shortest_and_all_that_lies_between(self):
        code = code_of("LDG.E R1, [R2]", "@P0 BRA 0x40", "MOV R3, R1", "BRA 0x60", "MOV R3, R1", "MOV R3, R1",
                       "STG.E [R4], R3", "EXIT")
        kernel = KernelWays(code)
        self.assertEqual(slots(kernel.cost((0, 0x60))), 4)
        self.assertEqual(kernel.bounds((0, 0x60)), (4, 6))
        self.assertEqual(costs(kernel, [(0, 0x60)], [1], 1), [(4, [4, 6])])

    def test_the_command_gives_them(self):
        data = {"ways": [[0xD0, 0x240], [0xC0, 0xD0]], "passes": [1, 1], "warps": 1}
        code, out, _ = run_main("ways", "--text", path_of("divides"), "--function", "divides", stdin=json.dumps(data))
        found = json.loads(out)["costs"]
        self.assertEqual(code, 0)
        self.assertEqual(found[0]["bounds"][0], slots(found[0]))
        self.assertGreater(found[0]["bounds"][1], slots(found[0]) + 20)  # the slow path of the division
        self.assertNotIn("bounds", found[1])
        code, _, err = run_main("ways", "--text", path_of("divides"), "--function", "divides",
                                stdin=json.dumps(data | {"launch": {}}))
        self.assertEqual((code, err.count("\n")), (2, 1))
        self.assertIn('"launch" needs block, grid and parameters', err)


if __name__ == "__main__":
    unittest.main()
