# SPDX-License-Identifier: Apache-2.0
"""Fits the energies of a machine file ([energy]) to measured launches, and says how far the model is off.

    warpfold fit-energy [--measured FILE.json]... [--hold-out NAME]... RESULTS.json...

RESULTS.json are results of `warpfold sim` on the measured machine, for the traces and policies that were measured
(warpfold_capture energy; default: model/gpus/h200-energy.json). Times are the measured ones, counts the simulated
ones. Fitted, none below zero, for the least squares of relative errors above idle: energy of a warp instruction,
of a shuffle of values beside that, of a sector operation, and power of a running GPU. Bytes of the interconnect come 40 to an
operation, so that only the sum can be seen; what they take is as the machine file has it. Shuffles in
passes without an addition, which cccl makes, are of zeros and take no more than an instruction. Needs Debian's
python3-numpy.
"""

import argparse
import itertools
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ..base.errors import BadInput
from ..base.files import read_json
from ..base.modules import module
from ..base.parser import Parser
from ..base.places import MACHINES

Run = dict[str, Any]  # of a results file
Point = tuple[Run, float, float]  # a run, its milliseconds and its millijoules above idle, as measured

FITTED = ["instruction_pj", "shuffle_pj", "rop_pj", "active_watts"]
NOT_AS_EXPECTED = (ValueError, KeyError, TypeError, AttributeError, RecursionError)


@contextmanager
def reading(file: str, what: str) -> Iterator[None]:
    """What goes wrong inside is a matter of the file, which should be `what`."""
    try:
        yield
    except NOT_AS_EXPECTED as error:
        raise BadInput(f"{file}: not {what} ({error})") from error


def nonnegative_least_squares(matrix: Any, target: Any) -> Any:
    """Exact for so few unknowns: the best of all choices of those that are not zero. Arrays of NumPy."""
    numpy = module("numpy")
    best, best_error = numpy.zeros(matrix.shape[1]), float(target @ target)
    for size in range(1, matrix.shape[1] + 1):
        for chosen in itertools.combinations(range(matrix.shape[1]), size):
            solution, *_ = numpy.linalg.lstsq(matrix[:, chosen], target, rcond=None)
            if (solution < 0).any():
                continue
            error = float(((matrix[:, chosen] @ solution - target) ** 2).sum())
            if error < best_error - 1e-12:
                best, best_error = numpy.zeros(matrix.shape[1]), error
                best[list(chosen)] = solution
    return best


def row_of(run: Run, milliseconds: float) -> tuple[list[float], float]:
    """(what each fitted coefficient is multiplied by, the rest), in millijoules. A sample has a part of the counts."""
    energy, activity, scale = run["config"]["energy"], run["activity"], 1e-9 * run.get("gpu_part", 1)
    fitted = [
        activity["instructions"] * scale,
        (activity["shuffles"] - activity["shuffles_of_zeros"]) * scale,
        run["rop_ops"] * scale,
        milliseconds,
    ]
    rest = (
        run["noc_bytes"] * energy["noc_byte_pj"]
        + (activity["l2_misses"] + activity["l2_evictions"])
        * run["config"]["l2"]["line_bytes"]
        * energy["dram_byte_pj"]
    ) * scale
    return fitted, rest


def fit(points: list[Point]) -> dict[str, float]:
    """Values of the coefficients."""
    numpy = module("numpy")
    rows = [row_of(run, milliseconds) for run, milliseconds, _ in points]
    target = numpy.array([millijoules for *_, millijoules in points])
    matrix = numpy.array([fitted for fitted, _ in rows])
    rest = numpy.array([rest for _, rest in rows])
    with numpy.errstate(all="ignore"):
        shares, wanted = matrix / target[:, None], 1 - rest / target
    if not (numpy.isfinite(shares).all() and numpy.isfinite(wanted).all()):
        raise ValueError("a number is not finite, or an energy is 0")
    return dict(zip(FITTED, map(float, nonnegative_least_squares(shares, wanted))))


def modelled(coefficients: dict[str, float], run: Run, milliseconds: float) -> float:
    """Millijoules above idle."""
    fitted, rest = row_of(run, milliseconds)
    return sum(coefficients[name] * count for name, count in zip(FITTED, fitted)) + rest


def read_points(measured_files: Iterable[str | Path], result_files: Iterable[str]) -> tuple[list[Point], list[str]]:
    """Points, and scenes with policies that were measured and are not among the results."""
    runs: dict[tuple[str, str], Run] = {}
    for file in result_files:
        with reading(file, "results of warpfold sim"):
            for run in read_json(file)["runs"]:
                runs[Path(run["trace"]).stem, run["policy"]] = run
    points, missing = [], []
    for measured in measured_files:
        with reading(str(measured), "energies of warpfold_capture"):
            for scene in read_json(measured)["scenes"]:
                for entry in scene["energy"]:
                    key = scene["scene"], entry["policy"]
                    if key not in runs:
                        missing.append(" ".join(key))
                        continue
                    points.append((runs[key], entry["kernel_ms"], 1e3 * entry["joules_per_launch_above_idle"]))
    return points, missing


def report(points: list[Point], missing: list[str], held_out: list[str]) -> None:
    for name in missing:
        print(f"warpfold fit-energy: {name}: measured, but not among the results", file=sys.stderr)

    def is_held_out(run: Run) -> bool:
        return Path(run["trace"]).stem in held_out or run["policy"] in held_out

    fitted = [point for point in points if not is_held_out(point[0])]
    if len(fitted) <= len(FITTED):
        raise BadInput(f"{len(fitted)} points are too few for {len(FITTED)} unknowns")
    with reading("the runs", "such that can be fitted"):
        coefficients = fit(fitted)
    for name, value in coefficients.items():
        print(f"{name} = {value:.1f}")
    print("\n| trace | policy | measured mJ | modelled mJ | ratio |\n|---|---|---|---|---|")
    errors: dict[str, list[float]] = {"": [], ", held out": []}
    for run, milliseconds, millijoules in points:
        ours = modelled(coefficients, run, milliseconds)
        trace = Path(run["trace"]).stem
        errors[", held out" if is_held_out(run) else ""].append(abs(ours / millijoules - 1))
        print(f"| {trace} | {run['policy']} | {millijoules:.0f} | {ours:.0f} | {ours / millijoules:.2f} |")
    print()
    for which, found in errors.items():
        if found:
            print(f"mean absolute error{which} {100 * sum(found) / len(found):.1f} %, worst {100 * max(found):.1f} %")


def options(parser: Parser) -> None:
    parser.add_argument("results", nargs="+", metavar="RESULTS.json", help="Of `warpfold sim --json`")
    parser.add_argument(
        "--measured",
        action="append",
        metavar="FILE",
        help="Of `warpfold_capture energy`; else the shipped ones of an H200",
    )
    parser.add_argument(
        "--hold-out",
        action="append",
        default=[],
        metavar="NAME",
        help="A trace or a policy: compare it, but do not fit to it",
    )
    parser.footer(
        "Example: as the shipped machine has them\n"
        "  warpfold fit-energy --hold-out cccl --hold-out lacadiere_wall h200.json\n\n"
        "Exit code: 0 done, 2 bad usage or bad input."
    )


def run(arguments: argparse.Namespace) -> int:
    module("numpy")  # what is missing is missed first
    points, missing = read_points(arguments.measured or [MACHINES / "h200-energy.json"], arguments.results)
    report(points, missing, arguments.hold_out)
    return 0
