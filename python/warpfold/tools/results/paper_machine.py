# SPDX-License-Identifier: Apache-2.0
"""ARC's numbers on its own machine: what the paper states, beside the same policies on machines with its simulator's
timing and on those with silicon's."""

import statistics

from ..figures import data
from . import values
from .values import Missing, Unknown


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
    "open": "the same, partitions with room for all",
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


class PaperMachine:
    """Speedups by GPU, reading and policy."""

    def __init__(self, n):
        self.n = n
        self.cycles = {
            (row["trace"], row["gpu"], row["full_policy"], row["set"]): row["cycles"]
            for row in n.rows
            if row["unit_kind"] == "serial" and not row["thin"]
        }

    def cycles_of(self, trace, gpu, reading, policy):
        silicon, simulator, *_ = GPUS[gpu]
        machine = silicon if reading == "silicon" else simulator
        settings = {"channels": CHANNELS, "free": FREE, "open": OPEN}.get(reading, {}).get(gpu, "")
        key = (trace, machine, TRACES[trace] if policy == "software" else policy, settings)
        if key not in self.cycles:
            raise Missing(" ".join(key))
        return self.cycles[key]

    def ratio(self, gpu, reading, what):
        """Mean over the traces: of the speedup of a policy over the baseline, or of one policy over another (A/B)."""
        policy, _, over = what.partition("/")
        return statistics.fmean(
            self.cycles_of(trace, gpu, reading, over or "baseline") / self.cycles_of(trace, gpu, reading, policy)
            for trace in TRACES
        )

    def stated(self, gpu, figure, key):
        name = figure or GPUS[gpu][2]
        return self.n.paper[name]["numbers"][f"{GPUS[gpu][3]}.{key}" if figure else key]["value"]

    def numbers(self):
        """(GPU, name, paper's, {reading: ours, or None where it was not simulated})."""

        def ours(gpu, reading, what):
            left_out = NOT_SIMULATED.get((gpu, reading), LEFT_OUT.get(reading, ()))
            return None if what in left_out else self.ratio(gpu, reading, what)

        for gpu in GPUS:
            for name, what, figure, key in ROWS:
                yield gpu, name, self.stated(gpu, figure, key), {
                    reading: ours(gpu, reading, what) for reading in READINGS
                }

    def value(self, words):
        """GPU.READING.POLICY; within.READING and of.READING: how many numbers are within 15 % of the paper's, and of how
        many."""
        if words[0] in ("within", "of"):
            found = [ours[words[1]] / paper - 1 for _, _, paper, ours in self.numbers() if ours[words[1]] is not None]
            return str(
                len(found) if words[0] == "of" else sum(abs(error) <= data.Comparison.TOLERANCE for error in found)
            )
        if words[0] in GPUS and words[1] in READINGS:
            return values.two(self.ratio(words[0], words[1], words[2]))
        raise Unknown(".".join(words))


def table(n, markdown):
    """Ours beside the paper's; what is within 15 % of it in bold."""

    def cell(paper, ours):
        if ours is None:
            return "-"
        text = f"{ours:.2f} ({100 * (ours / paper - 1):+.0f} %)"
        return f"**{text}**" if abs(ours / paper - 1) <= data.Comparison.TOLERANCE else text

    rows = [
        [f"{gpu}: {name}", values.two(paper), *(cell(paper, found) for found in ours.values())]
        for gpu, name, paper, ours in PaperMachine(n).numbers()
    ]
    return markdown(["mean of eight traces", "ARC", *READINGS.values()], rows)
