# SPDX-License-Identifier: Apache-2.0
"""Costs of the code of reduce_arc.cuh for kernels that do not have it, from generic/reduction_kernels.cu.

  reduction_costs.py --sass DIR --json FILE      DIR: what `sass_cost.py dump` has made of those kernels

For each architecture, variant and number of parameters: the costs of the variant's segments, and the registers that it
takes beyond the kernel with plain atomics. What a pass of the variant's kernel issues beyond that kernel's, such as the
ballot and zeros for lanes with nothing to add, is in `check`. There is no address arithmetic and no wait for the values:
a kernel has its own.
traces/README.md says how the table is made.
"""

from collections.abc import Sequence
from typing import Any
import argparse
import json
import re
import sys

from .cost import ISSUED
from .files import write_text
from .flow import Flow
from .instructions import Instruction, SassError
from .listings import Listings
from .reductions import Ways
from .shapes import SEGMENTS, Shape


SCHEMA = "warpfold.reduction-costs/1"
VARIANTS = ["sw-s", "sw-b", "skip"]
PARAMETERS = [1, 2, 3, 4, 6, 8, 9, 12, 16, 24, 32]


def ways_of(
    listings: Listings, arch: str, functions: dict[str, list[Instruction]], variant: str, parameters: int
) -> tuple[Ways, int]:
    name = f"warpfold_reduction_{variant.replace('-', '_')}_{parameters}"
    try:
        ways = Ways(
            Flow(listings.function(arch, functions, name)), variant, Shape(parameters, VARIANTS, leaves=[(None, False)])
        )
    except SassError as error:
        raise SassError(f"{arch} {name}: {error}") from error
    return ways, listings.registers(arch, name)


def with_pass(check: dict[str, Any], taken: dict[str, Any], baseline: dict[str, Any]) -> dict[str, Any]:
    """`check` and what a pass issues beyond the baseline's: slots of a class that it has fewer of count against others."""
    check = dict(check)
    more: dict[str, int] = {f: taken[f] - baseline[f] for f in ISSUED}
    left = max(sum(more.values()), 0)
    for field in sorted(ISSUED, key=lambda f: -more[f]):
        added = min(max(more[field], 0), left)
        check[field] += added
        left -= added
    for field in ("stall_cycles", "branches"):
        check[field] += max(taken[field] - baseline[field], 0)
    return check


def without_loads(cost: dict[str, Any]) -> dict[str, Any]:
    """Without the waits for what is added, which comes from global memory in these kernels."""
    waits = [w for w in cost["waits"] if w[0] != "global_load"]
    first = min((asked for _, asked, _ in waits), default=0)
    return dict(cost, waits=[[kind, asked - first, wanted - first] for kind, asked, wanted in waits])


def table(
    listings: Listings, parameters: Sequence[int] = tuple(PARAMETERS)
) -> dict[str, str | dict[str, dict[str, dict[str, dict[str, Any]]]]]:
    costs: dict[str, dict[str, dict[str, dict[str, int | dict[str, Any]]]]] = {}
    for arch, functions in listings.architectures():
        variants = costs[arch] = {v: {} for v in VARIANTS}
        for n in parameters:
            plain, plain_registers = ways_of(listings, arch, functions, "baseline", n)
            for variant in VARIANTS:
                ways, registers = ways_of(listings, arch, functions, variant, n)
                reduce = {s: without_loads(ways.cost(s)[0]) for s in SEGMENTS[variant]}
                reduce["check"] = with_pass(reduce["check"], ways.cost("taken")[0], plain.cost("taken")[0])
                variants[variant][str(n)] = {"registers": max(registers - plain_registers, 0), "reduce": reduce}
    return {"schema": SCHEMA, "compiler": listings.compiler, "costs": costs}


def as_text(data: dict[str, str | dict[str, dict[str, dict[str, dict[str, Any]]]]]) -> str:
    """JSON with a number of parameters on a line."""
    text = json.dumps(data, indent=1)
    return (
        re.sub(
            r'("\d+": )(\{.*?\n    \})',
            lambda m: m[1] + json.dumps(json.loads(m[2]), separators=(",", ":")),
            text,
            flags=re.DOTALL,
        )
        + "\n"
    )


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Costs of ARC-SW's code for kernels that do not have it.")
    parser.add_argument("--sass", required=True, help="folder that `sass_cost.py dump` has filled")
    parser.add_argument("--json", required=True, help="write the table there")
    args = parser.parse_args(argv)
    try:
        write_text(args.json, as_text(table(Listings(args.sass))))
    except SassError as error:
        print(f"reduction_costs.py: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
