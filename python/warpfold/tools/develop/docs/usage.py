# SPDX-License-Identifier: Apache-2.0
"""Whether a command that a page names exists, with the options that it is given there."""

import fnmatch
import os
import re
import shlex
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from ...base.files import read_text
from ...base.processes import run

OPTION = re.compile(r"^--[a-z][a-z0-9-]*")


class Usage:
    def __init__(self, root: Path, warpfold: Path) -> None:
        self.root, self.warpfold = root, warpfold

    @lru_cache(maxsize=None)
    def warpfold_help(self, *words: str) -> str:
        done = run([self.warpfold, *words, "--help"], timeout=60, together=True, env={**os.environ, "COLUMNS": "100"})
        return done.stdout

    def subcommands(self, *words: str) -> list[str]:
        groups = re.findall(r"^(?:Subcommands|Tools):\n((?:  .*\n)+)", self.warpfold_help(*words), re.M)
        return re.findall(r"^  ([a-z]\S*)", "".join(groups), re.M)

    @lru_cache(maxsize=None)
    def script_help(self, name: str) -> str:
        """What a script says of itself: its head, and what --help prints."""
        head = re.match(r"(?:#.*\n)*", read_text(self.root / name))
        return (head[0] if head else "") + run([self.root / name, "--help"], timeout=60, together=True).stdout

    def faults(self, code: str) -> list[str]:
        """Sentences on what is wrong with a command; none when it is right."""
        try:
            words = shlex.split(code.replace("\\\n", " "), comments=True)
        except ValueError:
            words = code.split()
        if not words:
            return []
        if words[0] == "warpfold" and len(words) > 1:
            return self.warpfold_faults(words[1:])
        if words[0].startswith("scripts/"):
            return self.script_faults(words)
        return []

    def warpfold_faults(self, words: list[str]) -> list[str]:
        taken: list[str] = []
        while words and not words[0].startswith("-"):
            known = self.subcommands(*taken)
            if not known:
                break
            for word in words[0].split("|"):
                if word not in known and not re.fullmatch(r"[A-Z.]+", word):
                    return [f"`warpfold {' '.join([*taken, word])}`: there is no such subcommand"]
            if words[0] not in known:
                return []
            taken.append(words[0])
            words = words[1:]
        text = self.warpfold_help(*taken)
        return [
            f"`warpfold {' '.join(taken)}` has no option {option}"
            for option in self.options(words)
            if not re.search(rf"{option}(?![\w-])", text)
        ]

    def script_faults(self, words: list[str]) -> list[str]:
        name = words[0].rstrip("/:")
        if "*" in name:
            names = fnmatch.filter(
                (path.relative_to(self.root).as_posix() for path in (self.root / "scripts").rglob("*")), name
            )
            return [] if names else [f"nothing is called {name}"]
        if not (self.root / name).exists():
            return [f"there is no {name}"]
        wanted = list(self.options(words[1:]))
        if not wanted or not (self.root / name).is_file():
            return []
        text = self.script_help(name)
        return [f"{name} has no option {option}" for option in wanted if not re.search(rf"{option}(?![\w-])", text)]

    @staticmethod
    def options(words: list[str]) -> Iterator[str]:
        for word in words:
            if word == "--" or word in ("|", ">", ";", "&&"):
                return
            found = OPTION.match(word)
            if found:
                yield found[0]
