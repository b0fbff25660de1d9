#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""warpfold.results and warpfold.columns on a results file of the simulator, and on files made by hand."""

import json

import numpy as np
import warpfold
from programs import TRACES, WARPFOLD, Case, main, run


class Results(Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.file = cls.folder / "run.json"
        run(WARPFOLD, "sim", TRACES / "lego-ballot-values.wft", "--policy", "baseline,arc-hw", "--gpu", "rtx3060,h200",
            "--unit", "golden", "--json", cls.file)
        cls.runs = json.loads(cls.file.read_text())["runs"]

    def write(self, content):
        path = self.folder / "made.json"
        path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
        return path

    def test_rows(self):
        rows = warpfold.results(self.file)
        self.assertEqual([(row["gpu"], row["policy"]) for row in rows],
                         [("rtx3060", "baseline"), ("rtx3060", "arc-hw"), ("h200", "baseline"), ("h200", "arc-hw")])
        for row, whole in zip(rows, self.runs):
            self.assertEqual(row["file"], str(self.file))
            self.assertEqual(row["cycles"], whole["cycles"])
            self.assertEqual(row["stalls.subcore_cycles.memory_queue"], whole["stalls"]["subcore_cycles"]["memory_queue"])
            self.assertEqual(row["config.sm.clock_ghz"], whole["config"]["sm"]["clock_ghz"])
            self.assertFalse([key for key, value in row.items() if isinstance(value, dict)])

    def test_several_files(self):
        other = self.write({"schema": "warpfold.sim/1", "runs": [{"cycles": 7}]})
        rows = warpfold.results([self.file, str(other)])
        self.assertEqual([row["cycles"] for row in rows], [run["cycles"] for run in self.runs] + [7])
        self.assertEqual(rows[-1], {"file": str(other), "cycles": 7})

    def test_columns(self):
        table = warpfold.columns(warpfold.results(self.file))
        self.assertEqual({len(column) for column in table.values()}, {4})
        self.assertEqual((table["cycles"].dtype, table["speedup"].dtype, table["sums_match"].dtype, table["policy"].dtype),
                         (np.int64, np.float64, np.bool_, object))
        self.assertEqual(table["speedup"].tolist(), [run["speedup"] for run in self.runs])
        self.assertEqual(table["gpu"][table["policy"] == "arc-hw"].tolist(), ["rtx3060", "h200"])

    def test_columns_with_gaps(self):
        table = warpfold.columns([{"a": 1, "b": None, "c": 1, "d": "x", "e": [1, 2]}, {"a": 2, "b": 2.5, "c": None}])
        self.assertEqual(table["a"].dtype, np.int64)
        np.testing.assert_array_equal(table["b"], [np.nan, 2.5])
        np.testing.assert_array_equal(table["c"], [1, np.nan])
        self.assertEqual((table["d"].tolist(), table["e"].tolist()), (["x", None], [[1, 2], None]))
        self.assertEqual(warpfold.columns([]), {})

    def test_wrong_files(self):
        self.refused("nowhere.json: cannot be read: No such file", warpfold.results, self.folder / "nowhere.json")
        self.refused("made.json: no results file: Expecting value", warpfold.results, self.write("runs"))
        self.refused("schema is 'other/1'", warpfold.results, self.write({"schema": "other/1", "runs": []}))
        self.refused("schema is None", warpfold.results, self.write([]))
        self.refused("no list of runs", warpfold.results, self.write({"schema": "warpfold.sim/1", "runs": [1]}))
        self.refused("made.wft: no results file", warpfold.results, self.made)


if __name__ == "__main__":
    main()
