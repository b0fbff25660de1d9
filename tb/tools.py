# SPDX-License-Identifier: Apache-2.0
"""Runs a tool of the Python package in this process, so that a test can stand in for parts of it."""

import contextlib
import io
from unittest import mock

from warpfold.tools import commands
from warpfold.tools.base import guard


def run_tool(name, *words, stdin=""):
    """Exit code, output and errors, as of `warpfold NAME`."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), mock.patch("sys.stdin", io.StringIO(stdin)):
        try:
            guard.end(commands.tools()[name].called, lambda: commands.call(name, [str(word) for word in words]))
        except SystemExit as end:
            code = end.code
    return code, out.getvalue(), err.getvalue()
