# SPDX-License-Identifier: Apache-2.0
"""Writes a scene of random Gaussians, and a view of it, for those who have none at hand: the same on every machine.

random-scene FOLDER    writes random.splat and cameras.json there (view "random")
"""

import argparse
import json
import random
import struct
from pathlib import Path

from ..base.parser import Parser

GAUSSIANS = 80_000
VIEW = {"width": 980, "height": 546, "fov_x": 60, "eye": [0, 0, 0], "target": [0, 0, 5], "up": [0, -1, 0]}


def record(draw: random.Random) -> bytes:
    """A Gaussian of a .splat file: position, scale, colour with opacity, rotation."""
    position = draw.uniform(-3, 3), draw.uniform(-1.7, 1.7), draw.uniform(3, 7)
    size = draw.lognormvariate(-4.0, 0.6)
    scale = [size * draw.lognormvariate(0, 0.5) for _ in range(3)]
    colour = [draw.randrange(256) for _ in range(3)] + [draw.randrange(40, 256)]
    rotation = [draw.gauss(0, 1) for _ in range(4)]
    length = sum(x * x for x in rotation) ** 0.5
    return struct.pack("<6f8B", *position, *scale, *colour, *(round(x / length * 127) + 128 for x in rotation))


def write(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    draw = random.Random(2025)
    (folder / "random.splat").write_bytes(b"".join(record(draw) for _ in range(GAUSSIANS)))
    (folder / "cameras.json").write_text(
        json.dumps({"scenes": {"random": {"file": "random.splat", **VIEW}}}) + "\n", encoding="utf-8"
    )


def options(parser: Parser) -> None:
    parser.add_argument("folder", metavar="FOLDER", type=Path, help="Where they go")


def run(arguments: argparse.Namespace) -> int:
    write(arguments.folder)
    return 0
