# SPDX-License-Identifier: Apache-2.0
"""Power of a unit's netlist on recorded requests, as scripts/power.sh measures it."""

import argparse
import hashlib
import json
import os
from pathlib import Path

from ..base import whole_file
from ..synth import power
from . import costs
from .build import ROOT, parameter_values
from .unit import fingerprint


MAPPING = "fast"  # the one of the table's area and path
CYCLES, STALL = 4000, 0.5  # as scripts/power.sh
STIMULUS = ROOT / "tb/power/unit_stimulus.cpp"
MADE_BY = (Path(power.__file__), costs.synth.SYNTH / "power.tcl", STIMULUS)


def find_stimulus():
    return os.environ.get("WARPFOLD_UNIT_STIMULUS") or str(ROOT / "build/release/tb/power/unit_stimulus")


def driven_unit(unit, names, library):
    """A unit of somebody else, which answers itself while the requests are recorded."""
    return power.Driven(
        unit.top,
        ", ".join(parameter_values(unit)),
        unit.banks,
        str(library),
        ports=frozenset(names),
        files=tuple(unit.files),
        include=tuple(unit.include),
    )


def reason_for_none(liberty):
    """Why nothing can be measured, in one line; or an empty text."""
    try:
        power.need_simulator()
    except power.BadInput as error:
        return str(error)
    if not os.access(find_stimulus(), os.X_OK):
        return f"no {find_stimulus()}: build the target unit_stimulus"
    texts = [path.read_text(encoding="latin-1") for path in liberty]
    return "" if any("internal_power" in text for text in texts) else "the library has no power tables"


class Power:
    """Measures netlists in one library; `costs` has the library and keeps what it has measured."""

    def __init__(self, figures, liberty):
        self.costs = figures
        self.whole = power.whole_libraries(liberty, figures.work)
        self.none = reason_for_none(self.whole)
        self.arguments = argparse.Namespace(
            unit_stimulus=find_stimulus(),
            trace=str(power.TRACE),
            cycles=CYCLES,
            stall=STALL,
            rtl=str(ROOT / "rtl"),
            output_pins=power.output_pins([figures.library]),
        )

    def of(self, top, rtl, driven, key):
        """Of the netlist of a row; key: what its RTL is, as a hash."""
        made_by = "".join(path.read_text(encoding="utf-8") for path in MADE_BY)
        digest = hashlib.sha256(f"{key} {top} {self.costs.hash} {driven.recorder} {made_by}".encode()).hexdigest()[:16]
        kept = self.costs.cache / f"power-{digest}.json"
        if kept.is_file():
            return json.loads(kept.read_text(encoding="utf-8"))
        try:
            row = self.costs.synthesized(top, rtl)
            result = power.power_of(
                self.costs.work / f"{top.name}.{MAPPING}.v",
                top,
                driven,
                self.arguments,
                self.costs.library,
                self.whole,
                (row[f"{MAPPING}_path_ns"], self.costs.unit_ns),
                self.costs.work,
            )
        except (power.ToolFailed, power.BadInput) as error:
            return {"none": " ".join(str(error).split())}
        whole_file.write(kept, json.dumps(result) + "\n")
        return result

    def of_unit(self, unit, names, library):
        if self.none:
            return {"none": self.none}
        top = list(costs.rows_of(unit).values())[-1]
        return self.of(top, self.costs.rtl_of(unit), driven_unit(unit, names, library), fingerprint(unit))

    def of_kinds(self, names, which):
        """By name; which: "whole", or "added" without the coalescer."""
        kinds = [] if self.none else [kind for kind in costs.synth.KINDS if kind.name in names]
        return {
            kind.name: self.of(
                costs.builtin_rows(kind)[which], ROOT / "rtl", power.driven_kind(kind), costs.builtin_key()
            )
            for kind in kinds
        }
