# SPDX-License-Identifier: Apache-2.0
"""Proves that the netlists of synth.py do what the RTL does. `warpfold prove-netlist` runs it.

Both sides become an and-inverter graph, in which a register is cut open: its value is an input, what it
takes at the next clock edge an output. Registers are matched by name; a netlist may hold one inverted, and need
not have one that never changes. Then all outputs are equal for all inputs and all states, or the netlist is wrong.
ABC's `cec` decides, that such a register never changes as well. An asynchronous reset acts on the register's value
at once, so which registers have one is compared too.
"""

import argparse
import random
import re
import sys
import time
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path

from ..base import processes
from ..base.errors import BadInput, ToolFailed
from ..base.parser import Parser
from ..base.places import RTL
from ..base.processes import logged
from . import synth
from .synth import Top


# Netlists of a row, as synth.py names their files: simple gates, and each mapping with every cell
# replaced by its function.
FORMS = {"gates": "{}.gates.v", "small": "{}.small.flat.v", "fast": "{}.fast.flat.v"}
TO_GRAPH = ["flatten", "async2sync", "dffunmap", "techmap", "opt_clean", "setundef -zero", "aigmap", "opt_clean"]
# An output that is an input by another name: Yosys 0.52 cannot write one. With two inverters it is the same graph.
BUFFER = """module \\$_BUF_ (input A, output Y);
  wire n;
  \\$_NOT_ first (.A(A), .Y(n));
  \\$_NOT_ second (.A(n), .Y(Y));
endmodule
"""


# ------------------------------------------------------------------------------------------------
# Graphs
# ------------------------------------------------------------------------------------------------


class Graph:
    """ASCII AIGER file of Yosys with its map of names; a literal is 2 * variable + inverted."""

    def __init__(self, aag: Path, names: Path, exposed: Collection[str] = ()) -> None:
        lines = Path(aag).read_text(encoding="ascii").splitlines()
        self.top, inputs, latches, outputs, ands = (int(n) for n in lines[0].split()[1:6])
        body = [[int(n) for n in line.split()] for line in lines[1 : 1 + inputs + latches + outputs + ands]]
        self.inputs = [row[0] for row in body[:inputs]]
        body = body[inputs:]
        self.next = {row[0]: row[1] for row in body[:latches]}
        self.outputs = [row[0] for row in body[latches : latches + outputs]]
        # Yosys leaves constants in place, which would hide a register behind its reset.
        self.ands: dict[int, tuple[int, int]] = {}
        folded: dict[int, int] = {}

        def fold(literal: int) -> int:
            return folded.get(literal & ~1, literal & ~1) ^ (literal & 1)

        for node, left, right in body[latches + outputs :]:
            left, right = fold(left), fold(right)
            if 0 in (left, right) or left == right ^ 1:
                folded[node] = 0
            elif left == 1 or right in (1, left):
                folded[node] = right if left == 1 else left
            else:
                self.ands[node] = (left, right)
        self.next = {latch: fold(literal) for latch, literal in self.next.items()}
        self.outputs = [fold(literal) for literal in self.outputs]
        self.input_names: dict[str, int] = {}
        self.output_names: dict[str, int] = {}
        self.wires: dict[str, int] = {}
        for line in Path(names).read_text(encoding="utf-8").splitlines():
            kind, number, bit, name = line.split(maxsplit=3)
            name = f"{name.lstrip(chr(92))}[{bit}]"
            if kind == "input":
                self.input_names[name] = self.inputs[int(number)]
            elif kind == "output" and name.rpartition("[")[0] in exposed:
                self.wires[name] = self.outputs[int(number)]
            elif kind == "output":
                self.output_names[name] = self.outputs[int(number)]
            elif kind == "wire":
                self.wires.setdefault(name, fold(int(number)))
        self.value = self.without_reset()

    def register(self, name: str) -> int | None:
        """Literal of the latch that wire `name` shows while there is no reset; None if it is no register."""
        literal = self.wires.get(name)
        value = None if literal is None else self.outside_reset(literal, self.value)
        return value if value is not None and value & ~1 in self.next else None

    @staticmethod
    def outside_reset(literal: int, values: dict[int, int | None]) -> int | None:
        value = values.get(literal & ~1)
        return None if value is None else value ^ (literal & 1)

    def without_reset(self) -> dict[int, int | None]:
        """Node -> the latch literal or constant that it is outside reset; None if it is neither."""
        value: dict[int, int | None] = {latch: latch for latch in self.next}
        value[self.input_names.get("rst_ni[0]", 0)] = 1
        value[0] = 0
        for node, sides in self.ands.items():
            left, right = (self.outside_reset(side, value) for side in sides)
            if 0 in (left, right):
                value[node] = 0
            elif left == 1 or left == right:
                value[node] = right
            elif right == 1:
                value[node] = left
        return value

    def register_names(self) -> list[str]:
        return [name for name in sorted(self.wires) if not name.startswith("$") and self.register(name) is not None]

    def simulate(self, values: dict[int, int], ones: int) -> dict[int, int]:
        """Node -> its value, a bit for each pattern, all ones `ones`; of inputs and latches as given."""
        result = {0: 0, **values}
        for node, (left, right) in self.ands.items():
            a, b = result[left & ~1], result[right & ~1]
            result[node] = (a ^ (ones if left & 1 else 0)) & (b ^ (ones if right & 1 else 0))
        return result

    def write(
        self, path: Path, inputs: Sequence[Sequence[int]], outputs: Sequence[int], zeros: Sequence[int] = ()
    ) -> None:
        """Binary AIGER without latches: an input for each group of literals, inverted ones too, that are equal; these
        literals as outputs; literals `zeros` are 0."""
        number = {0: 0}
        for literal in zeros:
            number[literal & ~1] = literal & 1
        for index, group in enumerate(inputs):
            for literal in group:
                number[literal & ~1] = 2 * (index + 1) ^ (literal & 1)
        fresh = len(inputs)
        order, visiting = [], [literal & ~1 for literal in outputs]
        seen = set(number)
        while visiting:
            node = visiting[-1]
            if node in seen:
                visiting.pop()
                continue
            if node not in self.ands:
                raise ToolFailed(f"{path}: a value without a source")
            waiting = [side & ~1 for side in self.ands[node] if side & ~1 not in seen]
            if waiting:
                visiting += waiting
                continue
            visiting.pop()
            seen.add(node)
            fresh += 1
            number[node] = 2 * fresh
            order.append(node)

        def new(literal: int) -> int:
            return number[literal & ~1] ^ (literal & 1)

        data = bytearray(f"aig {fresh} {len(inputs)} 0 {len(outputs)} {len(order)}\n".encode())
        for literal in outputs:
            data += f"{new(literal)}\n".encode()
        for node in order:
            large, small = sorted((new(side) for side in self.ands[node]), reverse=True)
            for delta in (number[node] - large, large - small):
                while delta >= 0x80:
                    data.append(delta & 0x7F | 0x80)
                    delta >>= 7
                data.append(delta)
        Path(path).write_bytes(data)


def build(commands: Iterable[str], folder: Path, name: str, wanted: Collection[str] = ()) -> Graph:
    """The graph of what Yosys commands load. Wires named in `wanted` stay, however little they are used."""
    aag, names = folder / f"{name}.aag", folder / f"{name}.map"
    commands = list(commands)
    for wire in wanted:
        commands.append(f"expose w:{re.sub(r'[^A-Za-z0-9_.]', '?', wire)}")
    buffer = folder / "buffer.v"
    buffer.write_text(BUFFER, encoding="utf-8")
    commands += [*TO_GRAPH, "insbuf", f"techmap -map {buffer}", f"write_aiger -ascii -vmap {names} {aag}"]
    logged([*synth.YOSYS, "-p", "; ".join(commands)], folder / f"{name}.yosys.log", name)
    return Graph(aag, names, wanted)


def wires(names: Iterable[str]) -> list[str]:
    """Names of whole wires, from those of their bits."""
    return sorted({name.rpartition("[")[0] for name in names})


def compare(rtl: Graph, load_netlist: list[str], folder: Path, name: str) -> str:
    """prove() with the netlist that the Yosys commands `load_netlist` load."""
    ports = {*wires(rtl.input_names), *wires(rtl.output_names)}
    wanted = [wire for wire in wires(rtl.register_names()) if wire not in ports]
    return prove(rtl, build(load_netlist, folder, name, wanted), folder, name)


def registers(rtl: Graph, netlist: Graph) -> dict[str, tuple[int, int | None]]:
    """Register -> (its literal in the RTL, in the netlist or None). One has as many names as it has wires."""
    names: dict[int, dict[str, int]] = {}
    for name in rtl.register_names():
        literal = rtl.register(name)
        assert literal is not None
        names.setdefault(literal & ~1, {})[name] = literal
    pairs = {}
    for same in names.values():
        name = next((name for name in same if netlist.register(name) is not None), next(iter(same)))
        pairs[name] = (same[name], netlist.register(name))
    return pairs


def unchanging(rtl: Graph, literals: dict[str, int]) -> dict[str, int]:
    """Those of the registers that stay 0 once they are, as far as simulation tells: synthesis has a constant for them."""
    source, patterns = random.Random(1), 1024
    ones = (1 << patterns) - 1
    left = dict(literals)
    for _ in range(16):
        values = {node: source.getrandbits(patterns) for node in (*rtl.inputs, *rtl.next)}
        values |= {literal & ~1: ones if literal & 1 else 0 for literal in left.values()}
        result = rtl.simulate(values, ones)
        for name, literal in list(left.items()):
            following = rtl.next[literal & ~1]
            if result[following & ~1] != (ones if (following ^ literal) & 1 else 0):
                del left[name]
    return left


def prove(rtl: Graph, netlist: Graph, folder: Path, name: str) -> str:
    """'' when equal, else what differs in one line."""
    for what, mine, theirs in (
        ("inputs", rtl.input_names, netlist.input_names),
        ("outputs", rtl.output_names, netlist.output_names),
    ):
        if odd := sorted(set(mine) ^ set(theirs)):
            return f"{what} on one side only: {' '.join(odd[:5])}"
    pairs = registers(rtl, netlist)
    if len(pairs) != len(rtl.next):
        raise ToolFailed(f"{name}: {len(rtl.next) - len(pairs)} registers of the RTL have no name")
    lost = {register: pair[0] for register, pair in pairs.items() if pair[1] is None}
    zeros = unchanging(rtl, lost) if lost else {}
    if unknown := sorted(lost.keys() - zeros):
        return f"registers that the netlist does not have: {' '.join(unknown[:5])}"
    held: dict[int, list[int]] = {latch: [] for latch in netlist.next}  # by the netlist: literals of the RTL
    for literal, other in pairs.values():
        if other is not None:
            held[other & ~1].append(literal ^ (other & 1))
    if not all(held.values()):
        return "the netlist has other registers"

    ports, results = sorted(rtl.input_names), sorted(rtl.output_names)
    of_rtl = [[rtl.input_names[port]] for port in ports] + list(held.values())
    of_netlist = [[netlist.input_names[port]] for port in ports] + [[latch] for latch in held]
    outputs = ([rtl.output_names[port] for port in results], [netlist.output_names[port] for port in results])
    for register in sorted(pairs):
        literal, other = pairs[register]
        outputs[0].append(rtl.next[literal & ~1] ^ (literal & 1))
        outputs[1].append(0 if other is None else netlist.next[other & ~1] ^ (other & 1))
    files = [folder / f"{name}.{side}.cut.aig" for side in ("rtl", "netlist")]
    rtl.write(files[0], of_rtl, outputs[0], list(zeros.values()))
    netlist.write(files[1], of_netlist, outputs[1])
    done = processes.run([synth.abc_program(), "-c", f"cec {files[0]} {files[1]}"], together=True)
    (folder / f"{name}.cec.log").write_text(done.stdout, encoding="utf-8")
    if "Networks are equivalent" in done.stdout:
        return ""
    if "NOT EQUIVALENT" in done.stdout:
        failed = re.search(r"^Output po(\d+):", done.stdout, re.MULTILINE)
        names = results + [f"next value of {r}" for r in sorted(pairs)]
        where = int(failed.group(1)) if failed else None
        return f"{names[where]} differs" if where is not None and where < len(names) else "an output differs"
    raise ToolFailed(f"{name}: cec neither proves nor refutes: {done.stdout.strip().splitlines()[-1:]}")


# ------------------------------------------------------------------------------------------------
# One row
# ------------------------------------------------------------------------------------------------


def plant(netlist: Path, output: Path) -> str:
    """Changes the type of the gate in the middle of the netlist; its line."""
    lines = Path(netlist).read_text(encoding="utf-8").splitlines()
    gates = [i for i, line in enumerate(lines) if re.match(r"  assign .* = .* [&|] ", line)]
    place = gates[len(gates) // 2]
    line = lines[place]
    lines[place] = line.replace(" & ", " | ", 1) if " & " in line else line.replace(" | ", " & ", 1)
    Path(output).write_text("\n".join(lines) + "\n", encoding="utf-8")
    return line.strip()


def prove_row(top: Top, rtl_folder: Path, library: Path | None, unit_ns: float, folder: Path, bugs: bool) -> bool:
    """Prints a line for each netlist; True when all are as expected."""
    synth.synthesize(top, rtl_folder, library, unit_ns, folder, True)
    rtl = build([*synth.load_commands(top, rtl_folder), "proc"], folder, f"{top.name}.rtl")
    good = True
    for form, pattern in FORMS.items():
        netlist = folder / pattern.format(top.name)
        if not netlist.exists():  # no library, no mapping
            continue
        for bug in (False, True) if bugs else (False,):
            started = time.monotonic()
            name, source, changed = f"{top.name}.{form}", netlist, ""
            if bug:
                name += ".bug"
                source = folder / f"{name}.v"
                changed = plant(netlist, source)
            load = [f"read_verilog {source}", f"hierarchy -check -top {top.module}", "proc", "opt_expr", "opt_dff"]
            difference = compare(rtl, load, folder, name)
            seconds = time.monotonic() - started
            verdict = ("SURVIVED", "refuted")[bool(difference)] if bug else ("proved", "FAILED")[bool(difference)]
            good &= verdict in ("proved", "refuted")
            detail = (
                f"{len(rtl.output_names)} outputs, {len(rtl.next)} registers"
                if verdict == "proved"
                else "; ".join(part for part in (f"changed gate {changed}" if bug else "", difference) if part)
            )
            print(f"{top.name:32} {form:6} {verdict:9} {detail}, {seconds:.0f} s", flush=True)
    return good


def options(parser: Parser) -> None:
    parser.add_argument(
        "row", nargs="*", metavar="ROW", help="Rows of `warpfold synth`; else the whole unit of each kind"
    )
    parser.add_argument(
        "--liberty", action="append", metavar="FILE", help="Liberty file, plain or .gz, instead of Debian's osu018"
    )
    parser.add_argument("--gates-only", action="store_true", help="Only the netlist of simple gates")
    parser.add_argument("--no-bugs", action="store_true", help="Without the planted bugs")
    parser.add_argument("--rtl", metavar="DIR", default=str(RTL), help="RTL folder with its arc.f")
    parser.add_argument("--work", metavar="DIR", help="Keep netlists and graphs there")
    parser.footer(
        "Example: the netlist of simple gates of the scheduler\n"
        "  warpfold prove-netlist --gates-only arc_scheduler\n\n"
        "Exit code: 0 all as expected, 1 something is not, 2 bad usage or bad input."
    )


def run(arguments: argparse.Namespace) -> int:
    rows = synth.rows_named(arguments.row or synth.WHOLE, synth.TOPS)
    synth.need_tools(arguments.gates_only)
    synth.abc_program()
    synth.rtl_files(Path(arguments.rtl))
    with synth.scratch("warpfold-equiv-") as temporary:
        folder = Path(temporary)
        rtl = synth.without_blanks(arguments.rtl, folder)
        if arguments.work:
            folder = synth.check_path(Path(arguments.work).resolve())
            folder.mkdir(parents=True, exist_ok=True)
        library, unit_ns = None, 1.0
        if not arguments.gates_only:
            library, unit_ns, _ = synth.prepare_liberty(arguments, folder)
        good = [prove_row(row, rtl, library, unit_ns, folder, not arguments.no_bugs) for row in rows]
    if not all(good):
        print("warpfold prove-netlist: not everything is as expected", file=sys.stderr)
        return 1
    return 0
