# SPDX-License-Identifier: Apache-2.0
"""Costs of the code of reduce_arc.cuh for kernels that do not have it, from generic/reduction_kernels.cu.

  reduction-costs --sass DIR --json FILE      DIR: what `kernel-costs dump` has made of those kernels

For each architecture, variant and number of parameters: the costs of the variant's segments, and the registers that it
takes beyond the kernel with plain atomics. What a pass of the variant's kernel issues beyond that kernel's, such as the
ballot and zeros for lanes with nothing to add, is in `check`. There is no address arithmetic and no wait for the values:
a kernel has its own.
README.md beside it says how the table is made.
"""

from collections.abc import Sequence
import argparse
import json
import re
from collections.abc import Sequence
from typing import Any

from ..base import files
from ..base.parser import Parser
from .cost import ISSUED
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


def options(parser: Parser) -> None:
    parser.add_argument(
        "--sass", metavar="DIR", required=True, help="Folder that `warpfold kernel-costs dump` has filled"
    )
    parser.add_argument("--json", metavar="FILE", required=True, help="Write the table there")


def run(arguments: argparse.Namespace) -> int:
    files.write(arguments.json, as_text(table(Listings(arguments.sass))))
    return 0
