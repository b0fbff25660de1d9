# SPDX-License-Identifier: Apache-2.0
"""What the tools may be called with. Their --help looks like that of the other subcommands of `warpfold`, and says
what their man pages and completion say."""

import argparse
import textwrap
from typing import Any, NoReturn

from .errors import BadInput
from .places import SHIPPED

COLUMN, WIDTH = 34, 110
HELP = "Print this help message and exit"


class Parser(argparse.ArgumentParser):
    """Of one tool, or of one of its subcommands. What is wrong is a BadInput of one line."""

    def __init__(self, prog: str, description: str = "", **options: Any) -> None:
        options.setdefault("add_help", False)
        super().__init__(prog=prog, description=description, allow_abbrev=False, **options)
        self.add_argument("-h", "--help", action="help", help=HELP)

    def error(self, message: str) -> NoReturn:
        raise BadInput(f"{' '.join(message.split())} (see '{self.prog} --help')")

    def footer(self, text: str) -> None:
        """What stands below the options: paragraphs, of which one that begins with "Example" has commands."""
        self.epilog = text

    def _entries(self, positional: bool) -> list[argparse.Action]:
        return [
            action
            for action in self._actions
            if bool(action.option_strings) != positional
            and action.help != argparse.SUPPRESS
            and not isinstance(action, argparse._SubParsersAction)
        ]

    def format_help(self) -> str:
        subcommands = [a for a in self._actions if isinstance(a, argparse._SubParsersAction)]
        usage = [self.prog, "[OPTIONS]"]
        usage += [_usage(action) for action in self._entries(True)]
        usage += ["[SUBCOMMAND]"] * len(subcommands)
        blocks = [f"{self.description}\nUsage: {' '.join(usage)}\n"]
        for title, positional in (("Positionals", True), ("Options", False)):
            lines = [_line(_name(a) + _details(a), _help(a)) for a in self._entries(positional)]
            if lines:
                blocks.append(f"{title}:\n" + "".join(lines))
        for action in subcommands:
            lines = [_line(str(choice.dest), choice.help or "") for choice in action._choices_actions]
            blocks.append("Subcommands:\n" + "".join(lines))
        if self.epilog:
            blocks.append(self.epilog.rstrip("\n") + "\n")
        return "\n".join(blocks)

    def described(self) -> dict[str, Any]:
        """The same as data, for model/cli/tools.cpp."""
        entries = [
            {
                "name": _name(action),
                "type": _type(action),
                "default": _default(action),
                "many": _is_many(action),
                "required": _is_required(action),
                "help": _help(action),
            }
            for action in self._entries(True) + self._entries(False)
            if not isinstance(action, argparse._HelpAction)
        ]
        return {"options": entries, "footer": self.epilog or ""}


def _takes_value(action: argparse.Action) -> bool:
    return action.nargs != 0


def _is_many(action: argparse.Action) -> bool:
    return action.nargs in ("*", "+") or isinstance(action, argparse._AppendAction)


def _is_required(action: argparse.Action) -> bool:
    return bool(action.required) and action.nargs not in ("?", "*")


def _name(action: argparse.Action) -> str:
    return ",".join(action.option_strings) or str(action.metavar or action.dest.upper())


def _type(action: argparse.Action) -> str:
    if not _takes_value(action):
        return ""
    if action.choices is not None:
        return "|".join(map(str, action.choices))
    if not action.option_strings:
        return "TEXT"
    return str(action.metavar or action.dest.upper())


def _default(action: argparse.Action) -> str:
    value = action.default
    shown = _takes_value(action) and isinstance(value, (str, int, float)) and value != ""
    return str(value).removeprefix(f"{SHIPPED}/") if shown else ""


def _details(action: argparse.Action) -> str:
    """As CLI11 writes them."""
    if not _takes_value(action):
        return ""
    default = _default(action)
    text = f" {_type(action)}" + (f"={default}" if default else "") + (" ..." if _is_many(action) else "")
    return text + (" REQUIRED" if _is_required(action) else "")


def _help(action: argparse.Action) -> str:
    return " ".join((action.help or "").split())


def _usage(action: argparse.Action) -> str:
    text = _name(action) + ("..." if _is_many(action) else "")
    return text if _is_required(action) else f"[{text}]"


def _line(left: str, text: str) -> str:
    lines = textwrap.wrap(text, WIDTH - COLUMN, break_long_words=False, break_on_hyphens=False) or [""]
    head = f"  {left}"
    if len(head) >= COLUMN:
        return f"{head}\n" + "".join(f"{'':{COLUMN}}{line}\n" for line in lines)
    return f"{head:{COLUMN}}{lines[0]}\n" + "".join(f"{'':{COLUMN}}{line}\n" for line in lines[1:])
