# SPDX-License-Identifier: Apache-2.0
"""Instruction costs from machine code, on real code of the backward kernels: nvcc 13.0, text of the
disassembler with its blanks squeezed; sw_b, skip and cccl without the helper code that only diverged warps
reach. Expected numbers were counted in the listings by hand where they are written out."""

import json
import os
import re
import tempfile
import unittest
from unittest import mock

from warpfold.tools.costs import sass_cost
from warpfold.tools.costs import shapes
from warpfold.tools.costs.cost import FIELDS, ISSUED, Scoreboard, slots
from warpfold.tools.costs.flow import Flow
from warpfold.tools.costs.instructions import NO_BARRIER, Instruction, SassError, parse_registers, parse_sass
from warpfold.tools.costs.prediction import predict_variant
from warpfold.tools.costs.reductions import Ways, ranges
from warpfold.tools.costs.shapes import SEGMENTS, WORKLOADS, Shape
from tb.tools import run_tool

HERE = os.path.dirname(os.path.abspath(__file__))

GAUSSIANS = WORKLOADS[shapes.GAUSSIANS]

KERNELS = {"baseline": "sm_90_baseline", "sw-s": "sm_86_sw_s", "sw-b": "sm_90_sw_b", "skip": "sm_90_skip",
           "cccl": "sm_86_cccl"}


def text_of(variant):
    with open(os.path.join(HERE, "sass", KERNELS[variant] + ".sass"), encoding="utf-8") as file:
        return file.read()


def instructions(variant, text=None):
    functions = parse_sass(text_of(variant) if text is None else text)
    return functions["warpfold_backward_" + variant.replace("-", "_")]


def ways(variant, text=None):
    return Ways(Flow(instructions(variant, text)), variant, GAUSSIANS)


def cost(variant, name):
    return ways(variant).cost(name)[0]


def without(text, address):
    """The listing with a NOP in place of an instruction."""
    changed = re.sub(rf"/\*{address:04x}\*/ .*? ;", f"/*{address:04x}*/ NOP ;", text)
    assert changed != text
    return changed


def line(address, text, stall=1, write=7, wait=0):
    high = stall << 41 | write << 46 | 7 << 49 | wait << 52
    return Instruction(address, text, 0, high)


class Reading(unittest.TestCase):
    def test_control_bits(self):
        code = {i.address: i for i in instructions("baseline")}
        fetch = code[0xF0]  # 0x000eac00...: its result sets scoreboard 2
        self.assertEqual(fetch.text, "LDG.E.64 R6, [R6.64]")
        self.assertEqual((fetch.stall, fetch.write_barrier, fetch.wait_mask), (6, 2, 0))
        self.assertEqual(fetch.kind, "global_load")
        user = code[0x230]  # 0x004fc400...: waits for it
        self.assertEqual((user.stall, user.write_barrier, user.wait_mask), (2, NO_BARRIER, 1 << 2))

    def test_registers_written_and_read(self):
        wide = line(0, "@!P0 IMAD.WIDE R8, R5, 0x4, R14")
        self.assertEqual(wide.writes(), ["R8", "R9"])
        self.assertEqual(set(wide.reads()), {"R5", "R14", "R15", "P0"})
        red = line(0, "REDG.E.ADD.F32.FTZ.RN.STRONG.GPU desc[UR4][R22.64+0x4], R26")
        self.assertEqual(red.writes(), [])
        self.assertEqual(red.added_value(), ["R26"])
        self.assertEqual(set(red.reads()), {"R22", "R23", "UR4", "UR5", "R26"})
        vector = line(0, "REDG.E.ADD.F32x4.FTZ.RN.STRONG.GPU desc[UR4][R22.64], R8")
        self.assertEqual(vector.added_value(), ["R8", "R9", "R10", "R11"])
        pair = line(0, "REDG.E.ADD.F32x2.FTZ.RN.STRONG.GPU desc[UR4][R22.64], R8")
        self.assertEqual(pair.added_value(), ["R8", "R9"])
        carry = line(0, "LEA R28, P0, R30, UR4, 0x2")
        self.assertEqual(carry.writes(), ["R28", "P0"])
        compare = line(0, "ISETP.GE.AND P1, PT, R12, UR10, !P0")
        self.assertEqual(compare.writes(), ["P1"])
        self.assertEqual(set(compare.reads()), {"R12", "UR10", "P0"})
        shuffle = line(0, "SHFL.IDX PT, R43, R27, R41, 0x1f")
        self.assertEqual(shuffle.writes(), ["R43"])
        self.assertEqual(shuffle.value_reads(), ["R27"])
        self.assertEqual(line(0, "LDS.128 R12, [UR12+0x1000]").writes(), ["R12", "R13", "R14", "R15"])

    def test_registers_of_each_kernel(self):
        text = ("arch = sm_86\nResource usage:\n Function a:\n  REG:40 STACK:0\n Function b:\n  REG:48\n"
                "arch = sm_90\nResource usage:\n Function a:\n  REG:32 STACK:0\n")
        self.assertEqual(parse_registers(text),
                         {"sm_86": {"a": 40, "b": 48}, "sm_90": {"a": 32}})


class Scoreboards(unittest.TestCase):
    def test_a_wait_is_counted_by_the_class_that_it_waits_for(self):
        board = Scoreboard()
        board.issue(line(0, "LDS R1, [R0]", write=0))
        board.issue(line(16, "MUFU.RCP R2, R0", write=1))
        board.issue(line(32, "POPC R3, R0", write=2))
        board.issue(line(48, "UNHEARDOF R5, R0", write=3))
        self.assertEqual(board.issue(line(64, "FADD R4, R1, R2", wait=15)), ([("sfu", 2, 4), ("shared", 0, 4)], 1))
        self.assertEqual(board.issue(line(80, "FADD R4, R1, R2", wait=15)), ([], 0))

    def test_the_clock_counts_stall_counts(self):
        board = Scoreboard()
        board.issue(line(0, "SHFL.BFLY PT, R1, R0, 0x1, 0x1f", stall=3, write=0))
        board.issue(line(16, "SHFL.BFLY PT, R2, R0, 0x2, 0x1f", stall=5, write=0))
        board.issue(line(32, "FADD R5, R5, R5", stall=4))
        # A scoreboard is down when the last of its results is there.
        self.assertEqual(board.issue(line(48, "FADD R3, R1, R2", wait=1))[0], [("shuffle", 3, 12)])

    def test_what_takes_longer_is_a_class_of_its_own(self):
        board = Scoreboard()
        board.issue(line(0, "SHFL.IDX PT, R1, R0, R4, 0x1f", stall=2, write=0))
        board.issue(line(16, "LDS.128 R8, [R2]", stall=2, write=1))
        self.assertEqual(board.issue(line(32, "FADD R3, R1, R8", wait=3))[0],
                         [("shared", 2, 4), ("shuffle_index", 0, 4)])
        kinds = {"SHFL.BFLY PT, R1, R0, 0x1, 0x1f": "shuffle", "SHFL.IDX PT, R1, R0, 0x1f, 0x1f": "shuffle_index",
                 "LDS.64 R2, [R0]": "shared", "LDS.128 R4, [R0]": "shared_wide", "STS.128 [R0], R4": "shared_wide",
                 "REDUX UR4, R2": "redux", "CREDUX.MIN UR4, R2": "alu", "POPC R1, R2": "sfu", "IMAD R1, R2, R3, R4": "alu"}
        for text, kind in kinds.items():
            self.assertEqual(line(0, text).kind, kind)


class Paths(unittest.TestCase):
    def test_passes_of_the_baseline(self):
        # The pass starts at 640 and the lanes meet at b60; three branches lead there.
        w = ways("baseline")
        self.assertEqual((w.inner, w.outer, w.meet), (0x640, [0x2F0], 0xB60))
        self.assertEqual(w.leaves, [0x680, 0x730, 0x770])
        self.assertEqual(ranges(w.addresses("skip_position")), "640-680 b60-ba0")
        self.assertEqual(ranges(w.addresses("skip_power")), "640-730 b60-ba0")
        self.assertEqual(ranges(w.addresses("skip_alpha")), "640-770 b60-ba0")
        self.assertEqual(ranges(w.addresses("batch")), "2f0-630 bb0-be0")
        alpha = cost("baseline", "skip_alpha")
        self.assertEqual(alpha, {"alu": 19, "integer": 3, "sfu": 1, "shared": 1, "shared_wide": 1, "global_load": 0,
                                 "shuffle": 0, "shuffle_index": 0, "match": 0, "redux": 0, "stall_cycles": 107, "branches": 5, "waits": [["shared", 0, 5], ["shared", 4, 9], ["sfu", 41, 43]]})
        self.assertEqual(cost("baseline", "epilogue")["alu"], 1)

    def test_spilled_registers_are_loads_that_the_l1_serves(self):
        plain = cost("baseline", "taken")
        spilled = ways("baseline", text_of("baseline").replace("LDS.64", "LDL.64")).cost("taken")[0]
        self.assertEqual((spilled["global_load"], spilled["shared"]), (plain["global_load"] + 1, plain["shared"] - 1))
        self.assertIn("next_word", [wait[0] for wait in spilled["waits"]])

    def test_barriers_are_in_no_path(self):
        batch = cost("baseline", "batch")
        self.assertEqual(sum(batch[f] for f in ISSUED), (0x630 - 0x2F0) // 16 + 1 + 4 - 2)
        self.assertEqual((batch["global_load"], batch["shared"], batch["shared_wide"]), (6, 1, 2))
        self.assertEqual(sum(wait[0] == "global_load" for wait in batch["waits"]), 3)

    def test_taken_and_its_reduction_are_all_that_is_issued(self):
        for variant, first, last in (("baseline", 0x640, 0xBA0), ("skip", 0x690, 0x1190), ("cccl", 0x500, 0xFA0)):
            with self.subTest(variant):
                w = ways(variant)
                names = ["taken"] + SEGMENTS[variant]
                issued = sum(slots(w.cost(n)[0]) for n in names)
                self.assertEqual(issued, (last - first) // 16 + 1 - GAUSSIANS.parameters)

    def test_addresses_belong_to_the_reduction_and_gradients_to_the_pass(self):
        w = ways("baseline")
        code = w.flow.code
        plain = {code[a].opcode for a in w.addresses("plain")}
        self.assertEqual(plain, {"R2UR", "USHF", "UIMAD", "ULEA", "MOV"})
        kept = [code[a].opcode for a in w.addresses("taken")]
        self.assertIn("MUFU", kept)
        # Behind the last RED: the colour behind the next Gaussian.
        self.assertIn(0xB50, w.addresses("taken"))
        # The pass has its atomics, which cost nothing there.
        self.assertEqual(kept.count("REDG"), GAUSSIANS.parameters)

    def test_serial_reduction(self):
        w = ways("sw-s")
        self.assertEqual(ranges(w.addresses("per_lane")), "9d0-b80")
        turn = cost("sw-s", "per_lane")
        self.assertEqual((turn["shuffle"], turn["shuffle_index"], turn["match"], slots(turn)), (0, 9, 1, 28))
        check = [w.flow.code[a].opcode for a in w.addresses("check")]
        self.assertEqual(check, ["VOTE", "R2UR", "BRA", "MATCH", "POPC", "ISETP", "BRA"])
        self.assertEqual(ranges(w.addresses("plain")), "d40-e80")
        self.assertEqual(slots(cost("sw-s", "plain")), (0xE80 - 0xD40) // 16 + 1 - 9)
        self.assertEqual(ranges(w.addresses("setup")), "900-9c0")
        self.assertEqual(ranges(w.addresses("leader")), "b90-d30")

    def test_butterfly_reduction(self):
        w = ways("sw-b")
        self.assertEqual(w.leaves, [0x6C0, 0x7F0])
        self.assertEqual(w.addresses("skip_power"), w.addresses("skip_alpha"))
        check = [w.flow.code[a].opcode for a in w.addresses("check")]
        self.assertEqual(check, ["POPC", "MOV", "ISETP", "SHF", "LOP3", "BRA"])
        agree = [w.flow.code[a].opcode for a in w.addresses("agree")]
        self.assertEqual(agree, ["BREV", "ISETP", "FLO", "SHFL", "ISETP", "VOTE", "BRA"])
        self.assertEqual(cost("sw-b", "butterfly")["shuffle"], 45)
        self.assertEqual(cost("sw-b", "butterfly")["alu"], 45)  # additions
        self.assertEqual(ranges(w.addresses("plain")), "1210-1380")

    def test_skip_has_no_check(self):
        w = ways("skip")
        self.assertEqual(w.addresses("check"), [])
        self.assertEqual(cost("skip", "butterfly")["shuffle"], 45)
        self.assertEqual(cost("skip", "butterfly")["alu"], 45)

    def test_every_pass_of_cccl_reduces(self):
        # The pass starts at 500; the leader's branch is at e20 and leads past the atomics to f80.
        w = ways("cccl")
        self.assertEqual((w.inner, w.outer, w.meet, w.leaves), (0x500, [0x2A0], 0xF80, [0xE20]))
        for name in ("skip_position", "skip_power", "skip_alpha"):
            self.assertEqual(ranges(w.addresses(name)), "500-e20 f80-fa0")
        self.assertEqual(cost("cccl", "skip_position")["shuffle"], 45)
        butterfly = cost("cccl", "butterfly")
        self.assertEqual((butterfly["shuffle"], butterfly["alu"]), (45, 45))
        self.assertEqual({w.flow.code[a].name for a in w.addresses("butterfly")}, {"SHFL.DOWN", "FADD"})
        # What an event issues beside its pass without one: the leader's addresses, e30 to f70.
        taken = sum(slots(cost("cccl", n)) for n in ("taken", "butterfly", "leader"))
        self.assertEqual(taken - slots(cost("cccl", "skip_alpha")), (0xF70 - 0xE30) // 16 + 1 - 9)

    def test_the_converged_passes_hold_the_ballot(self):
        w = ways("sw-b")
        self.assertIn("VOTE", [w.flow.code[a].opcode for a in w.addresses("skip_alpha")])


def shaped(workload, variant, text=None, arch="sm_86"):
    """Ways through a kernel of a workload."""
    name = f"{workload}_{arch}_{variant.replace('-', '_')}.sass"
    if text is None:
        with open(os.path.join(HERE, "sass", name), encoding="utf-8") as file:
            text = file.read()
    code = parse_sass(text)[f"warpfold_{workload}_{variant.replace('-', '_')}"]
    return Ways(Flow(code), variant, WORKLOADS[workload])


class Workloads(unittest.TestCase):
    def ranges(self, w, name):
        return ranges(w.addresses(name))

    def test_a_loop_without_leaves(self):
        w = shaped("pagerank", "baseline")
        self.assertEqual((w.inner, w.meet), (0x1F0, 0x280))
        self.assertEqual(self.ranges(w, "prologue"), "0-1e0")
        self.assertEqual(self.ranges(w, "taken"), "210 230-250 270-280")
        # The neighbour's index is wanted for the address alone.
        self.assertEqual(self.ranges(w, "plain"), "1f0-200 220 260")
        self.assertEqual(self.ranges(w, "epilogue"), "290")
        self.assertEqual(sum(slots(w.cost(n)[0]) for n in ("taken", "plain")), 10 - 1)

    def test_serial_reduction(self):
        w = shaped("pagerank", "sw-s")
        self.assertEqual(self.ranges(w, "per_lane"), "370-420")
        self.assertEqual(self.ranges(w, "setup"), "300-360")
        self.assertEqual(self.ranges(w, "leader"), "430-4b0")
        self.assertEqual(self.ranges(w, "plain"), "4c0-4e0")

    def test_a_branch_that_no_warp_takes(self):
        # The ballot's branch leaves the pass, but no path has its name.
        w = shaped("pagerank", "sw-b")
        self.assertEqual(w.leaves, [0x2F0])
        self.assertEqual(w.parts.keys(), {"prologue", "taken", "epilogue", "check", "agree", "plain", "butterfly", "leader"})
        self.assertEqual(w.cost("prologue")[0]["shuffle"], 5)
        self.assertEqual(w.cost("butterfly")[0]["shuffle"], 5)
        # What is asked for in the check arrives in the reduction, not at the end of the pass.
        self.assertNotIn("global_load", [wait[0] for wait in w.cost("taken")[0]["waits"]])

    def test_an_early_end(self):
        w = shaped("envmap", "baseline")
        self.assertEqual(self.ranges(w, "outside"), "0-110")
        self.assertEqual(self.ranges(w, "prologue"), "0-3e0")
        self.assertEqual(self.ranges(w, "epilogue"), "5b0")
        self.assertEqual(sum(slots(w.cost(n)[0]) for n in ("taken", "plain")),
                         (0x5A0 - 0x3F0) // 16 + 1 - 3)
        w = shaped("envmap", "sw-b")
        self.assertEqual(self.ranges(w, "outside"), "0-130")
        self.assertEqual(w.cost("butterfly")[0]["shuffle"], 15)
        self.assertEqual(shaped("envmap", "sw-s").cost("per_lane")[0]["shuffle_index"], 3)

    def test_a_pass_that_a_whole_warp_leaves(self):
        w = shaped("spheres", "baseline")
        self.assertEqual(self.ranges(w, "empty"), "300-370 850-870")
        self.assertEqual(w.cost("empty")[0]["global_load"], 1)
        self.assertEqual(w.cost("taken")[0]["global_load"], 3)
        self.assertEqual(sum(slots(w.cost(n)[0]) for n in ("taken", "plain")),
                         (0x870 - 0x300) // 16 + 1 - 8)
        w = shaped("spheres", "sw-s")
        self.assertEqual(self.ranges(w, "empty"), "2f0-390 dc0-dd0")
        self.assertEqual(w.cost("per_lane")[0]["shuffle_index"], 8)

    def test_loops_that_do_not_add(self):
        w = shaped("fit_ballot", "baseline")
        self.assertEqual(self.ranges(w, "prologue"), "0-2d0 7b0-880")
        # One within the other: a turn of the outer one goes without the inner one.
        self.assertEqual(self.ranges(w, "cull"), "2e0-4d0 760-7a0")
        self.assertEqual(self.ranges(w, "paint"), "4e0-750")
        w = shaped("fit_staged", "baseline")
        # Two within another, one of them with its test at the head.
        self.assertEqual(self.ranges(w, "group"), "260-330 560 750-770")
        self.assertEqual(self.ranges(w, "collect"), "340-550")
        self.assertEqual(self.ranges(w, "append"), "570-740")
        # An ATOMS and an STS; 8 compare-exchanges.
        self.assertEqual(w.cost("append")[0]["shared"], 2)
        self.assertEqual(w.cost("sort")[0]["shared"], 32)

    def test_stores_and_reductions_without_code_of_their_own(self):
        w = shaped("dynibar", "baseline")
        self.assertEqual(self.ranges(w, "outside"), "0-30")
        self.assertEqual(slots(w.cost("plain")[0]), 0)  # the loop moves the address on
        self.assertEqual(slots(w.cost("taken")[0]), (0x490 - 0x230) // 16 + 1 - 6)
        self.assertEqual(w.cost("epilogue")[0]["global_load"], 6)
        self.assertNotIn("global_load", [wait[0] for wait in w.cost("epilogue")[0]["waits"]])
        w = shaped("dynibar", "skip")
        self.assertEqual(w.cost("butterfly")[0]["shuffle"], 30)
        self.assertEqual(w.cost("epilogue")[0]["global_load"], 6)

    def test_turns_within_the_pass_that_adds(self):
        # The pass is f0 to 1530, with nine atomics; the loops in it count apart.
        w = shaped("per_splat", "baseline")
        self.assertEqual((self.ranges(w, "collect"), self.ranges(w, "steps")), ("310-640", "870-1280"))
        self.assertEqual(self.ranges(w, "idle"), "f0-300 650-860 1290-1370 14f0-1530")
        steps = w.cost("steps")[0]
        self.assertEqual((steps["shuffle"], steps["sfu"]), (8, 8))  # of four pixels
        self.assertEqual(w.cost("taken")[0]["shuffle"], 0)
        self.assertEqual(sum(slots(w.cost(n)[0]) for n in ("collect", "steps", "taken", "plain")),
                         (0x1530 - 0xF0) // 16 + 1 - 9)

    def test_loops_of_the_pass_that_adds_lie_one_in_the_other(self):
        # A group of Gaussians is 8d0 to 16e0: the loop of those that count is around that of those that are looked at.
        w = shaped("block_reduced", "baseline", arch="sm_90")
        self.assertEqual((w.inner, w.meet, w.leaves), (0x8D0, 0x1680, [0x15F0]))
        self.assertEqual((self.ranges(w, "sum"), self.ranges(w, "meet")), ("990-a10 b70-1260", "a20-b60"))
        self.assertEqual((w.cost("sum")[0]["shuffle"], w.cost("meet")[0]["sfu"]), (12, 1))
        self.assertEqual(self.ranges(w, "idle"), "8d0-980 1270-15f0 1680-16e0")
        # Once each, but for the atomic and the barrier.
        self.assertEqual(sum(slots(w.cost(n)[0]) for n in ("sum", "meet", "taken", "plain")),
                         (0x16E0 - 0x8D0) // 16 + 1 - 2)

    def test_shuffles_in_front_of_a_plain_atomic(self):
        w = shaped("halved", "baseline")
        taken = w.cost("taken")[0]
        self.assertEqual(taken["shuffle"], 12)
        self.assertEqual(slots(taken) + slots(w.cost("plain")[0]), (0xF20 - 0x7C0) // 16 + 1 - 1)

    def test_turns_within_the_pass_that_adds(self):
        # The pass is f0 to 1530, with nine atomics; the loops in it count apart.
        w = shaped("per_splat", "baseline")
        self.assertEqual((self.ranges(w, "collect"), self.ranges(w, "steps")), ("310-640", "870-1280"))
        self.assertEqual(self.ranges(w, "idle"), "f0-300 650-860 1290-1370 14f0-1530")
        steps = w.cost("steps")[0]
        self.assertEqual((steps["shuffle"], steps["sfu"]), (8, 8))  # of four pixels
        self.assertEqual(w.cost("taken")[0]["shuffle"], 0)
        self.assertEqual(sum(slots(w.cost(n)[0]) for n in ("collect", "steps", "taken", "plain")),
                         (0x1530 - 0xF0) // 16 + 1 - 9)

    def test_loops_of_the_pass_that_adds_lie_one_in_the_other(self):
        # A group of Gaussians is 8d0 to 16e0: the loop of those that count is around that of those that are looked at.
        w = shaped("block_reduced", "baseline", arch="sm_90")
        self.assertEqual((w.inner, w.meet, w.leaves), (0x8D0, 0x1680, [0x15F0]))
        self.assertEqual((self.ranges(w, "sum"), self.ranges(w, "meet")), ("990-a10 b70-1260", "a20-b60"))
        self.assertEqual((w.cost("sum")[0]["shuffle"], w.cost("meet")[0]["sfu"]), (12, 1))
        self.assertEqual(self.ranges(w, "idle"), "8d0-980 1270-15f0 1680-16e0")
        # Once each, but for the atomic and the barrier.
        self.assertEqual(sum(slots(w.cost(n)[0]) for n in ("sum", "meet", "taken", "plain")),
                         (0x16E0 - 0x8D0) // 16 + 1 - 2)

    def test_shuffles_in_front_of_a_plain_atomic(self):
        w = shaped("halved", "baseline")
        taken = w.cost("taken")[0]
        self.assertEqual(taken["shuffle"], 12)
        self.assertEqual(slots(taken) + slots(w.cost("plain")[0]), (0xF20 - 0x7C0) // 16 + 1 - 1)

    def test_every_pass_of_cccl_reduces(self):
        # The pass starts at 500; the leader's branch is at e10 and leads past the atomics to ed0.
        w = shaped("gradient_struct", "cccl")
        self.assertEqual((w.inner, w.meet, w.leaves), (0x500, 0xED0, [0xE10]))
        for name in ("skip_position", "skip_power", "skip_alpha"):
            self.assertEqual(self.ranges(w, name), "500-e10 ed0-ef0")
        butterfly = w.cost("butterfly")[0]
        self.assertEqual((butterfly["shuffle"], slots(butterfly)), (45, 90))
        self.assertEqual(sum(slots(w.cost(n)[0]) for n in ("taken", "butterfly", "leader")),
                         (0xEF0 - 0x500) // 16 + 1 - 9)
        # A warp without a sample ends; the others have no pass without an event.
        w = shaped("dynibar", "cccl")
        self.assertEqual((self.ranges(w, "outside"), w.leaves), ("0-50", [0x7E0]))
        self.assertEqual(w.cost("butterfly")[0]["shuffle"], 30)

    def test_lanes_counted_once_for_all_passes(self):
        w = shaped("hexplane", "sw-b")
        self.assertIn("UPOPC", [w.flow.code[a].opcode for a in w.addresses("prologue")])
        self.assertEqual(w.cost("prologue")[0]["global_load"], 25)
        self.assertEqual(w.cost("butterfly")[0]["shuffle"], 120)

    def test_a_loop_with_steps_of_a_grid(self):
        # Its test is at the end; a warp without an element has left at a0.
        w = shaped("embedding", "baseline")
        self.assertEqual((w.inner, w.meet, w.leaves), (0xE0, 0x1B0, []))
        self.assertEqual(self.ranges(w, "outside"), "0-a0")
        self.assertEqual(sum(slots(w.cost(n)[0]) for n in ("taken", "plain")), (0x1B0 - 0xE0) // 16 + 1 - 1)

    def test_groups_of_lanes_in_a_cell(self):
        w = shaped("hash_grid", "sw-s")
        self.assertEqual(self.ranges(w, "per_lane"), "5b0-680")
        self.assertEqual(w.cost("per_lane")[0]["shuffle_index"], 2)
        self.assertEqual(w.cost("prologue")[0]["global_load"], 4)

    def test_a_camera_that_no_lane_is_seen_by(self):
        w = shaped("camera_pose", "skip")
        self.assertEqual((w.inner, w.leaves), (0x2F0, [0x340]))
        self.assertEqual(self.ranges(w, "unseen"), "2f0-340 1210-12c0")
        self.assertEqual((w.cost("unseen")[0]["global_load"], w.cost("prologue")[0]["global_load"]), (1, 9))
        self.assertEqual(w.cost("taken")[0]["global_load"], 1 + 9 + 9)
        self.assertEqual(w.cost("butterfly")[0]["shuffle"], 60)

    def test_vectors_of_four_floats(self):
        w = shaped("gradient_struct", "vector", arch="sm_90")
        # The address; the nine gradients lie where the three atomics want them.
        self.assertEqual(slots(w.cost("plain")[0]), 2)
        self.assertEqual([slots(w.cost(n)[0]) for n in w.shape.paths], [44, 45, 8, 19, 23, 53, 1])
        with open(os.path.join(HERE, "sass", "gradient_struct_sm_90_vector.sass"), encoding="utf-8") as file:
            text = file.read()
        with self.assertRaisesRegex(SassError, "has 2 atomics, not 3"):
            shaped("gradient_struct", "vector", without(text, 0x8B0), "sm_90")
        # What a vector's last register has is a gradient, and belongs to the pass.
        narrow = text.replace("F32x4", "F32")
        self.assertGreater(slots(shaped("gradient_struct", "vector", narrow, "sm_90").cost("plain")[0]), 2)

    def test_a_slot_in_shared_memory(self):
        w = shaped("envmap", "shared-slot", arch="sm_90")
        self.assertEqual(self.ranges(w, "turn"), "7b0-7f0 820-860 880-8c0")
        self.assertEqual(self.ranges(w, "setup"), "600-7a0 800-810 870")
        self.assertEqual(self.ranges(w, "leader"), "8d0-9d0")
        self.assertEqual(self.ranges(w, "plain"), "9e0-a20")
        # The match belongs to the reduction, although the slot's address needs it.
        self.assertEqual([w.cost(n)[0]["match"] for n in ("taken", "check", "setup", "leader")], [0, 1, 1, 1])
        # Each turn of a loop loads, adds and swaps.
        turn = w.cost("turn")[0]
        self.assertEqual((turn["shared"], slots(turn), turn["stall_cycles"]), (6, 15, 3 * 28))
        self.assertEqual([wait[0] for wait in turn["waits"]], ["shared", "shared_cas"] * 3)
        # All instructions between the loop's ends, less the REDs.
        self.assertEqual(sum(slots(w.cost(n)[0]) for n in ("taken", "check", "plain", "setup", "turn", "leader")),
                         (0xA40 - 0x420) // 16 + 1 - 6)

    def test_a_slot_of_another_form_is_refused(self):
        with open(os.path.join(HERE, "sass", "envmap_sm_90_shared_slot.sass"), encoding="utf-8") as file:
            text = file.read()
        for address, message in ((0x8C0, "2 loops that add in the slot, not 3"), (0x9A0, "has 2 atomics, not 3"),
                                 (0x580, "found no MATCH in front of the slot")):
            with self.assertRaisesRegex(SassError, message):
                shaped("envmap", "shared-slot", without(text, address), "sm_90")

    def test_vectors_are_of_sm_90_alone(self):
        shape = WORKLOADS["gradient_struct"]
        self.assertEqual([shape.atomics(v) for v in ("baseline", "vector", "skip-vector")], [9, 3, 3])
        self.assertEqual(WORKLOADS["halved_vector"].atomics("vector"), 1)
        self.assertNotIn("vector", shape.variants_of("sm_89"))
        self.assertEqual(shape.variants_of("sm_90"), list(shape.variants))

    def test_other_shapes_are_refused(self):
        with open(os.path.join(HERE, "sass", "pagerank_sm_86_baseline.sass"), encoding="utf-8") as file:
            text = file.read()
        with self.assertRaisesRegex(SassError, "found 0 loops around the atomics, not 1"):
            shaped("pagerank", "baseline", without(text, 0x280))
        with self.assertRaisesRegex(SassError, "0 loops around the atomics"):
            shaped("pagerank", "baseline", without(text, 0x270))
        shape = WORKLOADS["pagerank"]
        code = parse_sass(text)["warpfold_pagerank_baseline"]
        for other, message in ((Shape(1, shape.variants, levels=["batch"]), "1 loops around .*, not 2"),
                               (Shape(1, shape.variants, leaves=[("skip", False)]), "found 0 of the 1"),
                               (Shape(1, shape.variants, turns=["march"]), "0 loops without .*, not 1"),
                               (Shape(2, shape.variants), "has 1 atomics, not 2")):
            with self.assertRaisesRegex(SassError, message):
                Ways(Flow(code), "baseline", other)

    def test_prediction(self):
        w = shaped("pagerank", "sw-s")
        paths = WORKLOADS["pagerank"].paths
        cost = {"paths": [w.cost(n)[0] for n in paths],
                "reduce": {n: w.cost(n)[0] for n in SEGMENTS["sw-s"]}}
        # One event of four lanes: three of them alike, from two on.
        lanes = [0] * 33
        lanes[4] = 1
        by_threshold = lambda value: [value] * 33
        counts = {"paths": {"prologue": 1, "taken": 1, "epilogue": 1}, "barriers": 0, "parameters": 1,
                  "events_by_lanes": lanes, "one_address_by_lanes": [0] * 33, "serial_events": by_threshold(1),
                  "serial_turns": by_threshold(2), "plain_events": by_threshold(1)}
        self.assertEqual(predict_variant(cost, counts, "sw-s", 2),
                         28 + 4 + 1 + 14 + (7 + 8 + 1) + 2 * 12 + (2 + 1))
        # With slots, three turn in shared memory and one adds alone, whatever the threshold.
        slot = {"paths": cost["paths"], "reduce": dict(cost["reduce"], turn=cost["reduce"]["per_lane"])}
        self.assertEqual(predict_variant(slot, counts, "shared-slot", 16), predict_variant(cost, counts, "sw-s", 2))
        # The same under sw-b: the four are checked, and from a threshold of 4 down looked at, but never together.
        w = shaped("pagerank", "sw-b")
        cost = {"paths": [w.cost(n)[0] for n in paths],
                "reduce": {n: w.cost(n)[0] for n in SEGMENTS["sw-b"]}}
        for threshold, looked_at in ((0, 10), (4, 10), (5, 0)):
            self.assertEqual(predict_variant(cost, counts, "sw-b", threshold),
                             41 + 14 + 1 + 10 + looked_at + (6 + 1))
        # Alike, they are summed.
        counts["one_address_by_lanes"] = lanes
        self.assertEqual(predict_variant(cost, counts, "sw-b", 4), 41 + 14 + 1 + 10 + 10 + (11 + 5 + 1))


class Refusals(unittest.TestCase):
    def refuses(self, variant, text, message):
        with self.assertRaisesRegex(SassError, message) as caught:
            ways(variant, text)
        self.assertNotIn("\n", str(caught.exception))

    def test_missing_anchors(self):
        baseline = text_of("baseline")
        self.refuses("baseline", without(baseline, 0x680), "found 2 of the 3 branches that leave a pass")
        self.refuses("baseline", without(baseline, 0x9D0), "8 atomics, not 9")
        self.refuses("baseline", without(baseline, 0xBA0), "found 1 loops around the atomics, not 2")
        self.refuses("sw-s", without(text_of("sw-s"), 0x8C0), "found no MATCH in front of the serial loop")
        self.refuses("sw-s", without(text_of("sw-s"), 0xB80), "0 serial loops")
        self.refuses("cccl", without(text_of("cccl"), 0xE20), "found 0 of the 1 branches that leave a pass")
        self.refuses("sw-b", without(text_of("sw-b"), 0xAD0), "44 SHFL, not 45")
        self.refuses("sw-b", without(text_of("sw-b"), 0x8B0), "no POPC")

    def test_unrolled_loops(self):
        # A second addition in the pass, where a gradient is made.
        text = re.sub(r"/\*0b50\*/ .*? ;", "/*0b50*/ REDG.E.ADD.F32.FTZ.RN.STRONG.GPU [R2.64], R3 ;", text_of("baseline"))
        self.refuses("baseline", text, "has 10 atomics, not 9: the loop has been unrolled")

    def test_incomplete_listings(self):
        lines = text_of("baseline").splitlines(keepends=True)
        at = next(n for n, l in enumerate(lines) if "/*0700*/" in l)
        self.refuses("baseline", "".join(lines[:at] + lines[at + 2:]), "lacks the instruction behind 0x6f0")
        self.refuses("baseline", text_of("baseline").replace("LDS.64", "LDSM.64"), "memory of a kind")
        with self.assertRaisesRegex(SassError, "no function"):
            parse_sass("nothing\n")


class Commands(unittest.TestCase):
    def run_main(self, *arguments):
        return run_tool("kernel-costs", *arguments)

    def test_costs_and_prediction(self):
        with tempfile.TemporaryDirectory() as folder:
            # One machine of all listings: what is read is not asked for its architecture.
            with open(os.path.join(folder, "sm_90.sass"), "w", encoding="utf-8") as file:
                file.write("\tcode for sm_90\n" + "".join(text_of(v) for v in KERNELS))
            with open(os.path.join(folder, "resources.txt"), "w", encoding="utf-8") as file:
                file.write("arch = sm_90\n" + "".join(
                    f" Function warpfold_backward_{v.replace('-', '_')}:\n  REG:40 STACK:0\n" for v in KERNELS))
            costs = os.path.join(folder, "costs.json")
            code, out, err = self.run_main("costs", "--sass", folder, "--json", costs, "--explain")
            self.assertEqual((code, err), (0, ""))
            self.assertIn("640-680 b60-ba0", out)
            with open(costs, encoding="utf-8") as file:
                table = json.load(file)
            self.assertEqual(table["schema"], "warpfold.costs/3")
            self.assertEqual(set(table["costs"]["sm_90"]), set(KERNELS))
            for variant, entry in table["costs"]["sm_90"].items():
                self.assertEqual(len(entry["paths"]), len(table["paths"]))
                self.assertEqual(set(entry["reduce"]), set(SEGMENTS[variant]))
                self.assertEqual(entry["registers"], 40)
                for one in entry["paths"] + list(entry["reduce"].values()):
                    self.assertEqual(list(one), FIELDS)

            events = [0] * 33
            events[4], events[32] = 3, 2
            counts = {"schema": "warpfold.path-counts/1", "barriers": 2, "parameters": 9,
                      "paths": dict.fromkeys(GAUSSIANS.paths, 0) | {"taken": 5}, "events_by_lanes": events}
            path = os.path.join(folder, "counts.json")
            with open(path, "w", encoding="utf-8") as file:
                json.dump(counts, file)
            # 5 events of 78 instructions and 9 atomics, and 2 barriers.
            measured = os.path.join(folder, "ncu.csv")

            def predict(count):
                with open(measured, "w", encoding="utf-8") as file:
                    file.write('==PROF== connected\n"ID","Kernel Name","CC","Metric Name","Metric Value"\n'
                               f'"0","warpfold_backward_baseline","9.0","smsp__inst_executed.sum","{count}"\n')
                return self.run_main("predict", "--costs", costs, "--counts", path, "--ncu", measured)

            code, out, err = predict(437)
            self.assertEqual((code, err), (0, ""))
            self.assertRegex(out, r"sm_90 baseline +predicted +437 warp instructions, measured +437: 1\.0000")
            self.assertEqual(predict(400)[0], 0)
            code, out, err = predict(291)
            self.assertEqual((code, err.count("\n")), (1, 1))
            self.assertRegex(err, r"sm_90 baseline: 50% more warp instructions than ncu counted: the costs hold code")
            self.assertEqual(predict(500)[0], 1)

    def test_kernels_of_another_form_are_shown_a_way_on(self):
        for address, text, message in ((0xBA0, "NOP", "found 1 loops around the atomics, not 2"),
                                       (0xB50, "RET.REL.NODEC R2 0x0", "a subroutine, as a division or root")):
            with tempfile.TemporaryDirectory() as folder:
                listing = re.sub(rf"/\*{address:04x}\*/ .*? ;", f"/*{address:04x}*/ {text} ;", text_of("baseline"))
                for name, content in (("sm_90.sass", "\tcode for sm_90\n" + listing), ("resources.txt",
                                      "arch = sm_90\n Function warpfold_backward_baseline:\n  REG:40\n")):
                    with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                        file.write(content)
                code, _, err = self.run_main("costs", "--sass", folder)
            self.assertEqual((code, err.count("\n")), (2, 1))
            self.assertRegex(err, message + ".*: kernel-code reads any, `warpfold record` records it")

    def test_a_cubin_is_disassembled(self):
        # cuobjdump names no architecture beside the registers of a cubin.
        with tempfile.TemporaryDirectory() as folder:
            tool = os.path.join(folder, "cuobjdump")
            with open(tool, "w", encoding="utf-8") as file:
                file.write("#!/bin/sh\ncase $1 in\n-sass) printf '\\tcode for sm_90\\n'; "
                           f"cat {os.path.join(HERE, 'sass', KERNELS['baseline'] + '.sass')} ;;\n"
                           "-res-usage) printf 'Resource usage:\\n Function warpfold_backward_baseline:\\n  REG:40\\n' ;;\n"
                           "*) echo release 13.0 ;;\nesac\n")
            os.chmod(tool, 0o755)
            with mock.patch.dict(os.environ, PATH=folder + os.pathsep + os.environ["PATH"]):
                code, _, err = self.run_main("dump", "--program", "x.cubin", "--out", os.path.join(folder, "out"))
            self.assertEqual((code, err), (0, ""))
            with open(os.path.join(folder, "out", "resources.txt"), encoding="utf-8") as file:
                self.assertEqual(parse_registers(file.read()), {"sm_90": {"warpfold_backward_baseline": 40}})

    def test_bad_input_is_one_line(self):
        with tempfile.TemporaryDirectory() as folder:
            code, out, err = self.run_main("costs", "--sass", folder)
            self.assertEqual((code, out), (2, ""))
            self.assertRegex(err, r"\Akernel-costs: .*holds no sm_\*\.sass; make them with dump\n\Z")
            code, _, err = self.run_main("predict", "--costs", os.path.join(folder, "x"), "--counts", "y")
            self.assertEqual(code, 2)
            self.assertEqual(err.count("\n"), 1)


if __name__ == "__main__":
    unittest.main()
