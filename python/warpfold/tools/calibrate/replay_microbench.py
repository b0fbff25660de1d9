# SPDX-License-Identifier: Apache-2.0
"""Runs the RED microbenchmarks in the model and compares with what a GPU took.

    python3 python calibrate.replay_microbench [--match REGEX] [--jobs N] [RESULTS]

RESULTS is what warpfold_microbench wrote, by default that of an H200 (model/gpus/h200-microbench.json, the
cases of REDs only). Each case of the groups `red` and `vector` becomes a trace (warpfold_red_trace) and is run by
the golden unit's GPU model under policy baseline, or vector where it adds by vector REDs. Compared are SM cycles for
each RED of an SM, of `vector` for all that a warp adds at once, until the last addition is done (`drained`).
Cases with idle sub-cores are left out: a trace does not say on which sub-core a warp is. So are those of halves.

Exit code 1: a case is off by more than --limit. 2: bad input.
"""

import argparse
import json
import os
import re
import statistics
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from ..base import guard, whole_file
from ..base.progress import Progress
from ..correlate import ROOT, BadInput, run


# Built with the capture programs, or without a CUDA compiler with the tests.
BUILT = [ROOT / f"build/release/{folder}/microbench/warpfold_red_trace" for folder in ("traces/capture", "tb")]
GROUPS = ("red", "vector")
TRACES = Path(os.environ.get("WARPFOLD_RED_TRACE") or next((path for path in BUILT if path.exists()), BUILT[0]))

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


def pattern(text):
    try:
        return re.compile(text)
    except (re.error, OverflowError, RecursionError) as error:
        raise BadInput(f"--match {text}: is no regular expression ({error})") from error


def measured_cases(path, match):
    """{name: cycles for an operation} of the cases of REDs."""
    try:
        results = json.loads(Path(path).read_text(encoding="utf-8"))["results"]
        cases = {r["name"]: r["extra"]["drained"] for r in results if r["group"] in GROUPS}
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise BadInput(f"{path}: not results of warpfold_microbench ({error})") from error
    return {name: cycles for name, cycles in cases.items() if match.search(name)}


def modelled(name, operations, policy, gpu, sms):
    """Cycles for an operation in the model."""
    settings = [] if name.endswith("/gpu") or "/hot_" in name else ["--set", "sm.count=1"]
    with tempfile.TemporaryDirectory() as folder:
        trace, out = Path(folder) / "case.wft", Path(folder) / "r.json"
        run("--sms", sms, name, trace, command=TRACES)
        run("sim", trace, "--gpu", gpu, "--policy", policy, "--unit", "golden", "--jobs", 1, "--json", out, *settings)
        return json.loads(out.read_text(encoding="utf-8"))["runs"][0]["cycles"] / operations


def replay(results, gpu, sms, match, jobs):
    """A row for each case of `results` whose name `match` finds: measured and modelled cycles, and the error."""
    measured = measured_cases(results, pattern(match))
    known = {
        name: (int(operations), policy)
        for name, operations, policy in (
            line.split() for line in run("--sms", sms, "--list", command=TRACES).splitlines()
        )
    }
    cases = {n: c for n, c in measured.items() if n in known}
    if not cases:
        raise BadInput(f"{results}: no such case")
    with ThreadPoolExecutor(jobs) as pool, Progress(len(cases), "cases") as progress:

        def one(name):
            cycles = modelled(name, *known[name], gpu, sms)
            progress.step()
            return cycles

        cycles = list(pool.map(one, cases))
    return [
        {"name": name, "measured": cases[name], "modelled": mine, "error": mine / cases[name] - 1}
        for name, mine in zip(cases, cycles)
    ]


def text_of(rows):
    width = max(len(row["name"]) for row in rows)
    lines = [f"{'case':{width}} {'measured':>9} {'modelled':>9} {'error':>8}"]
    lines += [f"{r['name']:{width}} {r['measured']:9.3f} {r['modelled']:9.3f} {r['error']:+8.1%}" for r in rows]
    errors = [abs(r["error"]) for r in rows]
    worst = max(rows, key=lambda r: abs(r["error"]))
    lines += [
        "",
        f"{len(rows)} cases: mean absolute error {statistics.fmean(errors):.1%}, "
        f"{sum(e <= 0.05 for e in errors)} within 5 %, worst {worst['name']} {worst['error']:+.1%}",
    ]
    return "\n".join(lines)


def main(argv=None):
    parser = argparse.ArgumentParser(description="The RED microbenchmarks in the model.")
    parser.add_argument(
        "results",
        nargs="?",
        default=ROOT / "model/gpus/h200-microbench.json",
        help="of warpfold_microbench (%(default)s)",
    )
    parser.add_argument("--gpu", default="h200", help="machine, of the GPU that ran them (%(default)s)")
    parser.add_argument("--sms", type=int, default=132, help="SMs of that GPU (%(default)s)")
    parser.add_argument("--match", default="", metavar="REGEX", help="only cases whose name it finds")
    parser.add_argument("--limit", type=float, help="largest error that is no failure, e.g. 0.05")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--json", type=Path, help="file for the rows")
    args = parser.parse_args(argv)
    try:
        rows = replay(args.results, args.gpu, args.sms, args.match, args.jobs)
        print(text_of(rows))
        if args.json:
            whole_file.write(args.json, json.dumps(rows, indent=1) + "\n")
    except (BadInput, OSError) as error:
        print(f"replay_microbench.py: {error}", file=sys.stderr)
        return 2
    return int(args.limit is not None and any(abs(r["error"]) > args.limit for r in rows))


if __name__ == "__main__":
    guard.end("replay_microbench.py", main)
