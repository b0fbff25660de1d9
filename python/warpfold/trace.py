# SPDX-License-Identifier: Apache-2.0
"""A warp atomic trace (.wft) as NumPy arrays."""

import json
import os
import threading
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from ctypes import c_int32, c_uint32, c_uint64
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .errors import Error
from .library import (
    EVENT_COLUMNS,
    LANE_COLUMNS,
    LEFT_OUT,
    LIBRARY,
    NO_LANES,
    Arrays,
    Kinds,
    empty_columns,
    last_error,
    pointer,
)

# Columns of some CTAs, from how many events, rows of lanes and words of values they have.
Fill = Callable[[list[int]], Arrays]


class Lanes(NamedTuple):
    """The active lanes of events, a row for each lane: ordered by event, then by lane. Arrays of shape (rows,)."""

    event: NDArray[np.int64]  # position of its event in the columns of Events
    lane: NDArray[np.int32]  # 0..31
    primitive: NDArray[np.int64]  # index of the element that the lane adds to
    address: NDArray[np.uint64]  # byte address as on the GPU of the recording


class Events:
    """Events of a trace, in the order of CTAs, of warps in a CTA, and of the program in a warp.

    An event is one warp that adds at one site: a run of REDs with one mask, one for each parameter of the site.
    Every column is a NumPy array of shape (len(events),):

    cta        int64   linear index of the CTA: x + grid.x * (y + grid.y * z)
    warp       int32   number of the warp in its CTA
    order      int32   number of the record in the warp, as `warpfold trace dump` has it; work and barriers count, too
    site       int32   index into Trace.sites
    mask       uint32  bit i is set if lane i is active; never 0
    lanes      int32   number of active lanes, 1..32
    uniform    bool    whether the trace says that all active lanes have one primitive
    primitive  int64   that primitive; where the event is not uniform, that of its lowest active lane
    """

    cta: NDArray[np.int64]
    warp: NDArray[np.int32]
    order: NDArray[np.int32]
    site: NDArray[np.int32]
    mask: NDArray[np.uint32]
    lanes: NDArray[np.int32]
    uniform: NDArray[np.bool_]
    primitive: NDArray[np.int64]

    def __init__(self, trace: "Trace", site: str | int | None, begin: int, end: int) -> None:
        """For Trace alone: events of its CTAs begin..end - 1 of the file."""
        self._trace, self._begin, self._end = trace, begin, end
        self._sites = trace._chosen(site)
        choice = [NO_LANES if i in self._sites else LEFT_OUT for i in range(len(trace.sites))]

        def fill(counts: list[int]) -> Arrays:
            arrays, structure = empty_columns(EVENT_COLUMNS, counts[0])
            LIBRARY.warpfold_events(trace._handle, structure)
            return arrays

        for name, column in _joined(trace._pieces(begin, end, choice, fill), EVENT_COLUMNS).items():
            setattr(self, name, column)

    def __len__(self) -> int:
        return len(self.mask)

    def __repr__(self) -> str:
        return f"<warpfold.Events: {len(self)} events of {self._end - self._begin} CTAs of {self._trace.path}>"

    def columns(self) -> Arrays:
        """The columns as a dict of arrays, as pandas.DataFrame takes them."""
        return {name: getattr(self, name) for name in EVENT_COLUMNS}

    def addresses(self, parameter: str | int = 0) -> Lanes:
        """Where the active lanes add one parameter: Lanes, with the address in bytes of each.

        parameter: its number in the site, or its name. Events of sites without it have no rows.
        Of parameter w of a vector RED (v2, v4) this is the address of word w. Half pairs lie in one word of
        4 bytes, the lower half first. 28 bytes a row: take large traces by Trace.chunks().
        """
        trace, choice = self._trace, self._choice(parameter)
        first = 0

        def fill(counts: list[int]) -> Arrays:
            nonlocal first
            arrays, structure = empty_columns(LANE_COLUMNS, counts[1])
            LIBRARY.warpfold_lanes(trace._handle, first, structure)
            first += counts[0]
            return arrays

        return Lanes(**_joined(trace._pieces(self._begin, self._end, choice, fill), LANE_COLUMNS))

    def values(self, parameter: str | int = 0) -> NDArray[Any]:
        """What the active lanes add, bit by bit as the GPU computed it, in the order of addresses(parameter).

        Of a site of type f32 float32 (rows,); f64 float64 (rows,); f16x2 float16 (rows, 2), the lower half first;
        bf16x2 float32 (rows, 2); u32 uint32 and u64 uint64 (rows,), which add no floats. An Error where the trace has no
        values, or sites of several types have the parameter.
        """
        trace, choice = self._trace, self._choice(parameter)
        if trace.header["values"] == "none":
            raise Error(f"{trace.path}: the trace has no values")
        types = {trace.sites[i]["type"] for i, chosen in enumerate(choice) if chosen >= 0}
        if len(types) > 1:
            raise Error(f"{trace.path}: the sites are of types {', '.join(sorted(types))}: take the events of one")

        def fill(counts: list[int]) -> Arrays:
            words = np.empty(counts[2], np.uint32)
            LIBRARY.warpfold_values(trace._handle, pointer(words, c_uint32))
            return {"words": words}

        words = _joined(trace._pieces(self._begin, self._end, choice, fill), {"words": np.uint32})["words"]
        return _of_words(words, types.pop())

    def _choice(self, parameter: str | int) -> list[int]:
        """For each site of the trace what the library is to take of it."""
        choice = [LEFT_OUT] * len(self._trace.sites)
        for i in self._sites:
            names = [entry["name"] for entry in self._trace.sites[i]["parameters"]]
            number = _index(parameter, names)
            choice[i] = NO_LANES if number is None else number
        if max(choice) < 0:
            raise Error(f"{self._trace.path}: no parameter {parameter!r} at {_listed(self._trace.sites, self._sites)}")
        return choice


class Trace:
    """A trace file, open for reading. It refuses what `warpfold trace verify` would refuse of its structure.

    header   dict: the header as in the file (traces/FORMAT.md)
    sites    list of dicts, places of the kernel that add: name, type, primitives (how many), parameters
             (name, base: byte address of primitive 0, stride_bytes), taken_path (may be empty)
    arrays   list of dicts, allocations that are added to: name, base (byte address), bytes
    ctas     int64 array of the linear indices of the CTAs in the file, increasing; a sample has not all of the launch
    len(trace) is the number of these CTAs, and iterating gives the Events of one after the other.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        """path: of a .wft file. Raises Error if it cannot be read or is not sound."""
        self.path = os.fspath(path)
        self._handle = LIBRARY.warpfold_open(os.fsencode(path))
        if not self._handle:
            raise Error(last_error())
        weakref.finalize(self, LIBRARY.warpfold_close, self._handle)
        self._lock = threading.Lock()
        self.header: dict[str, Any] = json.loads(LIBRARY.warpfold_header(self._handle))
        self.sites: list[dict[str, Any]] = self.header["sites"]
        self.arrays: list[dict[str, Any]] = self.header["arrays"]
        self.ctas: NDArray[np.int64] = np.empty(LIBRARY.warpfold_cta_count(self._handle), np.int64)
        LIBRARY.warpfold_cta_ids(self._handle, self.ctas.ctypes.data)

    def __len__(self) -> int:
        return len(self.ctas)

    def __repr__(self) -> str:
        return (
            f"<warpfold.Trace {self.path}: kernel {self.header['kernel']}, {len(self)} CTAs, "
            f"{LIBRARY.warpfold_event_count(self._handle)} events at {len(self.sites)} site{'' if len(self.sites) == 1 else 's'}>"
        )

    def __iter__(self) -> Iterator[Events]:
        return self.chunks(ctas=1)

    def events(self, site: str | int | None = None) -> Events:
        """All events of the file, or those of one site, a name or an index. 37 bytes an event."""
        return Events(self, site, 0, len(self))

    def chunks(self, ctas: int = 64, site: str | int | None = None) -> Iterator[Events]:
        """Iterates over the Events of that many CTAs at a time: work on a trace of any size in bounded memory."""
        if not isinstance(ctas, (int, np.integer)) or ctas < 1:
            raise Error(f"chunks of {ctas!r} CTAs cannot be: at least 1")
        self._chosen(site)
        return (Events(self, site, begin, min(begin + ctas, len(self))) for begin in range(0, len(self), ctas))

    def work(self) -> dict[str, int]:
        """Passes of all warps along each path, by its name: those without an event and those that end in one.

        Times the path's cost (header["costs"]) these are the warp instructions of the file's CTAs without reductions.
        """
        paths: list[str] = self.header["paths"]
        taken = np.array(
            [paths.index(site["taken_path"]) if site["taken_path"] else -1 for site in self.sites], np.int32
        )
        passes = np.zeros(len(paths), np.uint64)

        def fill(_: list[int]) -> Arrays:
            LIBRARY.warpfold_work(self._handle, pointer(taken, c_int32), pointer(passes, c_uint64))
            return {}

        for _ in self._pieces(0, len(self), [LEFT_OUT] * len(self.sites), fill):
            pass
        return dict(zip(paths, passes.tolist()))

    def _chosen(self, site: str | int | None) -> list[int]:
        """Indices of the sites that are meant."""
        if site is None:
            return list(range(len(self.sites)))
        names = [entry["name"] for entry in self.sites]
        index = _index(site, names)
        if index is None:
            raise Error(f"{self.path}: no site {site!r}; there are: {', '.join(names)}")
        return [index]

    def _pieces(self, begin: int, end: int, choice: list[int], fill: Fill) -> Iterator[Arrays]:
        """fill(counts) for some CTAs after the other, as many as the library takes at once."""
        wanted, counts = np.array(choice, np.int32), np.zeros(3, np.uint64)
        while begin < end:
            with self._lock:
                begin = LIBRARY.warpfold_take(
                    self._handle, begin, end, pointer(wanted, c_int32), pointer(counts, c_uint64)
                )
                if begin < 0:
                    raise Error(last_error())
                piece = fill([int(count) for count in counts])
            yield piece


def _index(wanted: str | int, names: Sequence[str]) -> int | None:
    """Position of what is meant, a name or a position; None if there is none."""
    if isinstance(wanted, str):
        return names.index(wanted) if wanted in names else None
    return int(wanted) if isinstance(wanted, (int, np.integer)) and 0 <= wanted < len(names) else None


def _listed(sites: Sequence[dict[str, Any]], chosen: Iterable[int]) -> str:
    return "; ".join(
        f"site {sites[i]['name']}: {', '.join(entry['name'] for entry in sites[i]['parameters'])}" for i in chosen
    )


def _joined(pieces: Iterable[Arrays], kinds: Kinds) -> Arrays:
    """Each column in one array. Frees the pieces of a column before it joins the next."""
    found = list(pieces)
    return {
        name: np.concatenate([piece.pop(name) for piece in found]) if found else np.empty(0, kind)
        for name, kind in kinds.items()
    }


def _of_words(words: NDArray[Any], kind: str) -> NDArray[Any]:
    if kind == "f32":
        return words.view(np.float32)
    if kind == "f64":
        return words.view(np.float64)
    if kind == "u32":
        return words
    if kind == "u64":
        return words.view(np.uint64)
    if kind == "f16x2":
        return words.view(np.float16).reshape(-1, 2)
    halves: NDArray[Any] = np.stack([words << 16, words & np.uint32(0xFFFF0000)], axis=1)
    return halves.view(np.float32)
