# SPDX-License-Identifier: Apache-2.0
"""Judges a unit behind the ports of arc_subcore. `warpfold evaluate` runs it."""

import argparse
import json
import os
import shlex
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ..base import processes
from ..base.errors import BadInput, ToolFailed
from ..base.files import check_writable, read_json, write_json
from ..base.parser import Parser
from ..base.places import SHIPPED, TRACES, tool
from ..base.places import warpfold as simulator
from ..base.processes import end_children_when_interrupted
from ..synth import synth
from . import build, costs, gains, netlist_power, proof, report
from . import unit as units
from .unit import KEYS, Unit

KIND_NAMES = [unit.name for unit in synth.UNITS]
STEPS = ("contract", "lockstep", "proof", "costs", "gains", "layout")
RECORDED = TRACES / "truck-values.wft"
# Effort of a step: quick, as it is, full.
EFFORT: dict[str, dict[str, Any]] = {
    "quick": {"requests": 400_000, "recorded": 5_000, "depth": 4, "seconds": 60, "traces": gains.QUICK},
    "usual": {"requests": 1_000_000, "recorded": 40_000, "depth": 12, "seconds": 180, "traces": gains.SOME},
    "full": {"requests": 20_000_000, "recorded": 40_000, "depth": 30, "seconds": 3600, "traces": None},
}


def declared_options(parser: Parser) -> None:
    for key, (kind, _, text) in KEYS.items():
        if key in ("top", "parameters", "files", "include"):
            continue
        option = "--" + key.replace("_", "-")
        if kind is bool:
            parser.add_argument(option, action="store_const", const=True, help=text)
        else:
            parser.add_argument(option, type=kind, metavar="N" if kind is int else "TEXT", help=text)


def options(parser: Parser) -> None:
    parser.add_argument(
        "--rtl", metavar="DIR", required=True, help="Folder of the sources; its unit.toml declares the unit"
    )
    parser.add_argument("--unit", metavar="FILE", help="Another file than unit.toml")
    parser.add_argument(
        "--file-list",
        metavar="FILE",
        help="Sources in compile order, as rtl/arc.f; else unit.toml's, the one .f file, or all .sv and .v files",
    )
    parser.add_argument("--top", metavar="NAME", help="Top module; else arc_subcore")
    parser.add_argument("--parameters", nargs="+", metavar="NAME=VALUE", help="Parameters of the top")
    parser.add_argument(
        "--golden", metavar="FILE", help="Lockstep with a golden unit: a shared object, or the name of a kind"
    )
    parser.add_argument(
        "--liberty", action="append", metavar="FILE", help="Liberty file, plain or .gz, instead of Debian's osu018"
    )
    parser.add_argument("--transistors-only", action="store_true", help="Costs without area and path")
    parser.add_argument(
        "--traces", nargs="+", metavar="NAME", help="Traces for the gains: files, or names of shipped ones"
    )
    effort = parser.add_mutually_exclusive_group()
    effort.add_argument(
        "--quick", action="store_true", help="A minute: fewer requests and cycles, transistors alone, one trace"
    )
    effort.add_argument("--full", action="store_true", help="Hours: twenty times the requests, all traces")
    parser.add_argument("--prove", action="store_true", help="Also try to prove the rules for every number of cycles")
    parser.add_argument("--layout", action="store_true", help="Place and route with `warpfold layout`")
    kinds = [kind.name for kind in synth.UNITS if kind.adds == "f32"]  # as the units that are evaluated
    parser.add_argument(
        "--beside",
        nargs="+",
        default=kinds,
        choices=[*kinds, "none"],
        help="Kinds in the table beside the unit; else all of these",
    )
    parser.add_argument("--only", nargs="+", choices=STEPS, help="Only these steps after the elaboration")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="Of the random requests")
    parser.add_argument("--replay", metavar="FILE", help="Only do what this file of a broken contract says")
    parser.add_argument(
        "--internals", metavar="FILE", help="With --replay: write a wave (VCD) of all signals of the unit"
    )
    parser.add_argument(
        "--unit-seconds", type=int, default=60, metavar="N", help="Seconds that the unit may take for a cycle; 60"
    )
    parser.add_argument(
        "--unit-memory", type=int, default=4096, metavar="MIB", help="Memory that the simulated unit may take; 4096"
    )
    parser.add_argument("--json", metavar="FILE", help="Write the result as JSON")
    parser.add_argument("--out", metavar="DIR", help="Waves, replays and logs; else results/evaluate/NAME")
    parser.add_argument("--cache", metavar="DIR", default="results/evaluate/cache", help=argparse.SUPPRESS)
    declared_options(parser)
    parser.footer(
        "The last options are what unit.toml says, which they come before.\n\n"
        "Example: a folder with a unit and its unit.toml\n"
        "  warpfold evaluate --rtl DIR\n"
        "  warpfold evaluate --rtl DIR --top NAME --quick\n\n"
        "Exit code: 0 all right, 1 a check failed, 2 bad usage or bad input."
    )


def load_unit(arguments: argparse.Namespace) -> Unit:
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


# ------------------------------------------------------------------------------------------------
# Steps that the simulator does
# ------------------------------------------------------------------------------------------------


def warpfold(*arguments: str | Path | int) -> tuple[int, str]:
    """(exit status, last line of what it says)."""
    done = processes.run_within([simulator(), *arguments])
    text = done.stdout.strip().splitlines()
    ours = [line for line in text if line.startswith("warpfold: ")]  # a unit may print, too
    line = (ours or text or ["no message"])[-1].removeprefix("warpfold: ")
    if done.returncode == 2:
        raise BadInput(line)
    if done.returncode < 0:  # the unit can do that, too
        return 1, f"the simulator was ended by signal {-done.returncode}"
    if done.returncode not in (0, 1):
        raise ToolFailed(f"warpfold {arguments[0]}: {line}")
    return done.returncode, line


def replay_command(arguments: argparse.Namespace, path: Path) -> str:
    """The same unit, and this replay."""
    kept = []
    skip = {"--json", "--out", "--only", "--seed", "--cache", "--golden"}
    words = iter(arguments.given)
    for word in words:
        if word in skip:
            next(words, None)
        elif word not in ("--quick", "--full", "--prove", "--layout"):
            kept.append(word)
    return "warpfold evaluate " + shlex.join([*kept, "--replay", str(path)])


def limits(arguments: argparse.Namespace) -> list[str]:
    return [f"--unit-seconds={arguments.unit_seconds}", f"--unit-memory={arguments.unit_memory}"]


def contract(arguments: argparse.Namespace, library: Path, effort: dict[str, Any], out: Path) -> dict[str, Any]:
    report, replay, wave = out / "contract.json", out / "failure.replay", out / "failure.fst"
    status, line = warpfold(
        "contract",
        RECORDED,
        "--unit-library",
        library,
        *limits(arguments),
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
    if not report.is_file():
        return {"verdict": "broken", "rule": "keeps running", "message": line, "requests": 0, "cycles": 0, "parts": []}
    parts = read_json(report)
    result = {
        "verdict": "kept" if status == 0 and parts["kept"] else "broken",
        "requests": sum(part["requests"] for part in parts["parts"]),
        "cycles": sum(part["cycles"] for part in parts["parts"]),
        "parts": parts["parts"],
    }
    if result["verdict"] == "broken":
        result |= {
            "rule": parts.get("rule", "keeps running"),
            "message": parts.get("message", line).replace(f"{library}: ", ""),
            "line": line,
        }
        if replay.is_file():
            result |= {"replay": str(replay), "command": replay_command(arguments, replay)}
        if wave.is_file():
            result["wave"] = str(wave)
    return result


def lockstep(arguments: argparse.Namespace, library: Path, effort: dict[str, Any], out: Path) -> dict[str, str]:
    golden = arguments.golden
    which = ["--unit-kind", golden] if golden in KIND_NAMES else ["--golden-library", golden]
    wave = out / "lockstep.fst"
    status, line = warpfold(
        "regress",
        RECORDED,
        "--unit-library",
        library,
        *limits(arguments),
        *which,
        "--wave",
        wave,
        "--max-events",
        effort["recorded"],
    )
    result = {"verdict": "equal" if status == 0 else "differs", "golden": golden}
    if status != 0:
        result["message"] = line.replace(f"{library}: ", "")
        if wave.is_file():
            result["wave"] = str(wave)
    return result


# ------------------------------------------------------------------------------------------------
# Layout
# ------------------------------------------------------------------------------------------------


def kind_layouts() -> dict[str, dict[str, Any]]:
    """Rows of `warpfold layout` of the reduction units that are built in, as docs/numbers has them, by kind."""
    numbers = SHIPPED / "docs/numbers/layout.json"
    rows = read_json(numbers)["rows"] if numbers.is_file() else []
    return {row["top"].removeprefix("arc_reduction_"): row for row in rows}


def layout(unit: Unit, out: Path) -> dict[str, str | dict[str, Any]]:
    """The unit's reduction unit, or what it is without the coalescer, placed and routed."""
    folder, report = out / "layout", out / "layout.json"
    report.unlink(missing_ok=True)
    command: list[processes.Word] = [
        *tool("layout"),
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
    done = processes.run(command, together=True)
    if not report.is_file():
        return {"verdict": "failed", "why": build.first_error(done.stdout).removeprefix("warpfold layout: ")}
    return {
        "verdict": "done" if done.returncode == 0 else "unclean",
        "folder": str(folder),
        "unit": json.loads(report.read_text(encoding="utf-8"))["rows"][0],
        "kinds": kind_layouts(),
    }


# ------------------------------------------------------------------------------------------------
# All of it
# ------------------------------------------------------------------------------------------------


def wanted(arguments: argparse.Namespace) -> set[str]:
    steps = set(arguments.only or ("contract", "proof", "costs", "gains"))
    if arguments.golden:
        steps.add("lockstep")
    if arguments.layout:
        steps.add("layout")
    if "lockstep" in steps and not arguments.golden:
        raise BadInput("lockstep needs --golden")
    return steps


def check_files(arguments: argparse.Namespace, steps: set[str]) -> None:
    """BadInput for a file that a later step would not find."""
    if arguments.golden and arguments.golden not in KIND_NAMES and not Path(arguments.golden).is_file():
        raise BadInput(f"no golden unit {arguments.golden}")
    for file in arguments.liberty or []:
        if not Path(file).is_file():
            raise BadInput(f"no Liberty file {file}")
    if "gains" in steps:
        gains.trace_paths(arguments.traces or [])
    if arguments.internals and not arguments.replay:
        raise BadInput("--internals is a wave of a replay: name one with --replay")
    if arguments.internals:
        check_writable(arguments.internals)
    if arguments.replay and not Path(arguments.replay).is_file():
        raise BadInput(f"{arguments.replay}: cannot be read")
    if arguments.json and not Path(arguments.json).resolve().parent.is_dir():
        raise BadInput(f"cannot write {arguments.json}: no such folder")


# What a run leaves in its folder.
LEFT_BEHIND = (
    "contract.json",
    "failure.replay",
    "failure.fst",
    "lockstep.fst",
    "layout.json",
    "elaborate.ys",
    "ports.xml",
    "proof*",
    "evaluated_*.sv",
    "icarus",
    "layout",
    "synth",
)


def clear(out: Path, json_file: str | None) -> None:
    """Results of earlier runs are gone before this one begins."""
    for path in [path for pattern in LEFT_BEHIND for path in out.glob(pattern)]:
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()
    if json_file and Path(json_file).is_file():
        Path(json_file).unlink()


def transistors_alone(arguments: argparse.Namespace) -> bool:
    """Costs without area, path and power."""
    return bool(arguments.transistors_only or arguments.quick)


def simulates(arguments: argparse.Namespace, steps: set[str]) -> bool:
    """Whether one of the steps runs the unit: power is of requests that the unit has answered."""
    return bool(steps & {"contract", "lockstep", "gains"}) or ("costs" in steps and not transistors_alone(arguments))


def cost_figures(
    arguments: argparse.Namespace, unit: Unit, names: dict[str, str], result: dict[str, Any], out: Path
) -> dict[str, Any]:
    """Costs of the unit and of the kinds; none where Yosys cannot read the unit. names: its ports."""
    if why := result["elaborates"]["Yosys"]:
        missing = why.startswith(build.NOT_INSTALLED)
        return {"verdict": "missing" if missing else "none", "why": f"Yosys: {why}"}
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
    divider, kind_dividers = costs.dividers(mine, kinds)
    return {
        "verdict": "done",
        "library": library,
        "unit": mine,
        "kinds": {name: kinds[name] for name in kinds if name in arguments.beside},
        "divider": divider,
        "kind_dividers": {name: kind_dividers[name] for name in kinds if name in arguments.beside},
        "paths": "whole" if "added" not in mine else "added",
        **power,
    }


# Verdicts that end the command with 1.
WRONG = ("broken", "differs", "failed", "unclean", "none")


def judge(
    arguments: argparse.Namespace, unit: Unit, out: Path, told: Callable[[dict[str, Any], str], None]
) -> dict[str, Any]:
    """The result; what cannot be judged after an earlier step is left out. told: of each step when it has ended."""
    effort = EFFORT["quick" if arguments.quick else "full" if arguments.full else "usual"]
    steps = wanted(arguments)
    result: dict[str, Any] = {
        "schema": "warpfold.evaluation/2",
        "unit": unit.name,
        "top": unit.top,
        "declared": unit.declared,
    }

    def done(step: str, what: dict[str, Any]) -> None:
        result[step] = what
        told(result, step)

    names = build.port_names(unit, out)
    elaborates, wrapper = build.elaborate(unit, out, names)
    done("elaborates", elaborates)
    library = Path()
    if simulates(arguments, steps):
        library = build.shared_object(unit, wrapper, Path(arguments.cache), os.cpu_count() or 1)
        result["library"] = str(library)
    if "contract" in steps:
        done("contract", contract(arguments, library, effort, out))
    if "lockstep" in steps:
        done("lockstep", lockstep(arguments, library, effort, out))
    right = result.get("contract", {}).get("verdict") != "broken"
    if "proof" in steps and right:
        done("proof", proof.prove(unit, names, out, {**effort, "induction": arguments.prove}))
    if "costs" in steps and right:
        done("costs", cost_figures(arguments, unit, names, result, out))
    if "gains" in steps and right:
        traces = arguments.traces or effort["traces"] or gains.every_trace()
        kinds = [name for name in arguments.beside if name != "none"]
        done(
            "gains",
            gains.gains(gains.trace_paths(traces), [library, *limits(arguments)], result.get("costs", {}), kinds),
        )
    if "layout" in steps and right:
        done("layout", layout(unit, out))
    result["right"] = all(result.get(step, {}).get("verdict") not in WRONG for step in STEPS)
    return result


def run(arguments: argparse.Namespace) -> int:
    end_children_when_interrupted()
    try:
        return evaluated(arguments)
    except KeyboardInterrupt:
        print(
            "warpfold evaluate: interrupted; no result was written, what was built and measured is kept",
            file=sys.stderr,
        )
        raise


def evaluated(arguments: argparse.Namespace) -> int:
    unit = load_unit(arguments)
    check_files(arguments, wanted(arguments))
    name = "".join(letter if letter.isalnum() or letter in "-_" else "-" for letter in unit.name)
    out = Path(arguments.out or f"results/evaluate/{name}").resolve()
    out.mkdir(parents=True, exist_ok=True)
    if arguments.replay:
        return replayed(arguments, unit, out)
    clear(out, arguments.json)
    with synth.scratch("warpfold-evaluate-") as links:
        work = synth.without_blanks(out, links)

        def shown(value: Any) -> Any:
            """With the names that the caller knows."""
            if isinstance(value, dict):
                return {key: shown(part) for key, part in value.items()}
            return value.replace(str(work), str(out)) if isinstance(value, str) else value

        def told(result: dict[str, Any], step: str) -> None:
            if step == "elaborates":
                print(report.head(result))
            print(report.line(shown(result), step), flush=True)

        result = shown(judge(arguments, unit, work, told))
    for line in report.rest(result):
        print(line)
    if arguments.json:
        write_json(arguments.json, result)
    return 0 if result["right"] else 1


def replayed(arguments: argparse.Namespace, unit: Unit, out: Path) -> int:
    """Does what a file of a broken contract says."""
    wave = out / "failure.fst"
    wave.unlink(missing_ok=True)
    names = build.port_names(unit, out)
    wrapper = build.check_ports(unit, names, out)
    traced = bool(arguments.internals)
    library = build.shared_object(unit, wrapper, Path(arguments.cache), os.cpu_count() or 1, traced)
    if traced:
        os.environ["WARPFOLD_INTERNALS"] = str(Path(arguments.internals).resolve())
    status, line = warpfold(
        "contract", "--unit-library", library, *limits(arguments), "--replay", arguments.replay, "--wave", wave
    )
    print(line.replace(f"{library}: ", ""))
    return status
