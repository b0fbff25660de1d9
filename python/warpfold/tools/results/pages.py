# SPDX-License-Identifier: Apache-2.0
"""Fills the tags of the documents from the numbers, and says where they differ.

    <!--n:truck.rtx4090.arc-hw.speedup-->2.20<!--/n-->      a number
    <!--table:truck-->                                      a table
    | ... |
    <!--/table-->

Tags inside code are left alone.
"""

import re
from pathlib import Path

from ..base import files
from . import tables
from .store import ROOT, Missing, Unknown
from .values import Numbers

TAG = re.compile(r"<!--(n|table):([^\s>]+?)-->(.*?)<!--/\1-->", re.S)
OPEN = re.compile(r"<!--/?(?:n|table)\b[^>]*-->")
FENCE = re.compile(r"^(```+|~~~+).*?^\1[^\n]*$", re.S | re.M)
INLINE = re.compile(r"(?<!`)`[^`\n]+`(?!`)")
CITED = re.compile(r"<!--cite-->.*?<!--/cite-->", re.S)
# A figure of results: a decimal point, a thousands separator, a percentage.
FIGURE = re.compile(r"(?<![\w.,-])(\d{1,3}(?:,\d{3})+(?:\.\d+)?(?:\s?%)?|\d+\.\d+(?:\s?%)?|\d+\s?%)")
# Pages in which no figure stands that nobody built.
STRICT = (
    "README.md",
    "docs/results.md",
    "docs/fidelity.md",
    *(
        f"docs/numbers/{name}.md"
        for name in (
            "by_trace",
            "errors",
            "gradient_kernels",
            "merging",
            "paper",
            "parameters",
            "recorded",
            "sources",
            "synthesis",
            "traces",
            "units",
            "vectors",
        )
    ),
)
NOT_OURS = {".git", "build", "results", "out", "node_modules"}


def documents(root: Path = ROOT) -> list[Path]:
    """All Markdown pages of the repository."""
    return sorted(path for path in root.rglob("*.md") if not NOT_OURS.intersection(path.relative_to(root).parts[:-1]))


def code_spans(text: str) -> list[tuple[int, int]]:
    spans = [match.span() for match in FENCE.finditer(text)]
    return spans + [
        match.span() for match in INLINE.finditer(text) if not any(begin <= match.start() < end for begin, end in spans)
    ]


class Filler:
    """The texts of tags, each computed once."""

    def __init__(self, numbers: Numbers) -> None:
        self.numbers = numbers
        self.known: dict[tuple[str, str], str | Missing | Unknown] = {}
        self.problems: list[str] = []
        self.absent: list[str] = []

    def content(self, kind: str, key: str) -> str | Missing | Unknown:
        """Text, or why there is none."""
        if (kind, key) not in self.known:
            try:
                self.known[kind, key] = (
                    self.numbers.value(key) if kind == "n" else "\n" + tables.table(key, self.numbers) + "\n"
                )
            except (Missing, Unknown) as error:
                self.known[kind, key] = error
        return self.known[kind, key]

    def fill(self, name: str, text: str) -> str:
        """The page with its tags filled; problems are noted."""
        code = code_spans(text)

        def one(match: re.Match[str]) -> str:
            if any(begin <= match.start() < end for begin, end in code):
                return match.group(0)
            kind, key, old = match.groups()
            new = self.content(kind, key)
            line = text.count("\n", 0, match.start()) + 1
            if isinstance(new, Unknown):
                self.problems.append(f"{name}:{line}: no {'number' if kind == 'n' else 'table'} '{key}'")
                new = old
            elif isinstance(new, Missing):
                self.absent.append(f"{name}:{line}: {key}: no result of {new}")
                new = old
            return f"<!--{kind}:{key}-->{new}<!--/{kind}-->"

        filled = TAG.sub(one, text)
        for match in re.finditer(r"^<!--(?:n:|cite)", text, re.M):
            if not any(begin <= match.start() < end for begin, end in code):
                self.problems.append(
                    f"{name}:{text.count(chr(10), 0, match.start()) + 1}: a line that begins with a tag "
                    "ends the paragraph in Markdown; put a word in front"
                )
        left = TAG.sub("", text)
        spans = code_spans(left)
        for match in OPEN.finditer(left):
            if not any(begin <= match.start() < end for begin, end in spans):
                self.problems.append(f"{name}: a tag without its other end: {match.group(0)}")
        return filled


def render(numbers: Numbers, root: Path = ROOT) -> tuple[list[Path], list[str], list[str]]:
    """Writes the pages that change. (changed, problems, absent)."""
    filler, changed = Filler(numbers), []
    for path in documents(root):
        text = path.read_text(encoding="utf-8")
        filled = filler.fill(str(path.relative_to(root)), text)
        if filled != text:
            files.write(path, filled)
            changed.append(path)
    return changed, filler.problems, filler.absent


def blank(match: re.Match[str]) -> str:
    """As many lines, no words."""
    return " _ " + "\n" * match.group(0).count("\n")


def typed_figures(name: str, text: str) -> list[str]:
    """Lines on figures that stand outside tags, code and citations."""
    for pattern in (FENCE, TAG, CITED, INLINE):
        text = pattern.sub(blank, text)
    text = re.sub(r"<!--.*?-->", blank, text, flags=re.S)
    text = re.sub(r"\]\([^)\s]*\)", "]", text)
    return [
        f"{name}:{number}: '{match.group(0)}' is in no tag (or put it between <!--cite--> and <!--/cite-->)"
        for number, line in enumerate(text.splitlines(), 1)
        for match in FIGURE.finditer(line)
    ]


def check(numbers: Numbers, root: Path = ROOT) -> tuple[list[str], list[str]]:
    """(problems, absent): what render would change, unknown keys, figures typed by hand."""
    filler, problems = Filler(numbers), []
    for path in documents(root):
        name = str(path.relative_to(root))
        text = path.read_text(encoding="utf-8")
        filled = filler.fill(name, text)
        for number, (old, new) in enumerate(zip(text.splitlines(), filled.splitlines()), 1):
            if old != new:
                problems.append(f"{name}:{number}: differs from docs/numbers; run warpfold results --render")
                break
        else:
            if text != filled:
                problems.append(f"{name}: differs from docs/numbers; run warpfold results --render")
    for name in STRICT:
        path = root / name
        if path.is_file():
            problems += typed_figures(name, path.read_text(encoding="utf-8"))
    return filler.problems + problems, filler.absent
