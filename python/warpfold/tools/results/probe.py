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
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple, TypedDict

from ..base import processes
from ..base.errors import BadInput
from ..base.places import tool, warpfold
from .family import GPUS as MACHINES, MEMBERS, PAPERS, Member
from .store import ROOT

DATA = ROOT / "traces/data"
# (trace, one CTA in so many or 0 for all, machine, policies). A sample fills the part of the GPU that it runs on, so
# that few CTAs are enough for every block to be a limit somewhere. A machine has to have such a part.
Job = tuple[str, int, str, str]
POINTS: list[Job] = [
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
# arc-hw of these runs with every unit and scheduler.
MEMBERS_ON = {
    ("truck", "rtx4090"),
    ("spheres-small", "rtx3060"),
    ("web-stanford", "h200"),
    ("hexplane-sorted", "rtx4090"),
}
TOPS = ("arc_scheduler", "arc_lane_picker", "arc_bin_max", "arc_reduction_serial")


class Gates(TypedDict):
    yosys: str  # versions
    abc: str
    tops: dict[str, int]  # transistors by module


class Probe(TypedDict):
    cycles: dict[str, list[int]]  # "truck/16 rtx4090 arc-hw serial": cycles, ROP operations, energy in microjoules
    machines: dict[str, dict[str, Any]]  # "rtx4090": {"sm.count": 128}
    transistors: Gates | None


def simulate(
    simulator: str, trace: Path, machine: str, policies: str, member: Member, folder: Path
) -> list[dict[str, Any]]:
    out = folder / f"{trace.stem}-{Path(machine).stem}-{member.row}-{len(policies)}.json"
    where = ["--gpu", machine, "--policy", policies, "--unit", "golden", "--unit-kind", member.unit.name]
    for key, value in member.settings:
        where += ["--set", f"{key}={value}"]
    processes.output([simulator, "sim", trace, *where, "--jobs", 1, "--threads", 1, "--json", out])
    runs: list[dict[str, Any]] = json.loads(out.read_text(encoding="utf-8"))["runs"]
    return runs


def jobs(points: Sequence[Job]) -> Iterator[tuple[str, int, str, str, Member]]:
    """(trace, every, machine, policies, unit)."""
    for trace, every, machine, policies in points:
        yield trace, every, machine, policies, PAPERS
        if (trace, machine) in MEMBERS_ON:
            for member in MEMBERS[1:]:
                yield trace, every, machine, "arc-hw", member


def cycles(
    simulator: str,
    cores: int = 1,
    machine_file: Callable[[str], str] = str,
    points: Sequence[Job] = POINTS,
) -> dict[str, list[int]]:
    """Of a probe. `machine_file` gives another file for a machine."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        traces = {}
        for trace, every, *_ in points:
            traces[trace, every] = DATA / f"{trace}.wft"
            if every:
                traces[trace, every] = folder / f"{trace}-{every}.wft"
                sample = ("trace", "sample", DATA / f"{trace}.wft", traces[trace, every], "--every", every)
                processes.output([simulator, *sample])

        def one(job: tuple[str, int, str, str, Member]) -> list[tuple[str, list[int]]]:
            trace, every, machine, policies, member = job
            runs = simulate(simulator, traces[trace, every], machine_file(machine), policies, member, folder)
            return [
                (
                    f"{trace}{f'/{every}' if every else ''} {machine} {entry['policy']}"
                    + (f" {member.row}" if entry["policy"] == "arc-hw" else ""),
                    [entry["cycles"], entry["rop_ops"], round(entry["energy_nj"]["total"] / 1000)],
                )
                for entry in runs
            ]

        with ThreadPoolExecutor(cores) as pool:
            return dict(pair for pairs in pool.map(one, jobs(points)) for pair in pairs)


def machine_values(folder: Path = ROOT / "model/gpus") -> dict[str, dict[str, Any]]:
    """Of a probe, as the files say."""
    out = {}
    for name in MACHINES:
        with open(folder / f"{name}.toml", "rb") as file:
            content = tomllib.load(file)
        flat: dict[str, Any] = {}
        for section, value in content.items():
            flat.update(
                {f"{section}.{key}": item for key, item in value.items()}
                if isinstance(value, dict)
                else {section: value}
            )
        out[name] = {key: flat[key] for key in sorted(flat) if key != "name"}
    return out


def transistors() -> Gates | None:
    """None where there is no Yosys."""
    with tempfile.TemporaryDirectory() as scratch:
        out = Path(scratch) / "synth.json"
        tops = [word for top in TOPS for word in ("--top", top)]
        try:
            processes.output([*tool("synth"), *tops, "--transistors-only", "--json", out])
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


def take(simulator: str, cores: int = 1) -> Probe:
    """All of it."""
    return {"cycles": cycles(simulator, cores), "machines": machine_values(), "transistors": transistors()}


class Behaviour(NamedTuple):
    """What names the results of simulations: digests of how the simulator and its machines behave."""

    every: str
    plain: str  # without units: policies that have none stay as they are when a unit changes

    def of(self, policy: str) -> str:
        return self.every if with_unit(policy) else self.plain


def with_unit(policy: str) -> bool:
    return policy.startswith("arc-")


def behaviour(probe: Mapping[str, Any]) -> Behaviour:
    def digest(cycles: Mapping[str, Any], machines: Mapping[str, Any]) -> str:
        what = {"cycles": cycles, "machines": machines}
        return hashlib.sha256(json.dumps(what, sort_keys=True).encode()).hexdigest()[:16]

    plain = {point: counts for point, counts in probe["cycles"].items() if not with_unit(point.split()[2])}
    machines = {
        name: {key: value for key, value in values.items() if key != "rules.scheduler" and not key.startswith("arc.")}
        for name, values in probe["machines"].items()
    }
    return Behaviour(digest(probe["cycles"], probe["machines"]), digest(plain, machines))


def differences(kept: Mapping[str, Any], now: Probe) -> list[str]:
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


def transistor_differences(kept: Gates | None, now: Gates | None) -> tuple[list[str], str | None]:
    """(lines, why the comparison means nothing or None)."""
    if now is None:
        return [], "no Yosys"
    if not kept:
        return ["transistors were never counted"], None
    if (kept["yosys"], kept["abc"]) != (now["yosys"], now["abc"]):
        return [], f"{now['yosys']} {now['abc']} in place of {kept['yosys']} {kept['abc']}"
    return [
        f"{top}: {count:,} transistors, was {kept['tops'].get(top)}"
        for top, count in now["tops"].items()
        if count != kept["tops"].get(top)
    ], None


def simulator_path() -> str:
    path = warpfold()
    if not path.is_file():
        raise BadInput(f"no {path}; build first, or set WARPFOLD to the command")
    return str(path)
