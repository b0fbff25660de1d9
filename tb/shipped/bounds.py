#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Lower bounds of whole runs on a shipped trace: no run is under one, and they are what the counters say.

    bounds.py WARPFOLD TRACE GPU[,GPU...]
"""

import json
import subprocess
import sys

POLICIES = ["baseline", "sw-s:16", "sw-b:16", "skip", "cccl", "arc-hw", "lab", "lab-ideal", "phi"]


def check(run):
    """What is wrong with the bounds of one run."""
    bounds, config, activity = run["bounds"], run["config"], run["activity"]
    for unit, cycles in bounds["cycles"].items():
        if cycles > run["cycles"]:
            yield f"{unit} needs {cycles} cycles, the run took {run['cycles']}"
        if bounds["even_cycles"][unit] > cycles:
            yield f"{unit}: the unit with most to do has less than the mean"
    tightest = bounds["cycles"][bounds["tightest"]]
    if tightest != max(bounds["cycles"].values()):
        yield f"{bounds['tightest']} is not the tightest bound"
    if abs(bounds["achieved"] - tightest / run["cycles"]) > 1e-9 or not 0 < bounds["achieved"] <= 1:
        yield f"achieved is {bounds['achieved']}"
    # From the counters, without the model's own busy times. Occupancies are kept in 1/256 cycles.
    sms = config["sm"]["count"]
    l2, lone = config["l2"], activity["noc_lone_words"]
    port = lone * l2["port_cycles"] + (activity["noc_flits"] - lone) * l2["flit_cycles"]
    even = {
        "issue": activity["instructions"] / (sms * config["sm"]["subcores"]),
        "noc": (activity["noc_flits"] + activity["noc_load_flits"]) * config["noc"]["flit_cycles"] / sms,
    }
    even = {unit: (cycles, cycles) for unit, cycles in even.items()}
    # Sectors of a line take less if they come in a row.
    even["rop"] = [max(run["rop_ops"] * l2[each], port * l2["slices_per_port"]) / l2["slices"]
                   for each in ("line_cycles", "rop_cycles")]
    for unit, (least, most) in even.items():
        if not 0.998 * least - 1 <= bounds["even_cycles"][unit] <= 1.002 * most + 1:
            yield f"{unit}: {bounds['even_cycles'][unit]} cycles on the mean, the counters say {least:.0f} to {most:.0f}"
    for unit, policies in (("arc_unit", ["arc-hw"]), ("buffer", ["lab", "lab-ideal", "phi"])):
        if (bounds["cycles"][unit] > 0) != (run["policy"] in policies):
            yield f"{unit}: {bounds['cycles'][unit]} cycles"
    if not (run["sums_match"] and run["conserved"]):
        yield "a check of the run failed"


def main():
    warpfold, trace, gpus = sys.argv[1:]
    done = subprocess.run([warpfold, "sim", trace, "--gpu", gpus, "--policy", "all", "--unit", "golden", "--json", "-"],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0 or done.stderr:
        sys.exit(f"bounds.py: exit code {done.returncode}: {done.stderr}")
    runs = json.loads(done.stdout)["runs"]
    found = [(run["gpu"], run["policy"]) for run in runs]
    if found != [(gpu, policy) for gpu in gpus.split(",") for policy in POLICIES]:
        sys.exit(f"bounds.py: the runs are {found}")
    wrong = [f"{run['gpu']} {run['policy']}: {what}" for run in runs for what in check(run)]
    for run in runs:
        bounds = run["bounds"]
        print(f"{run['gpu']:8} {run['policy']:10} {run['cycles']:10} cycles, {bounds['tightest']} "
              f"{bounds['achieved'] * 100:.1f} %")
    if wrong:
        sys.exit("\n".join(wrong))


if __name__ == "__main__":
    main()
