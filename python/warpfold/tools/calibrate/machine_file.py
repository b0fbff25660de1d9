# SPDX-License-Identifier: Apache-2.0
"""Writes a machine file: keys in the order of the base machine's, the source of each value in its comment."""

import re
import tomllib
from typing import Any

WIDTH = 116
KEY = re.compile(r"^(\w+) = ([^#]*?)\s*(?:#\s*(.*))?$")
SECTION = re.compile(r"^\[(\w+)\]$")
# Parameters that a machine file may leave out: the one that they stand behind, and what they are then
# (model/machine/config.hpp).
OPTIONAL = {
    "latency.shared_cas": ("latency.cta_launch", 43),
    "latency.fence": ("latency.shared_cas", 302),
    "latency.launch": ("latency.fence", 740),
    "lsu.red_word": ("lsu.red_change", 1.01),
    "lsu.shared_cas": ("lsu.shared_wide", 2.44),
}


class Base:
    """A machine file: values, and what its comments say of each."""

    def __init__(self, text: str) -> None:
        self.values: dict[str, Any] = {}
        for section, content in tomllib.loads(text).items():
            if isinstance(content, dict):
                self.values.update({f"{section}.{key}": value for key, value in content.items()})
        for parameter, (before, value) in OPTIONAL.items():
            if parameter not in self.values:
                self.values = with_behind(self.values, before, parameter, value)
        self.sass_arch = tomllib.loads(text)["sass_arch"]
        self.comments: dict[str, str] = {}
        self.about: dict[str, list[str]] = {}
        section, lines = "", list[str]()
        for line in text.splitlines():
            header, key = SECTION.match(line), KEY.match(line)
            if header:
                section = header[1]
                self.about[section] = lines
            elif key and section:
                # What stands before a key is its comment where it has none of its own.
                said = key[3] or " ".join(one.lstrip("# ") for one in lines)
                self.comments[f"{section}.{key[1]}"] = said
            lines = [*lines, line] if line.startswith("#") else []

    def sections(self) -> dict[str, list[str]]:
        result: dict[str, list[str]] = {}
        for parameter in self.values:
            result.setdefault(parameter.split(".")[0], []).append(parameter)
        return result


def with_behind(values: dict[str, Any], before: str, parameter: str, value: float) -> dict[str, Any]:
    """With one more, behind `before`."""
    result = {}
    for key, old in values.items():
        result[key] = old
        if key == before:
            result[parameter] = value
    return result


def number(value: float | str) -> str:
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, float):
        return repr(value)
    return f"{value:_}" if value >= 10_000 else str(value)


def line_of(key: str, value: float | str, comment: str) -> str:
    text = f"{key} = {number(value)}"
    text = f"{text:<31} # {comment}"
    return text if len(text) <= WIDTH else text[: WIDTH - 2].rstrip() + " .."


def machine_text(
    name: str, gpu: dict[str, Any], base_name: str, base: Base, parameters: dict[str, tuple[float | str, str]]
) -> str:
    """`parameters`: {parameter: (value, comment)} of all that the base machine has."""
    code = gpu["compute_capability"]
    lines = [
        "# SPDX-License-Identifier: Apache-2.0",
        f"# {gpu['name']}, made by `warpfold calibrate` (driver {gpu.get('driver', 'unknown')}, "
        f"CUDA {gpu.get('cuda', 'unknown')}).",
        "#",
        "# Sources, named in the comment beside each parameter:",
        "#   measured    the microbenchmark case (+ others) and what the rule of the parameter makes of it",
        "#   recorded    written down when a benchmark ran of which no results file was kept",
        "#   CUDA guide  CUDA C++ Programming Guide, technical specifications by compute capability",
        f"#   as {base_name}     taken over from that machine, with its source there; undetermined: the measurements",
        "#               did not decide it, for the reason named",
        "",
        f'name = "{name}"',
        f'sass_arch = "sm_{code}"'.ljust(31)
        + f" # CUDA guide: compute capability {code / 10}; a run uses its instruction costs",
    ]
    for section, keys in base.sections().items():
        lines += ["", *(one for one in base.about[section] if "calibrat" not in one.lower()), f"[{section}]"]
        lines += [line_of(key.split(".")[1], *parameters[key]) for key in keys]
    return "\n".join(lines) + "\n"
