# SPDX-License-Identifier: Apache-2.0
"""The pictures of docs/pictures: a function for each gives a figure and what a screen reader says of it."""

import re
import statistics
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .. import correlate
from ..base import files
from ..base.modules import module
from . import diagrams, tables
from .family import MEMBERS, PAPERS
from .store import Missing
from .style import VERSION, color, plt, to_text
from .values import Numbers

# A figure, and what a screen reader says of it.
Drawn = tuple[Any, str]

ticker = module("matplotlib.ticker")
BUDGET = 320 * 1024
# The policies of pictures that are no units: name, policy, colour, marker.
OTHERS = [
    ("ARC-SW, best threshold", "arc-sw", "red", "s"),
    ("LAB-ideal", "lab-ideal", "orange", "^"),
    ("LAB", "lab-best", "yellow", "<"),
    ("PHI", "phi", "pink", "X"),
    ("CCCL in every pass", "cccl", "grey", "P"),
]
# Of the first picture: title, colour, rows of name, policy, and what it costs.
WAYS = [
    (
        "Buffers beside the L1",
        "orange",
        [
            ("LAB-ideal", "lab-ideal", "an SRAM per SM"),
            ("LAB", "lab-best", "part of the L1"),
            ("PHI", "phi", "lines of the L1"),
        ],
    ),
    (
        "Software, by shuffles",
        "red",
        [("ARC-SW", "arc-sw", "instructions"), ("CCCL*", "cccl", "instructions")],
    ),
    ("Plain atomics", "grey", [("baseline", "baseline", "")]),
]
STALL_COLORS = {
    "issued": "blue",
    "memory_queue": "red",
    "arc_unit": "green",
    "shuffle": "sky",
    "dependency": "orange",
    "barrier": "pink",
    "idle": "grid",
}
STALL_NAMES = {
    "issued": "an instruction issues",
    "memory_queue": "atomics wait for the memory path",
    "arc_unit": "atomics wait for ARC's unit",
    "shuffle": "shuffles wait",
    "dependency": "a result is awaited",
    "barrier": "at a barrier",
    "idle": "no warp is left",
}


def plain(value: float, _: Any = None) -> str:
    return f"{value:g}"


def log_axis(axis: Any, ticks: Sequence[float]) -> None:
    axis.set_major_locator(ticker.FixedLocator(ticks))
    axis.set_minor_locator(ticker.NullLocator())
    axis.set_major_formatter(ticker.FuncFormatter(plain))
    axis.set_minor_formatter(ticker.NullFormatter())


def overview(n: Numbers) -> Drawn:
    """What a newcomer sees first: what each way gains, and what it costs."""

    def clock(divider: int) -> str:
        return "" if divider == 1 else f", a step in {divider} cycles"

    units = [
        (
            one.name + (" (ARC's)" if one == PAPERS else ""),
            n.mean_gain("arc-hw", one.row),
            f"{n.transistors(one):,} transistors{clock(n.clocks.divider(one, 'rtx4090'))}",
            "blue" if one in n.chosen else "sky",
        )
        for one in sorted(MEMBERS, key=n.transistors, reverse=True)
    ]
    groups = [("Reduction unit in every sub-core (ARC-HW)", units)]
    groups += [
        (title, [(name, n.mean_gain(policy), cost, shade) for name, policy, cost in rows])
        for title, shade, rows in WAYS
    ]
    figure, axis = plt.subplots(figsize=(8.2, 6.0))
    place, most = 0.0, 0.0
    ticks: list[tuple[float, str]] = []
    for title, rows in groups:
        axis.text(0, place, title, weight="bold", va="center", fontsize=10.5)
        place += 1
        for name, gain, cost, shade in rows:
            most = max(most, gain)
            axis.barh(place, gain, 0.72, color=color(shade))
            axis.annotate(f"{gain:.1f}x", (gain, place), (6, 0), textcoords="offset points", va="center", weight="bold")
            axis.annotate(cost, (gain, place), (42, 0), textcoords="offset points", va="center", color=color("muted"))
            ticks.append((place, name))
            place += 1
        place += 0.35
    axis.set_yticks([at for at, _ in ticks], [name for _, name in ticks])
    axis.set_ylim(place - 0.4, -0.7)
    axis.set_xlim(0, most * 1.52)
    axis.tick_params(axis="y", length=0)
    axis.grid(False)
    axis.spines["left"].set_visible(False)
    axis.set_xlabel(
        "speedup over plain atomics, mean of 13 traces of gradient kernels, RTX 4090; * of 8 traces\n"
        "units at the clocks that their paths allow; dark: recommended"
    )
    return figure, "Mean speedup of each way to reduce atomics on a simulated RTX 4090, and what each costs"


def policies_by_trace(n: Numbers) -> Drawn:
    figure, axis = plt.subplots(figsize=(8.2, 5.4))
    traces = n.paper_traces
    units = zip(tables.featured(n), (("text", "h"), ("blue", "D"), ("sky", "o")))
    ways = [(f"{one.name} unit", "arc-hw", one.row, shade, marker) for one, (shade, marker) in units]
    ways += [(name, policy, "", shade, marker) for name, policy, shade, marker in OTHERS]
    best = {trace: n.metric(trace, "rtx4090", "arc-hw", n.chosen[0].row, "speedup") for trace in traces}
    order = sorted(traces, key=lambda trace: best[trace])
    for name, policy, unit, shade, marker in ways:
        gains = n.over(order, "rtx4090", policy, unit)
        axis.scatter(
            list(gains.values()),
            [order.index(trace) for trace in gains],
            s=46,
            marker=marker,
            color=color(shade),
            edgecolors=color("paper"),
            linewidths=0.5,
            label=name,
            zorder=3,
        )
    axis.set_xscale("log")
    log_axis(axis.xaxis, [0.2, 0.5, 1, 2, 3, 5, 10, 20])
    axis.axvline(1, color=color("muted"), linewidth=1)
    axis.set_yticks(range(len(order)), order)
    axis.set_ylim(-0.6, len(order) - 0.4)
    axis.set_xlabel("speedup over plain atomics, RTX 4090 (logarithmic); units at the clock that their path allows")
    figure.legend(*axis.get_legend_handles_labels(), loc="upper center", ncol=4, columnspacing=1.2, handletextpad=0.3)
    figure.get_layout_engine().set(rect=(0, 0, 1, 0.87))
    return figure, "Speedup of every policy for each of the 13 traces of ARC's groups on a simulated RTX 4090"


THRESHOLD_TRACES = (
    "truck",
    "kitchen",
    "playbot",
    "3D-SH-7K",
    "lacadiere_hall",
    "spheres-small",
    "hexplane-rays",
    "web-stanford",
)


def thresholds(n: Numbers) -> Drawn:
    """The model's curve beside the measured one."""
    figure, panels = plt.subplots(2, 4, figsize=(8.6, 4.5), sharex=True)
    for panel, trace in zip(panels.flat, THRESHOLD_TRACES):
        own = {p["policy"]: p for p in n.correlation if p["trace"] == trace}
        if not own:
            raise Missing(trace)
        base = own["baseline"]
        for kind, shade, marker in (("sw-b", "blue", "o"), ("sw-s", "red", "s")):
            found = sorted(
                (int(policy.partition(":")[2]), p) for policy, p in own.items() if policy.startswith(kind + ":")
            )
            if not found:
                continue
            places = [x for x, _ in found]
            panel.plot(
                places,
                [base["measured_ms"] / p["measured_ms"] for _, p in found],
                linestyle="none",
                marker=marker,
                markersize=4.5,
                color=color(shade),
                markerfacecolor="none",
                label=f"{kind.upper()} measured",
            )
            panel.plot(
                places,
                [base["modelled_ms"] / p["modelled_ms"] for _, p in found],
                color=color(shade),
                linewidth=1.5,
                label=f"{kind.upper()} modelled",
            )
        panel.set_title(trace)
        panel.set_xticks(range(0, 33, 8))
        panel.set_ylim(0, 1.12 * panel.get_ylim()[1])
        panel.axhline(1, color=color("muted"), linewidth=0.8, linestyle=":")
    figure.supxlabel("balancing threshold X, active lanes", fontsize=10)
    figure.supylabel("speedup over plain atomics, H200", fontsize=10)
    figure.legend(*panels[0][0].get_legend_handles_labels(), loc="upper center", ncol=4)
    figure.get_layout_engine().set(rect=(0, 0, 1, 0.93))
    return figure, "Speedup by balancing threshold of eight traces on an H200: measured and modelled"


FAMILY_COLORS = {
    "3D": ("blue", "o"),
    "PS": ("orange", "s"),
    "NV": ("green", "^"),
    "2D": ("pink", "v"),
    "HX": ("red", "D"),
    "DY": ("sky", "P"),
    "PR": ("grey", "X"),
}
FAMILY_NAMES = {
    "3D": "3D Gaussians",
    "PS": "spheres",
    "NV": "cubemaps",
    "2D": "2D Gaussians",
    "HX": "HexPlane",
    "DY": "DynIBaR",
    "PR": "PageRank",
}


def correlation(n: Numbers) -> Drawn:
    figure, axis = plt.subplots(figsize=(8.2, 5.4))
    for family, (shade, marker) in FAMILY_COLORS.items():
        own = [p for p in n.correlation if p["workload"].partition("-")[0] == family]
        if own:
            error = statistics.fmean(abs(p["modelled_ms"] / p["measured_ms"] - 1) for p in own)
            axis.scatter(
                [p["measured_ms"] for p in own],
                [p["modelled_ms"] for p in own],
                s=18,
                marker=marker,
                color=color(shade),
                linewidths=0,
                alpha=0.75,
                label=f"{FAMILY_NAMES[family]}: {len(own)} points, {100 * error:.1f} %",
            )
    every = [p[k] for p in n.correlation for k in ("measured_ms", "modelled_ms")]
    low, high = min(every) / 1.4, max(every) * 1.4
    axis.plot([low, high], [low, high], color=color("text"), linewidth=1)
    for factor in (0.8, 1.25):
        axis.plot([low, high], [low * factor, high * factor], color=color("muted"), linewidth=0.7, linestyle="--")
    axis.set(
        xscale="log",
        yscale="log",
        xlim=(low, high),
        ylim=(low, high),
        xlabel="measured on an H200, ms",
        ylabel="modelled, ms",
    )
    ticks = [tick for tick in (0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50) if low <= tick <= high]
    log_axis(axis.xaxis, ticks)
    log_axis(axis.yaxis, ticks)
    axis.legend(loc="upper left", handletextpad=0.2, title="mean absolute error", alignment="left")
    summary = correlate.summary(n.correlation)
    axis.text(
        0.98,
        0.03,
        f"{summary['points']} points, {100 * summary['mean_absolute_error']:.1f} % mean absolute error\n"
        f"dashed: a quarter off",
        transform=axis.transAxes,
        ha="right",
        fontsize=9.5,
        color=color("muted"),
    )
    return figure, "Modelled against measured kernel times on an H200, all traces, policies and thresholds"


def spread(places: Sequence[float], gap: float) -> list[float]:
    """Near `places`, in their order, at least `gap` apart."""
    order = sorted(range(len(places)), key=lambda i: places[i])
    out = list(places)
    for _ in range(500):
        for low, high in zip(order, order[1:]):
            push = (gap - (out[high] - out[low])) / 2
            if push > 0:
                out[low] -= push
                out[high] += push
    return out


def pareto(n: Numbers) -> Drawn:
    """Cost against speed: of the gates, and of the GPU."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(9.2, 4.6), width_ratios=(1.75, 1))
    ours = [
        (f"{one.direct.unit.name} unit", n.transistors(one), n.clocks.path_ns(one))
        for one in MEMBERS
        if one.scheduler == one.unit.schedulers[0]
    ]
    adder = "arc_fp32_adder"
    ours.append(("our adder", n.synthesis[adder]["transistors"], n.path_ns(adder)))
    theirs = [(d["design"], d["transistors"], d["asap7_path_ns"]) for d in n.others["designs"]]
    every = [(entry, True) for entry in ours] + [(entry, False) for entry in theirs]
    top = max(entry[2] for entry, _ in every) * 1.08
    labels = spread([entry[2] for entry, _ in every], top / 21)
    for (entry, is_ours), height in zip(every, labels):
        name, count, path = entry
        shade = color("blue" if is_ours else "muted")
        left.plot(count / 1e3, path, "D" if is_ours else "o", color=shade, markersize=7 if is_ours else 5, zorder=4)
        left.annotate(
            name,
            (count / 1e3, path),
            (51, height),
            va="center",
            color=shade,
            fontsize=9,
            weight="bold" if is_ours else "normal",
            annotation_clip=False,
            arrowprops={"arrowstyle": "-", "color": shade, "linewidth": 0.5, "shrinkA": 1, "shrinkB": 4},
        )
    left.axhline(1 / 2.24, color=color("red"), linewidth=1, linestyle=":")
    left.text(0.5, 0.04, "dotted: one clock at 2.24 GHz", color=color("red"), fontsize=9)
    left.set(
        xlim=(0, 80),
        ylim=(0, max(top, max(labels) * 1.03)),
        xlabel="thousand transistors",
        ylabel="worst path, ns (ASAP7, no wires; units with coalescer)",
        title="Units and FP32 adders",
    )
    left.set_xticks([0, 10, 20, 30, 40])
    gains = [n.mean_gain("arc-hw", one.row) for one in MEMBERS]
    for one, gain, height in zip(MEMBERS, gains, spread(gains, max(gains) / 20)):
        count = n.transistors(one) / 1e3
        right.plot(count, gain, "D", color=color("blue"), markersize=7, zorder=4)
        right.annotate(
            f"{one.direct.name}, {gain:.1f}x",
            (count, gain),
            (count + 3, height),
            va="center",
            color=color("blue"),
            weight="bold" if one in n.chosen else "normal",
            fontsize=9,
        )
    right.axvline(70, color=color("muted"), linewidth=1, linestyle="--")
    right.text(68.5, 0.25, "ARC: under 70", rotation=90, ha="right", color=color("muted"), fontsize=9)
    right.set(
        xlim=(0, 96),
        ylim=(0, right.get_ylim()[1] * 1.15),
        xlabel="thousand transistors a sub-core, without coalescer",
        ylabel="mean speedup, RTX 4090",
        title="What they buy at their clocks",
    )
    return figure, "Transistors against worst path for our units and the adders of others, and against speedup"


def stalls(n: Numbers) -> Drawn:
    """Where the sub-core cycles go."""
    rows = [(policy, policy, "") for policy in tables.POLICIES]
    at = tables.POLICIES.index("arc-hw")
    rows[at : at + 1] = [(one.name, "arc-hw", one.row) for one in tables.featured(n)]
    figure, axis = plt.subplots(figsize=(8.2, 4.6))
    for place, (_, policy, kind) in enumerate(rows):
        left = 0.0
        for part, shade in STALL_COLORS.items():
            share = 100 * n.metric("truck", "rtx4090", policy, kind, f"stall.{part}")
            axis.barh(
                place, share, 0.78, left=left, color=color(shade), label=STALL_NAMES[part] if place == 0 else None
            )
            left += share
        gain = n.metric("truck", "rtx4090", policy, kind, "speedup")
        axis.text(101.5, place, f"{gain:.2f}x", va="center")
    axis.set_yticks(range(len(rows)), [name for name, *_ in rows])
    axis.set_ylim(len(rows) - 0.4, -0.6)
    axis.set_xlim(0, 108)
    axis.set_xticks(range(0, 101, 20))
    axis.grid(False, axis="y")
    axis.set_xlabel("sub-core cycles, percent; at the right the speedup (truck, RTX 4090)")
    figure.legend(*axis.get_legend_handles_labels(), loc="upper center", ncol=3, handlelength=1.2, columnspacing=1.5)
    figure.get_layout_engine().set(rect=(0, 0, 1, 0.84))
    return figure, "Where the sub-core cycles of the truck frame go under each policy on a simulated RTX 4090"


TIMELINE_KINDS = {
    "rop": ("L2's adders (ROPs)", "red"),
    "lsu": ("load-store units", "orange"),
    "issue": ("issue slots", "blue"),
    "arc_unit": ("reduction units", "green"),
}


def sm_timeline(n: Numbers) -> Drawn:
    """Busy units over time: plain atomics, then the unit."""
    unit = n.chosen[0]
    settings = " ".join(f"{key}={value}" for key, value in unit.settings)
    wanted = [
        ("plain atomics", "baseline", "serial", "", 1),
        (f"ARC-HW, {unit.name}", "arc-hw", unit.unit.name, settings, n.clocks.divider(unit, "rtx4090")),
    ]
    found = {
        tuple(entry[key] for key in ("policy", "unit_kind", "set", "divider")): entry
        for entry in (n.sims or {}).get("timelines", [])
    }
    if any(tuple(key) not in found for _, *key in wanted):
        raise Missing("timelines of truck")
    figure, panels = plt.subplots(2, 1, figsize=(8.2, 4.8), sharex=True, sharey=True)
    for panel, (title, policy, *key) in zip(panels, wanted):
        entry = found[policy, *key]
        for name, (_, shade) in TIMELINE_KINDS.items():
            busy = entry["busy"].get(name)
            if busy and any(busy):
                step = 3
                busy = [statistics.fmean(busy[at : at + step]) for at in range(0, len(busy), step)]
                panel.plot(
                    [(at + 0.5) * step * entry["interval"] / 1e3 for at in range(len(busy))],
                    busy,
                    color=color(shade),
                    linewidth=1.6,
                    label=TIMELINE_KINDS[name][0],
                )
        end = entry["cycles"] / 1e3
        panel.axvline(end, color=color("muted"), linewidth=1, linestyle=":")
        panel.set_title(f"{title}: {entry['cycles']:,} cycles")
        panel.set_ylim(0, 100)
        mark_timeline(panel, entry, policy)
    panels[1].set_xlabel("thousand cycles (truck, RTX 4090)")
    figure.supylabel("busy, percent of all units of a kind", fontsize=10)
    handles: dict[str, Any] = {}
    for panel in panels:
        handles.update(zip(*reversed(panel.get_legend_handles_labels())))
    figure.legend(handles.values(), handles.keys(), loc="upper center", ncol=4)
    figure.get_layout_engine().set(rect=(0, 0, 1, 0.93))
    return (
        figure,
        "Busy units over time for the truck frame on a simulated RTX 4090, plain atomics and the recommended unit",
    )


def mark_timeline(panel: Any, entry: dict[str, Any], policy: str) -> None:
    """What there is to see, where it is."""
    busy, interval = entry["busy"], entry["interval"] / 1e3
    look = {
        "color": color("muted"),
        "fontsize": 9.5,
        "arrowprops": {"arrowstyle": "->", "color": color("muted"), "linewidth": 0.8},
    }
    if policy == "baseline":
        at = len(busy["rop"]) // 3
        note = panel.annotate(
            "the L2 adds lane by lane, and warps wait for it",
            (at * interval, busy["rop"][at]),
            (at * interval, min(busy["rop"][at] + 24, 90)),
            ha="center",
            **look,
        )
    else:
        most = max(busy["issue"])
        later = range(busy["issue"].index(most), len(busy["issue"]))
        at = next((index for index in later if busy["issue"][index] < most / 3), later[-1])
        note = panel.annotate(
            "all units are busy, until the CTAs run out",
            (at * interval, busy["issue"][at]),
            (entry["cycles"] / 1e3 + 60, 62),
            va="center",
            **look,
        )
    note.set_in_layout(False)


PICTURES = (overview, policies_by_trace, thresholds, correlation, pareto, stalls, sm_timeline)


def draw(n: Numbers, folder: Path) -> tuple[list[Path], list[str]]:
    """(paths, absent): pictures whose results are missing are not drawn."""
    folder.mkdir(parents=True, exist_ok=True)
    paths: list[Path] = []
    absent: list[str] = []
    for picture in PICTURES:
        path = folder / f"{picture.__name__}.svg"
        try:
            text = to_text(*picture(n))
        except Missing as error:
            plt.close("all")
            absent.append(f"{path.name}: no result of {error}")
            continue
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            files.write(path, text)
            paths.append(path)
    before = {path.name: path.read_text(encoding="utf-8") for path in folder.glob("*.svg")}
    paths += [path for path in diagrams.draw_all(folder) if before.get(path.name) != path.read_text(encoding="utf-8")]
    return paths, absent


def check(n: Numbers, folder: Path) -> tuple[list[str], list[str], str | None]:
    """(problems, absent, why nothing was compared)."""
    problems = []
    size = sum(path.stat().st_size for path in folder.glob("*.svg"))
    if size > BUDGET:
        problems.append(f"docs/pictures has {size:,} bytes, more than {BUDGET:,}")
    with tempfile.TemporaryDirectory() as scratch:
        _, absent = draw(n, Path(scratch))
        for new in sorted(Path(scratch).glob("*.svg")):
            old = folder / new.name
            text = old.read_text(encoding="utf-8") if old.exists() else ""
            made_by = re.search(r"<!-- matplotlib (\S+) -->", text)
            if made_by and made_by.group(1) != VERSION:
                return problems, absent, f"they are of matplotlib {made_by.group(1)}, here is {VERSION}"
            if text != new.read_text(encoding="utf-8"):
                problems.append(f"docs/pictures/{new.name} differs from docs/numbers; run warpfold results --render")
    return problems, absent, None
