# SPDX-License-Identifier: Apache-2.0
"""Power of a laid-out unit on the requests of a trace: as `warpfold power` measures it, with wires and clock tree."""

import argparse
from pathlib import Path

from ...base.units import Unit
from .. import power, synth
from ..synth import Row, Top
from .netlist import Netlist


def scope_of(top: Top) -> tuple[Unit, str, str] | None:
    """(unit, its scheduler, instance inside arc_subcore) of a module that the recorded requests can drive, or None."""
    if top.unit:
        return top.unit, top.scheduler, power.scope_of(top)
    for unit in synth.UNITS:
        if top.module == f"arc_reduction_{unit.datapath}":
            return unit, unit.schedulers[0], f"u_unit.u_reduction.g_{unit.datapath}.u_reduction"
    return None


def reason_for_none(top: Top, arguments: argparse.Namespace) -> str:
    """Why there is no power, or an empty text."""
    if arguments.no_power:
        return "left out by --no-power"
    if top.left_out:
        return "ports of what is left out have other names in a layout"
    if not scope_of(top):
        return "the recorded requests drive the reduction unit or a whole sub-core"
    if arguments.foreign or arguments.file_list:
        return "the recorded requests drive this project's RTL"
    return ""


def unit_power(
    top: Top,
    netlist: Netlist,
    files: dict[str, Path],
    period_ns: float,
    arguments: argparse.Namespace,
    library: Path,
    folder: Path,
) -> Row:
    """The part of the result, with `none` and the reason where there is none."""
    if reason := reason_for_none(top, arguments):
        return {"none": reason}
    where = scope_of(top)
    assert where is not None
    unit, scheduler, scope = where
    driven = synth.Top(top.name, top.module, unit=unit, scheduler=scheduler)
    arguments.trace = arguments.trace or str(power.TRACE)
    arguments.output_pins = power.output_pins([library])
    toggles, counts = power.simulate(
        files["verilog"], driven, power.driven_unit(unit, scheduler), arguments, library, folder / "power", scope
    )
    whole = [Path(synth.DEFAULT_LIBERTY)]  # the merged library has no power tables
    parts = {}
    for name, spef in (("with_wires", str(files["spef"])), ("without_wires", "")):
        powers = power.cell_power(files["verilog"], driven, whole, period_ns, folder, spef)
        parts[name] = add_up(netlist, driven, toggles, powers, arguments, files)
    row = power.result_row(parts["with_wires"], counts, period_ns, arguments)
    without = power.result_row(parts["without_wires"], counts, period_ns, arguments)
    row["without_wires"] = {name: without[name] for name in ("power_mw", "pj_per_lane_reduced")}
    row["trace"] = Path(arguments.trace).name
    row["stall"] = arguments.stall
    return row


def add_up(
    netlist: Netlist,
    top: Top,
    toggles: dict[str, int],
    powers: dict[str, tuple[float, float, float, float]],
    arguments: argparse.Namespace,
    files: dict[str, Path],
) -> dict[str, float]:
    """Power by part. OpenSTA itself lets the clock's nets toggle, so the tree's buffers count as they are; but once a
    cycle, where a clock rises and falls."""
    buffers = {cell.name for cell in netlist.cells if cell.pins.get("Y", "").startswith("clock_")}
    others = {name: power_of for name, power_of in powers.items() if name not in buffers}
    parts, _ = power.add_up(files["verilog"], top, toggles, others, arguments)
    parts["clock_tree"] = sum(powers[name][0] + 2 * powers[name][1] for name in buffers)
    parts["leakage"] += sum(powers[name][3] for name in buffers)
    return parts
