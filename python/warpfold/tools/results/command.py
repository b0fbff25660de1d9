# SPDX-License-Identifier: Apache-2.0
"""Makes the numbers, tables and pictures of the documents: `warpfold results`. README.md of this folder describes the
files."""

import argparse
import os
from pathlib import Path

from ..base.errors import BadInput
from ..base.parser import Parser
from ..base.places import checkout, sources


def options(parser: Parser) -> None:
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--render", action="store_true", help="Fill the pages and draw the pictures, compute nothing")
    what.add_argument("--check", action="store_true", help="Say what differs; changes nothing")
    what.add_argument("--probe", action="store_true", help="Say whether the numbers are stale; changes nothing")
    what.add_argument("--keys", action="store_true", help="Print the keys that pages use, with their values")
    what.add_argument(
        "--verified",
        metavar="DIR",
        type=Path,
        help="Bring in what checks printed, CHECK.log (docs/verification.md), and render",
    )
    what.add_argument("--seal", metavar="NAME", help="Accept docs/numbers/NAME.json, measured elsewhere, as it stands")
    parser.add_argument("--cores", type=int, metavar="N", help="Simulations at once; else all cores")
    parser.add_argument(
        "--root", metavar="DIR", type=Path, help="With --render and --check: another folder with pages and docs/numbers"
    )
    parser.add_argument("--speed", action="store_true", help="Also measure the speed of the simulator again")
    parser.add_argument("--layout", action="store_true", help="Also lay out the reduction units again")
    parser.footer(
        "Without an option: probe, simulate and synthesize what is missing, render. What was stopped goes on where it "
        "was.\n\n"
        "Example: what the pages say of ARC-HW\n"
        "  warpfold results --keys\n\n"
        "Exit code: 0 done, 1 something differs or is missing, 2 bad usage or bad input."
    )


def run(arguments: argparse.Namespace) -> int:
    checkout()
    from . import results  # which wants matplotlib and PyYAML
    from .store import Missing

    cores: int = (os.cpu_count() or 1) if arguments.cores is None else arguments.cores
    if cores < 1:
        raise BadInput(f"--cores must be at least 1, not {cores}")
    root = arguments.root or sources()
    try:
        if arguments.render:
            return results.render(root)
        if arguments.check:
            return results.check(root)
        if arguments.probe:
            return results.probe(cores)
        if arguments.keys:
            return results.keys()
        if arguments.verified:
            return results.verified(arguments.verified)
        if arguments.seal:
            return results.seal(arguments.seal)
        return results.make_all(arguments)
    except Missing as error:
        raise BadInput(f"no {error}; {results.ADVICE}") from error
