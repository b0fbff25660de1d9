# SPDX-License-Identifier: Apache-2.0
"""Makes a machine file from microbenchmarks. Run by scripts/calibrate.sh, which measures first.

Writes NAME.toml and NAME-microbench.json, what of the measurements the rules and the replay read, and prints what
each parameter comes from, what did not fit, and the microbenchmarks of REDs replayed on the new machine.
Exit 2: bad input.
"""

import argparse
import os
import re
import sys
from collections import Counter
from pathlib import Path

from ..base import guard, whole_file
from ..correlate import ROOT, BadInput as SimulatorBadInput
from . import energy, replay_microbench
from .derive import WORDS, derive, told
from .machine_file import Base, machine_text, number
from .measurement import BadInput, Measurement, Missing, text_of


LEAST_CODE = 70


def base_machine(name):
    path = Path(name) if name.endswith(".toml") else ROOT / f"model/gpus/{name}.toml"
    try:
        return Base(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, KeyError) as error:
        raise BadInput(f"base machine {name}: {error}") from error


def known(value):
    return "" if value.known_to is None else f"{value.known_to:.1%}"


def table(values):
    """A parameter a line: value, how well it is determined, within what part of it, and its source."""
    rows = [(v.parameter, number(v.value), v.determined, known(v), v.comment) for v in values.values()]
    widths = [max(len(row[i]) for row in rows) for i in range(4)]
    head = ("parameter", "value", "determined", "within", "source")
    widths = [max(width, len(text)) for width, text in zip(widths, head)]
    form = "{:{}} {:>{}} {:{}} {:>{}}  {}"
    return [
        form.format(*(x for pair in zip(row, widths) for x in pair), row[4]).rstrip()[:150] for row in [head, *rows]
    ]


def findings(values, notes):
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


def compare(machine, values, path):
    """Lines on where another machine has other values than the file that was written."""
    mine = base_machine(str(machine)).values
    other, name = base_machine(str(path)).values, Path(path).stem if str(path).endswith(".toml") else path
    lines = [
        f"  {p}: {number(mine[p])} ({name}: {number(other[p])})" for p in values if p in other and other[p] != mine[p]
    ]
    return ["", f"Differences from {path}:", *(lines or ["  none"])]


def arguments(argv):
    parser = argparse.ArgumentParser(description="A machine file from microbenchmarks.")
    parser.add_argument("--name", required=True, help="of the machine")
    parser.add_argument(
        "--measurements",
        action="append",
        required=True,
        metavar="FILE",
        help="of warpfold_microbench; of several files the first that has a case decides",
    )
    parser.add_argument("--base", default="h200", help="machine that what is not measured comes from (%(default)s)")
    parser.add_argument("--out", type=Path, default=ROOT / "results/calibrate", help="folder (%(default)s)")
    parser.add_argument("--compare", metavar="MACHINE", help="also print where that machine has other values")
    parser.add_argument("--no-replay", action="store_true", help="do not run the microbenchmarks in the model")
    parser.add_argument(
        "--match",
        default=replay_microbench.RATES,
        metavar="REGEX",
        help="replay the cases whose name it finds, . for all; default: those that set rates",
    )
    parser.add_argument(
        "--energies",
        action="append",
        default=[],
        metavar="FILE",
        help="of warpfold_capture energy: fit the energies to its first scene",
    )
    parser.add_argument("--trace", action="append", default=[], metavar="FILE", help="of a scene of these")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    return parser.parse_args(argv)


def make(args):
    if not re.fullmatch(r"[A-Za-z0-9_.-]+", args.name):
        raise BadInput(f'"{args.name}" is no name of a machine')
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
    energies = []
    if args.energies:
        text, energies = energy.fit(text, measured.gpu["name"], args.energies, args.trace, args.jobs)
    args.out.mkdir(parents=True, exist_ok=True)
    machine = args.out / f"{args.name}.toml"
    results = args.out / f"{args.name}-microbench.json"
    if results.resolve() not in [Path(name).resolve() for name in args.measurements]:
        whole_file.write(results, text_of(measured.compact()))
    whole_file.write(machine, text)
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
            args.match,
            args.jobs,
        )
        print(replay_microbench.text_of(rows))


def main(argv=None):
    args = arguments(argv)
    try:
        make(args)
    except (BadInput, SimulatorBadInput, energy.energy_fit.BadInput, OSError) as error:
        print(f"calibrate.py: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    guard.end("calibrate.py", main)
