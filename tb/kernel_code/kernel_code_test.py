# SPDX-License-Identifier: Apache-2.0
"""Costs of ways through any kernel, on the machine code of kernels.cu. Expected numbers were counted in the listings
by hand where they are written out."""

import glob
import gzip
import json
import os
import random
import re
import tempfile
import unittest
from unittest import mock

from walker import walk
from warpfold.tools.costs import kernel_code
from warpfold.tools.costs.cost import FIELDS, slots
from warpfold.tools.costs.disassembly import kernel_from_text
from warpfold.tools.costs.instructions import CLASSES, RESULTS, SLOWER, SassError, UnknownFlow
from warpfold.tools.costs.kernel_flow import KernelFlow
from warpfold.tools.costs.kernel_ways import KernelWays
from warpfold.tools.costs.liveness import Liveness
from warpfold.tools.costs.markers import atomic
from tb.kernel_code.made_code import code_of
from tb.tools import run_tool

HERE = os.path.dirname(os.path.abspath(__file__))


def path_of(name):
    return os.path.join(HERE, name if "." in name else name + ".sm_90.sass")


def load(name, file=None):
    with open(path_of(file or name), encoding="utf-8") as text:
        return kernel_from_text(text.read(), name, name)


def ways_of(name, file=None):
    kernel = load(name, file)
    return KernelWays(kernel.instructions, kernel.tables)


class Costs(unittest.TestCase):
    def costs(self, kernel, expected):
        """{way: slots, or None, or (slots, "estimated")}"""
        for way, wanted in expected.items():
            with self.subTest(way=" ".join(f"{a:x}" for a in way)):
                cost = kernel.cost(way)
                found = cost if cost is None else (slots(cost), "estimated") if cost.get("estimated") else slots(cost)
                self.assertEqual(found, wanted)

    def test_the_classes_are_those_of_the_format(self):
        """A class that the format does not know would cost the user the trace of a launch that has run."""
        with open(os.path.join(HERE, "../../traces/format/header_fields.hpp"), encoding="utf-8") as file:
            text = file.read()
        known = re.search(r"kResults = \{(.*?)\};", text, re.DOTALL).group(1)
        results = {*RESULTS.values(), *(kind for kind in SLOWER.values() if kind.startswith("shuffle")), "shared_cas", "fence"}
        self.assertEqual(set(re.findall(r'"(\w+)"', known)), results)
        fields = re.findall(r'\{"(\w+)", &InstructionCost', text)
        self.assertEqual(fields, [field for field in FIELDS if field != "waits"])
        self.assertLessEqual({*CLASSES.values(), *SLOWER.values()}, set(fields))

    def test_an_unrolled_loop_and_its_rest(self):
        self.costs(ways_of("unrolled"), {
            (-1, 0xD0): 14, (-1, 0x30): 4, (0xD0, 0x1A0): 1 + 11, (0x1A0, 0x1C0, 0x1E0, 0x200): 3,
            (0x200, 0x1A0): 1 + 6, (0xD0, 0x2B0): 2 + 8, (0x200, 0x2B0): 2 + 8, (0x2B0, 0x2B0): 2 + 4,
            (0x2B0, 0x2E0): 3, (0x1A0, 0x1E0): None, (0x2B0, 0x1A0): None})

    def test_a_kernel_without_a_loop(self):
        self.costs(ways_of("without_loop"), {(-1, 0x70): 8, (-1, 0xC0): 13, (-1, 0xC0, 0xF0, 0x110, 0x120): 18,
                                             (0xF0, 0x110): 1})

    def test_what_a_cost_has(self):
        cost = ways_of("without_loop").cost((-1, 0xC0, 0xF0))
        self.assertEqual(list(cost), FIELDS)
        self.assertEqual({f: cost[f] for f in ("alu", "integer", "global_load", "branches")},
                         {"alu": 13, "integer": 1, "global_load": 2, "branches": 0})
        # IMAD.WIDE at d0 is there when the index is: c0 asks, 100 waits, with what lies between.
        waits = ways_of("without_loop").cost((0xC0, 0xF0, 0x110))["waits"]
        self.assertEqual([w[0] for w in waits].count("global_load"), 2)

    def test_a_result_that_the_marker_in_front_asked_for(self):
        waits = ways_of("unrolled").cost((0xD0, 0x1A0))["waits"]
        self.assertEqual([(kind, asked) for kind, asked, _ in waits if kind == "global_load"], [("global_load", 0)])

    def test_no_more_waits_than_the_format_holds(self):
        for pairs, estimated in ((4096, False), (4097, True)):
            cost = KernelWays(code_of(*["MUFU.RCP R1, R2 #0", "FADD R2, R1, R1 ?0"] * pairs, "EXIT")).cost((-1, 32 * pairs))
            self.assertEqual((len(cost["waits"]), cost.get("estimated", False)), (4096, estimated))

    def test_atomics_and_barriers_have_no_slot(self):
        kernel = ways_of("unrolled")
        cost = kernel.cost((0x1A0, 0x1C0, 0x1E0, 0x200))
        code = kernel.flow.code
        stall = sum(code[a // 16].stall for a in (0x1B0, 0x1D0, 0x1F0))
        stall += sum(code[a // 16].stall - 1 for a in (0x1C0, 0x1E0, 0x200))
        self.assertEqual(cost["stall_cycles"], stall)
        self.assertEqual(kernel.issued_by_model((0x1A0, 0x1C0, 0x1E0, 0x200)), 3)
        barrier = KernelWays(code_of("MOV R1, R2", "BAR.SYNC.DEFER_BLOCKING 0x0", "EXIT"))
        self.costs(barrier, {(-1, 0x10): 1})
        self.assertEqual(barrier.cost((-1, 0x10))["stall_cycles"], 2)

    def test_a_loop_without_a_marker_counts_once(self):
        self.costs(ways_of("computes"), {(-1, 0x80): 9, (0x80, 0xF0): (1 + 5, "estimated"), (0xF0, 0x100): 1})

    def test_a_subroutine_returns_to_its_caller(self):
        kernel = ways_of("calls")
        self.costs(kernel, {
            (0x50, 0xF0): 5 + 6 + 4, (0x50, 0x230, 0xF0): (5 + 7 + 1) + (6 + 4 + 4), (0x230, 0x230): 6 + 2 + 1,
            (0xF0, 0x230, 0x1A0): (8 + 7 + 1) + (6 + 4 + 2), (0x50, 0x230, 0x1A0): None,
            # From within, to either.
            (0x230, 0xF0): 6 + 4 + 4, (0x230, 0x1A0): 6 + 4 + 2})

    def test_slow_paths_without_a_marker_are_not_gone(self):
        # The division's is left out, and said to be an estimate.
        self.costs(ways_of("divides"), {(0xC0, 0xD0): 1, (0xD0, 0x240): (15 + 1 + 5, "estimated")})

    def test_a_jump_table(self):
        kernel = ways_of("chooses", "chooses.sm_90.nvdisasm")
        table = kernel.flow.tables
        self.assertEqual(sorted(table), [0x120, 0x1E0, 0x3E0])
        self.assertTrue(all(0x130 <= t < 0x5C0 for t in table[0x120]))
        self.assertIn(0x130, table[0x120])
        self.costs(kernel, {(0x80, 0x150): 10 + 3, (0x80, 0x200): 5 + 6 + 2})
        with self.assertRaisesRegex(UnknownFlow, "BRX R2 -0x130 at 0x120: a jump table whose targets"):
            ways_of("chooses")

    def test_sides_that_wait_for_each_other(self):
        # Lanes that have read at 110 wait at 210, and the others go on at 140; and the other way round.
        self.costs(ways_of("parts"), {
            (0x60, 0x100): 5 + 5, (0x60, 0x1A0): 5 + 7, (0x110, 0x1A0): (3 + 7, "estimated"),
            (0x1A0, 0x100): (7 + 5, "estimated"), (0x1A0, 0x280): 7 + 6, (0x1A0, 0x270, 0x280): 7 + 6, (0x60, 0x280): 5 + 3 + 1 + 6,
            (0x280, 0x100): None})

    def test_lanes_that_end_leave_others(self):
        kernel = KernelWays(code_of("@P0 BRA 0x30", "LDG.E R1, [R2.64]", "EXIT", "LDG.E R3, [R2.64]", "EXIT"))
        self.costs(kernel, {(-1, 0x10, 0x20, 0x30): (3 + 1, "estimated")})

    def test_a_false_predicate(self):
        code = code_of("LDG.E R1, [R2.64] #0", "@P0 LDG.E R3, [R2.64] #1", "@P0 RED.E.ADD.F32 [R2.64], R1",
                       "FADD R4, R1, R3 ?1", "EXIT")
        kernel = KernelWays(code)
        self.costs(kernel, {(0, 0x40): 4, (0, 0x10, 0x40): 4, (0, 0x10, 0x20, 0x40): 3})
        passed_by = kernel.cost((0, 0x40))
        self.assertEqual((passed_by["alu"], passed_by["global_load"], passed_by["waits"]), (4, 0, []))
        self.assertEqual(kernel.cost((0, 0x10, 0x40))["waits"], [["global_load", 0, 4]])
        # Nobody knows how often it was false.
        self.costs(KernelWays(code_of("@P0 RED.E.ADD.F32 [R2.64], R1", "@P1 BRA 0x0", "EXIT")),
                   {(0, 0): (1, "estimated"), (-1, 0): (0, "estimated")})

    def test_sides_of_equal_cost_are_certain(self):
        sides = ["@P0 BRA 0x30", "FADD R1, R1, R1", "BRA 0x50", "FADD R2, R1, R1", "BRA 0x50", "EXIT"]
        self.costs(KernelWays(code_of(*sides)), {(-1, 0x50): 4})
        sides[3] = "IADD3 R2, R1, R1, RZ"
        self.costs(KernelWays(code_of(*sides)), {(-1, 0x50): (4, "estimated")})

    def test_code_that_hardly_runs(self):
        # A failed assertion between two loads, and what only comes behind it.
        code = code_of("LDG.E R1, [R2.64]", "@P0 BRA 0x60", "MOV R4, 0x1", "LEPC R20, 0x50", "CALL.ABS.NOINC R2",
                       "LDG.E R5, [R2.64]", "LDG.E R6, [R2.64]", "BPT.TRAP 0x1", "EXIT")
        self.costs(KernelWays(code), {(0, 0x60): 2, (0, 0x50): (5, "estimated"), (0x60, 0x80): (2, "estimated")})
        # Votes of a warp that is converged, and of one that is not.
        code = code_of("LDG.E R1, [R2.64]", "BRA.DIV UR4, 0x40", "SHFL.BFLY PT, R1, R0, 0x1, 0x1f", "EXIT",
                       "WARPSYNC.COLLECTIVE R7, 0x50", "BRA 0x30")
        self.costs(KernelWays(code), {(0, 0x20): 2, (0, 0x40): (2, "estimated")})

    def test_kinds_that_were_not_recorded(self):
        code = load("unrolled").instructions
        self.costs(KernelWays(code, kinds={"global"}), {(-1, 0xD0): 14, (0x200, 0x2B0): 10})
        # Whether a WARPSYNC reports or not, the cost is the same.
        self.costs(KernelWays(code_of("LDG.E R1, [R2.64]", "WARPSYNC.ALL", "SHFL.BFLY PT, R1, R0, 0x1, 0x1f", "EXIT")),
                   {(0, 0x20): 2, (0, 0x10, 0x20): 2})
        with self.assertRaisesRegex(SassError, "EXIT at 0x2e0 is no marker"):
            KernelWays(code, kinds={"global"}).cost((0x2B0, 0x2E0))

    def test_what_is_refused(self):
        for lines, message in (
                (("CALL.REL.NOINC 0x20", "EXIT", "CALL.REL.NOINC 0x20", "RET.REL.NODEC R2 0x0"), "calls itself"),
                (("BRX R2 -0x10", "EXIT"), "jump table"), (("BRA 0x1000", "EXIT"), "where no instruction is"),
                (("@P0 JMP R2", "EXIT"), "not known")):
            with self.subTest(message), self.assertRaisesRegex(UnknownFlow, message) as caught:
                KernelWays(code_of(*lines)).cost((-1, 0x10))
            self.assertNotIn("\n", str(caught.exception))

    def test_walks(self):
        seed = int(os.environ.get("WARPFOLD_SEED", "1"))
        rng = random.Random(seed)
        for file in sorted(glob.glob(os.path.join(HERE, "*.sm_90.*"))):
            name = os.path.basename(file).split(".")[0]
            if name == "chooses" and file.endswith(".sass"):
                continue
            kernel = load(name, os.path.basename(file))
            ways = KernelWays(kernel.instructions, kernel.tables)
            certain = 0
            for _ in range(20):
                passed = walk(kernel.instructions, kernel.tables, rng)
                for length in (2, 5):
                    for first in range(len(passed) - length):
                        part = passed[first:first + length]
                        way = [a for a, _ in part]
                        cost = ways.cost(way)
                        what = f"{name}, seed {seed}: {way}"
                        self.assertIsNotNone(cost, what)
                        if not cost.get("estimated"):
                            certain += 1
                            self.assertEqual(slots(cost) + ways.issued_by_model(way), part[-1][1] - part[0][1], what)
            self.assertGreater(certain, 0, name)


class Atomics(unittest.TestCase):
    def described(self, name):
        code, out = run_main("describe", "--text", path_of(name), "--function", name)[:2]
        self.assertEqual(code, 0)
        return json.loads(out)

    def atomics(self, name):
        return {i["offset"]: (i["atomic"]["kind"], i["atomic"]["type"], i["atomic"]["words"])
                for i in self.described(name)["instructions"] if i["atomic"]}

    def test_types(self):
        self.assertEqual(list(self.atomics("types").values()),
                         [("red", "f64", 1), ("red", "f16x2", 1), ("red", "bf16x2", 1), ("red", "f32", 2), ("red", "f32", 4)])
        self.assertEqual(list(self.atomics("vectors").values()),
                         [("red", "f16x2", 2), ("red", "f16x2", 4), ("red", "bf16x2", 2), ("red", "bf16x2", 4)]
                         + [("red", kind, 1) for kind in ("u32", "u32", "u64", "u32")])
        self.assertEqual(set(self.atomics("unrolled").values()), {("red", "f32", 1)})

    def test_kinds(self):
        for text, expected in (
                ("ATOMG.E.CAS.STRONG.GPU PT, R5, [R2], R6, R7", ("atom", "u32", 1, False)),
                ("ATOMG.E.CAS.64.STRONG.GPU PT, R4, [R2], R6, R8", ("atom", "u64", 1, False)),
                ("ATOM.E.ADD.F32.FTZ.RN.STRONG.GPU PT, RZ, [R2.64], R6", ("red", "f32", 1, True)),
                ("REDG.E.ADD.64.STRONG.GPU desc[UR4][R2.64], R6", ("red", "u64", 1, False)),
                ("REDG.E.MAX.S32.STRONG.GPU desc[UR4][R2.64], R6", ("red", "u32", 1, False)),
                ("UBLKRED.G.S.ADD.F32.RN [UR6], [UR5], UR4", ("bulk", "f32", 1, True)),
                ("UBLKRED.G.S.ADD.BF16.RN [UR6], [UR5], UR4", ("bulk", "bf16x2", 1, True)),
                ("UBLKRED.G.S.ADD.U32 [UR6], [UR5], UR4", ("bulk", "u32", 1, False)),
                ("UTMAREDG.2D.ADD [UR4], [UR12]", ("tensor", "u32", 1, True))):
            [instruction] = code_of(text)
            found = atomic(instruction, lambda register: True, lambda: False)
            self.assertEqual((found["kind"], found["type"], found["words"], found["adds_floats"]), expected, text)
        for text in ("UBLKRED.S.S.ADD.U32 [UR6], [UR5], UR4", "ATOMS.ADD RZ, [R2], R3", "STG.E [R2.64], R4"):
            self.assertIsNone(atomic(code_of(text)[0], lambda register: True, lambda: False), text)

    def test_a_result_that_is_read(self):
        self.assertEqual(self.atomics("results"), {0xA0: ("atom", "f32", 1), 0x130: ("red", "f32", 1), 0x170: ("red", "f32", 1)})
        code = ["ATOMG.E.ADD.F64.RN PT, R4, desc[UR6][R2.64], R8", "MOV R5, R9", "@P0 MOV R4, R9", "BRA 0x40", "EXIT"]
        for last, read in (("MOV R1, R5", False), ("MOV R1, R4", True), ("DADD R8, R4, R4", True),
                           ("STG.E [R2.64], R4", True), ("STG.E [R4.64], R8", True), ("MOV R4, R8", False)):
            kernel = KernelFlow(code_of(*code[:4], last, "EXIT"))
            live = Liveness(kernel)
            self.assertEqual(live.is_read(0, "R4") or live.is_read(0, "R5"), read, last)

        kernel = KernelFlow(code_of("ATOMG.E.ADD.F32 PT, R5, desc[UR6][R2.64], R8", "STG.E desc[UR6][R4.64], R9", "EXIT"))
        self.assertTrue(Liveness(kernel).is_read(0, "R5"))  # the upper half of an address
        self.assertFalse(Liveness(kernel).is_read(0, "R6"))
        self.assertTrue(Liveness(None).is_read(0, "R6"))

    def test_a_result_that_is_waited_for(self):
        """As of Triton's additions: nobody reads the result, but CCTL waits for it. The other one is waited for by nobody
        in its kernel but the fence, which is a wait of its own."""
        self.assertEqual(self.atomics("ordered"), {0xD0: ("atom", "f32", 1), 0xF0: ("red", "f32", 1)})
        for first, then, waited in (("ATOMG.E.ADD.F32 PT, RZ, [R2.64], R8 #2", "NOP", True),
                                    # It stands for the load as well by then.
                                    ("ATOMG.E.ADD.F32 PT, RZ, [R2.64], R8 #2", "LDG.E R4, [R6] #2", False),
                                    ("ATOMG.E.ADD.F32 PT, RZ, [R2.64], R8 #3", "NOP", False),
                                    ("REDG.E.ADD.F32 [R2.64], R8", "NOP", False)):
            kernel = KernelFlow(code_of(first, then, "CCTL.IVALL ?2", "EXIT"))
            self.assertEqual(Liveness(kernel).is_waited_for(0), waited, then)
        self.assertTrue(Liveness(None).is_waited_for(0))

    def test_a_fence(self):
        """Of the GPU it is a wait, of the CTA a slot alone."""
        kernel = ways_of("ordered")
        self.assertEqual([wait[0] for wait in kernel.cost((0x60, 0xD0))["waits"]], ["fence", "global_load"])
        cost = kernel.cost((0xF0, 0x150))
        self.assertEqual([wait for wait in cost["waits"] if wait[0] == "fence"], [["fence", 0, 6]])
        self.assertEqual(slots(cost), 5 + 1)

    def test_what_a_kernel_is_made_of(self):
        data = self.described("vectors")
        self.assertEqual((data["schema"], data["arch"], data["function"], data["bytes"]),
                         ("warpfold.kernel-code/1", "sm_90", "vectors", 16 * len(data["instructions"])))
        one = data["instructions"][0x160 // 16]
        self.assertEqual(one, {
            "offset": 0x160, "text": "@P0 REDG.E.ADD.STRONG.GPU desc[UR4][R8.64], R19", "block": 0, "marker": "global",
            "predicated": True,
            "atomic": {"kind": "red", "type": "u32", "words": 1, "adds_floats": False, "name": "REDG.E.ADD.STRONG.GPU"},
            "access": None})
        kinds = {i["offset"]: i["marker"] for i in self.described("parts")["instructions"]}
        self.assertEqual((kinds[0], kinds[0x100], kinds[0x270], kinds[0x290]), (None, "global", "warpsync", "exit"))
        blocks = {i["offset"]: i["block"] for i in self.described("calls")["instructions"]}
        self.assertEqual([blocks[a] for a in (0xA0, 0xB0, 0x170, 0x180, 0x1C0, 0x1E0, 0x210, 0x2A0)],
                         [0, 1, 1, 2, 3, 4, 5, 6])
        # Where its flow is not known, the rest still is.
        self.assertIn("a jump table", self.described("chooses")["unknown_flow"])


def run_main(*arguments, stdin=""):
    return run_tool("kernel-code", *arguments, stdin=stdin)


class Commands(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def write(self, name, text, mode=0o644):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(path, mode)
        return path

    def ways(self, name, data, file=None, *options):
        return run_main("ways", "--text", path_of(file or name), "--function", name, *options, stdin=json.dumps(data))

    def test_ways(self):
        code, out, err = self.ways("unrolled", {"ways": [[-1, 0xD0], [0x1A0, 0x1E0]]})
        self.assertEqual((code, err), (0, ""))
        costs = json.loads(out)["costs"]
        self.assertEqual((slots(costs[0]), costs[1]), (14, None))
        self.assertNotIn("estimated", costs[0])
        code, out, _ = self.ways("computes", {"ways": [[0x80, 0xF0]]})
        self.assertIs(json.loads(out)["costs"][0]["estimated"], True)

    def test_a_kernel_that_is_not_understood(self):
        code, out, err = self.ways("chooses", {"ways": [[-1, 0x80]]})
        self.assertEqual((code, out), (3, ""))
        self.assertRegex(err, r"\Akernel-code: chooses: BRX .*; record it without work between events\n\Z")

    def test_bad_input_is_one_line(self):
        for data, message in (({}, "is not"), ({"ways": [[-1]]}, "is not"), ({"ways": [["a", 0]]}, "is not"),
                              ({"ways": [[0, -1]]}, "is not"), ({"ways": [[-1, 0x10]]}, "LDC .* at 0x10 is no marker"),
                              ({"ways": [[-1, 0xD1]]}, "no instruction is at 0xd1"),
                              ({"ways": [[-1, 1 << 40]]}, "no instruction is at")):
            code, out, err = self.ways("unrolled", data)
            self.assertEqual((code, out, err.count("\n")), (2, "", 1), data)
            self.assertRegex(err, message)
        for arguments, message in (
                (("describe", "--text", path_of("unrolled"), "--function", "x"), "has no function x; it has unrolled"),
                (("describe", "--text", self.write("e", ""), "--function", "x"), "no function in the disassembly"),
                (("describe", "--text", "/nowhere", "--function", "x"), "/nowhere: No such file or directory"),
                (("describe", "--cubin", "/nowhere", "--function", "x"), "/nowhere: cannot be read: no such file"),
                (("ways", "--text", path_of("unrolled"), "--function", "unrolled", "--markers", "loads"), "--markers")):
            code, out, err = run_main(*arguments, stdin='{"ways": []}')
            self.assertEqual((code, out, err.count("\n")), (2, "", 1), arguments)
            self.assertRegex(err, message)
        self.assertEqual(run_main("describe", "--function", "x")[0], 2)

    def tools(self, cuobjdump, nvdisasm):
        for name, body in (("cuobjdump", cuobjdump), ("nvdisasm", nvdisasm)):
            self.write(name, "#!/bin/sh\n" + body, 0o755)
        return mock.patch.dict(os.environ, PATH=self.folder + os.pathsep + os.environ["PATH"])

    def test_a_cubin(self):
        cubin = self.write("file.cubin", "")
        listing, named = path_of("chooses"), path_of("chooses.sm_90.nvdisasm")
        # A function that the tool does not find by its name: then in the whole file.
        with self.tools(f'test "$2" != -fun || exit 1\ncat {listing}', f"cat {named}"):
            code, out, err = run_main("ways", "--cubin", cubin, "--function", "chooses", stdin='{"ways": [[128, 336]]}')
        self.assertEqual((code, err), (0, ""))
        self.assertEqual(slots(json.loads(out)["costs"][0]), 13)
        with self.tools(f'test "$3" = chooses && cat {listing}', "exit 1"):
            code, out, err = run_main("ways", "--cubin", cubin, "--function", "chooses", stdin='{"ways": [[128, 336]]}')
        self.assertEqual((code, err.count("\n")), (3, 1))
        with self.tools("exit 1", "exit 1"):
            code, _, err = run_main("describe", "--cubin", cubin, "--function", "chooses")
        self.assertEqual((code, err.count("\n")), (2, 1))
        self.assertIn("finds no machine code", err)
        with mock.patch.dict(os.environ, PATH=os.path.join(self.folder, "empty")):
            code, _, err = run_main("describe", "--cubin", cubin, "--function", "chooses")
        self.assertEqual(code, 2)
        self.assertIn("cuobjdump is not installed", err)

    def test_listings_are_kept(self):
        cubin, cache = self.write("file.cubin", "code"), os.path.join(self.folder, "a", "cache")
        arguments = ("ways", "--cubin", cubin, "--function", "chooses", "--cache", cache)
        wanted = '{"ways": [[128, 336]]}'
        with self.tools(f"cat {path_of('chooses')}", f"cat {path_of('chooses.sm_90.nvdisasm')}"):
            first = run_main(*arguments, stdin=wanted)
        self.assertEqual((first[0], first[2]), (0, ""))
        [kept] = os.listdir(cache)
        with self.tools("exit 1", "exit 1"):
            self.assertEqual(run_main(*arguments, stdin=wanted), first)
            # Of other code there is none, nor where the file is damaged.
            self.write("file.cubin", "other code")
            self.assertEqual(run_main(*arguments, stdin=wanted)[0], 2)
            self.write("file.cubin", "code")
            for damage in (b"", b"no gzip", gzip.compress(b"{}"), gzip.compress(b'{"text": "", "tables": []}')):
                with open(os.path.join(cache, kept), "wb") as file:
                    file.write(damage)
                self.assertEqual(run_main(*arguments, stdin=wanted)[0], 2, damage)
        # A folder that cannot be written costs time alone.
        with self.tools(f"cat {path_of('chooses')}", f"cat {path_of('chooses.sm_90.nvdisasm')}"):
            self.assertEqual(run_main(*arguments[:-1], self.write("no folder", ""), stdin=wanted), first)

    def check(self, measured, kernel="unrolled(float *, const float *, int, float)", passes=(1, 2, 3), options=()):
        counts = self.write("counts.json", json.dumps(
            {"ways": [[-1, 0xD0, 0x1A0], [0x1A0, 0x1C0, 0x1E0, 0x200], [0x200, 0x1A0]], "passes": list(passes)}))
        ncu = self.write("ncu.csv", '==PROF== connected\n"ID","Kernel Name","CC","Metric Name","Metric Value"\n'
                         '"0","unrolled(float *, const float *, int, float)","9.0","smsp__inst_executed.sum","1"\n'
                         f'"1","{kernel}","9.0","smsp__inst_executed.sum","{measured}"\n')
        return run_main("check", "--text", path_of("unrolled"), "--function", "unrolled", "--counts", counts, "--ncu", ncu,
                        *options)

    def test_a_check_against_ncu(self):
        predicted = (14 + 12 + 1) + 2 * (3 + 3) + 3 * (7 + 1)
        code, out, err = self.check(predicted)
        self.assertEqual((code, err), (0, ""))
        self.assertIn(f"predicted {predicted} warp instructions (0.0% estimated), measured {predicted}: 1.0000", out)
        self.assertEqual(self.check(round(predicted / 1.09))[0], 0)
        code, out, err = self.check(round(predicted / 1.5))
        self.assertEqual((code, err.count("\n")), (1, 1))
        self.assertRegex(err, "50% more warp instructions than ncu counted: the costs hold code that warps did not issue")
        code, out, err = self.check(predicted * 2)
        self.assertEqual(code, 1)
        self.assertRegex(err, "50% fewer warp instructions than ncu counted: warps issued code that the costs do not")
        named = "void add<(int)4, float>"
        self.assertEqual(self.check(predicted, named + "(float *)", options=("--kernel", named))[0], 0)
        self.assertEqual([self.check(predicted, options=("--launch", n))[0] for n in "012"], [1, 0, 2])
        for bad, message in ((self.check(10, "other", options=("--kernel", "another")), "has no instructions of another"),
                             (self.check(10, passes=[1]), 'needs "passes"'), (self.check("x"), "is no number"),
                             (self.check(10, passes=[0, 0, 0]), "has no pass")):
            self.assertEqual((bad[0], bad[2].count("\n")), (2, 1))
            self.assertRegex(bad[2], message)


if __name__ == "__main__":
    unittest.main()
