# SPDX-License-Identifier: Apache-2.0
"""ARC's numbers on its own machine: what the paper states, beside the same policies on machines with its simulator's
timing and on those with silicon's."""

import statistics
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ..figures.data import Comparison
from .simulated import Simulated
from .store import Missing, Unknown
from .text import Table, two


# The traces that take least time of those that means are taken over, and the threshold of software for each: on the
# rtx4090 the best, or as good.
TRACES = {
    **dict.fromkeys(("3D-LE-7K", "3D-SH-7K", "playbot", "truck"), "sw-b:8"),
    **dict.fromkeys(("bob", "envphong", "spot", "spheres-small"), "sw-s:0"),
}
# By GPU: the machine of silicon, that of the simulator, the paper's figures; and the settings of other readings.
GPUS = {
    "4090": ("rtx4090", "arc-4090-sim", "fig19", "rtx4090"),
    "3060": ("rtx3060", "arc-3060-sim", "fig18", "rtx3060"),
}
CHANNELS = {"4090": "l2.slices=24"}
FREE = {"4090": "l2.slices=88 rules.red_wait=go-on", "3060": "l2.slices=24 rules.red_wait=go-on"}
OPEN = {gpu: f"{settings} l2.ingress_flits=65536" for gpu, settings in FREE.items()}
READINGS = {
    "silicon": "silicon's timing",
    "simulator": "the simulator's",
    "channels": "24 partitions",
    "free": "two ROPs a partition, warps go on",
    "open": "the same, unbounded ingress queues",
}
# Rows: name, how to compute it, and the paper's number by its figure (None: that of the GPU) and key.
ROWS = (
    ("ARC-HW", "arc-hw", None, "arc-hw.mean"),
    ("LAB-ideal", "lab-ideal", None, "lab-ideal.mean"),
    ("LAB-ideal over LAB", "lab-ideal/lab", None, "lab-ideal_over_lab.mean"),
    ("PHI", "phi", None, "phi.mean"),
    ("ARC-HW over ARC-SW", "arc-hw/software", "fig25", "mean"),
)
# What the other readings leave out, by GPU.
LEFT_OUT = {reading: ("lab-ideal/lab", "phi") for reading in ("channels", "free", "open")}
NOT_SIMULATED = {("3060", "channels"): tuple(row[1] for row in ROWS)}


class Number(NamedTuple):
    """One of the paper's, beside ours."""

    gpu: str
    name: str
    stated: float
    ours: dict[str, float | None]  # by reading; None where it was not simulated

    def error(self, reading: str) -> float | None:
        found = self.ours[reading]
        return None if found is None else found / self.stated - 1


def near(error: float) -> bool:
    return abs(error) <= Comparison.TOLERANCE


class PaperMachine:
    """Speedups by GPU, reading and policy."""

    def __init__(self, n: Simulated) -> None:
        self.n = n
        self.cycles: dict[tuple[str, str, str, str], int] = {
            (row["trace"], row["gpu"], row["full_policy"], row["set"]): row["cycles"]
            for row in n.rows
            if row["unit_kind"] == "serial" and row["divider"] == 1 and not row["thin"]
        }

    def cycles_of(self, trace: str, gpu: str, reading: str, policy: str) -> int:
        silicon, simulator, *_ = GPUS[gpu]
        machine = silicon if reading == "silicon" else simulator
        settings = {"channels": CHANNELS, "free": FREE, "open": OPEN}.get(reading, {}).get(gpu, "")
        key = (trace, machine, TRACES[trace] if policy == "software" else policy, settings)
        if key not in self.cycles:
            raise Missing(" ".join(key))
        return self.cycles[key]

    def ratio(self, gpu: str, reading: str, what: str) -> float:
        """Mean over the traces: of the speedup of a policy over the baseline, or of one policy over another (A/B)."""
        policy, _, over = what.partition("/")
        return statistics.fmean(
            self.cycles_of(trace, gpu, reading, over or "baseline") / self.cycles_of(trace, gpu, reading, policy)
            for trace in TRACES
        )

    def stated(self, gpu: str, figure: str | None, key: str) -> float:
        name = figure or GPUS[gpu][2]
        value: float = self.n.paper[name]["numbers"][f"{GPUS[gpu][3]}.{key}" if figure else key]["value"]
        return value

    def numbers(self) -> Iterator[Number]:
        def ours(gpu: str, reading: str, what: str) -> float | None:
            left_out = NOT_SIMULATED.get((gpu, reading), LEFT_OUT.get(reading, ()))
            return None if what in left_out else self.ratio(gpu, reading, what)

        for gpu in GPUS:
            for name, what, figure, key in ROWS:
                by_reading = {reading: ours(gpu, reading, what) for reading in READINGS}
                yield Number(gpu, name, self.stated(gpu, figure, key), by_reading)

    def value(self, words: Sequence[str]) -> str:
        """GPU.READING.POLICY; within.READING and of.READING: how many numbers are within 15 % of the paper's, and of how
        many."""
        if words[0] in ("within", "of"):
            errors = [error for one in self.numbers() if (error := one.error(words[1])) is not None]
            return str(len(errors) if words[0] == "of" else sum(map(near, errors)))
        if words[0] in GPUS and words[1] in READINGS:
            return two(self.ratio(*words))
        raise Unknown(".".join(words))


def rows_of(machine: PaperMachine) -> Table:
    """Ours beside the paper's; what is within 15 % of it in bold."""

    def cell(number: Number, reading: str) -> str:
        ours, error = number.ours[reading], number.error(reading)
        if ours is None or error is None:
            return "-"
        text = f"{ours:.2f} ({100 * error:+.0f} %)"
        return f"**{text}**" if near(error) else text

    return ["mean of eight traces", "ARC", *READINGS.values()], [
        [f"{one.gpu}: {one.name}", two(one.stated), *(cell(one, reading) for reading in READINGS)]
        for one in machine.numbers()
    ]
