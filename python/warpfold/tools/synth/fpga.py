# SPDX-License-Identifier: Apache-2.0
"""Cells and clock of a module in an iCE40 HX8K, after routing by nextpnr. `warpfold fpga` runs it.

A unit has more ports than the device has pins. So each input is a flop of a shift register, and each output ends in a
flop that a second one shifts out: every path of the unit then lies between flops, and is in the clock that comes out.
"""

import argparse
import hashlib
import json
import re
import shutil
from pathlib import Path

from ..base.errors import BadInput, ToolFailed
from ..base.files import check_writable, write_json
from ..base.parser import Parser
from ..base.places import RTL
from ..base.processes import first_match, logged, need
from . import synth
from .synth import Row, Top


SCHEMA = "warpfold.fpga/1"
DEFAULT_TOP = "arc_reduction_serial"
DEVICE, PACKAGE, CELLS = "hx8k", "ct256", 7680
TOOLS = ("yosys", "nextpnr-ice40", "icepack", "icetime")


def wrapper(ports: list[tuple[str, int, str]]) -> tuple[int, str]:
    """Verilog around module `unit`: shift registers at all of its ports but clock and reset."""
    inputs = [(name, width) for name, width, way in ports if way == "input" and name not in ("clk_i", "rst_ni")]
    outputs = [(name, width) for name, width, way in ports if way == "output"]
    names = {name for name, _, _ in ports}
    pins = [f".{name}({name})" for name in ("clk_i", "rst_ni") if name in names]
    for group, vector in ((inputs, "in_q"), (outputs, "out")):
        low = 0
        for name, width in group:
            pins.append(f".{name}({vector}[{low} +: {width}])")
            low += width
    wide_in, wide_out = (max(1, sum(width for _, width in group)) for group in (inputs, outputs))
    return (
        wide_in + wide_out,
        f"""\
module fpga_top (input clk_i, input rst_ni, input shift_i, input take_i, output shift_o);
  reg [{wide_in - 1}:0] in_q;
  reg [{wide_out - 1}:0] out_q;
  wire [{wide_out - 1}:0] out;
  always @(posedge clk_i) begin
    in_q <= {{in_q, shift_i}};
    out_q <= take_i ? out : {{out_q, 1'b0}};
  end
  assign shift_o = out_q[{wide_out - 1}];
  unit u_unit ({', '.join(pins)});
endmodule
""",
    )


def read_ports(top: Top, rtl: Path, folder: Path) -> list[tuple[str, int, str]]:
    """[(name, width, direction)] of the module as it is synthesized; leaves it in unit.il."""
    file = folder / "unit.json"
    logged(
        [
            *synth.YOSYS,
            "-p",
            "; ".join(
                [
                    *synth.load_commands(top, rtl),
                    "proc",
                    "delete t:$assert t:$assume t:$cover",
                    "flatten",
                    "rename -top unit",
                    f"write_json {file}",
                    f"write_rtlil {folder / 'unit.il'}",
                ]
            ),
        ],
        folder / "unit.log",
        top.name,
    )
    ports = json.loads(file.read_text(encoding="utf-8"))["modules"]["unit"]["ports"]
    return [(name, len(port["bits"]), port["direction"]) for name, port in ports.items()]


def run_tools(top: Top, rtl: Path, seed: int, folder: Path) -> Row:
    """A row of the result."""
    flops, text = wrapper(read_ports(top, rtl, folder))
    (folder / "fpga_top.v").write_text(text, encoding="ascii")
    logged(
        [
            *synth.YOSYS,
            "-p",
            f"read_rtlil {folder / 'unit.il'}; read_verilog {folder / 'fpga_top.v'}; "
            f"synth_ice40 -top fpga_top -json {folder / 'mapped.json'}",
        ],
        folder / "yosys.log",
        top.name,
    )
    log = folder / "nextpnr.log"
    logged(
        [
            "nextpnr-ice40",
            f"--{DEVICE}",
            "--package",
            PACKAGE,
            "--seed",
            str(seed),
            "--json",
            str(folder / "mapped.json"),
            "--asc",
            str(folder / "routed.asc"),
        ],
        log,
        top.name,
    )
    said = log.read_text(encoding="utf-8")
    cells = re.search(r"ICESTORM_LC:\s+(\d+)/", said)
    clocks = re.findall(r"Max frequency for clock\s+'[^']*': ([\d.]+) MHz", said)
    if not cells or not clocks:
        raise ToolFailed(f"{top.name}: nextpnr-ice40 said nothing of cells or clock")
    logged(["icepack", str(folder / "routed.asc"), str(folder / "routed.bin")], folder / "icepack.log", top.name)
    logged(["icetime", "-d", DEVICE, "-t", str(folder / "routed.asc")], folder / "icetime.log", top.name)
    second = re.search(
        r"Total path delay: [\d.]+ ns \(([\d.]+) MHz\)", (folder / "icetime.log").read_text(encoding="utf-8")
    )
    return {
        "top": top.name,
        "device": DEVICE,
        "package": PACKAGE,
        "seed": seed,
        "logic_cells": int(cells.group(1)),
        "logic_cells_of_device": CELLS,
        "flops_at_ports": flops,
        "mhz": float(clocks[-1]),
        "mhz_by_icetime": float(second.group(1)) if second else None,
        "bitstream_sha256": hashlib.sha256((folder / "routed.bin").read_bytes()).hexdigest(),
    }


def with_address_bits(rtl: Path, bits: int, folder: Path) -> Path:
    """A copy of the RTL with narrower addresses; their width is a constant of its package."""
    narrow = folder / "narrow"
    shutil.copytree(rtl, narrow, ignore=shutil.ignore_patterns("doc"))
    package = narrow / "arc_pkg.sv"
    text = package.read_text(encoding="utf-8") if package.is_file() else ""
    changed, count = re.subn(r"(localparam int AddrWidth = )\d+;", rf"\g<1>{bits};", text)
    if count != 1:
        raise BadInput("--address-bits needs RTL whose arc_pkg.sv has AddrWidth")
    package.write_text(changed, encoding="utf-8")
    return narrow


def print_row(row: Row) -> None:
    print(
        f"{row['top']}, iCE40 {row['device'].upper()}-{row['package'].upper()}: {row['logic_cells']:,} of "
        f"{row['logic_cells_of_device']:,} logic cells ({row['flops_at_ports']:,} flops at the ports among them), "
        f"{row['mhz']:.1f} MHz after routing"
        + (f" (icetime: {row['mhz_by_icetime']:.1f} MHz)" if row["mhz_by_icetime"] else "")
    )


def options(parser: Parser) -> None:
    parser.add_argument("--top", metavar="NAME", default=DEFAULT_TOP, help="A row of `warpfold synth` or a module")
    parser.add_argument("--rtl", metavar="DIR", default=str(RTL), help="RTL folder")
    parser.add_argument("--file-list", metavar="FILE", help="The RTL's files in order; else arc.f in the RTL folder")
    parser.add_argument("--address-bits", type=int, metavar="N", help="Narrower addresses; else as in the RTL")
    parser.add_argument("--seed", type=int, metavar="N", default=1, help="Seed of the placement")
    parser.add_argument("--json", metavar="FILE", help="Write the result as JSON")
    parser.add_argument("--out", metavar="DIR", help="Keep bitstream, netlist and logs there")
    parser.footer(
        "Its ports lie behind shift registers. One to a few minutes.\n\n"
        "Example: the fused reduction unit\n"
        "  warpfold fpga --top arc_reduction_fused\n\n"
        "Exit code: 0 done, 1 a tool failed (does not fit, no route), 2 bad usage or bad input."
    )


def checked(arguments: argparse.Namespace) -> None:
    if arguments.address_bits is not None and (arguments.file_list or not 8 <= arguments.address_bits <= 64):
        raise BadInput("--address-bits from 8 to 64, and not with --file-list")
    if not 0 <= arguments.seed < 2**31:
        raise BadInput("--seed at least 0 and below 2^31")
    if arguments.json:
        check_writable(arguments.json)


def run(arguments: argparse.Namespace) -> int:
    checked(arguments)
    with synth.scratch("warpfold-fpga-") as temporary:
        folder = Path(temporary)
        rtl = synth.rtl_view(arguments.rtl, arguments.file_list, folder)
        if arguments.address_bits:
            rtl = with_address_bits(rtl, arguments.address_bits, folder)
        top = synth.find_top(arguments.top, rtl)
        need(*TOOLS)
        work = folder / "work"
        work.mkdir()
        try:
            row = run_tools(top, rtl, arguments.seed, work)
            if arguments.address_bits:
                row["address_bits"] = arguments.address_bits
        finally:
            if arguments.out:
                shutil.copytree(work, arguments.out, dirs_exist_ok=True)
    result = {
        "schema": SCHEMA,
        "tools": {
            **synth.tool_versions(False),
            "nextpnr-ice40": first_match(["nextpnr-ice40", "--version"], r"Version [^\s)]+"),
        },
        "rows": [row],
    }
    print_row(row)
    if arguments.json:
        write_json(arguments.json, result)
    return 0
