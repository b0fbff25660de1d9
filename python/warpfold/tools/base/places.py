# SPDX-License-Identifier: Apache-2.0
"""Where things are: in a checkout, in its build, or in an installation."""

import os
import sys
from pathlib import Path

from .errors import BadInput

# The folder of the package, of which `python3` runs any tool (python/__main__.py). In a build it has links to sources.
FOLDER = Path(__file__).absolute().parents[3]


def _is_checkout(folder: Path) -> bool:
    return (folder / "rtl/arc.f").is_file() and (folder / "python/warpfold").is_dir()


def _own_checkout() -> Path | None:
    folder = Path(__file__).resolve().parents[4]
    return folder if _is_checkout(folder) else None


def _installed() -> Path:
    """share/warpfold below the prefix that the package is installed under."""
    share = (parent / "share/warpfold" for parent in Path(__file__).resolve().parents)
    return next((folder for folder in share if folder.is_dir()), Path("/usr/share/warpfold"))


# The checkout that the package is of; None where it is installed.
CHECKOUT = _own_checkout()
# What the tools read, laid out alike in a checkout and in an installation, but for the machines.
SHIPPED = CHECKOUT or _installed()
RTL, SYNTH, TRACES = SHIPPED / "rtl", SHIPPED / "synth", SHIPPED / "traces/data"
MACHINES = CHECKOUT / "model/gpus" if CHECKOUT else SHIPPED / "gpus"


def sources() -> Path:
    """The checkout that the caller is in, else that of the package; in an installation what it ships."""
    here = Path.cwd()
    return next((folder for folder in (here, *here.parents) if _is_checkout(folder)), SHIPPED)


def checkout() -> Path:
    """The checkout that a tool changes."""
    found = sources()
    if not _is_checkout(found):
        raise BadInput("works on a checkout of Warpfold: run it in one")
    return found


def warpfold() -> Path:
    """The command: that which runs the tool, or WARPFOLD, or that of the checkout's build."""
    if "WARPFOLD" in os.environ:
        return Path(os.environ["WARPFOLD"])
    beside = FOLDER.parent / "model/warpfold"  # of the package in a build
    if beside.is_file():
        return beside
    if CHECKOUT:
        return CHECKOUT / "build/release/model/warpfold"
    installed = SHIPPED.parents[1] / "bin/warpfold"
    return installed if installed.is_file() else Path("warpfold")


def helper(name: str) -> Path:
    """A program that the tools run, which lies alike beside the command in a build and in an installation. BadInput
    where it is not built."""
    path = Path(os.environ.get(name.upper()) or warpfold().resolve().parent.parent / "lib/warpfold" / name)
    if not path.is_file():
        raise BadInput(f"no program {path}; the build makes it: cmake --build build/release --target {name}")
    return path


def tool(name: str) -> list[str]:
    """The beginning of a command line that runs a tool."""
    return [sys.executable, "-B", str(FOLDER), name]
