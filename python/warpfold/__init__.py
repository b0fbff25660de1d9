# SPDX-License-Identifier: Apache-2.0
"""Traces and results of Warpfold as NumPy arrays.

    import warpfold
    trace = warpfold.Trace("truck.wft")
    events = trace.events()             # events.lanes, events.mask, ...: an array each
    rows = events.addresses("opacity")  # rows.address: of every active lane
    table = warpfold.columns(warpfold.results("results.json"))

It needs NumPy and the library libwarpfold_trace.so beside it, which the build makes. What goes wrong is a
warpfold.Error of one line.
"""

from .errors import Error
from .results import columns, results
from .trace import Events, Lanes, Trace

__all__ = ["Error", "Events", "Lanes", "Trace", "columns", "results"]
