# SPDX-License-Identifier: Apache-2.0
"""A mapped netlist as the layout tools want it: BLIF for placement, Verilog for timing, SPICE for the comparison.

Nets are named `port`, `port<3>` or `n17`. A cell is named after its type and a count from 1, the name that qflow's
blif2cel.tcl gives it by its place in the BLIF file.
"""

from pathlib import Path
import collections
import json
import re
from dataclasses import dataclass, field

from ...base.errors import BadInput, ToolFailed
from ...base.processes import logged
from .. import synth


SUPPLIES = {"0": "gnd", "1": "vdd", "x": "gnd"}  # a net that is a constant; x is any


@dataclass
class Cell:
    name: str
    type: str
    pins: dict[str, str]  # pin -> net


@dataclass
class Netlist:
    top: str
    ports: list[tuple[str, int, str]]  # (name, width, "input" or "output")
    cells: list[Cell] = field(default_factory=list)
    counts: collections.Counter[str] = field(default_factory=collections.Counter)
    registers: dict[str, str] = field(default_factory=dict)  # flop -> the signal that it holds, where that has a name

    def add(self, kind: str, pins: dict[str, str]) -> Cell:
        self.counts[kind] += 1
        self.cells.append(Cell(f"{kind}_{self.counts[kind]}", kind, pins))
        return self.cells[-1]

    def port_bits(self, direction: str | None = None) -> list[str]:
        return [bit for name, width, way in self.ports if direction in (None, way) for bit in bit_names(name, width)]

    def pins_of(self) -> dict[str, list[tuple[str, str]]]:
        """Net -> [(cell, pin)], without the supplies."""
        nets: dict[str, list[tuple[str, str]]] = collections.defaultdict(list)
        for cell in self.cells:
            for pin, net in cell.pins.items():
                if net not in SUPPLIES.values():
                    nets[net].append((cell.name, pin))
        return nets


def bit_names(name: str, width: int) -> list[str]:
    return [name] if width == 1 else [f"{name}<{bit}>" for bit in range(width)]


def verilog_name(net: str) -> str:
    return {"vdd": "1'b1", "gnd": "1'b0"}.get(net, net.replace("<", "[").replace(">", "]"))


def read(top: str, verilog: Path, library: Path, folder: Path) -> Netlist:
    """The netlist of mapped Verilog. A port that shares its net with another, or is a constant, gets a buffer."""
    output = folder / "netlist.json"
    logged(
        [
            *synth.YOSYS,
            "-p",
            f"read_liberty -lib {library}; read_verilog {verilog}; hierarchy -top {top}; "
            f"insbuf -buf BUFX2 A Y; opt_clean -purge; write_json {output}",
        ],
        folder / "netlist.log",
        top,
    )
    module = json.loads(output.read_text(encoding="utf-8"))["modules"][top]
    nets = dict(SUPPLIES)
    result = Netlist(top, [])
    for original, port in module["ports"].items():
        name = re.sub(r"\W", "_", original)  # of a module that is left out, u_match.mask_i
        if not re.fullmatch(r"[A-Za-z_]\w*", name) or name in (taken for taken, _, _ in result.ports):
            raise BadInput(f"a port's name that the layout tools cannot take: {original}")
        result.ports.append((name, len(port["bits"]), port["direction"]))
        for bit, net in zip(port["bits"], bit_names(name, len(port["bits"]))):
            if bit in nets:
                raise ToolFailed(f"{top}: port {net} shares its net with {nets[bit]}")
            nets[bit] = net
    taken = set(nets.values())
    known = {bit: net.replace("<", "[").replace(">", "]") for bit, net in nets.items()}
    for name, wire in module["netnames"].items():
        if not wire.get("hide_name") and not re.fullmatch(r"_\d+_", name):
            for index, bit in enumerate(wire["bits"]):
                known.setdefault(bit, name if len(wire["bits"]) == 1 else f"{name}[{index + wire.get('offset', 0)}]")
    for cell in module["cells"].values():
        pins = {}
        for pin, bits in cell["connections"].items():
            if bits:
                net = nets.setdefault(bits[0], f"n{bits[0]}" if f"n{bits[0]}" not in taken else f"n_{bits[0]}")
                pins[pin] = net
        placed = result.add(cell["type"], pins)
        if (held := cell["connections"].get("Q", [None])[:1]) and held[0] in known:
            result.registers[placed.name] = known[held[0]]
    return result


def write_blif(netlist: Netlist, path: Path) -> None:
    lines = [
        f".model {netlist.top}",
        ".inputs " + " ".join(netlist.port_bits("input")),
        ".outputs " + " ".join(netlist.port_bits("output")),
    ]
    lines += [
        f".gate {cell.type} " + " ".join(f"{pin}={net}" for pin, net in cell.pins.items()) for cell in netlist.cells
    ]
    path.write_text("\n".join([*lines, ".end", ""]), encoding="ascii")


def write_verilog(netlist: Netlist, path: Path) -> None:
    ports = {bit for bit in netlist.port_bits()}
    lines = [f"module {netlist.top} (" + ", ".join(name for name, _, _ in netlist.ports) + ");"]
    for name, width, way in netlist.ports:
        lines.append(f"  {way} {'' if width == 1 else f'[{width - 1}:0] '}{name};")
    lines += [f"  wire {net};" for net in sorted(netlist.pins_of()) if net not in ports]
    for cell in netlist.cells:
        pins = ",\n".join(f"    .{pin}({verilog_name(net)})" for pin, net in cell.pins.items())
        lines.append(f"  {cell.type} {cell.name} (\n{pins}\n  );")
    path.write_text("\n".join([*lines, "endmodule", ""]), encoding="ascii")


def write_spice(netlist: Netlist, pins: dict[str, list[str]], path: Path) -> None:
    """`pins`: type of cell -> its pins in the order of the extracted netlist."""
    lines = []
    for kind in sorted({cell.type for cell in netlist.cells}):
        if kind not in pins:
            raise ToolFailed(f"{netlist.top}: no cell {kind} in the layout")
        lines.append(f".subckt {kind} {' '.join(pins[kind])}\n.ends\n")
    lines.append(f".subckt {netlist.top} vdd gnd {' '.join(netlist.port_bits())}")
    for cell in netlist.cells:
        nets = {"vdd": "vdd", "gnd": "gnd", **cell.pins}
        # A pin without a net is a net of its own.
        lines.append(
            f"X{cell.name} "
            + " ".join(nets.get(pin, f"{cell.name}/{pin}") for pin in pins[cell.type])
            + f" {cell.type}"
        )
    path.write_text("\n".join([*lines, ".ends", ""]), encoding="ascii")
