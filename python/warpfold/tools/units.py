# SPDX-License-Identifier: Apache-2.0
"""The family of the ARC unit, for scripts of the shell."""

import argparse

from .base import units
from .base.parser import Parser


def options(parser: Parser) -> None:
    what = parser.add_subparsers(dest="what", metavar="WHAT", required=True)
    names = what.add_parser(
        "names", description="Names of the units, one a line", help="Names of the units, one a line"
    )
    names.add_argument("--with", dest="scheduler", metavar="SCHEDULER", help="Only those that may have this scheduler")
    schedulers = what.add_parser("schedulers", description="Schedulers of a unit", help="Schedulers that one may have")
    schedulers.add_argument("name", metavar="NAME", help="Of a unit; its own scheduler comes first")
    parameters = what.add_parser("parameters", description="Parameters of a unit", help="Parameters, as Datapath=1")
    parameters.add_argument("name", metavar="NAME", help="Of a unit")
    parameters.add_argument("scheduler", nargs="?", metavar="SCHEDULER", help="Else its own")


def run(arguments: argparse.Namespace) -> int:
    if arguments.what == "names":
        lines = [unit.name for unit in units.named() if arguments.scheduler in (None, *unit.schedulers)]
    elif arguments.what == "schedulers":
        lines = units.find(arguments.name).schedulers
    else:
        unit, scheduler = units.with_scheduler(":".join(filter(None, (arguments.name, arguments.scheduler))))
        lines = [" ".join(f"{name}={value}" for name, value in unit.parameters(scheduler).items())]
    print("\n".join(lines))
    return 0
