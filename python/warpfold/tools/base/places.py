# SPDX-License-Identifier: Apache-2.0
"""Where things are."""

import sys
from pathlib import Path

# The checkout, also where the package lies in a build: there it is made of links to the sources.
ROOT = Path(__file__).resolve().parents[4]
# The folder of the package, of which `python3` runs any module.
PACKAGES = Path(__file__).absolute().parents[3]


def tool(module):
    """The beginning of a command line that runs a module of the tools (python/__main__.py)."""
    return [sys.executable, "-B", str(PACKAGES), module]
