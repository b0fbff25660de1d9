# SPDX-License-Identifier: Apache-2.0
"""Power of a unit's netlist on recorded requests, as `warpfold power` measures it."""

import argparse
import hashlib
from pathlib import Path

from ..base.errors import BadInput, ToolFailed
from ..base.files import read_json, write_json
from ..base.places import CHECKOUT, RTL, SYNTH, warpfold
from ..synth import power, synth
from ..synth.power import Driven
from ..synth.synth import Row, Top
from . import costs
from .build import parameter_values
from .costs import Costs
from .unit import Unit, fingerprint

MAPPING = "fast"  # the one of the table's area and path
CYCLES, STALL = 4000, 0.5  # as `warpfold power`


def made_by() -> str:
    """A hash of what a power comes from besides the unit: this, and what turns the trace into requests."""
    stimulus = CHECKOUT / "model/cli/stimulus.cpp" if CHECKOUT else warpfold().resolve()
    digest = hashlib.sha256()
    for path in (Path(power.__file__), SYNTH / "power.tcl", stimulus):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def driven_unit(unit: Unit, names: dict[str, str], library: str) -> Driven:
    """A unit of somebody else, which answers itself while the requests are recorded."""
    return Driven(
        unit.top,
        ", ".join(parameter_values(unit)),
        unit.banks,
        str(library),
        ports=frozenset(names),
        files=tuple(unit.files),
        options=tuple(unit.options()),
    )


def reason_for_none(liberty: list[Path]) -> str:
    """Why nothing can be measured, in one line; or an empty text."""
    texts = [path.read_text(encoding="latin-1") for path in liberty]
    return "" if any("internal_power" in text for text in texts) else "the library has no power tables"


class Power:
    """Measures netlists in one library; `costs` has the library and keeps what it has measured."""

    def __init__(self, figures: Costs, liberty: list[str] | None) -> None:
        self.costs = figures
        assert figures.library is not None
        self.library = figures.library
        self.whole = power.whole_libraries(liberty, figures.work)
        self.none = reason_for_none(self.whole)
        self.arguments = argparse.Namespace(
            trace=str(power.TRACE),
            cycles=CYCLES,
            stall=STALL,
            rtl=str(RTL),
            output_pins=power.output_pins([figures.library]),
        )

    def of(self, top: Top, rtl: Path, driven: Driven, key: str) -> Row:
        """Of the netlist of a row; key: what its RTL is, as a hash."""
        digest = hashlib.sha256(f"{key} {top} {self.costs.hash} {driven.recorder} {made_by()}".encode()).hexdigest()[
            :16
        ]
        kept = self.costs.cache / f"power-{digest}.json"
        if kept.is_file():
            known: Row = read_json(kept)
            return known
        try:
            row = self.costs.synthesized(top, rtl)
            result = power.power_of(
                self.costs.work / f"{top.name}.{MAPPING}.v",
                top,
                driven,
                self.arguments,
                self.library,
                self.whole,
                (row[f"{MAPPING}_path_ns"], self.costs.unit_ns),
                self.costs.work,
            )
        except (ToolFailed, BadInput) as error:
            return {"none": " ".join(str(error).split())}
        write_json(kept, result)
        return result

    def of_unit(self, unit: Unit, names: dict[str, str], library: str) -> Row:
        if self.none:
            return {"none": self.none}
        top = list(costs.rows_of(unit).values())[-1]
        return self.of(top, self.costs.rtl_of(unit), driven_unit(unit, names, library), fingerprint(unit))

    def of_kinds(self, names: list[str], which: str) -> dict[str, Row]:
        """By name; which: "whole", or "added" without the coalescer."""
        kinds = [] if self.none else [kind for kind in synth.UNITS if kind.name in names]
        return {
            kind.name: self.of(costs.builtin_rows(kind)[which], RTL, power.driven_unit(kind), costs.builtin_key())
            for kind in kinds
        }
