# SPDX-License-Identifier: Apache-2.0
"""Transistors, area and worst path of the RTL by Yosys and OpenSTA: `warpfold synth`."""

import argparse
import concurrent.futures
import hashlib
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from ..base import file_list, units
from ..base.errors import BadInput, ToolFailed
from ..base.file_list import FileList
from ..base.files import Name, check_writable, read_json, write_json
from ..base.parser import Parser
from ..base.places import RTL, SYNTH
from ..base.processes import first_match, logged, missing, need, run as run_program
from ..base.units import Unit
from . import liberty

Row = dict[str, Any]  # figures of a module, as the JSON has them
Timed = dict[str, Any]  # a path: "ns", "from", "to"

BASELINE = SYNTH / "baseline.json"
SCHEMA = "warpfold.synth/1"
DEFAULT_LIBERTY = "/usr/share/qflow/tech/osu018/osu018_stdcells.lib"  # Debian's qflow-tech-osu018

# Warnings of Yosys behind which wrong logic hides are errors.
YOSYS = ["yosys", "-q", "-e", "implicitly declared|Resizing cell port"]

# Transistors of a flop. `stat -tech cmos` counts the plain ones as 16 and the others not at all.
FLOP_TRANSISTORS = 22
STAT_FLOP_TRANSISTORS = 16
COUNTED_FLOPS = ("$_DFF_P_", "$_DFF_N_")

# ARC, ASPLOS '25, section 5.4: "under 70K transistors per FPU", 128 x 4 of them, 76 billion in all.
PAPER_TRANSISTORS = 70_000
PAPER_UNITS = 128 * 4
PAPER_GPU_TRANSISTORS = 76e9
PAPER_SHARE = 0.047e-2

# A figure that differs from the accepted one by more than this share fails the check.
TOLERANCE = 0.02
CHECKED = ("transistors", "flops", "area", "path_ns", "fast_area", "fast_path_ns")


@dataclass(frozen=True)
class Top:
    """One row: a module, with parameters or with a submodule left out."""

    name: str
    module: str
    chparam: str = ""
    left_out: str = ""  # its ports become ports of the module
    unit: Unit | None = None  # of one of the family: which, with what scheduler
    scheduler: str = ""
    foreign: bool = False  # of somebody else's RTL, all files of which are read


# The units that have a name, each with every scheduler that it may have: what ARC adds, and the same behind the
# coalescer that every GPU has.
def unit_rows(unit: Unit, scheduler: str | None = None) -> list[Top]:
    scheduler = scheduler or unit.schedulers[0]
    return [
        Top(
            f"{module}_{unit.row(scheduler)}",
            module,
            " -chparam ".join(f"{name} {value}" for name, value in unit.parameters(scheduler, module).items()),
            unit=unit,
            scheduler=scheduler,
        )
        for module in ("arc_unit", "arc_subcore")
    ]


UNITS = units.named()
TOPS = [
    Top("arc_fp32_adder", "arc_fp_adder"),
    Top("arc_fp32_adder_gradual", "arc_fp_adder", chparam="FlushSubnormals 0"),
    Top("arc_lane_picker", "arc_lane_picker"),
    Top("arc_group_pays", "arc_group_pays"),
    Top("arc_addr_match", "arc_addr_match"),
    Top("arc_addr_match_staged", "arc_addr_match_staged"),
    Top("arc_scheduler", "arc_scheduler"),
    Top("arc_congestion", "arc_congestion"),
    Top("arc_scheduler_groups", "arc_scheduler_groups"),
    Top("arc_word_sequencer", "arc_word_sequencer"),
    Top("arc_bin_max", "arc_bin_max"),
    *(Top(f"arc_reduction_{name}", f"arc_reduction_{name}") for name in dict.fromkeys(one.datapath for one in UNITS)),
    # Another coalescer is of no arc_unit.
    *(
        row
        for unit in UNITS
        for scheduler in unit.schedulers
        for row in unit_rows(unit, scheduler)
        if row.module == "arc_subcore" or unit.coalescer == UNITS[0].coalescer
    ),
]
# What the paper's figure covers: everything that ARC adds, and the same with the coalescer.
COMPARED = tuple(top.name for top in TOPS if top.unit)
WHOLE = tuple(top.name for top in TOPS if top.module == "arc_subcore")

# Two ways through ABC. `small` is the default script of Yosys for a Liberty library; `fast` restructures
# for depth, twice, and is the faster of two such scripts, whose luck differs from design to design. All
# then buffer large fan-outs and size the gates; `fast` leaves no net with more than eight sinks and sizes
# twice. For `fast`, ABC is told that the inputs and flops are as weak as a small buffer of the library:
# otherwise it lets a flop drive anything.
BUFFER_AND_SIZE = "buffer -c;topo;upsize;dnsize"
FAST_BUFFER_AND_SIZE = "buffer -c -N 8;topo;upsize;dnsize;upsize;dnsize"
MAPPINGS = {
    "small": "strash;&get -n;&fraig -x;&put;scorr;dc2;strash;&get -n;&dch -f;&nf;&put;" + BUFFER_AND_SIZE,
    "fast": "strash;if -g -K 6;strash;dch -f;map -B 0.9;unmap;strash;if -g -K 6;strash;dch -f;map -B 0.9;topo;"
    + FAST_BUFFER_AND_SIZE,
    "fast_too": "strash;dch -f;map -B 0.9;unmap;strash;if -g -K 6;strash;dch -f;map -B 0.9;topo;"
    + FAST_BUFFER_AND_SIZE,
}


# ------------------------------------------------------------------------------------------------
# Tools
# ------------------------------------------------------------------------------------------------


def abc_program() -> str:
    """ABC by the name that it has here."""
    name = next((name for name in ("berkeley-abc", "yosys-abc") if shutil.which(name)), None)
    if not name:
        raise BadInput(missing("berkeley-abc"))
    return name


def tool_versions(with_timing: bool) -> dict[str, str]:
    versions = {
        "yosys": first_match(["yosys", "-V"], r"Yosys \S+"),
        "abc": first_match([abc_program(), "-c", "version"], r"ABC \d[^\n]*"),
    }
    if with_timing:
        versions["sta"] = "OpenSTA " + first_match(["sta", "-version"], r"\d\S*")
    return versions


def listed(rtl: Path) -> FileList:
    """What arc.f names, the one file list of an RTL folder, and the folder itself for what the files include."""
    found = file_list.read(rtl / "arc.f")
    return FileList(found.files, [rtl, *found.include], found.defines)


def rtl_files(rtl: Path) -> list[Path]:
    return listed(rtl).files


def source_options(rtl: Path) -> list[str]:
    return listed(rtl).options()


def rtl_view(rtl: Name, other: str | None, folder: Path) -> Path:
    """The RTL as a folder with an arc.f: the folder itself, or one in `folder` for another list of its files."""
    rtl = without_blanks(rtl, folder)
    if not other:
        return rtl
    view = folder / "rtl"
    view.mkdir()
    found = file_list.read(Path(other), rtl)
    include = [rtl, *(without_blanks(path, folder) for path in found.include)]
    files = [without_blanks(path.parent, folder) / path.name for path in found.files]
    file_list.write(view / "arc.f", FileList(files, include, found.defines))
    return view


def known_row(name: str, rows: list[Top] | None = None) -> Top | None:
    """A row by its name, or one of a unit of the family that has none: arc_unit_paired-4, or with a scheduler
    arc_subcore_paired:greedy. None where there is no such row."""
    for top in TOPS if rows is None else rows:
        if top.name == name:
            return top
    of_family = re.fullmatch(r"(arc_unit|arc_subcore)_(.+)", name)
    try:
        return (
            next(top for top in unit_rows(*units.with_scheduler(of_family[2])) if top.module == of_family[1])
            if of_family
            else None
        )
    except BadInput:
        return None


def rows_named(names: Iterable[str], rows: list[Top]) -> list[Top]:
    """These rows; BadInput for a name that is none."""
    found: dict[str, Top] = {}
    for name in names:
        top = known_row(name, rows)
        if top is None:
            raise BadInput(f"unknown top '{name}' (known: {' '.join(top.name for top in rows)})")
        found[name] = top
    return list(found.values())


def find_top(name: str, rtl: Path) -> Top:
    """A row of TOPS, or any other module of the RTL."""
    modules: set[str] = set()
    for path in rtl_files(rtl):
        try:
            modules |= set(re.findall(r"^\s*module\s+(\w+)", path.read_text(encoding="utf-8"), re.MULTILINE))
        except OSError as error:
            raise BadInput(f"cannot read {path}: {error.strerror}") from error
    top = known_row(name) or Top(name, name)
    if top.module not in modules:
        raise BadInput(f"unknown top '{name}'; the modules are: {' '.join(sorted(modules))}")
    return top


@lru_cache
def used_files(module: str, chparam: str, rtl: Path) -> list[Path]:
    """The files of the modules that it is made of, in the order of arc.f, and the package. Yosys numbers what it reads,
    and ABC's luck hangs on the numbers: so that a module that is not in a row does not change its figures."""
    files = rtl_files(rtl)
    script = "; ".join([read_command(files, rtl), hierarchy_command(module, chparam), "ls"])
    listed = run_program([*YOSYS[:1], "-Q", "-T", "-p", script], together=True)
    if listed.returncode != 0:
        raise ToolFailed(f"{module}: yosys failed: {' | '.join(listed.stdout.strip().splitlines()[-3:])}")
    used = set(re.findall(r"\b\w+\b", listed.stdout.rpartition("modules:")[2])) | {"arc_pkg"}
    return [file for file in files if file.stem in used]


def read_command(files: list[Path], rtl: Path) -> str:
    return f"read_verilog -sv -defer {' '.join(source_options(rtl))} {' '.join(map(str, files))}"


def hierarchy_command(module: str, chparam: str) -> str:
    return f"hierarchy -check -top {module}" + (f" -chparam {chparam}" if chparam else "")


def load_commands(top: Top, rtl: Path) -> list[str]:
    """Yosys commands that leave `top` loaded, not yet synthesized."""
    files = rtl_files(rtl) if top.foreign else used_files(top.module, top.chparam, rtl)
    commands = [read_command(files, rtl), hierarchy_command(top.module, top.chparam)]
    if top.left_out:
        # The submodule goes, and the wires at its ports become ports of the module around it: what
        # remains is synthesized as it is, with nothing known about those signals.
        # Its clock and reset are no outputs.
        commands += [
            "proc",
            f"blackbox {top.left_out}",
            f"expose -evert t:{top.left_out}",
            "delete -output w:*.clk_i w:*.rst_ni",
        ]
    return commands


def scratch(prefix: str) -> "tempfile.TemporaryDirectory[str]":
    """A temporary folder; not under a TMPDIR that Yosys cannot take."""
    usual = tempfile.gettempdir()
    return tempfile.TemporaryDirectory(prefix=prefix, dir="/tmp" if UNUSABLE.search(usual) else None)


# Yosys splits its commands there.
UNUSABLE = re.compile(r"[\s;\"'#]")


def without_blanks(path: Name, folder: Name) -> Path:
    """The path, or where Yosys could not take it a symbolic link to it in `folder`."""
    path = Path(path).resolve()
    if not UNUSABLE.search(str(path)):
        return path
    link = Path(folder) / ("link-" + hashlib.sha256(str(path).encode()).hexdigest()[:16])
    if not link.is_symlink():
        link.symlink_to(path)
    return check_path(link)


def check_path(path: Path) -> Path:
    """Yosys splits its commands at blanks."""
    if UNUSABLE.search(str(path)):
        raise BadInput(f"Yosys cannot take a path with blanks or quotes: {path}")
    return path


# ------------------------------------------------------------------------------------------------
# One row
# ------------------------------------------------------------------------------------------------


def count_transistors(text: str, name: str) -> tuple[int, int]:
    """(transistors, flops) of the output of transistors.ys, whose last statistics count."""
    text = text.rpartition("Printing statistics.")[2]
    estimates = re.findall(r"Estimated number of transistors:\s+(\d+)(\+?)", text)
    if len(estimates) != 1:
        raise ToolFailed(f"{name}: stat printed {len(estimates)} transistor counts instead of one")
    transistors = int(estimates[0][0])
    cells = {cell: int(count) for cell, count in re.findall(r"^\s+(\S+)\s+(\d+)$", text, re.MULTILINE)}
    flops = {cell: count for cell, count in cells.items() if re.fullmatch(r"\$_S?DFF\w*_", cell)}
    uncounted = {cell: count for cell, count in flops.items() if cell not in COUNTED_FLOPS}
    odd = [
        cell
        for cell in cells
        if cell not in flops and not re.fullmatch(r"\$_(NOT|N?AND|N?OR|XN?OR|N?MUX|AOI[34]|OAI[34])_", cell)
    ]
    if odd:
        raise ToolFailed(f"{name}: cells that have no transistor count: {' '.join(sorted(odd))}")
    if bool(uncounted) != bool(estimates[0][1]):
        raise ToolFailed(f"{name}: stat counts other flops than expected ({' '.join(sorted(flops))})")
    total = sum(flops.values())
    counted = total - sum(uncounted.values())
    return transistors - STAT_FLOP_TRANSISTORS * counted + FLOP_TRANSISTORS * total, total


def register_nets(netlist: Path) -> dict[str, str]:
    """Instance -> the register that its output makes, from mapped Verilog; where that is clear."""
    nets: dict[str, str] = {}
    behind: dict[str, str] = {}
    anonymous = re.compile(r"_\d+_")
    text = Path(netlist).read_text(encoding="utf-8")
    for instance, body in re.findall(r"^  \w+ (\S+) \((.*?)\);$", text, re.MULTILINE | re.DOTALL):
        pins = [
            (pin, re.sub(r"\s+", "", net).removeprefix("\\"))
            for pin, net in re.findall(r"\.(\w+)\((.*?)\)(?:,|$)", body.strip(), re.MULTILINE)
        ]
        if len(pins) == 2:  # an inverter behind an inverting flop
            for near, far in (pins, pins[::-1]):
                if not anonymous.fullmatch(far[1]):
                    behind[near[1]] = far[1]
        for pin, net in pins:
            if pin in ("Q", "QN"):
                nets[instance] = net
    return {instance: behind.get(net, net) if anonymous.fullmatch(net) else net for instance, net in nets.items()}


def split_assigns(netlist: Path) -> None:
    """OpenSTA takes no concatenation on the left: one assignment for each bit instead."""

    def bits(text: str) -> list[str]:
        constant = re.fullmatch(r"\d+'b([01xz]+)", text)
        if constant:
            return [f"1'b{bit}" for bit in constant.group(1)]
        result = []
        for part in text.removeprefix("{ ").removesuffix(" }").split(", "):
            wide = re.fullmatch(r"(.*)\[(\d+):(\d+)\]", part)
            constant = re.fullmatch(r"\d+'b([01xz]+)", part)
            if wide:
                result += [f"{wide.group(1)}[{bit}]" for bit in range(int(wide.group(2)), int(wide.group(3)) - 1, -1)]
            elif constant:
                result += [f"1'b{bit}" for bit in constant.group(1)]
            else:
                result.append(part)
        return result

    def split(match: re.Match[str]) -> str:
        left, right = bits(match.group(1)), bits(match.group(2))
        if len(left) != len(right):  # a whole vector among them
            return match.group(0)
        return "\n".join(f"  assign {to} = {value};" for to, value in zip(left, right))

    text = Path(netlist).read_text(encoding="utf-8")
    Path(netlist).write_text(
        re.sub(r"^  assign (\{ .* \}) = (.*);$", split, text, flags=re.MULTILINE), encoding="utf-8"
    )


def parse_path(report: str, period: float, unit_ns: float, nets: dict[str, str]) -> Timed | None:
    """Delay and ends of the path in one report_checks, or None when there is no such path."""
    slack = re.search(r"(-?\d+\.\d+)\s+slack", report)
    start = re.search(r"^Startpoint: (\S+)", report, re.MULTILINE)
    end = re.search(r"^Endpoint: (\S+)", report, re.MULTILINE)
    if not (slack and start and end):
        return None
    ends = [re.sub(r"\\", "", nets.get(point.group(1), point.group(1))) for point in (start, end)]
    return {"ns": round((period - float(slack.group(1))) * unit_ns, 4), "from": ends[0], "to": ends[1]}


def time_netlist(
    top: Top, netlist: Path, library: Path, unit_ns: float, folder: Path, mapping: str
) -> dict[str, Timed]:
    period = 100.0 if unit_ns == 1.0 else 10_000.0
    env = dict(
        os.environ,
        SYNTH_LIBERTY=str(library),
        SYNTH_NETLIST=str(netlist),
        SYNTH_TOP=top.module,
        SYNTH_PERIOD=str(period),
    )
    log = folder / f"{top.name}.{mapping}.sta.log"
    logged(["sta", "-no_splash", "-exit", str(SYNTH / "timing.tcl")], log, top.name, env=env)
    text = log.read_text(encoding="utf-8")
    # OpenSTA exits 0 after an error in a script.
    if "Error:" in text or "@ done" not in text:
        error = next((line for line in text.splitlines() if "Error:" in line), "no report")
        raise ToolFailed(f"{top.name}: sta failed: {error}")
    nets = register_nets(netlist)
    sections = re.findall(r"^@ (\w+)\n(.*?)(?=^@ )", text, re.MULTILINE | re.DOTALL)
    return {name: path for name, body in sections if (path := parse_path(body, period, unit_ns, nets)) is not None}


def synthesize(top: Top, rtl: Path, library: Path | None, unit_ns: float, folder: Path, for_simulation: bool) -> Row:
    """One row of the result; with for_simulation also netlists that need no cell models."""
    for old in folder.glob(f"{top.name}.*.v"):
        old.unlink()
    stat = folder / f"{top.name}.stat"
    commands = load_commands(top, rtl)
    # Without a library too: what Yosys names after it depends on it, and ABC's result on the names.
    commands.append("design -save loaded")
    shutil.copyfile(SYNTH / "transistors.ys", folder / "transistors.ys")
    commands.append(f"tee -q -o {stat} script {folder / 'transistors.ys'}")
    if for_simulation:
        commands.append(f"write_verilog -noattr {folder / f'{top.name}.gates.v'}")
    if library:
        commands += [
            "design -load loaded",
            "synth -flatten",
            f"dfflibmap -liberty {library}",
            "opt",
            "design -save flops_mapped",
        ]
        constraints = library.with_suffix(".constr")
        for mapping, script in MAPPINGS.items():
            constr = f" -constr {constraints}" if mapping != "small" and constraints.exists() else ""
            commands += [
                "design -load flops_mapped",
                f"abc -liberty {library}{constr} -script +{script.replace(' ', ',')}",
                "design -save mapped",
                "opt_clean -purge",
                "delete t:$scopeinfo",
                f"tee -q -o {folder / f'{top.name}.{mapping}.stat'} stat -liberty {library}",
                f"rename -top {top.module}",
                f"write_verilog -noattr -simple-lhs -noexpr -nohex -nodec {folder / f'{top.name}.{mapping}.v'}",
            ]
            if for_simulation:  # each cell replaced by its function; registers keep their names
                commands += [
                    "design -load mapped",
                    "delete t:$scopeinfo",
                    f"rename -top {top.module}",
                    f"read_liberty -overwrite {library}",
                    f"hierarchy -top {top.module}",
                    "flatten",
                    "opt_clean",
                    f"write_verilog -noattr {folder / f'{top.name}.{mapping}.flat.v'}",
                ]
    try:
        logged([*YOSYS, "-p", "; ".join(commands)], folder / f"{top.name}.yosys.log", top.name)
    except ToolFailed:
        # ABC crashes on some RTL of others in the second of the scripts for speed: the first one counts then.
        if not (top.foreign and library and (folder / f"{top.name}.fast.v").is_file()):
            raise

    transistors, flops = count_transistors(stat.read_text(encoding="utf-8"), top.name)
    row: Row = {"top": top.name, "module": top.module, "transistors": transistors, "flops": flops}
    if top.chparam:
        row["parameters"] = top.chparam
    if top.left_out:
        row["left_out"] = top.left_out
    if top.unit:
        row["unit"] = top.unit.name
        row["scheduler"] = top.scheduler
        row["lanes_per_cycle"] = top.unit.lanes_per_cycle
    if library:
        for mapping in MAPPINGS:
            if mapping == "fast_too" and not (folder / f"{top.name}.fast_too.v").is_file():
                continue
            text = (folder / f"{top.name}.{mapping}.stat").read_text(encoding="utf-8")
            area = re.search(r"Chip area for .*: ([\d.]+)", text)
            unknown = re.findall(r"Area for cell type (\S+) is unknown", text)
            if not area or unknown:
                raise ToolFailed(f"{top.name}: cells left without an area: {' '.join(unknown) or 'all'}")
            split_assigns(folder / f"{top.name}.{mapping}.v")
            paths = time_netlist(top, folder / f"{top.name}.{mapping}.v", library, unit_ns, folder, mapping)
            if "worst" not in paths:
                raise ToolFailed(f"{top.name}: sta found no path")
            if mapping == "fast_too":
                if paths["worst"]["ns"] >= row["fast_path_ns"]:
                    continue
                for file in list(folder.glob(f"{top.name}.fast_too.*")):
                    file.replace(file.with_name(file.name.replace(".fast_too.", ".fast.")))
            prefix = "" if mapping == "small" else "fast_"
            row[prefix + "area"] = round(float(area.group(1)), 4)
            row[prefix + "path_ns"] = paths["worst"]["ns"]
            row[prefix + "paths"] = paths
    return row


# ------------------------------------------------------------------------------------------------
# Result
# ------------------------------------------------------------------------------------------------


def percent(share: float) -> str:
    return f"{100 * share:.4f}".rstrip("0").rstrip(".") + " %"


def table(rows: list[Row]) -> str:
    """Aligned text table."""
    timed = "area" in rows[0]
    header = ["top", "transistors", "flops", "of ARC's 70,000"]
    if timed:
        header += ["area", "path ns", "fast: area", "path ns"]
    lines = [header]
    for row in rows:
        share = f"{row['transistors'] / PAPER_TRANSISTORS:.1%}".replace("%", " %")
        line = [row["top"], f"{row['transistors']:,}", f"{row['flops']:,}", share]
        if timed:
            digits = 0 if row["area"] >= 1000 else 2
            line += [
                f"{row['area']:,.{digits}f}",
                f"{row['path_ns']:.3f}",
                f"{row['fast_area']:,.{digits}f}",
                f"{row['fast_path_ns']:.3f}",
            ]
        lines.append(line)
    widths = [max(len(line[i]) for line in lines) for i in range(len(header))]
    text = []
    for line in lines:
        cells = [line[0].ljust(widths[0])]
        cells += [cell.rjust(width) for cell, width in zip(line[1:], widths[1:])]
        text.append("  ".join(cells).rstrip())
    return "\n".join(text)


def coalescer_lines(rows: list[Row]) -> list[str]:
    """What the coalescer adds where it is used; alone, ABC may find a better or a worse form of it."""
    transistors = {row["top"]: row["transistors"] for row in rows}
    lines = []
    for unit in UNITS:
        for scheduler in unit.schedulers:
            names = [top.name for top in unit_rows(unit, scheduler)]
            if all(name in transistors for name in names):
                without, whole = (transistors[name] for name in names)
                lines.append(
                    f"{unit.row(scheduler)}: the coalescer (arc_addr_match), which every GPU has, is {whole - without:,} "
                    f"of the {whole:,} transistors of {names[1]}; {without:,} are what ARC adds."
                )
    return lines


def comparison(rows: list[Row]) -> list[dict[str, Any]]:
    """The paper's figure beside ours, one entry for each compared row."""
    entries = []
    for row in rows:
        if row["top"] in COMPARED:
            entries.append(
                {
                    "top": row["top"],
                    "transistors": row["transistors"],
                    "units": PAPER_UNITS,
                    "share_of_gpu": row["transistors"] * PAPER_UNITS / PAPER_GPU_TRANSISTORS,
                    "paper_transistors_below": PAPER_TRANSISTORS,
                    "paper_share_of_gpu": PAPER_SHARE,
                }
            )
    return entries


def print_result(result: dict[str, Any]) -> None:
    print(table(result["rows"]))
    if result["liberty"]:
        names = ", ".join(os.path.basename(file["path"]) for file in result["liberty"]["files"])
        print(f"\nArea in the units of {names}; path is the worst one, without wires, with an ideal clock.")
    if lines := coalescer_lines(result["rows"]):
        print("\n" + "\n".join(lines))
    for entry in result["paper"]:
        print(
            f"\n{entry['top']}: 128 x 4 units are {entry['transistors'] * PAPER_UNITS / 1e6:.1f} M transistors, "
            f"{percent(round(entry['share_of_gpu'], 6))} of the 76 billion of an RTX 4090."
            f"\n  ARC (ASPLOS '25, 5.4) reports under 70,000 transistors per FPU, {percent(PAPER_SHARE)}."
        )


# ------------------------------------------------------------------------------------------------
# Baseline
# ------------------------------------------------------------------------------------------------


def provenance(result: dict[str, Any]) -> dict[str, str | None]:
    """What the figures depend on besides the RTL."""
    liberty_hash = result["liberty"]["sha256"] if result["liberty"] else None
    return {**result["tools"], "liberty": liberty_hash}


def check(result: dict[str, Any], baseline_path: str) -> int:
    """Compares with the accepted figures; exit status."""
    baseline = read_json(baseline_path, SCHEMA)
    try:
        accepted = {row["top"]: row for row in baseline["rows"]}
        recorded = provenance(baseline)
    except (KeyError, TypeError) as error:
        raise BadInput(f"{baseline_path}: is not {SCHEMA}") from error

    now = provenance(result)
    stale = [
        f"{key} was {recorded.get(key)}, is {value}"
        for key, value in now.items()
        if value is not None and recorded.get(key) != value
    ]
    differences = []
    for row in result["rows"]:
        if row["top"] not in accepted:
            differences.append(f"{row['top']}: has no accepted figures")
            continue
        for key in CHECKED:
            if key not in row:
                continue
            old, new = accepted[row["top"]].get(key), row[key]
            if old is None or abs(new - old) > TOLERANCE * old:
                change = "" if not old else f" ({100 * (new - old) / old:+.1f} %)"
                differences.append(f"{row['top']}: {key} was {old}, is {new}{change}")
    print()
    for line in differences:
        print(("note: " if stale else "FAIL: ") + line)
    if stale:
        print("STALE: the accepted figures were made with other tools; nothing is checked.")
        for line in stale:
            print("  " + line)
        print("Record new ones with `warpfold synth --record`.")
        return 0
    if differences:
        print(f"A figure differs from synth/baseline.json by more than {TOLERANCE:.0%}, in whichever direction.")
        print("When that is meant, record it with `warpfold synth --record` and say why in the commit.")
        return 1
    print(f"check: all figures agree with the accepted ones (rows: {len(result['rows'])})")
    return 0


# ------------------------------------------------------------------------------------------------
# Command line
# ------------------------------------------------------------------------------------------------


def options(parser: Parser) -> None:
    parser.add_argument("--top", action="append", metavar="NAME", help="Only this row: a module or a variant")
    parser.add_argument(
        "--liberty", action="append", metavar="FILE", help="Liberty file, plain or .gz, instead of Debian's osu018"
    )
    parser.add_argument("--json", metavar="FILE", help="Write the result as JSON")
    parser.add_argument("--work", metavar="DIR", help="Keep netlists, reports and logs there")
    parser.add_argument("--transistors-only", action="store_true", help="No Liberty file, area and path")
    parser.add_argument("--jobs", type=int, metavar="N", help="Rows at a time; else one for each core")
    parser.add_argument("--rtl", metavar="DIR", default=str(RTL), help="RTL folder with its arc.f")
    group = parser.add_mutually_exclusive_group()
    group.add_argument("--check", action="store_true", help="Fail if a figure is more than 2 % off the accepted one")
    group.add_argument("--record", action="store_true", help="Accept the figures of this run")
    parser.add_argument("--baseline", metavar="FILE", default=str(BASELINE), help="Accepted figures")
    parser.footer(
        "Example: what ARC adds to a sub-core\n"
        "  warpfold synth --top arc_unit_paired --transistors-only\n\n"
        "Exit code: 0 done, 1 a check or a tool failed, 2 bad usage or bad input."
    )


def checked(arguments: argparse.Namespace) -> None:
    """Refuses what does not go together, and fills in what was left open."""
    arguments.tops = rows_named(arguments.top, TOPS) if arguments.top else TOPS
    if arguments.transistors_only and arguments.liberty:
        raise BadInput("--transistors-only takes no --liberty")
    if arguments.record and (arguments.top or arguments.liberty or arguments.transistors_only):
        raise BadInput("--record takes neither --top, --liberty nor --transistors-only")
    if arguments.jobs is None:
        arguments.jobs = len(os.sched_getaffinity(0))
    if arguments.jobs < 1:
        raise BadInput(f"--jobs must be at least 1, not {arguments.jobs}")
    if arguments.json:
        check_writable(arguments.json)
    if arguments.record:
        check_writable(arguments.baseline)


def need_tools(transistors_only: bool) -> None:
    need("yosys", *([] if transistors_only else ["sta"]))


def prepare_liberty(arguments: argparse.Namespace, folder: Path) -> tuple[Path, float, dict[str, Any]]:
    """(merged file, time unit in ns, description) of the Liberty files."""
    paths = arguments.liberty or [DEFAULT_LIBERTY]
    if not arguments.liberty and not os.path.exists(DEFAULT_LIBERTY):
        raise BadInput(f"no {DEFAULT_LIBERTY}; it is in Debian's package qflow-tech-osu018")
    try:
        library, dropped = liberty.merge(paths)
        unit_ns = liberty.time_unit_ns(library)
    except RecursionError as error:
        raise BadInput(f"{paths[0]}: groups within groups too deep") from error
    merged = check_path(folder / "merged.lib")
    text = liberty.write(library) + "\n"
    merged.write_text(text, encoding="latin-1")
    if driver := liberty.small_buffer(library):
        merged.with_suffix(".constr").write_text(f"set_driving_cell {driver}\n", encoding="latin-1")
    files = [{"path": path, "sha256": hashlib.sha256(Path(path).read_bytes()).hexdigest()} for path in paths]
    return (
        merged,
        unit_ns,
        {
            "library": library.args.strip('"'),
            "sha256": hashlib.sha256("".join(file["sha256"] for file in files).encode()).hexdigest(),
            "files": files,
            "cells": len(library.all("cell")),
            "cells_dropped": sum(len(names) for names in dropped.values()),
            "time_unit": library.attribute("time_unit"),
        },
    )


def synthesize_all(arguments: argparse.Namespace, library: Path | None, unit_ns: float, folder: Path) -> list[Row]:
    """Rows in table order. The largest starts first, so that no core is left with it at the end."""
    rows: dict[str, Row] = {}
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        futures = {
            pool.submit(
                synthesize, top, Path(arguments.rtl).absolute(), library, unit_ns, folder, bool(arguments.work)
            ): top
            for top in reversed(arguments.tops)
        }
        try:
            for future in concurrent.futures.as_completed(futures):
                rows[futures[future].name] = future.result()
                if sys.stderr.isatty():
                    print(f"{len(rows)}/{len(futures)} {futures[future].name}", file=sys.stderr)
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
    return [rows[top.name] for top in arguments.tops]


def run(arguments: argparse.Namespace) -> int:
    checked(arguments)
    need_tools(arguments.transistors_only)
    rtl_files(Path(arguments.rtl))
    with scratch("warpfold-synth-") as temporary:
        folder = Path(temporary)
        arguments.rtl = without_blanks(arguments.rtl, folder)
        if arguments.work:
            folder = check_path(Path(arguments.work).resolve())
            try:
                folder.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise BadInput(f"cannot make folder {folder}: {error.strerror}") from error
        library, unit_ns, description = None, 1.0, None
        if not arguments.transistors_only:
            library, unit_ns, description = prepare_liberty(arguments, folder)
        rows = synthesize_all(arguments, library, unit_ns, folder)
    result = {
        "schema": SCHEMA,
        "tools": tool_versions(not arguments.transistors_only),
        "liberty": description,
        "rows": rows,
        "paper": comparison(rows),
    }
    print_result(result)
    if arguments.json:
        write_json(arguments.json, result)
    if arguments.record:
        write_json(arguments.baseline, result)
        print(f"\nrecorded in {arguments.baseline}")
    return check(result, arguments.baseline) if arguments.check else 0
