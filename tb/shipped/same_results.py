#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs all policies on a trace with both units, the golden one twice, with one host thread and with more, and
compares the results.

They must be equal but for the unit's name and the wall time; sums must match everywhere.
"""
import json
import subprocess
import sys
import tempfile


def simulate(warpfold, trace, unit, jobs, threads, path):
    subprocess.run([warpfold, "sim", trace, "--gpu", "rtx4090,rtx3060,h200", "--policy", "all",
                    "--unit", unit, "--jobs", str(jobs), "--threads", str(threads), "--json", path],
                   check=True, stdout=subprocess.DEVNULL)
    with open(path, encoding="utf-8") as file:
        results = json.load(file)
    assert results["schema"] == "warpfold.sim/1", results["schema"]
    for run in results["runs"]:
        assert run["unit"] == unit, run["unit"]
        assert run["sums_match"] and run["conserved"], (run["gpu"], run["policy"])
        for key in ("unit", "wall_seconds"):
            del run[key]
    return results


def main():
    warpfold, trace = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        golden = simulate(warpfold, trace, "golden", 2, 1, folder + "/a.json")
        again = simulate(warpfold, trace, "golden", 1, 2, folder + "/b.json")
        rtl = simulate(warpfold, trace, "rtl", 1, 3, folder + "/c.json")
    assert len(golden["runs"]) == 27, len(golden["runs"])
    assert golden == again, "a second run differs"
    assert golden == rtl, "golden and RTL unit differ"


if __name__ == "__main__":
    main()
