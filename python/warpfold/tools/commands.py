# SPDX-License-Identifier: Apache-2.0
"""Starts tools by their names. list.txt beside this file has them; `warpfold NAME` comes here, too.

The module of a tool has two functions: options(parser) tells what it may be called with, run(arguments) does its work
and returns the exit code. What such a module imports at its top is Python's own, so that --help needs nothing else."""

import argparse
import importlib
import json
import sys
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from .base import guard
from .base.errors import BadInput
from .base.parser import Parser


@dataclass(frozen=True)
class Tool:
    name: str
    module: str
    description: str  # empty: the command does not list it

    @property
    def called(self) -> str:
        """What stands in front of its errors."""
        return f"warpfold {self.name}" if self.description else self.name

    def load(self) -> tuple[ModuleType, Parser]:
        module = importlib.import_module(f"{__package__}.{self.module}")
        parser = Parser(self.called, self.description or (module.__doc__ or "").partition("\n")[0])
        module.options(parser)
        return module, parser


def tools() -> dict[str, Tool]:
    found = {}
    text = Path(__file__).resolve().with_name("list.txt").read_text(encoding="utf-8")
    for line in text.splitlines():
        if line and not line.startswith("#"):
            name, module, *description = line.split(maxsplit=2)
            found[name] = Tool(name, module, *description or [""])
    return found


def call(name: str, words: list[str]) -> int:
    """Runs a tool in this process; its exit code. What goes wrong is raised."""
    module, parser = tools()[name].load()
    arguments: argparse.Namespace = parser.parse_args(words)
    arguments.given = words
    return int(module.run(arguments))


def start() -> None:
    """Runs the tool that the process was called with, and ends the process."""
    known, words = tools(), sys.argv[1:]
    if words == ["--describe"]:
        listed = {tool.name: tool.load()[1].described() for tool in known.values() if tool.description}
        guard.end("warpfold", lambda: print(json.dumps(listed)) or 0)
    name = words[0] if words else ""
    if name not in known:
        guard.end("warpfold", lambda: _unknown(name, known))
    guard.end(known[name].called, lambda: call(name, words[1:]))


def _unknown(name: str, known: dict[str, Tool]) -> int:
    raise BadInput(f"there is no tool '{name}'; there are: {' '.join(known)}")
