# SPDX-License-Identifier: Apache-2.0
"""Transistors, area and worst path of a unit, beside the kinds that are built in."""

import argparse
import hashlib
import math
import re
from pathlib import Path
from typing import Any

from ..base import units
from ..base.files import read_json, write_json
from ..base.places import RTL
from ..synth import synth
from ..synth.synth import Row, Top
from .unit import Unit, fingerprint, stage


# The unit that keeps the GPU's clock, and of what divides it: paths are compared with its path.
CLOCK_KIND = "paired"
FIGURES = ("transistors", "flops", "area", "path_ns", "fast_area", "fast_path_ns")


def rows_of(unit: Unit) -> dict[str, Top]:
    """The whole unit, and the same without the coalescer that it names."""
    name = re.sub(r"\W", "_", unit.name)
    chparam = " -chparam ".join(f"{key} {value}" for key, value in unit.parameters.items())
    rows = {"whole": synth.Top(name, unit.top, chparam, foreign=True)}
    if unit.coalescer:
        rows["added"] = synth.Top(f"{name}_without_{unit.coalescer}", unit.top, chparam, unit.coalescer, foreign=True)
    return rows


def builtin_rows(kind: units.Unit) -> dict[str, Top]:
    added, whole = synth.unit_rows(kind)
    return {"whole": whole, "added": added}


def builtin_key() -> str:
    """A hash of the project's own RTL."""
    return hashlib.sha256(b"".join(path.read_bytes() for path in sorted(RTL.glob("*.sv")))).hexdigest()


def accepted(library_hash: str, transistors_only: bool) -> dict[str, dict[str, Any]]:
    """Rows of synth/baseline.json by name, where they are of the same library."""
    baseline = read_json(synth.BASELINE, synth.SCHEMA)
    if not transistors_only and baseline["liberty"]["sha256"] != library_hash:
        return {}
    return {row["top"]: row for row in baseline["rows"]}


def figures(row: dict[str, Any], transistors_only: bool) -> dict[str, float]:
    keys = FIGURES[:2] if transistors_only else FIGURES
    return {key: row[key] for key in keys if key in row}


class Costs:
    """Figures of units in one library, each made once and kept in a folder."""

    def __init__(self, liberty: list[str] | None, transistors_only: bool, work: Path, cache: Path) -> None:
        self.transistors_only = transistors_only
        self.work, self.cache = work, cache
        self.library: Path | None = None
        self.unit_ns = 1.0
        self.description: dict[str, Any] | None = None
        self.rows: dict[Top, Row] = {}
        work.mkdir(parents=True, exist_ok=True)
        cache.mkdir(parents=True, exist_ok=True)
        synth.need_tools(transistors_only)
        if not transistors_only:
            files = argparse.Namespace(liberty=liberty)
            self.library, self.unit_ns, self.description = synth.prepare_liberty(files, work)
        self.hash: str = self.description["sha256"] if self.description else "none"

    def figures(self, top: Top, rtl: Path, key: str) -> dict[str, float]:
        """Of one row; key: what its RTL is, as a hash."""
        digest = hashlib.sha256(f"{key} {top} {self.hash} {Path(synth.__file__).read_text(encoding='utf-8')}".encode())
        kept = self.cache / f"costs-{digest.hexdigest()[:16]}.json"
        if kept.is_file():
            known: dict[str, float] = read_json(kept)
            return known
        result = figures(self.synthesized(top, rtl), self.transistors_only)
        write_json(kept, result)
        return result

    def synthesized(self, top: Top, rtl: Path) -> Row:
        """A row of `warpfold synth`, whose netlists lie in the work folder then."""
        if top not in self.rows:
            self.rows[top] = synth.synthesize(top, rtl, self.library, self.unit_ns, self.work, False)
        return self.rows[top]

    def rtl_of(self, unit: Unit) -> Path:
        return stage(unit, self.work / "rtl")

    def of_unit(self, unit: Unit) -> dict[str, dict[str, float]]:
        rtl = self.rtl_of(unit)
        return {which: self.figures(top, rtl, fingerprint(unit)) for which, top in rows_of(unit).items()}

    def of_kinds(self, names: list[str]) -> dict[str, dict[str, dict[str, float]]]:
        known = accepted(self.hash, self.transistors_only)
        key = builtin_key()
        result = {}
        for kind in (unit for unit in synth.UNITS if unit.name in names):
            result[kind.name] = {
                which: (
                    figures(known[top.name], self.transistors_only)
                    if top.name in known
                    else self.figures(top, RTL, key)
                )
                for which, top in builtin_rows(kind).items()
            }
        return result


Rows = dict[str, dict[str, float]]  # figures of a unit, "whole" and perhaps "added"


def divider(rows: Rows, which: str, kinds: dict[str, Rows]) -> int | None:
    """Cycles of the GPU in one of a unit: as many as the worst path of that row is longer than the same of the kind that
    keeps the clock. None without paths."""
    reference, path = kinds[CLOCK_KIND][which].get("fast_path_ns"), rows[which].get("fast_path_ns")
    if path is None or reference is None:
        return None
    ratio = path / reference - 0.10  # a tenth is within the luck of the mapping
    return max(1, math.ceil(ratio))


def dividers(unit: Rows, kinds: dict[str, Rows]) -> tuple[int | None, dict[str, int | None]]:
    """Of the unit and of each kind. The paths are those without the coalescer where the unit names its own."""
    which = "added" if "added" in unit else "whole"
    return divider(unit, which, kinds), {name: divider(rows, which, kinds) for name, rows in kinds.items()}
