# SPDX-License-Identifier: Apache-2.0
"""Runs the RED microbenchmarks in the model and compares with what a GPU took.

    warpfold replay [--match REGEX] [--jobs N] [RESULTS]

RESULTS is what warpfold_microbench wrote, by default that of an H200 (model/gpus/h200-microbench.json, the
cases of REDs only). Each case of the groups `red` and `vector` becomes a trace (warpfold_red_trace) and is run by
the golden unit's GPU model under policy baseline, or vector where it adds by vector REDs. Compared are SM cycles for
each RED of an SM, of `vector` for all that a warp adds at once, until the last addition is done (`drained`).
Cases with idle sub-cores are left out: a trace does not say on which sub-core a warp is. So are those of halves.

Exit code 1: a case is off by more than --limit. 2: bad input.
"""

import argparse
import os
import re
import statistics
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from ..base.errors import BadInput
from ..base.files import read_json, write_json
from ..base.parser import Parser
from ..base.places import MACHINES, helper
from ..base.processes import Word, output
from ..base.progress import Progress
from ..correlate import simulator

Row = dict[str, Any]  # "name", "measured", "modelled", "error"

GROUPS = ("red", "vector")

# The microbenchmarks of REDs that the machine was set from.
RED_RATES = (
    r"/lanes=(8|32)/warps=32/sm|/lanes=(2|8|32)/warps=32/gpu|hot_(address|line|sectors)/lanes=(1|8|32)/|hot_block"
)

# Those of vector REDs: all lanes or eight, and nine floats of a struct; one place of all SMs.
VECTOR_RATES = (
    r"vector/(same|packed|sectors|struct_64)/words=./v./lanes=(8|32)/warps=32/"
    r"|vector/struct_(48|64)/words=9/v4/lanes=1/|vector/struct_(48|64)_by_lanes/"
    r"|vector/hot_address/words=./v./lanes=1$|vector/hot_block/sectors=(1|4)/vectors=2/lines=1/words=4/v4/"
)

# Both, of a file that has both.
RATES = f"^red/.*({RED_RATES})|{VECTOR_RATES}"


def red_trace(*words: Word) -> str:
    """What the program that makes traces of the cases prints."""
    return output([helper("warpfold_red_trace"), *words])


def pattern(text: str) -> re.Pattern[str]:
    try:
        return re.compile(text)
    except (re.error, OverflowError, RecursionError) as error:
        raise BadInput(f"--match {text}: is no regular expression ({error})") from error


def measured_cases(path: str | Path, match: re.Pattern[str]) -> dict[str, float]:
    """{name: cycles for an operation} of the cases of REDs."""
    try:
        results = read_json(path)["results"]
        cases = {r["name"]: r["extra"]["drained"] for r in results if r["group"] in GROUPS}
    except (KeyError, TypeError) as error:
        raise BadInput(f"{path}: not results of warpfold_microbench ({error})") from error
    return {name: cycles for name, cycles in cases.items() if match.search(name)}


def modelled(name: str, operations: int, policy: str, gpu: str | Path, sms: int) -> float:
    """Cycles for an operation in the model."""
    settings = [] if name.endswith("/gpu") or "/hot_" in name else ["--set", "sm.count=1"]
    with tempfile.TemporaryDirectory() as folder:
        trace, out = Path(folder) / "case.wft", Path(folder) / "r.json"
        red_trace("--sms", sms, name, trace)
        which: list[Word] = ["--gpu", gpu, "--policy", policy, "--unit", "golden", "--jobs", 1, *settings]
        simulator("sim", trace, *which, "--json", out)
        return float(read_json(out)["runs"][0]["cycles"] / operations)


def replay(results: str | Path, gpu: str | Path, sms: int, match: str, jobs: int) -> list[Row]:
    """A row for each case of `results` whose name `match` finds: measured and modelled cycles, and the error."""
    measured = measured_cases(results, pattern(match))
    known = {
        name: (int(operations), policy)
        for name, operations, policy in (line.split() for line in red_trace("--sms", sms, "--list").splitlines())
    }
    cases = {n: c for n, c in measured.items() if n in known}
    if not cases:
        raise BadInput(f"{results}: no such case")
    with ThreadPoolExecutor(jobs) as pool, Progress(len(cases), "cases") as progress:

        def one(name: str) -> float:
            cycles = modelled(name, *known[name], gpu, sms)
            progress.step()
            return cycles

        cycles = list(pool.map(one, cases))
    return [
        {"name": name, "measured": cases[name], "modelled": mine, "error": mine / cases[name] - 1}
        for name, mine in zip(cases, cycles)
    ]


def text_of(rows: list[Row]) -> str:
    width = max(len(row["name"]) for row in rows)
    lines = [f"{'case':{width}} {'measured':>9} {'modelled':>9} {'error':>8}"]
    lines += [f"{r['name']:{width}} {r['measured']:9.3f} {r['modelled']:9.3f} {r['error']:+8.1%}" for r in rows]
    errors = [abs(r["error"]) for r in rows]
    worst = max(rows, key=lambda r: abs(float(r["error"])))
    lines += [
        "",
        f"{len(rows)} cases: mean absolute error {statistics.fmean(errors):.1%}, "
        f"{sum(e <= 0.05 for e in errors)} within 5 %, worst {worst['name']} {worst['error']:+.1%}",
    ]
    return "\n".join(lines)


def options(parser: Parser) -> None:
    parser.add_argument(
        "results",
        nargs="?",
        metavar="RESULTS",
        default=str(MACHINES / "h200-microbench.json"),
        help="What warpfold_microbench wrote; else of an H200",
    )
    parser.add_argument("--gpu", default="h200", help="Machine, of the GPU that ran them")
    parser.add_argument("--sms", metavar="N", type=int, default=132, help="SMs of that GPU")
    parser.add_argument("--match", default="", metavar="REGEX", help="Only cases whose name it finds")
    parser.add_argument("--limit", metavar="X", type=float, help="Largest error that is no failure, such as 0.05")
    parser.add_argument("--jobs", metavar="N", type=int, help="Simulations at once [one for each processor]")
    parser.add_argument("--json", metavar="FILE", help="Write the rows as JSON")
    parser.footer(
        "Example: two lanes and more, on all SMs\n"
        "  warpfold replay --match '/lanes=(2|8|32)/warps=32/gpu'\n\n"
        "Exit code: 0 done, 1 a case is off by more than --limit, 2 bad usage or bad input."
    )


def run(arguments: argparse.Namespace) -> int:
    jobs = arguments.jobs or os.cpu_count() or 1
    rows = replay(arguments.results, arguments.gpu, arguments.sms, arguments.match, jobs)
    print(text_of(rows))
    if arguments.json:
        write_json(arguments.json, rows, indent=1)
    return int(arguments.limit is not None and any(abs(row["error"]) > arguments.limit for row in rows))
