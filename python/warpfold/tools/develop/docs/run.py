# SPDX-License-Identifier: Apache-2.0
"""Runs the commands of the pages and compares what they print with what the page shows."""

import argparse
import difflib
import os
import re
import signal
import sys
import time
from contextlib import ExitStack
from pathlib import Path

from ...base.errors import BadInput
from ...base.parser import Parser
from ...base.places import warpfold
from .form import HISTORY
from .page import ROOT, Block, Command, Page, page_paths
from .refresh import refreshed
from .scratch import Scratch
from .usage import Usage


RULES = """\
A command stands in a fenced block of the language console, "$ " in front, its output below it. In the output a
line `...` stands for any lines, and `[...]` within a line for any text. A comment on the line before the fence
says what becomes of the block:
    <!-- test: output -->    run and compare (without a comment, too)
    <!-- test: run -->       run, the output is not compared
    <!-- test: exit 2 -->    the last command ends with this code; else with 0
    <!-- test: nightly -->   takes minutes: only with --nightly
    <!-- test: gpu -->       needs a GPU: only with --gpu
    <!-- test: changed -->   needs a simulator with the diffs of the page in it: only with --changed
    <!-- file: F -->         the block is the file F, which the commands after it can read
Blocks of a page run in order, in one scratch folder that looks like the top of the repository. Each command is
a shell's own: variables and folders do not last. What is not run is looked at: the command and its options exist.
"""
DIFFERS = "\n  differs:\n"
TIMEOUT = {"day": 300, "night": 4 * 3600}


def clean(text: str) -> list[str]:
    """Output as lines: no colours, no blanks at the ends, no empty lines at the end."""
    lines = [line.rstrip() for line in re.sub(r"\x1b\[[0-9;]*m", "", text).splitlines()]
    while lines and not lines[-1]:
        lines.pop()
    return lines


def matches(pattern: list[str], lines: list[str]) -> bool:
    parts = []
    for line in clean("\n".join(pattern)):
        if line == "...":
            parts.append(r"(?:.*\n)*?")
        else:
            parts.append(r"[^\n]*?".join(re.escape(part) for part in line.split("[...]")) + r"\n")
    return re.fullmatch("".join(parts), "".join(line + "\n" for line in lines)) is not None


def difference(command: Command, lines: list[str]) -> str:
    return "\n".join(
        difflib.unified_diff(clean("\n".join(command.output)), lines, "the page", "the command", lineterm="")
    )


class Runner:
    def __init__(self, args: argparse.Namespace) -> None:
        self.args = args
        self.usage = Usage(ROOT, args.warpfold)

    def is_run(self, block: Block) -> bool:
        if block.is_for("gpu"):
            return bool(self.args.gpu)
        if block.is_for("changed") and not self.args.changed:
            return False
        return not block.is_for("nightly") or bool(self.args.nightly)

    def page(self, page: Page) -> list[str]:
        """Complaints about one page; with --update its file is written anew where an output differs."""
        # What pages of history name was there at its time.
        named = [] if page.name in HISTORY else page.inline_code()
        complaints = [f"line {number}: {fault}" for number, code in named for fault in self.usage.faults(code)]
        changes: list[tuple[Command, list[str]]] = []
        runs = any(block.language == "console" and self.is_run(block) for block in page.blocks)
        with ExitStack() as stack:
            scratch = stack.enter_context(Scratch(ROOT, self.args.build)) if runs else None
            for block in page.blocks:
                if "file" in block.marks and scratch is not None:
                    scratch.write(block.marks["file"], "\n".join(block.lines) + "\n")
                elif "file" not in block.marks and block.language == "console":
                    complaints += self.block(block, scratch, changes)
        if changes and self.args.update:
            for command, lines in reversed(changes):
                page.lines[command.first : command.last] = refreshed(clean("\n".join(command.output)), lines, matches)
            page.path.write_text("\n".join(page.lines) + "\n", encoding="utf-8")
            complaints = [complaint for complaint in complaints if DIFFERS not in complaint]
            print(f"{page.name}: {len(changes)} outputs brought up to date")
        return complaints

    def block(self, block: Block, scratch: Scratch | None, changes: list[tuple[Command, list[str]]]) -> list[str]:
        complaints: list[str] = []
        commands = block.commands()
        for command in commands:
            where = f"line {command.first}: $ {command.text}"
            # What ends with an error may be an example of bad usage.
            faults = self.usage.faults(command.text) if block.exit_code == 0 else []
            complaints += [f"{where}\n  {fault}" for fault in faults]
            if scratch is None or not self.is_run(block):
                continue
            started = time.monotonic()
            expected = block.exit_code if command is commands[-1] else 0
            timeout = self.args.timeout or TIMEOUT["night" if block.is_for("nightly") or block.is_for("gpu") else "day"]
            program = self.args.changed if block.is_for("changed") else self.args.warpfold
            code, text = scratch.run(command.text, timeout, program)
            lines = clean(text)
            if self.args.verbose:
                print(f"  {time.monotonic() - started:6.1f} s  $ {command.text.splitlines()[0]}", flush=True)
            if code != expected:
                complaints.append(f"{where}\n  exit code {code}, not {expected}\n  " + "\n  ".join(lines[-20:]))
            elif not block.is_for("run") and not matches(command.output, lines):
                complaints.append(f"{where}{DIFFERS}{difference(command, lines)}")
                changes.append((command, lines))
        return complaints


def options(parser: Parser) -> None:
    parser.add_argument("pages", nargs="*", metavar="PAGE", type=Path, help="Pages; else all of the repository")
    parser.add_argument(
        "--update",
        action="store_true",
        help="Write what the commands print into the pages; what they leave out stays left out",
    )
    parser.add_argument("--nightly", action="store_true", help="Also run blocks that take minutes")
    parser.add_argument("--gpu", action="store_true", help="Also run blocks that need a GPU")
    parser.add_argument("--verbose", action="store_true", help="Print each command with its time")
    parser.add_argument("--timeout", type=float, metavar="S", help="Seconds for a command; else 300, at night 4 hours")
    parser.add_argument("--warpfold", type=Path, metavar="FILE", help="The program; else that of the build")
    parser.add_argument(
        "--changed",
        type=Path,
        metavar="FILE",
        help="The program with the diffs of the page in it; also run blocks that need it",
    )
    parser.add_argument(
        "--build", type=Path, metavar="DIR", help="Build folder that the commands see; else build/release"
    )
    parser.footer(
        f"{RULES}\nExit code: 0 as the pages say, 1 something differs, 2 bad usage, or a page that breaks the rules."
    )


def program(path: Path, option: str) -> Path:
    if not os.access(path, os.X_OK):
        raise BadInput(f"no program {path}: build it, or name one with {option}")
    return path.resolve()


def run(arguments: argparse.Namespace) -> int:
    arguments.warpfold = program(arguments.warpfold or warpfold(), "--warpfold")
    arguments.changed = arguments.changed and program(arguments.changed, "--changed")
    arguments.build = arguments.build or ROOT / "build/release"
    # A test that is stopped leaves neither its folder nor what it started.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    runner, failed = Runner(arguments), 0
    for path in arguments.pages or page_paths():
        try:
            page = Page(path)
            complaints = runner.page(page)
        except (BadInput, ValueError) as error:
            raise BadInput(f"{path}: {error}") from error
        for complaint in complaints:
            print(f"{page.name}: {complaint}")
        failed += bool(complaints)
        if not complaints:
            print(f"{page.name}: ok", flush=True)
    return 1 if failed else 0
