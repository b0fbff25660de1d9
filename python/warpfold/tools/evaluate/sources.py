# SPDX-License-Identifier: Apache-2.0
"""What the sources of a unit declare and use, as far as their words tell (IEEE 1800-2017, clause 5; packages: 26).

It orders files that no list orders, and names what is missing; whether a file is right, the tools say.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..base.errors import BadInput

# A string, a comment, an escaped identifier: what is between the words of other text.
APART = re.compile(r'"(?:\\.|[^"\\\n])*"|//[^\n]*|/\*.*?(?:\*/|\Z)|\\\S+', re.DOTALL)
INCLUDE = re.compile(r'`include\s+(?:"([^"]+)"|<([^>]+)>)')
DEFINE = re.compile(r"`define\s+([A-Za-z_]\w*)")
DIRECTIVE = re.compile(r"`(ifdef|ifndef|elsif|else|endif|define|undef|undefineall|include)\b[ \t]*(\w*)")
MACRO = re.compile(r"`([A-Za-z_]\w*)")
PACKAGE = re.compile(r"\bpackage\s+(?:(?:static|automatic)\s+)?([A-Za-z_]\w*)")
SCOPED = re.compile(r"\b([A-Za-z_]\w*)\s*::")
CLASS = re.compile(r"\bclass\s+(?:(?:static|automatic)\s+)?([A-Za-z_]\w*)|\btypedef\b[^;]*?(\w+)\s*;")
MODULE = re.compile(
    r"\b(?:module|macromodule|interface|primitive|program)\s+(?:(?:static|automatic)\s+)?([A-Za-z_]\w*)"
)
# At the begin of an item: a name, perhaps parameters, a name, perhaps dimensions, a bracket.
ITEM = re.compile(
    r"(?:[;:)]|\b(?:begin|end|else|generate|endgenerate|endfunction|endtask|endcase))\s*([A-Za-z_]\w*)"
    r"\s*(?:#\s*\()?"
)
INSTANCE = re.compile(r"\s*[A-Za-z_]\w*\s*(?:\[[^\]]*\]\s*)*\(")
MAX_INCLUDES = 64  # within each other
KEYWORDS = frozenset(
    "accept_on alias always always_comb always_ff always_latch and assert assign assume automatic begin bind bit buf "
    "bufif0 bufif1 byte case casex casez cell chandle checker class clocking cmos config const constraint context "
    "cover covergroup default defparam disable do else end enum event export extends extern final first_match for "
    "force foreach forever fork function generate genvar global if iff ifnone implements import initial inout input "
    "int integer interconnect interface intersect join let localparam logic longint macromodule modport module nand "
    "negedge nettype new nmos nor not notif0 notif1 null or output package packed parameter pmos posedge primitive "
    "priority program property pull0 pull1 pulldown pullup pure rand randc randcase randsequence rcmos real realtime "
    "ref reg release repeat restrict return rnmos rpmos rtran scalared sequence shortint shortreal signed specify "
    "specparam static string struct super supply0 supply1 table tagged task this time timeprecision timeunit tran "
    "tranif0 tranif1 tri tri0 tri1 triand trior trireg type typedef union unique unique0 unsigned untyped use uwire "
    "var vectored virtual void wait wait_order wand while wire with wor xnor xor".split()
)
# Of the language: they are not defined in a source.
DIRECTIVES = frozenset(
    "begin_keywords celldefine default_nettype define else elsif end_keywords endcelldefine endif ifdef ifndef include "
    "line nounconnected_drive pragma resetall timescale unconnected_drive undef undefineall".split()
)


@dataclass(frozen=True)
class Source:
    path: Path
    packages: frozenset[str]
    scopes: frozenset[str]  # names in front of ::
    modules: frozenset[str]
    instances: frozenset[str]  # names of modules that may be instantiated
    includes: tuple[str, ...]
    defines: frozenset[str]
    macros: frozenset[str]  # used


def plain(text: str, strings: bool) -> str:
    """Without comments and escaped identifiers; strings stay if they are to."""

    def kept(match: re.Match[str]) -> str:
        whole = match.group()
        return whole if strings and whole.startswith('"') else re.sub(r"[^\n]", " ", whole)

    return APART.sub(kept, text)


def behind_parameters(code: str, position: int) -> int:
    """Behind the bracket that closes the one in front of `position`."""
    depth = 1
    while position < len(code) and depth > 0:
        depth += {"(": 1, ")": -1}.get(code[position], 0)
        position += 1
    return position


def instances(code: str) -> frozenset[str]:
    found = set()
    for match in ITEM.finditer(code):
        name = match.group(1)
        position = behind_parameters(code, match.end()) if match.group().endswith("(") else match.end()
        if name not in KEYWORDS and INSTANCE.match(code, position):
            instance = re.match(r"\s*(\w+)", code[position:])
            if instance and instance.group(1) not in KEYWORDS:
                found.add(name)
    return frozenset(found)


def scopes(code: str) -> frozenset[str]:
    """Names in front of ::, those of classes and types that are declared there left out."""
    own = {name for match in CLASS.finditer(code) for name in match.groups() if name}
    return frozenset(SCOPED.findall(code)) - own - {"std", "local", "super", "this"}


def read(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8-sig", errors="replace")
    except OSError as error:
        raise BadInput(f"cannot read {path}: {error.strerror}") from error


def scan(path: Path) -> Source:
    text = read(path)
    with_strings = plain(text, strings=True)
    code = plain(text, strings=False)
    return Source(
        path,
        packages=frozenset(PACKAGE.findall(code)),
        scopes=frozenset(SCOPED.findall(code)),
        modules=frozenset(MODULE.findall(code)),
        instances=instances(code),
        includes=tuple(dict.fromkeys(one or other for one, other in INCLUDE.findall(with_strings))),
        defines=frozenset(DEFINE.findall(code)),
        macros=frozenset(MACRO.findall(code)) - DIRECTIVES,
    )


def in_order(files: Sequence[Path], before: dict[Path, set[Path]]) -> list[Path]:
    """The files, each behind those before it."""
    result: list[Path] = []
    begun: list[Path] = []

    def place(path: Path) -> None:
        if path in begun:
            circle = [*begun[begun.index(path) :], path]
            raise BadInput("packages that import each other: " + " -> ".join(part.name for part in circle))
        begun.append(path)
        for other in sorted(before[path]):
            if other not in result:
                place(other)
        begun.pop()
        result.append(path)

    for path in files:
        if path not in result:
            place(path)
    return result


class Sources:
    """Some files with what they include."""

    def __init__(self, files: Sequence[Path], include: Iterable[Path]):
        self.files = list(files)
        self.include = list(include)
        self.scanned: dict[Path, Source] = {}

    def source(self, path: Path) -> Source:
        if path not in self.scanned:
            self.scanned[path] = scan(path)
        return self.scanned[path]

    def find(self, name: str, from_file: Path) -> Path | None:
        """The file that `include takes: from the folders that are given, or that of the file."""
        return next(
            (path for folder in (*self.include, from_file.parent) if (path := folder / name).is_file()),
            None,
        )

    def whole(self, path: Path, seen: set[Path] | None = None) -> list[Source]:
        """A file and all that it includes."""
        seen = seen if seen is not None else set()
        if path in seen:
            return []
        seen.add(path)
        result = [self.source(path)]
        for name in result[0].includes:
            if found := self.find(name, path):
                result += self.whole(found.resolve(), seen)
        return result

    def included(self) -> set[Path]:
        """Files that are part of others."""
        return {part.path for path in self.files for part in self.whole(path)[1:]}

    def ordered(self) -> list[Path]:
        """Packages in front, each file behind those of the packages and macros that it uses."""
        wholes = {path: self.whole(path) for path in self.files}
        packages = {name: path for path, parts in wholes.items() for part in parts for name in part.packages}
        of_packages, of_macros = {}, {}
        defines: dict[str, list[Path]] = {}
        for path, parts in wholes.items():
            for name in {name for part in parts for name in part.defines}:
                defines.setdefault(name, []).append(path)
        for path, parts in wholes.items():
            of_packages[path] = {packages[n] for part in parts for n in part.scopes if n in packages} - {path}
            macros = {n for part in parts for n in part.macros} - {n for part in parts for n in part.defines}
            of_macros[path] = {defines[name][0] for name in macros if len(defines.get(name, ())) == 1} - {path}
        files = sorted(self.files, key=lambda path: not self.source(path).packages)
        try:
            return in_order(files, {path: of_packages[path] | of_macros[path] for path in files})
        except BadInput:  # the text of a macro may use one that is defined later
            return in_order(files, of_packages)

    def active(
        self, path: Path, defined: set[str], lost: list[str], within: tuple[Path, ...] = ()
    ) -> list[tuple[str, str]]:
        """(name of a file, its text that is compiled) of a file and of what it includes, where macros with these names
        are defined; those that it defines join them. What it includes and is not there goes to `lost`."""
        text = plain(read(path), strings=True)
        result: list[tuple[str, str]] = []
        outer: list[tuple[bool, bool]] = []  # of each `ifdef around: compiled there, and whether a branch was
        compiled, taken, position = True, True, 0
        for match in DIRECTIVE.finditer(text):
            word, name = match.groups()
            if compiled:
                result.append((path.name, text[position : match.start()]))
            position = match.end()
            if word in ("ifdef", "ifndef"):
                outer.append((compiled, taken))
                taken = (name in defined) == (word == "ifdef")
                compiled = compiled and taken
            elif word in ("elsif", "else") and outer:
                compiled = outer[-1][0] and not taken and (word == "else" or name in defined)
                taken = taken or compiled
            elif word == "endif" and outer:
                compiled, taken = outer.pop()
            elif not compiled:
                continue
            elif word == "define":
                defined.add(name)
                end = re.compile(r"(?:\\\r?\n|[^\n])*").match(text, position)
                position = end.end() if end else position
            elif word == "undef":
                defined.discard(name)
            elif word == "undefineall":
                defined.clear()
            elif include := INCLUDE.match(text, match.start()):
                found = self.find(include.group(1) or include.group(2), path)
                if not found:
                    lost.append(f"the file {include.group(1) or include.group(2)}, which {path.name} includes")
                elif len(within) < MAX_INCLUDES and found not in within:
                    result += self.active(found, defined, lost, (*within, path))
                position = include.end()
        if compiled:
            result.append((path.name, text[position:]))
        return result

    def missing(self, defines: Iterable[str]) -> list[str]:
        """All files, packages and modules that the sources name and that are not there."""
        lines: list[str] = []
        defined = set(defines)
        parts = [part for path in self.files for part in self.active(path, defined, lines)]
        parts = [(name, plain(text, strings=False)) for name, text in parts]
        for kind, known, used in (("package", PACKAGE, scopes), ("module", MODULE, instances)):
            names: dict[str, str] = {}
            there = {name for _, code in parts for name in known.findall(code)}
            for file, code in parts:
                for name in used(code) - there:
                    if kind == "package" or not self.module_file(name):
                        names.setdefault(name, file)
            lines += [f"the {kind} {name}, which {user} uses" for name, user in sorted(names.items())]
        return list(dict.fromkeys(lines))

    def module_file(self, name: str) -> Path | None:
        """The file in a folder of the unit in which Verilator looks for a module that no source has."""
        return next(
            (
                path
                for folder in self.include
                for suffix in (".v", ".sv")
                if (path := folder / f"{name}{suffix}").is_file()
            ),
            None,
        )

    def with_found_modules(self) -> list[Path]:
        """The files, and those of modules that Verilator finds by their name alone."""
        files = list(self.files)
        for path in files:  # grows meanwhile
            known = {name for file in files for part in self.whole(file) for name in part.modules}
            for part in self.whole(path):
                for name in sorted(part.instances - known):
                    found = self.module_file(name)
                    if found and found.resolve() not in files:
                        files.append(found.resolve())
        return files
