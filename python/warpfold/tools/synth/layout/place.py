# SPDX-License-Identifier: Apache-2.0
"""Placement by graywolf, with the scripts of qflow that write what it reads and read what it writes."""

from pathlib import Path
from typing import Any
import os
import re
import shutil
from collections.abc import Sequence

from ...base.errors import BadInput, ToolFailed
from ...base.processes import logged
from .netlist import Netlist, write_blif


TECH = "/usr/share/qflow/tech/osu018"
LEF = f"{TECH}/osu018_stdcells.lef"
SCRIPTS = "/usr/lib/qflow/scripts"
UNITS = 100  # of DEF in a micrometre
# Stripes that join the supply rails of the rows: width and pitch in um, vdd and gnd in turn.
STRIPES = ["-stripe", "2.0", "50.0", "PG"]


def quiet_environment(folder: Path) -> dict[str, str]:
    """The tools look into HOME for settings and try to open windows on a DISPLAY."""
    return {
        **{key: value for key, value in os.environ.items() if key not in ("DISPLAY", "WAYLAND_DISPLAY")},
        "HOME": str(folder),
        "QT_QPA_PLATFORM": "offscreen",
        "LC_ALL": "C",
        "TZ": "UTC",
    }


def tool(command: list[str], log: Path, name: str, folder: Path, makes: Sequence[str] = ()) -> None:
    """Runs a tool in the folder. What it has to make must be there afterwards: many of them exit 0 whatever happens."""
    for file in makes:
        (folder / file).unlink(missing_ok=True)
    logged(command, log, name, folder, quiet_environment(folder))
    for file in makes:
        if not (folder / file).is_file():
            tail = " | ".join(log.read_text(encoding="latin-1").strip().splitlines()[-3:])
            raise ToolFailed(f"{name}: {command[0]} wrote no {file}: {tail}")


def place(netlist: Netlist, folder: Path, logs: Path) -> Path:
    """Places the cells; the unrouted DEF file."""
    top = netlist.top
    folder.mkdir(parents=True, exist_ok=True)
    # graywolf goes by the times of its files, in whole seconds: beside those of a placement a moment ago it leaves steps out.
    for path in folder.glob(f"{top}*"):
        if path.is_file():
            path.unlink()
    write_blif(netlist, folder / f"{top}.blif")
    shutil.copyfile(f"{TECH}/osu018.par", folder / f"{top}.par")  # has the seed of the annealing
    (folder / f"{top}.cfg").write_text(f"read_lef {LEF}\n", encoding="ascii")
    (folder / f"{top}.obs").unlink(missing_ok=True)  # place2def.tcl adds to it
    tool(["qrouter", "-nog", "-i", f"{top}.info", "-c", f"{top}.cfg"], logs / "info.log", top, folder, [f"{top}.info"])
    tool(
        ["tclsh", f"{SCRIPTS}/blif2cel.tcl", "--blif", f"{top}.blif", "--lef", LEF, "--cel", f"{top}.cel"],
        logs / "blif2cel.log",
        top,
        folder,
        [f"{top}.cel"],
    )
    tool(["graywolf", "-n", top], logs / "graywolf.log", top, folder, [f"{top}.pin", f"{top}.pl1", f"{top}.pl2"])
    tool(["tclsh", f"{SCRIPTS}/place2def.tcl", top, "FILL"], logs / "place2def.log", top, folder, [f"{top}.def"])
    tool(
        ["tclsh", f"{SCRIPTS}/addspacers.tcl", *STRIPES, top, LEF, "FILL"],
        logs / "addspacers.log",
        top,
        folder,
        [f"{top}_filled.def", f"{top}.obsx"],
    )
    (folder / f"{top}_filled.def").replace(folder / f"{top}.def")
    (folder / f"{top}.obsx").replace(folder / f"{top}.obs")
    if len({y for _, y in component_places(folder / f"{top}.def").values()}) < 2:  # arrangepins.tcl stops there
        raise BadInput(f"{top} is too small for a layout: its cells fill a single row")
    tool(["tclsh", f"{SCRIPTS}/arrangepins.tcl", top], logs / "arrangepins.log", top, folder, [f"{top}_mod.def"])
    (folder / f"{top}_mod.def").replace(folder / f"{top}.def")
    return folder / f"{top}.def"


def component_places(def_file: Path) -> dict[str, tuple[float, float]]:
    """Instance -> (x, y) of its corner, um."""
    text = def_file.read_text(encoding="ascii")
    return {
        name: (float(x) / UNITS, float(y) / UNITS)
        for name, x, y in re.findall(r"^- (\S+) \S+ \+ PLACED \( (-?\d+) (-?\d+) \)", text, re.MULTILINE)
    }


def die(def_file: Path) -> tuple[float, float]:
    """(width, height) in um."""
    area = re.search(
        r"^DIEAREA \( (-?\d+) (-?\d+) \) \( (-?\d+) (-?\d+) \)", def_file.read_text(encoding="ascii"), re.MULTILINE
    )
    if not area:
        raise ToolFailed(f"{def_file.name}: has no die")
    low_x, low_y, high_x, high_y = map(int, area.groups())
    return (high_x - low_x) / UNITS, (high_y - low_y) / UNITS


def rewire(netlist: Netlist, def_file: Path) -> None:
    """Writes the netlist's nets into the DEF file in the place of its own."""
    ports = set(netlist.port_bits())
    nets = {net: [f"  ( PIN {net} ) "] if net in ports else [] for net in sorted(ports | set(netlist.pins_of()))}
    for cell in netlist.cells:
        for pin, net in cell.pins.items():
            nets.setdefault(net, []).append(f"  ( {cell.name} {pin} ) ")
    text = def_file.read_text(encoding="ascii")
    before, rest = re.split(r"^NETS \d+ *;?\n", text, maxsplit=1, flags=re.MULTILINE)
    after = rest[rest.index("END NETS") :]
    body = "".join(f"- {net}\n" + "\n".join(pins) + " ;\n" for net, pins in nets.items())
    def_file.write_text(f"{before}NETS {len(nets)} ;\n{body}{after}", encoding="ascii")


def cell_areas() -> dict[str, float]:
    """Type of cell -> um2, from the abstracts."""
    with open(LEF, encoding="latin-1") as file:
        text = file.read()
    return {
        name: float(width) * float(height)
        for name, width, height in re.findall(
            r"^MACRO (\S+)\n(?:(?!^MACRO).*\n)*?\s+SIZE\s+([\d.]+)\s+BY\s+([\d.]+)", text, re.MULTILINE
        )
    }
