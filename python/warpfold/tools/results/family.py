# SPDX-License-Identifier: Apache-2.0
"""The units that tables have: each datapath that adds floats behind the coalescer that keeps its clock, with every scheduler; and
the clock that each keeps on a machine."""

import math
import tomllib
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from ..base import units
from .store import ROOT, Unknown


# The machines of tables, and those that the paper has.
GPUS = ("rtx4090", "rtx3060", "h200")
PAPER_GPUS = ("rtx4090", "rtx3060")
# One trace of each workload of ARC's groups; of a scene in training that of 7,000 iterations.
ARC_TRACES = ["workload:3D-??", "workload:NV-??", "workload:PS-??", "!*-1K", "!*-values"]


class Member(NamedTuple):
    """A unit with one of its schedulers."""

    unit: units.Unit
    scheduler: str

    @property
    def row(self) -> str:
        """Its name in keys, and in rows of synthesis."""
        return self.unit.row(self.scheduler)

    @property
    def name(self) -> str:
        """What tables call it."""
        return f"{self.unit.name}, {self.scheduler.removeprefix('reduce-')}"

    @property
    def direct(self) -> "Member":
        """The same behind the coalescer that takes no cycle of its own."""
        direct = next(unit for unit in units.named() if unit.datapaths_alike(self.unit) and unit.coalescer == DIRECT)
        return Member(direct, self.scheduler)

    @property
    def unit_row(self) -> str:
        """Its row of synthesis without a coalescer."""
        return f"arc_unit_{self.direct.row}"

    @property
    def settings(self) -> tuple[tuple[str, str], ...]:
        """Parameters of a machine that has it."""
        return () if self.scheduler == self.unit.schedulers[0] else (("rules.scheduler", self.scheduler),)


DIRECT = units.family()["coalescers"][0]
EVERY = [Member(unit, scheduler) for unit in units.named() for scheduler in unit.schedulers]
# Those that add what the traces of the means add.
FLOATS = [one for one in EVERY if one.unit.adds == units.family()["formats"][0]]
# A unit that has a coalescer in stages is in tables behind that one.
MEMBERS = [
    one
    for one in FLOATS
    if one.unit.coalescer != DIRECT
    or not any(other.unit.datapaths_alike(one.unit) for other in FLOATS if other.unit.coalescer != DIRECT)
]
DATAPATHS = tuple(dict.fromkeys(member.unit.datapath for member in MEMBERS))
PAPERS = MEMBERS[0]  # our reading of ARC's: one lane a cycle, greedy


def member(row: str) -> Member:
    for one in FLOATS:
        if one.row == row:
            return one
    raise Unknown(row)


def of_run(kind: str, settings: str) -> Member | None:
    """The member that a simulation with these settings had; None where it had other parameters, too."""
    for one in FLOATS:
        if one.unit.name == kind and " ".join(f"{key}={value}" for key, value in one.settings) == settings:
            return one
    return None


@lru_cache
def clock_ghz(gpu: str) -> float:
    machine = tomllib.loads((ROOT / f"model/gpus/{gpu}.toml").read_text(encoding="utf-8"))
    return float(machine["sm"]["clock_ghz"])


def divider(path_ns: float, ghz: float) -> int:
    """Cycles of a machine that a path takes."""
    return max(1, math.ceil(path_ns * ghz))


def path_ns(row: Mapping[str, Any]) -> float:
    """The worst path of a row of synthesis, mapped for area or for speed."""
    return min(float(row["path_ns"]), float(row["fast_path_ns"]))


class Clocks:
    """Of the members, by the paths of their whole sub-cores in docs/numbers/asap7.json."""

    def __init__(self, asap7: Mapping[str, Any]) -> None:
        self.paths = {row["top"]: path_ns(row) for row in asap7["rows"]}

    def path_ns(self, one: Member) -> float:
        return self.paths[f"arc_subcore_{one.row}"]

    def divider(self, one: Member, gpu: str) -> int:
        return divider(self.path_ns(one), clock_ghz(gpu))
