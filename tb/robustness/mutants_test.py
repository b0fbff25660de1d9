#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Mutants of files that the Python programs read: one line and exit code 2, or done, never a traceback. In this
process, thousands each. WARPFOLD_MUTANTS: how many of each; WARPFOLD_SEED: of them."""

import contextlib
import io
import json
import os
import random
import re
import sys
import unittest
from unittest import mock

from tb.robustness.command import COMMAND, ROOT, CommandTest
from warpfold import rows as results
from warpfold.tools import commands
from warpfold.tools.base import files, guard
from warpfold.tools.sweep import plan

MUTANTS = int(os.environ.get("WARPFOLD_MUTANTS", "1500"))
SEED = os.environ.get("WARPFOLD_SEED", "1")


LIBRARY = """library (l) {
  time_unit : "1ns"; capacitive_load_unit (1, pf);
  lu_table_template (t) { variable_1 : input_net_transition; index_1 ("0.1, 0.2"); }
  cell (INV) { area : 32.5; pin (A) { direction : input; capacitance : 0.1; }
    pin (Y) { direction : output; function : "!A";
      timing () { related_pin : "A"; cell_rise (t) { values ("0.1, 0.2"); } } } }
  cell (DFF) { area : 96; ff (IQ, IQN) { next_state : "D"; clocked_on : "CLK"; } pin (D) { direction : input; }
    pin (CLK) { direction : input; clock : true; } pin (Q) { direction : output; function : "IQ"; } }
}
"""
SWEEP = """sweeps:
- {traces: [truck, 'truck*'], machines: [rtx4090, h200], policies: [baseline, 'sw-b:1..9..4'], set: {l2.ways: [8, 16]}}
- traces: [bob]
  machines: [h100]
  policies: [lab]
  unit: golden
  timeline: 1000
memory_mb: 100
"""
WORDS = ["null", "true", "-1", "1e999", "NaN", "[]", "{}", '""', "{", "}", "[", "]", '"', ":", ",", "0x10", "010", "&a",
         "*a", "<<: *a", "!!python/object:os.system", "\x00", "\ud7ff", "\n", "  ", "18446744073709551616", "inf", "\\",
         "/*", "*/", "values", "index_1", "sw-b:0..99", "../", "schema"]


def mutant(text, source):
    """The text with a few changes."""
    for _ in range(1 + source.randrange(4)):
        at = source.randrange(len(text) + 1)
        length = source.choice([1, 1, 2, 5, 20, 200])
        kind = source.randrange(6)
        if kind == 0:
            text = text[:at] + text[at + length:]
        elif kind == 1:
            text = text[:at] + source.choice(WORDS) + text[at:]
        elif kind == 2:
            text = text[:at] + source.choice(WORDS) + text[at + length:]
        elif kind == 3:
            text = text[:at] + text[at:at + length] * source.choice([2, 3, 50]) + text[at + length:]
        elif kind == 4:
            text = text[:at] + chr(source.choice([0, 9, 34, 39, 58, 91, 123, 255, 8232])) + text[at + 1:]
        else:
            # A value becomes another, so that the rest is read.
            values = list(re.finditer(r'"[^"]*"|-?[0-9][0-9.e+-]*', text))
            if values:
                value = source.choice(values)
                text = text[:value.start()] + source.choice(WORDS[:10]) + text[value.end():]
    return text


class Mutants(CommandTest):
    def read_all(self, name, text, program, one_line=True):
        """`program(path)` reads it; it ends as guard.end() has it."""
        source = random.Random(f"{SEED} {name}")
        path = self.folder / name
        codes = {}
        for number in range(MUTANTS):
            changed = text if number == 0 else mutant(text, source)
            path.write_bytes(changed.encode("utf-8", "surrogatepass"))
            said = io.StringIO()
            try:
                with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(said):
                    guard.end("a program", lambda: program(path) or 0)
            except SystemExit as end:
                code = end.code
            except BaseException as error:
                raise AssertionError(f"mutant {number} of {name}: {changed!r}") from error
            self.assertIn(code, (0, 1, 2), f"mutant {number}: {changed!r}")
            if code == 2 and one_line:
                self.assertRegex(said.getvalue(), r"\A[^\n]+\n\Z", f"mutant {number}: {changed!r}")
            codes[code] = codes.get(code, 0) + 1
        self.assertEqual(codes.keys() - {1}, {0, 2}, f"{name} is read or refused whatever changes: {codes}")

    def tool(self, name, *words):
        return lambda path: commands.call(name, [*map(str, words), str(path)])

    def test_liberty(self):
        self.read_all("l.lib", LIBRARY, self.tool("liberty", "-o", self.folder / "out.lib"))

    def test_sweep(self):
        simulator = plan.Simulator(COMMAND)

        def expand(path):
            plan.expand(plan.load(path), self.folder, simulator)
        with mock.patch.object(plan, "MAX_POINTS", 2000):
            self.read_all("s.yaml", SWEEP, expand)

    def test_results(self):
        text = (ROOT / "tb/fuzz/seeds/report/results.json").read_text(encoding="utf-8")

        def read(path):
            results.columns(results.results(path))
        self.read_all("r.json", text, read)

    def test_energies(self):
        """Both files of energy_fit.py, which has a line for each launch that is in one of them alone."""
        runs = [{"trace": f"t{n}.wft", "policy": "skip", "rop_ops": 1e6 * n, "noc_bytes": 4e7 * (1 + n),
                 "activity": {"instructions": 1e8 + 1e6 * n * n, "shuffles": 2e5 * n + 5,
                              "shuffles_of_zeros": 5, "l2_misses": 6e3, "l2_evictions": 4e3},
                 "config": {"l2": {"line_bytes": 128}, "energy": {"noc_byte_pj": 8.0, "dram_byte_pj": 32.0}}}
                for n in range(6)]
        scenes = [{"scene": f"t{n}", "energy": [{"policy": "skip", "kernel_ms": 1.0 + n,
                                                 "joules_per_launch_above_idle": 0.1 + 0.01 * n}]} for n in range(6)]
        files = {"sim.json": json.dumps({"runs": runs}), "measured.json": json.dumps({"scenes": scenes})}
        for name, text in files.items():
            for other, whole in files.items():
                (self.folder / other).write_text(whole, encoding="utf-8")
            fit = self.tool("fit-energy", "--measured", self.folder / "measured.json")
            self.read_all(name, text, lambda path: fit(self.folder / "sim.json"), one_line=False)

    def test_microbenchmarks(self):
        text = """{"schema": "warpfold.microbench/1", "gpu": {"name": "NVIDIA H200", "sms": 132}, "results": [
  {"group": "red", "name": "red/same/lanes=1/warps=32/sm", "unit": "SM cycles/RED of an SM", "median": 2.0782}]}"""

        self.read_all("m.json", text, lambda path: files.read_json(path, "warpfold.microbench/1") and 0)


if __name__ == "__main__":
    unittest.main()
