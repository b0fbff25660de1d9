# SPDX-License-Identifier: Apache-2.0
"""Power of the mapped netlists while lanes of a real trace go through them. `warpfold power` runs it.

The netlist is simulated by Verilator beside the RTL, on the requests and values of a trace, and every net's
toggles are counted; a netlist whose outputs differ from the RTL's stops the run. OpenSTA gives the power
of every cell with all nets toggling once a cycle and with none. A cell's power is then: leakage, what it
takes when nothing toggles (the clock in a flop), and the rest times the toggles of its output per cycle.
"""

import argparse
import gzip
import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..base import processes
from ..base.errors import BadInput, ToolFailed
from ..base.files import check_writable, write_json
from ..base.parser import Parser
from ..base.places import RTL, SYNTH, TRACES, warpfold
from ..base.processes import logged, need
from ..base.units import Unit
from . import synth
from .synth import Row, Top


SCHEMA = "warpfold.power/1"
TRACE = TRACES / "truck-values.wft"
# Widths of the fields of a line of `warpfold stimulus`, from the lowest bit; those of the register file follow.
FIELDS = [
    ("req_valid_i", 1),
    ("req_mask_i", 32),
    ("req_addr_i", 32 * 48),
    ("req_tag_i", 12),
    ("req_words_i", 4),
    ("lsu_room_i", 1),
    ("rf_ready_i", 1),
]
RESET_CYCLES = 2


@dataclass(frozen=True)
class Driven:
    """The unit that the recorded requests go through."""

    module: str  # with the ports of arc_subcore
    parameters: str  # of its instance, ".Datapath(2)"; may be empty
    banks: int  # words that its register-file read delivers
    recorder: str  # what `warpfold stimulus` has answer: a kind, or a shared object
    scheduler: str = ""
    ports: frozenset[str] = frozenset()  # those of FIELDS that it has; empty: all
    files: tuple[Path, ...] = ()  # sources; empty: those of arguments.rtl
    options: tuple[str, ...] = ()  # folders of `include files, and macros


def driven_unit(unit: Unit, scheduler: str | None = None) -> Driven:
    """A unit of the family."""
    scheduler = scheduler or unit.schedulers[0]
    return Driven(
        "arc_subcore",
        ", ".join(f".{name}({value})" for name, value in unit.parameters(scheduler).items()),
        unit.lanes_per_cycle,
        unit.name,
        scheduler,
    )


def scope_of(top: Top) -> str:
    """The instance inside arc_subcore that a row of a unit is."""
    return "u_unit" if top.module == "arc_unit" else ""


def read_netlist(path: Path) -> tuple[dict[str, int], dict[str, int], dict[str, dict[str, str]]]:
    """(inputs, outputs, cells) of mapped Verilog: port -> width, instance -> nets of its outputs."""
    text = Path(path).read_text(encoding="utf-8")
    ports: dict[str, dict[str, int]] = {"input": {}, "output": {}}
    for kind, high, name in re.findall(r"^  (input|output) (?:\[(\d+):0\] )?(\S+?) ?;$", text, re.MULTILINE):
        ports[kind][name.lstrip("\\")] = int(high or 0) + 1
    cells = {}
    for instance, body in re.findall(r"^  \w+ (\S+) \((.*?)\);$", text, re.MULTILINE | re.DOTALL):
        cells[instance] = {
            pin: re.sub(r"\s+", "", net).removeprefix("\\")
            for pin, net in re.findall(r"\.(\w+)\((.*?)\)(?:,|$)", body.strip(), re.MULTILINE)
        }
    return ports["input"], ports["output"], cells


def testbench(inputs: dict[str, int], outputs: dict[str, int], driven: Driven, cycles: int, scope: str = "") -> str:
    """Verilog: the RTL on the recorded inputs, the netlist on the same and on the RTL's inner signals; or, with the
    scope of an instance inside the RTL, the netlist on that one's ports."""
    inside = f"u_rtl.{scope}." if scope else "u_rtl."
    fields = [*FIELDS, ("rf_data_i", 32 * driven.banks), ("rf_bin_i", 32 * 5)]
    width = sum(bits for _, bits in fields)
    lines = [
        "`timescale 1ns/1ns",
        "module bench;",
        f"  reg [{width - 1}:0] line [0:{cycles - 1}];",
        f"  reg [{width - 1}:0] now = 0;",
        "  reg clk_i = 0, rst_ni = 1;",
        "  integer cycle, i;",
        "  integer reduced = 0, results = 0, plain = 0, differs = 0;",
    ]
    low, connections = 0, [".clk_i(clk_i)", ".rst_ni(rst_ni)"]
    for name, bits in fields:
        lines.append(f"  wire [{bits - 1}:0] {name} = now[{low} +: {bits}];")
        if not driven.ports or name in driven.ports:
            connections.append(f".{name}({name})")
        low += bits
    own = set() if scope else {name for name, _ in fields} | {"clk_i", "rst_ni"}
    pins, checks = [], []
    for name in inputs:
        pins.append(f".\\{name} ({name if name in own else inside + name})")
    for index, (name, bits) in enumerate(outputs.items()):
        lines.append(f"  wire [{bits - 1}:0] out{index};")
        pins.append(f".\\{name} (out{index})")
        # A flop without reset starts unknown, in gates longer than in the RTL.
        checks.append(f"      if (|(out{index} ^ {inside}{name}) === 1'b1) differs = differs + 1;")
    parameters = f"#({driven.parameters}) " if driven.parameters else ""
    lines += [
        f"  {driven.module} {parameters}u_rtl ({', '.join(connections)});",
        f"  netlist u_netlist ({', '.join(pins)});",
        "  initial begin",
        '    $readmemh("stimulus.hex", line);',
        "    #5 rst_ni = 0;",
        f"    repeat ({RESET_CYCLES}) begin #5 clk_i = 1; #5 clk_i = 0; end",
        "    rst_ni = 1;",
        '    $dumpfile("toggles.vcd");',
        "    $dumpvars;",
        f"    for (cycle = 0; cycle < {cycles}; cycle = cycle + 1) begin",
        "      now = line[cycle];",
        "      #4;",
        *checks,
        "      if (u_rtl.rf_valid_o && rf_ready_i)",
        "        for (i = 0; i < 32; i = i + 1) reduced = reduced + u_rtl.rf_mask_o[i];",
        "      if (u_rtl.lsu_valid_o && lsu_room_i && u_rtl.lsu_reduced_o) results = results + 1;",
        "      if (u_rtl.lsu_valid_o && lsu_room_i && !u_rtl.lsu_reduced_o)",
        "        for (i = 0; i < 32; i = i + 1) plain = plain + u_rtl.lsu_mask_o[i];",
        "      #1 clk_i = 1; #5 clk_i = 0;",
        "    end",
        '    $display("@ %0d %0d %0d %0d", reduced, results, plain, differs);',
        "    $finish;",
        "  end",
        "endmodule",
    ]
    return "\n".join(lines) + "\n"


def count_toggles(vcd: Path) -> dict[str, int]:
    """Net -> changes between 0 and 1, from a value-change dump."""
    names: dict[str, list[tuple[str, int]]] = {}  # code -> net, width
    last: dict[str, str] = {}
    toggles: dict[str, list[int]] = {}
    scopes: list[str] = []
    with open(vcd, encoding="ascii") as file:
        for line in file:
            line = line.strip()
            if line.startswith("$scope"):
                scopes.append(line.split()[2])
            elif line.startswith("$upscope"):
                scopes.pop()
            elif line.startswith("$var") and scopes[-1] == "u_netlist":
                part = line.split()
                names.setdefault(part[3], []).append((part[4].lstrip("\\"), int(part[2])))
            elif line.startswith("$enddefinitions"):
                break
        for code, aliases in names.items():
            width = aliases[0][1]
            last[code] = "x" * width
            toggles[code] = [0] * width
        for line in file:
            first = line[:1]
            if first in "01xz":
                value, code = first, line[1:].rstrip()
            elif first == "b":
                value, code = line[1:].split()
            else:
                continue
            if code not in last:
                continue
            old, counts = last[code], toggles[code]
            width = len(counts)
            value = value.rjust(width, "0" if value[0] in "01" else value[0])
            for bit in range(width):
                was, now = old[width - 1 - bit], value[width - 1 - bit]
                if was != now and was in "01" and now in "01":
                    counts[bit] += 1
            last[code] = value
    nets: dict[str, int] = {}
    for code, aliases in names.items():
        for name, width in aliases:
            if width == 1:
                nets[name] = toggles[code][0]
            for bit in range(width):
                nets[f"{name}[{bit}]"] = toggles[code][bit]
    return nets


def cell_power(
    netlist: Path, top: Top, paths: list[Path], period: float, folder: Path, spef: str = ""
) -> dict[str, tuple[float, float, float, float]]:
    """Cell -> (internal, switching at one toggle a cycle, internal without toggles, leakage), in watts; with the wires
    of a SPEF file, if any."""
    env = dict(
        os.environ,
        SYNTH_LIBERTY=" ".join(map(str, paths)),
        SYNTH_NETLIST=str(netlist),
        SYNTH_TOP=top.module,
        SYNTH_PERIOD=repr(period),
        SYNTH_SPEF=str(spef),
    )
    log = folder / f"{top.name}.power.log"
    logged(["sta", "-no_splash", "-exit", SYNTH / "power.tcl"], log, top.name, env=env)
    text = log.read_text(encoding="utf-8")
    if "Error:" in text or "@ done" not in text:
        error = next((line for line in text.splitlines() if "Error:" in line), "no report")
        raise ToolFailed(f"{top.name}: sta failed: {error}")
    sections = re.split(r"^@ \S+\n", text, flags=re.MULTILINE)[1:3]
    busy, still = (
        {
            name: [float(number) for number in rest]
            for name, *rest in (line.split() for line in section.splitlines())
            if len(rest) == 4
        }
        for section in sections
    )
    return {name: (busy[name][0], busy[name][1], still[name][0], busy[name][2]) for name in busy}


def simulate(
    netlist: Path, top: Top, driven: Driven, arguments: argparse.Namespace, library: Path, work: Path, scope: str = ""
) -> tuple[dict[str, int], tuple[int, int, int]]:
    """(toggles of each net, counts) of a netlist beside the RTL: lanes reduced, results, lanes of plain REDs."""
    inputs, outputs, _ = read_netlist(netlist)
    work.mkdir(exist_ok=True)
    # Every net keeps its name, and each cell becomes its function. Vectors go: Verilator
    # 5.006, when it traces, simulated those of the fused unit's netlist wrongly.
    logged(
        [
            *synth.YOSYS,
            "-p",
            f"read_liberty {library}; read_verilog {netlist}; hierarchy -top {top.module}; "
            f"flatten; splitnets; rename {top.module} netlist; write_verilog -noattr {work / 'netlist.v'}",
        ],
        work / "yosys.log",
        top.name,
    )
    with open(work / "stimulus.hex", "w", encoding="ascii") as file:
        done = subprocess.run(
            [
                str(warpfold()),
                "stimulus",
                arguments.trace,
                driven.recorder,
                str(arguments.cycles),
                str(arguments.stall),
                *filter(None, [driven.scheduler]),
            ],
            stdout=file,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    if done.returncode != 0:
        raise BadInput(done.stderr.strip().removeprefix("warpfold: ") or "the trace gives no requests")
    (work / "bench.v").write_text(testbench(inputs, outputs, driven, arguments.cycles, scope), encoding="ascii")
    rtl = Path(arguments.rtl).resolve()
    found = synth.listed(rtl)
    files, options = (driven.files, driven.options) if driven.files else (found.files, found.options())
    # Optimising code that runs for a few thousand cycles would take longer than to run it. What Verilator's makefile
    # says of that comes after -CFLAGS.
    logged(
        [
            "verilator",
            "--binary",
            "--trace",
            "--trace-underscore",
            "-Wno-lint",
            "-Wno-fatal",
            "-O1",
            "--reloop-limit",
            "64",
            "-MAKEFLAGS",
            "OPT_FAST= OPT_GLOBAL=",
            "-DSYNTHESIS",
            *options,
            "--top-module",
            "bench",
            "--Mdir",
            str(work / "obj"),
            "-j",
            "2",
            *map(str, files),
            str(work / "netlist.v"),
            str(work / "bench.v"),
        ],
        work / "verilator.log",
        top.name,
    )
    done = processes.run([work / "obj/Vbench"], cwd=work, together=True)
    counts = re.search(r"^@ (\d+) (\d+) (\d+) (\d+)$", done.stdout, re.MULTILINE)
    if not counts:
        raise ToolFailed(f"{top.name}: the simulation failed: {done.stdout.strip()[-200:]}")
    reduced, results, plain, differs = (int(number) for number in counts.groups())
    if differs:
        raise ToolFailed(f"{top.name}: the netlist differs from the RTL {differs} times")
    if not reduced:
        raise ToolFailed(f"{top.name}: no lane was reduced in {arguments.cycles} cycles")
    return count_toggles(work / "toggles.vcd"), (reduced, results, plain)


def add_up(
    netlist: Path,
    top: Top,
    toggles: dict[str, int],
    powers: dict[str, tuple[float, float, float, float]],
    arguments: argparse.Namespace,
) -> tuple[dict[str, float], float]:
    """(power in watts by part, toggles per cell and cycle) of the powers of each cell."""
    _, _, cells = read_netlist(netlist)
    parts = dict.fromkeys(("internal", "switching", "clock_in_flops", "leakage"), 0.0)
    rate_sum = 0.0
    for name, (busy, wire, still, leak) in powers.items():
        nets = [net for pin, net in cells[name].items() if pin in arguments.output_pins]
        if not nets or any(net not in toggles for net in nets):
            raise ToolFailed(f"{top.name}: no toggles of cell {name}: {cells.get(name)}")
        rate = sum(toggles[net] for net in nets) / len(nets) / arguments.cycles
        rate_sum += rate
        parts["internal"] += rate * (busy - still)
        parts["switching"] += rate * wire
        parts["clock_in_flops"] += still
        parts["leakage"] += leak
    return parts, rate_sum / len(cells)


def result_row(
    parts: dict[str, float], counts: tuple[int, int, int], period_ns: float, arguments: argparse.Namespace
) -> Row:
    """What the JSON says of a power and of what it was measured on."""
    reduced, results, plain = counts
    total = sum(parts.values())
    return {
        "clock_mhz": round(1e3 / period_ns, 3),
        "cycles": arguments.cycles,
        "lanes_reduced": reduced,
        "results": results,
        "lanes_plain": plain,
        "power_mw": {**{name: round(watts * 1e3, 6) for name, watts in parts.items()}, "total": round(total * 1e3, 6)},
        "pj_per_lane_reduced": round(total * period_ns * 1e-9 * arguments.cycles / reduced * 1e12, 4),
    }


def measure(
    top: Top,
    mapping: str,
    row: Row,
    arguments: argparse.Namespace,
    library: Path,
    paths: list[Path],
    unit_ns: float,
    folder: Path,
) -> Row:
    """One row of the result."""
    assert top.unit is not None
    netlist = folder / f"{top.name}.{mapping}.v"
    period_ns = (
        1e3 / arguments.clock_mhz
        if arguments.clock_mhz
        else row["path_ns" if mapping == "small" else f"{mapping}_path_ns"]
    )
    driven = driven_unit(top.unit, top.scheduler)
    measured = power_of(netlist, top, driven, arguments, library, paths, (period_ns, unit_ns), folder)
    return {"top": top.name, "unit": top.unit.name, "scheduler": top.scheduler, "mapping": mapping, **measured}


def power_of(
    netlist: Path,
    top: Top,
    driven: Driven,
    arguments: argparse.Namespace,
    library: Path,
    paths: list[Path],
    clock: tuple[float, float],
    folder: Path,
) -> Row:
    """Power of a mapped netlist; clock: its period and the library's unit of time, ns."""
    period_ns, unit_ns = clock
    toggles, counts = simulate(netlist, top, driven, arguments, library, folder / f"{top.name}.power", scope_of(top))
    powers = cell_power(netlist, top, paths, period_ns / unit_ns, folder)
    parts, rate = add_up(netlist, top, toggles, powers, arguments)
    measured = result_row(parts, counts, period_ns, arguments)
    first = ("clock_mhz", "cycles", "lanes_reduced", "results", "lanes_plain")
    return {
        **{name: measured[name] for name in first},
        "toggles_per_cell_and_cycle": round(rate, 4),
        "power_mw": measured["power_mw"],
        "pj_per_lane_reduced": measured["pj_per_lane_reduced"],
    }


def output_pins(paths: list[Path]) -> set[str]:
    """Names of output pins in these Liberty files."""
    names = set()
    for path in paths:
        text = Path(path).read_text(encoding="latin-1")
        for name, body in re.findall(r"\bpin\s*\(\s*\"?(\w+)\"?\s*\)\s*\{([^{}]*)", text):
            if re.search(r"direction\s*:\s*\"?output", body):
                names.add(name)
    return names


def whole_libraries(liberty: list[str] | None, folder: Path) -> list[Path]:
    """The Liberty files as OpenSTA takes them: their power tables are not in the merged one."""
    paths = []
    for index, path in enumerate(liberty or [synth.DEFAULT_LIBERTY]):
        data = Path(path).read_bytes()
        paths.append(synth.check_path(folder / f"whole{index}.lib"))
        paths[-1].write_bytes(gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data)
    return paths


def need_simulator() -> None:
    need("verilator", "make", "g++")


def print_result(result: dict[str, Any]) -> None:
    print(
        f"{result['trace']}, memory queue full in {result['stall']:.0%} of the cycles; {result['library']}\n".replace(
            "%", " %"
        )
    )
    header = (
        "top",
        "mapping",
        "MHz",
        "lanes",
        "toggles",
        "internal",
        "switching",
        "clock",
        "leakage",
        "total mW",
        "pJ per lane",
    )
    lines: list[tuple[str, ...]] = [header]
    for row in result["rows"]:
        power = row["power_mw"]
        lines.append(
            (
                row["top"],
                row["mapping"],
                f"{row['clock_mhz']:.1f}",
                f"{row['lanes_reduced']:,}",
                f"{row['toggles_per_cell_and_cycle']:.3f}",
                *(f"{power[key]:.3g}" for key in ("internal", "switching", "clock_in_flops", "leakage", "total")),
                f"{row['pj_per_lane_reduced']:.3g}",
            )
        )
    widths = [max(len(line[i]) for line in lines) for i in range(len(header))]
    for line in lines:
        print("  ".join([line[0].ljust(widths[0])] + [cell.rjust(width) for cell, width in zip(line[1:], widths[1:])]))


KNOWN = [top for top in synth.TOPS if top.unit]


def options(parser: Parser) -> None:
    parser.add_argument("--top", action="append", metavar="NAME", help="Only this row of `warpfold synth`, of a unit")
    parser.add_argument(
        "--liberty", action="append", metavar="FILE", help="Liberty file, plain or .gz, instead of Debian's osu018"
    )
    parser.add_argument("--trace", metavar="FILE", default=str(TRACE), help="Trace that has values")
    parser.add_argument("--cycles", metavar="N", type=int, default=4000, help="Cycles of it")
    parser.add_argument(
        "--stall", metavar="X", type=float, default=0.5, help="Share of cycles with a full memory queue"
    )
    parser.add_argument("--clock-mhz", metavar="MHZ", type=float, help="Clock; else that which the worst path allows")
    parser.add_argument("--rtl", metavar="DIR", default=str(RTL), help="RTL folder with its arc.f")
    parser.add_argument("--work", metavar="DIR", help="Keep netlists and reports there")
    parser.add_argument("--json", metavar="FILE", help="Write the result as JSON")
    parser.footer(
        "Example: the serial unit, in about a minute for each of its mappings\n"
        "  warpfold power --top arc_unit_serial\n\n"
        "Exit code: 0 done, 1 a tool failed or a netlist differs from the RTL, 2 bad usage or bad input."
    )


def run(arguments: argparse.Namespace) -> int:
    # Those that reduce something of the trace by default.
    tops = (
        synth.rows_named(arguments.top, KNOWN)
        if arguments.top
        else [top for top in KNOWN if top.unit and top.unit.adds == "f32"]
    )
    if arguments.cycles < 1 or not 0 <= arguments.stall < 1 or (arguments.clock_mhz or 1) <= 0:
        raise BadInput("--cycles at least 1, --stall at least 0 and below 1, --clock-mhz above 0")
    if not os.path.isfile(arguments.trace):
        raise BadInput(f"cannot read {arguments.trace}")
    synth.need_tools(False)
    need_simulator()
    if arguments.json:
        check_writable(arguments.json)
    with synth.scratch("warpfold-power-") as temporary:
        folder = Path(temporary)
        rtl = synth.without_blanks(arguments.rtl, folder)
        if arguments.work:
            folder = synth.check_path(Path(arguments.work).resolve())
            folder.mkdir(parents=True, exist_ok=True)
        library, unit_ns, description = synth.prepare_liberty(arguments, folder)
        paths = whole_libraries(arguments.liberty, folder)
        arguments.output_pins = output_pins([library])
        rows = []
        for top in tops:
            row = synth.synthesize(top, rtl, library, unit_ns, folder, False)
            for mapping in ("small", "fast"):
                rows.append(measure(top, mapping, row, arguments, library, paths, unit_ns, folder))
    result = {
        "schema": SCHEMA,
        "tools": synth.tool_versions(True),
        "library": description["library"],
        "liberty": description,
        "trace": os.path.basename(arguments.trace),
        "stall": arguments.stall,
        "rows": rows,
    }
    print_result(result)
    if arguments.json:
        write_json(arguments.json, result)
    return 0
