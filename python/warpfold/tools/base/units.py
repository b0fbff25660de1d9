# SPDX-License-Identifier: Apache-2.0
"""The family of the ARC unit, as rtl/units.json lists it."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from .errors import BadInput
from .files import read_json
from .places import RTL

FILE = RTL / "units.json"


@lru_cache
def family() -> dict[str, Any]:
    listed: dict[str, Any] = read_json(FILE)
    return listed


def _names(part: str) -> list[str]:
    return [one["name"] for one in family()[part]]


@dataclass(frozen=True)
class Unit:
    """A combination; `adds` is the type of a trace that it reduces."""

    name: str
    datapath: str
    adds: str = "f32"
    words: int = 1

    @property
    def lanes_per_cycle(self) -> int:
        return 1 << _names("datapaths").index(self.datapath)

    @property
    def schedulers(self) -> list[str]:
        """Those that it may have; the first is its own."""
        return [one["name"] for one in family()["schedulers"] if one["most_words"] >= self.words]

    def parameters(self, scheduler: str | None = None) -> dict[str, int]:
        """Parameters of arc_unit and arc_subcore."""
        return {
            "Datapath": _names("datapaths").index(self.datapath),
            "Format": family()["formats"].index(self.adds),
            "MaxWords": self.words,
            "Scheduler": _names("schedulers").index(scheduler or self.schedulers[0]),
        }

    def row(self, scheduler: str | None = None) -> str:
        """What rows and files of it are called: the name, and another scheduler than its own."""
        other = scheduler if scheduler != self.schedulers[0] else None
        return self.name.replace("-", "_") + (f"_{other.removeprefix('reduce-')}" if other else "")


def named() -> list[Unit]:
    """All units that have a name."""
    return [
        Unit(one["name"], one["datapath"], one.get("format", family()["formats"][0]), one.get("words", 1))
        for one in family()["units"]
    ]


def find(name: str) -> Unit:
    """A unit by its name, or DATAPATH[-FORMAT][-WORDS]; BadInput where there is none."""
    for unit in named():
        if unit.name == name:
            return unit
    datapath, *rest = name.split("-")
    words = int(rest.pop()) if rest and rest[-1].isdecimal() else 1
    adds = rest.pop() if rest else family()["formats"][0]
    formats = next((one["formats"] for one in family()["datapaths"] if one["name"] == datapath), ())
    if rest or adds not in formats or not 1 <= words <= family()["most_words"]:
        raise BadInput(
            f"no kind of unit '{name}'; there are: {' '.join(_names('units'))}, or DATAPATH[-FORMAT][-WORDS]"
        )
    return Unit(name, datapath, adds, words)


def with_scheduler(name: str) -> tuple[Unit, str]:
    """(unit, scheduler) of UNIT or UNIT:SCHEDULER."""
    name, _, scheduler = name.partition(":")
    unit = find(name)
    if scheduler and scheduler not in unit.schedulers:
        raise BadInput(f"{name} has no scheduler '{scheduler}'; it has: {' '.join(unit.schedulers)}")
    return unit, scheduler or unit.schedulers[0]
