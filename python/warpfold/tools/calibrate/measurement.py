# SPDX-License-Identifier: Apache-2.0
"""What warpfold_microbench measured: one or several of its files, the first that has a case decides.

Beside results a file may have "parameters": {name: {"value": v, "why": text}}, values that were written down
when their benchmark ran and of which no case was kept.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..base.errors import BadInput
from ..base.files import read_json

SCHEMA = "warpfold.microbench/1"
WHOLE_GROUPS = ("red", "vector", "bulk", "shared_add")  # all cases are kept of these


class Missing(BadInput):
    """Cases that a rule needs and no file has."""

    def __init__(self, names: list[str]) -> None:
        super().__init__(", ".join(names))
        self.names = list(names)


class Measurement:
    def __init__(self, files: list[dict[str, Any]]) -> None:
        """`files`: what json.load made of each; the first that has something decides."""
        self.gpu: dict[str, Any] = {}
        self.cases: dict[str, dict[str, Any]] = {}
        self.given: dict[str, dict[str, Any]] = {}
        self.used: dict[str, set[str]] = {}  # {name: keys of `extra` that a rule read}
        for content in reversed(files):
            if content["gpu"].get("name") != files[0]["gpu"].get("name"):
                raise BadInput(
                    f"measurements of two GPUs: {files[0]['gpu'].get('name')} and " f"{content['gpu'].get('name')}"
                )
            self.gpu.update(content["gpu"])
            self.given.update(content.get("parameters", {}))
            self.cases.update({result["name"]: result for result in content["results"]})

    @classmethod
    def read(cls, paths: Sequence[str | Path]) -> Measurement:
        files = []
        for path in paths:
            try:
                content = read_json(path, SCHEMA)
                for result in content["results"]:
                    if not math.isfinite(result["median"]) or not isinstance(result["name"], str):
                        raise ValueError(f"{result['name']} is no number")
                if not isinstance(content["gpu"]["sms"], int):
                    raise ValueError("no number of SMs")
            except (ValueError, KeyError, TypeError) as error:
                raise BadInput(f"{path}: not results of warpfold_microbench ({error})") from error
            files.append(content)
        return cls(files)

    def has(self, name: str) -> bool:
        return name in self.cases

    def need(self, names: list[str]) -> None:
        absent = [name for name in names if name not in self.cases]
        if absent:
            raise Missing(absent)

    def median(self, name: str) -> float:
        """The case's figure over its launches."""
        self.need([name])
        self.used.setdefault(name, set())
        return float(self.cases[name]["median"])

    def extra(self, name: str, key: str) -> Any:
        """A further figure of the case."""
        self.need([name])
        if key not in self.cases[name].get("extra", {}):
            raise Missing([f"{name} ({key})"])
        self.used.setdefault(name, set()).add(key)
        return self.cases[name]["extra"][key]

    def drained(self, name: str) -> float:
        """SM cycles until the last addition is done, where the case has that, for each of its operations."""
        return float(self.extra(name, "drained"))

    def device(self, key: str) -> Any:
        """What the CUDA run time says of the GPU."""
        if key not in self.gpu:
            raise Missing([f"gpu.{key}"])
        return self.gpu[key]

    def launches_apart(self, names: Sequence[str]) -> float | None:
        """Between the launches' quartiles, of the case that varies most, over its median; None if no case says."""
        ranges = [
            (self.cases[n]["quartiles"][1] - self.cases[n]["quartiles"][0]) / abs(self.cases[n]["median"])
            for n in names
            if n in self.cases and "quartiles" in self.cases[n] and self.cases[n]["median"]
        ]
        return max(ranges, default=None)

    def compact(self) -> dict[str, Any]:
        """What the rules, the replay and the pages read, as a file of the same kind."""
        results = []
        for name, case in self.cases.items():
            whole = case["group"] in WHOLE_GROUPS
            if not whole and name not in self.used:
                continue
            keys = self.used.get(name, set()) | ({"drained"} if whole else set())
            kept = {key: case[key] for key in ("group", "name", "unit", "median", "quartiles") if key in case}
            kept["extra"] = {key: case["extra"][key] for key in sorted(keys) if key in case.get("extra", {})}
            results.append(_rounded(kept))
        content = {"schema": SCHEMA, "gpu": self.gpu, "results": results}
        if self.given:
            content["parameters"] = self.given
        return content


def _rounded(value: Any) -> Any:
    """Numbers with six digits."""
    if isinstance(value, dict):
        return {key: _rounded(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_rounded(one) for one in value]
    if isinstance(value, float):
        return float(f"{value:.6g}")
    return value


def text_of(content: dict[str, Any]) -> str:
    """JSON with a result a line."""
    lines = ["{"]
    for key, value in content.items():
        if key == "results":
            rows = ",\n".join("  " + json.dumps(one) for one in value)
            lines.append(f' "results": [\n{rows}\n ],')
        else:
            lines.append(f" {json.dumps(key)}: {json.dumps(value)},")
    lines[-1] = lines[-1].removesuffix(",")
    return "\n".join([*lines, "}"]) + "\n"
