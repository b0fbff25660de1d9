#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `warpfold record` makes of programs on a GPU, each under a time limit.

usage: record_all.py run FOLDER [--jobs N] [--limit SECONDS] [--only NAME...] [--loads all|none] [--time-runs N]
       record_all.py write FOLDER
       record_all.py loads FOLDER BEFORE [--jobs N]

`run`, on a machine with a GPU, records in FOLDER: every way to launch (launches.cu), vectors, bulk reductions and loops of
compare-and-swap (vectors.cu), plain additions (additions.cu), kernels whose flow of control is hard to follow (flow.cu), known
loads and stores (loads.cu), and kernels of public libraries (public_kernels.py). It holds what our own programs leave in their
arrays, or know of their loads, against the traces. It needs warpfold in PATH, NumPy, a CUDA toolkit and the libraries; programs that lie compiled in FOLDER/programs are taken.
`write`, anywhere, simulates the traces of the public kernels and writes docs/numbers/recorded.json. `loads` compares those of a
folder recorded with loads with those of one recorded with `--loads none`, and with what ncu counted (FOLDER/ncu/CASE.csv), and
writes docs/numbers/recorded_loads.json.
Exit code 0: all ended in time, and arrays are as recorded. 1: one did not. 2: bad usage.
"""

import argparse
import csv
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
WAYS = ["default", "blocking", "nonblocking", "per-thread", "threads", "graph", "warm-graph", "nodes", "updated",
        "device-graph", "cooperative", "cluster", "modules", "library", "managed", "children"]
EIGHT = ["index_add_floats", "scatter_add_1d", "put_accumulate", "bincount_weights", "grid_sample_2d", "bilinear_backward",
         "reflection_pad_backward", "bag_max_backward"]
REPEAT = 5  # launches of each public kernel, of which the first is recorded and the others are warm
SAID = 12   # lines of a command that are kept


def ended(command, limit, log, **options):
    """Exit code, or None where the limit passed, and seconds. The output goes to the file `log`."""
    began = time.monotonic()
    with open(log, "w", encoding="utf-8") as out:
        with subprocess.Popen(command, stdout=out, stderr=out, stdin=subprocess.DEVNULL, start_new_session=True,
                              **options) as program:
            try:
                code = program.wait(limit)
            except subprocess.TimeoutExpired:
                os.killpg(program.pid, signal.SIGKILL)
                code = None
    return code, round(time.monotonic() - began, 1)


class Runs:
    def __init__(self, arguments):
        self.folder, self.limit, self.loads = arguments.folder.resolve(), arguments.limit, arguments.loads
        self.time_runs = str(arguments.time_runs)
        self.programs = self.folder / "programs"
        for name in ("logs", "traces", "programs"):
            (self.folder / name).mkdir(parents=True, exist_ok=True)
        self.outcomes = []
        self.told = {}
        self.lock = threading.Lock()

    def keep(self, outcome):
        """What is there so far is in the file, should this be ended."""
        with self.lock:
            self.outcomes.append(outcome)
            outcomes = sorted(self.outcomes, key=lambda o: (o["group"], o["name"]))
            (self.folder / "outcomes.json").write_text(json.dumps({**self.told, "outcomes": outcomes}, indent=1) + "\n",
                                                       encoding="utf-8")

    def compile(self, name):
        program = self.programs / name
        if not program.exists():
            subprocess.run(["nvcc", "-std=c++20", "-O2", "-arch=sm_90", "-o", program, HERE / f"{name}.cu"], check=True)

    def record(self, group, name, options, program):
        out = self.folder / "traces" / f"{group}.{name}"
        log = self.folder / "logs" / f"{group}.{name}"
        # Else each of several JAX programs at a time takes most of the GPU's memory.
        code, seconds = ended(["warpfold", "record", *options, "--loads", self.loads, "--patience", str(self.limit // 2),
                               "--out", out, "--", *program],
                              self.limit, log, env={**os.environ, "XLA_PYTHON_CLIENT_PREALLOCATE": "false"})
        outcome = {"group": group, "name": name, "code": code, "seconds": seconds,
                   "said": log.read_text(encoding="utf-8", errors="replace").splitlines()[-SAID:],
                   "traces": sorted(str(path.relative_to(self.folder)) for path in out.glob("*.wft"))}
        return outcome

    def own(self, group, name, program, extra=()):
        """One of our programs, whose arrays are held against its traces."""
        arrays = self.folder / f"{group}.{name}.arrays"
        # Of the kernels with known loads one launch each, so that a trace is named after its kernel.
        launches = "1" if name == "loads" else "all"
        outcome = self.record(group, name, ["--launch", launches, "--time-runs", "0", "--no-profile"],
                              [self.programs / program, *([name] if program == "launches" else []), arrays, *extra])
        # Each child leaves its arrays and has its traces: by the rank of its creation.
        if name != "children" and outcome["traces"] and arrays.exists():
            log = self.folder / "logs" / f"check.{name}"
            traces = [self.folder / path for path in outcome["traces"]]
            check = "check_loads.py" if name == "loads" else "check_additions.py"
            code, _ = ended([sys.executable, HERE / check, arrays, *traces], self.limit, log)
            outcome["check"] = code
            outcome["checked"] = log.read_text(encoding="utf-8").splitlines()[-SAID:]
        self.say(outcome)

    def public(self, group, name, turns):
        self.say(self.record(group, name, ["--time-runs", self.time_runs, "--workload", group],
                             [sys.executable, HERE / "public_kernels.py", "--repeat", str(REPEAT), "--turns", turns, name]))

    def say(self, outcome):
        self.keep(outcome)
        check = outcome.get("check")
        print(f"{outcome['group']} {outcome['name']}: exit {outcome['code']}, {len(outcome['traces'])} traces, "
              f"{outcome['seconds']} s{'' if check is None else ', arrays differ' if check else ', arrays as recorded'}",
              flush=True)


def run(arguments):
    runs = Runs(arguments)
    began = time.monotonic()
    code, prepared = ended(["warpfold", "record", "--prepare"], runs.limit, runs.folder / "logs/prepare")
    gpu = subprocess.run(["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"], capture_output=True,
                         text=True, check=True).stdout.splitlines()[0].split(", ")
    print(f"{gpu[0]}, driver {gpu[1]}; recorder built: exit {code}, {prepared} s", flush=True)
    slow = None
    if not arguments.only:
        program = [sys.executable, HERE / "public_kernels.py", *EIGHT]
        ended(program, runs.limit, runs.folder / "logs/eight.first")  # so that files are in memory
        _, alone = ended(program, runs.limit, runs.folder / "logs/eight.alone")
        outcome = runs.record("eight", "torch", [], program)
        slow = {"kernels": len(outcome["traces"]), "program_seconds": alone, "record_seconds": outcome["seconds"],
                "said": outcome["said"][-1]}
        print(f"eight kernels: program {alone} s, recorded {outcome['seconds']} s: {outcome['said'][-1]}", flush=True)
    runs.told = {"gpu": gpu[0], "driver": gpu[1], "prepare_seconds": prepared, "jobs": arguments.jobs, "eight": slow}
    listed = subprocess.run([sys.executable, HERE / "public_kernels.py", "--list"], capture_output=True, text=True, check=True)
    turns = str(runs.folder / "turns")
    work = [(runs.public, *line.split(), turns) for line in listed.stdout.splitlines()]
    work += [(runs.own, "launches", way, "launches") for way in WAYS]
    work += [(runs.own, "kernels", name, name) for name in ("vectors", "additions", "flow", *["loads"] * (arguments.loads == "all"))]
    if arguments.only:
        work = [item for item in work if item[2] in arguments.only or item[1] in arguments.only]
    # Those that compile take longest.
    work.sort(key=lambda item: item[1] not in ("compiled", "jax"))
    with ThreadPoolExecutor(arguments.jobs) as pool:
        list(pool.map(runs.compile, {item[3] for item in work if item[0] == runs.own}))
        list(pool.map(lambda item: item[0](*item[1:]), work))
    bad = [o["name"] for o in runs.outcomes if o["code"] is None or o.get("check")]
    print(f"{len(runs.outcomes)} commands in {time.monotonic() - began:.0f} s, not as they should be: {bad or 'none'}")
    return 1 if bad else 0


# --- Rows ----------------------------------------------------------------------------------------

LIBRARIES = {"torch": "PyTorch", "vision": "torchvision", "compiled": "torch.compile", "triton": "Triton", "jax": "JAX",
             "cupy": "CuPy", "numba": "Numba", "sparse": "PyTorch sparse", "graphs": "PyTorch"}
# What says why there is no trace, the clearest first.
NO_TRACE = [r".*(?:not recorded|no trace: |not run: ).*", r"\w+Error: .*", r"warpfold: record: .*"]


def number(text):
    return int(text) if text else None


def adds_of(header):
    """"f32 x 4, ATOM u32"."""
    found = []
    for site in header["sites"]:
        kind = site.get("kind", "red")
        width = site.get("words", site.get("width", 1))
        text = ("" if kind == "red" else kind.upper() + " ") + site["type"] + (f" x {width}" if width > 1 else "")
        if text not in found:
            found.append(text)
    return ", ".join(found)


def loads_of(header):
    costs = next(iter(header["costs"].values()), {}).get("baseline", {})
    return any(path.get("global_load", 0) for path in costs.get("paths", []))


def simulated(path, machine):
    done = subprocess.run(["warpfold", "sim", path, "--gpu", machine, "--policy", "baseline", "--unit", "golden", "--json", "-"],
                          capture_output=True, text=True, check=True)
    return json.loads(done.stdout)["runs"][0]


def with_launch(run_of_model):
    """Cycles of a launch as a profiler has its time."""
    return run_of_model["cycles"] + run_of_model["config"]["latency"]["launch"]


def row_of(outcome, path, machine):
    import warpfold  # pylint: disable=import-outside-toplevel
    header = warpfold.Trace(path).header
    run_of_model = simulated(path, machine)
    library = "Triton" if outcome["name"].startswith("triton") else LIBRARIES[outcome["group"]]
    row = {"library": library, "case": outcome["name"], "kernel": path.stem, "adds": adds_of(header),
           "events": run_of_model["events"], "lane_additions": run_of_model["lane_atomics"], "seconds": outcome["seconds"]}
    made = header["provenance"]
    counted = number(made.get("ncu_counted"))
    if counted:
        row["held"] = round(header["instructions"]["taken"] / counted, 4)
        row["by_code"] = round(int(made["by_machine_code"]) / counted, 4)
    for taken in header.get("times", []):
        cycles = taken["median_ms"] * taken["sm_clock_mhz"] * 1e3
        row[f"{taken['state']}_us"] = round(taken["median_ms"] * 1e3, 2)
        row[f"{taken['state']}_ratio"] = round(with_launch(run_of_model) / cycles, 3)
    row["loads"] = loads_of(header)
    if outcome["code"] is None:
        row["ended"] = "by the time limit"
    row["remarks"] = run_of_model.get("remarks", [])
    return row


def why_none(outcome):
    if outcome["code"] is None:
        return "ended by the time limit"
    for pattern in NO_TRACE:
        for line in outcome["said"]:
            if re.fullmatch(pattern, line):
                return line
    return "said nothing of it"


def write(arguments):
    sys.path.insert(0, str(HERE.parents[2] / "build/release/lib/warpfold/python"))
    from warpfold.tools.results import store  # pylint: disable=import-outside-toplevel
    told = json.loads((arguments.folder / "outcomes.json").read_text(encoding="utf-8"))
    machine = "h200" if "H200" in told["gpu"] else "h100"
    rows, none, own = [], [], []
    for outcome in told["outcomes"]:
        if outcome["group"] in ("launches", "kernels"):
            found = re.findall(r"(\d+) additions recorded, (\d+) in the array, (\d+) elements differ",
                               "\n".join(outcome.get("checked", [])))
            recorded, left, differ = (sum(int(line[i]) for line in found) for i in range(3))
            own.append({"program": outcome["name"], "traces": len(outcome["traces"]), "seconds": outcome["seconds"],
                        "arrays": len(found), "recorded": recorded, "left": left, "differ": differ,
                        "said": "" if outcome["traces"] else why_none(outcome)})
        elif outcome["traces"]:
            rows += [row_of(outcome, arguments.folder / path, machine) for path in outcome["traces"]]
        else:
            none.append({"library": LIBRARIES[outcome["group"]], "case": outcome["name"], "seconds": outcome["seconds"],
                         "said": why_none(outcome)})
    store.write("recorded", store.source("tb/record/gpu/record_all.py"),
                {"gpu": told["gpu"], "driver": told["driver"], "machine": machine, "jobs": told["jobs"],
                 "prepare_seconds": told["prepare_seconds"], "eight": told["eight"], "kernels": rows, "not_recorded": none,
                 "own": own})
    print(f"{len(rows)} kernels of {len({r['case'] for r in rows})} programs, {len(none)} programs without, {len(own)} of ours")
    return 0


# --- Loads ---------------------------------------------------------------------------------------

NCU = {"sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", "l1_hits": "l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum",
       "l2_reads": "lts__t_sectors_srcunit_tex_op_read.sum", "l2_hits": "lts__t_sectors_srcunit_tex_op_read_lookup_hit.sum",
       "dram_read": "dram__bytes_read.sum"}


def cycles_of(path, machine, *options):
    """The baseline's run."""
    done = subprocess.run(["warpfold", "sim", path, "--gpu", machine, "--policy", "baseline", "--unit", "golden", "--threads", "1",
                           *options, "--json", "-"], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)["runs"][0]


def caches_of(run_of_model):
    """As ncu counts them: sectors that loads ask for, those that the L1 has or has asked for, and so on."""
    counts = run_of_model["activity"]
    hits, missed = counts["l2_load_hit_sectors"], counts["l2_load_miss_sectors"]
    return {"sectors": counts["load_sectors"], "l1_hits": counts["l1_hit_sectors"] + counts["l1_merged_sectors"],
            "l2_reads": hits + missed, "l2_hits": hits, "dram_read": 32 * counts["dram_read_sectors"]}


def counted_by_ncu(path):
    lines = [line for line in path.read_text(encoding="utf-8").splitlines() if line.startswith('"')]
    values = {row["Metric Name"]: float(row["Metric Value"].replace(",", "")) for row in csv.DictReader(lines)}
    return {name: round(values[metric]) for name, metric in NCU.items()}


def loads_row(folder, before, path, machine):
    import warpfold  # pylint: disable=import-outside-toplevel
    header = warpfold.Trace(path).header
    group, case = path.parent.name.split(".", maxsplit=1)
    row = {"library": "Triton" if case.startswith("triton") else LIBRARIES[group], "case": case, "kernel": path.stem}
    times = {taken["state"]: taken["median_ms"] * taken["sm_clock_mhz"] * 1e3 for taken in header.get("times", [])}
    # The folder with constants was recorded without times.
    constant = before / path.relative_to(folder)
    constant = with_launch(cycles_of(constant, machine)) if constant.exists() and times else None
    for state in times:
        run_of_model = cycles_of(path, machine, "--l2", state)
        row[f"{state}_us"] = round(times[state] / header["times"][0]["sm_clock_mhz"], 2)
        row[state] = round(with_launch(run_of_model) / times[state], 3)
        if constant:
            row[f"{state}_before"] = round(constant / times[state], 3)
        if state == "cold" and (folder.parent / "ncu" / f"{case}.csv").exists():
            row["model"] = caches_of(run_of_model)
            row["ncu"] = counted_by_ncu(folder.parent / "ncu" / f"{case}.csv")
    print(json.dumps(row), flush=True)
    return row


def loads(arguments):
    sys.path.insert(0, str(HERE.parents[2] / "build/release/lib/warpfold/python"))
    from warpfold.tools.results import store  # pylint: disable=import-outside-toplevel
    folder, before = arguments.folder / "traces", arguments.before / "traces"
    told = json.loads((arguments.folder / "outcomes.json").read_text(encoding="utf-8"))
    machine = "h200" if "H200" in told["gpu"] else "h100"
    paths = sorted(folder.glob("*/*.wft"))
    with ThreadPoolExecutor(arguments.jobs) as pool:
        rows = list(pool.map(lambda path: loads_row(folder, before, path, machine), paths))
    store.write("recorded_loads", store.source("tb/record/gpu/record_all.py"),
                {"gpu": told["gpu"], "driver": told["driver"], "machine": machine,
                 "kernels": [row for row in rows if "warm" in row or "cold" in row]})
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    commands = parser.add_subparsers(dest="command", required=True)
    recording = commands.add_parser("run", help="record, on a machine with a GPU")
    recording.add_argument("folder", type=Path)
    recording.add_argument("--jobs", type=int, default=os.cpu_count())
    recording.add_argument("--limit", type=int, default=150, metavar="SECONDS", help="of one command")
    recording.add_argument("--loads", choices=["all", "none"], default="all", help="as warpfold record has it")
    recording.add_argument("--time-runs", type=int, default=2, metavar="N", help="as warpfold record has it")
    recording.add_argument("--only", nargs="+", metavar="NAME", help="these cases or groups")
    recording.set_defaults(work=run)
    writing = commands.add_parser("write", help="simulate, and write docs/numbers/recorded.json")
    writing.add_argument("folder", type=Path)
    writing.set_defaults(work=write)
    comparing = commands.add_parser("loads", help="simulate, and write docs/numbers/recorded_loads.json")
    comparing.add_argument("folder", type=Path)
    comparing.add_argument("before", type=Path)
    comparing.add_argument("--jobs", type=int, default=os.cpu_count())
    comparing.set_defaults(work=loads)
    arguments = parser.parse_args()
    return arguments.work(arguments)


if __name__ == "__main__":
    sys.exit(main())
