# SPDX-License-Identifier: Apache-2.0
"""The probe: small runs whose outcome tells whether the results in docs/numbers still hold.

It has cycles, ROP operations and energy of samples of shipped traces, the values of all parameters of the machines,
and transistors of some modules. What leaves all of these as they are leaves the results fresh: a comment, a name, a
faster simulator. Anything that changes one makes them stale.
"""

import hashlib
import json
import tempfile
import tomllib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from ..base import processes
from ..base.errors import BadInput
from ..base.places import tool, warpfold
from .store import ROOT

DATA = ROOT / "traces/data"
MACHINES = ("rtx4090", "rtx3060", "h200")
# (trace, one CTA in so many or 0 for all, machine, policies). A sample fills the part of the GPU that it runs on, so
# that few CTAs are enough for every block to be a limit somewhere. A machine has to have such a part.
POINTS = [
    ("truck", 16, "rtx4090", "all"),
    ("truck", 14, "rtx3060", "baseline,sw-b:8,arc-hw,lab"),
    ("truck", 12, "h200", "baseline,sw-b:8,arc-hw"),
    ("spheres-small", 14, "rtx3060", "baseline,sw-s:16,arc-hw,lab,lab-ideal,phi"),
    ("spheres-small", 12, "h200", "baseline,arc-hw,lab"),
    ("envphong", 14, "rtx3060", "baseline,sw-b:16,arc-hw,phi"),
    ("web-stanford", 12, "h200", "baseline,sw-s:16,arc-hw,lab,lab-ideal,phi"),
    ("truck-values", 0, "rtx3060", "baseline,sw-s:16,skip,arc-hw"),
    ("hexplane-sorted", 16, "rtx4090", "baseline,arc-hw"),
]
# arc-hw of these runs with every kind of unit.
KINDS_ON = {
    ("truck", "rtx4090"),
    ("spheres-small", "rtx3060"),
    ("web-stanford", "h200"),
    ("hexplane-sorted", "rtx4090"),
}
KINDS = ("serial", "paired", "fused")
TOPS = ("arc_scheduler", "arc_lane_picker", "arc_bin_max", "arc_reduction_serial")


def run(command):
    processes.output(command)


def simulate(simulator, trace, machine, policies, kind, folder, settings=()):
    out = folder / f"{trace.stem}-{Path(machine).stem}-{kind}-{len(policies)}.json"
    run(
        [
            simulator,
            "sim",
            trace,
            "--gpu",
            machine,
            "--policy",
            policies,
            "--unit",
            "golden",
            "--unit-kind",
            kind,
            "--jobs",
            1,
            "--threads",
            1,
            "--json",
            out,
            *settings,
        ]
    )
    return json.loads(out.read_text(encoding="utf-8"))["runs"]


def jobs(points=None):
    """(trace, every, machine, policies, kind)."""
    for trace, every, machine, policies in points or POINTS:
        yield trace, every, machine, policies, "serial"
        if (trace, machine) in KINDS_ON:
            for kind in KINDS[1:]:
                yield trace, every, machine, "arc-hw", kind


def cycles(simulator, cores=1, machine_file=None, points=None):
    """{"truck/16 rtx4090 arc-hw serial": [cycles, ROP operations, energy in microjoules]}. `machine_file` gives another
    file for a machine."""
    files = machine_file or (lambda name: name)
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        traces = {}
        for trace, every, *_ in points or POINTS:
            traces[trace, every] = DATA / f"{trace}.wft"
            if every:
                traces[trace, every] = folder / f"{trace}-{every}.wft"
                run(
                    [
                        simulator,
                        "trace",
                        "sample",
                        DATA / f"{trace}.wft",
                        folder / f"{trace}-{every}.wft",
                        "--every",
                        every,
                    ]
                )

        def one(job):
            trace, every, machine, policies, kind = job
            runs = simulate(simulator, traces[trace, every], files(machine), policies, kind, folder)
            return [
                (
                    f"{trace}{f'/{every}' if every else ''} {machine} {entry['policy']}"
                    + (f" {kind}" if entry["policy"] == "arc-hw" else ""),
                    [entry["cycles"], entry["rop_ops"], round(entry["energy_nj"]["total"] / 1000)],
                )
                for entry in runs
            ]

        with ThreadPoolExecutor(cores) as pool:
            return dict(pair for pairs in pool.map(one, jobs(points)) for pair in pairs)


def machine_values(folder=ROOT / "model/gpus"):
    """{"rtx4090": {"sm.count": 128}}, as the files say."""
    out = {}
    for name in MACHINES:
        with open(folder / f"{name}.toml", "rb") as file:
            content = tomllib.load(file)
        flat = {}
        for section, value in content.items():
            flat.update(
                {f"{section}.{key}": item for key, item in value.items()}
                if isinstance(value, dict)
                else {section: value}
            )
        out[name] = {key: flat[key] for key in sorted(flat) if key != "name"}
    return out


def transistors():
    """{"yosys": version, "tops": {module: transistors}}; None where there is no Yosys."""
    with tempfile.TemporaryDirectory() as scratch:
        out = Path(scratch) / "synth.json"
        tops = [word for top in TOPS for word in ("--top", top)]
        try:
            run([*tool("synth"), *tops, "--transistors-only", "--json", out])
        except BadInput as error:
            if "not found" in str(error):
                return None
            raise
        result = json.loads(out.read_text(encoding="utf-8"))
    return {
        "yosys": result["tools"]["yosys"],
        "abc": result["tools"].get("abc", ""),
        "tops": {row["top"]: row["transistors"] for row in result["rows"]},
    }


def take(simulator, cores=1):
    """All of it."""
    return {"cycles": cycles(simulator, cores), "machines": machine_values(), "transistors": transistors()}


def behaviour(probe):
    """What names the results of simulations: a digest of how the simulator and its machines behave."""
    what = {"cycles": probe["cycles"], "machines": probe["machines"]}
    return hashlib.sha256(json.dumps(what, sort_keys=True).encode()).hexdigest()[:16]


def differences(kept, now):
    """Lines on what the simulator does otherwise than it did, and on machines that have changed."""
    out = []
    for machine, values in now["machines"].items():
        before = kept["machines"].get(machine, {})
        out += [
            f"{machine} {key} is {values.get(key)}, was {before.get(key)}"
            for key in sorted({*values, *before})
            if values.get(key) != before.get(key)
        ]
    names = ("cycles", "ROP operations", "microjoules")
    for point in dict.fromkeys([*kept["cycles"], *now["cycles"]]):
        old, new = kept["cycles"].get(point), now["cycles"].get(point)
        if old is None or new is None:
            out.append(f"{point} is {'new' if old is None else 'gone'}")
        elif old != new:
            out.append(
                f"{point}: " + ", ".join(f"{y:,} {name}, was {x:,}" for name, x, y in zip(names, old, new) if x != y)
            )
    return out


def transistor_differences(kept, now):
    """(lines, why the comparison means nothing or None)."""
    if now is None:
        return [], "no Yosys"
    if not kept:
        return ["transistors were never counted"], None
    if any(kept[tool] != now[tool] for tool in ("yosys", "abc")):
        return [], f"{now['yosys']} {now['abc']} in place of {kept['yosys']} {kept['abc']}"
    return [
        f"{top}: {count:,} transistors, was {kept['tops'].get(top)}"
        for top, count in now["tops"].items()
        if count != kept["tops"].get(top)
    ], None


def simulator_path():
    path = warpfold()
    if not path.is_file():
        raise BadInput(f"no {path}; build first, or set WARPFOLD to the command")
    return str(path)
