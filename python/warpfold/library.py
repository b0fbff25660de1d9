# SPDX-License-Identifier: Apache-2.0
"""The functions of libwarpfold_trace.so (python/trace_access.cpp) and the structures that they take."""

import ctypes
from ctypes import POINTER, c_char_p, c_int32, c_int64, c_uint32, c_uint64, c_void_p
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

# The element type of each column of a table.
Kinds = dict[str, type[np.generic]]
Arrays = dict[str, NDArray[Any]]

# What is wanted of a site that is no number of a parameter.
NO_LANES, LEFT_OUT = -1, -2

# Names and element types of the columns, in the order of EventColumns and LaneColumns.
EVENT_COLUMNS: Kinds = {
    "cta": np.int64,
    "warp": np.int32,
    "order": np.int32,
    "site": np.int32,
    "mask": np.uint32,
    "lanes": np.int32,
    "uniform": np.bool_,
    "primitive": np.int64,
}
LANE_COLUMNS: Kinds = {"event": np.int64, "lane": np.int32, "primitive": np.int64, "address": np.uint64}


def load() -> ctypes.CDLL:
    path = Path(__file__).absolute().parent / "libwarpfold_trace.so"
    try:
        library = ctypes.CDLL(str(path))
    except OSError as error:
        raise ImportError(f"warpfold: {error}; the build makes it, and the package beside it") from None
    signatures: dict[str, tuple[Any, list[Any]]] = {
        "warpfold_error": (c_char_p, []),
        "warpfold_open": (c_void_p, [c_char_p]),
        "warpfold_close": (None, [c_void_p]),
        "warpfold_header": (c_char_p, [c_void_p]),
        "warpfold_cta_count": (c_uint64, [c_void_p]),
        "warpfold_event_count": (c_uint64, [c_void_p]),
        "warpfold_cta_ids": (None, [c_void_p, c_void_p]),
        "warpfold_take": (c_int64, [c_void_p, c_uint64, c_uint64, POINTER(c_int32), POINTER(c_uint64)]),
        "warpfold_events": (None, [c_void_p, POINTER(c_void_p)]),
        "warpfold_lanes": (None, [c_void_p, c_int64, POINTER(c_void_p)]),
        "warpfold_values": (None, [c_void_p, POINTER(c_uint32)]),
        "warpfold_work": (None, [c_void_p, POINTER(c_int32), POINTER(c_uint64)]),
    }
    for name, (result, arguments) in signatures.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library


LIBRARY = load()


def pointer(array: NDArray[Any], kind: Any) -> Any:
    return array.ctypes.data_as(POINTER(kind))


def empty_columns(kinds: Kinds, count: int) -> tuple[Arrays, Any]:
    """New arrays by name, and the structure of pointers to them that the library fills."""
    arrays: Arrays = {name: np.empty(count, kind) for name, kind in kinds.items()}
    return arrays, (c_void_p * len(arrays))(*(array.ctypes.data for array in arrays.values()))


def last_error() -> str:
    said: bytes = LIBRARY.warpfold_error()
    return said.decode(errors="replace")
