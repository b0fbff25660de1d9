# SPDX-License-Identifier: Apache-2.0
"""The routed DEF file in magic: design rules, GDS, and what the wires connect and weigh, as SPICE.

Debian has the cells' abstracts (LEF) and not their masks. So the GDS holds the cells' pins and metal, and the design
rules and the comparison cover metal and vias; the insides of the cells are taken as right.
"""

from pathlib import Path
from typing import Any
import re
import struct

from ...base.errors import ToolFailed
from .place import LEF, TECH, tool
from .netlist import Netlist


# qrouter leaves pads of vias alone on a layer, smaller than the least area. They grow upwards and downwards, where the
# next track is farther than sideways.
SCRIPT = """\
drc off
box 0 0 0 0
snap internal
lef read {lef}
def read {definition}
load {top}
select top cell
expand
drc euclidean on
drc on
proc violations {{}} {{
  select top cell
  drc check
  drc catchup
  return [drc listall why]
}}
set patched 0
foreach {{rule places}} [violations] {{
  if {{[regexp {{^Metal([1-6]) area < }} $rule all layer]}} {{
    foreach place $places {{
      lassign $place x0 y0 x1 y1
      box $x0 [expr {{$y0 - 1}}] $x1 [expr {{$y1 + 1}}]
      paint metal$layer
      incr patched
    }}
  }}
}}
puts "@ patched $patched"
foreach {{rule places}} [violations] {{
  foreach place $places {{ puts "@ violation {{$rule}} $place" }}
}}
puts "@ units [cif scale out]"
drc off
gds write {top}.gds
extract all
ext2spice hierarchy on
ext2spice format ngspice
ext2spice scale off
ext2spice renumber off
ext2spice rthresh infinite
ext2spice blackbox on
ext2spice subcircuit top auto
ext2spice global off
ext2spice cthresh infinite
ext2spice -o {top}.spice
ext2spice cthresh 0
ext2spice -o {top}.caps.spice
puts "@ done"
quit -noprompt
"""


def run(netlist: Netlist, definition: Path, folder: Path, log: Path) -> tuple[int, list[Any]]:
    """Result of magic: patched pads and violations of design rules [(rule, x, y)], um; files are in the folder."""
    top = netlist.top
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.ext"):
        old.unlink()
    (folder / "run.tcl").write_text(SCRIPT.format(top=top, lef=LEF, definition=definition), encoding="ascii")
    tool(
        ["magic", "-dnull", "-noconsole", "-rcfile", f"{TECH}/osu018.magicrc", "run.tcl"],
        log,
        top,
        folder,
        [f"{top}.gds", f"{top}.spice", f"{top}.caps.spice"],
    )
    text = log.read_text(encoding="latin-1")
    units = re.search(r"^@ units ([\d.]+)", text, re.MULTILINE)
    patched = re.search(r"^@ patched (\d+)", text, re.MULTILINE)
    if not units or not patched or "@ done" not in text:
        raise ToolFailed(f"{top}: magic failed: {' | '.join(text.strip().splitlines()[-3:])}")
    scale = float(units.group(1))
    violations = [
        (rule, round(int(x) * scale, 2), round(int(y) * scale, 2))
        for rule, x, y in re.findall(r"^@ violation \{(.*)\} (-?\d+) (-?\d+) ", text, re.MULTILINE)
    ]
    without_dates(folder / f"{top}.gds")
    return int(patched.group(1)), violations


def without_dates(path: Path) -> None:
    """Sets the dates in a GDS file to one and the same: two runs then write the same file."""
    data = bytearray(path.read_bytes())
    date = struct.pack(">12H", *(2000, 1, 1, 0, 0, 0) * 2)
    position = 0
    while position + 4 <= len(data):
        length, kind = struct.unpack_from(">HH", data, position)
        if length < 4:
            break
        if kind in (0x0102, 0x0502):  # BGNLIB, BGNSTR
            data[position + 4 : position + 28] = date
        position += length
    path.write_bytes(data)


def joined_lines(path: Path) -> list[str]:
    return re.sub(r"\n\+", "", path.read_text(encoding="latin-1")).splitlines()


def pins_of_cells(spice: Path) -> dict[str, list[str]]:
    """Type of cell -> its pins in the order of an extracted netlist."""
    return {words[1]: words[2:] for words in map(str.split, joined_lines(spice)) if words and words[0] == ".subckt"}


def net_capacitance(netlist: Netlist, spice: Path) -> dict[str, float]:
    """Net -> fF of its wires: to the substrate, to the supplies and to every wire beside, over and under it."""
    pins = pins_of_cells(spice)
    cells = {cell.name: cell for cell in netlist.cells}
    names = {net: net for net in netlist.port_bits()}
    totals: dict[str, float] = {}
    for words in map(str.split, joined_lines(spice)):
        if words and words[0][0] == "X" and words[0][1:] in cells:
            cell = cells[words[0][1:]]
            for pin, name in zip(pins[cell.type], words[1:-1]):
                if pin in cell.pins:
                    names[name] = cell.pins[pin]
    for words in map(str.split, joined_lines(spice)):
        if words and words[0][0] == "C" and words[-1].endswith("fF"):
            for name in words[1:3]:
                if name in names:
                    totals[names[name]] = totals.get(names[name], 0.0) + float(words[-1][:-2])
    return totals
