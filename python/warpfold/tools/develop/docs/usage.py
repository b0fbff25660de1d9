# SPDX-License-Identifier: Apache-2.0
"""Whether a command that a page names exists, with the options that it is given there."""

import fnmatch
import os
import re
import shlex
import subprocess
from functools import lru_cache
from pathlib import Path

OPTION = re.compile(r"^--[a-z][a-z0-9-]*")


def output_of(*command, environment=None):
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
            env={**os.environ, "COLUMNS": "100", "PYTHONDONTWRITEBYTECODE": "1", **(environment or {})},
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout + done.stderr


class Usage:
    def __init__(self, root, warpfold):
        self.root, self.warpfold = Path(root), str(warpfold)

    @lru_cache(maxsize=None)
    def warpfold_help(self, *words):
        return output_of(self.warpfold, *words, "--help")

    def subcommands(self, *words):
        found = re.search(r"^Subcommands:\n((?:  .*\n)+)", self.warpfold_help(*words), re.M)
        return re.findall(r"^  ([a-z]\S*)", found[1], re.M) if found else []

    @lru_cache(maxsize=None)
    def script_help(self, name):
        """What a script says of itself: its head, and what --help prints where it has that."""
        path = self.root / name
        text = path.read_text(encoding="utf-8", errors="replace")
        head = (
            "\n".join(text.splitlines()[:60])
            if path.suffix == ".py"
            else "\n".join(re.match(r"(?:#.*\n)*", text)[0].splitlines())
        )
        if re.search(r"^\s*(?:\(cd \S+ && )?cmake --", text, re.M) and "-h | --help" not in text:
            return head + self.tool_help(text)
        has_help = (
            path.suffix == ".py"
            or re.search(r"-h \| --help|--help +all options", text)
            or re.search(r"^exec (?:\"\$\{tools\[@\]\}\"|python3 -B)", text, re.M)
        )
        if not has_help or not os.access(path, os.X_OK):
            return head
        # What it is named in spares a script from building one.
        return head + output_of(str(path), "--help", environment={"WARPFOLD": self.warpfold})

    def tool_help(self, text):
        """Help of the Python tool at the end of a script that builds before it reads its options."""
        found = re.search(r'^exec "\$\{tools\[@\]\}" (\S+)', text, re.M)
        return output_of("/usr/bin/env", "python3", str(self.root / "python"), found[1], "--help") if found else ""

    def faults(self, code):
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

    def warpfold_faults(self, words):
        taken = []
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

    def script_faults(self, words):
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
    def options(words):
        for word in words:
            if word == "--" or word in ("|", ">", ";", "&&"):
                return
            found = OPTION.match(word)
            if found:
                yield found[0]
