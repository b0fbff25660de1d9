# SPDX-License-Identifier: Apache-2.0
"""The result of an evaluation as text: a line for each step, and the unit beside the kinds that are built in."""


from collections.abc import Callable
from typing import Any

Step = dict[str, Any]  # what evaluate.py says of a step


def number(value: int) -> str:
    return f"{value:,}"


def elaborates_line(rows: dict[str, str]) -> str:
    bad = [f"{tool}: {why}" for tool, why in rows.items() if why]
    good = [tool for tool, why in rows.items() if not why]
    return ", ".join(good) + ("" if not bad else ("; " if good else "") + "; ".join(bad))


def contract_line(step: Step) -> str:
    counts = f"{number(step['requests'])} requests, {number(step['cycles'])} cycles"
    if step["verdict"] == "kept":
        return f"kept: {counts}"
    return f"BROKEN: {step['rule']}: {step['message']}"


def lockstep_line(step: Step) -> str:
    if step["verdict"] == "equal":
        return f"equal to {step['golden']} in every cycle"
    return f"DIFFERS from {step['golden']}: {step['message']}"


def proof_line(step: Step) -> str:
    if step["verdict"] in ("open", "none"):
        return ("NONE" if step["verdict"] == "none" else "open") + f": {step['why']}"
    if step["verdict"] == "failed":
        return f"FAILED: {step['claim']} in cycle {step['cycles']}"
    text = ("" if step["verdict"] == "proved" else "bounded: ") + f"holds for {step['cycles']} cycles from reset"
    if "limit_s" in step:
        text += f" (as far as {step['limit_s']} s went)"
    if "induction" in step:
        text += f"; for every number of cycles: {step['induction']}"
    text += f" ({step['open']})" if "open" in step else ""
    if step["idle"]:
        text += f"; of themselves, as nothing of the kind can happen: {', '.join(step['idle'])}"
    return text


def costs_line(step: Step) -> str:
    if step["verdict"] != "done":
        return ("NONE: " if step["verdict"] == "none" else "") + str(step["why"])
    whole = step["unit"]["whole"]
    text = f"{number(whole['transistors'])} transistors, {number(whole['flops'])} flops"
    if "fast_path_ns" in whole:
        text += f", path {whole['fast_path_ns']:.3f} ns in {step['library']}"
    return text + power_words(step)


def power_words(step: Step) -> str:
    if "power" not in step:
        return ""
    power = step["power"]["unit"]
    if "none" in power:
        return f"; no power: {power['none']}"
    return (
        f"; {power['power_mw']['total']:.3g} mW at {power['clock_mhz']:.1f} MHz on {step['power']['trace']}, "
        f"{power['pj_per_lane_reduced']:.3g} pJ per lane reduced"
    )


def power_cells(power: Step) -> list[str]:
    """Of a row of the table."""
    if not power or "none" in power:
        return ["none", "none"]
    return [f"{power['power_mw']['total']:.3g}", f"{power['pj_per_lane_reduced']:.3g}"]


def slow(own: Step | None) -> str:
    """Gain at a unit's own clock, with the cycles of the GPU in one of it."""
    return f"{own['mean']:.2f} (/{own['divider']})" if own else ""


def gains_line(step: Step) -> str:
    if step["verdict"] == "failed":
        return f"FAILED: {step['why']}"
    count = len(step["traces"])
    text = f"{step['unit']['mean']:.2f} times plain atomics, mean of {count} trace{'' if count == 1 else 's'}"
    if "unit_at_its_clock" in step:
        text += f"; {slow(step['unit_at_its_clock'])} at the clock that its path allows"
    return text


def layout_line(step: Step) -> str:
    if step["verdict"] == "failed":
        return f"FAILED: {step['why']}"
    row = step["unit"]
    found = [
        text
        for count, text in (
            (len(row["drc"]), "violations of design rules"),
            (len(row["lvs"]), "differences from the netlist"),
        )
        if count
    ]
    return (
        f"{row['top']}, {row['die_um'][0]:.0f} x {row['die_um'][1]:.0f} um, "
        + ("CHECKS FAILED: " + ", ".join(found) if found else "checks clean")
        + f": {step['folder']}"
    )


LINES: tuple[tuple[str, Callable[[Step], str]], ...] = (
    ("elaborates", elaborates_line),
    ("contract", contract_line),
    ("lockstep", lockstep_line),
    ("proof", proof_line),
    ("costs", costs_line),
    ("gains", gains_line),
    ("layout", layout_line),
)


def table(rows: list[list[str]]) -> list[str]:
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = []
    for index, row in enumerate(rows):
        cells = [row[0].ljust(widths[0])] + [cell.rjust(width) for cell, width in zip(row[1:], widths[1:])]
        lines.append("  ".join(cells).rstrip())
        if index == 0:
            lines.append("  ".join("-" * width for width in widths))
    return lines


def beside(result: dict[str, Any]) -> list[str]:
    """The unit and the kinds, a row each."""
    costs = result.get("costs", {})
    costs = costs if costs.get("verdict") == "done" else {}
    gains = result.get("gains", {})
    gains = gains if gains.get("verdict") == "done" else {}
    if not costs and not gains:
        return []
    which = ["whole"] + (["added"] if "added" in costs.get("unit", {}) else [])
    timed = "fast_path_ns" in costs.get("unit", {}).get("whole", {})
    head = ["unit"]
    for each in which if costs else []:
        head += ["transistors" + (", no coalescer" if each == "added" else "")] + (["area", "path ns"] if timed else [])
    power = costs.get("power", {})
    power = power if power and "none" not in power["unit"] else {}
    head += ["mW", "pJ per lane"] if power else []
    head += (["speedup"] + (["at its clock"] if "unit_at_its_clock" in gains else [])) if gains else []
    rows = [head]
    names = [result["unit"], *(gains["kinds"] if gains else costs["kinds"])]
    for index, name in enumerate(names):
        row = [name]
        for each in which if costs else []:
            figures = (costs["unit"] if index == 0 else costs["kinds"][name])[each]
            row.append(number(figures["transistors"]))
            row += [f"{figures['fast_area']:,.0f}", f"{figures['fast_path_ns']:.3f}"] if timed else []
        if power:
            row += power_cells(power["unit"] if index == 0 else power["kinds"].get(name))
        if gains:
            row.append(f"{(gains['unit'] if index == 0 else gains['kinds'][name])['mean']:.2f}")
            if "unit_at_its_clock" in gains:
                row.append(slow(gains["unit_at_its_clock"] if index == 0 else gains["kinds_at_their_clocks"][name]))
        rows.append(row)
    return ["", *table(rows)]


def beside_layouts(result: dict[str, Any]) -> list[str]:
    """The layout and those of the reduction units that are built in, a row each."""
    step = result.get("layout", {})
    if "unit" not in step:
        return []
    rows = [
        ["layout", "module", "die um2", "cells", "wires mm", "path ns", "with wires", "rules broken", "not as netlist"]
    ]
    for name, row in ((result["unit"], step["unit"]), *step["kinds"].items()):
        worst = row["timing"]["worst"]
        rows.append(
            [
                name,
                row["top"],
                number(row["die_um2"]),
                number(row["cells"]),
                f"{row['wire_um'] / 1e3:.1f}",
                f"{worst['without_wires']['ns']:.2f}",
                f"{worst['with_wires']['ns']:.2f}",
                str(len(row["drc"])),
                str(len(row["lvs"])),
            ]
        )
    return ["", *table(rows)]


def head(result: dict[str, Any]) -> str:
    return f"{result['unit']} (top {result['top']})\n"


def line(result: dict[str, Any], step: str) -> str:
    """Of a step that has ended."""
    return f"{step:<12}{dict(LINES)[step](result[step])}"


def rest(result: dict[str, Any]) -> list[str]:
    """What comes below the lines of the steps."""
    lines = []
    for step in ("contract", "lockstep", "proof"):
        what = result.get(step, {})
        below = [(name, what.get(key)) for name, key in (("waves:", "wave"), ("replay:", "command"))]
        found = [f"{name:<8}{value}" for name, value in below if value]
        lines += ["", *found] if found else []
    return lines + beside(result) + beside_layouts(result)
