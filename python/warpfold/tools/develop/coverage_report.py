# SPDX-License-Identifier: Apache-2.0
"""Table of the RTL's coverage from the files that scripts/coverage.sh merged; see there."""

import argparse
import collections
import re
from pathlib import Path

from ..base.errors import BadInput
from ..base.parser import Parser
from ..base.places import sources

ROOT = sources()
WAIVERS = ROOT / "tb" / "coverage_waivers.txt"

# (file, type, place, object) of a point.
Key = tuple[str, str, tuple[int, int], str]
# File, what, part of the source line, reason.
Waiver = tuple[str, str, str, str]


def read_points(path: Path) -> dict[Key, tuple[set[int], int]]:
    """{(file, type, place, object): (lines, count)}; instances of a module are added up."""
    points: dict[Key, tuple[set[int], int]] = {}
    for text in path.read_text().splitlines():
        match = re.fullmatch(r"C '(.*)' (\d+)", text)
        if not match:
            continue
        field = dict(part.split("\x02", 1) for part in match[1].split("\x01") if part)
        kind = field["page"].split("/")[0].removeprefix("v_")
        lines: set[int] = set()
        for part in filter(None, field.get("S", "").split(",")):
            first, _, last = part.partition("-")
            lines.update(range(int(first), int(last or first) + 1))
        key = (Path(field["f"]).name, kind, (int(field["l"]), int(field["n"])), field["o"])
        lines |= points.get(key, (set(), 0))[0]
        points[key] = (lines, points.get(key, (set(), 0))[1] + int(match[2]))
    return points


def read_waivers() -> list[Waiver]:
    """[(file, what, part of the source line, reason)]"""
    waivers: list[Waiver] = []
    for text in WAIVERS.read_text().splitlines():
        if text and not text.startswith("#"):
            fields = [field.strip() for field in text.split(" | ")]
            if len(fields) != 4 or not all(fields):
                raise BadInput(f"{WAIVERS.name}: not `file | what | source | reason`: {text}")
            file, what, source, reason = fields
            waivers.append((file, what, source, reason))
    return waivers


def options(parser: Parser) -> None:
    parser.add_argument("folder", metavar="FOLDER", type=Path, help="Of the merged files")
    parser.add_argument("kinds", metavar="KIND", nargs="+", help="Kinds of units that are in it")
    parser.add_argument("--toggles", action="store_true", help="List signals that do not toggle, too")


def run(arguments: argparse.Namespace) -> int:
    folder = arguments.folder
    waivers = read_waivers()
    used: set[Waiver] = set()
    failed = False

    def hole(name: str, what: str, line: int) -> str:
        """Prints one hole, once for all kinds that have it; explained or not."""
        nonlocal failed
        source = (ROOT / "rtl" / name).read_text().splitlines()[line - 1].strip()
        for waiver in waivers:
            if waiver[:2] == (name, what) and waiver[2] in source:
                used.add(waiver)
                return f"explained    {name}:{line}: {what}: {source}  ({waiver[3]})"
        failed = True
        return f"NOT REACHED  {name}:{line}: {what}: {source}"

    rows = []
    holes = []
    quiet: collections.Counter[str] = collections.Counter()
    for kind in arguments.kinds:
        files = sorted({key[0] for key in read_points(folder / f"{kind}.own")})
        points = read_points(folder / f"{kind}.dat")
        for name in files:
            reached: dict[int, int] = collections.defaultdict(int)  # by line
            hits: collections.Counter[str] = collections.Counter()
            totals: collections.Counter[str] = collections.Counter()
            for (file, what, place, item), (lines, count) in sorted(points.items()):
                if file != name:
                    continue
                if what != "toggle":
                    for line in lines:
                        reached[line] += count
                if what != "line":
                    totals[what] += 1
                    hits[what] += count > 0
                    if count == 0 and what == "branch":
                        holes.append(hole(name, item, place[0]))
                    elif count == 0:
                        quiet[f"{name}:{place[0]}: {item}"] += 1
            for line in sorted(reached):
                if reached[line] == 0:
                    holes.append(hole(name, "line", line))
            totals["line"] = len(reached)
            hits["line"] = sum(count > 0 for count in reached.values())
            rows.append((kind, name.removesuffix(".sv"), hits, totals))

    print(f"{'kind':10} {'module':24} {'lines':>9} {'branches':>9} {'toggles':>11}")
    for kind, module, hits, totals in rows:
        cells = {what: f"{hits[what]}/{totals[what]}" if totals[what] else "-" for what in ("line", "branch", "toggle")}
        print(f"{kind:10} {module:24} {cells['line']:>9} {cells['branch']:>9} {cells['toggle']:>11}")
    for text in dict.fromkeys(holes):
        print(text)
    if arguments.toggles:
        for text in sorted(quiet):
            print(f"no toggle    {text}")
    for waiver in waivers:
        if waiver not in used:
            failed = True
            print(f"OUT OF DATE  {WAIVERS.name}: {' | '.join(waiver)}")
    return 1 if failed else 0
