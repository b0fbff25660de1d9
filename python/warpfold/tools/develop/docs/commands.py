# SPDX-License-Identifier: Apache-2.0
"""Writes docs/commands.md from the help of the commands (`warpfold pages`), or with --check says where it differs."""

import argparse
import difflib
import tempfile
from pathlib import Path

from ...base.files import read_text, write
from ...base.parser import Parser
from ...base.places import warpfold
from ...base.processes import output
from .page import ROOT

PAGE = "docs/commands.md"


def options(parser: Parser) -> None:
    parser.add_argument("--check", action="store_true", help="Change nothing; exit code 1 if the page differs")
    parser.add_argument("--warpfold", metavar="FILE", type=Path, help="The program; else that of the build")


def run(arguments: argparse.Namespace) -> int:
    page = ROOT / PAGE
    with tempfile.TemporaryDirectory() as folder:
        output([arguments.warpfold or warpfold(), "pages", folder])
        new = read_text(Path(folder) / page.name)
    old = read_text(page) if page.exists() else ""
    if old == new:
        print(f"{PAGE}: as the help says")
        return 0
    if arguments.check:
        print("\n".join(difflib.unified_diff(old.splitlines(), new.splitlines(), PAGE, "the help", lineterm="", n=0)))
        print(f"{PAGE} differs from the help of the commands: python3 python docs-commands")
        return 1
    write(page, new)
    print(f"{PAGE}: written")
    return 0
