# SPDX-License-Identifier: Apache-2.0
"""Rows that nobody simulated, for tests of what is computed and drawn from them."""

from warpfold.tools.results import family, points, store

WORKLOADS = {"a-3d": "3D-AA", "b-3d": "3D-BB", "c-nv": "NV-CC", "d-ps": "PS-DD", "e-pr": "PR-EE"}
GPUS = ("rtx4090", "rtx3060")


def row(trace, gpu, policy, cycles, threshold="", unit_kind="serial", stalls=(700, 0), energy=1000.0, workload=None):
    """stalls: sub-core cycles in front of the memory queue and of the unit."""
    out = {"trace": trace, "workload": WORKLOADS[trace] if workload is None else workload, "gpu": gpu, "policy": policy,
           "threshold": threshold, "unit": "golden", "unit_kind": unit_kind, "set": "", "cycles": cycles,
           "activity.instructions": 1000, "energy_nj.total": energy,
           "stalls.subcore_cycles.memory_queue": stalls[0], "stalls.subcore_cycles.arc_unit": stalls[1]}
    warp = {"issued": 1000, "memory_queue": 20000, "arc_unit": stalls[1] * 10, "shuffle": 500, "dependency": 4000,
            "barrier": 1500, "not_selected": 2000}
    return {**out, **{f"stalls.warp_cycles.{key}": value for key, value in warp.items()}}


def rows():
    """The baseline takes 8,000 cycles; ARC-HW a half, the fused one a quarter, LAB 5,000, and so on. Later traces
    gain less."""
    out = []
    for number, trace in enumerate(WORKLOADS):
        for gpu in GPUS:
            def add(policy, cycles, *arguments, loses=1 + 0.3 * number, trace=trace, gpu=gpu, **more):
                out.append(row(trace, gpu, policy, int(cycles * loses), *arguments, **more))
            out.append(row(trace, gpu, "baseline", 8000, stalls=(6000, 0), energy=9000.0))
            add("arc-hw", 4000, stalls=(100, 400), energy=4000.0)
            add("arc-hw", 2000, unit_kind="fused", stalls=(0, 0), energy=3000.0)
            add("lab", 5000, stalls=(900, 0))
            add("lab-ideal", 4500)
            add("phi", 7800)
            if trace != "d-ps":
                add("cccl", 9000)
                for x in range(0, 33, 8):
                    add("sw-b", 3000 + 40 * abs(x - 16), x, energy=5000.0)
            for x in range(0, 33, 8):
                add("sw-s", 3600 + 30 * abs(x - 24), x, energy=6000.0)
    return out


def timeline(cycles=95_000, interval=10_000):
    count = -(-cycles // interval)
    return {"cycles": cycles, "interval": interval,
            "busy": {"issue": [30] * count, "lsu": [round(90 / (1 + i)) for i in range(count)],
                     "rop": [6 * (1 + i) for i in range(count)], "arc_unit": [20] * count}}


def histogram(seed):
    return [int(10 ** (1 + (lanes * seed) % 5)) for lanes in range(32)]


SHIPPED = {"truck": "3D-TK", "kitchen": "3D-KI", "spheres-small": "PS-SS", "bob": "NV-BB", "web-stanford": "PR-WS"}
MEASURED = {"baseline": 1.0, "sw-b:0": 0.7, "sw-b:16": 0.5, "sw-s:0": 0.8, "sw-s:16": 0.6, "skip": 0.55, "cccl": 1.2}


# Speedups of units at the ideal clock, and paths of their sub-cores in ns: four cycles of an rtx4090, and one.
UNITS = {"serial": 2, "serial_groups": 2.4, "paired": 3.5, "paired_groups": 4.9, "fused": 4, "fused_groups": 5, "vector": 6}
PATHS = {"serial": 1.6, "paired": 0.4, "fused": 0.44}


def write_numbers(folder):
    """docs/numbers as they might be: five shipped traces under all policies on three machines."""
    source = {"commit": "0", "host": "none", "command": "none", "date": "2000-01-01"}
    facts = {trace: {"workload": workload, "xxh64": "0", "ctas": 10, "events": 1000, "lane_atomics": 9000,
                     "mean_active_lanes": 9.5, "one_address_share": 0.5, "sample_every": 1, "thin": 0,
                     "active_histogram": [0, *histogram(3)], "ms": MEASURED} for trace, workload in SHIPPED.items()}
    rows, columns = [], points.KEYS + points.COUNTERS
    gains = {"lab": 1.6, "lab-ideal": 1.8, "phi": 1.1, "arc-hw": 2, **{policy: 1 / ms for policy, ms in MEASURED.items()}}

    def add(trace, gpu, policy, gain, kind="serial", settings="", divider=1):
        counters = {"cycles": round(1_980_000 / gain), "sums_match": 1, "conserved": 1}
        rows.append([trace, gpu, policy, kind, settings, divider, 0, *(counters.get(column, 7) for column in points.COUNTERS)])

    paths = [{"top": top, "path_ns": 9.0, "fast_path_ns": PATHS[one.unit.datapath]}
             for one in family.MEMBERS for top in (f"arc_subcore_{one.row}", one.unit_row)]
    paths.append({"top": "arc_fp32_adder", "path_ns": 9.0, "fast_path_ns": 1.0})
    clocks = family.Clocks({"rows": paths})
    for trace in SHIPPED:
        for gpu in family.GPUS:
            for policy, gain in gains.items():
                if policy != "arc-hw":
                    add(trace, gpu, policy, gain)
            for one in family.MEMBERS:
                settings = " ".join(f"{key}={value}" for key, value in one.settings)
                for unit, divider in {(one.direct.unit.name, 1), (one.unit.name, clocks.divider(one, gpu))}:
                    add(trace, gpu, "arc-hw", UNITS[one.direct.row] / divider ** 0.5, unit, settings, divider)
    timelines = [{"trace": "truck", "gpu": "rtx4090", "policy": policy, "unit_kind": kind, "set": settings, "divider": 1, **timeline()}
                 for policy, kind, settings in (("baseline", "serial", ""), ("arc-hw", "paired-staged", "rules.scheduler=reduce-groups"))]
    store.write("asap7", source, {"rows": paths}, folder)
    store.write("synthesis", source, {"rows": [{"top": path["top"], "transistors": 10_000 * number}
                                               for number, path in enumerate(paths, 1)]}, folder)
    store.write("traces", source, {"traces": facts}, folder)
    store.write("simulations", source, {"behaviour": "0", "traces": {trace: "0" for trace in SHIPPED}, "missing": 0,
                                        "plain": "0", "columns": columns, "rows": rows, "timelines": timelines}, folder)
