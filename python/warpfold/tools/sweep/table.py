# SPDX-License-Identifier: Apache-2.0
"""Results of points as a table: one row for each simulation, one column for each number, with the whole
configuration of the machine in each row."""

import csv
from pathlib import Path
from typing import Any

from ..base import files
from ..base.files import Name
from .plan import Point

Row = dict[str, Any]
# Each with what its simulation gave.
Results = list[tuple[Point, dict[str, Any]]]

# In front, in this order; the other columns are the keys of the results file, joined by dots.
FIRST = ["trace", "workload", "gpu", "policy", "threshold", "unit", "unit_kind", "set", "timeline", "cycles", "speedup"]


def flatten(value: dict[str, Any], prefix: str = "") -> Row:
    """{"a": {"b": 1}} -> {"a.b": 1}."""
    out: Row = {}
    for key, item in value.items():
        if isinstance(item, dict):
            out.update(flatten(item, f"{prefix}{key}."))
        else:
            out[prefix + key] = item
    return out


def settings(point: Point) -> str:
    return " ".join(f"{key}={value}" for key, value in point.set)


def baselines(results: Results) -> dict[tuple[Any, ...], int]:
    """Cycles of the baseline for each trace, machine and setting."""
    return {
        (point.trace, point.machine, point.set): result["run"]["cycles"]
        for point, result in results
        if point.policy == "baseline"
    }


def rows(results: Results) -> list[Row]:
    """One dictionary for each (point, result) that is a simulation."""
    base = baselines(results)
    out: list[Row] = []
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


def columns(table: list[Row]) -> list[str]:
    seen: dict[str, None] = dict.fromkeys(FIRST)
    for row in table:
        seen.update(dict.fromkeys(row))
    return list(seen)


def write_csv(path: Name, table: list[Row]) -> None:
    names = columns(table)
    files.write_csv(path, names, ([row.get(name) for name in names] for row in table))


def to_number(text: str) -> int | float | str:
    try:
        return int(text)
    except ValueError:
        pass
    try:
        return float(text)
    except ValueError:
        return text


def read_csv(path: Name) -> list[Row]:
    """What write_csv wrote, numbers as numbers."""
    with open(path, encoding="utf-8", newline="") as file:
        return [{key: to_number(value) for key, value in row.items()} for row in csv.DictReader(file)]
