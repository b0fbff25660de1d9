# SPDX-License-Identifier: Apache-2.0
"""Lists of RTL files, read as Verilator reads those of its options -f and -F (V3Options::parseOptsFile, its words;
V3Os::filenameSubstitute, variables; the options themselves as in its manual).

A path is looked for from the folder of its list, as -F has it; then from that of a list around it; then from the
working folder, as -f has it.
"""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from .errors import BadInput

# Options of other words that say nothing of the sources: how they begin, and how many words follow each.
OTHER = {
    "-sv": 0,
    "--sv": 0,
    "+systemverilogext+": 0,
    "+librescan": 0,
    "+notimingchecks": 0,
    "-W": 0,
    "--timing": 0,
    "--no-timing": 0,
    "-timescale": 0,
    "--timescale": 1,
    "--top-module": 1,
    "-top-module": 1,
    "--top": 1,
    "--x-": 1,
    "--language": 1,
    "--default-language": 1,
}
# Options with a path, and what becomes of it.
WITH_PATH = {"-f": "list", "-F": "list", "-y": "folder", "-v": "file", "-I": "folder"}
VARIABLE = re.compile(r"\$(?:\{([^}]*)\}|\(([^)]*)\)|(\w+))")
MAX_DEPTH = 32


@dataclass
class FileList:
    files: list[Path] = field(default_factory=list)
    include: list[Path] = field(default_factory=list)
    defines: dict[str, str] = field(default_factory=dict)  # of macros, "" for one without a text

    def options(self) -> list[str]:
        """Of Verilator, Yosys and Icarus: folders of `include files, and macros."""
        defines = [f"-D{name}={value}" if value else f"-D{name}" for name, value in self.defines.items()]
        return [*(f"-I{folder}" for folder in self.include), *defines]


def without_comments(text: str, path: Path) -> str:
    """What is no comment: // at the begin of a line or behind a blank, # alone in front of a line, and /* */."""
    lines, inside = [], False
    for line in text.split("\n"):
        kept, position, blank = "", 0, True
        while position < len(line):
            character, pair = line[position], line[position : position + 2]
            if inside:
                inside = pair != "*/"
                position += 1 if inside else 2
            elif pair == "/*":
                inside, blank = True, False
                position += 2
            elif pair == "//" and (position == 0 or line[position - 1].isspace()):
                break
            elif character == "#" and blank:
                break
            else:
                blank = blank and character.isspace()
                kept += character
                position += 1
        lines.append(kept)
    if inside:
        raise BadInput(f"{path}: a comment that begins with /* has no end")
    return "\n".join(lines) + "\n"


def words_of(text: str, path: Path) -> list[str]:
    """Words between blanks. Quotes hold blanks, and \\ the character behind it. As in a shell, which Verilator does not
    have: quotes may be single, and a \\ in front of the end of a line takes the next line along."""
    words: list[str] = []
    word, quote = "", ""
    characters = iter(text)
    for character in characters:
        if character == "\\" and quote != "'":
            behind = next(characters, "")
            word += "" if behind == "\n" else behind
        elif quote:
            if character == quote:
                quote = ""
            else:
                word += character
        elif character == '"' or (character == "'" and not word):
            quote = character
        elif not character.isspace():
            word += character
        elif word:
            words.append(word)
            word = ""
    if quote:
        raise BadInput(f"{path}: a word that begins with {quote} has no end")
    return words


def substitute(text: str, path: Path) -> str:
    """With the variables of the environment: $NAME, ${NAME}, $(NAME)."""

    def value(match: re.Match[str]) -> str:
        name = next(group for group in match.groups() if group is not None)
        if name not in os.environ:
            raise BadInput(f"{path}: '{text}': ${name} is not set in the environment")
        return os.environ[name]

    return VARIABLE.sub(value, text)


class Reader:
    def __init__(self) -> None:
        self.found = FileList()

    def read(self, path: Path, around: tuple[Path, ...]) -> None:
        """around: folders of the lists that name this one, the nearest first."""
        if len(around) > MAX_DEPTH:
            raise BadInput(f"{path}: more than {MAX_DEPTH} lists within lists")
        try:
            text = path.read_bytes().decode("utf-8-sig", errors="surrogateescape").replace("\r\n", "\n")
        except OSError as error:
            raise BadInput(f"cannot read {path}: {error.strerror}") from error
        if "\0" in text:
            raise BadInput(f"{path} is no list of files: it has bytes of zero")
        bases = (path.parent, *around, Path.cwd())
        self.take(iter(words_of(without_comments(text, path), path)), path, bases)

    def take(self, words: Iterator[str], path: Path, bases: tuple[Path, ...]) -> None:
        def find(name: str) -> Path:
            name = substitute(name, path)
            if not name:
                raise BadInput(f"{path}: a path without a name")
            folders = (*bases, *self.found.include)
            places = [folder / (name + suffix) for suffix in ("", ".v", ".sv") for folder in folders]
            return next((place for place in places if place.exists()), bases[0] / name)

        def argument(option: str) -> str:
            word = next(words, None)
            if word is None:
                raise BadInput(f"{path}: nothing behind {option}")
            return word

        for word in words:
            if word.startswith("+incdir+"):
                self.found.include += [find(part) for part in word.split("+")[2:] if part]
            elif word.startswith("+define+"):
                for part in filter(None, word.split("+")[2:]):
                    self.define(part, path)
            elif word.startswith("+libext+") or word.startswith("+libext"):
                continue  # .v and .sv are looked for anyway
            elif word.startswith("-D"):
                self.define(word[2:] or argument(word), path)
            elif word[:2] in WITH_PATH and (len(word) == 2 or word[:2] == "-I"):
                target = find(word[2:] or argument(word))
                kind = WITH_PATH[word[:2]]
                if kind == "list":
                    self.read(target, bases[:-1])
                else:
                    (self.found.files if kind == "file" else self.found.include).append(target)
            elif word.startswith(("-", "+")):
                self.skip(word, words, path)
            elif word.endswith((".c", ".cc", ".cpp", ".cxx", ".o", ".a", ".so")):
                raise BadInput(f"{path}: '{word}' is no Verilog source")
            elif not word.endswith(".vlt"):  # what Verilator is to warn of
                self.found.files.append(find(word))

    def define(self, text: str, path: Path) -> None:
        name, _, value = text.partition("=")
        if not re.fullmatch(r"[A-Za-z_]\w*", name):
            raise BadInput(f"{path}: '{text}' is no macro NAME or NAME=TEXT")
        self.found.defines[name] = value

    @staticmethod
    def skip(word: str, words: Iterator[str], path: Path) -> None:
        for option, count in OTHER.items():
            if word == option or (option[-1] in "+-W" and word.startswith(option)) or word.startswith(option + "="):
                for _ in range(count if "=" not in word else 0):
                    next(words, None)
                return
        raise BadInput(
            f"{path}: '{word}': a list has files, -f, -F, -v, -y, -I, +incdir+, -D, +define+ and options "
            "that leave the sources alone"
        )


def read(path: Path, *folders: Path) -> FileList:
    """What a list names, absolute paths; relative ones are also looked for in the folders. A file is named once."""
    reader = Reader()
    reader.read(path.absolute(), folders)
    found = reader.found
    found.files = list(dict.fromkeys(found.files))
    found.include = list(dict.fromkeys(found.include))
    return found


def quoted(text: str) -> str:
    """As a word of a list, or the end of one."""
    if "$" in text or "/*" in text:
        raise BadInput(f"a path with $ or /* cannot stand in a list of files: {text}")
    return '"' + re.sub(r'(["\\])', r"\\\1", text) + '"' if re.search(r"[\s\"'\\]", text) else text


def write(path: Path, what: FileList) -> None:
    """A list that names the same."""
    lines = [f"-I{quoted(str(folder))}" for folder in what.include]
    lines += [f"-D{quoted(name + (f'={value}' if value else ''))}" for name, value in what.defines.items()]
    lines += [quoted(str(file)) for file in what.files]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8", errors="surrogateescape")
