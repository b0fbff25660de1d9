# SPDX-License-Identifier: Apache-2.0
"""What a kernel's machine code is made of, and what ways through it cost: of any kernel.

  warpfold kernel-code describe --cubin FILE --function NAME          instructions, blocks, markers, atomics as JSON
  warpfold kernel-code ways     --cubin FILE --function NAME <WAYS    costs of ways between markers as JSON
                                [--ncu FILE [--every N]]              held to how often each instruction was issued
  warpfold kernel-code check    --cubin FILE --function NAME --counts FILE --ncu CSV

In place of --cubin, --text takes a disassembly that was saved: of cuobjdump -sass, or of nvdisasm -c -hex, which also
names the targets of jump tables. README.md beside it describes what goes in and comes out.
Exit code 0: done. 1: check found too great a difference. 2: bad usage or input. 3: the flow of control of this kernel
cannot be followed, so its ways have no costs.
"""

import argparse
import json
import re
import sys
from functools import partial
from typing import Any

from ..base.errors import BadInput
from ..base.files import read_text
from ..base.parser import Parser
from .cost import Cost, slots
from .disassembly import load_kernel
from .instructions import INSTRUCTION_BYTES, SassError, UnknownFlow
from .kernel_flow import KernelFlow, block_numbers
from .kernel_ways import KernelWays
from .liveness import Liveness
from .loads import Parts, access, set_apart
from .markers import KINDS, always_runs, atomic, marker_of
from .ncu import read_counts, read_executed, verdict
from .refine import refined
from .sides import issued


SCHEMA = "warpfold.kernel-code/1"
NOT_UNDERSTOOD = 3
# Where the parameters of a launch begin in constant memory, from which number of an architecture on; and from which on
# the sizes of grid and block are not at its begin.
PARAMETERS_AT = [(100, 0x380), (90, 0x210), (70, 0x160), (50, 0x140)]
NO_DIMENSIONS_FROM = 100


def describe(args: argparse.Namespace) -> int:
    kernel = load_kernel(args.cubin, args.function, args.text, args.cache)
    result = {
        "schema": SCHEMA,
        "arch": kernel.arch,
        "function": args.function,
        "bytes": len(kernel.instructions) * INSTRUCTION_BYTES,
    }
    try:
        flow = KernelFlow(kernel.instructions, kernel.tables)
    except UnknownFlow as error:
        flow = None
        result["unknown_flow"] = str(error)
    live = Liveness(flow)
    blocks = block_numbers(kernel.instructions, kernel.tables)
    result["instructions"] = [
        {
            "offset": i.address,
            "text": i.text,
            "block": block,
            "marker": marker_of(i),
            "predicated": not always_runs(i),
            "atomic": atomic(i, partial(live.is_read, n), partial(live.is_waited_for, n)),
            "access": access(i),
        }
        for n, (i, block) in enumerate(zip(kernel.instructions, blocks))
    ]
    json.dump(result, sys.stdout, indent=None, separators=(",", ":"))
    print()
    return 0


def read_json(text: str, what: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise SassError(f"{what}: {error}") from error


def is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def ways_of(data: Any, what: str) -> list[list[int]]:
    """[[address, ...], ...] of an object with the key "ways"."""
    ways = data.get("ways") if isinstance(data, dict) else None
    if not isinstance(ways, list) or not all(
        isinstance(w, list) and len(w) > 1 and all(map(is_count, w)) and all(a >= 0 for a in w[1:]) and w[0] >= -1
        for w in ways
    ):
        raise SassError(f'{what}: is not {{"ways": [[m0, m1, ...], ...]}} with offsets of markers, -1 for the entry')
    return ways


def kinds_of(args: argparse.Namespace) -> set[str]:
    kinds = args.markers.split(",") if args.markers else KINDS
    for kind in kinds:
        if kind not in KINDS:
            raise SassError(f"--markers: {kind} is none of {', '.join(KINDS)}")
    return set(kinds)


def launch_memory(arch: str, data: dict[str, Any], what: str) -> dict[int, int]:
    """Words of constant memory that a launch sets, by address: of {"launch": {"block": [x, y, z], "grid": [x, y, z],
    "parameters": "hexadecimal digits"}}; nothing where that is not given, or not known of the architecture."""
    launch = data.get("launch")
    number = re.fullmatch(r"sm_(\d+)", arch)
    if launch is None or number is None:
        return {}
    try:
        parameters = bytes.fromhex(launch["parameters"])
        dimensions = [*launch["block"], *launch["grid"]]
        if len(dimensions) != 6 or not all(is_count(d) and 0 <= d < 1 << 32 for d in dimensions):
            raise ValueError("six dimensions")
    except (KeyError, TypeError, ValueError) as error:
        raise SassError(f'{what}: "launch" needs block, grid and parameters: {error}') from error
    start = next((start for first, start in PARAMETERS_AT if int(number.group(1)) >= first), None)
    if start is None:
        return {}
    words = {start + at: int.from_bytes(parameters[at : at + 4], "little") for at in range(0, len(parameters) - 3, 4)}
    if int(number.group(1)) < NO_DIMENSIONS_FROM:
        words |= {4 * at: size for at, size in enumerate(dimensions)}
    return words


def load_ways(args: argparse.Namespace, data: dict[str, Any], what: str) -> tuple[str, KernelWays]:
    kernel = load_kernel(args.cubin, args.function, args.text, args.cache)
    if data.get("apart") is True:
        set_apart(kernel.instructions)
    memory = launch_memory(kernel.arch, data, what)
    return kernel.arch, KernelWays(kernel.instructions, kernel.tables, kinds_of(args), memory)


def passes_of(data: dict[str, Any], wanted: list[list[int]], what: str) -> list[int]:
    """How often each way was gone."""
    passes = data.get("passes")
    if not isinstance(passes, list) or len(passes) != len(wanted) or not all(is_count(p) and p >= 0 for p in passes):
        raise SassError(f'{what}: needs "passes", a number for each of its ways')
    return passes


def costs_by_code(kernel: KernelWays, wanted: list[list[int]], data: dict[str, Any], what: str) -> list[Cost | None]:
    """Costs by the machine code alone. Those that are estimated have the bounds of their issue slots."""
    thought = [kernel.cost(w) for w in wanted]
    costs = thought
    warps = data.get("warps")
    if isinstance(warps, int):
        passes = passes_of(data, wanted, what)
        executed = issued(kernel, wanted, passes, warps)
        if executed is not None:
            costs = refined(kernel, wanted, passes, executed)
    result: list[Cost | None] = []
    for way, before, cost in zip(wanted, thought, costs):
        if cost is not None and before is not None and cost.get("estimated"):
            least, most = kernel.bounds(way) if before.get("estimated") else (slots(before), slots(before))
            taken = slots(cost)
            cost = cost | {"bounds": [min(least, taken), max(most, taken)]}
        result.append(cost)
    return result


def ways(args: argparse.Namespace) -> int:
    what = "standard input"
    data = read_json(sys.stdin.read(), what)
    wanted = ways_of(data, what)
    _, kernel = load_ways(args, data, what)
    if args.ncu:
        passes = passes_of(data, wanted, what)
        executed = [count / args.every for count in read_executed(args.ncu, args.function)]
        costs = refined(kernel, wanted, passes, executed)
    else:
        costs = costs_by_code(kernel, wanted, data, what)
    result: dict[str, Any] = {"costs": costs}
    if data.get("apart") is True:
        parts = Parts(kernel)
        result["parts"] = [parts.of(tuple(way), cost) for way, cost in zip(wanted, costs)]
    json.dump(result, sys.stdout, separators=(",", ":"))
    print()
    return 0


def measured_launch(args: argparse.Namespace) -> tuple[str, int]:
    """Architecture and warp instructions of the launch that --launch names, or the last one."""
    kernel = args.kernel or args.function
    measured = [m for m in read_counts(args.ncu) if m[0] == kernel or m[0].startswith(kernel + "(")]
    if not measured:
        raise SassError(f"{args.ncu}: has no instructions of {kernel}; --kernel names it as ncu does")
    if args.launch is not None and not 0 <= args.launch < len(measured):
        raise SassError(f"{args.ncu}: has {len(measured)} launches of {kernel}, numbered from 0")
    _, arch, count = measured[-1 if args.launch is None else args.launch]
    return arch, count


def check(args: argparse.Namespace) -> int:
    counts = read_json(read_text(args.counts), args.counts)
    wanted = ways_of(counts, args.counts)
    passes = passes_of(counts, wanted, args.counts)
    arch, kernel = load_ways(args, counts, args.counts)
    measured_on, count = measured_launch(args)
    if measured_on not in ("sm_", arch):
        raise SassError(f"{args.ncu}: was measured on {measured_on}, and the code is for {arch}")
    total = estimated = unknown = 0
    given = counts.get("costs", [kernel.cost(way) for way in wanted])
    for way, times, cost in zip(wanted, passes, given):
        if cost is None:
            unknown += times
            continue
        issued = (slots(cost) + kernel.issued_by_model(way)) * times
        total += issued
        estimated += issued if cost.get("estimated") else 0
    if total == 0:
        raise SassError(f"{args.counts}: has no pass of a way through {args.function}")
    print(
        f"{arch} {args.function}: predicted {total} warp instructions ({estimated / total:.1%} estimated), "
        f"measured {count}: {total / count:.4f}"
    )
    if unknown:
        print(f"{unknown} passes go ways that the code does not have: not counted")
    wrong = verdict(total, count)
    if wrong:
        print(f"kernel-code: {wrong}", file=sys.stderr)
        return 1
    return 0


def options(parser: Parser) -> None:
    commands = parser.add_subparsers(dest="command", required=True)
    for name, work, text in (
        ("describe", describe, "Instructions, blocks, markers and atomics as JSON"),
        ("ways", ways, "Costs of the ways on standard input, as JSON"),
        ("check", check, "Warp instructions of a recording, against ncu"),
    ):
        command = commands.add_parser(name, help=text, description=text)
        source = command.add_mutually_exclusive_group(required=True)
        source.add_argument("--cubin", metavar="FILE", help="File with the machine code")
        source.add_argument("--text", metavar="FILE", help="Its disassembly, saved")
        command.add_argument(
            "--function", metavar="NAME", required=True, help="The kernel, as the machine code names it"
        )
        command.add_argument("--cache", metavar="DIR", help="Folder that keeps what CUDA's tools print of a cubin")
        if work is not describe:
            kinds = ",".join(KINDS)
            command.add_argument("--markers", metavar="LIST", help=f"Kinds that were recorded: {kinds}; else all")
        if work is ways:
            command.add_argument(
                "--ncu",
                metavar="FILE",
                help="CSV with inst_executed of each instruction, to refine costs by; standard input also has "
                '"passes" then',
            )
            command.add_argument(
                "--every", metavar="N", type=int, default=1, help="The passes are of one CTA in so many of the launch"
            )
        command.set_defaults(work=work)
    command.add_argument(
        "--counts",
        metavar="FILE",
        required=True,
        help='JSON: {"ways": [[m0, m1, ...], ...], "passes": [n, ...]}; with "costs": [cost, ...] these are checked',
    )
    command.add_argument("--ncu", metavar="FILE", required=True, help="CSV with smsp__inst_executed.sum")
    command.add_argument("--kernel", metavar="NAME", help="The kernel as ncu names it, without its parameters")
    command.add_argument("--launch", metavar="N", type=int, help="Which of its launches, from 0 on; else the last")


def run(arguments: argparse.Namespace) -> int:
    try:
        return int(arguments.work(arguments))
    except UnknownFlow as error:
        print(
            f"kernel-code: {arguments.function}: {error}: its ways have no costs; record it without work between events",
            file=sys.stderr,
        )
        return NOT_UNDERSTOOD
