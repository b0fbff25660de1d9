# SPDX-License-Identifier: Apache-2.0
"""Readings of the benchmarks that sort addresses by slice and slices by port."""

import statistics
from collections.abc import Callable
from typing import Any

from .measurement import Measurement

Cases = tuple[str, ...]  # names
SoFar = dict[str, Any]  # values of the parameters that have been decided
Readings = dict[str, float]  # what each case, or how it was read, says the parameter is
Reader = Callable[[Measurement, SoFar, Cases], Readings]
Undecided = Callable[[str], Exception]


def slices(undecided: Undecided) -> Reader:
    """The classes, if none is so small that a disturbed launch may have opened it."""

    def read(m: Measurement, so_far: SoFar, cases: Cases) -> Readings:
        count = m.median(cases[0])
        label = "classes of addresses"
        if m.cases[cases[0]].get("extra", {}).get("pieces_of_class"):
            sizes = m.extra(cases[0], "pieces_of_class")
            if min(sizes) < statistics.fmean(sizes) / 4:
                raise undecided(
                    f"{count:.0f} classes, the smallest of {min(sizes)} pieces where the mean is "
                    f"{statistics.fmean(sizes):.0f}: some may be launches that were disturbed"
                )
            label += f", of {min(sizes)} to {max(sizes)} pieces"
        return {label: count}

    return read


def ports(undecided: Undecided) -> Reader:
    """2 where each slice has one partner that slows it down, and is its partner's; 1 where it has none."""

    def read(m: Measurement, so_far: SoFar, cases: Cases) -> Readings:
        if not m.cases[cases[0]].get("extra", {}).get("slowest_partner"):
            raise undecided("which slices slow each other down was not kept")
        partner = m.extra(cases[0], "slowest_partner")
        slowest = statistics.median(m.extra(cases[0], "slowest"))
        following = statistics.median(m.extra(cases[0], "next"))
        if slowest < 1.05 * following:
            return {f"the slowest of two takes {slowest:.3f} cycles, the next {following:.3f}": 1.0}
        mutual = sum(partner[partner[slice_]] == slice_ for slice_ in range(len(partner)))
        if mutual < 0.95 * len(partner):
            raise undecided(f"only {mutual} of {len(partner)} slices are the partner of their partner")
        return {
            f"{mutual} of {len(partner)} slices have one partner ({slowest:.3f} cycles, the next "
            f"{following:.3f})": 2.0
        }

    return read


def address_map(undecided: Undecided, key: str) -> Reader:
    """Offsets that share the slice of address 0 are the slow ones."""

    def read(m: Measurement, so_far: SoFar, cases: Cases) -> Readings:
        cycles = [m.median(name) for name in cases]
        fast, slow = min(cycles), max(cycles)
        if slow < 1.15 * fast:
            raise undecided("no offset is slow: a slice is not seen")
        shares = [one > (fast + slow) / 2 for one in cycles]
        if not shares[0] or all(shares):
            raise undecided("the first sector does not share the slice of its neighbour, or all do")
        first = shares.index(False)  # offsets 32, 64, ..: the piece has `first` + 1 sectors
        last = max(at for at, one in enumerate(shares) if one)
        piece = 32 * (first + 1)
        expected = [(at + 1) * 32 // piece in (0, (last + 1) * 32 // piece) for at in range(len(shares))]
        strange = sum(one != other for one, other in zip(shares, expected))
        if strange:
            raise undecided(f"{strange} of {len(shares)} offsets do not follow two pieces of {piece} bytes")
        interleave = piece if last < first else ((last + 1) * 32 // piece + 2) * piece
        return {"offsets of the first 2048 bytes": float({"slice_bytes": piece, "interleave_bytes": interleave}[key])}

    return read


def fast_offsets(m: Measurement, so_far: SoFar, cases: Cases) -> Readings:
    """Cycles of those offsets that lie in another slice than address 0."""
    cycles = {name: m.median(name) for name in cases}
    middle = (min(cycles.values()) + max(cycles.values())) / 2
    return {name: one for name, one in cycles.items() if one <= middle}


def partner_in_piece(m: Measurement, so_far: SoFar) -> str | None:
    """One line where the two slices of an interleaved piece lie at one port, which in the model lie at two."""
    extra = m.cases.get("slices/ports", {}).get("extra", {})
    of_piece = m.cases.get("slices/classes", {}).get("extra", {}).get("class_of_piece")
    partner = extra.get("slowest_partner")
    if not of_piece or not partner or so_far["l2.slices_per_port"] == 1:
        return None
    m.extra("slices/classes", "class_of_piece")
    size = int(so_far["l2.interleave_bytes"]) // 256
    groups = [sorted(set(of_piece[at : at + size])) for at in range(0, len(of_piece) - size + 1, size)]
    twos = [group for group in groups if len(group) == 2]
    together = sum(partner[a] == b for a, b in twos)
    if together == 0:
        return None
    return (
        f"of {len(twos)} pieces of {size * 256} bytes with two slices, {together} have both at one port; in the "
        "model none has"
    )
