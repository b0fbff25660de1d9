#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of `warpfold results`: numbers that somebody changed, machines that changed, pages and pictures.

    results_test.py WARPFOLD [unittest's options]
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
import xml.dom.minidom
from pathlib import Path
from unittest import mock

from warpfold.tools.base.places import TRACES
from warpfold.tools.results import family, gpu_kernels, pages, pictures, points, probe, store, style, tables, values, verification
from warpfold.tools.sweep import plan as planning

from tb.figures import made_up

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ("-B", ROOT / "python", "results")

WARPFOLD = ""
PAGE = """# A page

It takes <!--n:truck.rtx4090.arc-hw.cycles-->?<!--/n--> cycles, <!--n:truck.rtx4090.arc-hw.speedup-->?<!--/n--> times as
fast. ARC has <!--cite-->2.06<!--/cite-->; `--set l2.rop_cycles=1.5` is code, [1.2](a/b-1.2.md) a link without.

<!--table:units-rtx4090-->
<!--/table-->

```
<!--n:in.code-->1.25<!--/n-->
```
"""


class Repository(unittest.TestCase):
    """A folder with pages and docs/numbers."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        self.numbers = self.root / "docs/numbers"
        made_up.write_numbers(self.numbers)
        self.page = self.root / "README.md"
        self.page.write_text(PAGE.replace("[1.2](", "[it]("), encoding="utf-8")

    def call(self, option):
        done = subprocess.run([sys.executable, "-B", *RESULTS, option, "--root", self.root], capture_output=True, text=True,
                              check=False)
        return done.returncode, done.stdout, done.stderr

    def render(self):
        """Pictures and pages; what synthesis would give is missing here and told of."""
        with mock.patch.object(pictures, "PICTURES", (pictures.stalls, pictures.sm_timeline)):
            numbers = values.Numbers(self.numbers)
            return pages.render(numbers, self.root), pictures.draw(numbers, self.root / "docs/pictures")

    def problems(self):
        return pages.check(values.Numbers(self.numbers), self.root)[0]


class Pages(Repository):
    def test_tags_are_filled_and_code_is_left_alone(self):
        (changed, problems, _), _ = self.render()
        self.assertEqual((changed, problems), ([self.page], []))
        text = self.page.read_text(encoding="utf-8")
        self.assertIn("<!--n:truck.rtx4090.arc-hw.cycles-->990,000<!--/n--> cycles", text)
        self.assertIn("<!--n:truck.rtx4090.arc-hw.speedup-->2.00<!--/n-->", text)
        self.assertIn("| trace | serial, greedy /4 | serial, groups /4 | paired-staged, greedy | paired-staged, groups |", text)
        for trace in ("kitchen", "web-stanford"):
            self.assertIn(f"| {trace} | 1.00 | 1.20 | 3.50 | 4.90 | 4.00 | 5.00 | 6.00 |", text)
        self.assertIn("<!--n:in.code-->1.25<!--/n-->", text)
        self.assertEqual(self.problems(), [])

    def test_a_second_time_changes_nothing(self):
        self.render()
        files = {path: path.read_bytes() for path in self.root.rglob("*") if path.is_file()}
        (changed, _, _), (drawn, _) = self.render()
        self.assertEqual((changed, drawn), ([], []))
        self.assertEqual({path: path.read_bytes() for path in self.root.rglob("*") if path.is_file()}, files)

    def test_a_number_changed_in_a_page_fails(self):
        self.render()
        for old, new in (("990,000", "990,001"), ("| kitchen | 1.00", "| kitchen | 1.10")):
            text = self.page.read_text(encoding="utf-8")
            self.page.write_text(text.replace(old, new), encoding="utf-8")
            found = self.problems()
            self.page.write_text(text, encoding="utf-8")
            self.assertEqual(len(found), 1, found)
            self.assertRegex(found[0], r"^README.md:\d+: differs from docs/numbers")

    def test_a_number_changed_in_a_file_fails(self):
        self.render()
        path = self.numbers / "simulations.json"
        text = path.read_text(encoding="utf-8")
        self.assertIn("990000", text)
        path.write_text(text.replace("990000", "990001", 1), encoding="utf-8")
        code, _, errors = self.call("--check")
        self.assertEqual((code, len(errors.splitlines())), (1, 1), errors)
        self.assertIn("simulations.json was changed by hand", errors)

    def test_a_key_that_names_nothing_fails(self):
        self.page.write_text("A <!--n:truck.rtx4090.arc-hw.glory-->3<!--/n--> <!--table:none--><!--/table-->", encoding="utf-8")
        code, _, errors = self.call("--check")
        self.assertEqual(code, 1)
        self.assertIn("README.md:1: no number 'truck.rtx4090.arc-hw.glory'", errors)
        self.assertIn("README.md:1: no table 'none'", errors)

    def test_a_tag_without_its_end_fails(self):
        self.page.write_text("<!--n:truck.rtx4090.arc-hw.cycles-->3", encoding="utf-8")
        self.assertTrue(any("without its other end" in line for line in self.problems()))

    def test_a_line_that_begins_with_a_tag_fails(self):
        self.page.write_text("It takes\n<!--n:truck.rtx4090.arc-hw.cycles-->990,000<!--/n--> cycles.", encoding="utf-8")
        self.assertEqual(len(self.problems()), 1)
        self.assertIn("README.md:2: a line that begins with a tag", self.problems()[0])

    def test_figures_typed_by_hand_fail(self):
        for text in ("It is 2.27 times", "1,234 cycles", "off by 4 %", "off by 4%", "| a | 3.5 |"):
            self.assertEqual(len(pages.typed_figures("p.md", text)), 1, text)
        for text in ("Apache-2.0", "`2.27`", "<!--cite-->2.06<!--/cite-->", "<!--n:a-->2.0<!--/n-->", "ARC, 13 traces, 2026",
                     "[a](b-1.2.md)", "```\n1.25\n```", "v1.0"):
            self.assertEqual(pages.typed_figures("p.md", text), [], text)

    def test_missing_results_keep_the_page_and_are_told_of(self):
        self.page.write_text("A <!--n:spot.rtx4090.arc-hw.cycles-->3<!--/n-->", encoding="utf-8")
        code, _, errors = self.call("--render")
        self.assertEqual(code, 1)
        self.assertIn("have no result yet", errors)
        self.assertEqual(self.page.read_text(encoding="utf-8"), "A <!--n:spot.rtx4090.arc-hw.cycles-->3<!--/n-->")

    def test_bad_usage_is_one_line(self):
        for words in (["--nonsense"], ["--cores", "0"], ["--render", "--check"], ["--seal", "none"]):
            done = subprocess.run([sys.executable, "-B", *RESULTS, *words], capture_output=True, text=True, check=False)
            self.assertEqual((done.returncode, len(done.stderr.splitlines())), (2, 1), done.stderr)
            self.assertTrue(done.stderr.startswith("warpfold results: "), done.stderr)



class Microbenchmarks(Repository):
    def test_cycles_and_how_often_as_many(self):
        numbers = values.Numbers(self.numbers)
        numbers.__dict__["microbench"] = {"vector/a/lanes=1": 10.0, "bulk/b": 4.0}
        self.assertEqual(numbers.value("microbench.vector/a/lanes=1"), "10.00")
        self.assertEqual(numbers.value("microbench.vector/a/lanes=1.over.bulk/b"), "2.50")
        for key in ("microbench.vector/none", "microbench.bulk/b.over.vector/none", "microbench.bulk/b.over"):
            with self.assertRaises(values.Unknown):
                numbers.value(key)

    def test_traces_of_an_h100(self):
        facts = {"workload": "XX-YY", "events": 1234, "mean_active_lanes": 31.5, "one_address_share": 0.25,
                 "sample_every": 4, "ms": {"baseline": 2.0, "sw-b:0": 1.0, "sw-b:8": 0.5, "none": 0.25}}
        store.write("h100", {}, {"traces": {"some": facts}, "points": [["some", "baseline", 2.2], ["some", "sw-b:8", 0.4],
                                                                       ["other", "baseline", 9.0]]}, self.numbers)
        row = tables.table("on-h100", values.Numbers(self.numbers)).splitlines()[-1]
        self.assertEqual(row, "| some\\* | XX-YY | 1,234 | 31.50 | 25.0 % | 2.000 | 4.00 (8) | - | - | - | 8.00 | 15.0 % "
                              "| -20.0 to +10.0 % |")

    def test_slots_beside_what_an_h100_took(self):
        facts = {"mean_active_lanes": 9.43, "one_address_share": 1.0}
        store.write("h100", {}, {"traces": {"some": facts}, "points": []}, self.numbers)
        store.write("slots", {}, {"cases": [["some", 2.0, 2.2], [self.any_trace(), 0.5, 0.4]]}, self.numbers)
        numbers = values.Numbers(self.numbers)
        rows = tables.table("slots", numbers).splitlines()[2:]
        self.assertEqual(rows[0], "| some | 9.4 | 100.0 % | 2.0000 | 2.2000 | +10.0 % |")
        self.assertTrue(rows[1].endswith("| 0.5000 | 0.4000 | -20.0 % |"), rows[1])
        self.assertEqual([numbers.value(f"slots.{key}") for key in ("mean", "worst", "worst_case")],
                         ["15.0 %", "20.0 %", self.any_trace()])

    def any_trace(self):
        return next(iter(values.Numbers(self.numbers).traces))

    def test_tables_of_the_shipped_measurements(self):
        numbers = values.Numbers(self.numbers)
        rows = [row.split("|") for row in tables.table("vectors", numbers).splitlines()[2:]]
        self.assertEqual(len(rows), 14)
        for row in rows:
            self.assertLess(float(row[5].replace(",", "")), 0.6 * float(row[4].replace(",", "")), row)
            self.assertLess(float(row[7].replace(",", "")), 0.3 * float(row[6].replace(",", "")), row)
        structs = [row.split("|") for row in tables.table("vector-structs", numbers).splitlines()[2:]]
        self.assertEqual([row[2].strip() == "-" for row in structs], [False, True, False, True, False, True])


class Units(Repository):
    """Units at the clocks that their paths allow, and which of them is recommended."""

    def numbers_with(self, change):
        """The made-up ones with rows changed: change(row) gets a dictionary and returns it, or None to leave it out."""
        document = store.read("simulations", self.numbers)
        rows = [change(dict(zip(document["columns"], row))) for row in document["rows"]]
        document["rows"] = [list(row.values()) for row in rows if row is not None]
        store.write("simulations", {}, {key: value for key, value in document.items() if key not in ("schema", "source", "digest")},
                    self.numbers)
        return values.Numbers(self.numbers)

    def test_a_path_takes_as_many_cycles_as_it_is_long(self):
        for path, ghz, cycles in ((0.1, 2.0, 1), (0.5, 2.0, 1), (0.501, 2.0, 2), (1.19, 2.24, 3), (1.19, 1.32, 2)):
            self.assertEqual(family.divider(path, ghz), cycles, (path, ghz))
        clocks = values.Numbers(self.numbers).clocks
        self.assertEqual([clocks.divider(family.PAPERS, gpu) for gpu in family.GPUS], [4, 3, 4])

    def test_a_unit_is_simulated_at_its_clock_and_at_the_ideal_one(self):
        facts = points.trace_facts(WARPFOLD)
        found = {points.key_of(point) for point in points.of_members(facts, values.Numbers(self.numbers).clocks)}
        for trace, serial, direct in (("truck", {1, 4}, {1}), ("web-stanford", {4}, set())):
            for kind, dividers in (("serial", serial), ("paired-staged", {1}), ("paired", direct)):
                for one in family.FLOATS:
                    if one.unit.name == kind:
                        settings = " ".join(f"{key}={value}" for key, value in one.settings)
                        self.assertEqual({key.divider for key in found if (key.trace, key.gpu, key.unit_kind, key.set) ==
                                          (trace, "rtx4090", kind, settings)}, dividers, (trace, one.row))

    def test_keys(self):
        numbers = values.Numbers(self.numbers)
        for key, text in (("truck.rtx4090.arc-hw.speedup", "2.00"), ("truck.rtx4090.arc-hw.serial.speedup", "1.00"),
                          ("truck.rtx4090.arc-ideal.serial.speedup", "2.00"), ("unit.serial.divider.rtx3060", "3"),
                          ("truck.rtx4090.arc-ideal.paired_staged.speedup", "3.50"), ("unit.serial.path_ns", "1.60"),
                          ("unit.paired_staged_groups.software.h200", "2.45"),
                          ("unit.paired_staged_groups.with_coalescer", "70,000"), ("unit.paired_staged_groups.transistors", "80,000"),
                          ("chosen.word.name", "paired-staged, groups"), ("chosen.struct.name", "vector-staged, groups"),
                          ("chosen.word.least.rtx4090", "4.90"), ("chosen.near", "3 %")):
            self.assertEqual(numbers.value(key), text, key)
        for key in ("unit.none.mean", "chosen.all.name", "truck.rtx4090.arc-hw.none.speedup"):
            with self.assertRaises(values.Unknown, msg=key):
                numbers.value(key)

    def test_the_recommended_unit_is_near_the_best_on_every_machine(self):
        def slower(row):
            other = (row["unit_kind"], row["set"], row["gpu"]) == ("paired-staged", "rules.scheduler=reduce-groups", "h200")
            return {**row, "cycles": round(row["cycles"] * 1.02)} if other else row
        self.assertEqual(self.numbers_with(slower).value("chosen.word.name"), "fused-staged, groups")

    def test_traces_on_which_another_unit_is_ahead_are_listed(self):
        def ahead(row):
            one = (row["trace"], row["gpu"], row["unit_kind"], row["set"]) == ("bob", "rtx3060", "fused-staged", "")
            return {**row, "cycles": round(1_980_000 / 5.1)} if one else row
        rows = tables.table("not-best", self.numbers_with(ahead)).splitlines()
        self.assertEqual(rows[2:], ["| bob | rtx3060 | fused-staged, greedy | 5.10 | 4.90 |"])

    def test_what_is_not_simulated_is_missing(self):
        numbers = self.numbers_with(lambda row: None if (row["trace"], row["divider"]) == ("bob", 4) else row)
        with self.assertRaises(values.Missing):
            tables.table("units-rtx4090", numbers)

    def test_no_cell_is_empty(self):
        numbers = values.Numbers(self.numbers)
        for name in ("headline", "means", "truck", "truck-stalls", "units", "units-h200", "policies-by-trace", "energy-by-trace"):
            for line in tables.table(name, numbers).splitlines()[2:]:
                self.assertEqual([cell for cell in line.strip("|").split("|")[1:] if cell.strip() in ("", "-")], [], line)


class Verified(unittest.TestCase):
    """What checks printed, and what counts of it."""

    LOGS = {
        "proofs": "addr_match              proved    z3, 2-induction, unbounded, 3 s\n"
                  "addr_match              covered   5 states, 1 s\naddr_match              refuted   a_bug: Claim, 2 s\n"
                  "group_pays              FAILED    LoneLaneNeverPays\nlane_picker             proved    z3, all inputs, 1 s\n",
        "bugs": "serial_wrong_lane      killed    Suite.Test\nfused_wrong_bin        SURVIVED  \n2 planted bugs, exit 1\n",
        "mutants": "kind       mutants killed equivalent survived seconds\nserial         300    290         10        0     600\n"
                   "paired-staged     200    187         13        0     174\n",
        "netlists": "arc_unit_serial                  gates  proved    70 outputs, 125 registers, 9 s\n",
        "lockstep": "  3/9 Test   #7: lockstep.All/Random.Agrees/none_serial ...   Passed    0.10 sec\n"
                    "  4/9 Test   #8: lockstep.All/Random.Agrees/none_serial_groups ...***Failed    0.10 sec\n",
    }
    LAYOUTS = {"rows": [{"top": "arc_reduction_serial", "transistors": 7, "drc": [], "lvs": []}],
               "fpga": [{"top": "arc_reduction_serial"}]}

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.rtl, self.formal, self.logs = (self.folder / name for name in ("rtl", "formal", "logs"))
        for path in (self.rtl, self.formal, self.logs):
            path.mkdir()
        for name in ("arc_pkg", "arc_addr_match", "arc_lane_picker"):
            (self.rtl / f"{name}.sv").write_text(name, encoding="utf-8")
        for name, text in self.LOGS.items():
            (self.logs / f"{name}.log").write_text(text, encoding="utf-8")

    def sources(self):
        return verification.Sources(self.rtl, self.formal)

    def rows(self, document, gates=7):
        found = verification.Verification(document, self.sources(), {"arc_reduction_serial": gates}, self.LAYOUTS)
        return {row[0]: row[1:] for row in found.rows()[1]}

    def test_a_cell_says_what_ran(self):
        document = verification.bring_in(self.logs, None, "c0", "2000-01-01", self.sources())
        rows = self.rows(document)
        self.assertEqual(rows["serial, greedy"], ["green, 1", "partial, 2 of 6", "open", "green, 1", "green, 1", "green, 1",
                                                  "green, 1", "green, 1"])
        self.assertEqual(rows["serial, groups"][:1] + rows["serial, groups"][4:6], ["open", "open", "open"])
        self.assertEqual(rows["fused, greedy"], ["open", "partial, 2 of 11", *["open"] * 6])
        self.assertEqual(rows["halves, greedy"][6:], ["open", "open"])
        self.assertEqual([rows[f"paired-staged, {name}"][4] for name in ("greedy", "groups")], ["green, 1", "open"])

    def test_what_has_changed_since_counts_no_more(self):
        document = verification.bring_in(self.logs, None, "c0", "2000-01-01", self.sources())
        (self.rtl / "arc_addr_match.sv").write_text("changed", encoding="utf-8")
        # The lane picker's proof and the netlist of a unit without a coalescer do not read it.
        self.assertEqual(self.rows(document)["serial, greedy"], ["open", "partial, 1 of 6", *["open"] * 3, "green, 1", "green, 1", "green, 1"])
        self.assertEqual(self.rows(document, gates=8)["serial, greedy"][6:], ["earlier gates"] * 2)
        # Run again it counts, and others stay as they are.
        again = self.folder / "again"
        again.mkdir()
        (again / "proofs.log").write_text(self.LOGS["proofs"].splitlines(True)[0], encoding="utf-8")
        document = verification.bring_in(again, document, "c1", "2000-01-02", self.sources())
        self.assertEqual(self.rows(document)["serial, greedy"][:2], ["open", "partial, 2 of 6"])

    def test_every_proof_of_a_cell_is_one_of_the_script(self):
        known = set(verification.Sources().files)
        for names in (verification.COALESCER, verification.STAGED, *verification.SCHEDULER.values(),
                      *verification.SUMS.values(), *verification.CONTRACT.values()):
            self.assertLessEqual(set(names), known)
        for row in verification.EVERY:
            self.assertIn((row.unit.datapath, row.unit.adds), verification.SUMS)

    def test_logs_that_say_nothing_are_refused(self):
        for name in self.LOGS:
            (self.logs / f"{name}.log").write_text("no verdict\n", encoding="utf-8")
            with self.assertRaises(verification.BadInput):
                verification.bring_in(self.logs, None, "c0", "2000-01-01", self.sources())
            (self.logs / f"{name}.log").unlink()
        with self.assertRaises(verification.BadInput):
            verification.bring_in(self.logs, None, "c0", "2000-01-01", self.sources())


class Pictures(Repository):
    def test_they_are_whole_small_and_follow_the_scheme(self):
        _, (drawn, absent) = self.render()
        # The diagrams, which show no numbers, have tests of theirs (tb/diagrams).
        drawn = [path for path in drawn if path.stem in {picture.__name__ for picture in pictures.PICTURES}]
        self.assertEqual((len(drawn), absent), (2, []))
        for path in drawn:
            text = path.read_text(encoding="utf-8")
            xml.dom.minidom.parseString(text)
            self.assertIn("prefers-color-scheme:dark", text)
            self.assertIn("<title>", text)
            for stand_in, *_ in style.COLORS.values():
                self.assertNotIn(stand_in, text)
            used = set(re.findall(r"var\(--(\w+)\)", text))
            self.assertLessEqual(used, set(style.COLORS))
            self.assertLess(len(text), 40_000)

    def test_a_picture_that_differs_fails(self):
        self.render()
        folder = self.root / "docs/pictures"
        with mock.patch.object(pictures, "PICTURES", (pictures.stalls,)):
            numbers = values.Numbers(self.numbers)
            self.assertEqual(pictures.check(numbers, folder), ([], [], None))
            path = folder / "stalls.svg"
            path.write_text(path.read_text(encoding="utf-8").replace("</svg>", " </svg>"), encoding="utf-8")
            self.assertIn("stalls.svg differs", pictures.check(numbers, folder)[0][0])
            path.write_text("<!-- matplotlib 0.1 -->", encoding="utf-8")
            self.assertIn("matplotlib 0.1", pictures.check(numbers, folder)[2])

    def test_the_budget_is_kept(self):
        size = sum(path.stat().st_size for path in (ROOT / "docs/pictures").glob("*.svg"))
        self.assertLessEqual(size, pictures.BUDGET)
        for path in (ROOT / "docs/pictures").glob("*.svg"):
            xml.dom.minidom.parse(str(path))

    def test_without_a_style_sheet_nothing_turns_black(self):
        """Inkscape reads none that has variables. What a class has no fill for is black there as everywhere."""
        found = 0
        for path in [*(ROOT / "docs/pictures").glob("*.svg"), *(ROOT / "rtl/doc").glob("*.svg")]:
            text = path.read_text(encoding="utf-8")
            sheet = "".join(re.findall(r"<style[^>]*>(.*?)</style>", text, re.DOTALL))
            fills = {name for names, body in re.findall(r"([^{}]+)\{([^{}]*)\}", sheet) if "fill:" in body
                     for name in names.strip().split(",")}
            for tag, kind, classes in re.findall(r'(<(\w+)[^<>]*\sclass="([^"]*)"[^<>]*>)', text):
                if kind != "svg" and any(f".{name}" in fills for name in classes.split()):
                    found += 1
                    self.assertRegex(tag, r'\sfill="(none|#[0-9a-f]{6})"', path.name)
            self.assertNotRegex(text, r'\s(fill|stroke)="var\(')
        self.assertGreater(found, 1000)


class Probe(unittest.TestCase):
    """On one small run."""

    POINTS = [("web-stanford", 12, "h200", "baseline,arc-hw")]

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def machines(self, old, new):
        """The machine files with something replaced."""
        for name in probe.MACHINES:
            text = (ROOT / f"model/gpus/{name}.toml").read_text(encoding="utf-8")
            changed = re.sub(old, new, text, flags=re.M)
            self.assertNotEqual(text, changed)
            (self.folder / f"{name}.toml").write_text(changed, encoding="utf-8")

    def taken(self):
        cycles = probe.cycles(WARPFOLD, 1, lambda name: str(self.folder / f"{name}.toml"), self.POINTS)
        return {"cycles": cycles, "machines": probe.machine_values(self.folder), "transistors": None}

    def test_a_parameter_that_changes_cycles_makes_results_stale(self):
        self.machines("^# ", "#  ")    # only comments
        kept = self.taken()
        self.assertEqual(probe.machine_values(), kept["machines"])
        self.machines(r"^sector_cycles = .*", "sector_cycles = 9.0")
        now = self.taken()
        lines = probe.differences(kept, now)
        self.assertIn("h200 l2.sector_cycles is 9.0", lines[2])
        self.assertTrue(any(re.match(r"web-stanford/12 h200 baseline: [\d,]+ cycles, was", line) for line in lines), lines)
        self.assertTrue(all(old != new for old, new in zip(probe.behaviour(kept), probe.behaviour(now))))
        # The runs alone notice it, too.
        self.assertTrue(probe.differences(kept, {**now, "machines": kept["machines"]}))

    def test_what_changes_a_unit_alone_leaves_other_results_fresh(self):
        kept = self.taken_of("arc-hw serial", 1)
        now = self.taken_of("arc-hw serial", 2)
        self.assertNotEqual(probe.behaviour(kept).every, probe.behaviour(now).every)
        self.assertEqual(probe.behaviour(kept).plain, probe.behaviour(now).plain)
        self.assertNotEqual(probe.behaviour(self.taken_of("lab", 1)).plain, probe.behaviour(self.taken_of("lab", 2)).plain)

    def taken_of(self, policy, cycles):
        return {"cycles": {f"truck/16 rtx4090 {policy}": [cycles, 1, 1]}, "machines": {"rtx4090": {"arc.room": cycles}}}

    def test_comments_and_order_leave_results_fresh(self):
        self.machines("^# ", "#  another comment: ")
        first = self.taken()
        self.machines(r"^(\[lab\]\n(?:.*\n)+?)(?=\[)", r"\1# moved\n")
        second = self.taken()
        self.assertEqual(probe.differences(first, second), [])
        self.assertEqual(probe.behaviour(first), probe.behaviour(second))

    def test_transistors_of_other_tools_are_not_compared(self):
        kept = {"yosys": "Yosys 0.23", "abc": "1", "tops": {"a": 10}}
        self.assertEqual(probe.transistor_differences(kept, {**kept, "tops": {"a": 11}}), (["a: 11 transistors, was 10"], None))
        lines, why_not = probe.transistor_differences(kept, {**kept, "yosys": "Yosys 0.40", "tops": {"a": 11}})
        self.assertEqual(lines, [])
        self.assertIn("Yosys 0.40", why_not)
        self.assertEqual(probe.transistor_differences(kept, None), ([], "no Yosys"))

    def test_stale_results_are_one_clear_line(self):
        done = subprocess.run([sys.executable, "-B", "-c", f"""
import sys
from warpfold.tools.results import results, store
kept = {{"cycles": {{"a": [1, 2, 3]}}, "machines": {{}}, "transistors": None}}
results.store.read = lambda name: kept
results.probing.take = lambda simulator, cores: {{**kept, "cycles": {{"a": [5, 2, 3]}}}}
sys.exit(results.probe(1))
"""], capture_output=True, text=True, check=False, env={**os.environ, "WARPFOLD": WARPFOLD})
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stderr, "warpfold results: results are stale: a: 5 cycles, was 1; run warpfold results\n")


class Simulations(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        environment = mock.patch.dict(os.environ, {"WARPFOLD": WARPFOLD, "WARPFOLD_POINTS": str(self.folder / "points")})
        environment.start()
        self.addCleanup(environment.stop)

    def planned(self, *policies):
        trace = TRACES / "truck-values.wft"
        return {(points.row_key("truck-values", "h200", policy), timeline):
                planning.Point(str(trace), "3D-TK", "h200", policy, timeline=timeline)
                for policy, timeline in policies}

    def update(self, behaviour, *policies, simulate=True):
        with mock.patch.object(points, "planned", lambda facts, simulator, clocks: self.planned(*policies)), \
                mock.patch("builtins.print"):
            failed = points.update(probe.Behaviour(*behaviour), WARPFOLD, 2, None, self.folder / "numbers", simulate)
        document = store.read("simulations", self.folder / "numbers")
        return failed, {row[2]: dict(zip(document["columns"], row)) for row in document["rows"]}, document

    def test_what_is_missing_is_simulated_once(self):
        failed, rows, document = self.update("1p", ("baseline", 0), ("arc-hw", 0), ("baseline", 10_000))
        self.assertEqual((failed, set(rows)), (0, {"baseline", "arc-hw"}))
        self.assertEqual((rows["baseline"]["sums_match"], rows["baseline"]["conserved"]), (1, 1))
        self.assertGreater(rows["baseline"]["cycles"], 1000)
        busy = document["timelines"][0]["busy"]
        self.assertEqual(set(busy), set(points.TIMELINE_KINDS))
        self.assertTrue(all(0 <= share <= 100 for shares in busy.values() for share in shares))
        # The same behaviour: what is there stays; the rest is not simulated when nobody asks.
        failed, rows, _ = self.update("1p", ("baseline", 0), ("arc-hw", 0), ("lab", 0), simulate=False)
        self.assertEqual((failed, set(rows)), (1, {"baseline", "arc-hw"}))
        self.assertEqual(store.read("simulations", self.folder / "numbers")["missing"], 1)
        # Another: nothing of it holds.
        failed, rows, _ = self.update("2q", ("baseline", 0), simulate=False)
        self.assertEqual((failed, rows), (1, {}))
        # One of the units alone: policies without one stay.
        self.update("1p", ("baseline", 0), ("arc-hw", 0), simulate=False)
        failed, rows, _ = self.update("3p", ("baseline", 0), ("arc-hw", 0), simulate=False)
        self.assertEqual((failed, set(rows)), (1, {"baseline"}))
        # And back: finished points are still in the cache.
        failed, rows, _ = self.update("1p", ("baseline", 0), ("arc-hw", 0), simulate=False)
        self.assertEqual((failed, set(rows)), (0, {"baseline", "arc-hw"}))

    def test_all_points_are_known(self):
        facts = points.trace_facts(WARPFOLD)
        wanted = points.planned(facts, WARPFOLD, family.Clocks(store.read("asap7")))
        self.assertGreater(len(wanted), 1000)
        self.assertEqual(len({json.dumps(key) for key in wanted}), len(wanted))


class GpuKernels(unittest.TestCase):
    FORMS = {"rows": [["a", "tight", "tile_warp", policy, ms] for policy, ms in
                      (("none", 0.1), ("ncu", 0.2), ("beside", 0.25), ("sw-b:8", 0.5), ("skip", 0.4), ("sw-s:8", 0.3))]}
    TRAINING = {"rows": [["lego", "tight", "baseline", 20.0, 12.0, 30.0, 9], ["lego", "box", "baseline", 24.0, 13.0, 29.0, 9],
                         ["lego", "tight", "halved", 9.0, 2.0, 30.05, 9], ["lego", "box", "skip", 9.0, 2.0, 28.8, 9]]}

    def test_the_best_policy_adds_and_was_timed_the_same_way(self):
        which = self.FORMS, "a", "tight", "tile_warp"
        self.assertEqual(gpu_kernels.best(*which, ("",)), 0.3)
        self.assertEqual(gpu_kernels.best(*which, ("sw-b:",)), 0.5)
        self.assertEqual(gpu_kernels.best(*which, ("none",)), 0.1)
        self.assertEqual(gpu_kernels.form_value(self.FORMS, ["a", "tight", "tile_warp", "ncu"]), "0.200")

    def test_a_scene_that_was_not_timed_has_a_dash(self):
        rows = [[scene, tiles, kernel, policies[0] or "skip", 0.5] for scene in "ab"
                for _, tiles, kernel, policies in gpu_kernels.FORM_ROWS if (scene, kernel) != ("b", "block_reduced")]
        document = {"rows": [*rows, [gpu_kernels.NO_SCENE, "none", "camera_pose", "skip", 0.1]]}
        head, table = gpu_kernels.form_rows(document)
        self.assertEqual(head[1:], ["a", "b", "geometric mean"])
        with_dashes = [row for row in table if "-" in row]
        self.assertEqual([row[1:] for row in with_dashes], [["0.500", "-", "-"]])
        self.assertEqual(gpu_kernels.form_value(document, [gpu_kernels.NO_SCENE, "none", "camera_pose", "skip"]), "0.100")
        with self.assertRaises(KeyError):
            gpu_kernels.form_value(document, ["b", "tight", "block_reduced", "baseline"])

    def test_trainings_are_compared_on_the_same_list(self):
        self.assertEqual(gpu_kernels.training_value(self.TRAINING, ["psnr-spread"]), "0.20")
        self.assertEqual(gpu_kernels.training_value(self.TRAINING, ["lego", "tight", "halved", "psnr"]), "30.05")
        head, rows = gpu_kernels.training_rows(self.TRAINING)
        self.assertEqual([len(row) for row in rows], [len(head)] * len(gpu_kernels.TRAINED))
        self.assertEqual(rows[0][:5], ["plain REDs", "24.0 (13.0)", "29.00", "-", "-"])


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    WARPFOLD = os.path.abspath(sys.argv.pop(1))
    unittest.main()
