# SPDX-License-Identifier: Apache-2.0
"""Traces and results of Warpfold as NumPy arrays, simulations and recordings by a call.

    import warpfold
    trace = warpfold.Trace("truck.wft")
    events = trace.events()             # events.lanes, events.mask, ...: an array each
    rows = events.addresses("opacity")  # rows.address: of every active lane
    table = warpfold.columns(warpfold.results("results.json"))
    runs = warpfold.simulate(trace, gpu="h100", policies=["baseline", "sw-b:16"])

It needs NumPy and the library libwarpfold_trace.so beside it, which the build makes. What goes wrong is a
warpfold.Error of one line.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .errors import Error
    from .rows import columns, results
    from .simulation import Run, Runs, record, sample, simulate
    from .trace import Events, Lanes, Trace

__all__ = ["Error", "Events", "Lanes", "Run", "Runs", "Trace", "columns", "record", "results", "sample", "simulate"]

# Which module has it. Loaded when it is first asked for: the tools need neither NumPy nor the library.
_HOME = {
    **dict.fromkeys(("Events", "Lanes", "Trace"), "trace"),
    **dict.fromkeys(("columns", "results"), "rows"),
    **dict.fromkeys(("Run", "Runs", "record", "sample", "simulate"), "simulation"),
    "Error": "errors",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f".{_HOME[name]}", __name__), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
