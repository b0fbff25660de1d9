# SPDX-License-Identifier: Apache-2.0
"""Fits the energies of a machine file ([energy]) to measured launches, and says how far the model is off.

    python3 python calibrate.energy_fit [--measured FILE.json]... [--hold-out NAME]... RESULTS.json...

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
import json
import sys
from contextlib import contextmanager
from pathlib import Path

from ..base.places import ROOT

try:
    import numpy
except ImportError:
    numpy = None  # main() says so

FITTED = ["instruction_pj", "shuffle_pj", "rop_pj", "active_watts"]
NOT_AS_EXPECTED = (ValueError, KeyError, TypeError, AttributeError, RecursionError)


class BadInput(Exception):
    """One line."""


@contextmanager
def reading(file, what):
    """What goes wrong inside is a matter of the file, which should be `what`."""
    try:
        yield
    except OSError as error:
        raise BadInput(f"{file}: {error.strerror}") from error
    except NOT_AS_EXPECTED as error:
        raise BadInput(f"{file}: not {what} ({error})") from error


def nonnegative_least_squares(matrix, target):
    """Exact for so few unknowns: the best of all choices of those that are not zero."""
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


def row_of(run, milliseconds):
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


def fit(points):
    """points: [(run, milliseconds, millijoules above idle)] -> {coefficient: value}."""
    rows = [row_of(run, milliseconds) for run, milliseconds, _ in points]
    target = numpy.array([millijoules for *_, millijoules in points])
    matrix = numpy.array([fitted for fitted, _ in rows])
    rest = numpy.array([rest for _, rest in rows])
    with numpy.errstate(all="ignore"):
        shares, wanted = matrix / target[:, None], 1 - rest / target
    if not (numpy.isfinite(shares).all() and numpy.isfinite(wanted).all()):
        raise ValueError("a number is not finite, or an energy is 0")
    return dict(zip(FITTED, nonnegative_least_squares(shares, wanted)))


def modelled(coefficients, run, milliseconds):
    """Millijoules above idle."""
    fitted, rest = row_of(run, milliseconds)
    return sum(coefficients[name] * count for name, count in zip(FITTED, fitted)) + rest


def read_points(measured_files, result_files):
    runs = {}
    for file in result_files:
        with reading(file, "results of warpfold sim"):
            for run in json.loads(Path(file).read_text(encoding="utf-8"))["runs"]:
                runs[Path(run["trace"]).stem, run["policy"]] = run
    points, missing = [], []
    for file in measured_files:
        with reading(file, "energies of warpfold_capture"):
            for scene in json.loads(Path(file).read_text(encoding="utf-8"))["scenes"]:
                for entry in scene["energy"]:
                    key = scene["scene"], entry["policy"]
                    if key not in runs:
                        missing.append(" ".join(key))
                        continue
                    points.append((runs[key], entry["kernel_ms"], 1e3 * entry["joules_per_launch_above_idle"]))
    return points, missing


def report(points, missing, held_out):
    for name in missing:
        print(f"energy_fit.py: {name}: measured, but not among the results", file=sys.stderr)

    def is_held_out(run):
        return Path(run["trace"]).stem in held_out or run["policy"] in held_out

    fitted = [point for point in points if not is_held_out(point[0])]
    if len(fitted) <= len(FITTED):
        print(f"energy_fit.py: {len(fitted)} points are too few for {len(FITTED)} unknowns", file=sys.stderr)
        return 2
    try:
        coefficients = fit(fitted)
    except NOT_AS_EXPECTED as error:
        raise BadInput(f"the runs cannot be fitted: {type(error).__name__} {error}") from error
    for name, value in coefficients.items():
        print(f"{name} = {value:.1f}")
    print("\n| trace | policy | measured mJ | modelled mJ | ratio |\n|---|---|---|---|---|")
    errors = {"": [], ", held out": []}
    for run, milliseconds, millijoules in points:
        ours = modelled(coefficients, run, milliseconds)
        trace = Path(run["trace"]).stem
        errors[", held out" if is_held_out(run) else ""].append(abs(ours / millijoules - 1))
        print(f"| {trace} | {run['policy']} | {millijoules:.0f} | {ours:.0f} | {ours / millijoules:.2f} |")
    print()
    for which, found in errors.items():
        if found:
            print(f"mean absolute error{which} {100 * sum(found) / len(found):.1f} %, worst {100 * max(found):.1f} %")
    return 0


def main(arguments):
    parser = argparse.ArgumentParser(description="Fit the energies of a machine to measured launches.")
    parser.add_argument("results", nargs="+", metavar="RESULTS.json", help="of warpfold sim --json")
    parser.add_argument("--measured", action="append", metavar="FILE.json", help="[model/gpus/h200-energy.json]")
    parser.add_argument(
        "--hold-out",
        action="append",
        default=[],
        metavar="NAME",
        help="a trace or a policy: compare it, but do not fit to it",
    )
    options = parser.parse_args(arguments)
    if numpy is None:
        print(
            "energy_fit.py: this Python has no numpy; Debian's package python3-numpy is for /usr/bin/python3",
            file=sys.stderr,
        )
        return 2
    try:
        points, missing = read_points(options.measured or [ROOT / "model/gpus/h200-energy.json"], options.results)
        return report(points, missing, options.hold_out)
    except BadInput as error:
        print(f"energy_fit.py: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    from ..base import guard

    guard.end("energy_fit.py", main, sys.argv[1:])
