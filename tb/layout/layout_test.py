#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of `warpfold layout` and `warpfold fpga`. Arguments: the classes to run; exits 77 where their tools are missing.

A small module goes through all tools: twice to the same GDS, and with faults planted in its layout and its netlist
that the checks have to find.
"""

import contextlib
import copy
import hashlib
import io
import json
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from warpfold.tools import commands
from warpfold.tools.synth import fpga, synth
from warpfold.tools.synth.layout import clock, compare, layout, masks, netlist, repair, route, wires

ROOT = Path(__file__).resolve().parents[2]

TOP = "arc_lane_picker"


def missing_tools(tools, files=()):
    return [name for name in tools if not shutil.which(name)] + \
        [package for path, package in files if not Path(path).exists()]


class Parts(unittest.TestCase):
    """What needs no tools."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def test_clock_tree_has_the_same_depth_everywhere(self):
        chip = netlist.Netlist("chip", [("clk_i", 1, "input")])
        places = {chip.add("DFFPOSX1", {"CLK": "clk_i"}).name: (index % 21 * 10.0, index // 21 * 10.0)
                  for index in range(300)}
        levels = clock.insert(chip, "clk_i", places)
        for check in range(2):  # as inserted, then handed out anew
            driver = {cell.pins["Y"]: cell for cell in chip.cells if cell.type == clock.BUFFER}
            for cell in clock_flops(chip):
                net, depth = cell.pins["CLK"], 0
                while net != "clk_i":
                    net, depth = driver[net].pins["A"], depth + 1
                self.assertEqual(depth, len(levels))
            loads = [sum(net in (cell.pins.get("A"), cell.pins.get("CLK")) for cell in chip.cells) for net in driver]
            self.assertLessEqual(max(loads), clock.FLOPS_PER_BUFFER + 1)
            self.assertGreater(min(loads), 0)
            if check == 0:
                moved = {cell.name: (hash_of(cell.name, 500), hash_of(cell.name + "y", 300)) for cell in chip.cells}
                clock.assign(chip, levels, moved)

    def test_a_tree_of_resistances_keeps_pins_and_capacitance(self):
        chip = netlist.Netlist("chip", [("a", 1, "input")])
        chip.add("INVX1", {"A": "a", "Y": "n1"})
        chip.add("INVX1", {"A": "n1", "Y": "n2"})
        chip.add("INVX1", {"A": "n1", "Y": "n3"})
        file = self.folder / "a.rc"
        file.write_text("n1 1 INVX1_1/Y 2 ( 2.5 0.5 ( 1 0.25 INVX1_2/A ) , ( 3 0.25 INVX1_3/A ) ) \n", encoding="ascii")
        spef = wires.Spef(chip, wires.read_trees(file), {"n1": 8.0, "n2": 1.0})
        spef.write(self.folder / "a.spef")
        text = (self.folder / "a.spef").read_text(encoding="ascii")
        block = re.search(r"\*D_NET n1 8\n.*?\*END", text, re.DOTALL).group(0)
        caps = [float(line.split()[2]) for line in block.split("*CAP\n")[1].split("*RES")[0].splitlines()]
        self.assertAlmostEqual(sum(caps), 8.0)
        self.assertIn("INVX1_1:Y n1:1 2.5", block)
        self.assertEqual(spef.lumped, ["a"])  # which the file above leaves out

    def test_a_net_without_tree_keeps_its_capacitance(self):
        chip = netlist.Netlist("chip", [])
        chip.add("INVX1", {"A": "n2", "Y": "n1"})
        chip.add("INVX1", {"A": "n1", "Y": "n2"})
        file = self.folder / "a.rc"
        file.write_text("n1 1 INVX1_1/Y 1 ( 2.5 0.5 ERROR ) \n", encoding="ascii")
        spef = wires.Spef(chip, wires.read_trees(file), {"n1": 8.0, "n2": 4.0})
        spef.write(self.folder / "a.spef")
        self.assertEqual(spef.lumped, ["n1", "n2"])
        self.assertIn("*D_NET n1 8\n", (self.folder / "a.spef").read_text(encoding="ascii"))

    def test_missing_vias_are_found(self):
        wire = route.Route([(1, 0, 0, 0, 100), (2, 0, 100, 80, 100)], [(0, 0, 0)])
        self.assertEqual(repair.missing_via(repair.parts(wire)), (1, 0, 100))
        wire.vias.append((1, 0, 100))
        self.assertIsNone(repair.missing_via(repair.parts(wire)))

    def test_a_via_to_a_pin_is_found(self):
        pin = [(-10, -10, 30, 70)]
        wire = route.Route([(1, 0, 0, 0, 100), (2, 0, 100, 80, 100)], [(1, 0, 100)])
        self.assertEqual(repair.via_to_pin(wire, pin), (0, 0, 0))
        wire.vias.append((0, 0, 0))
        self.assertIsNone(repair.via_to_pin(wire, pin))

    def test_places_of_turned_cells(self):
        where = {"N": (110, 220, 120, 240), "S": (140, 260, 150, 280), "FN": (140, 220, 150, 240),
                 "FS": (110, 260, 120, 280)}
        for orientation, rectangle in where.items():
            self.assertEqual(repair.placed((10, 20, 20, 40), (60, 100), (100, 200), orientation), rectangle)

    def test_addresses_become_narrower(self):
        narrow = fpga.with_address_bits(ROOT / "rtl", 24, self.folder)
        self.assertIn("AddrWidth = 24;", (narrow / "arc_pkg.sv").read_text("utf-8"))
        (self.folder / "other").mkdir()
        with self.assertRaises(synth.BadInput):
            fpga.with_address_bits(self.folder / "other", 24, self.folder / "other")

    def test_the_wrapper_has_a_flop_for_each_bit(self):
        flops, text = fpga.wrapper([("clk_i", 1, "input"), ("a_i", 5, "input"), ("b_i", 1, "input"), ("c_o", 7, "output")])
        self.assertEqual(flops, 13)
        self.assertIn(".b_i(in_q[5 +: 1])", text)
        self.assertIn("reg [6:0] out_q;", text)


def clock_flops(chip):
    return [cell for cell in chip.cells if cell.type in clock.FLOPS]


def hash_of(text, modulus):
    return int(hashlib.sha256(text.encode()).hexdigest(), 16) % modulus


class BadInput(unittest.TestCase):
    """One line, exit code 2."""

    def refused(self, tool, words, *arguments, **environment):
        done = subprocess.run([sys.executable, "-B", str(ROOT / "python"), tool, *arguments], capture_output=True,
                              text=True, check=False, env=environment or None)
        self.assertEqual((done.returncode, done.stdout, done.stderr.count("\n")), (2, "", 1), done.stderr)
        self.assertIn(words, done.stderr)

    def test_both_scripts(self):
        for tool in ("layout", "fpga"):
            self.refused(tool, "unknown top 'nothing'", "--top", "nothing")
            self.refused(tool, "cannot read", "--rtl", "/nonexistent")
            self.refused(tool, "cannot read /nonexistent", "--file-list", "/nonexistent")
            self.refused(tool, "no folder", "--json", "/nonexistent/a.json")
            self.refused(tool, "--help", "--frobnicate")
            self.refused(tool, "Debian's package", PATH="/nonexistent")

    def test_layout(self):
        self.refused("layout", "--mapping", "--mapping", "huge")
        self.refused("layout", "is no NAME=VALUE", "--parameters", "Width")
        self.refused("layout", "is no module", "--without", "a b")
        self.refused("layout", "--cycles", "--cycles", "0")
        self.refused("layout", "cannot read /nonexistent", "--trace", "/nonexistent")
        if not missing_tools(layout.TOOLS, layout.FILES):
            self.refused("layout", "cannot make folder", "--out", "/dev/null/a")
            with tempfile.TemporaryDirectory() as folder:
                self.refused("layout", "too small", "--top", "arc_scheduler", "--out", folder)

    def test_fpga(self):
        self.refused("fpga", "--seed", "--seed", "-1")
        self.refused("fpga", "--address-bits", "--address-bits", "4")


class Flow(unittest.TestCase):
    """A small module through all tools."""

    needs = missing_tools(layout.TOOLS, layout.FILES)

    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.folder = Path(cls.temporary.name)
        cls.runs = []
        for name in ("one", "two"):
            out = cls.folder / name
            with contextlib.redirect_stdout(io.StringIO()) as said:
                status = commands.call("layout", ["--top", TOP, "--out", str(out), "--json", str(cls.folder / f"{name}.json")])
            cls.runs.append((status, said.getvalue(), json.loads((cls.folder / f"{name}.json").read_text("utf-8")), out))
        cls.prepare()

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    @classmethod
    def prepare(cls):
        """The netlist and the files of the layout, for faults to be planted in."""
        cls.logs = cls.folder / "logs"
        cls.logs.mkdir()
        cls.chip = netlist.read(TOP, cls.runs[0][3] / f"{TOP}.layout.v", synth.DEFAULT_LIBERTY, cls.folder)
        # Yosys keeps the names of the first reading.
        names = re.findall(r"^  [A-Z]\w+ (\w+) \($", (cls.runs[0][3] / f"{TOP}.layout.v").read_text("ascii"), re.MULTILINE)
        text = json.loads((cls.folder / "netlist.json").read_text("utf-8"))["modules"][TOP]["cells"]
        assert sorted(names) == sorted(text)
        for cell, name in zip(cls.chip.cells, text):
            cell.name = name
        cls.definition = cls.runs[0][3] / f"{TOP}.def"

    def planted(self, change):
        """(violations, differences, changed DEF file) of the layout after a change of its DEF text."""
        folder = self.folder / self.id().rpartition(".")[2]
        folder.mkdir(exist_ok=True)
        definition = folder / "changed.def"
        text = self.definition.read_text(encoding="ascii")
        changed = change(text)
        self.assertNotEqual(changed, text)
        definition.write_text(changed, encoding="ascii")
        return (*self.judged(definition, folder), definition)

    def judged(self, definition, folder):
        _, violations = masks.run(self.chip, definition, folder, folder / "magic.log")
        return violations, compare.compare(self.chip, folder / f"{TOP}.spice", folder, folder / "netgen.log")

    def test_two_runs_write_the_same_gds(self):
        hashes = [hashlib.sha256((out / f"{TOP}.gds").read_bytes()).hexdigest() for _, _, _, out in self.runs]
        self.assertEqual(hashes[0], hashes[1])
        self.assertEqual([result["rows"][0]["gds_sha256"] for _, _, result, _ in self.runs], hashes)
        self.assertGreater((self.runs[0][3] / f"{TOP}.gds").stat().st_size, 50_000)

    def test_the_result_is_clean_and_whole(self):
        status, said, result, out = self.runs[0]
        row = result["rows"][0]
        self.assertEqual((status, row["drc"], row["lvs"]), (0, [], []))
        self.assertIn("the same", said)
        self.assertEqual(row["cells"], len(self.chip.cells))
        self.assertGreater(row["wire_um"], 1000)
        self.assertGreater(row["timing"]["worst"]["with_wires"]["ns"], row["timing"]["worst"]["without_wires"]["ns"])
        self.assertEqual((out / f"{TOP}.png").read_bytes()[:4], b"\x89PNG")
        self.assertGreater((out / f"{TOP}.png").stat().st_size, 5_000)
        self.assertIn("none", row["power"])

    def test_other_rtl_in_a_folder_with_blanks(self):
        rtl = self.folder / "other rtl"
        rtl.mkdir()
        (rtl / "a.sv").write_text("module other (input logic clk_i, input logic [19:0] a_i, output logic [19:0] b_o, c_o);\n"
                                  "  logic [19:0] q;\n  always_ff @(posedge clk_i) q <= q + a_i;\n"
                                  "  assign b_o = q;\n  assign c_o = q;\nendmodule\n", encoding="ascii")
        (self.folder / "list.f").write_text("// a comment\na.sv\n", encoding="ascii")
        with contextlib.redirect_stdout(io.StringIO()) as said:
            status = commands.call("layout", ["--rtl", str(rtl), "--file-list", str(self.folder / "list.f"), "--top", "other", "--out",
                                  str(self.folder / "other out"), "--json", str(self.folder / "other.json")])
        row = json.loads((self.folder / "other.json").read_text("utf-8"))["rows"][0]
        self.assertEqual((status, row["flops"], row["drc"], row["lvs"]), (0, 20, [], []), said.getvalue())
        self.assertEqual(row["clock"]["buffers"], [2, 1])
        self.assertGreater(row["clock"]["hold_slack_ns"], 0)
        self.assertIn("other.gds", [path.name for path in (self.folder / "other out").iterdir()])

    def test_parameters_and_a_module_that_is_left_out(self):
        rtl = self.folder / "nested"
        rtl.mkdir()
        (rtl / "a.sv").write_text("module inner (input logic [3:0] a_i, output logic [3:0] b_o);\n"
                                  "  assign b_o = {a_i[0], a_i[3:1]};\nendmodule\n"
                                  "module outer #(parameter int Width = 4) (\n  input logic clk_i, input logic [Width-1:0] a_i,\n"
                                  "  output logic [Width-1:0] b_o);\n  logic [Width-1:0] q;\n  logic [3:0] inside;\n"
                                  "  always_ff @(posedge clk_i) q <= q + a_i;\n  inner u_inner (.a_i(q[3:0]), .b_o(inside));\n"
                                  "  assign b_o = q ^ Width'(inside);\nendmodule\n", encoding="ascii")
        (rtl / "arc.f").write_text("a.sv\n", encoding="ascii")
        with contextlib.redirect_stdout(io.StringIO()) as said:
            status = commands.call("layout", ["--rtl", str(rtl), "--top", "outer", "--parameters", "Width=20", "--without", "inner", "--out",
                                  str(self.folder / "nested out"), "--json", str(self.folder / "nested.json")])
        row = json.loads((self.folder / "nested.json").read_text("utf-8"))["rows"][0]
        self.assertEqual((status, row["flops"], row["drc"], row["lvs"]), (0, 20, [], []), said.getvalue())
        verilog = (self.folder / "nested out" / "outer.layout.v").read_text("ascii")
        self.assertIn("input [3:0] u_inner_b_o;", verilog)
        self.assertIn("output [3:0] u_inner_a_i;", verilog)

    def test_the_comparison_finds_a_swapped_net(self):
        extracted = self.runs[0][3] / f"{TOP}.spice"
        folder = self.folder / "swapped"
        folder.mkdir()
        self.assertEqual(compare.compare(self.chip, extracted, folder, folder / "netgen.log"), [])
        swapped = copy.deepcopy(self.chip)
        one, two = [cell for cell in swapped.cells if cell.type == "NOR2X1"][:2]
        one.pins["Y"], two.pins["Y"] = two.pins["Y"], one.pins["Y"]
        lines = compare.compare(swapped, extracted, folder, folder / "netgen.log")
        self.assertTrue(lines)

    def test_the_comparison_finds_swapped_ports(self):
        extracted = self.runs[0][3] / f"{TOP}.spice"
        folder = self.folder / "ports"
        folder.mkdir()
        swapped = copy.deepcopy(self.chip)
        names = {"rest_o<3>": "rest_o<4>", "rest_o<4>": "rest_o<3>"}
        for cell in swapped.cells:
            cell.pins = {pin: names.get(net, net) for pin, net in cell.pins.items()}
        lines = compare.compare(swapped, extracted, folder, folder / "netgen.log")
        self.assertEqual(len(lines), 2, lines)
        self.assertIn("rest_o<3>", lines[0])

    def test_a_lost_via_is_found_and_put_back(self):
        # From metal2 to metal3, with nothing else of the net at the place.
        at = re.compile(r"(  NEW metal2 \( \d+ \d+ \) \( \* \d+ \)) M3_M2 \n")
        _, differences, definition = self.planted(lambda text: at.sub(r"\1 \n", text, count=1))
        self.assertTrue(differences)
        added = repair.add_missing_vias(self.chip, definition, compare.nets_named(self.chip, differences))
        self.assertEqual(added, 1)
        self.assertEqual(self.judged(definition, definition.parent), ([], []))

    def test_the_rules_find_wires_too_close(self):
        def beside(text):  # 0.1 um between two wires
            return re.sub(r"(  NEW metal3 \( )(\d+) (\d+)( \) \( \d+ \* \).*\n)",
                          lambda found: found.group(0) + f"  NEW metal3 ( {found.group(2)} {int(found.group(3)) + 40}"
                          + found.group(4).split(" M")[0].rstrip() + " \n", text, count=1)
        violations, _, _ = self.planted(beside)
        self.assertTrue(any("Metal3" in rule for rule, _, _ in violations), violations)


class Fpga(unittest.TestCase):
    """A small module into the device."""

    needs = missing_tools(fpga.TOOLS)

    def test_a_small_module_routes_twice_the_same(self):
        rows = []
        for _ in range(2):
            with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()) as said:
                self.assertEqual(commands.call("fpga", ["--top", TOP, "--json", f"{folder}/a.json"]), 0)
                rows.append(json.loads(Path(folder, "a.json").read_text("utf-8"))["rows"][0])
        self.assertEqual(rows[0], rows[1])
        self.assertIn("MHz after routing", said.getvalue())
        self.assertEqual(rows[0]["flops_at_ports"], 32 + 1 + 32 + 32)
        self.assertGreater(rows[0]["logic_cells"], rows[0]["flops_at_ports"])
        self.assertGreater(rows[0]["mhz"], 10)


if __name__ == "__main__":
    classes = sys.argv[1:] or ["Parts", "BadInput", "Flow", "Fpga"]
    needed = sorted({package for name in classes for package in getattr(globals()[name], "needs", [])})
    if needed:
        print(f"skipped: not installed: {' '.join(needed)}")
        sys.exit(77)
    unittest.main(argv=[sys.argv[0], *classes])
