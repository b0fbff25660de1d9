# SPDX-License-Identifier: Apache-2.0
"""Runs a tool of the package beside this file: `python3 FOLDER NAME ARGUMENTS`. Nothing is looked up in the caller's
folder or in PYTHONPATH, as `python3 -m` would."""

from warpfold.tools import commands

commands.start()
