# SPDX-License-Identifier: Apache-2.0
"""Resistance and capacitance of the wires, as SPEF for OpenSTA.

The tree of resistances of a net is qrouter's, of squares of wire (vias count nothing). Its capacitance is magic's, with
every neighbour as if it stood still, spread over the tree as qrouter spreads its own. qrouter's own capacitances know
no neighbours.
"""

from pathlib import Path
import re
from dataclasses import dataclass, field

from .netlist import Netlist, verilog_name


LEAST_OHM = 0.001


@dataclass
class Node:
    """A point of a net: its wire towards the driver, and the pin that it is, if any."""

    ohm: float
    farad: float  # in any unit
    pin: str = ""
    below: "list[Node]" = field(default_factory=list)


def parse_tree(tokens: list[str]) -> Node:
    """`( ohm pF pin , ( ... ) )` or `( ohm pF ( ... ) , ( ... ) )`, the opening bracket taken off; a Node."""
    node = Node(float(tokens.pop(0)), float(tokens.pop(0)))
    while (token := tokens.pop(0)) != ")":
        if token == "(":
            node.below.append(parse_tree(tokens))
        elif token != ",":
            node.below.append(Node(0.0, 0.0, token))
    return node


def read_trees(path: Path) -> dict[str, tuple[str, list[Node]]]:
    """Net -> (driver, [Node]) from qrouter's file."""
    result = {}
    for line in path.read_text(encoding="ascii").splitlines():
        net, _, driver, _, *rest = line.split()
        tokens, nodes = re.findall(r"[^\s]+", " ".join(rest)), []
        while tokens:
            token = tokens.pop(0)
            if token == "(":
                nodes.append(parse_tree(tokens))
            elif token != ",":
                nodes.append(Node(0.0, 0.0, token))
        result[net] = (driver, nodes)
    return result


def total(nodes: list[Node]) -> float:
    return sum(node.farad + total(node.below) for node in nodes)


def pins_in(nodes: list[Node]) -> list[str]:
    return [pin for node in nodes for pin in ([node.pin] if node.pin else []) + pins_in(node.below)]


def pin_name(name: str) -> str:
    """`CELL_3/A` or `PIN/port<1>` in SPEF."""
    owner, _, pin = name.partition("/")
    return verilog_name(pin) if owner == "PIN" else f"{owner}:{pin}"


class Spef:
    """The file, net by net. What has no tree of all its pins has its capacitance in one place."""

    def __init__(
        self, netlist: Netlist, trees: dict[str, tuple[str, list[Node]]], capacitance: dict[str, float]
    ) -> None:
        self.netlist, self.trees, self.capacitance = netlist, trees, capacitance
        self.lumped: list[str] = []

    def write(self, path: Path) -> None:
        lines = [
            '*SPEF "IEEE 1481-1998"',
            f'*DESIGN "{self.netlist.top}"',
            '*DATE ""',
            '*VENDOR ""',
            '*PROGRAM ""',
            '*VERSION ""',
            '*DESIGN_FLOW ""',
            "*DIVIDER /",
            "*DELIMITER :",
            "*BUS_DELIMITER [ ]",
            "*T_UNIT 1 NS",
            "*C_UNIT 1 FF",
            "*R_UNIT 1 OHM",
            "*L_UNIT 1 HENRY",
            "",
        ]
        ports = {
            bit: way
            for name, width, way in self.netlist.ports
            for bit in ([name] if width == 1 else [f"{name}<{index}>" for index in range(width)])
        }
        outputs = {
            (cell.name, pin) for cell in self.netlist.cells for pin in cell.pins if pin in ("Y", "Q", "YC", "YS")
        }
        for net, pins in sorted(self.netlist.pins_of().items()):
            connections = [f"*P {verilog_name(net)} {'I' if ports[net] == 'input' else 'O'}"] if net in ports else []
            connections += [f"*I {cell}:{pin} {'O' if (cell, pin) in outputs else 'I'}" for cell, pin in pins]
            names = {f"{cell}/{pin}" for cell, pin in pins} | ({f"PIN/{net}"} if net in ports else set())
            lines += self.net_lines(net, connections, names)
        path.write_text("\n".join([*lines, ""]), encoding="ascii")

    def net_lines(self, net: str, connections: list[str], names: set[str]) -> list[str]:
        name = verilog_name(net)
        farad = self.capacitance.get(net, 0.0)
        caps, resistors = [], []
        driver, nodes = self.trees.get(net, ("", []))
        if total(nodes) > 0 and {driver, *pins_in(nodes)} == names:
            scale, counter = farad / total(nodes), [0]

            def walk(node: Node, before: str) -> None:
                if node.pin:
                    here = pin_name(node.pin)
                else:
                    counter[0] += 1
                    here = f"{name}:{counter[0]}"
                resistors.append(f"{before} {here} {max(node.ohm, LEAST_OHM):.6g}")
                if node.farad:
                    half = node.farad * scale / 2  # half at each end of a piece of wire
                    caps.extend([(before, half), (here, half)])
                for child in node.below:
                    walk(child, here)

            for node in nodes:
                walk(node, pin_name(driver))
        elif len(names) > 1:
            self.lumped.append(net)
            first, *others = sorted(map(pin_name, names))
            caps.append((first, farad))
            resistors += [f"{first} {other} {LEAST_OHM}" for other in others]
        sums: dict[str, float] = {}
        for point, value in caps:
            sums[point] = sums.get(point, 0.0) + value
        return [
            f"*D_NET {name} {farad:.6g}",
            "*CONN",
            *connections,
            "*CAP",
            *(f"{index + 1} {point} {value:.6g}" for index, (point, value) in enumerate(sums.items())),
            "*RES",
            *(f"{index + 1} {line}" for index, line in enumerate(resistors)),
            "*END",
            "",
        ]
