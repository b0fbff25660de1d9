# SPDX-License-Identifier: Apache-2.0
"""Transistors, area and worst path of a unit, beside the kinds that are built in."""

import argparse
import hashlib
import json
import re
from pathlib import Path

from ..base import whole_file
from ..synth import synth
from .build import ROOT
from .unit import BadInput, ToolFailed, fingerprint, stage


# The kind that keeps the GPU's clock, and of what divides it: paths are compared with its path.
CLOCK_KIND = "pipelined"
FIGURES = ("transistors", "flops", "area", "path_ns", "fast_area", "fast_path_ns")


def rows_of(unit):
    """The whole unit, and the same without the coalescer that it names."""
    name = re.sub(r"\W", "_", unit.name)
    chparam = " -chparam ".join(f"{key} {value}" for key, value in unit.parameters.items())
    rows = {"whole": synth.Top(name, unit.top, chparam, foreign=True)}
    if unit.coalescer:
        rows["added"] = synth.Top(f"{name}_without_{unit.coalescer}", unit.top, chparam, unit.coalescer, foreign=True)
    return rows


def builtin_rows(kind):
    added, whole = synth.kind_rows(kind)
    return {"whole": whole, "added": added}


def builtin_key():
    """A hash of the project's own RTL."""
    return hashlib.sha256(b"".join(path.read_bytes() for path in sorted((ROOT / "rtl").glob("*.sv")))).hexdigest()


def accepted(library_hash, transistors_only):
    """Rows of synth/baseline.json by name, where they are of the same library."""
    baseline = json.loads(synth.BASELINE.read_text(encoding="utf-8"))
    if not transistors_only and baseline["liberty"]["sha256"] != library_hash:
        return {}
    return {row["top"]: row for row in baseline["rows"]}


def figures(row, transistors_only):
    keys = FIGURES[:2] if transistors_only else FIGURES
    return {key: row[key] for key in keys if key in row}


class Costs:
    """Figures of units in one library, each made once and kept in a folder."""

    def __init__(self, liberty, transistors_only, work, cache):
        self.transistors_only = transistors_only
        self.work, self.cache = work, cache
        self.library = self.unit_ns = self.description = None
        self.rows = {}
        work.mkdir(parents=True, exist_ok=True)
        cache.mkdir(parents=True, exist_ok=True)
        try:
            synth.need_tools(transistors_only)
            if not transistors_only:
                self.library, self.unit_ns, self.description = synth.prepare_liberty(
                    argparse.Namespace(liberty=liberty), work
                )
        except synth.BadInput as error:
            raise BadInput(str(error)) from error
        self.hash = self.description["sha256"] if self.description else "none"

    def figures(self, top, rtl, key):
        """Of one row; key: what its RTL is, as a hash."""
        digest = hashlib.sha256(f"{key} {top} {self.hash} {Path(synth.__file__).read_text(encoding='utf-8')}".encode())
        kept = self.cache / f"costs-{digest.hexdigest()[:16]}.json"
        if kept.is_file():
            return json.loads(kept.read_text(encoding="utf-8"))
        try:
            row = self.synthesized(top, rtl)
        except synth.ToolFailed as error:
            raise ToolFailed(str(error)) from error
        result = figures(row, self.transistors_only)
        whole_file.write(kept, json.dumps(result) + "\n")
        return result

    def synthesized(self, top, rtl):
        """A row of scripts/synth.sh, whose netlists lie in the work folder then."""
        if top not in self.rows:
            self.rows[top] = synth.synthesize(top, rtl, self.library, self.unit_ns, self.work, False)
        return self.rows[top]

    def rtl_of(self, unit):
        return stage(unit, self.work / "rtl")

    def of_unit(self, unit):
        rtl = self.rtl_of(unit)
        return {which: self.figures(top, rtl, fingerprint(unit)) for which, top in rows_of(unit).items()}

    def of_kinds(self, names):
        known = accepted(self.hash, self.transistors_only)
        key = builtin_key()
        result = {}
        for kind in (kind for kind in synth.KINDS if kind.name in names):
            result[kind.name] = {
                which: (
                    figures(known[top.name], self.transistors_only)
                    if top.name in known
                    else self.figures(top, ROOT / "rtl", key)
                )
                for which, top in builtin_rows(kind).items()
            }
        return result


def divider(unit_costs, kind_costs):
    """Cycles of the GPU in one of the unit: as many as its path is longer than that of the kind that keeps the clock."""
    which = "added" if "added" in unit_costs else "whole"
    reference = kind_costs[CLOCK_KIND][which]
    path = unit_costs[which].get("fast_path_ns")
    if path is None or "fast_path_ns" not in reference:
        return None
    ratio = path / reference["fast_path_ns"]
    return max(1, -int(-(ratio - 0.10) // 1))  # a tenth is within the luck of the mapping
