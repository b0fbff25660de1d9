# SPDX-License-Identifier: Apache-2.0
"""What a layout leaves behind: the table, the files that stay, the versions of the tools."""

import shutil
from pathlib import Path
from typing import Any

from ...base.processes import first_match
from .. import synth


KEPT = ("*.gds", "*.png", "*.def", "*.spef", "*.layout.v")
PACKAGES = ("graywolf", "qrouter", "magic", "netgen-lvs", "klayout", "qflow", "qflow-tech-osu018")


def versions() -> dict[str, str]:
    """Tools that name their version, and the packages of those that do not."""
    found = synth.tool_versions(True)
    for package in PACKAGES:
        found[package] = (
            first_match(["dpkg-query", "-W", "-f", "${Version}", package], r"\S+")
            if shutil.which("dpkg-query")
            else "unknown"
        )
    return found


def keep(work: Path, out: Path) -> None:
    """Copies results and logs to where the caller wants them."""
    for pattern in KEPT:
        for path in work.glob(pattern):
            shutil.copyfile(path, out / path.name)
    if (work / "logs").is_dir():
        shutil.copytree(work / "logs", out / "logs", dirs_exist_ok=True)
    for path in (work / "masks").glob("*.spice") if (work / "masks").is_dir() else ():
        shutil.copyfile(path, out / path.name)


def change(before: float, after: float) -> str:
    return f"{after:.2f} ns ({100 * (after - before) / before:+.1f} %)"


def path_lines(timing: dict[str, Any]) -> list[tuple[str, str]]:
    lines = []
    for name, words in (("worst", "worst path"), ("reg_to_reg", "register to register")):
        if name not in timing:
            continue
        paths = timing[name]
        before = paths["without_wires"]["ns"]
        lines += [
            (f"{words}, without wires", f"{before:.2f} ns"),
            (f"{words}, with wires", change(before, paths["with_wires"]["ns"])),
        ]
        if "with_tree" in paths:
            lines.append((f"{words}, with wires and clock tree", change(before, paths["with_tree"]["ns"])))
    return lines


def clock_lines(clock: dict[str, Any]) -> list[tuple[str, str]]:
    if not clock["buffers"]:
        return [("clock", "no flops, no tree")]
    text = f"{sum(clock['buffers'])} buffers in {len(clock['buffers'])} levels"
    if "skew_ns" in clock:
        text += f", {clock['latest_ns']:.2f} ns to a flop, skew {clock['skew_ns']:.2f} ns"
    if "hold_slack_ns" in clock:
        text += f", hold met by {clock['hold_slack_ns']:.2f} ns"
    return [("clock tree", text)]


def power_lines(power: dict[str, Any]) -> list[tuple[str, str]]:
    if "none" in power:
        return [("power", f"none: {power['none']}")]
    watts, without = power["power_mw"], power["without_wires"]
    return [
        (
            f"power at {power['clock_mhz']:.1f} MHz, without wires",
            f"{without['power_mw']['total']:.3g} mW, " f"{without['pj_per_lane_reduced']:.3g} pJ per lane reduced",
        ),
        ("power, with wires", f"{watts['total']:.3g} mW, {power['pj_per_lane_reduced']:.3g} pJ per lane reduced"),
        ("of it the clock tree", f"{watts['clock_tree']:.3g} mW"),
    ]


def check_lines(row: dict[str, Any]) -> list[tuple[str, str]]:
    rules = row["drc"]
    lines = [("design rules (magic)", "clean" if not rules else f"{len(rules)} violations")]
    lines += [("", f"{entry['rule']} at {entry['x_um']}, {entry['y_um']} um") for entry in rules]
    lines.append(
        ("layout against netlist (netgen)", "the same" if not row["lvs"] else f"{len(row['lvs'])} differences")
    )
    lines += [("", text) for text in row["lvs"]]
    repairs = row["repairs"]
    lines.append(("repairs", f"{repairs['vias_added']} missing vias added, {repairs['pads_grown']} lone pads grown"))
    return lines


def print_result(result: dict[str, Any], out: Path) -> None:
    row = result["rows"][0]
    width, height = row["die_um"]
    lines = [
        ("top, mapping", f"{row['top']}, {row['mapping']}"),
        ("die", f"{width:.1f} x {height:.1f} um, {row['die_um2']:,} um2, {row['filled']:.0%} cells".replace("%", " %")),
        ("cells, flops, transistors", f"{row['cells']:,}, {row['flops']:,}, {row['transistors']:,}"),
        ("wires", f"{row['wire_um'] / 1e3:,.1f} mm, {row['vias']:,} vias, {row['capacitance_pf']:.1f} pF"),
        *clock_lines(row["clock"]),
        *path_lines(row["timing"]),
        *power_lines(row["power"]),
        *check_lines(row),
        ("GDS, SHA-256", row["gds_sha256"]),
    ]
    left = max(len(name) for name, _ in lines)
    for name, text in lines:
        print(f"{name.ljust(left)}  {text}")
    shown = out.relative_to(Path.cwd()) if out.is_relative_to(Path.cwd()) else out
    print(f"\n{shown}: {row['top']}.gds, .png, .def, .spef, .layout.v, logs")
