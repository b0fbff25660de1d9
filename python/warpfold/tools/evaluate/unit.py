# SPDX-License-Identifier: Apache-2.0
"""A unit of somebody else: what it declares, and its sources. Used by evaluate.py."""

import hashlib
import re
import tomllib
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ..base import file_list
from ..base.errors import BadInput
from ..base.file_list import FileList
from ..synth import synth
from .sources import Sources

SUMS = ("chain", "any-order", "one-rounding")
SUFFIXES = (".sv", ".v", ".svh", ".vh")
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


# Key of unit.toml: type, default, what it means.
KEYS: dict[str, tuple[type, Any, str]] = {
    "name": (str, None, "name in the table; default: the top"),
    "top": (str, "arc_subcore", "top module"),
    "files": (list, None, "sources in compile order, paths from the folder of unit.toml"),
    "include": (list, [], "folders of `include files"),
    "parameters": (dict, {}, "parameters of the top"),
    "sum": (str, "chain", "chain, any-order or one-rounding"),
    "window": (int, 0, "one-rounding: bits kept of a value, from the top of the largest bin; 0: all"),
    "subnormals": (str, "flush", "flush, or keep for gradual underflow"),
    "read_lanes": (int, 1, "lanes that a register-file read asks for at most"),
    "banks": (int, None, "banks of the register file, lane l in bank l modulo this; default: read_lanes"),
    "exponent_bins": (bool, False, "looks at rf_bin_i"),
    "words": (int, 1, "words of a lane in a request at most"),
    "operands": (int, 8, "operands with lanes still to read, that in front of the unit with them; a power of two"),
    "read_turn": (int, 1, "a refused read comes again so many cycles later; 0: some time"),
    "payload": (str, "zero", "payload outputs without their valid: zero or any"),
    "cycles_to_rest": (int, 1 << 30, "ArcUnit::Ports::cycles_to_rest; default: never"),
    "rest_period": (int, 1, "ArcUnit::Ports::rest_period"),
    "reduction": (
        str,
        "",
        "module that reads and sums the lanes, which --layout takes; default: the unit without its coalescer",
    ),
    "coalescer": (str, "", "module that costs leave out once more, as every GPU has one"),
}


@dataclass
class Unit:
    folder: Path
    name: str
    declared: dict[str, Any]
    files: list[Path]
    include: list[Path]
    defines: dict[str, str] = field(default_factory=dict)  # macros that a list of files sets
    parameters: dict[str, str] = field(default_factory=dict)

    def listed(self) -> FileList:
        return FileList(self.files, self.include, self.defines)

    def options(self) -> list[str]:
        return self.listed().options()

    def __getattr__(self, key: str) -> Any:
        try:
            return self.declared[key]
        except KeyError:
            raise AttributeError(key) from None


def read_toml(path: Path) -> dict[str, Any]:
    try:
        data = tomllib.loads(path.read_bytes().decode("utf-8-sig"))
    except OSError as error:
        raise BadInput(f"cannot read {path}: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadInput(f"{path}: {error}") from error
    for key, value in data.items():
        if key not in KEYS:
            raise BadInput(f"{path}: unknown key '{key}'; there are: {' '.join(KEYS)}")
        kind = KEYS[key][0]
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            raise BadInput(f"{path}: {key} is no {kind.__name__}")
    return data


def check_declared(declared: dict[str, Any], where: Path | str) -> None:
    def need(right: object, text: str) -> None:
        if not right:
            raise BadInput(f"{where}: {text}")

    need(declared["sum"] in SUMS, f"sum '{declared['sum']}': there are {', '.join(SUMS)}")
    need(declared["subnormals"] in ("flush", "keep"), "subnormals: flush or keep")
    need(declared["payload"] in ("zero", "any"), "payload: zero or any")
    need(declared["banks"] in (1, 2, 4, 8, 16, 32), "banks: 1, 2, 4, 8, 16 or 32")
    need(1 <= declared["read_lanes"] <= declared["banks"], "read_lanes: from 1 to banks")
    need(declared["operands"] in tuple(1 << n for n in range(1, 7)), "operands: a power of two from 2 to 64")
    need(1 <= declared["words"] <= 16, "words: from 1 to 16")
    need(0 <= declared["read_turn"] <= 64, "read_turn: from 0 to 64")
    need(declared["window"] == 0 or 25 <= declared["window"] <= 300, "window: 0, or 25 to 300")
    need(declared["cycles_to_rest"] >= 1 and declared["rest_period"] >= 1, "cycles_to_rest, rest_period: from 1 on")
    for name in (
        declared["top"],
        *filter(None, [declared["coalescer"], declared["reduction"]]),
        *declared["parameters"],
    ):
        need(NAME.fullmatch(name), f"'{name}' is no name")
    for key, value in declared["parameters"].items():
        need(isinstance(value, (int, str)), f"parameter {key}: a number")
        need(
            re.fullmatch(r"-?\d+|\d*'[shbdo]*[0-9a-fA-F_]+", str(int(value) if isinstance(value, bool) else value)),
            f"parameter {key}={value}: a number",
        )


def guess_files(folder: Path) -> FileList:
    """Sources of a folder: those of its one list, or else all, each behind what it needs."""
    lists = sorted(folder.glob("*.f"))
    if len(lists) == 1:
        return file_list.read(lists[0])
    if lists:
        raise BadInput(f"{folder} has {len(lists)} file lists: name one with --file-list")
    files = sorted(path for path in folder.rglob("*") if path.suffix in (".sv", ".v") and path.is_file())
    if not files:
        raise BadInput(f"{folder} has no .sv and no .v file")
    found = Sources(files, [folder])
    included = found.included()
    return FileList(files=[path for path in found.ordered() if path not in included])


def load(
    rtl: str, declaration: str | None = None, list_file: str | None = None, options: dict[str, Any] | None = None
) -> Unit:
    """The unit in folder `rtl`; `options` replace what its unit.toml says."""
    folder = Path(rtl)
    if not folder.is_dir():
        raise BadInput(f"no folder {rtl}")
    folder = folder.resolve()
    toml = Path(declaration) if declaration else folder / "unit.toml"
    given = read_toml(toml) if declaration or toml.is_file() else {}
    given.update({key: value for key, value in (options or {}).items() if value is not None})
    declared = {key: given.get(key, default) for key, (_, default, _) in KEYS.items()}
    declared["banks"] = declared["banks"] or declared["read_lanes"]
    check_declared(declared, toml if toml.is_file() else "options")
    if list_file:
        found = file_list.read(Path(list_file))
    elif declared["files"] is not None:
        found = FileList(files=[toml.parent / file for file in declared["files"]])
    else:
        found = guess_files(folder)
    include = [folder, *found.include, *(toml.parent / path for path in declared["include"])]
    lost = [f"file {path}" for path in found.files if not path.is_file()]
    lost += [f"folder {path}" for path in include if not path.is_dir()]
    if lost:
        raise BadInput("no " + ", no ".join(lost))
    include = list(dict.fromkeys(path.resolve() for path in include))
    return Unit(
        folder,
        declared["name"] or declared["top"],
        declared,
        Sources([file.resolve() for file in found.files], include).with_found_modules(),
        include,
        found.defines,
        {key: str(int(value) if isinstance(value, bool) else value) for key, value in declared["parameters"].items()},
    )


def fingerprint(unit: Unit, *more: Path) -> str:
    """Hash of all that a build is made of."""
    digest = hashlib.sha256()
    headers = [
        path
        for folder in unit.include
        for path in sorted(folder.iterdir())
        if path.suffix in SUFFIXES and path.is_file() and path not in unit.files
    ]
    for path in [*unit.files, *headers]:
        digest.update(str(path).encode() + b"\0" + path.read_bytes() + b"\0")
    digest.update(repr(sorted(unit.defines.items())).encode())
    for path in map(Path, more):
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    digest.update(repr(sorted(unit.declared.items(), key=lambda item: item[0])).encode())
    return digest.hexdigest()[:16]


def usable(unit: Unit, folder: Path) -> Unit:
    """The same unit by paths that Yosys can take; links are in `folder`."""

    def link(path: Path) -> Path:
        return synth.without_blanks(path, folder)

    files = [link(link(path.parent) / path.name) for path in unit.files]
    return replace(unit, files=files, include=[link(path) for path in unit.include])


def stage(unit: Unit, folder: Path) -> Path:
    """A folder with the list arc.f that synth.py reads, of the unit's files where they are."""
    folder.mkdir(parents=True, exist_ok=True)
    file_list.write(folder / "arc.f", usable(unit, folder).listed())
    return folder
