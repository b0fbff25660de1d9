#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`warpfold evaluate` on the units of this folder: verdicts, and that each failure can be seen again.

  evaluate_test.py CLASS      WARPFOLD: the command; EVALUATE_GOLDEN: a golden unit; EVALUATE_CACHE: a folder for builds
"""

import contextlib
import json
import os
import shlex
import shutil
import signal
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

# What a script starts in its background ignores SIGINT, and so would the programs that are started here.
signal.signal(signal.SIGINT, signal.default_int_handler)

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
EVALUATE = [os.environ["WARPFOLD"], "evaluate"]


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def evaluate(self, *arguments):
        """(exit status, JSON or None, stdout, stderr)"""
        report = self.folder / "result.json"
        done = subprocess.run([*EVALUATE, *arguments, "--out", self.folder / "out", "--json", report,
                               "--cache", os.environ["EVALUATE_CACHE"]],
                              cwd=ROOT, text=True, capture_output=True, check=False)
        result = json.loads(report.read_text()) if report.exists() else None
        return done.returncode, result, done.stdout, done.stderr

    def judge(self, name, *arguments):
        return self.evaluate("--rtl", str(HERE / name), "--quick", *arguments)

    def copy(self, name, *changes):
        """A unit of this folder with its text changed, its other files where they are."""
        folder = self.folder / name
        shutil.copytree(HERE / name, folder)
        toml = folder / "unit.toml"
        toml.write_text(toml.read_text().replace("../../../rtl", str(ROOT / "rtl")))
        for file, old, new in changes:
            text = (folder / file).read_text()
            self.assertIn(old, text)
            (folder / file).write_text(text.replace(old, new))
        return folder

    def check_failure(self, result, rule, out):
        """The broken rule, waves, and a command that breaks it again."""
        self.assertEqual((result["contract"]["verdict"], result["contract"]["rule"]), ("broken", rule))
        self.assertGreater(Path(result["contract"]["wave"]).stat().st_size, 500)
        command = result["contract"]["command"]
        self.assertIn(command, out)
        again = subprocess.run([os.environ["WARPFOLD"], *shlex.split(command)[1:], "--cache", os.environ["EVALUATE_CACHE"], "--out", self.folder / "again"],
                               cwd=ROOT, text=True, capture_output=True, check=False)
        self.assertEqual(again.returncode, 1, again.stderr)
        self.assertIn(f"{rule}: ", again.stdout)
        self.assertTrue((self.folder / "again/failure.fst").exists())


class Queued(Case):
    def test_another_timing_is_right(self):
        status, result, out, _ = self.judge("queued", "--only", "contract", "gains")
        self.assertEqual(status, 0)
        self.assertEqual(result["elaborates"], {"Verilator": "", "Yosys": "", "Icarus": ""})
        self.assertEqual(result["contract"]["verdict"], "kept")
        self.assertGreaterEqual(result["contract"]["requests"], 400_000)
        self.assertGreater(result["gains"]["unit"]["mean"], 0.5)
        self.assertEqual(set(result["gains"]["kinds"]) >= {"serial", "paired", "fused"}, True)
        self.assertIn("kept: ", out)


class Paired(Case):
    """A kind that is built in, as somebody would bring it."""

    DECLARED = ("--parameters", "Datapath=1", "--name", "pairs", "--sum", "one-rounding", "--window", "32", "--read-lanes", "2",
                "--banks", "2", "--cycles-to-rest", "6")

    def test_two_lanes_a_cycle_for_less_than_four(self):
        status, result, out, errors = self.evaluate("--rtl", str(ROOT / "rtl"), *self.DECLARED, "--quick", "--only", "contract",
                                                    "costs", "gains", "--coalescer", "arc_addr_match", "--golden", "paired",
                                                    "--beside", "fused", "paired")
        self.assertEqual((status, errors), (0, ""), out)
        self.assertEqual((result["contract"]["verdict"], result["lockstep"]["verdict"]), ("kept", "equal"))
        costs = result["costs"]
        self.assertLess(costs["unit"]["added"]["transistors"], costs["kinds"]["fused"]["added"]["transistors"])
        self.assertEqual(costs["unit"]["whole"], costs["kinds"]["paired"]["whole"])
        # Here the sub-core with an empty coalescer, there the module beside it: the same gates but for the luck of mapping.
        unit, kind = costs["unit"]["added"], costs["kinds"]["paired"]["added"]
        self.assertEqual(unit["flops"], kind["flops"])
        self.assertAlmostEqual(unit["transistors"] / kind["transistors"], 1, delta=0.03)
        gains = result["gains"]
        self.assertEqual(gains["unit"], gains["kinds"]["paired"])

    def test_a_sum_that_moves_too_far(self):
        rtl = self.folder / "rtl"
        shutil.copytree(ROOT / "rtl", rtl)
        align = rtl / "arc_paired_align.sv"
        right = "(largest_1 && from_1_to_old[BinWidth-1:0] == BinWidth'(32 - k))"
        self.assertIn(right, align.read_text())
        align.write_text(align.read_text().replace(right, right.replace("32 - k", "31 - k")))
        status, result, out, _ = self.evaluate("--rtl", str(rtl), *self.DECLARED, "--quick", "--only", "contract")
        self.assertEqual(status, 1)
        self.check_failure(result, "sum", out)


class LosesLane(Case):
    def test_a_lane_lost_in_one_request_of_100000_is_found(self):
        # Other requests than the default ones, by which chance finds it early.
        status, result, out, _ = self.judge("loses_lane", "--only", "contract", "--seed", "4")
        self.assertEqual(status, 1)
        self.assertGreater(result["contract"]["requests"], 50_000)
        self.assertIn("lane 31", result["contract"]["message"])
        self.check_failure(result, "lane once", out)
        wave = self.folder / "inside.vcd"
        status, _, out, errors = self.judge("loses_lane", "--replay", result["contract"]["replay"], "--internals", str(wave))
        self.assertEqual((status, errors), (1, ""), out)
        text = wave.read_text()
        self.assertIn(" u_scheduler ", text)
        self.assertRegex(text, r"\n#2\n")
        self.assertIn("$timescale 1ns", text.replace("\n", " ").replace("  ", " "))


class WrongWord(Case):
    def test_sums_of_structs_are_judged(self):
        status, result, out, _ = self.judge("wrong_word", "--only", "contract")
        self.assertEqual(status, 1)
        self.check_failure(result, "packet", out)
        self.assertIn("tag 0x355", result["contract"]["message"])

    def test_without_the_fault_they_are_right(self):
        right = self.copy("wrong_word", ("wrong_word_subcore.sv", "&& word == 4'd9", "&& 1'b0"))
        status, result, _, errors = self.evaluate("--rtl", str(right), "--quick", "--only", "contract", "--golden", "vector")
        self.assertEqual((status, errors), (0, ""))
        self.assertEqual((result["contract"]["verdict"], result["lockstep"]["verdict"]), ("kept", "equal"))

    def test_a_unit_of_one_word_has_no_words(self):
        status, _, _, errors = self.judge("queued", "--words", "4")
        self.assertEqual(status, 2)
        self.assertIn("has no port req_words_i, lsu_word_o, lsu_last_o, rf_word_o", errors)


class Deadlocks(Case):
    def test_a_unit_that_stands_still_is_found(self):
        status, result, out, _ = self.judge("deadlocks")
        self.assertEqual(status, 1)
        self.check_failure(result, "deadlock", out)
        self.assertNotIn("costs", result)


class PlainAdder(Case):
    def test_another_adder_is_right_and_slower(self):
        status, result, _, errors = self.judge("plain_adder", "--only", "contract", "costs", "--golden", "serial")
        self.assertEqual((status, errors), (0, ""))
        self.assertEqual(result["lockstep"]["verdict"], "equal")
        costs = result["costs"]
        self.assertGreater(costs["unit"]["added"]["transistors"], costs["kinds"]["serial"]["added"]["transistors"])
        self.assertEqual(costs["unit"]["whole"]["flops"], costs["kinds"]["serial"]["whole"]["flops"])

    def test_a_golden_unit_from_a_shared_object(self):
        golden = os.environ["EVALUATE_GOLDEN"]
        status, result, _, _ = self.judge("plain_adder", "--only", "lockstep", "--golden", golden)
        self.assertEqual((status, result["lockstep"]["verdict"]), (0, "equal"))

    def test_a_unit_that_differs_from_its_golden_one(self):
        wrong = self.copy("plain_adder", ("plain_adder.sv", "(shifted[27] || shifted[25:0] != 26'd0)", "shifted[27]"))
        status, result, _, _ = self.evaluate("--rtl", str(wrong), "--quick", "--only", "contract", "--golden", "serial")
        self.assertEqual((status, result["lockstep"]["verdict"]), (1, "differs"))
        self.assertEqual(result["contract"]["rule"], "sum")
        self.assertTrue(Path(result["lockstep"]["wave"]).exists())

    def test_the_simulator_takes_the_same_cycles(self):
        _, result, _, _ = self.judge("plain_adder", "--only", "gains")
        self.assertEqual(result["gains"]["unit"], result["gains"]["kinds"]["serial"])


# What a unit does in its cycle 1000, and what is said of it.
HOSTILE = {
    "exits": ("$finish; $finish;", "in its cycle 1001: the RTL ended the simulation: $finish, lane_by_lane_subcore.sv:"),
    "stops": ('$fatal(1, "no");', "the RTL ended the simulation: $stop, $error or $fatal, lane_by_lane_subcore.sv:"),
    "hangs": ("while (held != 4'd5) held = {held[2:0], 1'b0};", "did not come back within 2 s, in its cycle 1001"),
    "eats memory": ("for (int i = 0; i >= 0; i = left_over.size() > 5 ? 1 : 0) left_over.push_back(64'(left_over.size()));",
                    "took more than 600 MiB of memory, in its cycle 1001"),
    "writes over the results": ('$system("for f in out/contract.json result.json; do echo {} > %s/$f; done"); $finish;',
                                "the RTL ended the simulation: $finish"),
    "forks": ('$system("setsid sleep 98765 &"); $finish;', "left processes behind, which were ended"),
}


class Hostile(Case):
    def judge_hostile(self, what):
        text, verdict = HOSTILE[what]
        folder = self.copy("lane_by_lane", ("lane_by_lane_subcore.sv", "lsu_addr_o", "address"),
                           ("lane_by_lane_subcore.sv", "output logic [47:0]      address", "output logic [47:0]      lsu_addr_o"),
                           ("lane_by_lane_subcore.sv", "endmodule", """
  logic [47:0] address;
  logic [15:0] age;
  logic [63:0] left_over[$];
  logic [3:0]  held;
  assign lsu_addr_o = age == 16'hffff ? {44'd0, held ^ 4'(left_over.size())} : address;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      age <= 16'd0;
    end else begin
      age <= age + 16'd1;
      if (age == 16'd1000) begin
        %s
      end
    end
  end
endmodule""" % text.replace("%s", str(self.folder))))
        # Of an earlier run.
        (self.folder / "out").mkdir()
        (self.folder / "out/contract.json").write_text('{"kept": true, "parts": []}')
        (self.folder / "result.json").write_text('{"right": true}')
        status, result, out, errors = self.evaluate("--rtl", str(folder), "--quick", "--only", "contract", "--unit-seconds",
                                                    "2" if what == "hangs" else "60", "--unit-memory", "600")
        self.assertEqual((status, errors), (1, ""), out)
        self.assertEqual((result["right"], result["contract"]["rule"]), (False, "keeps running"))
        self.assertIn(verdict, result["contract"]["message"])
        self.assertIn("contract    BROKEN: keeps running: ", out)
        self.assertEqual(subprocess.run(["pgrep", "-f", "sleep 98765"], check=False).returncode, 1)

    def test_every_end_is_a_verdict(self):
        for what in HOSTILE:
            with self.subTest(what=what):
                self.setUp()
                self.judge_hostile(what)


class Ends(Case):
    judge_hostile = Hostile.judge_hostile

    def test_a_unit_that_ends_the_simulation(self):
        self.judge_hostile("exits")


LIBERTY = Path("/usr/share/qflow/tech/osu018/osu018_stdcells.lib")


@unittest.skipUnless(LIBERTY.exists() and shutil.which("sta"),
                     "no library of cells, or no OpenSTA")
class Power(Case):
    def costs(self, folder, *arguments):
        status, result, out, errors = self.evaluate("--rtl", str(folder), "--only", "costs", "--beside", "none", *arguments)
        self.assertEqual((status, errors), (0, ""), out)
        return result["costs"], out

    def test_power_on_recorded_requests(self):
        costs, out = self.costs(HERE / "lane_by_lane")
        power = costs["power"]["unit"]
        self.assertEqual(costs["power"]["row"], "whole")
        self.assertIn(power["lanes_reduced"] - power["results"], (0, 1), power)  # one may still be in the unit
        self.assertGreater(power["lanes_reduced"], 500)  # a lane takes two cycles, in half of which the queue is full
        self.assertEqual(power["lanes_plain"], 0)
        parts = [watts for part, watts in power["power_mw"].items() if part != "total"]
        self.assertAlmostEqual(sum(parts), power["power_mw"]["total"], places=4)
        self.assertGreater(min(power["power_mw"][part] for part in ("internal", "switching", "clock_in_flops")), 0)
        self.assertAlmostEqual(power["clock_mhz"], 1e3 / costs["unit"]["whole"]["fast_path_ns"], places=2)
        words = f"{power['power_mw']['total']:.3g} mW at {power['clock_mhz']:.1f} MHz on truck-values.wft"
        self.assertIn(words, out)
        self.assertRegex(out, r"mW +pJ per lane\n")

    def test_more_toggles_take_more(self):
        # Beside the unit, 64 flops of which each changes in every cycle, at a port that the contract does not have.
        busier = self.copy("lane_by_lane", ("lane_by_lane_subcore.sv", "  output logic             busy_o\n",
                                            "  output logic             busy_o,\n  output logic [63:0] more_o\n"),
                           ("lane_by_lane_subcore.sv", "endmodule", """
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) more_o <= 64'd0;
    else         more_o <= {more_o[62:0], ~more_o[0]};
  end
endmodule"""))
        plain = self.costs(HERE / "lane_by_lane")[0]["power"]["unit"]
        busy = self.costs(busier)[0]["power"]["unit"]
        per_cycle = [row["power_mw"]["total"] / row["clock_mhz"] for row in (plain, busy)]
        self.assertGreater(per_cycle[1], 1.5 * per_cycle[0])

    def test_none_without_tables_of_power(self):
        cells = self.folder / "cells.lib"
        cells.write_text(LIBERTY.read_text(encoding="latin-1").replace("internal_power", "no_power"), encoding="latin-1")
        costs, out = self.costs(HERE / "lane_by_lane", "--liberty", cells)
        self.assertIn("none", costs["power"]["unit"])
        self.assertIn("; no power: the library has no power tables\n", out)
        self.assertNotIn("pJ per lane\n", out)

    def test_none_where_a_sum_is_wrong(self):
        wrong = self.copy("lane_by_lane", ("lane_by_lane_subcore.sv", "    lsu_data_o = rf_data_i;", "    lsu_data_o = ~rf_data_i;"))
        costs, out = self.costs(wrong)
        self.assertIn("sum: ", costs["power"]["unit"]["none"])
        self.assertIn("no power: sum: ", out)


@unittest.skipUnless(all(map(shutil.which, ("graywolf", "qrouter", "magic", "netgen-lvs", "klayout", "sta"))),
                     "no tools for layouts")
class Layout(Case):
    def test_a_module_of_the_unit_is_laid_out(self):
        status, result, out, errors = self.judge("plain_adder", "--only", "layout", "--reduction", "arc_lane_picker")
        self.assertEqual((status, errors), (0, ""), out)
        layout = result["layout"]
        self.assertEqual((layout["verdict"], layout["unit"]["drc"], layout["unit"]["lvs"]), ("done", [], []))
        self.assertEqual(set(layout["kinds"]) >= {"serial", "paired", "fused"}, True)
        self.assertTrue((Path(layout["folder"]) / "arc_lane_picker.gds").exists())
        self.assertRegex(out, r"plain adder +arc_lane_picker +4,\d+ +13\d ")

    def test_what_cannot_be_laid_out(self):
        status, result, out, _ = self.judge("plain_adder", "--only", "layout", "--reduction", "no_such_module")
        self.assertEqual((status, result["layout"]["verdict"]), (1, "failed"))
        self.assertIn("FAILED: unknown top 'no_such_module'", out)


class Interrupt(Case):
    def test_one_line_and_no_half_file(self):
        report, out = self.folder / "result.json", self.folder / "out"
        command = [*EVALUATE, "--rtl", str(HERE / "lane_by_lane"), "--full", "--only", "gains", "--traces", "truck-values", "bob",
                   "--json", report, "--out", out, "--cache", os.environ["EVALUATE_CACHE"]]
        with subprocess.Popen(command, cwd=ROOT, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as child:
            simulation = self.wait_for_child(child.pid, "warpfold")
            child.send_signal(signal.SIGINT)
            said, errors = child.communicate(timeout=60)
        self.assertEqual((child.returncode, len(errors.splitlines())), (130, 1), errors)
        self.assertEqual(said.splitlines()[2:], ["elaborates  Verilator, Yosys, Icarus"])
        self.assertIn("interrupted", errors)
        self.assertFalse(Path(f"/proc/{simulation}").exists())
        self.assertEqual([path.name for path in self.folder.iterdir()], ["out"])
        self.assertEqual([path.name for path in out.iterdir() if path.suffix in (".json", ".part")], [])

    def wait_for_child(self, parent, name):
        """The process of that name which it has started."""
        for _ in range(6000):
            for entry in Path("/proc").iterdir():
                if entry.name.isdigit():
                    with contextlib.suppress(OSError):
                        stat = (entry / "stat").read_text()
                        if f"({name})" in stat and int(stat.rpartition(")")[2].split()[1]) == parent:
                            return entry.name
            time.sleep(0.05)
        self.fail(f"{parent} has started no {name}")


class Proof(Case):
    def test_the_rules_are_proved(self):
        """From reset for some cycles, then for every number of them."""
        status, result, out, _ = self.evaluate("--rtl", str(HERE / "plain_adder"), "--only", "proof", "--prove")
        self.assertEqual(result["proof"]["verdict"], "proved", result["proof"])
        self.assertGreaterEqual(result["proof"]["cycles"], 2)
        self.assertEqual((status, result["proof"].get("induction")), (0, "proved"), result["proof"])
        self.assertIn("for every number of cycles: proved", out)

    def test_what_is_broken_late_is_not_proved_for_ever(self):
        # A tag that is wrong from the 40th cycle on, later than the bounded proof looks.
        wrong = self.copy("lane_by_lane", ("lane_by_lane_subcore.sv", "rf_tag_o = rf_valid_o ? req_tag_i", "rf_tag_o = rf_valid_o ? late_tag"),
                          ("lane_by_lane_subcore.sv", "  logic [31:0] left, lane;", """  logic [31:0] left, lane;
  logic [5:0]  age_q;
  logic [11:0] late_tag;
  assign late_tag = age_q == 6'd40 ? req_tag_i ^ 12'd1 : req_tag_i;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni)              age_q <= 6'd0;
    else if (age_q != 6'd40)  age_q <= age_q + 6'd1;
  end"""))
        status, result, _, _ = self.evaluate("--rtl", str(wrong), "--quick", "--only", "proof", "--prove")
        self.assertNotEqual(result["proof"].get("induction"), "proved", result["proof"])
        self.assertEqual(status, 1 if result["proof"]["verdict"] == "failed" else 0)

    def test_a_proof_of_some_cycles_is_called_so(self):
        status, result, out, _ = self.judge("lane_by_lane", "--only", "proof")
        self.assertEqual((status, result["proof"]["verdict"]), (0, "bounded"), result["proof"])
        self.assertIn("proof       bounded: holds for 4 cycles from reset", out)

    def test_a_unit_that_does_nothing_proves_nothing(self):
        dead = self.copy("lane_by_lane", ("lane_by_lane_subcore.sv", "left = req_valid_i ? req_mask_i & ~done_q : 32'd0",
                                          "left = 32'd0"))
        status, result, out, errors = self.evaluate("--rtl", str(dead), "--quick", "--only", "proof")
        self.assertEqual((status, errors), (1, ""))
        self.assertNotIn(result["proof"]["verdict"], ("bounded", "proved"))
        self.assertNotIn("Assertion failed", out)

    def test_a_unit_that_never_reads_is_judged_by_the_other_rules(self):
        plain = self.copy("lane_by_lane", ("lane_by_lane_subcore.sv", "lsu_reduced_o = read_q", "lsu_reduced_o = 1'b0"),
                          ("lane_by_lane_subcore.sv", "{31'd0, read_q}", "read_q ? lane : 32'd0"),
                          ("lane_by_lane_subcore.sv", "rf_valid_o = left != 32'd0 && !read_q", "rf_valid_o = 1'b0"),
                          ("lane_by_lane_subcore.sv", "read_q ? !lsu_room_i : rf_valid_o && rf_ready_i",
                           "read_q ? !lsu_room_i : left != 32'd0"))
        status, result, out, errors = self.evaluate("--rtl", str(plain), "--quick", "--only", "proof")
        self.assertEqual((status, errors), (0, ""), out)
        self.assertEqual(result["proof"]["verdict"], "bounded", result["proof"])
        self.assertGreater(len(result["proof"]["idle"]), 0)
        self.assertIn("of themselves, as nothing of the kind can happen: ", out)

    def test_a_broken_rule_is_refuted(self):
        wrong = self.copy("queued", ("queued_subcore.sv", "busy_o = count_q != 2'd0 || inner_busy", "busy_o = inner_busy"))
        status, result, out, _ = self.evaluate("--rtl", str(wrong), "--quick", "--only", "proof")
        self.assertEqual((status, result["proof"]["verdict"]), (1, "failed"), result["proof"])
        self.assertIn(result["proof"]["claim"], ("BusyWhileALaneIsThere", "IdleUnitIsQuiet"))
        self.assertTrue(Path(result["proof"]["wave"]).exists())
        self.assertIn(result["proof"]["wave"], out)


class BadInput(Case):
    def refuses(self, text, *arguments):
        status, result, out, errors = self.evaluate("--quick", *map(str, arguments))
        self.assertEqual((status, result, out), (2, None, ""), errors)
        self.assertEqual(len(errors.splitlines()), 1, errors)
        self.assertIn(text, errors)

    def test_of_folders_and_files(self):
        self.refuses("no folder nowhere", "--rtl", "nowhere")
        empty = self.folder / "empty"
        empty.mkdir()
        self.refuses("has no .sv", "--rtl", empty)
        self.refuses("cannot read", "--rtl", empty, "--file-list", empty / "none.f")
        (empty / "list.f").write_text("gone.sv\n")
        self.refuses("no file", "--rtl", empty)
        self.refuses("required", "--top", "x")

    def test_of_options(self):
        queued = HERE / "queued"
        self.refuses("no module other", "--rtl", queued, "--top", "other")
        self.refuses("Width", "--rtl", queued, "--parameters", "Width=3")
        self.refuses("is no NAME=VALUE", "--rtl", queued, "--parameters", "Width")
        self.refuses("unknown key 'speed'", "--rtl", self.copy("queued", ("unit.toml", 'sum = "chain"', "speed = 3")))
        self.refuses("sum 'any'", "--rtl", queued, "--sum", "any")
        self.refuses("banks", "--rtl", queued, "--banks", "3")
        self.refuses("no golden unit", "--rtl", queued, "--only", "lockstep", "--golden", "none.so")
        self.refuses("--internals is a wave of a replay", "--rtl", queued, "--internals", self.folder / "wave.vcd")
        self.refuses("is no replay", "--rtl", queued, "--replay", queued / "unit.toml")
        self.refuses("no trace", "--rtl", queued, "--only", "gains", "--traces", "none")

    def test_all_that_is_missing_is_named_at_once(self):
        folder = self.copy("lane_by_lane", ("lane_by_lane_subcore.sv", "endmodule", """
`include "gone.svh"
`ifdef NEVER
`include "not_needed.svh"
`endif
  logic spare;
  gone_adder #(.Width(gone_pkg::Width)) u_adder (.a_i(busy_o), .b_o(spare));
  gone_queue u_queue[1:0] (.a_i(busy_o));
endmodule"""))
        self.refuses("does not have the file gone.svh, which lane_by_lane_subcore.sv includes; "
                     "the package gone_pkg, which lane_by_lane_subcore.sv uses; the module gone_adder, which "
                     "lane_by_lane_subcore.sv uses; the module gone_queue, which lane_by_lane_subcore.sv uses", "--rtl", folder)

    def test_results_of_earlier_runs_are_gone(self):
        out, report = self.folder / "out", self.folder / "result.json"
        out.mkdir()
        for path in (report, out / "contract.json", out / "failure.fst"):
            path.write_text("old")
        folder = self.copy("queued", ("queued_subcore.sv", "endmodule", "end module"))
        self.refuses("syntax error", "--rtl", folder)
        self.assertEqual(list(out.glob("*.json")) + list(out.glob("*.fst")), [])

    def test_of_sources(self):
        self.refuses("has no port rf_tag_o", "--rtl", self.copy(
            "queued", ("queued_subcore.sv", "  output logic [11:0]      rf_tag_o,\n", ""),
            ("queued_subcore.sv", "    .rf_tag_o     (rf_tag_o),\n", "    .rf_tag_o     (),\n")))
        shutil.rmtree(self.folder / "queued")
        self.refuses("syntax error", "--rtl", self.copy("queued", ("queued_subcore.sv", "endmodule", "end module")))
        self.refuses("rf_data_i has 32 bits, must have 64", "--rtl", HERE / "queued", "--read-lanes", "2")


if __name__ == "__main__":
    unittest.main()
