# SPDX-License-Identifier: Apache-2.0
"""Modules that are not Python's own: a tool loads them when it needs them, and says which package has them."""

import importlib
import sys
from typing import Any

from .errors import BadInput

# Debian's package of a module.
PACKAGES = {
    "jsonschema": "python3-jsonschema",
    "matplotlib": "python3-matplotlib",
    "numpy": "python3-numpy",
    "yaml": "python3-yaml",
}


def module(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        package = PACKAGES[name.partition(".")[0]]
        raise BadInput(f"{sys.executable} has no module {name}; it is in Debian's package {package}") from error


def pyplot() -> Any:
    """matplotlib.pyplot, for files alone."""
    module("matplotlib").use("Agg")
    return module("matplotlib.pyplot")
