# SPDX-License-Identifier: Apache-2.0
"""New output for a page that shows parts of the old one: what was left out stays left out."""

import difflib
import re
from collections.abc import Callable

GAP = "..."


def shape(line: str) -> str:
    """A line without its numbers and its spacing: what is the same line with another result."""
    return " ".join(re.sub(r"[0-9][0-9,.]*", "0", line).replace("-", "").split())


def chunk(shown: list[str], lines: list[str]) -> list[str]:
    """New lines for shown ones of which none is the same: gaps stay, beginning and end follow them."""
    if GAP not in shown:
        return lines
    head = shown.index(GAP)
    tail = shown[::-1].index(GAP)
    if head + tail > len(lines):
        return lines
    return [*lines[:head], GAP, *lines[len(lines) - tail :]]


def refreshed(shown: list[str], lines: list[str], matches: Callable[[list[str], list[str]], bool]) -> list[str]:
    """What the page shows from now on. `matches(shown, lines)` says whether that stands for the whole output."""
    if GAP not in shown:
        return lines
    new: list[str] = []
    steps = difflib.SequenceMatcher(
        None, [shape(line) if line != GAP else GAP for line in shown], [shape(line) for line in lines], autojunk=False
    ).get_opcodes()
    for kind, a0, a1, b0, b1 in steps:
        if kind == "insert":
            beside_gap = GAP in shown[max(a0 - 1, 0) : a0 + 1]
            new += [] if beside_gap else lines[b0:b1]
        elif kind == "delete":
            new += [line for line in shown[a0:a1] if line == GAP]
        elif kind == "replace":
            new += chunk(shown[a0:a1], lines[b0:b1])
        else:
            new += lines[b0:b1]
    return new if matches(new, lines) else lines
