# SPDX-License-Identifier: Apache-2.0
"""Makes one small Liberty file of several, for Yosys, ABC and OpenSTA.

    python3 python liberty -o OUT.lib FILE...          FILE is Liberty text, plain or gzip

Kept are combinational cells and plain flip-flops, with their NLDM delay and constraint tables. Left out:
latches, clock gates, scan and enable flops (any flop whose next state is not one pin), tri-states,
isolation, level-shifting and retention cells, cells without function (fill, tap, tie, antenna), cells
marked dont_use, and all power, noise and current-source tables, which make ABC slow and are not used here.
"""

from __future__ import annotations

import argparse
import gzip
import math
import re
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

from ..base import files
from ..base.errors import BadInput
from ..base.parser import Parser

Result = TypeVar("Result")


class LibertyError(BadInput):
    """A Liberty file that cannot be used; the text is one line that names it."""


@dataclass
class Group:
    """`name (args) { attributes; groups }`. An attribute is kept as its text, without the semicolon."""

    name: str
    args: str
    attributes: list[tuple[str, str]] = field(default_factory=list)  # (name, text)
    groups: list[Group] = field(default_factory=list)

    def attribute(self, name: str) -> str | None:
        """Value of the last simple attribute of that name, without quotes; None when absent."""
        value = None
        for key, text in self.attributes:
            if key == name and ":" in text:
                value = text.split(":", 1)[1].strip().strip('"').strip()
        return value

    def all(self, *names: str) -> list[Group]:
        return [g for g in self.groups if g.name in names]


# Groups that describe power, noise, or current-source delays. Skipped unread: they are most of a file.
SKIPPED_GROUP = re.compile(
    r"internal_power|leakage_power|leakage_current|power_lut_template|pg_pin|ccs?[a-z]*_.*|ecsm_.*"
    r"|output_current_.*|receiver_capacitance.*|compact_.*|.*noise.*|hyperbolic_.*|dc_current|.*_ccb"
    r"|normalized_driver_waveform|output_voltage|input_voltage|intrinsic_.*|gate_leakage"
    r"|dynamic_current|base_curves|ocv_.*|sensitization|minimum_period|electromigration|em_lut_template"
    r"|min_pulse_width|wire_load.*|power_supply|rail_connection|vector|iv_lut_template"
    # The tables already are of one corner; OpenSTA looks for the name before it has read the group.
    r"|operating_conditions"
)
# Attributes that refer to what is skipped.
SKIPPED_ATTRIBUTE = re.compile(
    r".*power.*|.*leakage.*|related_(ground|bias)_pin|driver_waveform.*|(input|output)_voltage|voltage_map"
    r"|default_wire_load.*|default_operating_conditions|library_features|input_signal_level|output_signal_level|.*noise.*"
)

# `/* */` and `//` comments, strings, line continuations, punctuation, and runs of anything else.
TOKEN = re.compile(r'/\*.*?\*/|//[^\n]*|"[^"]*"|\\\r?\n|[{};\n]|[^{};\n"/\\]+|[/\\]', re.DOTALL)
BRACE = re.compile(r'/\*.*?\*/|"[^"]*"|[{}]', re.DOTALL)
HEADER = re.compile(r"\s*([A-Za-z_]\w*)\s*(?:\((.*)\))?\s*$", re.DOTALL)
NAME = re.compile(r"\s*([A-Za-z_]\w*)\s*[:(]")


MAX_DEPTH = 50  # groups within groups; Liberty has seven


def parse(text: str, path: str) -> Group:
    """The `library` group of Liberty text."""
    root = Group("", "")
    stack = [root]
    pending: list[str] = []  # text of the statement that is being read
    position = 0
    length = len(text)

    def line() -> int:
        return text.count("\n", 0, position) + 1

    def end_statement() -> None:
        statement = "".join(pending).strip()
        pending.clear()
        if not statement:
            return
        match = NAME.match(statement)
        if not match:
            raise LibertyError(f"{path}:{line()}: not Liberty: '{statement[:40]}'")
        if not SKIPPED_ATTRIBUTE.fullmatch(match.group(1)):
            stack[-1].attributes.append((match.group(1), statement))

    while position < length:
        match = TOKEN.match(text, position)
        if not match:
            raise LibertyError(f"{path}:{line()}: string or comment without an end")
        token = match.group()
        if token == "{":
            header = HEADER.match("".join(pending))
            if not header:
                raise LibertyError(f"{path}:{line()}: not Liberty: a group without a name")
            pending.clear()
            position = match.end()
            if SKIPPED_GROUP.fullmatch(header.group(1)):
                position = after_group(text, position, path)
            else:
                if len(stack) > MAX_DEPTH:
                    raise LibertyError(f"{path}:{line()}: more than {MAX_DEPTH} groups within each other")
                group = Group(header.group(1), (header.group(2) or "").strip())
                stack[-1].groups.append(group)
                stack.append(group)
            continue
        if token == "}":
            end_statement()
            if len(stack) == 1:
                raise LibertyError(f"{path}:{line()}: not Liberty: '}}' without '{{'")
            stack.pop()
        elif token == ";":
            end_statement()
        elif token == "\n":
            # Some writers leave the semicolon out; a line ends a statement once its brackets are closed.
            statement = "".join(pending)
            if (
                statement.count("(") <= statement.count(")")
                and re.search(r"[\w\")'\]]\s*$", statement)
                and ":" in re.sub(r'"[^"]*"', "", statement)
            ):
                end_statement()
        elif not token.startswith(("/*", "//", "\\")):
            pending.append(token)
        position = match.end()
    if len(stack) != 1:
        raise LibertyError(f"{path}: not Liberty, or cut off: '{stack[-1].name}' has no end")
    libraries = root.all("library")
    if len(libraries) != 1:
        raise LibertyError(f"{path}: not Liberty: {len(libraries)} library groups instead of one")
    return libraries[0]


def after_group(text: str, position: int, path: str) -> int:
    """Position after the brace that closes the group whose opening brace ends at `position`."""
    depth = 1
    for match in BRACE.finditer(text, position):
        if match.group() == "{":
            depth += 1
        elif match.group() == "}":
            depth -= 1
            if depth == 0:
                return match.end()
    raise LibertyError(f"{path}: not Liberty, or cut off: a group has no end")


# One pin, possibly inverted: what a plain flop stores.
SINGLE_PIN = re.compile(r"[(\s]*!?[(\s]*\w+[)\s]*'?[)\s]*")


def area_of(cell: Group) -> float:
    text = cell.attribute("area") or "0"
    try:
        area = float(text)
    except ValueError:
        area = math.nan
    if not math.isfinite(area):
        raise LibertyError(f"cell {cell.args}: area '{text}' is no number")
    return area


def reason_to_drop(cell: Group) -> str | None:
    """Why a cell is of no use here, or None."""
    if cell.attribute("dont_use") == "true":
        return "dont_use"
    if cell.all("latch", "latch_bank", "statetable"):
        return "latch"
    for attribute in (
        "clock_gating_integrated_cell",
        "is_isolation_cell",
        "is_level_shifter",
        "retention_cell",
        "always_on",
        "switch_cell_type",
    ):
        if cell.attribute(attribute) not in (None, "false"):
            return attribute
    if cell.all("ff_bank"):
        return "several flops"
    pins = cell.all("pin")
    if any(pin.attribute("three_state") is not None for pin in pins):
        return "tri-state"
    flops = cell.all("ff")
    if cell.all("test_cell") or len(flops) > 1:
        return "scan"
    if flops and not SINGLE_PIN.fullmatch(flops[0].attribute("next_state") or ""):
        return "scan or enable"
    functions = [pin.attribute("function") or "" for pin in pins if pin.attribute("direction") == "output"]
    if not functions or not all(functions):
        return "no function"
    if not flops and all(re.fullmatch(r"[(\s]*[01][)\s]*", function) for function in functions):
        return "tie"
    if not area_of(cell) > 0:
        return "no area"
    return None


def turn_upright(cell: Group) -> None:
    """Rewrites a flop that stores the inverse of its input as one that stores its input: the same cell.

    Yosys 0.23 (dfflibmap) connects set and reset of the first form the wrong way round.
    """
    for flop in cell.all("ff"):
        match = re.fullmatch(r"\(*\s*(?:!\s*(\w+)|(\w+)\s*')\s*\)*", flop.attribute("next_state") or "")
        names = [name.strip() for name in flop.args.split(",")]
        if not match or len(names) != 2:
            continue
        flop.args = f"{names[1]}, {names[0]}"
        other = {"clear": "preset", "preset": "clear"}
        attributes = []
        for key, text in flop.attributes:
            if key == "next_state":
                text = f'next_state : "{match.group(1) or match.group(2)}"'
            elif key in other:
                text = text.replace(key, other[key], 1)
                key = other[key]
            # clear_preset_var1/2 say what both at once give: H or L of each variable, which trade places.
            elif key in ("clear_preset_var1", "clear_preset_var2"):
                key = "clear_preset_var" + ("2" if key.endswith("1") else "1")
                text = re.sub(r"clear_preset_var\d", key, text, count=1)
            attributes.append((key, text))
        flop.attributes = attributes


# Header attributes that must agree between files that become one library.
UNITS = ("time_unit", "capacitive_load_unit", "voltage_unit", "nom_voltage")


def normal(text: str) -> str:
    return re.sub(r"\s+", "", text)


def unit_text(library: Group, name: str) -> str | None:
    for key, text in library.attributes:
        if key == name:
            return normal(text)
    return None


def small_buffer(library: Group) -> str | None:
    """Name of a small buffer, a cell whose one output is its one input, or None. The smallest of many is
    left out: it may be a delay cell for hold times."""
    buffers = []
    for cell in library.all("cell"):
        pins = {pin.args.strip('"'): pin for pin in cell.all("pin")}
        outputs = [pin for pin in pins.values() if pin.attribute("direction") == "output"]
        if len(pins) == 2 and len(outputs) == 1:
            if (outputs[0].attribute("function") or "").strip('"() ') in pins:
                buffers.append((area_of(cell) or math.inf, cell.args.strip('"')))
    buffers.sort()
    return buffers[1 if len(buffers) > 3 else 0][1] if buffers else None


def time_unit_ns(library: Group) -> float:
    """The library's time unit in nanoseconds."""
    text = library.attribute("time_unit") or "1ns"
    match = re.fullmatch(r"(1|10|100)\s*(fs|ps|ns|us)", text)
    if not match:
        raise LibertyError(f"time unit '{text}' is not understood")
    return int(match.group(1)) * {"fs": 1e-6, "ps": 1e-3, "ns": 1.0, "us": 1e3}[match.group(2)]


def read(path: str) -> Group:
    """The library group of one file, plain or gzip."""
    try:
        with open(path, "rb") as file:
            data = file.read()
        if data[:2] == b"\x1f\x8b":
            data = gzip.decompress(data)
    except (OSError, EOFError, zlib.error) as error:
        raise LibertyError(
            f"cannot read Liberty file {path}: " f"{getattr(error, 'strerror', None) or error}"
        ) from error
    return parse(data.decode("latin-1"), path)


def in_file(path: str, function: Callable[[Group], Result], what: Group) -> Result:
    try:
        return function(what)
    except LibertyError as error:
        raise LibertyError(f"{path}: {error}") from error


def merge(paths: list[str]) -> tuple[Group, dict[str, list[str]]]:
    """One library group with the useful cells of all files, and {reason: [cell]} of the others."""
    merged: Group | None = None
    templates: dict[str, str] = {}
    cells = {}
    dropped: dict[str, list[str]] = {}
    for path in paths:
        library = read(path)
        if merged is None:
            merged = Group("library", library.args, library.attributes)
            in_file(path, time_unit_ns, library)
        for unit in UNITS:
            if unit_text(library, unit) != unit_text(merged, unit):
                raise LibertyError(f"{path}: {unit} differs from that of {paths[0]}")
        for template in library.all("lu_table_template"):
            text = write(template)
            if templates.setdefault(template.args, text) != text:
                raise LibertyError(f"{path}: table template {template.args} differs from an earlier file")
            if template.args not in [g.args for g in merged.all("lu_table_template")]:
                merged.groups.append(template)
        for cell in library.all("cell"):
            name = cell.args.strip('"')
            reason = in_file(path, reason_to_drop, cell)
            if reason is not None:
                dropped.setdefault(reason, []).append(name)
            elif name in cells:
                raise LibertyError(f"{path}: cell {name} is also in an earlier file")
            else:
                turn_upright(cell)
                cells[name] = cell
    if not any(not cell.all("ff") for cell in cells.values()):
        raise LibertyError(f"{', '.join(map(str, paths))}: no combinational cell")
    assert merged is not None, "a cell is of a file"
    merged.groups.extend(cells.values())
    return merged, dropped


# NAME : VALUE, and what may stand there without quotes: a number, a word, or words in quotes.
SIMPLE = re.compile(r"([A-Za-z_]\w*)\s*:\s*(.*?)\s*", re.DOTALL)
WORD = re.compile(r'[\w.+-]+|"[^"]*"')


# A flop that stores a pin, written with parentheses.
STORED_PIN = re.compile(r'next_state\s*:\s*"?[(\s]*(\w+)[)\s]*"?\s*')


# Numbers of a table without quotes.
NUMBERS = re.compile(r"(index_\d|values)\s*\(\s*([^\"()]*?)\s*\)\s*", re.DOTALL)


def quoted(attribute: str) -> str:
    """The attribute with an expression in quotes. The Liberty Reference Manual has the quotes, and the parser that comes
    with it reads expressions without them (attr_val_expr of its grammar); Yosys and ABC do not. Yosys 0.52 maps no flop
    whose next_state has parentheses."""
    if pin := STORED_PIN.fullmatch(attribute):
        return f'next_state : "{pin.group(1)}"'
    if numbers := NUMBERS.fullmatch(attribute):
        return f'{numbers.group(1)} ("{" ".join(numbers.group(2).split())}")'
    simple = SIMPLE.fullmatch(attribute)
    if not simple or WORD.fullmatch(simple.group(2)):
        return attribute
    name, value = simple.groups()
    return f'{name} : "{" ".join(value.replace(chr(34), "").split())}"'


def write(group: Group, indent: str = "") -> str:
    """Liberty text of a group."""
    lines = [f"{indent}{group.name} ({group.args}) {{"]
    lines += [f"{indent}  {quoted(text)};" for _, text in group.attributes]
    lines += [write(child, indent + "  ") for child in group.groups]
    lines.append(f"{indent}}}")
    return "\n".join(lines)


def options(parser: Parser) -> None:
    parser.add_argument("-o", "--output", required=True, metavar="FILE", help="Where it goes")
    parser.add_argument("files", nargs="+", metavar="FILE", help="Liberty text, plain or gzip")


def run(arguments: argparse.Namespace) -> int:
    library, dropped = merge(arguments.files)
    files.write(arguments.output, write(library) + "\n", "latin-1")
    print(f"{len(library.all('cell'))} cells kept")
    for reason, names in sorted(dropped.items()):
        print(f"{len(names):4d} dropped, {reason}: {' '.join(names[:8])}{' ...' if len(names) > 8 else ''}")
    return 0
