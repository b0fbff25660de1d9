# SPDX-License-Identifier: Apache-2.0
"""Warp instructions that a launch is predicted to issue, beside those that ncu counts."""

import re
from typing import Any

from .cost import slots
from .instructions import SassError
from .ncu import read_counts
from .shapes import SEGMENTS, kernel_name


WARP_LANES = 32


def predict_variant(cost: dict[str, Any], counts: dict[str, Any], variant: str, threshold: int) -> int:
    """Warp instructions that a launch issues, from how often each path was gone."""
    total = sum(slots(c) * n for c, n in zip(cost["paths"], counts["paths"].values()))
    total += counts["barriers"]
    reduce = {name: slots(c) for name, c in cost["reduce"].items()}
    adds = counts["parameters"]
    by_lanes = counts["events_by_lanes"]
    total += sum(by_lanes) * reduce.get("check", 0)
    alike = counts.get("one_address_by_lanes", by_lanes)  # events whose lanes share a primitive
    if variant == "baseline":
        total += sum(by_lanes) * (reduce["plain"] + adds)
    elif variant in ("sw-s", "shared-slot"):
        threshold = 2 if variant == "shared-slot" else threshold  # a lone lane adds by itself
        from_threshold = range(max(threshold, 1), WARP_LANES + 1)
        serial = (
            counts["serial_events"][threshold]
            if "serial_events" in counts
            else sum(by_lanes[n] for n in from_threshold)
        )
        turns = (
            counts["serial_turns"][threshold]
            if "serial_turns" in counts
            else sum(by_lanes[n] * (n - 1) for n in from_threshold)
        )
        plain = counts["plain_events"][threshold] if "plain_events" in counts else sum(by_lanes) - serial
        turn = "turn" if variant == "shared-slot" else "per_lane"
        total += serial * (reduce["setup"] + reduce["leader"] + adds) + turns * reduce[turn]
        total += plain * (reduce["plain"] + adds)
    else:
        enough = max(threshold, 1) if variant == "sw-b" else 0
        total += sum(by_lanes[enough:]) * reduce.get("agree", 0)
        together = sum(alike[enough:])
        total += together * (reduce["butterfly"] + reduce["leader"] + adds)
        total += (sum(by_lanes) - together) * (reduce.get("plain", 0) + adds)
    return int(total)


def read_ncu(path: str, workload: str) -> tuple[str, dict[str, int]]:
    """ncu --csv -> (architecture, {variant: warp instructions})."""
    kernel = kernel_name(workload, "")
    measured = {}
    arch = None
    for name, measured_on, count in read_counts(path):
        found = re.search(kernel + r"(\w+)", name)
        variant = found.group(1).replace("_", "-") if found else None
        if variant in SEGMENTS:
            # The last launch: some programs run their baseline before the launch that is captured.
            measured[variant] = count
            arch = measured_on
    if not measured or arch is None:
        raise SassError(f"{path}: has no instructions of {kernel}*")
    return arch, measured
