# SPDX-License-Identifier: Apache-2.0
"""From a sweep file to its points, each with a name that says all that its result depends on: the trace, the
machine, the policy, the options, and the simulator itself. A result under that name never goes stale."""

import difflib
import fnmatch
import hashlib
import itertools
import json
import re
import subprocess
import tomllib
from dataclasses import asdict, dataclass, field
from pathlib import Path

import jsonschema
import yaml

from ..base.places import ROOT

SCHEMA = Path(__file__).resolve().parent / "schema.yaml"
DATA = ROOT / "traces/data"
BUILTIN_MACHINES = ROOT / "model/gpus"
MAX_THRESHOLD = 32
# In the environment of jobs on the sweep's machine: the number of its process, with which they end.
SWEEP_PROCESS = "WARPFOLD_SWEEP_PROCESS"
RANGE = re.compile(r"^(.+):([0-9]{1,9})\.\.([0-9]{1,9})(?:\.\.([0-9]{1,9}))?$")
MAX_POINTS = 100_000


class PlanError(Exception):
    """What is wrong with a sweep file, in one line."""


@dataclass(frozen=True)
class Point:
    """One simulation."""

    trace: str  # path
    workload: str  # label of the manifest, empty for a trace of one's own
    machine: str  # name or path
    policy: str
    unit: str = "golden"
    unit_kind: str = "serial"
    set: tuple = field(default_factory=tuple)  # (key, value) pairs
    timeline: int = 0
    id: str = ""

    def arguments(self):
        """Of `warpfold sim`, without outputs."""
        out = ["--gpu", self.machine, "--policy", self.policy, "--unit", self.unit, "--unit-kind", self.unit_kind]
        for key, value in self.set:
            out += ["--set", f"{key}={value}"]
        return [*out, self.trace]


class Loader(yaml.SafeLoader):
    """Takes no key twice, and numbers as YAML 1.2 and everybody reads them: 010 is no 8."""

    def construct_mapping(self, node, deep=False):
        seen = set()
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode):
                if key.value in seen:
                    raise yaml.constructor.ConstructorError(
                        None, None, f"key '{key.value}' given twice", key.start_mark
                    )
                seen.add(key.value)
        return super().construct_mapping(node, deep)

    def construct_number(self, node):
        if re.fullmatch(r"[-+]?0[0-9_]+", node.value):
            raise yaml.constructor.ConstructorError(None, None, f"number {node.value} begins with a 0", node.start_mark)
        if ":" in node.value:
            raise yaml.constructor.ConstructorError(None, None, f"{node.value} is no number", node.start_mark)
        return self.construct_yaml_int(node)


Loader.add_constructor("tag:yaml.org,2002:int", Loader.construct_number)


def load(path):
    """The sweep file, checked, with its defaults filled in."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise PlanError(f"{path}: {getattr(error, 'strerror', None) or 'is not text'}") from None
    try:
        document = yaml.load(text, Loader)
    except RecursionError:
        raise PlanError(f"{path}: lists within lists too deep") from None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f"line {mark.line + 1}, column {mark.column + 1}: " if mark else ""
        raise PlanError(f"{path}: {where}{getattr(error, 'problem', None) or 'is no YAML'}") from None
    schema = yaml.safe_load(SCHEMA.read_text(encoding="utf-8"))
    errors = jsonschema.Draft7Validator(schema).iter_errors(document)
    worst = jsonschema.exceptions.best_match(errors)
    if worst is not None:
        where = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in worst.absolute_path)
        raise PlanError(" ".join(f"{path}: {where.lstrip('.') or 'the file'}: {worst.message}".split()))
    properties = schema["properties"]
    document.setdefault("memory_mb", properties["memory_mb"]["default"])
    for sweep in document["sweeps"]:
        for key, rule in properties["sweeps"]["items"]["properties"].items():
            if "default" in rule:
                sweep.setdefault(key, rule["default"])
    return document


def manifest():
    return json.loads((DATA / "MANIFEST.json").read_text(encoding="utf-8"))["traces"]


def find_traces(pattern, folder):
    """(path, workload) of the traces that one entry of `traces` names."""
    shipped = manifest()
    if pattern.startswith("workload:"):
        found = [entry for entry in shipped if fnmatch.fnmatchcase(entry["workload"], pattern.partition(":")[2])]
        if not found:
            raise PlanError(f"traces: no shipped trace has a label like '{pattern.partition(':')[2]}'")
    elif pattern.endswith(".wft"):
        path = (folder / pattern).resolve()
        if not path.is_file():
            raise PlanError(f"traces: no file {path}")
        labels = {DATA / entry["file"]: entry["workload"] for entry in shipped}
        return [(str(path), labels.get(path, ""))]
    else:
        found = [entry for entry in shipped if fnmatch.fnmatchcase(Path(entry["file"]).stem, pattern)]
        if not found:
            raise PlanError(f"traces: no shipped trace is called '{pattern}'; a file of your own ends in .wft")
    return [(str(DATA / entry["file"]), entry["workload"]) for entry in found]


def select_traces(patterns, folder):
    """(path, workload) of all that the entries of `traces` name, each once, less those that a ! names."""
    found = dict.fromkeys(
        trace for pattern in patterns if not pattern.startswith("!") for trace in find_traces(pattern, folder)
    )
    left_out = {trace for pattern in patterns if pattern.startswith("!") for trace in find_traces(pattern[1:], folder)}
    chosen = [trace for trace in found if trace not in left_out]
    if not chosen:
        raise PlanError(f"traces: nothing is left of {', '.join(patterns)}")
    return chosen


# Kinds of rules, as `warpfold rules` lists them, and a parameter: what a machine may leave out.
OPTIONAL = [
    "rules.admission",
    "rules.scheduler",
    "rules.l2_order",
    "rules.slice_map",
    "rules.red_wait",
    "rules.packets",
    "latency.shared_cas",
    "lsu.red_word",
    "lsu.shared_cas",
]


def list_policies(simulator):
    """What the simulator calls all: each policy once, and with a colon if it has a balancing threshold."""
    try:
        done = subprocess.run([simulator, "policies"], capture_output=True, text=True, check=False)
    except OSError as error:
        raise PlanError(f"{simulator}: {error.strerror}") from None
    found = re.search(r"\ball: (\S+)$", done.stdout, re.MULTILINE)
    if done.returncode != 0 or found is None:
        raise PlanError(f"{simulator} policies lists no policies")
    return found.group(1).split(",")


def check_policy(name, known):
    """As the simulator checks it."""
    kind, colon, threshold = name.partition(":")
    with_threshold = [policy.partition(":")[0] for policy in known if ":" in policy]
    if colon and kind in with_threshold:
        if not re.fullmatch("0*[0-9]{1,2}", threshold) or int(threshold) > MAX_THRESHOLD:
            raise PlanError(f"policies: '{name}': the threshold must be a number from 0 to {MAX_THRESHOLD}")
    elif colon and kind in known:
        raise PlanError(f"policies: '{name}': {kind} takes no threshold")
    elif kind in with_threshold:
        raise PlanError(f"policies: '{name}' needs a balancing threshold: {name}:X, X from 0 to {MAX_THRESHOLD}")
    elif name not in known:
        patterns = ", ".join(re.sub(":.*", ":X", policy) for policy in known)
        raise PlanError(f"policies: unknown policy '{name}': known are {patterns} (X from 0 to {MAX_THRESHOLD})")


def expand_policies(names, known):
    out = []
    for name in names:
        match = RANGE.match(name)
        if name == "all":
            out += known
        elif match:
            kind, first, last, step = match.group(1), int(match.group(2)), int(match.group(3)), match.group(4)
            if last < first or step == "0":
                raise PlanError(f"policies: '{name}' is an empty range")
            check_policy(f"{kind}:{last}", known)
            out += [f"{kind}:{x}" for x in range(first, last + 1, int(step or 1))]
        else:
            check_policy(name, known)
            out.append(name)
    return list(dict.fromkeys(out))


def find_machine(name, folder):
    if not name.endswith(".toml"):
        known = sorted(file.stem for file in BUILTIN_MACHINES.glob("*.toml"))
        if name not in known:
            raise PlanError(
                f"machines: unknown machine '{name}': known are {', '.join(known)}, or a file that ends in " ".toml"
            )
        return name
    path = (folder / name).resolve()
    if not path.is_file():
        raise PlanError(f"machines: no file {path}")
    return str(path)


def check_parameters(keys):
    """A machine file names each parameter that there is, so any of them tells."""
    with open(BUILTIN_MACHINES / "rtx4090.toml", "rb") as file:
        machine = tomllib.load(file)
    known = [key for key, value in machine.items() if not isinstance(value, dict)]
    known += OPTIONAL
    known += [f"{section}.{key}" for section, value in machine.items() if isinstance(value, dict) for key in value]
    for key in keys:
        if key not in known:
            near = difflib.get_close_matches(key, known, 1)
            raise PlanError(f"set: unknown parameter '{key}'" + (f" (did you mean {near[0]}?)" if near else ""))


class Digests:
    """SHA-256 of files, each read once."""

    def __init__(self):
        self.known = {}

    def of(self, path):
        if path not in self.known:
            self.known[path] = hashlib.sha256(Path(path).read_bytes()).hexdigest()
        return self.known[path]


def point_id(point, simulator, digests):
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
    ]
    tail = hashlib.sha256(json.dumps(what).encode()).hexdigest()[:16]
    words = [Path(point.trace).stem, Path(point.machine).stem, point.policy]
    return re.sub(r"[^A-Za-z0-9_.-]", "-", "_".join(words)) + "_" + tail


def expand(document, folder, simulator, policies):
    """The points of a checked sweep file, in its order, each once. policies: as list_policies() has them."""
    digests = Digests()
    points = {}
    for sweep in document["sweeps"]:
        traces = select_traces(sweep["traces"], folder)
        machines = list(dict.fromkeys(find_machine(name, folder) for name in sweep["machines"]))
        named = expand_policies(sweep["policies"], policies)
        keys = list(sweep.get("set", {}))
        check_parameters(keys)
        values = [[(key, value) for value in sweep["set"][key]] for key in keys]
        for (trace, workload), machine, settings, policy in itertools.product(
            traces, machines, itertools.product(*values), named
        ):
            # Only arc-hw has a reduction unit.
            for kind in sweep["unit_kinds"] if policy == "arc-hw" else ["serial"]:
                point = Point(
                    trace, workload, machine, policy, sweep["unit"], kind, tuple(settings), sweep.get("timeline", 0)
                )
                name = point_id(point, simulator, digests)
                points[name] = Point(**{**asdict(point), "set": point.set, "id": name})
                if len(points) > MAX_POINTS:
                    raise PlanError(f"more than {MAX_POINTS:,} points")
    return list(points.values())


def from_json(entry):
    return Point(**{**entry, "set": tuple(tuple(pair) for pair in entry["set"])})
