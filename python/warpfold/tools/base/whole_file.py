# SPDX-License-Identifier: Apache-2.0
"""How the Python scripts write what they make: a file appears under its name whole or not at all, whatever ends the
script, and one that was there before stays until then."""

import csv
import io
import os
import tempfile
from pathlib import Path


def write(path, content, encoding="utf-8"):
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


def write_csv(path, header, rows):
    """Rows under a header; None is an empty cell."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows([["" if cell is None else cell for cell in row] for row in rows])
    write(path, text.getvalue())


def write_figure(path, figure, **options):
    """A figure of Matplotlib as PNG."""
    picture = io.BytesIO()
    figure.savefig(picture, format="png", **options)
    write(path, picture.getvalue())


def _umask():
    mask = os.umask(0)
    os.umask(mask)
    return mask
