#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""warpfold.Trace against what `warpfold trace` prints of shipped traces, and against a made-up trace."""

import json
import re
import shutil
import tracemalloc

import numpy as np
import warpfold
from programs import TRACES, WARPFOLD, Case, main, run

EVENT = re.compile(r"^ +(\d+) event   mask (0x[0-9a-f]{8}) lanes +(\d+) (?:primitive (\d+)|primitives (.*))$")


def dumped(path):
    """What `warpfold trace dump` prints of a trace of one site: the CTAs; events as (cta, warp, order, mask, lanes,
    [(lane, primitive)...], uniform); of each the values by parameter as texts."""
    ctas, events, values, warp = [], [], [], None
    for line in run(WARPFOLD, "trace", "dump", path, "--values").splitlines():
        found = EVENT.match(line)
        if line.startswith("CTA "):
            ctas.append(int(line[4:]))
        elif line.startswith("  warp "):
            warp = int(line.split()[1].rstrip(":"))
        elif found:
            mask = int(found[2], 16)
            if found[4]:
                lanes = [(lane, int(found[4])) for lane in range(32) if mask >> lane & 1]
            else:
                lanes = [tuple(map(int, pair.split(":"))) for pair in found[5].split()]
            events.append((ctas[-1], warp, int(found[1]), mask, int(found[3]), lanes, bool(found[4])))
            values.append([])
        elif line.startswith(" " * 13):
            values[-1].append(line.partition(": ")[2].split())
    return ctas, events, values


def same(a, b):
    """Whether all columns are equal."""
    return all(np.array_equal(x, y) for x, y in zip(a, b))


class AgainstDump(Case):
    def check_events(self, name):
        trace, (ctas, wanted, _) = warpfold.Trace(TRACES / name), dumped(TRACES / name)
        events = trace.events()
        self.assertEqual(len(events), len(wanted))
        self.equal(zip(events.cta, events.warp, events.order, events.mask, events.lanes, events.uniform),
                   ((*event[:5], event[6]) for event in wanted))
        self.equal(events.primitive, (event[5][0][1] for event in wanted))
        self.assertEqual(trace.ctas.tolist(), ctas)
        for number, parameter in enumerate(trace.sites[0]["parameters"]):
            rows = events.addresses(parameter["name"])
            self.assertTrue(same(rows, events.addresses(number)))
            lanes = [(i, *pair) for i, event in enumerate(wanted) for pair in event[5]]
            self.equal(zip(rows.event, rows.lane, rows.primitive), lanes)
            self.equal(rows.address, (parameter["base"] + lane[2] * parameter["stride_bytes"] for lane in lanes))

    def test_one_primitive(self):
        self.check_events("truck-values.wft")

    def test_lane_primitives(self):
        self.check_events("lego-staged-values.wft")
        self.check_events("bob-values.wft")

    def test_values(self):
        for name in ("truck-values.wft", "bob-values.wft"):
            trace, (_, _, wanted) = warpfold.Trace(TRACES / name), dumped(TRACES / name)
            events = trace.events()
            for number in range(len(trace.sites[0]["parameters"])):
                texts = [text for event in wanted for text in event[number]]
                values = events.values(number)
                self.assertEqual(values.dtype, np.float32)
                np.testing.assert_array_equal(values.view(np.uint32), np.array(texts, np.float32).view(np.uint32))


class AgainstInfo(Case):
    def test_shipped(self):
        for name in ("truck.wft", "dynibar.wft", "web-stanford.wft", "kitchen.wft"):
            with self.subTest(name):
                entry = json.loads(run(WARPFOLD, "trace", "info", "--json", TRACES / name))["traces"][0]
                trace, stats = warpfold.Trace(TRACES / name), entry["stats"]
                self.assertEqual(trace.header, entry["header"])
                self.assertEqual(len(trace), stats["ctas"])
                events = trace.events()
                self.assertEqual(len(events), stats["events"])
                self.assertEqual(np.bincount(events.lanes, minlength=33).tolist(), stats["active_histogram"])
                rows = events.addresses()
                self.assertTrue(np.array_equal(np.bincount(rows.event, minlength=len(events)), events.lanes))
                self.assertEqual(len(np.unique(rows.primitive)), stats["distinct_primitives"])
                passes = dict(stats["work_passes"])
                passes[trace.sites[0]["taken_path"]] += stats["events"]
                self.assertEqual(trace.work(), passes)


class Chunks(Case):
    def test_are_the_whole(self):
        trace = warpfold.Trace(TRACES / "bob-values.wft")
        whole, rows = trace.events(), trace.events().addresses()
        for chunks in (list(trace.chunks(ctas=7)), list(trace)):
            self.assertEqual(len(chunks), len(trace) if chunks[0]._end == 1 else -(-len(trace) // 7))
            for name, column in whole.columns().items():
                np.testing.assert_array_equal(np.concatenate([getattr(chunk, name) for chunk in chunks]), column)
            parts = [chunk.addresses() for chunk in chunks]
            first = np.cumsum([0, *map(len, chunks)])[:-1]
            np.testing.assert_array_equal(np.concatenate([part.event + at for part, at in zip(parts, first)]), rows.event)
            np.testing.assert_array_equal(np.concatenate([part.address for part in parts]), rows.address)
            np.testing.assert_array_equal(np.concatenate([chunk.values(2) for chunk in chunks]), whole.values(2))

    def test_lanes_of_a_chunk_after_others(self):
        trace = warpfold.Trace(TRACES / "truck-values.wft")
        chunks = list(trace)
        backwards = [chunk.addresses(1).address for chunk in reversed(chunks)]
        np.testing.assert_array_equal(np.concatenate(backwards[::-1]), trace.events().addresses(1).address)

    def test_take_little_memory(self):
        trace = warpfold.Trace(TRACES / "truck.wft")
        tracemalloc.start()
        self.addCleanup(tracemalloc.stop)
        rows = sum(len(chunk.addresses().address) for chunk in trace.chunks(ctas=16))
        peak = tracemalloc.get_traced_memory()[1]
        self.assertGreater(rows, 9_000_000)
        self.assertLess(peak, rows * 28 / 20)

    def test_sizes(self):
        trace = warpfold.Trace(self.made)
        self.assertEqual([len(chunk) for chunk in trace.chunks(ctas=np.int64(1))], [3, 2])
        self.assertEqual([len(chunk) for chunk in trace.chunks(ctas=99)], [5])
        self.assertEqual([len(chunk) for chunk in trace.chunks(ctas=1, site="blend")], [1, 1])
        for wrong in (0, -1, 1.5, "all"):
            self.refused("at least 1", trace.chunks, wrong)
        self.refused("no site 'x'", trace.chunks, 1, "x")


class MadeUp(Case):
    def setUp(self):
        self.trace = warpfold.Trace(self.made)

    def test_header(self):
        self.assertEqual([site["name"] for site in self.trace.sites], ["blend", "sum", "halves", "brains"])
        self.assertEqual(self.trace.arrays, [{"name": "colors", "base": 0x1000, "bytes": 1200},
                                             {"name": "sums", "base": 0x8000, "bytes": 80},
                                             {"name": "pairs", "base": 0x9000, "bytes": 0x1100}])
        self.assertEqual((len(self.trace), self.trace.ctas.tolist()), (2, [0, 1]))
        self.assertIn("2 CTAs, 5 events at 4 sites", repr(self.trace))
        self.assertEqual(self.trace.work(), {"entry": 3, "taken": 2})

    def test_events(self):
        events = self.trace.events()
        self.assertEqual({name: column.tolist() for name, column in events.columns().items()},
                         {"cta": [0, 0, 0, 1, 1], "warp": [0, 0, 1, 0, 0], "order": [1, 3, 1, 1, 2],
                          "site": [0, 1, 2, 0, 3], "mask": [0xf, 0x80000001, 3, 6, 4], "lanes": [4, 2, 2, 2, 1],
                          "uniform": [True, False, True, False, True], "primitive": [7, 5, 2, 9, 3]})
        self.assertEqual({name: column.dtype.name for name, column in events.columns().items()},
                         {"cta": "int64", "warp": "int32", "order": "int32", "site": "int32", "mask": "uint32",
                          "lanes": "int32", "uniform": "bool", "primitive": "int64"})

    def test_of_one_site(self):
        for site in ("sum", 1, np.int32(1)):
            events = self.trace.events(site)
            self.assertEqual((events.site.tolist(), events.mask.tolist()), ([1], [0x80000001]))
            rows = events.addresses()
            self.assertEqual([column.tolist() for column in rows], [[0, 0], [0, 31], [5, 6], [0x8028, 0x8030]])
        for site in ("none", 4, -1, 1.0, "1"):
            self.refused("made.wft: no site .*; there are: blend, sum, halves, brains$", self.trace.events, site)

    def test_lanes_of_all_sites(self):
        rows = self.trace.events().addresses(0)
        self.assertEqual(rows.event.tolist(), [0, 0, 0, 0, 1, 1, 2, 2, 3, 3, 4])
        self.assertEqual(rows.lane.tolist(), [0, 1, 2, 3, 0, 31, 0, 1, 1, 2, 2])
        self.assertEqual(rows.address.tolist(), [0x1054] * 4 + [0x8028, 0x8030] + [0x9008] * 2 + [0x106c] * 2 + [0xa00c])
        # Those without such a parameter keep their number and have no rows.
        rows = self.trace.events().addresses("b")
        self.assertEqual(rows.event.tolist(), [0, 0, 0, 0, 3, 3])
        self.assertEqual(rows.address.tolist(), [0x105c] * 4 + [0x1074] * 2)
        self.refused("no parameter 3 at site blend: r, g, b; site sum: s;", self.trace.events().addresses, 3)
        self.refused("no parameter 'r' at site sum: s$", self.trace.events("sum").addresses, "r")

    def test_values(self):
        of = self.trace.events
        self.assertEqual(of().values("g").tolist(), [10, 20, 30, 40, 50, 60])
        self.assertEqual(of("blend").values("b").tolist(), [-1, -2, -3, -4, -5, -6])
        self.assertEqual((of("sum").values().tolist(), of("sum").values().dtype), ([1.1, -2.25], np.float64))
        self.assertEqual((of("halves").values().tolist(), of("halves").values().dtype), ([[1, 2], [0.5, -0.25]], np.float16))
        self.assertEqual((of("brains").values().tolist(), of("brains").values().dtype), ([[1, -3]], np.float32))
        self.refused("of types bf16x2, f16x2: take the events of one", of().values, "h")
        self.refused("the trace has no values", warpfold.Trace(TRACES / "truck.wft").events().values)

    def test_the_same_as_dumped(self):
        lines = run(WARPFOLD, "trace", "dump", self.made, "--values")
        for text in ("site sum primitives 0:5 31:6", "s: 1.1 -2.25", "h: (1, 2) (0.5, -0.25)", "h: (1, -3)"):
            self.assertIn(text, lines)

    def test_outlives_the_trace(self):
        events = warpfold.Trace(self.made).events()
        self.assertEqual(len(events.addresses().event), 11)


class WrongFiles(Case):
    def copy(self, change):
        data = bytearray(self.made.read_bytes())
        changed = change(data)
        path = self.folder / "wrong.wft"
        path.write_bytes(data if changed is None else changed)
        return path

    def test_are_refused(self):
        self.refused("nowhere.wft: cannot", warpfold.Trace, self.folder / "nowhere.wft")
        self.refused("wrong.wft: not a warpfold trace: it is empty", warpfold.Trace, self.copy(lambda data: b""))
        self.refused("wrong.wft: not a warpfold trace", warpfold.Trace, self.copy(lambda data: b"P5 640 480"))
        self.refused("wrong.wft: truncated", warpfold.Trace, self.copy(lambda data: data[:-40]))

        def of_version_3(data):
            data[8] = 3
        self.refused("format version 3, .*trace upgrade", warpfold.Trace, self.copy(of_version_3))

        def damaged(data):
            data[len(data) // 2] ^= 1
        self.refused("wrong.wft: .*checksum", warpfold.Trace, self.copy(damaged))

    def test_changes_while_it_is_read(self):
        path = self.folder / "changing.wft"
        shutil.copyfile(TRACES / "truck-values.wft", path)
        trace = warpfold.Trace(path)
        with path.open("r+b") as file:
            file.seek(path.stat().st_size // 2)
            file.write(b"\0" * 64)
        self.refused("changing.wft: .*the file has changed", trace.events)
        self.refused("changing.wft: .*the file has changed", trace.work)


if __name__ == "__main__":
    main()
