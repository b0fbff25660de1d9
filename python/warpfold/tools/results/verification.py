# SPDX-License-Identifier: Apache-2.0
"""What ran to verify the units: docs/numbers/verification.json, made from what the checks print, and the table of
docs/verification.md.

An entry holds for the sources that it was made with: a digest of them stands beside the verdict. Where they have changed,
it counts as not run.
"""

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ..base.errors import BadInput
from ..base.places import RTL
from . import store
from .family import EVERY, Member
from .store import ROOT, Document
from .text import Table

NAME = "verification"
FORMAL = ROOT / "tb/formal"
# Of the files there that belong to a module, the ends of their names.
ROLES = ("", "_proof", "_any", "_dut", "_exact")
# A check, and how a line of what it prints reads.
LINES = {
    "proofs": re.compile(r"^(?P<name>[a-z_]+) +(?P<verdict>proved|FAILED) +(?P<what>.+?)(?:, \d+ s)?$"),
    "bugs": re.compile(r"^(?P<name>[a-z0-9_]+) +(?P<verdict>killed|SURVIVED|STALE|BROKEN)\b *(?P<what>.*)$"),
    "mutants": re.compile(
        r"^(?P<name>[a-z0-9_-]+) +(?P<of>\d+) +(?P<killed>\d+) +(?P<equivalent>\d+) +(?P<survived>\d+) +\d+\b"
    ),
    "netlists": re.compile(
        r"^(?P<name>arc_(?:unit|subcore)_\w+ +(?:gates|small|fast|fast_too)) +(?P<verdict>proved|FAILED) +(?P<what>.+), \d+ s$"
    ),
    "lockstep": re.compile(
        r"Test +#\d+: (?P<name>(?:lockstep|systemc)\S*) \.+ *(?P<verdict>Passed|\*\*\*Failed|\*\*\*Timeout)"
    ),
}


HOLDS = ("proved", "killed", "Passed")

# Proofs that a unit rests on: of the coalescer, of its scheduler, datapath, numbers and words. Then those by induction of what
# its ports promise.
COALESCER = ("lane_picker", "addr_compare", "addr_match", "group_pays")
STAGED = ("addr_match_staged", "staged_compare", "staged_whole")
SCHEDULER = {"greedy": ("scheduler",), "reduce-groups": ("scheduler_groups", "congestion")}
SUMS = {
    ("serial", "f32"): ("adder_flush",),
    ("serial", "f16x2"): ("adder_half_flush",),
    ("paired", "f32"): ("fast_adder", "paired_align", "paired_sum", "paired_round"),
    ("fused", "f32"): ("fast_adder", "bin_max", "count_row", "fused_align", "fused_sum", "fused_round"),
}
CONTRACT = {
    ("serial", "f32"): ("reduction_serial", "serial_progress"),
    ("serial", "f16x2"): ("halves_serial",),
    ("paired", "f32"): ("paired_control",),
    ("fused", "f32"): ("fused_control",),
}
COLUMNS = (
    "lockstep",
    "proofs of modules",
    "contract by induction",
    "planted bugs",
    "mutants",
    "netlist equals RTL",
    "layout",
    "FPGA",
)
# What arc_unit is not made of.
IN_FRONT_OF_UNITS = ("arc_subcore", "arc_addr_match", "arc_addr_match_staged", "arc_group_pays")
# In files that are a unit's own; the others are of all.
BUG_FILES = ("serial", "paired", "fused")


def digest_of(paths: Sequence[Path]) -> str:
    content = hashlib.sha256()
    for path in sorted(paths):
        content.update(path.name.encode() + b"\0" + path.read_bytes())
    return content.hexdigest()[:12]


class Sources:
    """Digests of what an entry holds for."""

    def __init__(self, rtl: Path = RTL, formal: Path = FORMAL, script: Path = ROOT / "scripts/prove.sh") -> None:
        self.rtl = rtl
        self.all = digest_of(list(rtl.glob("*.sv")))
        self.units = digest_of([path for path in rtl.glob("*.sv") if path.stem not in IN_FRONT_OF_UNITS])
        self.formal = formal
        self.files: dict[str, list[str]] = {}
        for line in script.read_text(encoding="utf-8").splitlines():
            cells = [cell.strip() for cell in line.split("|")]
            if len(cells) == 7 and cells[2] in ("abc", "comb", "induct", "cec", "open"):
                self.files[cells[0]] = [cells[3], *cells[4].split()]

    def digest(self, check: str, name: str) -> str:
        """Of the RTL; of a proof and of the netlist of a unit without a coalescer, of the files that it reads alone."""
        if check == "netlists" and name.startswith("arc_unit_"):
            return self.units
        if check != "proofs":
            return self.all
        names = self.files.get(name, [])
        roles = [(one, role) for one in names for role in ROLES]
        paths = [self.rtl / f"{one}.sv" for one in names]
        paths += [self.formal / f"{one}{role}.sv" for one, role in roles]
        return digest_of([path for path in dict.fromkeys([*paths, self.rtl / "arc_pkg.sv"]) if path.is_file()])


def read_log(check: str, text: str) -> Iterator[tuple[str, bool, str]]:
    """(name, whether it holds, what was said) of the lines of a check."""
    for line in text.splitlines():
        match = LINES[check].search(line)
        if match is None:
            continue
        found = match.groupdict()
        if check == "mutants":
            name = found["name"].replace("-", "_")  # as rows have it
            yield name, found["survived"] == "0", f"{found['of']} mutants, {found['equivalent']} equivalent"
        else:
            yield " ".join(found["name"].split()), found["verdict"] in HOLDS, (found.get("what") or "").strip()


def bring_in(folder: Path, document: Document | None, commit: str, date: str, sources: Sources) -> Document:
    """The document with what the logs CHECK.log of a folder say."""
    checks: dict[str, dict[str, Any]] = {name: dict((document or {}).get("checks", {}).get(name, {})) for name in LINES}
    logs = [(check, folder / f"{check}.log") for check in LINES if (folder / f"{check}.log").is_file()]
    if not logs:
        raise BadInput(f"{folder}: no {' or '.join(f'{check}.log' for check in LINES)}")
    for check, path in logs:
        found = list(read_log(check, path.read_text(encoding="utf-8", errors="replace")))
        if not found:
            raise BadInput(f"{path}: no line of a verdict")
        for name, holds, what in found:
            checks[check][name] = [int(holds), what, sources.digest(check, name), commit, date]
    return {"checks": {name: dict(sorted(entries.items())) for name, entries in checks.items()}}


def state(holding: int, of: int) -> str:
    """What a cell says."""
    if holding == of and of:
        return f"green, {of}"
    return f"partial, {holding} of {of}" if holding else "open"


class Verification:
    """The entries that hold for the sources as they are."""

    def __init__(self, document: Document, sources: Sources, gates: Mapping[str, Any], layouts: Document) -> None:
        self.document, self.gates, self.layouts = document, gates, layouts
        self.entries: dict[str, dict[str, list[Any]]] = {
            check: {name: entry for name, entry in found.items() if entry[2] == sources.digest(check, name)}
            for check, found in document["checks"].items()
        }

    def of(self, check: str, names: Sequence[str]) -> str:
        entries = self.entries[check]
        return state(sum(bool(entries[name][0]) for name in names if name in entries), len(names))

    def lockstep(self, row: Member) -> str:
        """Tests whose name ends with that of the unit."""
        mine = [name for name in self.entries["lockstep"] if re.search(rf"[/_]{row.row}$", name)]
        return self.of("lockstep", mine)

    def bugs(self, row: Member) -> str:
        """All of the units' modules; those of other datapaths apart."""
        others = [name for name in BUG_FILES if name != row.unit.datapath]
        known = self.document["checks"]["bugs"]
        return self.of("bugs", [name for name, entry in known.items() if not any(other in name for other in others)])

    def netlists(self, row: Member) -> str:
        """Those that were proved, with the coalescer or without it: then the same, whichever stands in front."""
        tops = (row.unit_row, f"arc_subcore_{row.row}")
        return self.of("netlists", [name for name in self.entries["netlists"] if name.split()[0] in tops])

    def layout(self, row: Member) -> tuple[str, str]:
        """Of the datapath: laid out without violations, and mapped to an FPGA; with the gates that it has now, or earlier ones."""
        top = f"arc_reduction_{row.unit.datapath}"
        if row.unit.adds != "f32":  # the halves have not been laid out
            return "open", "open"
        laid_out = {one["top"]: one for one in self.layouts["rows"] if not one["drc"] and not one["lvs"]}
        if top not in laid_out:
            return "open", "open"
        now = "green, 1" if laid_out[top]["transistors"] == self.gates.get(top) else "earlier gates"
        return now, now if any(one["top"] == top for one in self.layouts["fpga"]) else "open"

    def rows(self) -> Table:
        found = []
        for row in EVERY:
            which = (row.unit.datapath, row.unit.adds)
            modules = [
                *(STAGED if row.unit.coalescer == "staged" else COALESCER),
                *SCHEDULER[row.scheduler],
                *SUMS[which],
            ]
            modules += ["word_sequencer"] if row.unit.words > 1 else []
            found.append(
                [
                    row.name,
                    self.lockstep(row),
                    self.of("proofs", modules),
                    self.of("proofs", CONTRACT[which]),
                    self.bugs(row),
                    self.of("mutants", [row.row]),
                    self.netlists(row),
                    *self.layout(row),
                ]
            )
        return ["unit", *COLUMNS], found

    def runs(self) -> Table:
        """What the cells are made from: by check, commit and date, how many entries hold for the sources as they are."""
        found = []
        for check, entries in self.document["checks"].items():
            for commit, date in sorted({(entry[3], entry[4]) for entry in entries.values()}):
                mine = [name for name, entry in entries.items() if (entry[3], entry[4]) == (commit, date)]
                found.append(
                    [check, commit, date, str(len(mine)), str(sum(name in self.entries[check] for name in mine))]
                )
        return ["check", "commit", "date", "entries", "of the sources as they are"], found
