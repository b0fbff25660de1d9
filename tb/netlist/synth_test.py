#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of the synthesis scripts: what is kept of a Liberty file, the transistor count, bad input."""

import contextlib
import gzip
import io
import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from warpfold.tools.synth import equiv, liberty, synth

ROOT = Path(__file__).resolve().parents[2]

PIN_Y = 'pin (Y) { direction : output; function : "%s"; timing () { related_pin : "A"; } }'
CELL = 'cell (%s) { area : 2; pin (A) { direction : input; capacitance : 1; } %s }\n'
INVERTER = CELL % ("INV", PIN_Y % "!A")
FLOP = ('cell (%s) { area : 9; ff (IQ, IQN) { clocked_on : "C"; next_state : "%s"; }'
        ' pin (Q) { direction : output; function : "IQ"; } }\n')


def library(cells, unit="1ns", extra=""):
    return ('/* a comment with { */ library (test) {\n  time_unit : "%s";\n  capacitive_load_unit (1, pf);\n'
            '%s%s}\n' % (unit, extra, cells))


class Liberty(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def file(self, text, name="a.lib"):
        path = self.folder / name
        path.write_text(text, encoding="ascii")
        return str(path)

    def kept(self, cells):
        merged, dropped = liberty.merge([self.file(library(INVERTER + cells))])
        names = [cell.args for cell in merged.all("cell")]
        self.assertEqual(names[0], "INV")
        return names[1:], dropped

    def refused(self, paths, words):
        with self.assertRaises(liberty.LibertyError) as caught:
            liberty.merge(paths)
        self.assertIn(words, str(caught.exception))
        self.assertNotIn("\n", str(caught.exception))

    def test_plain_flops_stay_and_others_go(self):
        cells = (FLOP % ("DFF", "D") + FLOP % ("DFFN", "(!D)") + FLOP % ("ENABLE", "(D EN) + (IQ !EN)")
                 + FLOP % ("SCAN", "(SE & SI) | (!SE & D)"))
        names, dropped = self.kept(cells)
        self.assertEqual(names, ["DFF", "DFFN"])
        self.assertEqual(dropped, {"scan or enable": ["ENABLE", "SCAN"]})

    def test_a_flop_that_stores_the_inverse_is_turned_upright(self):
        flop = ('cell (F) { area : 9; ff (IQN,IQNN) { clocked_on : "C"; next_state : "!D"; clear : "!S";'
                ' preset : "!R"; } pin (QN) { direction : output; function : "IQN"; } }\n')
        cell = liberty.merge([self.file(library(INVERTER + flop))])[0].all("cell")[1]
        ff = cell.all("ff")[0]
        self.assertEqual(ff.args, "IQNN, IQN")
        self.assertEqual([ff.attribute(name) for name in ("next_state", "clear", "preset")], ["D", "!R", "!S"])

    def test_cells_without_use_go(self):
        unused = {
            "latch": CELL % ("L", "latch (IQ, IQN) { }" + PIN_Y % "IQ"),
            "clock_gating_integrated_cell":
                CELL % ("G", 'clock_gating_integrated_cell : "latch_posedge";' + PIN_Y % "A"),
            "tri-state": CELL % ("T", 'pin (Y) { direction : output; function : "A"; three_state : "E"; }'),
            "tie": CELL % ("ONE", PIN_Y % "1"),
            "no function": CELL % ("FILL", ""),
            "dont_use": CELL % ("X", "dont_use : true;" + PIN_Y % "A"),
            "scan": CELL % ("S", "test_cell () { }" + PIN_Y % "A"),
        }
        for reason, text in unused.items():
            with self.subTest(reason):
                self.assertEqual(self.kept(text)[0], [])
                self.assertIn(reason, self.kept(text)[1])

    def test_power_and_current_tables_go(self):
        text = library(CELL % ("INV", PIN_Y % "!A"
                               + 'leakage_power () { value : 1; when : "A}"; }'
                               + 'output_current_rise () { vector (t) { values ("1, 2"); } }'),
                       extra='  leakage_power_unit : "1nW";\n')
        written = liberty.write(liberty.merge([self.file(text)])[0])
        for word in ("leakage", "output_current", "vector"):
            self.assertNotIn(word, written)
        self.assertIn("timing", written)
        again = liberty.parse(written, "written")
        self.assertEqual(liberty.write(again), written)

    def test_line_without_semicolon_and_continuation(self):
        text = library('cell (INV) {\n area : 2\n pin (Y) {\n direction : output\n function : "!A"\n'
                       ' timing () {\n values ("1, \\\n 2");\n }\n }\n }\n')
        cell = liberty.merge([self.file(text)])[0].all("cell")[0]
        self.assertEqual(cell.attribute("area"), "2")
        self.assertEqual(cell.all("pin")[0].attribute("function"), "!A")

    def test_expressions_without_quotes_get_them(self):
        flop = """cell (F) { area : 9; ff (IQ, IQN) { clocked_on : (!C); next_state : (D); clear : !RN; preset : SN'; }
  pin (C) { direction : input; clock : true; } pin (D) { direction : input; } pin (RN) { direction : input; }
  pin (SN) { direction : input; } pin (Q) { direction : output; function : IQ; } }
"""
        gate = """cell (AOI) { area : 3; pin (A) { direction : input; } pin (B) { direction : input; } pin (C) { direction : input; }
  pin (Y) { direction : output; function : !((A*B)
    + C); } }
"""
        merged, dropped = liberty.merge([self.file(library(INVERTER.replace('"!A"', "(!A)") + flop + gate))])
        self.assertEqual(dropped, {})
        written = self.folder / "written.lib"
        written.write_text(liberty.write(merged), encoding="ascii")
        for text in ('function : "(!A)";', 'clocked_on : "(!C)";', 'next_state : "D";', 'clear : "!RN";',
                     """preset : "SN'";""", 'function : "!((A*B) + C)";', "area : 9;", 'time_unit : "1ns";'):
            self.assertIn(text, written.read_text(encoding="ascii"))
        self.assertEqual(liberty.write(liberty.parse(written.read_text(encoding="ascii"), "written")), liberty.write(merged))
        module = self.folder / "m.v"
        module.write_text("module m(input c, r, a, b, d, output reg q);\n"
                          "  always @(negedge c or negedge r) if (!r) q <= 0; else q <= ~(a & b | d);\nendmodule\n")
        script = (f"read_verilog {module}; synth -top m; dfflibmap -liberty {written}; "
                  f"select -assert-count 1 t:F; read_liberty -wb {written}; select -assert-count 1 =AOI/t:$_AND_")
        done = subprocess.run(["yosys", "-q", "-p", script], text=True, capture_output=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_several_files_and_gzip_become_one(self):
        packed = self.folder / "b.lib.gz"
        packed.write_bytes(gzip.compress(library(FLOP % ("DFF", "D")).encode()))
        merged, _ = liberty.merge([self.file(library(INVERTER)), str(packed)])
        self.assertEqual([cell.args for cell in merged.all("cell")], ["INV", "DFF"])

    def test_time_units(self):
        for unit, ns in (("1ps", 1e-3), ("10ps", 1e-2), ("1ns", 1.0), ("100ps", 0.1)):
            merged, _ = liberty.merge([self.file(library(INVERTER, unit))])
            self.assertAlmostEqual(liberty.time_unit_ns(merged), ns)
        self.refused([self.file(library(INVERTER, "7 days"))], "time unit")

    def test_what_does_not_fit_is_refused_in_one_line(self):
        good = self.file(library(INVERTER))
        self.refused([good, self.file(library(FLOP % ("DFF", "D"), "1ps"), "b.lib")], "time_unit differs")
        self.refused([good, self.file(library(INVERTER), "b.lib")], "also in an earlier file")
        self.refused([str(self.folder / "none.lib")], "cannot read")
        self.refused([str(self.folder)], "cannot read")
        self.refused([self.file("")], "not Liberty")
        self.refused([self.file("module m; endmodule\n")], "not Liberty")
        self.refused([self.file(library(INVERTER)[:-3])], "cut off")
        self.refused([self.file(library(INVERTER) + "}")], "without '{'")
        self.refused([self.file(library(FLOP % ("DFF", "D")))], "no combinational cell")
        broken = self.folder / "c.lib.gz"
        broken.write_bytes(gzip.compress(library(INVERTER).encode())[:-9])
        self.refused([str(broken)], "cannot read")


class Transistors(unittest.TestCase):
    STAT = ("9.1. Printing statistics.\n     $_ODD_      7\n16. Printing statistics.\n"
            "   Number of cells:     9\n     $_NAND_      %s\n\n   Estimated number of transistors:   %s\n")

    def count(self, cells, estimate):
        return synth.count_transistors(self.STAT % (cells, estimate), "t")

    def test_every_flop_counts_22(self):
        self.assertEqual(self.count("2", "8"), (8, 0))
        self.assertEqual(self.count("2\n     $_DFF_P_      3", "56"), (74, 3))
        self.assertEqual(self.count("2\n     $_DFF_PN0_      3\n     $_DFF_P_      1", "24+"), (96, 4))

    def test_nothing_is_left_out_in_silence(self):
        for cells, estimate in (("2\n     $_DLATCH_P_      1", "8+"), ("2\n     arc_fp32_adder      1", "8+"),
                                ("2\n     $_DFF_PN0_      3", "8"), ("2", "8+")):
            with self.assertRaises(synth.ToolFailed):
                self.count(cells, estimate)


class Equivalence(unittest.TestCase):
    """A register with reset and one without, beside netlists that hold them in one way or another."""

    PORTS = "module m (input clk, input rst_ni, input d, output y);"
    RTL = """reg q_q, r_q; assign y = q_q ^ r_q;
        always @(posedge clk or negedge rst_ni) if (!rst_ni) q_q <= 0; else q_q <= d;
        always @(posedge clk) r_q <= q_q & d; endmodule"""
    # The reset register upside down, as a library without another flop makes it.
    INVERTED = """reg n; reg r_q; wire q_q; assign q_q = ~n; assign y = n ? r_q : ~r_q;
        always @(posedge clk or negedge rst_ni) if (!rst_ni) n <= 1; else n <= ~d;
        always @(posedge clk) r_q <= ~(n | ~d); endmodule"""

    def prove(self, netlist, rtl=RTL):
        with tempfile.TemporaryDirectory() as folder:
            folder = Path(folder)
            load = {}
            for name, text in (("rtl", rtl), ("netlist", netlist)):
                (folder / f"{name}.v").write_text(self.PORTS + text, encoding="ascii")
                load[name] = [f"read_verilog {folder / name}.v", "hierarchy -top m", "proc"]
            return equiv.compare(equiv.build(load["rtl"], folder, "rtl"), load["netlist"], folder, "netlist")

    def test_equal_netlists_are_proved(self):
        self.assertEqual(self.prove(self.RTL), "")
        self.assertEqual(self.prove(self.INVERTED), "")

    def test_a_register_that_never_changes_may_be_a_constant(self):
        rtl = self.RTL.replace("reg q_q", "reg c_q; reg q_q").replace("y = q_q ^ r_q", "y = q_q ^ r_q ^ c_q").replace(
            "endmodule", "always @(posedge clk) if (d) c_q <= {}; endmodule")
        self.assertEqual(self.prove(self.RTL, rtl.format("c_q & r_q")), "")
        for changes in ("q_q & ~r_q & ~d & c_q | q_q & r_q", "~c_q"):
            self.assertIn("does not have: c_q[0]", self.prove(self.RTL, rtl.format(changes)))
        # One that simulation takes for a constant: ABC sees that it is none.
        with mock.patch.object(equiv, "unchanging", lambda rtl, literals: literals):
            self.assertEqual(self.prove(self.RTL, rtl.format("q_q & r_q")), "next value of c_q[0] differs")

    def test_two_equal_registers_may_be_one(self):
        rtl = self.RTL.replace("reg q_q", "reg s_q; reg q_q").replace("y = q_q ^ r_q", "y = q_q ^ (r_q & s_q)").replace(
            "r_q <= q_q & d;", "begin r_q <= q_q & d; s_q <= q_q & d; end")
        one = self.RTL.replace("reg q_q", "wire s_q; assign s_q = r_q; reg q_q")
        self.assertEqual(self.prove(one, rtl), "")
        self.assertEqual(self.prove(one, rtl.replace("s_q <= q_q & d", "s_q <= q_q | d")), "next value of s_q[0] differs")

    def test_each_difference_is_named(self):
        for old, new, words in (("n ? r_q : ~r_q", "n ? r_q : r_q", "y[0] differs"),
                                ("n <= ~d", "n <= d", "next value of q_q[0] differs"),
                                ("r_q <= ~(n | ~d)", "r_q <= ~(n & ~d)", "next value of r_q[0] differs"),
                                ("n <= 1", "n <= 0", "y[0] differs"),
                                (" or negedge rst_ni", "", "y[0] differs"),
                                ("wire q_q; assign q_q", "wire x; assign x", "does not have: q_q[0]"),
                                ("r_q;", "r_q, s_q; always @(posedge clk) s_q <= d ^ s_q;", "other registers")):
            with self.subTest(new):
                self.assertIn(old, self.INVERTED)
                changed = self.INVERTED.replace(old, new, 1)
                if "s_q" in new:
                    changed = changed.replace("assign y =", "assign y = s_q |")
                self.assertIn(words, self.prove(changed))


class Check(unittest.TestCase):
    RESULT = {"schema": "warpfold.synth/1", "tools": {"yosys": "Yosys 1", "abc": "ABC 1"}, "liberty": None,
              "rows": [{"top": "t", "transistors": 1000, "flops": 10}]}

    def check(self, **changes):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "baseline.json"
            path.write_text(json.dumps(self.RESULT), encoding="ascii")
            result = {**self.RESULT, **changes}
            output = io.StringIO()
            with contextlib.redirect_stdout(output):
                status = synth.check(result, path)
            return status, output.getvalue()

    def rows(self, transistors):
        return [{"top": "t", "transistors": transistors, "flops": 10}]

    def test_both_directions_fail_beyond_two_percent(self):
        for transistors, status in ((1000, 0), (1020, 0), (980, 0), (1021, 1), (979, 1)):
            self.assertEqual(self.check(rows=self.rows(transistors))[0], status)
        self.assertIn("--record", self.check(rows=self.rows(900))[1])

    def test_other_tools_are_stale_and_no_failure(self):
        status, text = self.check(tools={"yosys": "Yosys 2", "abc": "ABC 1"}, rows=self.rows(900))
        self.assertEqual(status, 0)
        self.assertIn("STALE", text)

    def test_a_row_without_accepted_figures_fails(self):
        self.assertEqual(self.check(rows=[{"top": "u", "transistors": 1, "flops": 0}])[0], 1)


class CommandLine(unittest.TestCase):
    def run_script(self, *arguments, **environment):
        return subprocess.run([sys.executable, "-B", ROOT / "python", "synth", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True, check=False, env={**os.environ, **environment})

    def refused(self, words, *arguments, **environment):
        done = self.run_script(*arguments, **environment)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertEqual(done.stdout, "")
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        self.assertTrue(done.stderr.startswith("warpfold synth: "), done.stderr)
        self.assertIn(words, done.stderr)

    def test_bad_input_is_one_line_and_exit_2(self):
        with tempfile.TemporaryDirectory() as folder:
            text = Path(folder) / "text.lib"
            text.write_text("not a library\n", encoding="ascii")
            self.refused("unknown top 'arc_none'", "--top", "arc_none")
            self.refused("no-such.lib", "--liberty", f"{folder}/no-such.lib")
            self.refused("not Liberty", "--liberty", str(text))
            self.refused("no folder", "--json", f"{folder}/no/result.json")
            self.refused("is a folder", "--json", folder)
            self.refused("unrecognized", "--frobnicate")
            self.refused("expected one argument", "--top")
            self.refused("invalid int", "--jobs", "many")
            self.refused("at least 1", "--jobs", "0")
            self.refused("arc.f", "--rtl", folder)
            self.refused("--liberty", "--transistors-only", "--liberty", str(text))
            self.refused("cannot make folder", "--work", f"{text}/work")
            self.assertEqual(sorted(os.listdir(folder)), ["text.lib"])

    def test_missing_tool_names_its_package(self):
        with tempfile.TemporaryDirectory() as folder:
            self.refused("'yosys' not found; it is in Debian's package yosys", "--transistors-only", PATH=folder)

    def test_one_row_without_liberty(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "result.json"
            done = self.run_script("--top", "arc_scheduler", "--transistors-only", "--json", str(path))
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            result = json.loads(path.read_text(encoding="utf-8"))
            self.assertEqual(result["schema"], "warpfold.synth/1")
            self.assertEqual(os.listdir(folder), ["result.json"])
            (row,) = result["rows"]
            self.assertIn(f" {row['transistors']} ", done.stdout)
            self.assertEqual(row["flops"], 0)
            self.assertNotIn("area", row)

    def test_broken_rtl_fails_and_writes_nothing(self):
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "arc.f").write_text("arc_scheduler.sv\n", encoding="ascii")
            (Path(folder) / "arc_scheduler.sv").write_text("module arc_scheduler (\n", encoding="ascii")
            done = self.run_script("--top", "arc_scheduler", "--transistors-only", "--rtl", folder,
                                   "--json", f"{folder}/result.json")
            self.assertEqual(done.returncode, 1)
            self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
            self.assertIn("syntax error", done.stderr)
            self.assertFalse(os.path.exists(f"{folder}/result.json"))


if __name__ == "__main__":
    unittest.main()
