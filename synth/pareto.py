#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws lanes per cycle and worst path against transistors: our units, the adders of others, ARC's figure.

    synth/pareto.py [--json F]... [--output DIR]

Transistors of our units come from synth/baseline.json, or from the last --json that has them. The second
panel shows ASAP7 paths: those of others.json, and ours from a --json that scripts/synth.sh wrote with ASAP7;
without one our units are left out there. Writes pareto.png and pareto.csv into DIR (default: out/).
"""

import argparse
import csv
import json
import sys
from pathlib import Path

import synth
from synth import BadInput

OTHERS = synth.SYNTH / "others.json"


def read_json(path):
    try:
        return json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise BadInput(f"cannot read {path}: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise BadInput(f"{path} is not JSON") from error


def points(results, others):
    """Rows of the picture: design, ours, lanes (values) per cycle, transistors, ASAP7 path or None."""
    rows = []
    for kind in synth.KINDS:
        name = synth.kind_rows(kind)[0].name  # what ARC adds
        transistors, path = None, None
        for result in results:
            for row in result["rows"]:
                if row["top"] == name:
                    transistors = row["transistors"]
                    if result["liberty"] and "asap7" in result["liberty"]["library"].lower():
                        path = min(row["path_ns"], row["fast_path_ns"])
        if transistors is not None:
            rows.append({"design": f"Warpfold {kind.name} unit", "ours": True, "lanes_per_cycle": kind.lanes_per_cycle,
                         "transistors": transistors, "asap7_path_ns": path})
    for other in others["designs"]:
        # A combinational adder takes one value in each cycle of a clock that is slow enough.
        rows.append({"design": other["design"], "ours": False, "lanes_per_cycle": other["results_per_cycle"] or 1,
                     "transistors": other["transistors"], "asap7_path_ns": other["asap7_path_ns"]})
    return rows


def spread(values, gap):
    """Positions near `values`, in their order, at least `gap` apart."""
    order = sorted(range(len(values)), key=lambda i: values[i])
    places = list(values)
    for _ in range(500):
        for low, high in zip(order, order[1:]):
            push = (gap - (places[high] - places[low])) / 2
            if push > 0:
                places[low] -= push
                places[high] += push
    return places


def draw(rows, paper, output):
    try:
        import matplotlib
        matplotlib.use("Agg")
        from matplotlib import pyplot
    except ImportError as error:
        raise BadInput(f"this Python, {sys.executable}, has no matplotlib ({error}); Debian's package "
                       "python3-matplotlib is for /usr/bin/python3") from error
    figure, panels = pyplot.subplots(2, 1, figsize=(10, 11), layout="constrained", height_ratios=(1, 1.5))
    mine, theirs = "#c1440e", "#3b6ea5"
    for panel in panels:
        panel.axvline(paper / 1000, color="#777777", linestyle="--", linewidth=1)
        panel.set_xlim(0, paper / 1000 * 1.06)
        panel.set_xlabel("thousand transistors (static CMOS, same script for all)")
        panel.grid(color="#e6e6e6", linewidth=0.8)
        panel.set_axisbelow(True)
        panel.text(paper / 1000 - 0.6, 0.97, "ARC: under 70", rotation=90, ha="right", va="top", color="#555555",
                   transform=panel.get_xaxis_transform())

    # Lanes per cycle: adders share one height, so their names stand in one column, in order of size.
    panel = panels[0]
    most = max(row["lanes_per_cycle"] for row in rows)
    top = most * 1.25 + 2
    panel.set_ylim(0, top)
    panel.set_yticks(range(int(top) + 1))
    panel.set_ylabel("lanes (values) per cycle")
    for row in rows:
        panel.plot(row["transistors"] / 1000, row["lanes_per_cycle"], "o" if not row["ours"] else "D",
                   color=mine if row["ours"] else theirs, markersize=9 if row["ours"] else 6,
                   zorder=4 if row["ours"] else 3)
    for index, row in enumerate(sorted((r for r in rows if r["ours"]), key=lambda r: r["transistors"])):
        panel.annotate(row["design"], (row["transistors"] / 1000, row["lanes_per_cycle"]), (14, 22 + 16 * index),
                       textcoords="offset points", color=mine, weight="bold",
                       arrowprops={"arrowstyle": "-", "color": mine, "linewidth": 0.7, "shrinkB": 5})
    panel.annotate("adders of others: names in the lower panel", (24.4, 1), (30, -22), textcoords="offset points",
                   color=theirs)
    panel.set_title("What ARC adds to a sub-core, without the coalescer, and single FP32 adders", loc="left")

    panel = panels[1]
    timed = [row for row in rows if row["asap7_path_ns"] is not None]
    panel.set_ylim(0, max(row["asap7_path_ns"] for row in timed) * 1.12)
    panel.set_ylabel("worst path, ns (ASAP7, ideal clock, no wires)")
    panel.axhline(0.446, color="#777777", linestyle=":", linewidth=1)
    # At the left and below the line, where no design is and no name is put.
    panel.text(0.6, 0.43, "one clock at 2.24 GHz", va="top", color="#555555")
    places = spread([row["asap7_path_ns"] for row in timed], panel.get_ylim()[1] / 26)
    for row, place in zip(timed, places):
        color = mine if row["ours"] else theirs
        x, y = row["transistors"] / 1000, row["asap7_path_ns"]
        panel.plot(x, y, "D" if row["ours"] else "o", color=color, markersize=9 if row["ours"] else 6,
                   zorder=4 if row["ours"] else 3)
        panel.annotate(row["design"], (x, y), (max(27, x + 2), place), va="center", color=color,
                       weight="bold" if row["ours"] else "normal",
                       bbox={"facecolor": "white", "edgecolor": "none", "pad": 1},
                       arrowprops={"arrowstyle": "-", "color": color, "linewidth": 0.5, "shrinkA": 1, "shrinkB": 4})
    figure.savefig(output, dpi=130)


def main(argv):
    parser = synth.Parser(prog="synth/pareto.py", allow_abbrev=False, description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="append", default=[], metavar="FILE", help="result of scripts/synth.sh")
    parser.add_argument("--output", metavar="DIR", default="out", help="folder; default: out/")
    arguments = parser.parse_args(argv)
    results, others = [read_json(path) for path in [synth.BASELINE, *arguments.json]], read_json(OTHERS)
    for path, result in zip(arguments.json, results[1:]):
        try:
            points([result], others)
        except (KeyError, TypeError, AttributeError) as error:
            raise BadInput(f"{path} is no result of scripts/synth.sh") from error
    rows = points(results, others)
    folder = Path(arguments.output)
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / "pareto.csv", "w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    draw(rows, others["arc_transistors_below"], folder / "pareto.png")
    print(f"{folder / 'pareto.png'}, {folder / 'pareto.csv'}: {len(rows)} designs")
    return 0


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    synth.exit_with(main, "pareto.py")
