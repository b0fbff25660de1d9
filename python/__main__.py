# SPDX-License-Identifier: Apache-2.0
"""Runs a module of the tools: `python3 FOLDER MODULE ARGUMENTS`, where FOLDER has this file and the package beside it.
Nothing is looked up in the caller's folder or in PYTHONPATH, as `python3 -m` would."""

import runpy
import sys

if len(sys.argv) < 2:
    sys.exit("which module? such as synth.synth")
runpy.run_module(f"warpfold.tools.{sys.argv.pop(1)}", run_name="__main__", alter_sys=True)
