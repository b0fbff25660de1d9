# SPDX-License-Identifier: Apache-2.0
"""Results files of `warpfold sim --json` as rows and columns."""

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .errors import Error

# A path as a caller has it.
Name = str | os.PathLike[str]

SCHEMA = "warpfold.sim/1"


def results(paths: Name | Iterable[Name]) -> list[dict[str, Any]]:
    """Runs of results files as a list of flat dicts, in the order of the files and of the runs in them.

    paths: one path or several. Keys and units are those of docs/results-file.md; a nested one has its way in it:
    row["cycles"], row["stalls.subcore_cycles.memory_queue"], row["config.sm.clock_ghz"]. What is not known is None.
    row["file"] is the path of the results file. Raises Error if a file cannot be read or is no results file.
    """
    if isinstance(paths, (str, os.PathLike)):
        paths = [paths]
    return [{"file": os.fspath(path), **flat(run)} for path in paths for run in _runs(path)]


def columns(rows: Sequence[Mapping[str, Any]]) -> dict[str, NDArray[Any]]:
    """Such rows, or some of them, as a dict of NumPy arrays of shape (len(rows),), one for each key of any row.

    Integers are int64, numbers float64 with NaN for None, truths bool; everything else is an array of objects, with
    None where a row has none. pandas.DataFrame takes the dict as it is.
    """
    keys = dict.fromkeys(key for row in rows for key in row)
    return {key: _column([row.get(key) for row in rows]) for key in keys}


def _runs(path: Name) -> list[dict[str, Any]]:
    try:
        content = json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise Error(f"{os.fspath(path)}: cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise Error(f"{os.fspath(path)}: no results file: {error}") from None
    schema = content.get("schema") if isinstance(content, dict) else None
    if schema != SCHEMA:
        raise Error(f"{os.fspath(path)}: no results file: its schema is {schema!r}, not {SCHEMA!r}")
    runs = content.get("runs")
    if not isinstance(runs, list) or not all(isinstance(run, dict) for run in runs):
        raise Error(f"{os.fspath(path)}: no results file: it has no list of runs")
    return runs


def flat(tree: dict[str, Any], way: str = "") -> dict[str, Any]:
    """{"a": {"b": 1}} -> {"a.b": 1}."""
    out: dict[str, Any] = {}
    for key, value in tree.items():
        if isinstance(value, dict):
            out.update(flat(value, f"{way}{key}."))
        else:
            out[way + key] = value
    return out


def _column(values: list[Any]) -> NDArray[Any]:
    kinds = {type(value) for value in values}
    if kinds == {bool}:
        return np.array(values, np.bool_)
    if kinds == {int}:
        return np.array(values, np.int64)
    if kinds & {int, float} and kinds <= {int, float, type(None)}:
        return np.array([np.nan if value is None else value for value in values], np.float64)
    column = np.empty(len(values), object)
    column[:] = values
    return column
