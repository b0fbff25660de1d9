# SPDX-License-Identifier: Apache-2.0
"""Makes a machine file from microbenchmarks: `warpfold calibrate`.

Writes NAME.toml and NAME-microbench.json, what of the measurements the rules and the replay read, and prints what
each parameter comes from, what did not fit, and the microbenchmarks of REDs replayed on the new machine.
"""

import argparse
import os
import re
from collections import Counter
from pathlib import Path

from ..base import files
from ..base.errors import BadInput
from ..base.parser import Parser
from ..base.places import MACHINES
from . import energy, measure, replay_microbench
from .derive import WORDS, Value, derive, told
from .machine_file import Base, machine_text, number
from .measurement import Measurement, Missing, text_of

LEAST_CODE = 70


def base_machine(name: str) -> Base:
    path = Path(name) if name.endswith(".toml") else MACHINES / f"{name}.toml"
    try:
        return Base(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, KeyError) as error:
        raise BadInput(f"base machine {name}: {error}") from error


def known(value: Value) -> str:
    return "" if value.known_to is None else f"{value.known_to:.1%}"


def table(values: dict[str, Value]) -> list[str]:
    """A parameter a line: value, how well it is determined, within what part of it, and its source."""
    rows = [(v.parameter, number(v.value), v.determined, known(v), v.comment) for v in values.values()]
    widths = [max(len(row[i]) for row in rows) for i in range(4)]
    head = ("parameter", "value", "determined", "within", "source")
    widths = [max(width, len(text)) for width, text in zip(widths, head)]
    form = "{:{}} {:>{}} {:{}} {:>{}}  {}"
    return [
        form.format(*(x for pair in zip(row, widths) for x in pair), row[4]).rstrip()[:150] for row in [head, *rows]
    ]


def findings(values: dict[str, Value], notes: list[str]) -> list[str]:
    """What decided between readings, and where the GPU does not do what a rule takes it to do."""
    lines = ["", "What decided:"]
    for value in values.values():
        labels = list(value.readings)
        if value.source == "measured" and (len(labels) > 1 or " " in labels[0]):
            lines.append(f"  {value.parameter} = {number(value.value)}: {told(value.readings, 4)}")
    misfits = [f"  {v.parameter}: {v.misfit}" for v in values.values() if v.misfit]
    misfits += [
        f"  {v.parameter}: {v.comment.partition('undetermined: ')[2]}; its value is another machine's"
        for v in values.values()
        if v.source == "undetermined"
    ]
    misfits += [f"  {note}" for note in notes]
    lines += ["", "What does not fit:", *(misfits or ["  nothing"])]
    counts = Counter(value.determined for value in values.values())
    lines += [
        "",
        f"How well {len(values)} parameters are determined: "
        + ", ".join(f"{counts[word]} {word}" for word in WORDS if counts[word]),
    ]
    return lines


def compare(machine: Path, values: dict[str, Value], path: str) -> list[str]:
    """Lines on where another machine has other values than the file that was written."""
    mine = base_machine(str(machine)).values
    other, name = base_machine(str(path)).values, Path(path).stem if str(path).endswith(".toml") else path
    lines = [
        f"  {p}: {number(mine[p])} ({name}: {number(other[p])})" for p in values if p in other and other[p] != mine[p]
    ]
    return ["", f"Differences from {path}:", *(lines or ["  none"])]


def options(parser: Parser) -> None:
    parser.add_argument("--name", required=True, help="Of the machine, and of what is written")
    parser.add_argument(
        "--measurements",
        action="append",
        default=[],
        metavar="FILE",
        help="What warpfold_microbench wrote earlier, on any machine: no GPU is needed then. Of several files the "
        "first that has a case decides",
    )
    parser.add_argument("--base", default="h200", metavar="MACHINE", help="What is not measured comes from there")
    parser.add_argument("--compare", metavar="MACHINE", help="Also print where that machine has other values")
    parser.add_argument("--out", metavar="DIR", type=Path, default=Path("results/calibrate"), help="Folder")
    parser.add_argument("--no-replay", action="store_true", help="Do not run the microbenchmarks in the model")
    parser.add_argument(
        "--match",
        metavar="REGEX",
        help="Replay the cases whose name it finds, . for all; else those that set the rates of REDs",
    )
    parser.add_argument(
        "--energy",
        action="store_true",
        help="Also measure joules of launches, of a scene of random Gaussians, and fit the energies to them",
    )
    parser.add_argument(
        "--energies",
        action="append",
        default=[],
        metavar="FILE",
        help="What `warpfold_capture energy` wrote earlier. Of several scenes the first is fitted",
    )
    parser.add_argument(
        "--trace", action="append", default=[], metavar="FILE", help="Of a scene whose energies were measured"
    )
    parser.add_argument("--jobs", metavar="N", type=int, help="Simulations at once [one for each processor]")
    parser.add_argument(
        "--build", metavar="DIR", type=Path, default=Path("build/capture"), help="Build folder of the microbenchmarks"
    )
    parser.footer(
        "Measuring needs a checkout of Warpfold, a GPU, nvcc (CUDA 12 or newer), cmake, a C++20 compiler and the headers "
        "that scripts/capture.sh names.\n\n"
        "Example: from this machine's GPU, or from its measurements\n"
        "  warpfold calibrate --name mine\n"
        "  warpfold calibrate --name mine --measurements mine-microbench.json\n\n"
        "Exit code: 0 done, 1 a program failed, 2 bad usage or bad input."
    )


def run(args: argparse.Namespace) -> int:
    if not re.fullmatch(r"[A-Za-z0-9_.-]+", args.name):
        raise BadInput(f'"{args.name}" is no name of a machine')
    if args.energy and args.measurements:
        raise BadInput(
            "--energy measures on this machine's GPU, as all else must be; with --measurements, --energies names a file"
        )
    if not args.measurements:
        measure.measure(args)
    measured = Measurement.read(args.measurements)
    if measured.device("compute_capability") < LEAST_CODE:
        raise BadInput(
            f"{measured.gpu['name']}: compute capability {measured.gpu['compute_capability'] / 10}, "
            f"needed is {LEAST_CODE / 10}"
        )
    base = base_machine(args.base)
    try:
        values, notes = derive(measured, base, args.base)
    except Missing as missing:
        raise BadInput(f"{args.measurements[0]}: missing: {missing}") from missing
    text = machine_text(args.name, measured.gpu, args.base, base, {p: (v.value, v.comment) for p, v in values.items()})
    energies: list[str] = []
    jobs = args.jobs or os.cpu_count() or 1
    if args.energies:
        text, energies = energy.fit(text, measured.gpu["name"], args.energies, args.trace, jobs)
    args.out.mkdir(parents=True, exist_ok=True)
    machine = args.out / f"{args.name}.toml"
    results = args.out / f"{args.name}-microbench.json"
    if results.resolve() not in [Path(name).resolve() for name in args.measurements]:
        files.write(results, text_of(measured.compact()))
    files.write(machine, text)
    lines = [f"{measured.gpu['name']}: {machine}", "", *table(values), *findings(values, notes)]
    if args.compare:
        lines += compare(machine, values, args.compare)
    if energies:
        lines += ["", "Energies of launches above the idle GPU, by NVML:", *energies]
    print("\n".join(lines), flush=True)
    if not args.no_replay:
        print("\nThe microbenchmarks of REDs on the new machine, SM cycles a RED:\n", flush=True)
        rows = replay_microbench.replay(
            args.measurements[0] if not results.exists() else results,
            machine,
            measured.device("sms"),
            replay_microbench.RATES if args.match is None else args.match,
            jobs,
        )
        print(replay_microbench.text_of(rows))
    return 0
