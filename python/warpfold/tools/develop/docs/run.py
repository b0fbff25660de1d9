# SPDX-License-Identifier: Apache-2.0
"""Runs the commands of the pages and compares what they print with what the page shows.

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

Exit code 0: as the pages say. 1: something differs. 2: bad usage, or a page that breaks these rules.
"""

import argparse
import difflib
import os
import re
import signal
import sys
import time
from contextlib import nullcontext
from pathlib import Path

from .page import ROOT, BadPage, Page, page_paths
from .refresh import refreshed
from .scratch import Scratch
from .usage import Usage


DIFFERS = "\n  differs:\n"
TIMEOUT = {"day": 300, "night": 4 * 3600}


def clean(text):
    """Output as lines: no colours, no blanks at the ends, no empty lines at the end."""
    lines = [line.rstrip() for line in re.sub(r"\x1b\[[0-9;]*m", "", text).splitlines()]
    while lines and not lines[-1]:
        lines.pop()
    return lines


def matches(pattern, lines):
    pattern = clean("\n".join(pattern))
    parts = []
    for line in pattern:
        if line == "...":
            parts.append(r"(?:.*\n)*?")
        else:
            parts.append(r"[^\n]*?".join(re.escape(part) for part in line.split("[...]")) + r"\n")
    return re.fullmatch("".join(parts), "".join(line + "\n" for line in lines)) is not None


def difference(command, lines):
    return "\n".join(
        difflib.unified_diff(clean("\n".join(command.output)), lines, "the page", "the command", lineterm="")
    )


class Runner:
    def __init__(self, args):
        self.args = args
        self.usage = Usage(ROOT, args.warpfold)

    def is_run(self, block):
        if block.is_for("gpu"):
            return self.args.gpu
        if block.is_for("changed") and not self.args.changed:
            return False
        return not block.is_for("nightly") or self.args.nightly

    def page(self, page):
        """Complaints about one page; with --update its file is written anew where an output differs."""
        complaints = [
            f"line {number}: {fault}" for number, code in page.inline_code() for fault in self.usage.faults(code)
        ]
        changes = []
        runs = any(block.language == "console" and self.is_run(block) for block in page.blocks)
        with Scratch(ROOT, self.args.build) if runs else nullcontext() as scratch:
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

    def block(self, block, scratch, changes):
        complaints = []
        commands = block.commands()
        for command in commands:
            where = f"line {command.first}: $ {command.text}"
            # What ends with an error may be an example of bad usage.
            faults = self.usage.faults(command.text) if block.exit_code == 0 else []
            complaints += [f"{where}\n  {fault}" for fault in faults]
            if not self.is_run(block):
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


def arguments():
    parser = argparse.ArgumentParser(
        prog="docs.sh", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("pages", nargs="*", metavar="PAGE", help="pages [all of the repository]")
    parser.add_argument(
        "--update",
        action="store_true",
        help="write what the commands print into the pages; what they leave out stays left out",
    )
    parser.add_argument("--nightly", action="store_true", help="also run blocks that take minutes")
    parser.add_argument("--gpu", action="store_true", help="also run blocks that need a GPU")
    parser.add_argument("--verbose", action="store_true", help="print each command with its time")
    parser.add_argument("--timeout", type=float, metavar="S", help="seconds for a command [300; at night 4 hours]")
    parser.add_argument(
        "--warpfold",
        type=Path,
        help="the program [build/release/model/warpfold]",
        default=Path(os.environ.get("WARPFOLD") or ROOT / "build/release/model/warpfold"),
    )
    parser.add_argument(
        "--changed",
        type=Path,
        metavar="WARPFOLD",
        help="the program with the diffs of the page in it; also run blocks that need it",
    )
    parser.add_argument(
        "--build", type=Path, help="build folder that the commands see [build/release]", default=ROOT / "build/release"
    )
    args = parser.parse_args()
    for option in ("warpfold", "changed"):
        program = getattr(args, option)
        if program is None:
            continue
        if not os.access(program, os.X_OK):
            parser.error(f"no program {program}: build it, or name one with --{option}")
        setattr(args, option, program.resolve())
    return args


def main():
    args = arguments()
    # A test that is stopped leaves neither its folder nor what it started.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    runner, failed = Runner(args), 0
    for path in [Path(name) for name in args.pages] or page_paths():
        try:
            page = Page(path)
            complaints = runner.page(page)
        except (BadPage, OSError, UnicodeDecodeError, ValueError) as error:
            print(f"docs.sh: {path}: {error}", file=sys.stderr)
            return 2
        for complaint in complaints:
            print(f"{page.name}: {complaint}")
        failed += bool(complaints)
        if not complaints:
            print(f"{page.name}: ok", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
