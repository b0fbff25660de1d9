#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""warpfold.simulate, sample and record against what the command writes, and the example notebook, cell by cell."""

import contextlib
import io
import json
import os
import sys
import unittest
from pathlib import Path
from unittest import mock

import warpfold
from programs import ROOT, TRACES, WARPFOLD, Case, main, run

TRACE = TRACES / "lego-ballot-values.wft"
# Writes a trace as `warpfold record` does, of a program that it does not run.
FAKE = """#!/bin/sh
while [ "$1" != -- ]; do [ "$1" = --out ] && out=$2; shift; done
[ "$2" = bad ] && { echo "warpfold: bad: no such program" >&2; exit 2; }
cp "$TRACE" "$out/new.wft"
"""


class Simulate(Case):
    def setUp(self):
        environment = mock.patch.dict(os.environ, {"WARPFOLD": str(WARPFOLD)})
        environment.start()
        self.addCleanup(environment.stop)

    def test_runs_are_those_of_the_command(self):
        file = self.folder / "run.json"
        run(WARPFOLD, "sim", TRACE, "--gpu", "rtx3060,h200", "--policy", "baseline,arc-hw", "--unit", "golden", "--unit-kind",
            "fused", "--set", "lab.bytes=4096", "--json", file)
        runs = warpfold.simulate(TRACE, ["rtx3060", "h200"], ["baseline", "arc-hw"], {"lab.bytes": 4096}, unit_kind="fused")
        wanted = warpfold.results(file)
        self.assertEqual([(one.gpu, one.policy, one.threshold, one.unit_kind, one.cycles, one.speedup, one.checked) for one in runs],
                         [(row["gpu"], row["policy"], None, row["unit_kind"], row["cycles"], row["speedup"], True) for row in wanted])
        self.assertEqual(runs[3]["config.lab.bytes"], 4096)
        self.assertEqual(runs[3]["utilization.rop"], wanted[3]["utilization.rop"])
        self.assertEqual([one.gpu for one in runs.of("arc-hw")], ["rtx3060", "h200"])
        self.assertEqual(runs.columns()["cycles"].tolist(), [row["cycles"] for row in wanted])

    def test_what_goes_wrong_is_one_line(self):
        self.refused("unknown policy 'lap'", warpfold.simulate, TRACE, policies="lap")
        self.refused(r"lab.bites=3: unknown key \(did you mean lab.bytes\?\)", warpfold.simulate, TRACE, set={"lab.bites": 3})
        self.refused("none.wft: cannot open", warpfold.simulate, "none.wft")
        with mock.patch.dict(os.environ, {"WARPFOLD": "/nowhere"}):
            self.refused("/nowhere: No such file or directory", warpfold.simulate, TRACE)

    def test_record_gives_the_traces_that_are_new(self):
        (self.folder / "recorded").mkdir()
        (self.folder / "recorded/old.wft").write_bytes(TRACE.read_bytes())
        fake = self.folder / "fake"
        fake.write_text(FAKE, encoding="utf-8")
        fake.chmod(0o755)
        with mock.patch.dict(os.environ, {"WARPFOLD": str(fake), "TRACE": str(TRACE)}):
            traces = warpfold.record(["program", "x"], self.folder / "recorded", kernel="add")
            self.assertEqual([Path(trace.path).name for trace in traces], ["new.wft"])
            self.refused("bad: no such program", warpfold.record, ["bad"], self.folder / "recorded")


class Notebook(Case):
    """The cells one after the other, as Jupyter runs them, in a folder that looks like the repository's."""

    def test_threshold(self):
        try:
            import matplotlib
        except ImportError:
            self.skipTest("no matplotlib")
        matplotlib.use("Agg")
        here = self.folder / "examples/python"
        here.mkdir(parents=True)
        (self.folder / "traces").symlink_to(ROOT / "traces")
        notebook = json.loads((ROOT / "examples/python/threshold.ipynb").read_text(encoding="utf-8"))
        cells = ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"]
        self.assertLessEqual(len([line for line in cells[0].splitlines() if line]), 10)
        names, out = {}, io.StringIO()
        with mock.patch.dict(os.environ, {"WARPFOLD": str(WARPFOLD)}), contextlib.chdir(here), contextlib.redirect_stdout(out):
            for cell in cells:
                exec(compile(cell, "threshold.ipynb", "exec"), names)
        self.assertEqual([one.threshold for one in names["curve"]], [0, 8, 16, 24, 32])
        self.assertGreater(max(one.speedup for one in names["curve"]), 2)
        self.assertGreater((here / "threshold.png").stat().st_size, 5000)
        self.assertRegex(out.getvalue(), r"baseline +[0-9.]+%\nsw-b +0 ")
        self.assertRegex(repr(names["small"]), r"baseline +rtx4090 +[0-9,]+ +1\.00\n?")


if __name__ == "__main__":
    main()
