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
    coalescer: str = "direct"  # in front of it, in arc_subcore

    @property
    def lanes_per_cycle(self) -> int:
        return 1 << _names("datapaths").index(self.datapath)

    @property
    def schedulers(self) -> list[str]:
        """Those that it may have; the first is its own."""
        return [one["name"] for one in family()["schedulers"] if one["most_words"] >= self.words]

    def datapaths_alike(self, other: "Unit") -> bool:
        """Whether the two are the same but for the coalescer in front."""
        return (self.datapath, self.adds, self.words) == (other.datapath, other.adds, other.words)

    def parameters(self, scheduler: str | None = None, module: str = "arc_subcore") -> dict[str, int]:
        """Parameters of arc_subcore, or of arc_unit, which has no coalescer."""
        of_unit = {
            "Datapath": _names("datapaths").index(self.datapath),
            "Format": family()["formats"].index(self.adds),
            "MaxWords": self.words,
            "Scheduler": _names("schedulers").index(scheduler or self.schedulers[0]),
        }
        coalescer = {"Coalescer": family()["coalescers"].index(self.coalescer)}
        return of_unit if module == "arc_unit" else {**of_unit, **coalescer}

    def row(self, scheduler: str | None = None) -> str:
        """What rows and files of it are called: the name, and another scheduler than its own."""
        other = scheduler if scheduler != self.schedulers[0] else None
        return self.name.replace("-", "_") + (f"_{other.removeprefix('reduce-')}" if other else "")


def named() -> list[Unit]:
    """All units that have a name."""
    return [
        Unit(
            one["name"],
            one["datapath"],
            one.get("format", family()["formats"][0]),
            one.get("words", 1),
            one.get("coalescer", family()["coalescers"][0]),
        )
        for one in family()["units"]
    ]


def find(name: str) -> Unit:
    """A unit by its name, or DATAPATH[-FORMAT][-WORDS][-COALESCER]; BadInput where there is none."""
    for unit in named():
        if unit.name == name:
            return unit
    datapath, *rest = name.split("-")
    coalescer = rest.pop() if rest and rest[-1] in family()["coalescers"][1:] else family()["coalescers"][0]
    words = int(rest.pop()) if rest and rest[-1].isdecimal() else 1
    adds = rest.pop() if rest else family()["formats"][0]
    formats = next((one["formats"] for one in family()["datapaths"] if one["name"] == datapath), ())
    if rest or adds not in formats or not 1 <= words <= family()["most_words"]:
        raise BadInput(
            f"no kind of unit '{name}'; there are: {' '.join(_names('units'))}, "
            "or DATAPATH[-FORMAT][-WORDS][-staged]"
        )
    return Unit(name, datapath, adds, words, coalescer)


def with_scheduler(name: str) -> tuple[Unit, str]:
    """(unit, scheduler) of UNIT or UNIT:SCHEDULER."""
    name, _, scheduler = name.partition(":")
    unit = find(name)
    if scheduler and scheduler not in unit.schedulers:
        raise BadInput(f"{name} has no scheduler '{scheduler}'; it has: {' '.join(unit.schedulers)}")
    return unit, scheduler or unit.schedulers[0]
