#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Instruction costs of the backward kernels, from their machine code.

  sass_cost.py dump     --program FILE --out DIR          text of cuobjdump into DIR
  sass_cost.py costs    --sass DIR [--json FILE] [--explain]
  sass_cost.py predict  --costs FILE --counts FILE [--ncu FILE]

`costs` follows each way that a warp takes through a kernel and adds up what it issues there: passes.py says what
its passes are, reductions.py what belongs to the variant's own reduction, cost.py what counts. It knows the kernels of
shapes.py and no others; kernel_code.py reads any kernel. `predict` ends with exit code 1 where it is more than 10 %
from what ncu counted.
"""

import argparse
import json
import os
import re
import sys

from cost import slots
from files import read_json, read_text, run_tool, write_text
from instructions import SassError, parse_registers, parse_sass
from ncu import verdict
from prediction import predict_variant, read_ncu
from reductions import variant_costs
from shapes import GAUSSIANS, SEGMENTS, WORKLOADS, kernel_name

SCHEMA = "warpfold.costs/3"
COUNTS_SCHEMA = "warpfold.path-counts/1"
WAY_ON = "the form of this kernel is not that in shapes.py: kernel_code.py reads any, `warpfold record` records it"
# Thresholds of the policies that `warpfold_capture launch` runs.
PROFILED_THRESHOLD = 16


def dump(args):
    sass = run_tool("cuobjdump", "-sass", args.program)
    resources = run_tool("cuobjdump", "-res-usage", args.program)
    by_arch = {}
    arch = None
    if not re.search(r"^\s*arch = ", resources, re.MULTILINE):  # of a cubin, which is for one architecture
        resources = "".join(f"arch = {a}\n" for a in re.findall(r"^\s*code for (sm_\d+)", sass, re.MULTILINE)[:1]) + resources
    for line in sass.splitlines(keepends=True):
        found = re.match(r"\s*code for (sm_\d+)", line)
        if found:
            arch = found.group(1)
        if arch:
            by_arch.setdefault(arch, []).append(line)
    if not by_arch:
        raise SassError(f"{args.program}: holds no machine code")
    os.makedirs(args.out, exist_ok=True)
    for arch, lines in by_arch.items():
        write_text(os.path.join(args.out, f"{arch}.sass"), "".join(lines))
    write_text(os.path.join(args.out, "resources.txt"), resources)
    version = re.findall(r"release [^\n]*", run_tool("cuobjdump", "--version"))
    write_text(os.path.join(args.out, "compiler.txt"), (version[-1] if version else "unknown") + "\n")
    print(f"machine code for {', '.join(sorted(by_arch))} in {args.out}")


def costs(args):
    files = sorted(f for f in os.listdir(args.sass) if re.fullmatch(r"sm_\d+\.sass", f)) \
        if os.path.isdir(args.sass) else []
    if not files:
        raise SassError(f"{args.sass}: holds no sm_*.sass; make them with dump")
    registers = parse_registers(read_text(os.path.join(args.sass, "resources.txt")))
    shape = WORKLOADS[args.workload]
    result = {"schema": SCHEMA, "paths": shape.paths, "costs": {}}
    if args.workload != GAUSSIANS:
        result["kernel"] = args.workload
    compiler = os.path.join(args.sass, "compiler.txt")
    result["compiler"] = read_text(compiler).strip() if os.path.exists(compiler) else "unknown"
    explain = print if args.explain else None
    for file in files:
        arch = file.removesuffix(".sass")
        functions = parse_sass(read_text(os.path.join(args.sass, file)))
        variants = result["costs"][arch] = {}
        for variant in shape.variants:
            name = kernel_name(args.workload, variant)
            if name not in functions:
                raise SassError(f"{file}: has no {name}; kernel_code.py reads kernels of any name")
            count = registers.get(arch, {}).get(name)
            if count is None:
                raise SassError(f"{args.sass}/resources.txt: has no registers of {name} for {arch}")
            if explain:
                explain(f"{arch} {variant}: {count} registers")
            try:
                variants[variant] = variant_costs(functions[name], variant, count, shape, explain)
            except SassError as error:
                raise SassError(f"{arch} {name}: {error}; {WAY_ON}") from error
    if args.json:
        text = json.dumps(result, indent=1)
        text = re.sub(r'\[\s+("\w+"),\s+(\d+),\s+(\d+)\s+\]', r"[\1, \2, \3]", text)  # a wait on one line
        write_text(args.json, text + "\n")
    if not explain:
        print_table(result)


def print_table(result):
    """Issue slots of each path and segment."""
    segments = list(dict.fromkeys(s for v in SEGMENTS.values() for s in v))
    print("issue slots: " + " ".join(result["paths"]) + " | " + " ".join(segments))
    for arch, variants in result["costs"].items():
        for variant, cost in variants.items():
            row = [str(slots(c)) for c in cost["paths"]] + ["|"]
            row += [str(slots(cost["reduce"][s])) if s in cost["reduce"] else "-" for s in segments]
            print(f"{arch} {variant:9} {cost['registers']:3} registers  " + " ".join(row))


def predict(args):
    table = read_json(args.costs, SCHEMA)
    counts = read_json(args.counts, COUNTS_SCHEMA)
    measured = {}
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
        print(f"sass_cost.py: {line}", file=sys.stderr)
    return 1 if wrong else 0


def main(argv=None):
    parser = argparse.ArgumentParser(description="Instruction costs of the backward kernels, from SASS.")
    commands = parser.add_subparsers(dest="command", required=True)
    command = commands.add_parser("dump", help="disassemble the capture program")
    command.add_argument("--program", required=True)
    command.add_argument("--out", required=True, help="folder")
    command.set_defaults(run=dump)
    command = commands.add_parser("costs", help="costs of every architecture and variant")
    command.add_argument("--sass", required=True, help="folder that dump has filled")
    command.add_argument("--workload", choices=sorted(WORKLOADS), default=GAUSSIANS,
                         help="which kernels of warpfold_capture_workloads; those of 3DGS if not given")
    command.add_argument("--json", help="write the costs there")
    command.add_argument("--explain", action="store_true", help="list the instructions of each path")
    command.set_defaults(run=costs)
    command = commands.add_parser("predict", help="warp instructions of a launch, against ncu")
    command.add_argument("--costs", required=True)
    command.add_argument("--counts", required=True, help="NAME-counts.json of a capture")
    command.add_argument("--ncu", help="CSV with smsp__inst_executed.sum")
    command.set_defaults(run=predict)
    args = parser.parse_args(argv)
    try:
        return args.run(args) or 0
    except SassError as error:
        print(f"sass_cost.py: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
