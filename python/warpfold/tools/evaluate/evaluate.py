# SPDX-License-Identifier: Apache-2.0
"""Judges a unit behind the ports of arc_subcore. Started by scripts/evaluate_unit.sh."""

import argparse
import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

from ..base import guard, whole_file
from . import build, costs, gains, netlist_power, proof, unit as units
from .build import ROOT
from .unit import KEYS, BadInput, ToolFailed


STEPS = ("contract", "lockstep", "proof", "costs", "gains", "layout")
RECORDED = ROOT / "traces/data/truck-values.wft"
# Effort of a step: quick, as it is, full.
EFFORT = {
    "quick": {"requests": 400_000, "recorded": 5_000, "depth": 4, "seconds": 60, "traces": gains.QUICK},
    "usual": {"requests": 1_000_000, "recorded": 40_000, "depth": 12, "seconds": 180, "traces": gains.SOME},
    "full": {"requests": 20_000_000, "recorded": 40_000, "depth": 30, "seconds": 3600, "traces": None},
}


class Parser(argparse.ArgumentParser):
    def error(self, message):
        raise BadInput(f"{message} (see --help)")


def declared_options(parser):
    group = parser.add_argument_group("what else unit.toml says (these options come before it)")
    for key, (kind, _, text) in KEYS.items():
        if key in ("top", "parameters", "files", "include"):
            continue
        option = "--" + key.replace("_", "-")
        if kind is bool:
            group.add_argument(option, action="store_const", const=True, help=text)
        else:
            group.add_argument(option, type=kind, metavar="N" if kind is int else "TEXT", help=text)


def parse_arguments(argv):
    parser = Parser(
        prog="scripts/evaluate_unit.sh",
        allow_abbrev=False,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        description="Judges a unit with the ports of arc_subcore: elaboration, contract, proof, costs, gains.\n"
        "docs/evaluate.md explains the steps. Exit codes: 0 all right, 1 a check failed,\n"
        "2 bad input.",
    )
    parser.add_argument(
        "--rtl", metavar="DIR", required=True, help="folder of the sources; its unit.toml declares the unit"
    )
    parser.add_argument("--unit", metavar="FILE", help="another file than unit.toml")
    parser.add_argument(
        "--file-list",
        metavar="FILE",
        help="sources in compile order, as rtl/arc.f; default: unit.toml's,\n"
        "else the one .f file, else all .sv and .v files",
    )
    parser.add_argument("--top", metavar="NAME", help="top module; default: arc_subcore")
    parser.add_argument("--parameters", nargs="+", metavar="NAME=VALUE", help="parameters of the top")
    parser.add_argument(
        "--golden", metavar="FILE", help="lockstep with a golden unit: a shared object, or the name of a kind"
    )
    parser.add_argument("--liberty", action="append", metavar="FILE", help="as for scripts/synth.sh")
    parser.add_argument("--transistors-only", action="store_true", help="costs without area and path")
    parser.add_argument(
        "--traces", nargs="+", metavar="NAME", help="traces for the gains: files, or names in traces/data"
    )
    effort = parser.add_mutually_exclusive_group()
    effort.add_argument(
        "--quick", action="store_true", help="a minute: fewer requests and cycles, transistors alone, one trace"
    )
    effort.add_argument("--full", action="store_true", help="hours: twenty times the requests, all traces")
    parser.add_argument("--prove", action="store_true", help="also try to prove the rules for every number of cycles")
    parser.add_argument("--layout", action="store_true", help="place and route with scripts/layout.sh")
    kinds = [kind.name for kind in costs.synth.KINDS if kind.adds == "f32"]  # as the units that are evaluated
    parser.add_argument(
        "--beside",
        nargs="+",
        metavar="KIND",
        default=kinds,
        choices=[*kinds, "none"],
        help="kinds in the table beside the unit; default: " + ", ".join(kinds),
    )
    parser.add_argument(
        "--only",
        nargs="+",
        choices=STEPS,
        metavar="STEP",
        help="only these steps after the elaboration: " + ", ".join(STEPS),
    )
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="of the random requests; default: 1")
    parser.add_argument("--replay", metavar="FILE", help="only do what this file of a broken contract says")
    parser.add_argument("--json", metavar="FILE", help="write the result as JSON")
    parser.add_argument("--out", metavar="DIR", help="waves, replays and logs; default: build/evaluate/NAME")
    parser.add_argument("--cache", metavar="DIR", default=str(ROOT / "build/evaluate/cache"), help=argparse.SUPPRESS)
    declared_options(parser)
    return parser.parse_args(argv)


def load_unit(arguments):
    options = {key: getattr(arguments, key) for key in KEYS if hasattr(arguments, key) and key != "parameters"}
    parameters = {}
    for text in arguments.parameters or []:
        name, equals, value = text.partition("=")
        if not equals:
            raise BadInput(f"--parameters: '{text}' is no NAME=VALUE")
        parameters[name] = value
    if arguments.parameters:
        options["parameters"] = parameters
    return units.load(arguments.rtl, arguments.unit, arguments.file_list, options)


def write_json(path, result):
    """The whole file or nothing."""
    text = json.dumps(result, indent=2) + "\n"
    folder = Path(path).resolve().parent
    if not folder.is_dir():
        raise BadInput(f"cannot write {path}: no folder {folder}")
    try:
        whole_file.write(path, text)
    except OSError as error:
        raise BadInput(f"cannot write {path}: {error.strerror}") from error


# ------------------------------------------------------------------------------------------------
# Steps that the simulator does
# ------------------------------------------------------------------------------------------------


def warpfold(*arguments):
    """(exit status, last line of what it says)."""
    command = [gains.find_warpfold(), *map(str, arguments)]
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    except FileNotFoundError:
        raise BadInput(f"no {command[0]}: build it first") from None
    text = (done.stderr if done.returncode else done.stdout).strip().splitlines()
    line = text[-1].removeprefix("warpfold: ") if text else "no message"
    if done.returncode == 2:
        raise BadInput(line)
    if done.returncode not in (0, 1):
        raise ToolFailed(f"warpfold {arguments[0]}: {line}")
    return done.returncode, line


def replay_command(arguments, path):
    """The same unit, and this replay."""
    kept = []
    skip = {"--json", "--out", "--only", "--seed", "--cache", "--golden"}
    words = iter(arguments.given)
    for word in words:
        if word in skip:
            next(words, None)
        elif word not in ("--quick", "--full", "--prove", "--layout"):
            kept.append(word)
    return "scripts/evaluate_unit.sh " + shlex.join([*kept, "--replay", str(path)])


def contract(arguments, library, effort, out):
    report, replay, wave = out / "contract.json", out / "failure.replay", out / "failure.fst"
    for path in (replay, wave):
        path.unlink(missing_ok=True)
    status, line = warpfold(
        "contract",
        RECORDED,
        "--unit-library",
        library,
        "--requests",
        effort["requests"],
        "--recorded",
        effort["recorded"],
        "--seed",
        arguments.seed,
        "--json",
        report,
        "--save-replay",
        replay,
        "--wave",
        wave,
    )
    parts = json.loads(report.read_text(encoding="utf-8"))
    result = {
        "verdict": "kept" if status == 0 else "broken",
        "requests": sum(part["requests"] for part in parts["parts"]),
        "cycles": sum(part["cycles"] for part in parts["parts"]),
        "parts": parts["parts"],
    }
    if status != 0:
        result |= {
            "rule": parts["rule"],
            "message": parts["message"],
            "replay": str(replay),
            "wave": str(wave),
            "command": replay_command(arguments, replay),
            "line": line,
        }
    return result


def lockstep(golden, library, effort, out):
    which = (
        ["--unit-kind", golden] if golden in [kind.name for kind in costs.synth.KINDS] else ["--golden-library", golden]
    )
    if which[0] == "--golden-library" and not Path(golden).is_file():
        raise BadInput(f"no golden unit {golden}")
    wave = out / "lockstep.fst"
    status, line = warpfold(
        "regress", RECORDED, "--unit-library", library, *which, "--wave", wave, "--max-events", effort["recorded"]
    )
    result = {"verdict": "equal" if status == 0 else "differs", "golden": golden}
    if status != 0:
        result |= {"message": line, "wave": str(wave)}
    return result


# ------------------------------------------------------------------------------------------------
# Layout
# ------------------------------------------------------------------------------------------------


def kind_layouts():
    """Rows of scripts/layout.sh of the reduction units that are built in, as docs/numbers has them, by kind."""
    numbers = ROOT / "docs/numbers/layout.json"
    rows = json.loads(numbers.read_text(encoding="utf-8"))["rows"] if numbers.is_file() else []
    return {row["top"].removeprefix("arc_reduction_"): row for row in rows}


def layout(unit, out):
    """The unit's reduction unit, or what it is without the coalescer, placed and routed."""
    folder, report = out / "layout", out / "layout.json"
    report.unlink(missing_ok=True)
    command = [
        ROOT / "scripts/layout.sh",
        "--rtl",
        units.stage(unit, folder / "rtl"),
        "--top",
        unit.reduction or unit.top,
        "--no-power",
        "--out",
        folder,
        "--json",
        report,
    ]
    if not unit.reduction:
        command += (
            ["--parameters", *(f"{key}={value}" for key, value in unit.parameters.items())] if unit.parameters else []
        )
        command += ["--without", unit.coalescer] if unit.coalescer else []
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if not report.is_file():
        return {"verdict": "failed", "why": build.first_error(done.stdout)}
    return {
        "verdict": "done" if done.returncode == 0 else "unclean",
        "folder": str(folder),
        "unit": json.loads(report.read_text(encoding="utf-8"))["rows"][0],
        "kinds": kind_layouts(),
    }


# ------------------------------------------------------------------------------------------------
# All of it
# ------------------------------------------------------------------------------------------------


def wanted(arguments):
    steps = set(arguments.only or ("contract", "proof", "costs", "gains"))
    if arguments.golden:
        steps.add("lockstep")
    if arguments.layout:
        steps.add("layout")
    if "lockstep" in steps and not arguments.golden:
        raise BadInput("lockstep needs --golden")
    return steps


def transistors_alone(arguments):
    """Costs without area, path and power."""
    return arguments.transistors_only or arguments.quick


def simulates(arguments, steps):
    """Whether one of the steps runs the unit: power is of requests that the unit has answered."""
    return bool(steps & {"contract", "lockstep", "gains"}) or ("costs" in steps and not transistors_alone(arguments))


def cost_figures(arguments, unit, names, result, out):
    """Costs of the unit and of the kinds; empty where Yosys cannot read the unit. names: its ports."""
    if result["elaborates"]["Yosys"]:
        return {"verdict": "none", "why": "Yosys does not read it"}
    transistors_only = transistors_alone(arguments)
    figures = costs.Costs(arguments.liberty, transistors_only, out / "synth", Path(arguments.cache))
    mine, kinds = figures.of_unit(unit), figures.of_kinds([*arguments.beside, costs.CLOCK_KIND])
    power = {}
    if not transistors_only:
        measure = netlist_power.Power(figures, arguments.liberty)
        power = {
            "power": {
                "trace": RECORDED.name,
                "cycles": netlist_power.CYCLES,
                "stall": netlist_power.STALL,
                "row": list(mine)[-1],
                "unit": measure.of_unit(unit, names, result["library"]),
                "kinds": measure.of_kinds(arguments.beside, list(mine)[-1]),
            }
        }
    library = figures.description["library"] if figures.description else None
    divider = costs.divider(mine, kinds)
    return {
        "verdict": "done",
        "library": library,
        "unit": mine,
        "kinds": {name: kinds[name] for name in kinds if name in arguments.beside},
        "divider": divider,
        **power,
    }


def judge(arguments, unit, out):
    """The result; what cannot be judged after an earlier step is left out."""
    effort = EFFORT["quick" if arguments.quick else "full" if arguments.full else "usual"]
    steps = wanted(arguments)
    result = {"schema": "warpfold.evaluation/1", "unit": unit.name, "top": unit.top, "declared": unit.declared}
    names_before = build.port_names(unit, out)
    result["elaborates"], wrapper = build.elaborate(unit, out, names_before)
    library = None
    if simulates(arguments, steps):
        library = build.shared_object(unit, wrapper, Path(arguments.cache), os.cpu_count() or 1)
        result["library"] = str(library)
    if "contract" in steps:
        result["contract"] = contract(arguments, library, effort, out)
    if "lockstep" in steps:
        result["lockstep"] = lockstep(arguments.golden, library, effort, out)
    right = result.get("contract", {}).get("verdict") != "broken"
    if "proof" in steps and right:
        result["proof"] = proof.prove(unit, names_before, out, {**effort, "induction": arguments.prove})
    if "costs" in steps and right:
        result["costs"] = cost_figures(arguments, unit, names_before, result, out)
    if "gains" in steps and right:
        names = arguments.traces or effort["traces"] or gains.every_trace()
        result["gains"] = gains.gains(
            gains.find_warpfold(),
            gains.trace_paths(names),
            library,
            result.get("costs", {}).get("divider"),
            [name for name in arguments.beside if name != "none"],
        )
    if "layout" in steps and right:
        result["layout"] = layout(unit, out)
    result["right"] = all(
        result.get(step, {}).get("verdict") not in ("broken", "differs", "failed", "unclean") for step in STEPS
    )
    return result


def main(argv):
    from . import report

    arguments = parse_arguments(argv)
    arguments.given = argv
    unit = load_unit(arguments)
    out = (
        Path(arguments.out)
        if arguments.out
        else ROOT
        / "build/evaluate"
        / "".join(letter if letter.isalnum() or letter in "-_" else "-" for letter in unit.name)
    )
    out = out.resolve()
    out.mkdir(parents=True, exist_ok=True)
    if arguments.json and not Path(arguments.json).resolve().parent.is_dir():
        raise BadInput(f"cannot write {arguments.json}: no such folder")
    if arguments.replay:
        names = build.port_names(unit, out)
        library = build.shared_object(
            unit, build.check_ports(unit, names, out), Path(arguments.cache), os.cpu_count() or 1
        )
        status, line = warpfold(
            "contract", "--unit-library", library, "--replay", arguments.replay, "--wave", out / "failure.fst"
        )
        print(line)
        return status
    result = judge(arguments, unit, out)
    print(report.text(result))
    if arguments.json:
        write_json(arguments.json, result)
    return 0 if result["right"] else 1


if __name__ == "__main__":
    guard.end_children_when_interrupted()
    try:
        sys.exit(main(sys.argv[1:]))
    except BadInput as bad:
        print(f"evaluate_unit.sh: {' '.join(str(bad).split())}", file=sys.stderr)
        sys.exit(2)
    except ToolFailed as failed:
        print(f"evaluate_unit.sh: {' '.join(str(failed).split())}", file=sys.stderr)
        sys.exit(1)
    except KeyboardInterrupt:
        print(
            "evaluate_unit.sh: interrupted; no result was written, what was built and measured is kept", file=sys.stderr
        )
        sys.exit(130)
