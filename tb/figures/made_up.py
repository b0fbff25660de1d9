# SPDX-License-Identifier: Apache-2.0
"""Rows of a sweep's table that nobody simulated, for tests of what is computed and drawn from them."""

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
            def add(policy, cycles, *arguments, loses=1 + 0.3 * number, where=(trace, gpu), **more):
                out.append(row(*where, policy, int(cycles * loses), *arguments, **more))
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
    return {"cycles": cycles, "interval": interval, "units": {"issue": 512, "lsu": 128, "rop": 88, "arc_unit": 512},
            "busy": {"issue": [512 * 3000.0] * count, "lsu": [128 * 9000.0 / (1 + i) for i in range(count)],
                     "rop": [88 * 600.0 * (1 + i) for i in range(count)], "arc_unit": [512 * 2000.0] * count}}


def histogram(seed):
    return [int(10 ** (1 + (lanes * seed) % 5)) for lanes in range(32)]
