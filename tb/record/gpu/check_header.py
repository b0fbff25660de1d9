#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds the trace of the splat that examples/record_header records to masks that are computed here, event by event.

usage: check_header.py WARPFOLD TRACE

The example's ring is filled many times over, so this tells, too, whether waiting for it parts warps.
Exit code 0: all are equal, in order. 1: they differ. 2: bad usage, or no such trace.
"""

import re
import subprocess
import sys

# As in examples/record_header/scatter.cu.
TILES, COUNT, WARPS, WIDTH = 12, 400, 6, 16
SITES = {"color": lambda x: x <= 128, "opacity": lambda x: x < 16}
WORD = 0xffffffff


def mixed(x):
    x = ((x ^ x >> 16) * 0x7feb352d) & WORD
    x = ((x ^ x >> 15) * 0x846ca68b) & WORD
    return x ^ x >> 16


def computed():
    """(CTA, warp, site) -> masks and primitives in order."""
    events = {}
    for tile in range(TILES):
        for primitive in range(COUNT):
            weight = mixed((primitive + 977 * tile) & WORD) % 64
            for site, adds in SITES.items():
                mask = sum(1 << lane for lane in range(32) if adds(abs(lane % WIDTH - 8) * weight))
                for warp in range(WARPS):
                    events.setdefault((tile, warp, site), []).append((mask, primitive))
    return events


def recorded(warpfold, trace):
    """The same of a trace, by what `warpfold trace dump` prints. Events of several primitives have None."""
    dumped = subprocess.run([warpfold, "trace", "dump", trace], capture_output=True, text=True, check=False)
    if dumped.returncode != 0:
        print(f"check_header.py: {dumped.stderr.strip()}", file=sys.stderr)
        sys.exit(2)
    events, cta, warp = {}, None, None
    for line in dumped.stdout.splitlines():
        if found := re.match(r"CTA (\d+)", line):
            cta = int(found[1])
        elif found := re.match(r" +warp (\d+)", line):
            warp = int(found[1])
        elif found := re.search(r"event +mask (0x\w+) lanes +\d+ site (\w+) primitive(?: (\d+)|s)", line):
            primitive = int(found[3]) if found[3] else None
            events.setdefault((cta, warp, found[2]), []).append((int(found[1], 16), primitive))
    return events


def main():
    if len(sys.argv) != 3:
        print(__doc__.split("\n\n")[1], file=sys.stderr)
        return 2
    expected, found = computed(), recorded(*sys.argv[1:])
    count = sum(map(len, found.values()))
    same = expected == found
    print(f"{count} events, {'as computed' if same else 'not those that were computed'}")
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
