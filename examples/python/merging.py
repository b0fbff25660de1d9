#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What merging of the sums of several warps could leave of the additions that memory sees.

    merging.py SMS TRACE.wft...

A reduction in the warp leaves a sum for each event and address. Sums of one address can be merged further: in a CTA, in an SM,
on their way to the L2. Counted is what is left if each of these waited for all that are to come, however long that takes; the
CTAs are dealt out to so many SMs in turn. docs/simulate.md has the package and what it needs.
"""

import sys

import numpy as np
import warpfold


def distinct_pairs(first, second):
    """The different pairs of two columns, as two columns."""
    values, rank = np.unique(second, return_inverse=True)
    keys = np.unique(first.astype(np.int64) * max(len(values), 1) + rank)
    return keys // max(len(values), 1), values[keys % max(len(values), 1)]


def sums_left(trace, sms):
    """Additions to an address, of each parameter one: by lanes, and left by a warp, a CTA, an SM and the whole GPU."""
    lanes = warps = ctas = 0
    of_sms = np.empty(0, np.int64), np.empty(0, np.uint64)
    for events in trace.chunks():
        found = events.addresses(0)
        event, address = distinct_pairs(found.event, found.address)
        of_ctas = distinct_pairs(events.cta[event], address)    # a chunk holds whole CTAs
        of_chunk = distinct_pairs(of_ctas[0] % sms, of_ctas[1])
        of_sms = distinct_pairs(*(np.concatenate(columns) for columns in zip(of_sms, of_chunk)))
        lanes, warps, ctas = lanes + len(found.event), warps + len(event), ctas + len(of_ctas[0])
    return lanes, warps, ctas, len(of_sms[0]), len(np.unique(of_sms[1]))


def main(arguments):
    if len(arguments) < 2 or not arguments[0].isdigit() or int(arguments[0]) < 1:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    try:
        rows = [(path, sums_left(warpfold.Trace(path), int(arguments[0]))) for path in arguments[1:]]
    except warpfold.Error as error:
        print(f"merging.py: {error}", file=sys.stderr)
        return 2
    print("trace                     lanes     warps      CTAs       SMs       GPU")
    for path, left in rows:
        print(f"{path.rsplit('/', 1)[-1].removesuffix('.wft'):22}" + "".join(f"{count:9} " for count in left).rstrip())
    return 0


sys.exit(main(sys.argv[1:]))
