#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How local the additions of a trace are, and what each policy made of them: figures and one picture.

    locality.py TRACE.wft RESULTS.json PICTURE.png

Editors that know notebooks run it cell by cell: each begins with "# %%". docs/simulate.md has the package and what it needs.
"""

# %% A trace and the results of `warpfold sim TRACE --json RESULTS`
import sys

import matplotlib
import numpy as np
import warpfold

matplotlib.use("Agg")  # into a file; leave this line out in a notebook
import matplotlib.pyplot as plt  # noqa: E402  behind the choice above

if len(sys.argv) != 4:
    sys.exit(__doc__.strip())
try:
    trace = warpfold.Trace(sys.argv[1])
    rows = warpfold.results(sys.argv[2])
except warpfold.Error as error:
    sys.exit(f"locality.py: {error}")

# %% Events by active lanes, and by addresses that these lanes add to
# Lanes of one event on one address are what a reduction can sum before memory sees them. All parameters of an event
# have the same lanes and primitives, so the first stands for all. Some CTAs at a time: a trace may be large.
by_lanes = np.zeros(33, int)
by_addresses = np.zeros(33, int)
for events in trace.chunks():
    by_lanes += np.bincount(events.lanes, minlength=33)
    lanes = events.addresses(0)
    order = np.lexsort((lanes.address, lanes.event))
    event, address = lanes.event[order], lanes.address[order]
    first = np.r_[True, (event[1:] != event[:-1]) | (address[1:] != address[:-1])][:len(event)]
    by_addresses += np.bincount(np.bincount(event[first], minlength=len(events)), minlength=33)

if not by_lanes.any():
    sys.exit(f"locality.py: {sys.argv[1]}: no events")
number = np.arange(33)
title = trace.header["scene"] or trace.header["workload"]
print(f"{title}: {by_lanes.sum()} events, mean {by_lanes @ number / by_lanes.sum():.2f} active lanes "
      f"on {by_addresses @ number / by_addresses.sum():.2f} addresses")


# %% Additions to each address, by array
def merged(parts):
    """Distinct numbers of all parts, increasing, and the sum of the counts of each."""
    numbers, place = np.unique(np.concatenate([part[0] for part in parts]), return_inverse=True)
    return numbers, np.bincount(place, np.concatenate([part[1] for part in parts]), len(numbers)).astype(int)


found = {}  # name of an array: parts of its addresses and additions
for index, site in enumerate(trace.sites):
    # Every parameter of a site is added to at the same primitives, as often.
    primitives, counts = merged([np.unique(events.addresses().primitive, return_counts=True)
                                 for events in trace.chunks(site=index)])
    if not len(primitives):
        continue
    for parameter in site["parameters"]:
        # Where the trace does not name allocations, a parameter is taken for one.
        inside = (array["name"] for array in trace.arrays
                  if array["base"] <= parameter["base"] < array["base"] + array["bytes"])
        addresses = np.uint64(parameter["base"]) + primitives.astype(np.uint64) * np.uint64(parameter["stride_bytes"])
        found.setdefault(next(inside, parameter["name"]), []).append((addresses, counts))
arrays = {name: merged(parts) for name, parts in found.items()}

width = max(map(len, arrays))
print(f"\n{'array':{width}}  addresses   additions  of them to the hottest 1 %")
for name, (addresses, counts) in arrays.items():
    hottest = np.sort(counts)[::-1][:max(1, len(counts) // 100)]
    print(f"{name:{width}}  {len(addresses):9}  {counts.sum():10}  {hottest.sum() / counts.sum():26.1%}")

# %% The hottest addresses of all
print("\nhottest addresses")
hottest = [(counts[i], addresses[i], name) for name, (addresses, counts) in arrays.items() for i in np.argsort(-counts)[:5]]
for count, address, name in sorted(hottest, key=lambda entry: (-entry[0], entry[1]))[:5]:
    print(f"  {address:#x}  {count:8} additions  {name}")

# %% What the policies made of it
runs = warpfold.columns([row for row in rows if row["speedup"] is not None])
if not runs:
    sys.exit(f"locality.py: {sys.argv[2]}: no speedups, for it has no run of the policy baseline")
print("\npolicy      speedup")
for policy, speedup in zip(runs["policy"], runs["speedup"]):
    print(f"{policy:10}  {speedup:7.2f}")

# %% One picture
COLORS = "#0072B2", "#D55E00", "#009E73", "#CC79A7"
BLUE, ORANGE = COLORS[:2]
plt.rcParams.update({"font.size": 9, "axes.spines.top": False, "axes.spines.right": False, "axes.titlesize": 10,
                     "axes.titlelocation": "left"})
figure, ((lanes_axis, heat_axis), (array_axis, policy_axis)) = plt.subplots(2, 2, figsize=(9, 6.4), layout="constrained")
figure.suptitle(f"{title}: {trace.header['kernel']}"[:100], x=0.01, ha="left", fontsize=11)

share = 100 / by_lanes.sum()
lanes_axis.bar(number[1:] - 0.2, by_lanes[1:] * share, 0.4, color=BLUE, label="active lanes")
lanes_axis.bar(number[1:] + 0.2, by_addresses[1:] * share, 0.4, color=ORANGE, label="distinct addresses")
lanes_axis.set(title="Lanes of an event, and their addresses", xlabel="number", ylabel="events, %", xticks=[1, 8, 16, 24, 32])
lanes_axis.legend(frameon=False)

alike = {}  # numbers of additions, from the hottest on: names of the arrays that have them
for name, (_, counts) in arrays.items():
    alike.setdefault(tuple(np.sort(counts)[::-1]), []).append(name)
for color, (counts, names) in zip(COLORS, alike.items()):
    label = names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} like it"
    heat_axis.plot(np.arange(1, len(counts) + 1), counts, color=color, linewidth=2, label=label)
heat_axis.set(title="Additions to each address", xscale="log", yscale="log", xlabel="address, from the hottest on",
              ylabel="additions")
heat_axis.set_ylim(bottom=0.2)  # room for the names
heat_axis.legend(frameon=False, loc="lower left")

shown = sorted(arrays, key=lambda name: -arrays[name][1].sum())[:12]
bars = array_axis.barh(shown, [len(arrays[name][0]) for name in shown], color=BLUE)
array_axis.bar_label(bars, [f"{arrays[name][1].mean():,.1f} additions each" for name in shown], padding=3, fontsize=8)
array_axis.margins(x=0.5)
array_axis.locator_params(axis="x", nbins=5)
array_axis.set_ylim(max(len(shown), 4) - 0.5, -0.5)
array_axis.set(title="Addresses that are added to, by array", xlabel="addresses")

labels = runs["policy"] if len(set(runs["gpu"])) == 1 else [f"{p}, {g}" for p, g in zip(runs["policy"], runs["gpu"])]
bars = policy_axis.bar(np.arange(len(labels)), runs["speedup"], 0.6, color=BLUE)
policy_axis.bar_label(bars, [f"{speedup:.2f}" for speedup in runs["speedup"]], padding=2)
policy_axis.margins(y=0.12)
policy_axis.axhline(1, color="black", linewidth=0.8)
policy_axis.set_xticks(np.arange(len(labels)), labels, rotation=0 if len(labels) < 6 else 30)
policy_axis.set(title=f"Simulated on {', '.join(dict.fromkeys(runs['gpu']))}", ylabel="speedup over plain atomics")

figure.savefig(sys.argv[3], dpi=150)
print(f"\n{sys.argv[3]}: written")
