# SPDX-License-Identifier: Apache-2.0
"""Kernels of today and the floor without atomics: which simulations there are, and the tables of docs/worth.md and
docs/numbers/gradient_kernels.md."""

import itertools
import math
import statistics
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from ..base.errors import BadInput
from . import points
from .family import MEMBERS, Member, clock_ghz, member
from .simulated import Simulated
from .store import ROOT, Document
from .text import Table

NAME = "today"
# Trace, GPU, policy, row of the unit; where the policy has none, that of the first.
Run = tuple[str, str, str, str]
SERIAL, WORD, WIDE, STRUCT = "serial", "paired_staged_groups", "fused_staged_groups", "vector_staged"
UNITS = (SERIAL, WORD, WIDE, STRUCT)
# One RED a thread, measured on an H200 with and without its atomics.
FLOOR_ON = "h200"
FLOOR_TRACES = (
    "truck",
    "kitchen",
    "playbot",
    "lacadiere_wall",
    "lacadiere_hall",
    "3D-TA",
    "3D-LE-1K",
    "3D-LE-7K",
    "3D-SH-1K",
    "3D-SH-7K",
)
# Measured on an H100. truck itself is on the list of tiles that the published rasterizer makes.
MACHINES = ("h100", "rtx4090")
KERNELS = {
    "truck": "one RED a thread, the published list of tiles",
    "truck-tight": "the same, tight list",
    "truck-halved": "recursive halving, a RED of nine lanes, tight list",
    "truck-block-reduced": "block reduction, a RED of floats of several structs, tight list",
    "truck-tile-warp": "a warp a tile, gradients in a struct, tight list",
    "truck-tile-warp-halved": "a warp a tile, recursive halving, tight list",
    "truck-per-splat": "per splat, tight list",
    "camera-pose": "gradient of camera poses",
    "camera-pose-halved": "the same, recursive halving, a RED of twelve lanes",
    "embedding-rows": "embedding, a thread a token",
    "embedding": "embedding, a warp a token",
    "hash-grid": "hash grid, two features a level",
}
# What LAB takes of shared memory leaves no room for a CTA.
NO_ROOM = {("truck-block-reduced", "rtx4090", "lab")}
HARDWARE = (*(("arc-hw", row) for row in UNITS), ("arc-merge", STRUCT), ("lab", SERIAL), ("lab-ideal", SERIAL))
HARDWARE_NAMES = (
    *(f"`arc-hw` {member(row).name}" for row in UNITS),
    f"`arc-merge` {member(STRUCT).name}",
    "LAB",
    "LAB-ideal",
)
POLICIES = (("baseline", SERIAL), *HARDWARE, ("none", SERIAL))


def path_of(trace: str) -> Path:
    """A shipped trace, wherever it lies."""
    found = [path for folder in ("data", "h100") if (path := ROOT / f"traces/{folder}/{trace}.wft").exists()]
    if not found:
        raise BadInput(f"{trace}.wft: not among the shipped traces")
    return found[0]


def plan() -> list[Run]:
    # Units on these traces are among the simulations of all units (points.py).
    others = [policy for policy in POLICIES if not policy[0].startswith("arc-")]
    floor = [(trace, FLOOR_ON, *policy) for trace in FLOOR_TRACES for policy in others]
    return floor + [
        (trace, gpu, *policy)
        for trace, gpu, policy in itertools.product(KERNELS, MACHINES, POLICIES)
        if (trace, gpu, policy[0]) not in NO_ROOM
    ]


def milliseconds(cycles: int, gpu: str) -> float:
    """Of a launch, with what it takes to be launched."""
    return cycles / (clock_ghz(gpu) * 1e6) + points.LAUNCH_US / 1e3


class Today:
    """docs/numbers/today.json."""

    def __init__(self, document: Document, simulated: Simulated) -> None:
        self.simulated = simulated
        self.measured = document["measured"]  # {trace: {"gpu": name, "ms": {policy: ms}}}
        self.cycles: dict[Run, int] = {
            (trace, gpu, policy, row): cycles for trace, gpu, policy, row, cycles in document["rows"]
        }

    def ms(self, trace: str, gpu: str, policy: str, row: str = SERIAL) -> float:
        """Of a launch, with what it takes to be launched."""
        return milliseconds(self.cycles[trace, gpu, policy, row], gpu)

    def unit_ms(self, trace: str, one: Member) -> float:
        """Of a unit at its clock, on the machine of the floor."""
        return milliseconds(self.simulated.cycles(trace, FLOOR_ON, "arc-hw", one.row), FLOOR_ON)

    def software_ms(self, trace: str) -> float:
        """Of ARC-SW's best threshold, on the machine of the floor."""
        return milliseconds(self.simulated.cycles(trace, FLOOR_ON, "arc-sw"), FLOOR_ON)

    def measured_ms(self, trace: str, policy: str) -> float:
        ms: float = self.measured[trace]["ms"][policy]
        return ms

    def best_software(self, trace: str) -> tuple[float, str]:
        """(ms, policy) of the fastest that was measured and adds all, the plain one included."""
        return min((ms, policy) for policy, ms in self.measured[trace]["ms"].items() if policy != "none")

    def value(self, words: Sequence[str]) -> str:
        """share.KIND.FLOOR.least or .mean; ms.TRACE.POLICY as measured; gain.TRACE.POLICY over plain REDs, measured;
        model.TRACE.GPU.POLICY[.UNIT] in ms."""
        if words[0] == "share":
            shares = [self.shares(trace)[words[1], words[2]] for trace in FLOOR_TRACES]
            return f"{min(shares) if words[3] == 'least' else geometric_mean(shares):.2f}"
        if words[0] == "ms":
            return f"{self.measured_ms(words[1], words[2]):.3f}"
        if words[0] == "gain":
            return f"{self.measured_ms(words[1], 'baseline') / self.measured_ms(words[1], words[2]):.1f}"
        if words[0] == "model":
            return f"{self.ms(*words[1:4], *(words[4:] or [SERIAL])):.3f}"
        raise KeyError(words[0])

    def shares(self, trace: str) -> dict[tuple[str, str], float]:
        """Speed of arc-hw by (unit, floor): modelled over the measured or the modelled floor."""
        floors = {"measured": self.measured_ms(trace, "none"), "modelled": self.ms(trace, FLOOR_ON, "none")}
        return {(one.row, name): floor / self.unit_ms(trace, one) for one in MEMBERS for name, floor in floors.items()}


def geometric_mean(found: Iterable[float]) -> float:
    return math.exp(statistics.fmean(map(math.log, found)))


def floor_rows(today: Today) -> Table:
    """The table `floor`: milliseconds, and the speed of each unit over the modelled floor."""
    units = [one.row for one in MEMBERS]
    shares = {trace: today.shares(trace) for trace in FLOOR_TRACES}
    floors = {trace: (today.measured_ms(trace, "none"), today.ms(trace, FLOOR_ON, "none")) for trace in FLOOR_TRACES}
    rows = [
        [trace, *(f"{ms:.3f}" for ms in floors[trace]), *(f"{shares[trace][unit, 'modelled']:.2f}" for unit in units)]
        for trace in FLOOR_TRACES
    ]
    rows.append(
        [
            "**geometric mean**",
            *(f"**{geometric_mean(floors[trace][which] for trace in FLOOR_TRACES):.3f}**" for which in (0, 1)),
            *(f"**{geometric_mean(shares[trace][unit, 'modelled'] for trace in FLOOR_TRACES):.2f}**" for unit in units),
        ]
    )
    return ["trace", "measured floor, ms", "modelled floor, ms", *(one.name for one in MEMBERS)], rows


def gain_rows(today: Today) -> Table:
    """The table `gains-3d`: speed over plain REDs, geometric means over the ten traces of the floor."""

    def gain(plain: Callable[[str], float], ms: Callable[[str], float]) -> str:
        return f"{geometric_mean(plain(trace) / ms(trace) for trace in FLOOR_TRACES):.2f}"

    def measured(ms: Callable[[str], float]) -> str:
        return gain(lambda trace: today.measured_ms(trace, "baseline"), ms)

    def modelled(ms: Callable[[str], float]) -> str:
        return gain(lambda trace: today.ms(trace, FLOOR_ON, "baseline"), ms)

    def of_policy(policy: str) -> str:
        return modelled(lambda trace: today.ms(trace, FLOOR_ON, policy))

    def of_unit(one: Member) -> str:
        return modelled(lambda trace: today.unit_ms(trace, one))

    rows = [
        ["best software, measured", measured(lambda trace: today.best_software(trace)[0])],
        ["ARC-SW, best threshold", modelled(today.software_ms)],
        *([f"`arc-hw`, {one.name}", of_unit(one)] for one in MEMBERS),
        ["LAB", of_policy("lab")],
        ["LAB-ideal", of_policy("lab-ideal")],
        ["no atomics", of_policy("none")],
        ["no atomics, measured", measured(lambda trace: today.measured_ms(trace, "none"))],
    ]
    return ["", "speed over plain REDs"], rows


def kernel_rows(today: Today, gpu: str) -> Table:
    """The tables `today-GPU`: milliseconds; what was measured, only of the GPU that it was measured on."""
    head = [
        "kernel",
        *(["measured: plain", "best software"] if gpu == "h100" else []),
        "plain RED",
        *HARDWARE_NAMES,
        "no atomics",
    ]
    rows = []
    for trace, name in KERNELS.items():
        row = [f"`{trace}`: {name}"]
        if gpu == "h100":
            ours = today.measured[trace]["gpu"].startswith("NVIDIA H100")
            ms, policy = today.best_software(trace)
            where = "" if ours else " (H200)"
            row += [f"{today.measured_ms(trace, 'baseline'):.3f}{where}", f"{ms:.3f} `{policy}`{where}"]
        rows.append(
            row
            + [
                "no room" if (trace, gpu, policy[0]) in NO_ROOM else f"{today.ms(trace, gpu, *policy):.3f}"
                for policy in POLICIES
            ]
        )
    return head, rows
