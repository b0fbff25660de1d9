# SPDX-License-Identifier: Apache-2.0
"""Holds the pages to their form; prints the rule and the place where one is broken.

- README.md has at most 150 lines;
- no paragraph is longer than 600 characters;
- links to files and headings of the repository lead somewhere;
- each page for users has a picture or an example;
- no page hedges (a number that needs one is measured again or left out);
- a command to type stands in a block of the language console, which a test runs;
- each page stands in a part of the site."""

import argparse
import re
from collections.abc import Iterator
from pathlib import Path

from ...base.errors import BadInput
from ...base.parser import Parser
from .page import ROOT, Page, page_paths
from .site import PARTS, parts

# (line, what is wrong).
Faults = Iterator[tuple[int, str]]

README_LINES = 150
PARAGRAPH = 600
HEDGES = ("in place of", "of its own", "of their own", "the model before", "older version", "as it does", "is is")
# The notebook is about what was; the changelog's form is another's.
HISTORY = ("docs/notebook.md", "CHANGELOG.md")
USERS = ("README.md", "traces/README.md", "synth/README.md")
TYPED = re.compile(r"^(?:\$ |(?:warpfold\w*|testfloat_gen|cmake|ctest|export|scripts/\S+\.sh|nvcc)(?: |$))")


def is_for_users(name: str) -> bool:
    return name in USERS or (re.fullmatch(r"docs/[^/]+\.md", name) is not None and name not in HISTORY)


def paragraphs(page: Page) -> Faults:
    for line, text in page.paragraphs():
        shown = re.sub(r"\]\([^)]*\)", "]", text)
        if len(shown) > PARAGRAPH:
            yield line, f"a paragraph of {len(shown)} characters, more than {PARAGRAPH}: {shown[:50]}..."


def hedges(page: Page) -> Faults:
    if page.name in HISTORY:
        return
    for line, text in page.paragraphs() + [(n, t) for n, t in page.prose if t.lstrip().startswith(("|", "-", "*"))]:
        for hedge in HEDGES:
            if re.search(rf"\b{hedge}\b", text, re.I):
                yield line, f"hedges: '{hedge}'"


def links(page: Page, pages: dict[Path, Page]) -> Faults:
    for line, target in page.links():
        if re.match(r"^[a-z][a-z0-9+.-]*:", target):
            continue
        name, _, anchor = target.partition("#")
        path = (page.path.parent / name).resolve() if name else page.path.resolve()
        if not path.exists():
            yield line, f"a link leads nowhere: {target}"
        elif anchor and path.suffix == ".md":
            known = pages.get(path)
            if known is not None and anchor not in known.anchors():
                yield line, f"a link leads to no heading: {target}"


def examples(page: Page) -> Faults:
    if not is_for_users(page.name):
        return
    text = "\n".join(line for _, line in page.prose)
    if not page.blocks and not re.search(r"!\[|<img\b|<picture\b", text):
        yield 1, "a page for users without a picture or an example"


def commands(page: Page) -> Faults:
    for block in page.blocks:
        if block.language == "console":
            for command in block.commands():
                if not command.text.strip():
                    yield command.first, "a '$' without a command"
            continue
        for offset, line in enumerate(block.lines, 1):
            if TYPED.match(line.strip()) and "file" not in block.marks:
                yield block.line + offset, f"a command in a block that is not console: {line.strip()[:60]}"
    for number, line in page.indented():
        if TYPED.match(line):
            yield number, f"a command in an indented block: {line[:60]}"


def length(page: Page) -> Faults:
    if page.name == "README.md" and len(page.lines) > README_LINES:
        yield len(page.lines), f"{len(page.lines)} lines, more than {README_LINES}"


def options(parser: Parser) -> None:
    parser.add_argument("root", nargs="?", metavar="ROOT", type=Path, default=ROOT, help="Another repository")


def run(arguments: argparse.Namespace) -> int:
    root = arguments.root.resolve()
    pages = {path.resolve(): Page(path, root) for path in page_paths(root)}
    if (root / PARTS).exists():
        parts(root)
    broken = []
    for page in pages.values():
        try:
            rules = [length(page), paragraphs(page), hedges(page), links(page, pages), examples(page), commands(page)]
            broken += [(page.name, *fault) for faults in rules for fault in faults]
        except BadInput as error:
            raise BadInput(f"{page.name}: {error}") from error
    for name, line, what in broken:
        print(f"{name}:{line}: {what}")
    if not broken:
        print(f"pages: {len(pages)}, ok")
    return 1 if broken else 0
