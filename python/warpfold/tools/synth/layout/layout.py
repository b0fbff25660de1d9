# SPDX-License-Identifier: Apache-2.0
"""A module placed and routed with Debian's tools, checked, timed and drawn. `warpfold layout` runs it."""

import argparse
import dataclasses
import hashlib
import os
import re
import shutil
from pathlib import Path
from typing import Any

from ...base.errors import BadInput, ToolFailed
from ...base.files import check_writable, write_json
from ...base.parser import Parser
from ...base.places import RTL, SYNTH
from ...base.processes import logged, need
from .. import synth
from ..power import need_simulator
from ..synth import Row, Top
from . import clock, compare, masks, place, repair, route, show, wires
from . import netlist as netlists
from .netlist import Cell, Netlist
from .unit_power import reason_for_none, unit_power


SCHEMA = "warpfold.layout/1"
DEFAULT_TOP = "arc_reduction_serial"
TOOLS = ("yosys", "sta", "graywolf", "qrouter", "magic", "netgen-lvs", "klayout", "tclsh")
FILES = [
    (place.LEF, "qflow-tech-osu018"),
    (synth.DEFAULT_LIBERTY, "qflow-tech-osu018"),
    (f"{place.SCRIPTS}/place2def.tcl", "qflow"),
]
# Comparisons of a layout with its netlist, between which missing vias are added.
ATTEMPTS = 3
PICTURE_WIDTH = 800


# ------------------------------------------------------------------------------------------------
# Steps
# ------------------------------------------------------------------------------------------------


def place_with_tree(netlist: Netlist, folder: Path, logs: Path) -> tuple[Path, list[list[Cell]]]:
    """Places, adds a clock tree and places again; (DEF file, levels of the tree)."""
    definition = place.place(netlist, folder, logs)
    clocks = [name for name, _, _ in netlist.ports if name == "clk_i"]
    levels = clock.insert(netlist, clocks[0], place.component_places(definition)) if clocks else []
    if levels:
        definition = place.place(netlist, folder, logs)
        clock.assign(netlist, levels, place.component_places(definition))
        place.rewire(netlist, definition)
    return definition, levels


def route_and_check(
    netlist: Netlist, folder: Path, logs: Path
) -> tuple[Path, Path, dict[str, int], list[Any], list[Any]]:
    """Routes and compares, and adds the vias that the router left out; the files and what the checks say."""
    definition, resistances = route.route(netlist, folder / "route", logs)
    vias = 0
    for attempt in range(ATTEMPTS):
        grown, violations = masks.run(netlist, definition, folder / "masks", logs / "magic.log")
        extracted = folder / "masks" / f"{netlist.top}.spice"
        differences = compare.compare(netlist, extracted, folder / "masks", logs / "netgen.log")
        if not differences or attempt == ATTEMPTS - 1:
            break
        added = repair.add_missing_vias(netlist, definition, compare.nets_named(netlist, differences))
        if not added:
            break
        vias += added
    return definition, resistances, {"vias_added": vias, "pads_grown": grown}, violations, differences


def time_layout(
    netlist: Netlist, files: dict[str, Path], library: Path, unit_ns: float, log: Path
) -> tuple[Row, dict[str, float]]:
    """Worst paths without wires, with them, and with the clock's delays."""
    period = 100.0 if unit_ns == 1.0 else 10_000.0
    env = dict(
        os.environ,
        SYNTH_LIBERTY=str(library),
        SYNTH_NETLIST=str(files["verilog"]),
        SYNTH_TOP=netlist.top,
        SYNTH_PERIOD=str(period),
        SYNTH_SPEF=str(files["spef"]),
    )
    logged(["sta", "-no_splash", "-exit", str(SYNTH / "layout/timing.tcl")], log, netlist.top, env=env)
    text = log.read_text(encoding="utf-8")
    if "Error:" in text or "@ done" not in text:
        error = next((line for line in text.splitlines() if "Error:" in line), "no report")
        raise ToolFailed(f"{netlist.top}: sta failed: {error}")
    sections = dict(re.findall(r"^@ (\w+)\n(.*?)(?=^@ )", text, re.MULTILINE | re.DOTALL))
    paths = {name: synth.parse_path(body, period, unit_ns, netlist.registers) for name, body in sections.items()}
    result = {"worst": {"without_wires": paths["ideal"], "with_wires": paths["wires"]}}
    if paths.get("ideal_reg_to_reg"):
        result["reg_to_reg"] = {
            "without_wires": paths["ideal_reg_to_reg"],
            "with_wires": paths["wires_reg_to_reg"],
            "with_tree": paths["tree_reg_to_reg"],
        }
    return result, clock_delays(sections.get("skew", ""), sections.get("hold", ""), unit_ns)


def clock_delays(report: str, hold: str, unit_ns: float) -> dict[str, float]:
    """What OpenSTA says of the clock at the two flops that differ most, and by how much hold is met, ns."""
    numbers = re.findall(r"^ *(-?\d+\.\d+)(?: +(-?\d+\.\d+) +(-?\d+\.\d+))?$", report, re.MULTILINE)
    if len(numbers) < 2:
        return {}
    found = {"latest_ns": numbers[0][0], "earliest_ns": numbers[1][0], "skew_ns": numbers[1][2]}
    if slack := re.search(r"(-?\d+\.\d+)\s+slack", hold):
        found["hold_slack_ns"] = slack.group(1)
    return {name: round(float(number) * unit_ns, 4) for name, number in found.items()}


def draw(netlist: Netlist, gds: Path, picture: Path, log: Path) -> None:
    place.tool(
        [
            "klayout",
            "-z",
            "-rd",
            f"gds={gds}",
            "-rd",
            f"out={picture}",
            "-rd",
            f"width={PICTURE_WIDTH}",
            "-r",
            str(SYNTH / "layout/picture.py"),
        ],
        log,
        netlist.top,
        picture.parent,
        [picture.name],
    )


def lay_out(top: Top, arguments: argparse.Namespace, library: Path, unit_ns: float, folder: Path) -> dict[str, Any]:
    """All steps of one module; a row of the result."""
    logs = folder / "logs"
    logs.mkdir(exist_ok=True)
    synthesis = synth.synthesize(top, arguments.rtl, library, unit_ns, folder, False)
    mapped = folder / f"{top.name}.{arguments.mapping}.v"
    netlist = netlists.read(top.module, mapped, library, folder)
    if not netlist.cells:
        raise BadInput(f"{top.name} has no cells")
    _, levels = place_with_tree(netlist, folder / "route", logs)
    definition, resistances, repairs, violations, differences = route_and_check(netlist, folder, logs)
    files = {
        "verilog": folder / f"{top.name}.layout.v",
        "spef": folder / f"{top.name}.spef",
        "def": folder / f"{top.name}.def",
        "gds": folder / f"{top.name}.gds",
        "picture": folder / f"{top.name}.png",
    }
    netlists.write_verilog(netlist, files["verilog"])
    shutil.copyfile(definition, files["def"])
    shutil.copyfile(folder / "masks" / f"{netlist.top}.gds", files["gds"])
    capacitance = masks.net_capacitance(netlist, folder / "masks" / f"{netlist.top}.caps.spice")
    spef = wires.Spef(netlist, wires.read_trees(resistances), capacitance)
    spef.write(files["spef"])
    timing, delays = time_layout(netlist, files, library, unit_ns, logs / "sta.log")
    draw(netlist, files["gds"], files["picture"], logs / "klayout.log")

    width, height = place.die(definition)
    areas = place.cell_areas()
    cell_area = sum(areas[cell.type] for cell in netlist.cells)
    routes = route.routes(definition)
    by_layer = route.length_by_layer(routes)
    row: Row = {
        "top": top.name,
        "mapping": arguments.mapping,
        "transistors": synthesis["transistors"],
        "cells": len(netlist.cells),
        "flops": synthesis["flops"],
        "nets": len(netlist.pins_of()),
        "die_um": [round(width, 2), round(height, 2)],
        "die_um2": round(width * height),
        "cells_um2": round(cell_area),
        "filled": round(cell_area / (width * height), 4),
        "wire_um": round(sum(by_layer.values())),
        "wire_um_by_layer": {layer: round(length) for layer, length in by_layer.items()},
        "vias": sum(len(wire.vias) for net, wire in routes.items() if net not in ("vdd", "gnd")),
        "capacitance_pf": round(sum(capacitance.get(net, 0.0) for net in netlist.pins_of()) / 1e3, 3),
        "nets_without_tree_of_resistances": len(spef.lumped),
        "clock": {"buffers": [len(level) for level in levels], **delays},
        "timing": timing,
        "repairs": repairs,
        "drc": [{"rule": rule, "x_um": x, "y_um": y} for rule, x, y in violations],
        "lvs": differences,
        "gds_sha256": hashlib.sha256(files["gds"].read_bytes()).hexdigest(),
    }
    period = max(timing["worst"]["with_wires"]["ns"], timing.get("reg_to_reg", {}).get("with_tree", {}).get("ns", 0.0))
    row["power"] = unit_power(top, netlist, files, period, arguments, library, folder)
    return row


# ------------------------------------------------------------------------------------------------
# Command line
# ------------------------------------------------------------------------------------------------


def options(parser: Parser) -> None:
    parser.add_argument("--top", metavar="NAME", default=DEFAULT_TOP, help="A row of `warpfold synth` or a module")
    parser.add_argument("--rtl", metavar="DIR", default=str(RTL), help="RTL folder")
    parser.add_argument("--file-list", metavar="FILE", help="The RTL's files in order; else arc.f in the RTL folder")
    parser.add_argument("--parameters", nargs="+", metavar="NAME=VALUE", help="Parameters of the module")
    parser.add_argument("--without", metavar="MODULE", help="Leave this module out: its ports become ports of the top")
    parser.add_argument("--mapping", choices=("small", "fast"), default="small", help="Mapping of `warpfold synth`")
    parser.add_argument(
        "--out", metavar="DIR", help="GDS, picture, DEF, SPEF, netlist and logs; else out/layout/NAME of the top"
    )
    parser.add_argument("--json", metavar="FILE", help="Write the result as JSON")
    parser.add_argument("--no-power", action="store_true", help="Leave out the power")
    parser.add_argument("--trace", metavar="FILE", help="Recorded requests for the power; else as `warpfold power`")
    parser.add_argument("--cycles", type=int, metavar="N", default=4000, help="Cycles of it")
    parser.add_argument(
        "--stall", type=float, metavar="X", default=0.5, help="Share of cycles with a full memory queue"
    )
    parser.footer(
        "Example: the fused reduction unit\n"
        "  warpfold layout --top arc_reduction_fused\n\n"
        "Exit code: 0 done, 1 a tool failed or a check found something, 2 bad usage or bad input."
    )


def checked(arguments: argparse.Namespace) -> None:
    if arguments.cycles < 1 or not 0 <= arguments.stall < 1:
        raise BadInput("--cycles at least 1, --stall at least 0 and below 1")
    if arguments.trace and not os.path.isfile(arguments.trace):
        raise BadInput(f"cannot read {arguments.trace}")
    if arguments.json:
        check_writable(arguments.json)
    arguments.foreign = Path(arguments.rtl).resolve() != RTL.resolve()


def chosen_top(arguments: argparse.Namespace) -> Top:
    """The row of the command line."""
    top = synth.find_top(arguments.top, arguments.rtl)
    for text in arguments.parameters or []:
        if not re.fullmatch(r"\w+=[-\w']+", text):
            raise BadInput(f"--parameters: '{text}' is no NAME=VALUE")
    if arguments.without and not re.fullmatch(r"\w+", arguments.without):
        raise BadInput(f"--without: '{arguments.without}' is no module")
    parameters = " -chparam ".join(text.replace("=", " ", 1) for text in arguments.parameters or [])
    return dataclasses.replace(
        top, chparam=parameters or top.chparam, left_out=arguments.without or top.left_out, foreign=arguments.foreign
    )


def need_tools() -> None:
    need(*TOOLS)
    for path, package in FILES:
        if not os.path.exists(path):
            raise BadInput(f"no {path}; it is in Debian's package {package}")


def run(arguments: argparse.Namespace) -> int:
    checked(arguments)
    with synth.scratch("warpfold-layout-") as temporary:
        scratch = Path(temporary)
        arguments.rtl = synth.rtl_view(arguments.rtl, arguments.file_list, scratch)
        top = chosen_top(arguments)
        need_tools()
        if not reason_for_none(top, arguments):
            need_simulator()
        out = Path(arguments.out or f"out/layout/{arguments.top}").resolve()
        try:
            out.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise BadInput(f"cannot make folder {out}: {error.strerror}") from error
        # The tools get a folder whose name they can take, and which nothing else writes into.
        work = scratch / "work"
        work.mkdir()
        arguments.liberty = None
        library, unit_ns, description = synth.prepare_liberty(arguments, work)
        try:
            row = lay_out(top, arguments, library, unit_ns, work)
        finally:
            show.keep(work, out)
    result = {
        "schema": SCHEMA,
        "tools": show.versions(),
        "library": description["library"],
        "liberty": description,
        "rows": [row],
    }
    show.print_result(result, out)
    if arguments.json:
        write_json(arguments.json, result)
    return 1 if row["drc"] or row["lvs"] else 0
