#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Stands for the Python package in session_test.cpp, and of it for kernel-code: kernels "adds" and "adds_too" with one
addition, and "passes" without. Counts of ncu that have the word "first" do not go together with any ways."""

import json
import os
import sys

FIELDS = ("alu", "integer", "sfu", "shared", "shared_wide", "global_load", "shuffle", "shuffle_index", "match", "redux",
          "stall_cycles", "branches")


def instruction(number, adds):
    atomic = {"kind": "red", "type": "f32", "words": 1, "adds_floats": True, "name": "REDG.E.ADD.F32"}
    access = {"kind": "load", "bytes": 4, "cache": "nc", "name": "LDG.E.CONSTANT"}
    return {"offset": 16 * number, "text": "", "block": 0, "marker": None, "predicated": False,
            "atomic": atomic if adds and number == 5 else None, "access": access if adds and number == 4 else None}


def main():
    assert sys.argv.pop(1) == "kernel-code"
    command = sys.argv[1]
    assert os.path.basename(sys.argv[sys.argv.index("--cache") + 1]) == "listings"
    function = sys.argv[sys.argv.index("--function") + 1]
    with open(sys.argv[sys.argv.index("--cubin") + 1], encoding="ascii") as file:
        assert file.read() == "cubin"
    if command == "describe":
        json.dump({"arch": "sm_90", "instructions": [instruction(n, function.startswith("adds")) for n in range(10)]}, sys.stdout)
        return 0
    if "--ncu" in sys.argv:
        with open(sys.argv[sys.argv.index("--ncu") + 1], encoding="ascii") as file:
            if "first" in file.read():
                print("kernel-code: the counts do not go together with the ways", file=sys.stderr)
                return 2
    data = json.load(sys.stdin)
    launch = data["launch"]
    assert launch["block"] == [32, 1, 1] and launch["parameters"] == "2a000000" and data["warps"] <= launch["grid"][0]
    ways = data["ways"]
    # As many instructions as there are between the markers, and by counts one more.
    more = "--ncu" in sys.argv
    costs = [{**dict.fromkeys(FIELDS, 0), "alu": max((w[-1] - w[0]) // 16, 2) + more, "stall_cycles": 9, "waits": []}
             for w in ways]
    parts = [[{"loads": [], "cost": None}, {"loads": [64], "cost": c}] for c in costs] if data.get("apart") else None
    json.dump({"costs": costs, "parts": parts}, sys.stdout)
    return 0


if __name__ == "__main__":
    sys.exit(main())
