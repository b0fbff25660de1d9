# SPDX-License-Identifier: Apache-2.0
"""Reads a page: its lines by kind, its paragraphs, and the blocks of commands in it."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from ...base.errors import BadInput
from ...base.files import read_text
from ...base.places import sources
from ...base.processes import run

ROOT = sources()
FENCE = re.compile(r"^( {0,3})(`{3,})\s*(\S*)\s*$")
MARK = re.compile(r"^\s*<!--\s*(test|file):\s*(.*?)\s*-->\s*$")
LIST_ITEM = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s")
WORDS = {"output", "run", "nightly", "gpu", "changed"}


@dataclass
class Command:
    text: str  # as typed, without "$ "
    output: list[str]  # the lines below it, patterns among them
    first: int  # index of the first output line in the page
    last: int  # index behind the last one


@dataclass
class Block:
    line: int  # of the opening fence, from 1
    language: str
    lines: list[str]
    marks: dict[str, str] = field(default_factory=dict)  # of the comment in front of it: "test" and "file"

    @property
    def words(self) -> list[str]:
        words = self.marks.get("test", "").split()
        return [word for word in words if word in WORDS]

    @property
    def exit_code(self) -> int:
        found = re.search(r"\bexit (\d+)", self.marks.get("test", ""))
        return int(found[1]) if found else 0

    def is_for(self, word: str) -> bool:
        return word in self.words

    def commands(self) -> list[Command]:
        """The commands of a console block with the output that the page shows for each."""
        commands: list[Command] = []
        i = 0
        while i < len(self.lines):
            if not self.lines[i].startswith("$ "):
                raise BadInput(f"line {self.line + 1 + i}: a console block begins with '$ ' and a command")
            text = [self.lines[i][2:]]
            while text[-1].endswith("\\") and i + 1 < len(self.lines):
                i += 1
                text.append(self.lines[i])
            i += 1
            first = i
            while i < len(self.lines) and not self.lines[i].startswith("$ "):
                i += 1
            commands.append(Command("\n".join(text), self.lines[first:i], self.line + first, self.line + i))
        if not commands:
            raise BadInput(f"line {self.line}: a console block without a command")
        return commands


def check_mark(kind: str, text: str, line: int) -> None:
    if kind != "test":
        return
    rest = re.sub(r"\bexit \d+", "", text).split()
    wrong = [word for word in rest if word not in WORDS]
    if wrong:
        raise BadInput(f"line {line}: '{wrong[0]}' is no mark of a test; there are: {', '.join(sorted(WORDS))}, exit N")


class Page:
    def __init__(self, path: Path, root: Path = ROOT) -> None:
        self.path, self.root = path, root
        self.name = self.path.resolve().relative_to(root.resolve()).as_posix()
        self.lines = read_text(path).splitlines()
        self.blocks: list[Block] = []
        self.prose: list[tuple[int, str]] = []  # (line number from 1, text), blocks left out
        self.read()

    def read(self) -> None:
        marks: dict[str, str] = {}
        open_block: Block | None = None
        fence = ""
        for number, line in enumerate(self.lines, 1):
            if open_block is not None:
                if line.strip() == fence:
                    open_block = None
                else:
                    open_block.lines.append(line)
                continue
            found = FENCE.match(line)
            if found:
                fence = found[2]
                open_block = Block(number, found[3], [], marks)
                self.blocks.append(open_block)
                self.prose.append((number, ""))
                marks = {}
                continue
            mark = MARK.match(line)
            if mark:
                check_mark(mark[1], mark[2], number)
                marks[mark[1]] = mark[2]
            elif marks:
                raise BadInput(f"line {number}: a mark of a test stands on the line before a fence")
            self.prose.append((number, line))
        if open_block is not None:
            raise BadInput(f"line {open_block.line}: a fence that nothing closes")

    @property
    def console(self) -> list[Block]:
        return [block for block in self.blocks if block.language == "console"]

    def indented(self) -> list[tuple[int, str]]:
        """Lines of indented code: four blanks behind a blank line, in no list."""
        in_list, code, before_blank = False, False, True
        lines: list[tuple[int, str]] = []
        for number, line in self.prose:
            blank = not line.strip()
            if not blank and not line.startswith(" "):
                in_list = bool(LIST_ITEM.match(line))
            if line.startswith("    ") and not in_list and (before_blank or code):
                code = True
                lines.append((number, line.strip()))
            elif not blank:
                code = False
            before_blank = blank
        return lines

    def paragraphs(self) -> list[tuple[int, str]]:
        """(line, text) of each block between blank lines that is no table, list, heading or code."""
        found: list[tuple[int, str]] = []
        current: list[str] = []
        first, in_list = 0, False
        code = {number for number, _ in self.indented()}
        for number, line in [*self.prose, (len(self.lines) + 1, "")]:
            text = re.sub(r"<!--.*?-->", "", line)
            no_prose = not text.strip() or text.lstrip().startswith(("|", "#")) or number in code
            if LIST_ITEM.match(text):
                in_list, no_prose = True, True
            elif in_list and line.strip() and (current or line.startswith(" ") or self.continues(number)):
                no_prose = True
            elif line.strip():
                in_list = False
            if no_prose:
                if current:
                    found.append((first, " ".join(current)))
                current = []
            else:
                first = first if current else number
                current.append(text.strip())
        return found

    def continues(self, number: int) -> bool:
        """Whether the line before this one has text: then this one belongs to the same list item."""
        return number >= 2 and bool(self.lines[number - 2].strip())

    def anchors(self) -> set[str]:
        anchors: set[str] = set()
        seen: dict[str, int] = {}
        for _, line in self.prose:
            anchors.update(re.findall(r"<a (?:id|name)=\"([^\"]+)\"", line))
            heading = re.match(r"^#{1,6}\s+(.*?)\s*#*$", line)
            if not heading:
                continue
            text = re.sub(r"<!--.*?-->", "", heading[1])
            text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text).replace("`", "")
            slug = re.sub(r"[^\w\- ]", "", text.strip().lower()).replace(" ", "-")
            anchors.add(f"{slug}-{seen[slug]}" if slug in seen else slug)
            seen[slug] = seen.get(slug, 0) + 1
        return anchors

    def inline_code(self) -> Iterator[tuple[int, str]]:
        """(line, code) of code within prose; it may go on in the next line."""
        text = "\n".join(line for _, line in self.prose)
        for found in re.finditer(r"(?<!`)`([^`\n]+(?:\n[^`\n]+)?)`(?!`)", text):
            number, _ = self.prose[text.count("\n", 0, found.start())]
            yield number, " ".join(found[1].split())

    def links(self) -> Iterator[tuple[int, str]]:
        """(line, target) of links and pictures, in Markdown's form and in HTML's."""
        for number, line in self.prose:
            text = re.sub(r"(?<!`)`[^`]+`(?!`)", "", line)
            for target in re.findall(r"\]\(([^()\s]+)(?:\s+\"[^\"]*\")?\)", text):
                yield number, target
            for target in re.findall(r"\b(?:src|srcset|href)=\"([^\"]+)\"", text):
                yield number, target
            found = re.match(r"^\[[^\]]+\]:\s+(\S+)", text)
            if found:
                yield number, found[1]


def page_paths(root: Path = ROOT) -> list[Path]:
    """All pages of the repository: those that Git tracks or would."""
    listed = run(["git", "-C", root, "ls-files", "-co", "--exclude-standard", "*.md"])
    if listed.returncode == 0:
        names = listed.stdout.splitlines()
    else:  # an unpacked archive
        skip = {"build", "out", "results"}
        names = [
            path.relative_to(root).as_posix()
            for path in root.rglob("*.md")
            if path.relative_to(root).parts[0] not in skip
        ]
    return sorted(root / name for name in set(names) if (root / name).is_file())


def test_name(path: Path, root: Path = ROOT) -> str:
    """Name of a page's test: docs.simulate of docs/simulate.md, docs.traces.README of traces/README.md."""
    parts = path.resolve().relative_to(root.resolve()).with_suffix("").parts
    return ".".join(["docs", *(parts[1:] if parts[0] == "docs" else parts)])
