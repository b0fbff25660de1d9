# SPDX-License-Identifier: Apache-2.0
"""Draws the figures of ARC's evaluation beside the paper's numbers: `warpfold figures`. README.md of this folder
describes them."""

import argparse
from pathlib import Path

from ..base.errors import BadInput
from ..base.parser import Parser
from ..base.places import sources


def options(parser: Parser) -> None:
    parser.add_argument("--output", metavar="DIR", type=Path, default="results/figures", help="Folder of the figures")
    parser.add_argument("--numbers", metavar="DIR", type=Path, help="Other simulations than those that are shipped")
    parser.add_argument("--only", metavar="NAME,...", help="Some alone: fig07, fig08, fig18 to fig28, utilization")
    parser.footer(
        "Example: speedups on the RTX 4090, and by balancing threshold\n"
        "  warpfold figures --only fig19,fig23\n\n"
        "Exit code: 0 done, 2 bad usage or bad input."
    )


def run(arguments: argparse.Namespace) -> int:
    from ..results.store import Missing  # what these import wants matplotlib and PyYAML
    from ..results.values import Numbers
    from .figures import draw_chosen

    names = arguments.only.split(",") if arguments.only else []
    try:
        draw_chosen(Numbers(arguments.numbers or sources() / "docs/numbers"), arguments.output.resolve(), names)
    except Missing as error:
        raise BadInput(f"no result of {error}; run warpfold results in a checkout") from error
    return 0
