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

CELL, ROW, LEFT, TOP = 34, 30, 118, 34  # pixels: a cycle, a signal, labels, heading
COLOURS = ["#4e79a7", "#59a14f", "#e6842a"]  # of the three requests
NAMES = "ABC"


def lanes_text(mask):
    """Lane numbers of a mask, runs shortened: 0-3."""
    lanes = [lane for lane in range(32) if mask >> lane & 1]
    if len(lanes) > 1 and lanes == list(range(lanes[0], lanes[-1] + 1)):
        return f"{lanes[0]}-{lanes[-1]}"
    return ",".join(str(lane) for lane in lanes)


class Picture:
    """SVG text, top to bottom."""

    def __init__(self, cycles, rows, title):
        self.width = LEFT + CELL * cycles + 12
        self.height = TOP + ROW * rows + 26
        self.parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{self.width}" height="{self.height}" '
                      f'font-family="sans-serif" font-size="12">',
                      '<rect width="100%" height="100%" fill="white"/>',
                      f'<text x="8" y="20" font-weight="bold">{title}</text>']
        for cycle in range(cycles + 1):
            x = LEFT + CELL * cycle
            self.parts.append(f'<path d="M{x} {TOP}V{TOP + ROW * rows}" stroke="#ddd"/>')
            if cycle < cycles:
                self.text(x + CELL / 2, TOP + ROW * rows + 16, str(cycle), "#777")
        self.text(LEFT - 8, TOP + ROW * rows + 16, "cycle", "#777", "end")

    def text(self, x, y, text, colour="black", anchor="middle", size=12):
        self.parts.append(f'<text x="{x:g}" y="{y:g}" fill="{colour}" text-anchor="{anchor}" '
                          f'font-size="{size}">{text}</text>')

    def label(self, row, name):
        self.text(LEFT - 8, TOP + ROW * row + 20, name, anchor="end")

    def level(self, row, values):
        """A signal of one bit."""
        low, high = TOP + ROW * row + 24, TOP + ROW * row + 8
        path, before = "", None
        for cycle, value in enumerate(values):
            y = high if value else low
            path += f"M{LEFT} {y}" if before is None else (f"V{y}" if y != before else "")
            path += f"H{LEFT + CELL * (cycle + 1)}"
            before = y
        self.parts.append(f'<path d="{path}" fill="none" stroke="black" stroke-width="1.4"/>')

    def boxes(self, row, values):
        """(request, text) or None in each cycle; neighbours that are alike are one box."""
        start = 0
        for cycle in range(1, len(values) + 1):
            if cycle < len(values) and values[cycle] == values[start]:
                continue
            if values[start] is not None:
                request, text = values[start]
                x, width = LEFT + CELL * start + 1, CELL * (cycle - start) - 2
                self.parts.append(f'<rect x="{x}" y="{TOP + ROW * row + 5}" width="{width}" height="20" rx="3" '
                                  f'fill="{COLOURS[request]}"/>')
                size = 12 if len(text) * 7 <= width else 8
                self.text(x + width / 2, TOP + ROW * row + 19, text, "white", size=size)
            start = cycle

    def svg(self):
        return "\n".join([*self.parts, "</svg>", ""])


def draw(text, kind):
    rows = list(csv.DictReader(io.StringIO(text)))
    number = {name: [int(row[name]) for row in rows]
              for name in ("req_ready", "rf_valid", "rf_tag", "lsu_ready", "lsu_valid", "lsu_reduced", "lsu_tag", "busy")}
    picture = Picture(len(rows), 7, f"{kind}: requests A of 8 lanes, B of 12 and C of 2, each to one address")
    requests = [(int(row["request"]), NAMES[int(row["request"])]) if row["request"] else None for row in rows]
    reads = [(tag, lanes_text(int(row["rf_lanes"], 16))) if valid else None
             for row, valid, tag in zip(rows, number["rf_valid"], number["rf_tag"])]
    sent = [(tag, NAMES[tag] if reduced else f"{NAMES[tag]}:RED") if valid else None for valid, reduced, tag
            in zip(number["lsu_valid"], number["lsu_reduced"], number["lsu_tag"])]
    for row, (name, values, paint) in enumerate([
            ("request", requests, picture.boxes), ("req_ready_o", number["req_ready"], picture.level),
            ("rf: lanes read", reads, picture.boxes), ("lsu_ready_i", number["lsu_ready"], picture.level),
            ("lsu: sum, or RED", sent, picture.boxes), ("lsu: taken",
             [a and b for a, b in zip(number["lsu_ready"], number["lsu_valid"])], picture.level),
            ("busy_o", number["busy"], picture.level)]):
        picture.label(row, name)
        paint(row, values)
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
