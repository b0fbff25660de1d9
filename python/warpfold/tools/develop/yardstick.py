# SPDX-License-Identifier: Apache-2.0
"""Holds another simulator to the RED microbenchmarks of two GPUs.

    python3 python develop.yardstick [--gpu h100|h200] [--cases] [--match REGEX] [--limit X] RESULTS

RESULTS has SM cycles of cases of docs/yardstick.csv, as CSV with the columns `case` and `cycles`, or as JSON,
{"cycles": {CASE: CYCLES}}. docs/yardstick.md defines the cases and says how to run them.

    python3 python develop.yardstick --table FILE     writes docs/yardstick.csv from the measurements

Exit code: 0 done, 1 a case is off by more than --limit, 2 bad input.
"""

import argparse
import csv
import json
import math
import os
import re
import statistics
import subprocess
from pathlib import Path

from ..base import guard, whole_file
from ..base.places import ROOT


TABLE = ROOT / "docs/yardstick.csv"
GPUS = ("h200", "h100")
COLUMNS = ["case", "group", "ctas", "threads", "reds", *GPUS]
SMS, MAX_WARPS = 132, 64  # of both
CASE = re.compile(r"red/(?P<family>[a-z_]+?)(?:_\d+)?(?P<form>_in_sectors|_consecutive|_lines)?/.*")
FORM = {"_in_sectors": " words in sectors", "_consecutive": " words in a row", "_lines": " words in lines"}
# Built with the capture programs, or without a CUDA compiler with the tests.
BUILT = [ROOT / f"build/release/{folder}/microbench/warpfold_red_trace" for folder in ("traces/capture", "tb")]


def on_one_sm(name):
    return name.endswith("/sm") or "/mask=" in name


def group_of(name):
    """Where lanes add, and on how many SMs."""
    found = CASE.fullmatch(name)
    return f"{found['family']}{FORM.get(found['form'], '')} on {'one SM' if on_one_sm(name) else 'all SMs'}"


def launch_of(name):
    """CTAs and threads of one."""
    found = re.search(r"/warps=(\d+)", name)
    warps = int(found[1]) if found else 32 if "/mask=" in name else 16
    ctas = 1 if warps <= 32 else warps // 16
    return ctas * (1 if on_one_sm(name) else SMS), warps // ctas * 32


def one_sm_by_choice(name):
    """Whether the launch fills all SMs and those on one count, which a simulator cannot be told."""
    ctas, _ = launch_of(name)
    return on_one_sm(name) and ctas > 1


def measured(gpu):
    """{case: SM cycles of a RED until the last addition is done}."""
    document = json.loads((ROOT / f"model/gpus/{gpu}-microbench.json").read_text(encoding="utf-8"))
    return {result["name"]: result["extra"]["drained"] for result in document["results"] if result["group"] == "red"}


def reds():
    """{case: REDs of an SM}, of cases with all sub-cores."""
    program = os.environ.get("WARPFOLD_RED_TRACE") or next((path for path in BUILT if path.exists()), BUILT[0])
    done = subprocess.run(
        [program, "--sms", str(SMS), "--max-warps", str(MAX_WARPS), "--list"],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise ValueError(f"{program}: {' '.join(done.stderr.split())}")
    return {name: int(count) for name, count, _ in map(str.split, done.stdout.splitlines())}


def write_table(path):
    cycles = {gpu: measured(gpu) for gpu in GPUS}
    whole_file.write_csv(
        path,
        COLUMNS,
        [
            [name, group_of(name), *launch_of(name), count, *(f"{cycles[gpu][name]:.3f}" for gpu in GPUS)]
            for name, count in reds().items()
            if not one_sm_by_choice(name) and all(name in cycles[gpu] for gpu in GPUS)
        ],
    )


def read_table(path=TABLE):
    """{case: row}."""
    with open(path, encoding="utf-8", newline="") as file:
        return {
            row["case"]: {**row, "reds": int(row["reds"]), **{gpu: float(row[gpu]) for gpu in GPUS}}
            for row in csv.DictReader(file)
        }


def pairs_of(path):
    """(case, cycles as the file has them)."""
    text = Path(path).read_text(encoding="utf-8")
    if text.lstrip().startswith("{"):
        document = json.loads(text)
        if not isinstance(document.get("cycles"), dict):
            raise ValueError(f'{path}: has no object "cycles"')
        return list(document["cycles"].items())
    rows = csv.DictReader(text.splitlines())
    if not {"case", "cycles"} <= set(rows.fieldnames or ()):
        raise ValueError(f"{path}: is no JSON object, and as CSV has no columns 'case' and 'cycles'")
    return [(row["case"], row["cycles"]) for row in rows]


def read_results(path, known):
    """{case: SM cycles of the launch}."""
    out = {}
    for name, value in pairs_of(path):
        try:
            cycles = float("nan") if isinstance(value, bool) else float(value)
        except (TypeError, ValueError):
            cycles = float("nan")
        if name not in known:
            raise ValueError(f"{path}: no case '{name}' in docs/yardstick.csv")
        if name in out:
            raise ValueError(f"{path}: case '{name}' is there twice")
        if not math.isfinite(cycles) or cycles <= 0:
            raise ValueError(f"{path}: case '{name}': '{value}' is no number of cycles")
        out[name] = cycles
    if not out:
        raise ValueError(f"{path}: has no case")
    return out


def errors_of(results, table, gpu):
    """{case: (simulated cycles of a RED, error)}."""
    each = {name: cycles / table[name]["reds"] for name, cycles in results.items()}
    return {name: (cycles, cycles / table[name][gpu] - 1) for name, cycles in each.items()}


def line_of(name, errors, width):
    worst = max(errors, key=lambda case: abs(errors[case]))
    values = list(errors.values())
    return (
        f"{name:{width}}  {len(values):5}  {statistics.fmean(map(abs, values)):10.1%}  {statistics.fmean(values):+10.1%}  "
        f"{errors[worst]:+8.1%}  {worst}"
    )


def text_of(found, table, gpu, cases):
    lines = []
    if cases:
        width = max(map(len, found))
        lines += [f"{'case':{width}}  {gpu:>9}  {'simulated':>9}  {'error':>8}"]
        lines += [
            f"{name:{width}}  {table[name][gpu]:9.3f}  {cycles:9.3f}  {error:+8.1%}"
            for name, (cycles, error) in found.items()
        ] + [""]
    groups = {}
    for name, (_, error) in found.items():
        groups.setdefault(table[name]["group"], {})[name] = error
    width = max(map(len, groups))
    lines += [f"{'group':{width}}  {'cases':>5}  {'mean error':>10}  {'bias':>10}  {'worst':>8}  of"]
    lines += [line_of(group, errors, width) for group, errors in groups.items()]
    return "\n".join(lines + [line_of("all", {name: error for name, (_, error) in found.items()}, width)])


def main(argv=None):
    parser = argparse.ArgumentParser(
        prog="python3 python develop.yardstick",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        description=__doc__,
    )
    parser.add_argument("results", nargs="?", metavar="RESULTS", help="cycles of cases, CSV or JSON")
    parser.add_argument("--gpu", choices=GPUS, default="h100", help="whose measurements [%(default)s]")
    parser.add_argument("--cases", action="store_true", help="print each case, too")
    parser.add_argument("--match", metavar="REGEX", default="", help="only cases whose name it finds")
    parser.add_argument("--limit", type=float, metavar="X", help="largest error that is no failure, such as 0.1")
    parser.add_argument("--table", metavar="FILE", help="write the table of cases there, from the measurements")
    args = parser.parse_args(argv)
    if (args.results is None) == (args.table is None):
        parser.error("give RESULTS, or --table FILE")
    if args.table:
        write_table(args.table)
        return 0
    table = read_table()
    try:
        pattern = re.compile(args.match)
    except re.error as error:
        raise ValueError(f"--match {args.match}: is no regular expression ({error})") from error
    found = {
        name: each
        for name, each in errors_of(read_results(args.results, table), table, args.gpu).items()
        if pattern.search(name)
    }
    if not found:
        raise ValueError(f"{args.results}: no case has '{args.match}' in its name")
    print(text_of(found, table, args.gpu, args.cases))
    return int(args.limit is not None and any(abs(error) > args.limit for _, error in found.values()))


if __name__ == "__main__":
    guard.end("yardstick.py", main)
