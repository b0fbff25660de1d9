# SPDX-License-Identifier: Apache-2.0
"""From a sweep file to its points, each with a name that says all that its result depends on: the trace, the
machine, the policy, the options, and the simulator itself. A result under that name never goes stale."""

import fnmatch
import hashlib
import itertools
import json
import os
import re
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from ..base import processes
from ..base.errors import BadInput
from ..base.files import Name, read_json, read_text
from ..base.modules import module
from ..base.places import TRACES

SCHEMA = Path(__file__).resolve().parent / "schema.yaml"
# In the environment of jobs on the sweep's machine: the number of its process, with which they end.
SWEEP_PROCESS = "WARPFOLD_SWEEP_PROCESS"
RANGE = re.compile(r"^(.+):([0-9]{1,9})\.\.([0-9]{1,9})(?:\.\.([0-9]{1,9}))?$")
MAX_POINTS = 100_000


@dataclass(frozen=True)
class Point:
    """One simulation."""

    trace: str  # path
    workload: str  # label of the manifest, empty for a trace of one's own
    machine: str  # name or path
    policy: str
    unit: str = "golden"
    unit_kind: str = "serial"
    set: tuple[tuple[str, Any], ...] = ()
    timeline: int = 0
    divider: int = 1  # cycles of the SM in one of the unit
    id: str = ""

    def arguments(self) -> list[str]:
        """Of `warpfold sim`, without outputs."""
        out = ["--gpu", self.machine, "--policy", self.policy, "--unit", self.unit, "--unit-kind", self.unit_kind]
        for key, value in self.set:
            out += ["--set", f"{key}={value}"]
        if self.divider != 1:
            out += ["--unit-divider", str(self.divider)]
        return [*out, self.trace]


def loader(yaml: Any) -> Any:
    """One that takes no key twice, and numbers as YAML 1.2 and everybody reads them: 010 is no 8."""

    def wrong(node: Any, what: str) -> Exception:
        error: Exception = yaml.constructor.ConstructorError(None, None, what, node.start_mark)
        return error

    class Loader(yaml.SafeLoader):  # type: ignore[misc]
        def construct_mapping(self, node: Any, deep: bool = False) -> Any:
            seen = set()
            for key, _ in node.value:
                if isinstance(key, yaml.ScalarNode):
                    if key.value in seen:
                        raise wrong(key, f"key '{key.value}' given twice")
                    seen.add(key.value)
            return super().construct_mapping(node, deep)

        def construct_number(self, node: Any) -> Any:
            if re.fullmatch(r"[-+]?0[0-9_]+", node.value):
                raise wrong(node, f"number {node.value} begins with a 0")
            if ":" in node.value:
                raise wrong(node, f"{node.value} is no number")
            return self.construct_yaml_int(node)

    Loader.add_constructor("tag:yaml.org,2002:int", Loader.construct_number)
    return Loader


def load(path: Name) -> dict[str, Any]:
    """The sweep file, checked, with its defaults filled in."""
    yaml, jsonschema = module("yaml"), module("jsonschema")
    text = read_text(path)
    try:
        document = yaml.load(text, loader(yaml))
    except RecursionError:
        raise BadInput(f"{path}: lists within lists too deep") from None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f"line {mark.line + 1}, column {mark.column + 1}: " if mark else ""
        raise BadInput(f"{path}: {where}{getattr(error, 'problem', None) or 'is no YAML'}") from None
    schema = yaml.safe_load(read_text(SCHEMA))
    worst = module("jsonschema.exceptions").best_match(jsonschema.Draft7Validator(schema).iter_errors(document))
    if worst is not None:
        where = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in worst.absolute_path)
        raise BadInput(" ".join(f"{path}: {where.lstrip('.') or 'the file'}: {worst.message}".split()))
    sweep_file: dict[str, Any] = document
    properties = schema["properties"]
    sweep_file.setdefault("memory_mb", properties["memory_mb"]["default"])
    for sweep in sweep_file["sweeps"]:
        for key, rule in properties["sweeps"]["items"]["properties"].items():
            if "default" in rule:
                sweep.setdefault(key, rule["default"])
    return sweep_file


def manifest() -> list[dict[str, Any]]:
    """The traces that are shipped."""
    entries: list[dict[str, Any]] = read_json(TRACES / "MANIFEST.json")["traces"]
    return entries


def find_traces(pattern: str, folder: Path) -> list[tuple[str, str]]:
    """(path, workload) of the traces that one entry of `traces` names."""
    shipped = manifest()
    if pattern.startswith("workload:"):
        found = [entry for entry in shipped if fnmatch.fnmatchcase(entry["workload"], pattern.partition(":")[2])]
        if not found:
            raise BadInput(f"traces: no shipped trace has a label like '{pattern.partition(':')[2]}'")
    elif pattern.endswith(".wft"):
        path = (folder / pattern).resolve()
        if not path.is_file():
            raise BadInput(f"traces: no file {path}")
        labels = {TRACES / entry["file"]: entry["workload"] for entry in shipped}
        return [(str(path), labels.get(path, ""))]
    else:
        found = [entry for entry in shipped if fnmatch.fnmatchcase(Path(entry["file"]).stem, pattern)]
        if not found:
            raise BadInput(f"traces: no shipped trace is called '{pattern}'; a file of your own ends in .wft")
    return [(str(TRACES / entry["file"]), entry["workload"]) for entry in found]


def select_traces(patterns: list[str], folder: Path) -> list[tuple[str, str]]:
    """(path, workload) of all that the entries of `traces` name, each once, less those that a ! names."""
    found = dict.fromkeys(
        trace for pattern in patterns if not pattern.startswith("!") for trace in find_traces(pattern, folder)
    )
    left_out = {trace for pattern in patterns if pattern.startswith("!") for trace in find_traces(pattern[1:], folder)}
    chosen = [trace for trace in found if trace not in left_out]
    if not chosen:
        raise BadInput(f"traces: nothing is left of {', '.join(patterns)}")
    return chosen


class Digests:
    """SHA-256 of files, each read once."""

    def __init__(self) -> None:
        self.known: dict[str, str] = {}

    def of(self, path: Name) -> str:
        if str(path) not in self.known:
            self.known[str(path)] = hashlib.sha256(Path(path).read_bytes()).hexdigest()
        return self.known[str(path)]


class Simulator:
    """The command, which alone says what it knows: machines, policies, kinds of units, parameters."""

    def __init__(self, path: Name) -> None:
        self.path = str(Path(path).resolve())
        if not Path(self.path).is_file():
            raise BadInput(f"no {self.path}; build first, or set WARPFOLD to the command")

    @cached_property
    def policies(self) -> list[str]:
        """What it calls all: each policy once, those with a balancing threshold with one."""
        done = self.run("policies")
        found = re.search(r"\ball: (\S+)$", done.stdout, re.MULTILINE)
        if done.returncode != 0 or found is None:
            raise BadInput(f"{self.path} policies lists no policies")
        return found.group(1).split(",")

    def run(self, *words: str) -> processes.Done:
        try:
            return processes.run([self.path, *words])
        except OSError as error:
            raise BadInput(f"{self.path}: {error.strerror}") from None

    def complaint(self, *words: str) -> str:
        """What it says of a call of `sim`; empty if the call is sound. It has no trace to simulate."""
        said = " ".join(self.run("sim", os.devnull, *words).stderr.split()).removeprefix("warpfold: ")
        return "" if said.startswith(f"{os.devnull}:") else said

    def check(self, where: str, option: str, values: Iterable[str]) -> None:
        """BadInput of what it says of a value of the option."""
        said = self.complaint(option, ",".join(values))
        if said:
            raise BadInput(f"{where}: {said}")


def expand_policies(names: Iterable[str], simulator: Simulator) -> list[str]:
    """As the simulator takes each, without ranges and `all`."""
    out: list[str] = []
    for name in itertools.chain.from_iterable(name.split(",") for name in names):
        match = RANGE.match(name)
        if name == "all":
            out += simulator.policies
        elif match:
            kind, first, last, step = match.group(1), int(match.group(2)), int(match.group(3)), match.group(4)
            if last < first or step == "0":
                raise BadInput(f"policies: '{name}' is an empty range")
            simulator.check("policies", "--policy", [f"{kind}:{last}"])
            out += [f"{kind}:{x}" for x in range(first, last + 1, int(step or 1))]
        else:
            out.append(name)
    found = list(dict.fromkeys(out))
    simulator.check("policies", "--policy", found)
    return found


def find_machines(names: Iterable[str], folder: Path, simulator: Simulator) -> list[str]:
    found = []
    for name in dict.fromkeys(names):
        path = (folder / name).resolve()
        if name.endswith(".toml") and not path.is_file():
            raise BadInput(f"machines: no file {path}")
        found.append(str(path) if name.endswith(".toml") else name)
    simulator.check("machines", "--gpu", found)
    return found


def check_parameters(settings: dict[str, list[Any]], simulator: Simulator) -> None:
    """BadInput for one that no machine has. Whether each machine takes each value is for its points to say."""
    for key, values in settings.items():
        said = simulator.complaint("--set", f"{key}={values[0]}")
        if "unknown key" in said or "must be a table" in said:
            raise BadInput(f"set: {said.removeprefix('--set ')}")


def point_id(point: Point, simulator: Name, digests: Digests) -> str:
    machine = digests.of(point.machine) if point.machine.endswith(".toml") else point.machine
    what = [
        digests.of(simulator),
        digests.of(point.trace),
        machine,
        point.policy,
        point.unit,
        point.unit_kind,
        point.set,
        point.timeline,
        point.divider,
    ]
    tail = hashlib.sha256(json.dumps(what).encode()).hexdigest()[:16]
    words = [Path(point.trace).stem, Path(point.machine).stem, point.policy]
    return re.sub(r"[^A-Za-z0-9_.-]", "-", "_".join(words)) + "_" + tail


def expand(document: dict[str, Any], folder: Path, simulator: Simulator) -> list[Point]:
    """The points of a checked sweep file, in its order, each once."""
    digests = Digests()
    points: dict[str, Point] = {}
    for sweep in document["sweeps"]:
        traces = select_traces(sweep["traces"], folder)
        machines = find_machines(sweep["machines"], folder, simulator)
        named = expand_policies(sweep["policies"], simulator)
        for kind in sweep["unit_kinds"]:
            simulator.check("unit_kinds", "--unit-kind", [kind])
        check_parameters(sweep.get("set", {}), simulator)
        values = [[(key, value) for value in sweep["set"][key]] for key in sweep.get("set", {})]
        for (trace, workload), machine, settings, policy in itertools.product(
            traces, machines, itertools.product(*values), named
        ):
            # Only arc-hw has a reduction unit.
            for kind in sweep["unit_kinds"] if policy == "arc-hw" else ["serial"]:
                point = Point(trace, workload, machine, policy, sweep["unit"], kind, settings, sweep.get("timeline", 0))
                name = point_id(point, simulator.path, digests)
                points[name] = replace(point, id=name)
                if len(points) > MAX_POINTS:
                    raise BadInput(f"more than {MAX_POINTS:,} points")
    return list(points.values())


def to_json(point: Point) -> dict[str, Any]:
    return asdict(point)


def from_json(entry: dict[str, Any]) -> Point:
    fields: dict[str, Any] = {**entry, "set": tuple((key, value) for key, value in entry["set"])}
    return Point(**fields)
