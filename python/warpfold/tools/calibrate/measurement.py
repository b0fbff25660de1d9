# SPDX-License-Identifier: Apache-2.0
"""What warpfold_microbench measured: one or several of its files, the first that has a case decides.

Beside results a file may have "parameters": {name: {"value": v, "why": text}}, values that were written down
when their benchmark ran and of which no case was kept.
"""

import json
import math
from pathlib import Path

SCHEMA = "warpfold.microbench/1"
WHOLE_GROUPS = ("red", "vector", "bulk", "shared_add")  # all cases are kept of these


class BadInput(Exception):
    """One line."""


class Missing(BadInput):
    """Cases that a rule needs and no file has."""

    def __init__(self, names):
        super().__init__(", ".join(names))
        self.names = list(names)


class Measurement:
    def __init__(self, files):
        """`files`: what json.load made of each; the first that has something decides."""
        self.gpu, self.cases, self.given = {}, {}, {}
        self.used = {}  # {name: keys of `extra` that a rule read}
        for content in reversed(files):
            if content["gpu"].get("name") != files[0]["gpu"].get("name"):
                raise BadInput(
                    f"measurements of two GPUs: {files[0]['gpu'].get('name')} and " f"{content['gpu'].get('name')}"
                )
            self.gpu.update(content["gpu"])
            self.given.update(content.get("parameters", {}))
            self.cases.update({result["name"]: result for result in content["results"]})

    @classmethod
    def read(cls, paths):
        files = []
        for path in paths:
            try:
                content = json.loads(Path(path).read_text(encoding="utf-8"))
                if content["schema"] != SCHEMA:
                    raise ValueError(f"schema {content['schema']}")
                for result in content["results"]:
                    if not math.isfinite(result["median"]) or not isinstance(result["name"], str):
                        raise ValueError(f"{result['name']} is no number")
                if not isinstance(content["gpu"]["sms"], int):
                    raise ValueError("no number of SMs")
            except (OSError, ValueError, KeyError, TypeError) as error:
                raise BadInput(f"{path}: not results of warpfold_microbench ({error})") from error
            files.append(content)
        return cls(files)

    def has(self, name):
        return name in self.cases

    def need(self, names):
        absent = [name for name in names if name not in self.cases]
        if absent:
            raise Missing(absent)

    def median(self, name):
        """The case's figure over its launches."""
        self.need([name])
        self.used.setdefault(name, set())
        return self.cases[name]["median"]

    def extra(self, name, key):
        """A further figure of the case."""
        self.need([name])
        if key not in self.cases[name].get("extra", {}):
            raise Missing([f"{name} ({key})"])
        self.used.setdefault(name, set()).add(key)
        return self.cases[name]["extra"][key]

    def drained(self, name):
        """SM cycles until the last addition is done, where the case has that, for each of its operations."""
        return self.extra(name, "drained")

    def device(self, key):
        """What the CUDA run time says of the GPU."""
        if key not in self.gpu:
            raise Missing([f"gpu.{key}"])
        return self.gpu[key]

    def launches_apart(self, names):
        """Between the launches' quartiles, of the case that varies most, over its median; None if no case says."""
        ranges = [
            (self.cases[n]["quartiles"][1] - self.cases[n]["quartiles"][0]) / abs(self.cases[n]["median"])
            for n in names
            if n in self.cases and "quartiles" in self.cases[n] and self.cases[n]["median"]
        ]
        return max(ranges, default=None)

    def compact(self):
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


def _rounded(value):
    """Numbers with six digits."""
    if isinstance(value, dict):
        return {key: _rounded(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_rounded(one) for one in value]
    if isinstance(value, float):
        return float(f"{value:.6g}")
    return value


def text_of(content):
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
