# SPDX-License-Identifier: Apache-2.0
"""Draws the block diagrams of the pages: the GPU model, the unit, the data path of the project, and a figure for each
section of docs/model.md. The same text every time."""

import argparse
from pathlib import Path

from ..base import files
from ..base.errors import BadInput
from ..base.parser import Parser
from ..base.places import sources
from . import diagrams_model
from .diagram_parts import Picture


# ---- the whole GPU ----------------------------------------------------------------------------------


def draw_subcore(p: Picture, x: float, index: int) -> None:
    """A column of the SM: warps, issue, unit, memory queue."""
    p.text(x + 52, 124, f"sub-core {index}", "b")
    p.rect(x, 132, 104, 34, "box")
    for slot in range(8):
        p.rect(x + 8 + slot * 11.2, 140, 8, 18, "c1" if slot < 6 else "c0", 2)
    p.arrow((x + 52, 166), (x + 52, 182))
    p.box(x, 182, 104, 28, "issue")
    p.arrow((x + 13, 210), (x + 13, 286))
    p.arrow((x + 64, 210), (x + 64, 226), kind="au")
    p.box(x + 28, 226, 76, 40, "ARC unit", kind="unit")
    p.arrow((x + 64, 266), (x + 64, 286), kind="au")
    p.queue(x, 286, 104, 20, 8, 5)
    p.arrow((x + 52, 306), (x + 52, 346))


def draw_l2_port(p: Picture, x: float) -> None:
    """One port of the L2 with its two slices."""
    p.rect(588, 80, 256, 318, "group", 9)
    p.left(600, 100, "L2", "h")
    p.rect(x, 110, 236, 192, "box")
    p.left(x + 20, 130, "port 0: SMs take turns", "s")
    p.queue(x + 20, 138, 196, 18, 12, 8)
    p.arrow((x + 118, 156), (x + 118, 172))
    p.box(x + 20, 172, 196, 28, "tags")
    for slice_index in range(2):
        left = x + 20 + slice_index * 104
        p.arrow((left + 46, 200), (left + 46, 216))
        p.rect(left, 216, 92, 76, "group")
        p.text(left + 46, 234, f"slice {slice_index}", "b")
        p.box(left + 10, 242, 72, 42, "ROP", "adds")


def draw_gpu() -> Picture:
    p = Picture(
        860,
        560,
        "The GPU model",
        "A dispatcher hands CTAs to SMs. Each SM has four sub-cores with an ARC unit "
        "and a memory queue, a load-store unit, an injection port and, under some policies, an atomic buffer. A "
        "crossbar leads to the ports of the L2, whose slices hold tags and ROPs, with DRAM behind them.",
    )
    p.box(16, 14, 464, 36, "dispatcher: CTAs in launch order, one a cycle")
    p.box(604, 14, 240, 36, "trace.wft, policy")
    p.arrow((604, 32), (480, 32))
    for shift in (12, 6):
        p.rect(16 + shift, 80 + shift, 464, 404, "group", 9)
    p.rect(16, 80, 464, 404, "box", 9)
    p.left(28, 100, "SM", "h")
    p.arrow((248, 50), (248, 80))
    for index in range(4):
        draw_subcore(p, 28 + index * 112, index)
    p.text(136, 329, "memory queue", "s")
    p.box(28, 346, 440, 34, "load-store unit: sub-cores in turn, REDs split by line")
    p.arrow((120, 380), (120, 414), kind="ad")
    p.box(28, 414, 208, 54, "atomic buffer", "lab, lab-ideal, phi", kind="opt")
    p.arrow((236, 441), (268, 441), kind="ad")
    p.text(368, 408, "injection port", "s")
    p.arrow((448, 380), (448, 414))
    p.rect(268, 414, 200, 54, "box")
    p.queue(280, 424, 176, 18, 11, 7)
    p.text(368, 459, "a flit a cycle", "s")
    p.rect(528, 80, 44, 404, "box")
    p.text(554, 282, "crossbar, fixed latency", "b", turned=True)
    p.arrow((468, 441), (528, 441))
    p.arrow((528, 112), (492, 112), kind="ad")
    p.text(510, 104, "loads", "x")
    draw_l2_port(p, 598)
    p.arrow((572, 147), (618, 147))
    for y, name in ((314, "port 1"), (360, "port 47 of an h200")):
        p.rect(598, y, 236, 26, "box")
        p.text(716, y + 17.5, name, "s")
        p.arrow((572, y + 13), (598, y + 13))
    p.text(716, 353, "...", "s")
    p.box(588, 434, 256, 50, "DRAM", "lines that miss, and write-backs")
    p.arrow((716, 434), (716, 398), both=True)
    p.key(
        16,
        530,
        [
            ("unit", "what ARC adds", 140),
            ("queue", "queue with bounded room", 200),
            ("opt", "only under some policies", 200),
            ("c1", "resident warp", 110),
        ],
    )
    return p


# ---- the unit ---------------------------------------------------------------------------------------


def draw_unit_path(p: Picture) -> None:
    p.group(170, 16, 520, 268, "arc_subcore")
    p.box(196, 56, 150, 66, "arc_addr_match", "lanes with one address", "are a transaction")
    p.box(430, 56, 150, 66, "arc_scheduler", "path free: RED", "else: reduce", kind="unit")
    p.arrow((346, 80), (430, 80))
    p.text(388, 73, "txn, left", "p")
    p.rect(196, 160, 384, 104, "unit", 8)
    p.left(208, 180, "reduction unit", "b")
    p.arrow((505, 122), (505, 160), kind="au")
    p.left(512, 146, "reduce", "s")
    p.box(472, 190, 92, 58, "mask", "lanes to read")
    p.box(340, 190, 100, 58, "lane picker", "lowest lane")
    p.arrow((472, 219), (440, 219), kind="au")
    p.box(212, 190, 96, 58, "adder", "sum so far")
    p.box(606, 56, 70, 208, "output", "select:", "a sum", "goes first", kind="unit")
    p.arrow((580, 80), (606, 80))
    p.text(592, 73, "RED", "x")


def draw_unit() -> Picture:
    p = Picture(
        860,
        610,
        "The ARC unit of a sub-core",
        "A request goes to the coalescer, which groups its lanes by "
        "address. The scheduler sends a transaction on as a RED when the LSU path is free and else to the "
        "reduction unit. That reads lanes from the register file, adds them, and sends one sum.",
    )
    draw_unit_path(p)
    p.box(16, 56, 120, 66, "issue stage", "holds the request")
    p.arrow((136, 80), (196, 80))
    p.text(153, 73, "req", "p")
    p.box(724, 56, 120, 66, "memory queue", "then the LSU")
    p.arrow((676, 80), (724, 80))
    p.text(707, 73, "lsu", "p")
    p.arrow((724, 108), (676, 108), kind="ad")
    p.text(784, 140, "lsu_room: not full", "x")
    p.box(196, 318, 384, 40, "register file: operands of the request")
    p.arrow((390, 248), (390, 318))
    p.left(397, 304, "rf_valid, rf_mask, rf_tag", "p")
    p.arrow((260, 318), (260, 248))
    p.text(252, 304, "rf_data, rf_bin", "p", anchor="end")
    p.line((212, 219), (184, 219), (184, 274), (592, 274), kind="au")
    p.arrow((592, 274), (592, 240), (606, 240), kind="au")
    draw_kinds(p, 384)
    return p


def draw_kinds(p: Picture, top: float) -> None:
    """What the reduction unit is with each datapath."""
    p.text(430, top + 8, "three datapaths of the reduction unit", "h")
    for index, (name, note) in enumerate(
        (
            ("serial", "a lane a cycle, one addition a cycle"),
            ("paired", "two lanes a cycle, rounded once"),
            ("fused", "four lanes a cycle, rounded once"),
        )
    ):
        x = 16 + index * 280
        p.rect(x, top + 22, 268, 194, "group", 8)
        p.text(x + 134, top + 44, name, "b")
        p.text(x + 134, top + 204, note, "s")
    y = top + 78
    p.box(36, y, 76, 40, "read", "1 lane")
    p.arrow((112, y + 20), (146, y + 20))
    p.box(146, y, 76, 40, "add", "FP32")
    p.arrow((222, y + 20), (246, y + 20), (246, y + 74), (184, y + 74), (184, y + 40), kind="au")
    p.text(205, y + 92, "sum so far", "x")
    for bank, lanes in enumerate(("even", "odd")):
        p.rect(306, y - 4 + bank * 30, 50, 24, "box", 3)
        p.text(331, y + 12 + bank * 30, lanes, "x")
        p.arrow((356, y + 8 + bank * 30), (372, y + 8 + bank * 30))
    for x, width, lines in (
        (372, 66, ("align", "to the", "largest yet")),
        (452, 50, ("sum", "38 bits")),
        (516, 40, ("round", "once")),
    ):
        p.box(x, y - 14, width, 77, *lines)
    for x in (438, 502):
        p.arrow((x, y + 24), (x + 14, y + 24))
    for bank in range(4):
        p.rect(584, y - 14 + bank * 24, 50, 19, "box", 3)
        p.text(609, y - 0.5 + bank * 24, f"bank {bank}", "x")
        p.arrow((634, y - 4.5 + bank * 24), (650, y - 4.5 + bank * 24))
    for x, width, lines in (
        (650, 60, ("align", "to the", "largest")),
        (724, 50, ("sum", "50 bits")),
        (788, 50, ("round", "once")),
    ):
        p.box(x, y - 14, width, 91, *lines)
    for x in (710, 774):
        p.arrow((x, y + 31), (x + 14, y + 31))


# ---- the project ------------------------------------------------------------------------------------


def draw_flow() -> Picture:
    p = Picture(
        860,
        356,
        "The data path of the project",
        "A CUDA kernel is recorded as a trace. The GPU model replays it "
        "under a policy on a machine and writes results. The unit in the model is the golden one in C++ or the "
        "RTL, verilated. Yosys and OpenSTA measure the RTL.",
    )
    p.box(16, 60, 136, 56, "CUDA kernel", "on a GPU")
    p.arrow((152, 88), (206, 88))
    p.text(179, 80, "record", "x")
    p.box(206, 60, 136, 56, "trace.wft", "events of warps", kind="queue")
    p.arrow((342, 88), (396, 88))
    p.box(396, 40, 180, 96, "GPU model", "SystemC, cycle by cycle", "checks every sum")
    p.arrow((576, 88), (630, 88))
    p.box(630, 60, 214, 56, "results.json", "table, report, timeline", kind="queue")
    p.box(206, 6, 136, 34, "machine.toml")
    p.arrow((342, 23), (430, 23), (430, 40))
    p.box(630, 6, 214, 34, "policy: baseline, arc-hw, ...")
    p.arrow((630, 23), (542, 23), (542, 40))
    p.rect(396, 176, 180, 34, "unit")
    p.text(486, 197.5, "one interface", "b")
    p.arrow((486, 176), (486, 136), kind="au", both=True)
    p.box(206, 250, 136, 56, "RTL", "SystemVerilog", kind="unit")
    p.box(396, 250, 84, 56, "RTL unit", "Verilator")
    p.box(492, 250, 84, 56, "golden", "C++")
    p.arrow((342, 278), (396, 278))
    p.arrow((438, 250), (438, 210))
    p.arrow((534, 250), (534, 210))
    p.arrow((480, 278), (492, 278), both=True)
    p.text(486, 326, "the same ports in every cycle", "x")
    p.arrow((274, 306), (274, 336), (630, 336), kind="a")
    p.text(452, 350, "Yosys, OpenSTA", "x")
    p.box(630, 302, 214, 50, "transistors, area, path", kind="queue")
    p.box(16, 250, 136, 56, "your RTL", "warpfold regress", kind="opt")
    p.arrow((152, 278), (206, 278), kind="ad")
    return p


PICTURES = {"gpu": draw_gpu, "unit": draw_unit, "flow": draw_flow, **diagrams_model.PICTURES}


def draw_all(folder: Path) -> list[Path]:
    """Writes every diagram into the folder and returns their paths."""
    paths = []
    for name, draw in PICTURES.items():
        path = folder / f"{name}.svg"
        files.write(path, draw().svg())
        paths.append(path)
    return paths


def options(parser: Parser) -> None:
    parser.add_argument("folder", nargs="?", type=Path, default=sources() / "docs/pictures", help="Which is there")


def run(arguments: argparse.Namespace) -> int:
    if not arguments.folder.is_dir():
        raise BadInput(f"{arguments.folder}: no such folder")
    draw_all(arguments.folder)
    return 0
