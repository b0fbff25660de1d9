# SPDX-License-Identifier: Apache-2.0
"""The simulations behind the documents: which there are, what is missing, and their counters as rows.

A row stays good for as long as the probe gives what it gave (probe.py), whatever has been changed in the sources.
Simulations run as points of a sweep (sweep), several at once, and go on where they were stopped.
"""

import argparse
import itertools
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple, TypedDict

from .. import correlate
from ..base import processes
from ..base.errors import BadInput
from ..base.places import TRACES as DATA
from ..sweep import plan as planning, sweep as sweeping, table
from . import store
from .family import ARC_TRACES, GPUS, MEMBERS, Clocks, Member
from .probe import Behaviour

HERE = Path(__file__).resolve().parent

SWEEP = HERE / "points.yaml"
MEASURED_ON, MEASURED_CODE = "h200", "sm_90"
LAUNCH_US = 5.0  # of a measured time that no cycle of the model stands for


class Key(NamedTuple):
    """What identifies a row."""

    trace: str
    gpu: str
    policy: str
    unit_kind: str
    set: str  # parameters, KEY=VALUE
    divider: int  # cycles of the SM in one of the unit
    thin: int  # of one in so many CTAs of the trace; 0: of all


class Facts(TypedDict):
    """What the header and the statistics of a trace say."""

    workload: str
    xxh64: str
    ctas: int
    events: int
    lane_atomics: int
    mean_active_lanes: float
    one_address_share: float
    sample_every: int
    thin: int
    active_histogram: list[int]
    ms: dict[str, float]  # by policy, as measured on a GPU


KEYS = list(Key._fields)
# Where the cycles of a sub-core go.
STALLS = ("issued", "memory_queue", "arc_unit", "shuffle", "dependency", "barrier", "idle")
# What a row has of the results file.
COUNTERS = ["cycles", "rop_ops", "noc_bytes", "activity.instructions"]
COUNTERS += [f"energy_nj.{part}" for part in ("instructions", "unit", "noc", "rop", "idle", "total")]
COUNTERS += [f"stalls.subcore_cycles.{part}" for part in STALLS]
COUNTERS += [
    f"stalls.warp_cycles.{part}"
    for part in ("memory_queue", "arc_unit", "shuffle", "dependency", "barrier", "not_selected")
]
COUNTERS += [f"utilization.{part}" for part in ("arc_unit", "lsu", "buffer", "noc", "rop")]
COUNTERS += [f"bounds.cycles.{part}" for part in ("issue", "arc_unit", "lsu", "buffer", "noc", "rop")]
COUNTERS += ["sums_match", "conserved"]
# Utilization over time.
TIMELINE_TRACE, TIMELINE_ON, TIMELINE_CYCLES = "truck", "rtx4090", 10_000
TIMELINE_KINDS = ["issue", "arc_unit", "lsu", "noc", "rop"]

# A simulation by its key and the interval of its timeline, 0 where it has none.
Wanted = tuple[Key, int]
Plan = Mapping[Wanted, planning.Point]
Results = dict[Wanted, dict[str, Any]]


def trace_facts(simulator: str) -> dict[str, Facts]:
    """Of all shipped traces."""
    paths = [str(DATA / entry["file"]) for entry in planning.manifest()]
    facts: dict[str, Facts] = {}
    infos = json.loads(processes.output([simulator, "trace", "info", "--json", *paths]))["traces"]
    for path, info in zip(paths, infos):
        header, stats = info["header"], info["stats"]
        measured = correlate.measured_of(info, MEASURED_CODE)
        facts[Path(path).stem] = {
            "workload": header["workload"],
            "xxh64": info["xxh64"],
            "ctas": stats["ctas"],
            "events": stats["events"],
            "lane_atomics": stats["lane_atomics"],
            "mean_active_lanes": round(stats["mean_active_lanes"], 3),
            "one_address_share": round(stats["one_address_share"], 4),
            "sample_every": header["sample_every"],
            "thin": correlate.THIN_TO_ONE_IN if measured.large() else 0,
            "active_histogram": stats["active_histogram"],
            "ms": {policy: round(ms, 5) for policy, ms in measured.times.items()},
        }
    return facts


def row_key(
    trace: str, gpu: str, policy: str, kind: str = "serial", settings: str = "", divider: int = 1, thin: int = 0
) -> Key:
    return Key(trace, gpu, policy, kind if policy == "arc-hw" else "serial", settings, divider, thin)


def key_of(point: planning.Point) -> Key:
    return row_key(
        Path(point.trace).stem, point.machine, point.policy, point.unit_kind, table.settings(point), point.divider
    )


def of_members(facts: Mapping[str, Facts], clocks: Clocks) -> Iterator[planning.Point]:
    """Every unit at its clock, on the traces and machines of tables; on the traces of ARC's groups without what its coalescer takes
    and at the machine's clock, too. Units over time."""
    ideal = {Path(path).stem for path, _ in planning.select_traces(ARC_TRACES, HERE)}

    def of(trace: str, gpu: str, one: Member, divider: int, timeline: int = 0) -> planning.Point:
        return planning.Point(
            str(DATA / f"{trace}.wft"),
            facts[trace]["workload"],
            gpu,
            "arc-hw",
            unit_kind=one.unit.name,
            set=one.settings,
            divider=divider,
            timeline=timeline,
        )

    for trace, gpu, one in itertools.product(facts, GPUS, MEMBERS):
        yield of(trace, gpu, one, clocks.divider(one, gpu))
        if trace in ideal:
            yield of(trace, gpu, one.direct, 1)
    for one in MEMBERS:
        yield of(TIMELINE_TRACE, TIMELINE_ON, one, clocks.divider(one, TIMELINE_ON), TIMELINE_CYCLES)


def planned(facts: Mapping[str, Facts], simulator: str, clocks: Clocks) -> Plan:
    """Everything that the documents need. Thinned traces are not there yet."""
    document = planning.load(SWEEP)
    out: dict[Wanted, planning.Point] = {}
    for point in (
        *planning.expand(document, HERE, planning.Simulator(simulator)),
        *of_members(facts, clocks),
    ):
        out[(key_of(point), point.timeline)] = point
    for trace, fact in facts.items():
        for policy in fact["ms"]:
            key = row_key(trace, MEASURED_ON, policy, thin=fact["thin"])
            out.setdefault((key, 0), planning.Point(str(DATA / f"{trace}.wft"), fact["workload"], MEASURED_ON, policy))
    return out


def thinned(trace: str, every: int, simulator: str, folder: Path) -> str:
    """Path of the trace with one of so many of its CTAs."""
    target = folder / f"{Path(trace).stem}.wft"
    if not target.exists():
        folder.mkdir(parents=True, exist_ok=True)
        scratch = folder / f".{os.getpid()}.wft"
        processes.output([simulator, "trace", "sample", trace, scratch, "--every", every])
        os.replace(scratch, target)
    return str(target)


def cache() -> Path:
    """The folder of finished points."""
    return Path(os.environ.get("WARPFOLD_POINTS") or store.ROOT / "results/points").resolve()


def with_thinned(wanted: Plan, simulator: str) -> Plan:
    """The same with traces thinned where their keys say so."""
    folder = cache().parent / "documents/thinned"
    return {
        (key, timeline): (
            replace(point, trace=thinned(point.trace, key.thin, simulator, folder)) if key.thin else point
        )
        for (key, timeline), point in wanted.items()
    }


class Study(sweeping.Sweep):
    """A sweep whose points are given, and named by how the simulator behaves instead of by its bytes."""

    def __init__(  # pylint: disable=super-init-not-called
        self, wanted: Mapping[Any, planning.Point], behaviour: Behaviour, simulator: str
    ) -> None:
        self.simulator = str(Path(simulator).resolve())
        self.cache = cache()
        self.folder = self.cache.parent / "documents"
        self.errors, self.plan = self.folder / "errors", self.folder / "plan.json"
        self.log, self.memory_mb = self.folder / "snakemake.log", 2000
        digests = planning.Digests()
        self.of_key: dict[Any, planning.Point] = {}
        for key, point in wanted.items():
            digests.known[self.simulator] = behaviour.of(point.policy)
            self.of_key[key] = replace(point, id=planning.point_id(point, self.simulator, digests))
        # Each once. Longest first, so that all cores end at about the same time.
        each = {point.id: point for point in self.of_key.values()}
        self.points = sorted(each.values(), key=lambda point: -Path(point.trace).stat().st_size)

    def finished(self) -> dict[Any, dict[str, Any]]:
        """Also of policies that a trace has no code for."""
        out = {}
        for key, point in self.of_key.items():
            file = self.result_file(point)
            if file.exists():
                out[key] = json.loads(file.read_text(encoding="utf-8"))
        return out


def simulate(wanted: Mapping[Any, planning.Point], behaviour: Behaviour, simulator: str, cores: int) -> dict[Any, Any]:
    """Results by the keys of the points, of those that have one; what is in the cache is not simulated again."""
    study = Study(wanted, behaviour, simulator)
    if study.missing():
        code = sweeping.simulate(study, argparse.Namespace(cores=cores, slurm=False, jobs=cores))
        if code > 2:
            raise KeyboardInterrupt
    return study.finished()


def short(value: float | bool | None) -> float | None:
    """Counters whole, shares to six digits."""
    if value is None:
        return None
    if isinstance(value, bool):
        return int(value)
    return value if isinstance(value, int) else round(value) if abs(value) > 1000 else float(f"{value:.6g}")


def to_row(key: Key, result: dict[str, Any]) -> list[Any]:
    """Identification and counters; a trace without code for the policy has none."""
    if "run" not in result:
        return list(key)
    flat = table.flatten(result["run"])
    return list(key) + [short(flat[name]) for name in COUNTERS]


def to_timeline(key: Key, timeline: dict[str, Any]) -> dict[str, Any]:
    """Shares of busy units in percent."""
    interval, cycles = timeline["interval"], timeline["cycles"]
    out: dict[str, Any] = {
        "trace": key.trace,
        "gpu": key.gpu,
        "policy": key.policy,
        "unit_kind": key.unit_kind,
        "set": key.set,
        "divider": key.divider,
        "cycles": cycles,
        "interval": interval,
        "busy": {},
    }
    for kind in TIMELINE_KINDS:
        units = timeline["units"].get(kind)
        if units:
            spans = [min(interval, cycles - index * interval) for index in range(len(timeline["busy"][kind]))]
            out["busy"][kind] = [
                round(100 * busy / (units * span)) for busy, span in zip(timeline["busy"][kind], spans)
            ]
    return out


class Rows:
    """The contents of simulations.json."""

    def __init__(self, document: store.Document | None) -> None:
        found = document or {"behaviour": None, "rows": [], "timelines": [], "traces": {}}
        self.behaviour, self.plain = found["behaviour"], found.get("plain")
        self.by_key: dict[Key, list[Any]] = {Key(*row[: len(KEYS)]): row for row in found["rows"]}
        self.timelines: dict[Key, dict[str, Any]] = {
            row_key(*(entry[name] for name in KEYS[:-1])): entry for entry in found["timelines"]
        }
        self.traces: dict[str, str] = found["traces"]  # XXH64 by name
        self.without_result = 0

    def keep(self, behaviour: Behaviour, facts: Mapping[str, Facts]) -> None:
        """Drops what no longer holds: rows with another behaviour, those of traces that have changed."""
        before = Behaviour(self.behaviour or "", self.plain or "")
        self.by_key = {
            key: row for key, row in self.by_key.items() if behaviour.of(key.policy) == before.of(key.policy)
        }
        self.timelines = {
            key: entry for key, entry in self.timelines.items() if behaviour.of(key.policy) == before.of(key.policy)
        }
        same = {name for name, xxh64 in self.traces.items() if name in facts and facts[name]["xxh64"] == xxh64}
        self.by_key = {key: row for key, row in self.by_key.items() if key.trace in same}
        self.timelines = {key: entry for key, entry in self.timelines.items() if key.trace in same}
        self.behaviour, self.plain = behaviour
        self.traces = {trace: fact["xxh64"] for trace, fact in facts.items()}

    def missing(self, wanted: Plan) -> Plan:
        return {
            (key, timeline): point
            for (key, timeline), point in wanted.items()
            if (key not in self.timelines if timeline else key not in self.by_key)
        }

    def add(self, finished: Results) -> None:
        for (key, timeline), result in finished.items():
            if timeline and "timeline" in result:
                self.timelines[key] = to_timeline(key, result["timeline"])
            elif not timeline:
                self.by_key[key] = to_row(key, result)

    def restrict(self, wanted: Plan) -> None:
        """To what is asked for."""
        self.by_key = {key: row for key, row in self.by_key.items() if (key, 0) in wanted}

    def data(self) -> store.Document:
        return {
            "behaviour": self.behaviour,
            "plain": self.plain,
            "traces": self.traces,
            "missing": self.without_result,
            "columns": KEYS + COUNTERS,
            "rows": [self.by_key[key] for key in sorted(self.by_key)],
            "timelines": [self.timelines[key] for key in sorted(self.timelines)],
        }


def update(
    behaviour: Behaviour, simulator: str, cores: int, clocks: Clocks, folder: Path = store.FOLDER, anew: bool = True
) -> int:
    """Simulates what is missing, unless not `anew`, and writes traces.json and simulations.json. Number of points without
    a result."""
    facts = trace_facts(simulator)
    wanted = planned(facts, simulator, clocks)
    try:
        old = store.read("simulations", folder)
    except BadInput:  # changed by hand: all anew, what is in the cache excepted
        old = None
    rows = Rows(old)
    rows.keep(behaviour, facts)
    rows.restrict(wanted)
    missing = with_thinned(rows.missing(wanted), simulator)
    if anew:
        finished = simulate(missing, behaviour, simulator, cores)
    else:
        finished = Study(missing, behaviour, simulator).finished()
    rows.add(finished)
    failed = len(missing) - len(finished)
    rows.without_result = failed
    write_if_new("simulations", "warpfold results", rows.data(), folder)
    write_if_new("traces", "warpfold trace info --json traces/data/*.wft", {"traces": facts}, folder)
    return failed


def write_if_new(name: str, command: str, data: store.Document, folder: Path) -> None:
    """Leaves commit and date of a file as they are while what it says is the same."""
    try:
        old = store.read(name, folder)
    except BadInput:
        old = None
    if old is None or any(json.dumps(old.get(key)) != json.dumps(value) for key, value in data.items()):
        store.write(name, store.source(command), data, folder)
