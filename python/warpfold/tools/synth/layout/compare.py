# SPDX-License-Identifier: Apache-2.0
"""Layout against netlist (LVS) by netgen: the same cells, joined in the same way, at the same ports."""

from pathlib import Path
from typing import Any
import json
import re

from ...base.errors import ToolFailed
from .masks import pins_of_cells
from .netlist import Netlist, write_spice
from .place import TECH, tool


MATCH = "Circuits match uniquely."


def compare(netlist: Netlist, extracted: Path, folder: Path, log: Path) -> list[Any]:
    """Differences between the extracted SPICE and the netlist: lines of text, none where they are the same."""
    top = netlist.top
    write_spice(netlist, pins_of_cells(extracted), folder / "netlist.spice")
    # netgen names both sides after their files' paths in its result.
    tool(
        [
            "netgen-lvs",
            "-batch",
            "lvs",
            f"{extracted.resolve()} {top}",
            f"netlist.spice {top}",
            f"{TECH}/osu018_setup.tcl",
            "comp.out",
            "-json",
            "-blackbox",
        ],
        log,
        top,
        folder,
        ["comp.out", "comp.json"],
    )
    text = log.read_text(encoding="latin-1")
    result = re.findall(r"^Result: (.*)$", text, re.MULTILINE)
    if not result:
        raise ToolFailed(f"{top}: netgen gave no result: {' | '.join(text.strip().splitlines()[-3:])}")
    report = (folder / "comp.out").read_text(encoding="latin-1")
    # Of ports that are swapped netgen says so, and that the circuits match.
    ports = re.findall(
        r"^(\S.*?) *\|(\S.*?) *\*\*Mismatch\*\*\s*$", report[report.rfind("Subcircuit pins:") :], re.MULTILINE
    )
    if result[-1].strip() == MATCH and not ports:
        return []
    lines = differences(json.loads((folder / "comp.json").read_text(encoding="latin-1")))
    lines += [f"ports: layout has {layout}, netlist has {netlist_port}" for layout, netlist_port in ports]
    return lines or [result[-1].strip()]


def differences(report: Any) -> Any:
    """One line for each group of nets or cells that netgen could not match."""
    lines = []
    for kind, key in (("nets", "badnets"), ("cells", "badelements")):
        for sides in report[-1].get(key, []):
            names = [" ".join(sorted(entry[0] for entry in side)) for side in sides]
            lines.append(f"{kind}: layout has {names[0]}, netlist has {names[1]}")
    return lines


def nets_named(netlist: Any, lines: Any) -> Any:
    """Nets of the netlist that occur in such lines."""
    words = set(re.split(r"[ ,]+", " ".join(lines)))
    return {net for net in netlist.pins_of() if net in words}
