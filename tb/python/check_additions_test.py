#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tb/record/gpu/check_additions.py on a made-up trace and the arrays that its additions leave."""

import struct
import subprocess
import sys

from programs import ROOT, WARPFOLD, Case, main, run


def arrays(*parts):
    """The file that additions.cu writes: (address, bytes of an element, values) of each array."""
    return b"".join(struct.pack(f"<3Q{len(values)}f", address, len(values), element, *values)
                    for address, element, values in parts)


# What the made-up trace adds to, one for each lane: three floats of primitives 7 and 9, doubles 5 and 6, the halves
# of pair 2 and of pair 3.
COLORS = [0] * 21 + [4] * 3 + [0] * 3 + [2] * 3
PARTS = [(0x1000, 4, COLORS), (0x8000, 8, [0] * 5 + [1, 1, 0]), (0x9000, 2, [0] * 4 + [2, 2]), (0xa000, 2, [0] * 6 + [1, 1])]


class CheckAdditions(Case):
    def check(self, content, *traces):
        path = self.folder / "additions.bin"
        path.write_bytes(content)
        return subprocess.run([sys.executable, "-B", ROOT / "tb/record/gpu/check_additions.py", path, *traces],
                              check=False, capture_output=True, text=True)

    def test_equal(self):
        done = self.check(arrays(*PARTS), self.made)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("array 0 at 0x1000: 30 elements of 4 bytes, 18 additions recorded, 18 in the array, 0 elements differ",
                      done.stdout)
        # Of two launches.
        twice = [(address, element, [2 * value for value in values]) for address, element, values in PARTS]
        self.assertEqual(self.check(arrays(*twice), self.made, self.made).returncode, 0)

    def test_any_difference(self):
        for number, (address, element, values) in enumerate(PARTS):
            for place in (0, len(values) - 1):
                other = [*values[:place], values[place] + 1, *values[place + 1:]]
                done = self.check(arrays(*PARTS[:number], (address, element, other), *PARTS[number + 1:]), self.made)
                self.assertEqual(done.returncode, 1)
                self.assertIn(f"  {address + place * element:#x}: {values[place]} recorded, {other[place]} in the array",
                              done.stdout)

    def test_additions_elsewhere(self):
        done = self.check(arrays(*PARTS[1:]), self.made)
        self.assertEqual((done.returncode, done.stdout.splitlines()[-1]), (1, "18 additions recorded to no element of an array"))
        moved = [(address + element // 2, element, values) for address, element, values in PARTS]
        self.assertEqual(self.check(arrays(*moved), self.made).returncode, 1)

    def test_wrong_files(self):
        def refused(line, *given):
            done = self.check(*given)
            self.assertEqual(done.returncode, 2)
            self.assertRegex(done.stderr, rf"\Acheck_additions.py: .*{line}.*\n\Z")

        refused("buffer", arrays(*PARTS)[:-1], self.made)
        refused("no arrays", b"", self.made)
        refused("cannot", arrays(*PARTS), self.folder / "nowhere.wft")
        part = self.folder / "part.wft"
        run(WARPFOLD, "trace", "slice", self.made, part, "--last-cta", "0")
        refused("is no whole launch: CTAs 0..0", arrays(*PARTS), part)
        self.assertEqual(self.check(arrays(*PARTS)).returncode, 2)


if __name__ == "__main__":
    main()
