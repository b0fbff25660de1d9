# SPDX-License-Identifier: Apache-2.0
"""Holds another simulator to the RED microbenchmarks of two GPUs: `warpfold yardstick`.
traces/capture/microbench/README.md defines the cases and says how to run them."""

import argparse
import csv
import json
import math
import re
import statistics
from pathlib import Path
from typing import Any

from .base import files
from .base.errors import BadInput
from .base.files import Name
from .base.parser import Parser
from .base.places import MACHINES, SHIPPED, helper
from .base.processes import output

TABLE = SHIPPED / "docs/yardstick.csv"
GPUS = ("h200", "h100")
COLUMNS = ["case", "group", "ctas", "threads", "reds", *GPUS]
Row = dict[str, Any]
SMS, MAX_WARPS = 132, 64  # of both
CASE = re.compile(r"red/(?P<family>[a-z_]+?)(?:_\d+)?(?P<form>_in_sectors|_consecutive|_lines)?/.*")
FORM = {"_in_sectors": " words in sectors", "_consecutive": " words in a row", "_lines": " words in lines"}


def on_one_sm(name: str) -> bool:
    return name.endswith("/sm") or "/mask=" in name


def group_of(name: str) -> str:
    """Where lanes add, and on how many SMs."""
    found = CASE.fullmatch(name)
    assert found is not None
    return f"{found['family']}{FORM.get(found['form'], '')} on {'one SM' if on_one_sm(name) else 'all SMs'}"


def launch_of(name: str) -> tuple[int, int]:
    """CTAs and threads of one."""
    found = re.search(r"/warps=(\d+)", name)
    warps = int(found[1]) if found else 32 if "/mask=" in name else 16
    ctas = 1 if warps <= 32 else warps // 16
    return ctas * (1 if on_one_sm(name) else SMS), warps // ctas * 32


def one_sm_by_choice(name: str) -> bool:
    """Whether the launch fills all SMs and those on one count, which a simulator cannot be told."""
    ctas, _ = launch_of(name)
    return on_one_sm(name) and ctas > 1


def measured(gpu: str) -> dict[str, float]:
    """{case: SM cycles of a RED until the last addition is done}."""
    document = files.read_json(MACHINES / f"{gpu}-microbench.json")
    return {result["name"]: result["extra"]["drained"] for result in document["results"] if result["group"] == "red"}


def reds() -> dict[str, int]:
    """{case: REDs of an SM}, of cases with all sub-cores."""
    program = helper("warpfold_red_trace")
    text = output([program, "--sms", SMS, "--max-warps", MAX_WARPS, "--list"])
    return {name: int(count) for name, count, _ in map(str.split, text.splitlines())}


def write_table(path: Name) -> None:
    cycles = {gpu: measured(gpu) for gpu in GPUS}
    files.write_csv(
        path,
        COLUMNS,
        [
            [name, group_of(name), *launch_of(name), count, *(f"{cycles[gpu][name]:.3f}" for gpu in GPUS)]
            for name, count in reds().items()
            if not one_sm_by_choice(name) and all(name in cycles[gpu] for gpu in GPUS)
        ],
    )


def read_table(path: Path = TABLE) -> dict[str, Row]:
    """{case: row}."""
    with open(path, encoding="utf-8", newline="") as file:
        return {
            row["case"]: {**row, "reds": int(row["reds"]), **{gpu: float(row[gpu]) for gpu in GPUS}}
            for row in csv.DictReader(file)
        }


def pairs_of(path: Path) -> list[tuple[str, Any]]:
    """(case, cycles as the file has them)."""
    text = files.read_text(path)
    if text.lstrip().startswith("{"):
        document = files.read_json(path)
        if not isinstance(document.get("cycles"), dict):
            raise BadInput(f'{path}: has no object "cycles"')
        return list(document["cycles"].items())
    rows = csv.DictReader(text.splitlines())
    if not {"case", "cycles"} <= set(rows.fieldnames or ()):
        raise BadInput(f"{path}: is no JSON object, and as CSV has no columns 'case' and 'cycles'")
    return [(row["case"], row["cycles"]) for row in rows]


def read_results(path: Path, known: dict[str, Row]) -> dict[str, float]:
    """{case: SM cycles of the launch}."""
    out: dict[str, float] = {}
    for name, value in pairs_of(path):
        try:
            cycles = float("nan") if isinstance(value, bool) else float(value)
        except (TypeError, ValueError):
            cycles = float("nan")
        if name not in known:
            raise BadInput(f"{path}: no case '{name}' in docs/yardstick.csv")
        if name in out:
            raise BadInput(f"{path}: case '{name}' is there twice")
        if not math.isfinite(cycles) or cycles <= 0:
            raise BadInput(f"{path}: case '{name}': '{value}' is no number of cycles")
        out[name] = cycles
    if not out:
        raise BadInput(f"{path}: has no case")
    return out


def errors_of(results: dict[str, float], table: dict[str, Row], gpu: str) -> dict[str, tuple[float, float]]:
    """{case: (simulated cycles of a RED, error)}."""
    each = {name: cycles / table[name]["reds"] for name, cycles in results.items()}
    return {name: (cycles, cycles / table[name][gpu] - 1) for name, cycles in each.items()}


def line_of(name: str, errors: dict[str, float], width: int) -> str:
    worst = max(errors, key=lambda case: abs(errors[case]))
    values = list(errors.values())
    return (
        f"{name:{width}}  {len(values):5}  {statistics.fmean(map(abs, values)):10.1%}  {statistics.fmean(values):+10.1%}  "
        f"{errors[worst]:+8.1%}  {worst}"
    )


def text_of(found: dict[str, tuple[float, float]], table: dict[str, Row], gpu: str, cases: bool) -> str:
    lines = []
    if cases:
        width = max(map(len, found))
        lines += [f"{'case':{width}}  {gpu:>9}  {'simulated':>9}  {'error':>8}"]
        lines += [
            f"{name:{width}}  {table[name][gpu]:9.3f}  {cycles:9.3f}  {error:+8.1%}"
            for name, (cycles, error) in found.items()
        ] + [""]
    groups: dict[str, dict[str, float]] = {}
    for name, (_, error) in found.items():
        groups.setdefault(table[name]["group"], {})[name] = error
    width = max(map(len, groups))
    lines += [f"{'group':{width}}  {'cases':>5}  {'mean error':>10}  {'bias':>10}  {'worst':>8}  of"]
    lines += [line_of(group, errors, width) for group, errors in groups.items()]
    return "\n".join(lines + [line_of("all", {name: error for name, (_, error) in found.items()}, width)])


def options(parser: Parser) -> None:
    parser.add_argument(
        "results",
        nargs="?",
        metavar="RESULTS",
        type=Path,
        help='SM cycles of cases: CSV with columns "case" and "cycles", or JSON, {"cycles": {CASE: CYCLES}}',
    )
    parser.add_argument("--gpu", choices=GPUS, default="h100", help="Whose measurements")
    parser.add_argument("--cases", action="store_true", help="Print each case, too")
    parser.add_argument("--match", metavar="REGEX", default="", help="Only cases whose name it finds")
    parser.add_argument("--limit", type=float, metavar="X", help="Largest error that is no failure, such as 0.1")
    parser.add_argument(
        "--table", metavar="FILE", type=Path, help="Write the table of cases there, from the measurements"
    )
    parser.footer(
        "Example: another simulator, as an H200\n"
        "  warpfold yardstick --gpu h200 --limit 0.1 cycles.csv\n\n"
        "Exit code: 0 done, 1 a case is off by more than --limit, 2 bad usage or bad input."
    )


def run(arguments: argparse.Namespace) -> int:
    if (arguments.results is None) == (arguments.table is None):
        raise BadInput("give RESULTS, or --table FILE")
    if arguments.table:
        write_table(arguments.table)
        return 0
    table = read_table()
    try:
        pattern = re.compile(arguments.match)
    except re.error as error:
        raise BadInput(f"--match {arguments.match}: is no regular expression ({error})") from error
    errors = errors_of(read_results(arguments.results, table), table, arguments.gpu)
    found = {name: each for name, each in errors.items() if pattern.search(name)}
    if not found:
        raise BadInput(f"{arguments.results}: no case has '{arguments.match}' in its name")
    print(text_of(found, table, arguments.gpu, arguments.cases))
    return int(arguments.limit is not None and any(abs(error) > arguments.limit for _, error in found.values()))
