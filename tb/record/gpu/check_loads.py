#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds recorded loads and stores against what a program knows of its own.

usage: check_loads.py EXPECTED TRACE...

EXPECTED is the file that loads.cu writes: a line for each instruction. A trace is known by its kernel, and has that instruction
and no other load or store. Needs warpfold in PATH and whole launches.
Exit code 0: executions, lanes and sectors are as expected. 1: some are not. 2: bad usage.
"""

import json
import subprocess
import sys
from pathlib import Path


def recorded(path):
    """Of a trace: kind, bytes, cache, executions, lanes, sectors of each instruction."""
    done = subprocess.run(["warpfold", "trace", "info", "--json", path], capture_output=True, text=True, check=True)
    info = json.loads(done.stdout)["traces"][0]
    return [(site["kind"], site["bytes"], site["cache"], found["accesses"], found["active_lanes"], found["sectors"])
            for site, found in zip(info["header"]["memory"], info["stats"]["memory"])]


def main(arguments):
    if len(arguments) < 2 or arguments[0].startswith("-"):
        print(__doc__.strip(), file=sys.stderr)
        return 2
    traces = {Path(path).stem: path for path in arguments[1:]}
    wrong = 0
    for line in Path(arguments[0]).read_text(encoding="utf-8").splitlines():
        kernel, kind, width, cache, *counts = line.split()
        wanted = [(kind, int(width), cache, *map(int, counts))]
        found = recorded(traces[kernel]) if kernel in traces else None
        wrong += found != wanted
        print(f"{kernel}: {'as expected' if found == wanted else f'{found}, expected {wanted}'}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
