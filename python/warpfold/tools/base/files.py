# SPDX-License-Identifier: Apache-2.0
"""How the tools read and write files. What they make appears under its name whole or not at all, whatever ends the
tool, and what was there before stays until then."""

import csv
import io
import json
import os
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from .errors import BadInput

# A path as a caller has it.
Name = str | Path


def write(path: Name, content: str | bytes, encoding: str = "utf-8") -> None:
    """Writes text or bytes. What is no plain file (/dev/stdout, a pipe) is written as it is; a symbolic link stays one.

    OSError, with the path as its file name, where it cannot be written."""
    data = content if isinstance(content, bytes) else content.encode(encoding)
    target = Path(os.path.realpath(path))
    try:
        if target.exists() and not target.is_file():
            with open(path, "wb") as file:
                file.write(data)
            return
        mode = target.stat().st_mode & 0o777 if target.exists() else 0o666 & ~_umask()
        handle, scratch = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
            os.chmod(scratch, mode)
            os.replace(scratch, target)
        except BaseException:
            os.unlink(scratch)
            raise
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error


def write_csv(path: Name, header: Sequence[str], rows: Iterable[Iterable[Any]]) -> None:
    """Rows under a header; None is an empty cell."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows([["" if cell is None else cell for cell in row] for row in rows])
    write(path, text.getvalue())


def write_json(path: Name, document: Any, indent: int | None = 2) -> None:
    write(path, json.dumps(document, indent=indent) + "\n")


def write_figure(path: Name, figure: Any, **options: Any) -> None:
    """A figure of Matplotlib as PNG."""
    picture = io.BytesIO()
    figure.savefig(picture, format="png", **options)
    write(path, picture.getvalue())


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def read_text(path: Name, encoding: str = "utf-8") -> str:
    """BadInput that names the file where it cannot be read or is no text."""
    try:
        return Path(path).read_text(encoding=encoding)
    except OSError as error:
        raise BadInput(f"{path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise BadInput(f"{path}: is no text: {error.reason}") from error


def read_json(path: Name, wanted: str | None = None) -> Any:
    """The document; BadInput with one line that names the file where it is none, or none of that schema."""
    try:
        document = json.loads(read_text(path))
    except (ValueError, RecursionError) as error:
        raise BadInput(f"{path}: is not JSON: {' '.join(str(error).split())}") from error
    if wanted is not None and (not isinstance(document, dict) or document.get("schema") != wanted):
        raise BadInput(f"{path}: is not {wanted}")
    return document


def check_writable(path: Name) -> None:
    """BadInput where a result could not be written, before the work that it takes."""
    path = Path(path)
    if path.is_dir():
        raise BadInput(f"cannot write {path}: is a folder")
    target = path if path.exists() else path.parent
    if not target.exists():
        raise BadInput(f"cannot write {path}: no folder {path.parent}")
    if not os.access(target, os.W_OK) or not os.access(path.parent, os.W_OK):
        raise BadInput(f"cannot write {path}: permission denied")
