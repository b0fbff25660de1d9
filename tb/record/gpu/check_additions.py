#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds the recorded lane additions against the arrays that a program left, address by address.

usage: check_additions.py ARRAYS TRACE...

ARRAYS is the file that additions.cu or pytorch_ops.py writes. All that these add is 1, so an element is the number of
additions to its address; the traces are of all launches together. Record with --no-profile: the run under ncu writes ARRAYS anew, with
other addresses. Needs the package warpfold, NumPy and whole launches.
Exit code 0: every element is as recorded. 1: one differs. 2: bad usage, or a file that cannot be worked with.
"""

import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np
import warpfold

SHOWN = 5
# By the type of a site that adds floats: bytes of an element, and the offsets of the elements that a lane adds to.
ELEMENTS = {"f32": (4, (0,)), "f64": (8, (0,)), "f16x2": (2, (0, 2)), "bf16x2": (2, (0, 2))}


class Array(NamedTuple):
    base: int          # byte address of element 0
    element: int       # bytes of one
    left: np.ndarray   # value of each element in the end, float32


def read_arrays(path):
    data = Path(path).read_bytes()
    arrays, at = [], 0
    while at < len(data):
        base, count, element = np.frombuffer(data, np.uint64, 3, at).tolist()
        arrays.append(Array(base, element, np.frombuffer(data, np.float32, count, at + 24)))
        at += 24 + 4 * count
    if not arrays:
        raise ValueError("it has no arrays")
    return arrays


def additions(path):
    """Distinct addresses of elements with their size and the number of additions to each, site by site."""
    trace = warpfold.Trace(path)
    if len(trace) != trace.header["total_ctas"]:
        raise warpfold.Error(f"{path}: is no whole launch: {trace.header['sampling']}")
    for events in trace.chunks(256):
        for number, site in enumerate(trace.sites):
            if site["type"] not in ELEMENTS:
                continue
            element, offsets = ELEMENTS[site["type"]]
            of_site = events.site == number
            for parameter in range(len(site["parameters"])):
                rows = events.addresses(parameter)
                addresses, counts = np.unique(rows.address[of_site[rows.event]], return_counts=True)
                for offset in offsets:
                    yield element, addresses + np.uint64(offset), counts


def count(arrays, traces):
    """Additions recorded to each element of each array, and those to no element."""
    recorded = [np.zeros(len(array.left), np.int64) for array in arrays]
    elsewhere = 0
    for path in traces:
        for element, addresses, counts in additions(path):
            inside = np.zeros(len(addresses), bool)
            for array, found in zip(arrays, recorded):
                if array.element == element:
                    place = (addresses - np.uint64(array.base)).astype(np.int64)  # far too large where it lies below
                    here = (place >= 0) & (place < element * len(found)) & (place % element == 0)
                    found[place[here] // element] += counts[here]
                    inside |= here
            elsewhere += int(counts[~inside].sum())
    return recorded, elsewhere


def report(arrays, recorded, elsewhere):
    """Prints a line for each array and the first elements that differ; whether all are as recorded."""
    same = elsewhere == 0
    for number, (array, found) in enumerate(zip(arrays, recorded)):
        differ = np.flatnonzero(array.left != found)
        print(f"array {number} at {array.base:#x}: {len(found)} elements of {array.element} bytes, "
              f"{found.sum()} additions recorded, {array.left.sum(dtype=np.float64):.0f} in the array, "
              f"{len(differ)} elements differ")
        for i in differ[:SHOWN]:
            print(f"  {array.base + i * array.element:#x}: {found[i]} recorded, {array.left[i]:g} in the array")
        same = same and len(differ) == 0
    if elsewhere:
        print(f"{elsewhere} additions recorded to no element of an array")
    return same


def main(arguments):
    if len(arguments) < 2 or arguments[0].startswith("-"):
        print(__doc__.strip(), file=sys.stdout if arguments[:1] == ["--help"] else sys.stderr)
        return 0 if arguments[:1] == ["--help"] else 2
    try:
        arrays = read_arrays(arguments[0])
    except (OSError, ValueError) as error:
        print(f"check_additions.py: {arguments[0]}: {getattr(error, 'strerror', None) or error}", file=sys.stderr)
        return 2
    try:
        recorded, elsewhere = count(arrays, arguments[1:])
    except warpfold.Error as error:
        print(f"check_additions.py: {error}", file=sys.stderr)
        return 2
    return 0 if report(arrays, recorded, elsewhere) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
