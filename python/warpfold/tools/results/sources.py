# SPDX-License-Identifier: Apache-2.0
"""Results beside the simulations of the shipped traces: synthesis, layouts, accuracy, microbenchmarks, speed. Each makes
one file of docs/numbers from a command."""

import json
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..base import processes
from ..base.errors import BadInput
from ..base.places import tool
from ..base.processes import Word
from ..calibrate import replay_microbench
from ..sweep import plan as planning
from . import merging, probe, store, today as kernels
from .store import ROOT, Document
from .family import DATAPATHS, Clocks, member

# The command that gives a file, and what the file has.
Made = tuple[str, Document]
Source = Callable[[], Made]
Settings = tuple[tuple[str, Any], ...]

BUILD = ROOT / "build/release"
ACCURACY = re.compile(
    r"^(\S+): (\d+) transactions, (\d+) of one lane;.*\n"
    r"fused is nearer to the exact sum (\d+) times, as near (\d+), farther (\d+)\n"
    r"serial +inexact \d+, mean error ([0-9.]+) ulp, largest ([0-9.]+) ulp\n"
    r"fused +inexact \d+, mean error ([0-9.]+) ulp, largest ([0-9.]+) ulp\n"
    r"paired +inexact \d+, mean error ([0-9.]+) ulp, largest ([0-9.]+) ulp$",
    re.M,
)


def run(command: Sequence[Word], environment: Mapping[str, str] | None = None) -> str:
    """Standard output of a command."""
    return processes.output(command, env={**os.environ, **(environment or {})})


def json_of(command: Sequence[Word], environment: Mapping[str, str] | None = None) -> Any:
    """What a command writes into the file of --json."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out.json"
        run([*command, "--json", out], environment)
        return json.loads(out.read_text(encoding="utf-8"))


def synthesis() -> Made:
    """All rows of warpfold synth with Debian's library."""
    result = json_of(tool("synth"))
    rows = [{key: value for key, value in row.items() if key not in ("paths", "fast_paths")} for row in result["rows"]]
    return "warpfold synth --json FILE", {
        "tools": result["tools"],
        "library": result["liberty"]["library"],
        "rows": rows,
    }


def layouts() -> Made:
    """Routed layout, its picture, and FPGA figures of reduction units."""
    chip, device = [], []
    for kind in DATAPATHS:
        top = f"arc_reduction_{kind}"
        with tempfile.TemporaryDirectory() as folder:
            chip.append(json_of([*tool("layout"), "--top", top, "--out", folder]))
            shutil.copyfile(Path(folder) / f"{top}.png", ROOT / f"docs/pictures/layout_{kind}.png")
        device.append(json_of([*tool("fpga"), "--top", top]))
    device.append(json_of([*tool("fpga"), "--top", "arc_subcore", "--address-bits", "24"]))
    return layout_document(chip, device)


def layout_document(chip: Sequence[Document], device: Sequence[Document]) -> Made:
    """What is kept of the results of warpfold layout and warpfold fpga."""
    return "warpfold layout --top NAME --json FILE; warpfold fpga --top NAME --json FILE", {
        "tools": {**device[0]["tools"], **chip[0]["tools"]},
        "library": chip[0]["library"],
        "rows": [row for result in chip for row in result["rows"]],
        "fpga": [row for result in device for row in result["rows"]],
    }


def accuracy() -> Made:
    """Sums of the kinds beside the exact ones, for each trace with values."""
    text = run([BUILD / "tb/shipped/accuracy_test"])
    traces = {}
    for match in ACCURACY.finditer(text):
        name, *rest = match.groups()
        transactions, lone, nearer, as_near, farther = map(int, rest[:5])
        serial_mean, serial_max, fused_mean, fused_max, paired_mean, paired_max = map(float, rest[5:])
        traces[Path(name).stem] = {
            "transactions": transactions,
            "one_lane": lone,
            "nearer": nearer,
            "as_near": as_near,
            "farther": farther,
            "serial": {"mean_ulp": serial_mean, "max_ulp": serial_max},
            "fused": {"mean_ulp": fused_mean, "max_ulp": fused_max},
            "paired": {"mean_ulp": paired_mean, "max_ulp": paired_max},
        }
    if not traces:
        raise BadInput("accuracy_test printed no figures")
    return "build/release/tb/shipped/accuracy_test", {"traces": traces}


def replayed(simulator: str, match: str, gpu: str = "h200", file: str | None = None) -> Made:
    """Microbenchmarks in the model beside what a GPU took; `file` has other measurements than those of the H200."""
    measured = [str(ROOT / file), "--gpu", gpu] if file else []
    rows = json_of([*tool("replay"), *measured, "--match", match], {"WARPFOLD": simulator})
    return f"warpfold replay {f'{file} --gpu {gpu} ' if file else ''}--match '{match}' --json FILE", {
        "gpu": gpu,
        "cases": [[row["name"], round(row["measured"], 4), round(row["modelled"], 4)] for row in rows],
    }


def replay(simulator: str) -> Made:
    """REDs."""
    return replayed(simulator, replay_microbench.RED_RATES)


def vector_replay(simulator: str) -> Made:
    """Vector REDs."""
    return replayed(simulator, replay_microbench.VECTOR_RATES, "h100", "model/gpus/h100-microbench.json")


# Traces with the times of the variant on an H100.
SLOT_TRACES = ("truck-struct", "truck-tile-warp", "bob", "spot", "envphong")


def slots(simulator: str) -> Made:
    """Sums in a slot of shared memory in the model beside what an H100 took, in milliseconds."""
    traces = [kernels.path_of(trace) for trace in SLOT_TRACES]
    with tempfile.TemporaryDirectory() as folder:
        run(
            [*tool("correlate"), "--gpu", "h100", "--policy", "shared-slot", "--out", folder, *traces],
            {"WARPFOLD": str(simulator)},
        )
        found = json.loads((Path(folder) / "correlation.json").read_text(encoding="utf-8"))["points"]
    names = " ".join(str(path.relative_to(ROOT)) for path in traces)
    return f"warpfold correlate --gpu h100 --policy shared-slot --out DIR {names}", {
        "gpu": "h100",
        "cases": [[point["trace"], round(point["measured_ms"], 5), round(point["modelled_ms"], 5)] for point in found],
    }


def on_h100(simulator: str) -> Made:
    """Traces that were recorded on an H100: what they hold, and the model of that GPU beside their times."""
    traces = sorted((ROOT / "traces/h100").glob("*.wft"))
    facts = {}
    for path, info in zip(traces, json.loads(run([simulator, "trace", "info", "--json", *traces]))["traces"]):
        stats = info["stats"]
        facts[path.stem] = {
            "workload": info["header"]["workload"],
            "events": stats["events"],
            "mean_active_lanes": round(stats["mean_active_lanes"], 3),
            "one_address_share": round(stats["one_address_share"], 4),
            "sample_every": info["header"]["sample_every"],
            "ms": {time["policy"]: round(time["median_ms"], 5) for time in info["header"]["times"]},
        }
    with tempfile.TemporaryDirectory() as folder:
        run([*tool("correlate"), "--gpu", "h100", "--out", folder, *traces], {"WARPFOLD": str(simulator)})
        found = json.loads((Path(folder) / "correlation.json").read_text(encoding="utf-8"))["points"]
    return "warpfold correlate --gpu h100 --out DIR traces/h100/*.wft", {
        "traces": facts,
        "points": [[point["trace"], point["policy"], round(point["modelled_ms"], 5)] for point in found],
    }


def times_of(simulator: str, trace: str) -> tuple[str, dict[str, float]]:
    """(GPU, {policy: median ms}) as measured."""
    info = json.loads(run([simulator, "trace", "info", "--json", kernels.path_of(trace)]))["traces"][0]
    header = info["header"]
    return header["gpu"], {
        time["policy"]: time["median_ms"] for time in header["times"] if time.get("gpu", header["gpu"]) == header["gpu"]
    }


def cycles_of(
    simulator: str, clocks: Clocks, trace: str, gpu: str, policy: str, unit: str, settings: Settings = ()
) -> int:
    """Cycles of a run, all of whose checks hold, with a unit at its clock. `settings`: parameters of the machine."""
    one = member(unit)
    path = str(kernels.path_of(trace))
    point = planning.Point(path, "", gpu, policy, unit_kind=one.unit.name, set=settings)
    if probe.with_unit(policy):
        point = replace(point, set=(*one.settings, *settings), divider=clocks.divider(one, gpu))
    found = json_of([simulator, "sim", *point.arguments(), "--jobs", 1, "--threads", 1])["runs"][0]
    if not (found["sums_match"] and found["conserved"]):
        raise BadInput(f"{trace} {gpu} {policy} {unit}: a check failed")
    cycles: int = found["cycles"]
    return cycles


def today(simulator: str, cores: int, clocks: Clocks) -> Made:
    """Kernels of today under hardware, and the 3D traces beside their floor."""
    points = kernels.plan()
    with ThreadPoolExecutor(cores) as pool:
        cycles = list(pool.map(lambda point: cycles_of(simulator, clocks, *point), points))
    measured = {}
    for trace in sorted({*kernels.KERNELS, *kernels.FLOOR_TRACES}):
        gpu, times = times_of(simulator, trace)
        measured[trace] = {"gpu": gpu, "ms": {policy: round(ms, 5) for policy, ms in times.items()}}
    return "warpfold results", {
        "measured": measured,
        "columns": ["trace", "gpu", "policy", "unit", "cycles"],
        "rows": [[*point, count] for point, count in zip(points, cycles)],
    }


def merged(simulator: str, cores: int, clocks: Clocks) -> Made:
    """Kernels of today with merge buffers of several sizes in SMs, and at ports of the L2, and the sums that there are to
    merge."""
    at_ports, in_sms = merging.at_ports(), merging.in_sms()

    def port_cycles(trace: str, unit: str) -> int:
        return cycles_of(simulator, clocks, trace, merging.GPU, "arc-merge-l2", unit)

    def merged_cycles(trace: str, unit: str, rows: int) -> int:
        return cycles_of(simulator, clocks, trace, merging.GPU, "arc-merge", unit, (("arc.merge_rows", str(rows)),))

    with ThreadPoolExecutor(cores) as pool:
        of_ports = list(pool.map(lambda one: port_cycles(*one), at_ports))
        of_sms = list(pool.map(lambda one: merged_cycles(*one), in_sms))
    counted = run(
        [
            sys.executable,
            "-B",
            ROOT / "examples/python/merging.py",
            merging.SMS,
            *map(kernels.path_of, kernels.KERNELS),
        ],
        {"PYTHONPATH": str(Path(simulator).resolve().parents[1] / "python")},
    )
    return "warpfold results", {
        "port_columns": ["trace", "unit", "cycles"],
        "at_ports": [[*one, count] for one, count in zip(at_ports, of_ports)],
        "merged_columns": ["trace", "unit", "rows", "cycles"],
        "merged": [[*one, count] for one, count in zip(in_sms, of_sms)],
        "left_by": ["trace", *merging.LEVELS],
        "left": [[trace, *map(int, counts)] for trace, *counts in map(str.split, counted.splitlines()[1:])],
    }


def speed(simulator: str) -> Made:
    """Speed of the simulator on the machine at hand."""
    result = json_of([*tool("benchmark"), "--runs", 3, "--warpfold", simulator])
    return "python3 python benchmark --runs 3 --json FILE", {
        "trace": "truck",
        "gpu": result["gpu"],
        "rows": result["rows"],
    }
