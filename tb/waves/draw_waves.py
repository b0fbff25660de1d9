#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws what unit_waves prints as a timing diagram, rtl/doc/timing_KIND.svg.

    draw_waves.py UNIT_WAVES KIND SVG           writes the picture
    draw_waves.py UNIT_WAVES KIND SVG --check   exit 1 if the file is not what would be written
"""

import csv
import io
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))

from warpfold.tools.results.plain_colours import light_of, with_plain_colours

WIDTH, ROW, LEFT, TOP, BELOW = 860, 30, 118, 34, 30  # pixels: the picture, a signal, labels, heading, a band's cycles
BAND = 27  # cycles side by side at most; more go on below
NAMES = "ABC"
ROWS = 7
# Dark on light or light on dark, as the reader's browser is set. Requests A, B, C are a, b, c.
STYLE = """\
svg{--ink:#1f2328;--soft:#57606a;--grid:#d0d7de;--on:#ffffff;--a:#3b78c4;--b:#3f8f5a;--c:#c2570c}
@media (prefers-color-scheme:dark){svg{--ink:#e6edf3;--soft:#9da7b3;--grid:#30363d;--on:#0d1117;--a:#5a9bea;--b:#57ab72;
--c:#f0883e}}
text{font:12px system-ui,-apple-system,"Segoe UI",Roboto,"DejaVu Sans",sans-serif;fill:var(--ink)}
.h{font-size:14px;font-weight:600}.n{font-size:11px;fill:var(--soft)}.w{font-size:11px;font-weight:600;fill:var(--on)}
.g{stroke:var(--grid)}.l{fill:none;stroke:var(--ink);stroke-width:1.4}
.a{fill:var(--a)}.b{fill:var(--b)}.c{fill:var(--c)}
"""


def lanes_text(mask):
    """Lane numbers of a mask, runs shortened: 0-3."""
    lanes = [lane for lane in range(32) if mask >> lane & 1]
    if len(lanes) > 1 and lanes == list(range(lanes[0], lanes[-1] + 1)):
        return f"{lanes[0]}-{lanes[-1]}"
    return ",".join(str(lane) for lane in lanes)


class Picture:
    """SVG text, in bands of cycles from top to bottom."""

    def __init__(self, cycles, title):
        band = self.band(cycles)
        self.bands = [range(begin, min(begin + band, cycles)) for begin in range(0, cycles, band)]
        self.cell = (WIDTH - LEFT - 12) / band
        self.band_height = ROW * ROWS + BELOW
        height = TOP + self.band_height * len(self.bands)
        self.parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" '
                      f'viewBox="0 0 {WIDTH} {height}" role="img" aria-labelledby="t">',
                      f'<title id="t">{title}</title>', f"<style>{STYLE}</style>"]
        self.text(8, 20, title, "h", "start")
        for number, band in enumerate(self.bands):
            top = TOP + self.band_height * number
            for cycle in range(len(band) + 1):
                x = LEFT + self.cell * cycle
                self.parts.append(f'<path class="g" d="M{x:g} {top}V{top + ROW * ROWS}"/>')
                if cycle < len(band):
                    self.text(x + self.cell / 2, top + ROW * ROWS + 16, str(band[cycle]), "n")
            self.text(LEFT - 8, top + ROW * ROWS + 16, "cycle", "n", "end")

    @staticmethod
    def band(cycles):
        """Cycles of a band: as many in each."""
        return -(-cycles // -(-cycles // BAND))

    def text(self, x, y, text, kind="", anchor="middle"):
        attributes = f' class="{kind}"' if kind else ""
        self.parts.append(f'<text x="{x:g}" y="{y:g}"{attributes} text-anchor="{anchor}">{text}</text>')

    def row(self, row, name, values, paint):
        for number, band in enumerate(self.bands):
            top = TOP + self.band_height * number + ROW * row
            self.text(LEFT - 8, top + 20, name, anchor="end")
            paint(top, [values[cycle] for cycle in band])

    def level(self, top, values):
        """A signal of one bit."""
        path, before = "", None
        for cycle, value in enumerate(values):
            y = top + (8 if value else 24)
            path += f"M{LEFT} {y}" if before is None else (f"V{y}" if y != before else "")
            path += f"H{LEFT + self.cell * (cycle + 1):g}"
            before = y
        self.parts.append(f'<path class="l" d="{path}"/>')

    def boxes(self, top, values):
        """(request, text) or None in each cycle; neighbours that are alike are one box."""
        start = 0
        for cycle in range(1, len(values) + 1):
            if cycle < len(values) and values[cycle] == values[start]:
                continue
            if values[start] is not None:
                request, text = values[start]
                x, width = LEFT + self.cell * start + 1, self.cell * (cycle - start) - 2
                self.parts.append(f'<rect class="{NAMES[request].lower()}" x="{x:g}" y="{top + 5}" width="{width:g}" '
                                  f'height="20" rx="3"/>')
                self.text(x + width / 2, top + 19, text, "w")
            start = cycle

    def svg(self):
        return with_plain_colours("\n".join([*self.parts, "</svg>", ""]), light_of(STYLE))


def draw(text, kind):
    rows = list(csv.DictReader(io.StringIO(text)))
    number = {name: [int(row[name]) for row in rows]
              for name in ("req_ready", "rf_valid", "rf_tag", "lsu_room", "lsu_valid", "lsu_reduced", "lsu_tag", "busy")}
    words = max(int(row["lsu_word"]) for row in rows) + 1
    each = f"{words} words each, " if words > 1 else "each "
    picture = Picture(len(rows), f"{kind}: requests A of 8 lanes, B of 12 and C of 2, {each}to one address")
    requests = [(int(row["request"]), NAMES[int(row["request"])]) if row["request"] else None for row in rows]
    reads = [(tag, lanes_text(int(row["rf_lanes"], 16))) if valid else None
             for row, valid, tag in zip(rows, number["rf_valid"], number["rf_tag"])]
    sent = [(tag, NAMES[tag] + (row["lsu_word"] if words > 1 else "") if reduced else "RED") if valid else None
            for row, valid, reduced, tag in zip(rows, number["lsu_valid"], number["lsu_reduced"], number["lsu_tag"])]
    for row, (name, values, paint) in enumerate([
            ("request", requests, picture.boxes), ("req_ready_o", number["req_ready"], picture.level),
            ("rf: lanes read", reads, picture.boxes), ("lsu_room_i", number["lsu_room"], picture.level),
            ("lsu: sum, or RED", sent, picture.boxes), ("lsu: taken",
             [a and b for a, b in zip(number["lsu_room"], number["lsu_valid"])], picture.level),
            ("busy_o", number["busy"], picture.level)]):
        picture.row(row, name, values, paint)
    return picture.svg()


def main(arguments):
    if len(arguments) not in (3, 4) or arguments[3:] not in ([], ["--check"]):
        print(__doc__, file=sys.stderr)
        return 2
    program, kind, path = arguments[:3]
    text = subprocess.run([program, kind], check=True, stdout=subprocess.PIPE, text=True).stdout
    picture = draw(text, kind)
    if arguments[3:]:
        if not Path(path).exists() or Path(path).read_text(encoding="utf-8") != picture:
            print(f"draw_waves: {path} does not show what the unit does now; draw it again", file=sys.stderr)
            return 1
        return 0
    Path(path).write_text(picture, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
