# SPDX-License-Identifier: Apache-2.0
"""Table of the RTL's coverage from the files that scripts/coverage.sh merged; see there.

usage: coverage_report.py FOLDER KIND... [--toggles]
"""
import collections
import pathlib
import re
import sys

from ..base.places import ROOT

WAIVERS = ROOT / "tb" / "coverage_waivers.txt"


def read_points(path):
    """{(file, type, place, object): (lines, count)}; instances of a module are added up."""
    points = {}
    for text in path.read_text().splitlines():
        match = re.fullmatch(r"C '(.*)' (\d+)", text)
        if not match:
            continue
        field = dict(part.split("\x02", 1) for part in match[1].split("\x01") if part)
        kind = field["page"].split("/")[0].removeprefix("v_")
        lines = set()
        for part in filter(None, field.get("S", "").split(",")):
            first, _, last = part.partition("-")
            lines.update(range(int(first), int(last or first) + 1))
        key = (pathlib.Path(field["f"]).name, kind, (int(field["l"]), int(field["n"])), field["o"])
        lines |= points.get(key, (set(), 0))[0]
        points[key] = (lines, points.get(key, (set(), 0))[1] + int(match[2]))
    return points


def read_waivers():
    """[(file, what, part of the source line, reason)]"""
    waivers = []
    for text in WAIVERS.read_text().splitlines():
        if text and not text.startswith("#"):
            fields = [field.strip() for field in text.split(" | ")]
            if len(fields) != 4 or not all(fields):
                sys.exit(f"{WAIVERS.name}: not `file | what | source | reason`: {text}")
            waivers.append(tuple(fields))
    return waivers


def main(folder, kinds, show_toggles):
    waivers = read_waivers()
    used = set()
    failed = False

    def hole(name, what, line):
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
    quiet = collections.Counter()
    for kind in kinds:
        files = sorted({key[0] for key in read_points(folder / f"{kind}.own")})
        points = read_points(folder / f"{kind}.dat")
        for name in files:
            reached = collections.defaultdict(int)  # by line
            hits = collections.Counter()
            totals = collections.Counter()
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
    if show_toggles:
        for text in sorted(quiet):
            print(f"no toggle    {text}")
    for waiver in waivers:
        if waiver not in used:
            failed = True
            print(f"OUT OF DATE  {WAIVERS.name}: {' | '.join(waiver)}")
    return 1 if failed else 0


if __name__ == "__main__":
    names = [name for name in sys.argv[1:] if name != "--toggles"]
    if len(names) < 2:
        sys.exit(__doc__)
    from ..base import guard

    guard.end("coverage_report.py", main, pathlib.Path(names[0]), names[1:], "--toggles" in sys.argv)
