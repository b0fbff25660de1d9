# SPDX-License-Identifier: Apache-2.0
"""The kinds of charts that the figures are made of. Colours are Okabe and Ito's, which the colour-blind can tell
apart; series differ in hatching or line style as well."""

import math
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ..base import files
from ..base.modules import module, pyplot

plt = pyplot()
ticker = module("matplotlib.ticker")

BLACK, ORANGE, SKY, GREEN, YELLOW, BLUE, RED, PINK, GREY = (
    "#000000",
    "#E69F00",
    "#56B4E9",
    "#009E73",
    "#F0E442",
    "#0072B2",
    "#D55E00",
    "#CC79A7",
    "#999999",
)
HATCHES = ["", "///", "", "...", "", "\\\\\\", "xx"]
LINES = ["-", "--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1))]
MARKERS = "osD^vP"
# Of a logarithmic axis: up to that ratio of its ends, these steps in a decade.
TICKS = (
    (3, (1, 1.25, 1.5, 2, 2.5, 3, 4, 5, 6, 8)),
    (12, (1, 1.5, 2, 3, 5, 7)),
    (200, (1, 2, 5)),
    (math.inf, (1,)),
)

plt.rcParams.update(
    {
        "font.size": 9,
        "axes.titlesize": 10,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.grid": True,
        "axes.grid.axis": "y",
        "grid.color": "#dddddd",
        "axes.axisbelow": True,
        "figure.constrained_layout.use": True,
        "hatch.linewidth": 0.5,
        "savefig.dpi": 130,
        "legend.frameon": False,
    }
)


def save(figure: Any, path: Path) -> None:
    files.write_figure(path, figure)
    plt.close(figure)


def plain(value: float, _: int | None = None) -> str:
    """10, 2, 0.5: no exponents, no needless digits."""
    return f"{value:g}"


def set_log_axis(axis: Any, values: Iterable[float | None]) -> None:
    """Round numbers, closer together the less there is between the lowest and the highest."""
    known = [value for value in values if value and math.isfinite(value)]
    if not known:
        return
    low, high = min([*known, 1.0]) / 1.15, max([*known, 1.0]) * 1.15
    axis.set_yscale("log")
    axis.set_ylim(low, high)
    steps = next(steps for limit, steps in TICKS if high / low < limit)
    ticks = [step * 10.0**decade for decade in range(-6, 9) for step in steps]
    axis.yaxis.set_major_locator(ticker.FixedLocator([tick for tick in ticks if low <= tick <= high]))
    axis.yaxis.set_minor_locator(ticker.NullLocator())
    axis.yaxis.set_major_formatter(ticker.FuncFormatter(plain))
    axis.yaxis.set_minor_formatter(ticker.NullFormatter())


def wide(count: int, height: float = 3.4, panels: int = 1) -> tuple[Any, Any]:
    """A figure wide enough for so many groups of bars."""
    figure, axes = plt.subplots(panels, 1, figsize=(max(7.0, 1.6 + 0.62 * count), height * panels), squeeze=False)
    return figure, axes


def grouped_bars(
    axis: Any,
    labels: list[str],
    series: dict[str, list[float | None]],
    colors: list[str],
    unit: str,
    reference: float = 1.0,
    log: bool = True,
    marks: dict[str, float] | None = None,
) -> None:
    """`series`: {name: [value or None for each label]}. `marks`: {name: value} is drawn over the last label, as
    what the paper states. A value beyond all bounds fills its place and says so."""
    width = 0.84 / len(series)
    finite = [value for values in series.values() for value in values if value is not None and math.isfinite(value)]
    marks = marks or {}
    if log:
        set_log_axis(axis, [*finite, *marks.values()])
    for index, (name, values) in enumerate(series.items()):
        offset = (index - (len(series) - 1) / 2) * width
        places = [place + offset for place, value in enumerate(values) if value is not None]
        heights = [value for value in values if value is not None]
        top = axis.get_ylim()[1] if log else max(finite, default=1) * 1.1
        # From the line of the reference, up or down.
        base = reference if log and reference is not None else 0
        axis.bar(
            places,
            [min(height, top) - base for height in heights],
            width,
            bottom=base,
            label=name,
            color=colors[index],
            edgecolor="black",
            linewidth=0.4,
            hatch=HATCHES[index % len(HATCHES)],
        )
        for place, height in zip(places, heights):
            if not math.isfinite(height):
                axis.annotate(
                    "none left ",
                    (place, top),
                    rotation=90,
                    ha="center",
                    va="top",
                    fontsize=6,
                    bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.5},
                )
        if name in marks:
            axis.plot(
                [len(labels) - 1 + offset],
                [marks[name]],
                marker="D",
                color="white",
                markeredgecolor="black",
                markersize=5,
                linestyle="none",
                zorder=5,
            )
    if marks:
        axis.plot(
            [],
            [],
            marker="D",
            color="white",
            markeredgecolor="black",
            markersize=5,
            linestyle="none",
            label="ARC states",
        )
    if reference is not None:
        axis.axhline(reference, color="black", linewidth=0.8)
    axis.set_xticks(range(len(labels)), labels, rotation=35, ha="right", rotation_mode="anchor")
    axis.set_xlim(-0.6, len(labels) - 0.4)
    axis.set_ylabel(unit)
    axis.grid(False, axis="x")
    handles, names = axis.get_legend_handles_labels()
    order = sorted(range(len(names)), key=lambda index: names[index] not in series)
    axis.legend(
        [handles[index] for index in order],
        [names[index] for index in order],
        ncol=len(series) + 1,
        loc="lower left",
        bbox_to_anchor=(0, 1.0),
        fontsize=8,
        columnspacing=1.2,
        handlelength=1.6,
        borderaxespad=0.2,
    )


def separate_last(axis: Any, count: int) -> None:
    """A line between the workloads and their mean."""
    axis.axvline(count - 1.5, color="#777777", linewidth=0.8, linestyle=":")


def stacked_bars(axis: Any, labels: list[str], series: dict[str, list[float]], colors: list[str], unit: str) -> None:
    """`series`: {part: [value for each label]}."""
    base = [0.0] * len(labels)
    for index, (name, values) in enumerate(series.items()):
        axis.bar(
            range(len(labels)),
            values,
            0.7,
            bottom=base,
            label=name,
            color=colors[index],
            edgecolor="black",
            linewidth=0.4,
            hatch=HATCHES[index % len(HATCHES)],
        )
        base = [below + value for below, value in zip(base, values)]
    axis.set_xticks(range(len(labels)), labels, rotation=35, ha="right", rotation_mode="anchor")
    axis.set_xlim(-0.6, len(labels) - 0.4)
    axis.set_ylabel(unit)
    axis.grid(False, axis="x")


def small_multiples(
    count: int, columns: int, size: tuple[float, float] = (2.5, 1.9), **options: bool
) -> tuple[Any, list[Any]]:
    """(figure, axes of so many panels); panels that are left over are not drawn."""
    columns = min(columns, count)
    rows = math.ceil(count / columns)
    figure, axes = plt.subplots(
        rows, columns, figsize=(max(size[0] * columns, 5.5), size[1] * rows + 0.7), squeeze=False, **options
    )
    flat = [axis for line in axes for axis in line]
    for axis in flat[count:]:
        axis.set_visible(False)
    return figure, flat[:count]


def figure_legend(figure: Any, axis: Any, columns: int) -> None:
    """Above all panels, which make room for it."""
    handles, names = axis.get_legend_handles_labels()
    lines = -(-len(names) // columns)
    height = figure.get_size_inches()[1]
    figure.get_layout_engine().set(rect=(0, 0, 1, 1 - (0.1 + 0.2 * lines) / height))
    figure.legend(handles, names, loc="upper center", ncol=columns, fontsize=8, borderaxespad=0.2)
