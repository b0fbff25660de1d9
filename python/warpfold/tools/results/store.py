# SPDX-License-Identifier: Apache-2.0
"""The files of docs/numbers: results with where they come from, and a digest that shows a change by hand."""

import hashlib
import json
import os
import platform
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..base import files
from ..base.errors import BadInput
from ..base.places import sources

ROOT = sources()
FOLDER = ROOT / "docs/numbers"


# A file, and where its results come from: commit, host, command, date.
Document = dict[str, Any]
Source = dict[str, str]


class Missing(BadInput):
    """A result that is not there yet: its name."""


class Unknown(Exception):
    """A key that names nothing."""


def digest(document: Document) -> str:
    """Of all that a file says, its own digest apart."""
    content = {key: value for key, value in document.items() if key != "digest"}
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:16]


def processor() -> str:
    """ "AMD EPYC 7763, 2 cores"."""
    name = platform.machine()
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                name = line.partition(":")[2].strip()
                break
    except OSError:
        pass
    return f"{name}, {os.cpu_count()} cores"


def commit() -> str:
    done = subprocess.run(
        ["git", "-C", str(ROOT), "rev-parse", "--short=12", "HEAD"], capture_output=True, text=True, check=False
    )
    return done.stdout.strip() or "unknown"


def source(command: str) -> Source:
    return {
        "commit": commit(),
        "host": processor(),
        "command": command,
        "date": time.strftime("%Y-%m-%d", time.gmtime()),
    }


def text_of(value: Any, depth: int = 0) -> str:
    """JSON that a diff shows well: a row a line, small things whole."""
    flat = json.dumps(value)
    if not isinstance(value, (dict, list)) or (depth > 0 and len(flat) <= 110) or not value:
        return flat
    if isinstance(value, list) and not any(isinstance(item, (dict, list)) for item in value):
        return flat
    pad = " " * (depth + 1)
    if isinstance(value, dict):
        lines = [f"{pad}{json.dumps(key)}: {text_of(item, depth + 1)}" for key, item in value.items()]
    else:
        lines = [pad + (text_of(item, depth + 1) if isinstance(item, list) else json.dumps(item)) for item in value]
    left, right = ("{", "}") if isinstance(value, dict) else ("[", "]")
    return left + "\n" + ",\n".join(lines) + "\n" + " " * depth + right


def write(name: str, where: Source, data: Mapping[str, Any], folder: Path = FOLDER) -> None:
    """`where` is what source() gives, `data` the keys of the file's own."""
    document: Document = {"schema": f"warpfold.numbers.{name}/1", "source": where, **data}
    document["digest"] = digest(document)
    folder.mkdir(parents=True, exist_ok=True)
    files.write(folder / f"{name}.json", text_of(document) + "\n")


def read(name: str, folder: Path = FOLDER) -> Document | None:
    """The document, or None where there is none."""
    path = folder / f"{name}.json"
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError, ValueError) as error:
        raise BadInput(f"{path}: {getattr(error, 'strerror', None) or 'is not JSON'}") from None
    if not isinstance(document, dict) or document.get("digest") != digest(document):
        raise BadInput(f"{path} was changed by hand: its digest does not fit; run warpfold results")
    if document.get("schema") != f"warpfold.numbers.{name}/1":
        raise BadInput(f"{path}: its schema is {document.get('schema')}")
    return document


def ours(name: str, folder: Path = FOLDER) -> Document | None:
    """The document, or None where there is none that a command wrote."""
    try:
        return read(name, folder)
    except BadInput:
        return None


def source_lines(folder: Path) -> list[tuple[str, Source]]:
    """(file, source) of all files."""
    return [
        (path.name, json.loads(path.read_text(encoding="utf-8")).get("source", {}))
        for path in sorted(folder.glob("*.json"))
    ]
