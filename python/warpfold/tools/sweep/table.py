# SPDX-License-Identifier: Apache-2.0
"""Results of points as a table: one row for each simulation, one column for each number, with the whole
configuration of the machine in each row."""

import csv
from pathlib import Path

from ..base import whole_file


# In front, in this order; the other columns are the keys of the results file, joined by dots.
FIRST = ["trace", "workload", "gpu", "policy", "threshold", "unit", "unit_kind", "set", "timeline", "cycles", "speedup"]


def flatten(value, prefix=""):
    """{"a": {"b": 1}} -> {"a.b": 1}."""
    out = {}
    for key, item in value.items():
        if isinstance(item, dict):
            out.update(flatten(item, f"{prefix}{key}."))
        else:
            out[prefix + key] = item
    return out


def settings(point):
    return " ".join(f"{key}={value}" for key, value in point.set)


def baselines(results):
    """Cycles of the baseline for each trace, machine and setting."""
    return {
        (point.trace, point.machine, point.set): result["run"]["cycles"]
        for point, result in results
        if point.policy == "baseline"
    }


def rows(results):
    """One dictionary for each (point, result) that is a simulation."""
    base = baselines(results)
    out = []
    for point, result in results:
        run = dict(result["run"])
        row = flatten(run)
        row["trace"] = Path(point.trace).stem
        row["workload"] = point.workload
        policy, _, threshold = point.policy.partition(":")
        row["policy"] = policy
        row["threshold"] = int(threshold) if threshold else ""
        row["set"] = settings(point)
        row["timeline"] = point.timeline or ""
        cycles = base.get((point.trace, point.machine, point.set))
        row["speedup"] = cycles / run["cycles"] if cycles and run["cycles"] else ""
        row["point"] = point.id
        out.append(row)
    return out


def columns(table):
    seen = dict.fromkeys(FIRST)
    for row in table:
        seen.update(dict.fromkeys(row))
    return list(seen)


def write_csv(path, table):
    names = columns(table)
    whole_file.write_csv(path, names, ([row.get(name) for name in names] for row in table))


def to_number(text):
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text


def read_csv(path):
    """What write_csv wrote, numbers as numbers."""
    with open(path, encoding="utf-8", newline="") as file:
        return [{key: to_number(value) for key, value in row.items()} for row in csv.DictReader(file)]
