# SPDX-License-Identifier: Apache-2.0
"""Instruction costs of the backward kernels, from their machine code.

  kernel-costs dump     --program FILE --out DIR          text of cuobjdump into DIR
  kernel-costs costs    --sass DIR [--json FILE] [--explain]
  kernel-costs predict  --costs FILE --counts FILE [--ncu FILE]

`costs` follows each way that a warp takes through a kernel and adds up what it issues there: passes.py says what
its passes are, reductions.py what belongs to the variant's own reduction, cost.py what counts. It knows the kernels of
shapes.py and no others; kernel_code.py reads any kernel. `predict` ends with exit code 1 where it is more than 10 %
from what ncu counted.
"""

import argparse
import json
import re
import sys
from typing import Any

from ..base import files
from ..base.files import read_json
from ..base.parser import Parser
from .cost import slots
from .instructions import SassError
from .listings import Listings, write_listings
from .ncu import verdict
from .prediction import predict_variant, read_ncu
from .reductions import variant_costs
from .shapes import GAUSSIANS, SEGMENTS, WORKLOADS, kernel_name


SCHEMA = "warpfold.costs/3"
COUNTS_SCHEMA = "warpfold.path-counts/1"
WAY_ON = "the form of this kernel is not that in shapes.py: kernel-code reads any, `warpfold record` records it"
# Thresholds of the policies that `warpfold_capture launch` runs.
PROFILED_THRESHOLD = 16


def dump(args: argparse.Namespace) -> None:
    print(f"machine code for {', '.join(write_listings(args.program, args.out))} in {args.out}")


def costs(args: argparse.Namespace) -> None:
    listings = Listings(args.sass)
    shape = WORKLOADS[args.workload]
    result: dict[str, Any] = {"schema": SCHEMA, "paths": shape.paths, "costs": {}}
    if args.workload != GAUSSIANS:
        result["kernel"] = args.workload
    result["compiler"] = listings.compiler
    explain = print if args.explain else None
    for arch, functions in listings.architectures():
        variants = result["costs"][arch] = {}
        for variant in shape.variants_of(arch):
            name = kernel_name(args.workload, variant)
            code = listings.function(arch, functions, name)
            count = listings.registers(arch, name)
            if explain:
                explain(f"{arch} {variant}: {count} registers")
            try:
                variants[variant] = variant_costs(code, variant, count, shape, explain)
            except SassError as error:
                raise SassError(f"{arch} {name}: {error}; {WAY_ON}") from error
    if args.json:
        text = json.dumps(result, indent=1)
        text = re.sub(r'\[\s+("\w+"),\s+(\d+),\s+(\d+)\s+\]', r"[\1, \2, \3]", text)  # a wait on one line
        files.write(args.json, text + "\n")
    if not explain:
        print_table(result)


def print_table(result: dict[str, Any]) -> None:
    """Issue slots of each path and segment."""
    segments = list(dict.fromkeys(s for v in SEGMENTS.values() for s in v))
    print("issue slots: " + " ".join(result["paths"]) + " | " + " ".join(segments))
    for arch, variants in result["costs"].items():
        for variant, cost in variants.items():
            row = [str(slots(c)) for c in cost["paths"]] + ["|"]
            row += [str(slots(cost["reduce"][s])) if s in cost["reduce"] else "-" for s in segments]
            print(f"{arch} {variant:11} {cost['registers']:3} registers  " + " ".join(row))


def predict(args: argparse.Namespace) -> int:
    table = read_json(args.costs, SCHEMA)
    counts = read_json(args.counts, COUNTS_SCHEMA)
    measured: dict[str, int] = {}
    machines = sorted(table["costs"])
    if counts.get("kernel") != table.get("kernel") or list(counts["paths"]) != table["paths"]:
        raise SassError(f"{args.counts}: is of another kernel than {args.costs}")
    if args.ncu:
        arch, measured = read_ncu(args.ncu, table.get("kernel", GAUSSIANS))
        if arch not in table["costs"]:
            raise SassError(f"{args.costs}: has no costs of {arch}, which {args.ncu} was measured on")
        machines = [arch]
    wrong = []
    for arch in machines:
        for variant, cost in table["costs"][arch].items():
            predicted = predict_variant(cost, counts, variant, PROFILED_THRESHOLD)
            line = f"{arch} {variant:9} predicted {predicted:12} warp instructions"
            if variant in measured:
                line += f", measured {measured[variant]:12}: {predicted / measured[variant]:.4f}"
                problem = verdict(predicted, measured[variant])
                wrong += [f"{arch} {variant}: {problem}"] if problem else []
            print(line)
    for line in wrong:
        print(f"kernel-costs: {line}", file=sys.stderr)
    return 1 if wrong else 0


def options(parser: Parser) -> None:
    commands = parser.add_subparsers(dest="command", required=True)
    command = commands.add_parser("dump", help="Disassemble the capture program", description="Disassemble a program")
    command.add_argument("--program", metavar="FILE", required=True, help="With the kernels in it")
    command.add_argument("--out", metavar="DIR", required=True, help="Folder")
    command.set_defaults(work=dump)
    text = "Costs of every architecture and variant"
    command = commands.add_parser("costs", help=text, description=text)
    command.add_argument("--sass", metavar="DIR", required=True, help="Folder that dump has filled")
    command.add_argument(
        "--workload",
        choices=sorted(WORKLOADS),
        default=GAUSSIANS,
        help="Which kernels of warpfold_capture_workloads; else those of 3DGS",
    )
    command.add_argument("--json", metavar="FILE", help="Write the costs there")
    command.add_argument("--explain", action="store_true", help="List the instructions of each path")
    command.set_defaults(work=costs)
    text = "Warp instructions of a launch, against ncu"
    command = commands.add_parser("predict", help=text, description=text)
    command.add_argument("--costs", metavar="FILE", required=True, help="Of the program's kernels")
    command.add_argument("--counts", metavar="FILE", required=True, help="NAME-counts.json of a capture")
    command.add_argument("--ncu", metavar="FILE", help="CSV with smsp__inst_executed.sum")
    command.set_defaults(work=predict)


def run(arguments: argparse.Namespace) -> int:
    return int(arguments.work(arguments) or 0)
