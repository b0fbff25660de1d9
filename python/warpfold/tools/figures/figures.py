# SPDX-License-Identifier: Apache-2.0
"""Draws the figures of ARC's evaluation from simulations of the shipped traces, beside the numbers that the paper
states: a PNG and a CSV for each, and a page that shows them all. The simulations are those of docs/numbers, which `warpfold results` makes.
"""

import html
import math
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from ..base import files
from ..base.errors import BadInput
from ..base.modules import module
from ..results import store, tables
from ..results.family import of_run
from ..results.values import Numbers
from . import data, draw
from .data import Comparison, Row, Runs

HERE = Path(__file__).resolve().parent


NAMES = {"rtx4090": "4090", "rtx3060": "3060"}
HARDWARE = {
    "ARC-HW": ("arc-hw", "serial"),
    "ARC-HW fused": ("arc-hw", "fused"),
    "LAB": ("lab", "serial"),
    "LAB-ideal": ("lab-ideal", "serial"),
    "PHI": ("phi", "serial"),
}
HARDWARE_COLORS = [draw.BLUE, draw.SKY, draw.ORANGE, draw.YELLOW, draw.PINK]
STALL_COLORS = [draw.RED, draw.BLUE, draw.SKY, draw.GREEN, draw.YELLOW, draw.GREY]


class Inputs:
    """All that figures are drawn from, and where they go."""

    def __init__(
        self,
        runs: Runs,
        folder: Path,
        paper: dict[str, dict[str, Any]],
        histograms: dict[str, list[int]],
        timelines: list[tuple[str, dict[str, Any]]],
    ) -> None:
        self.runs, self.folder, self.paper = runs, folder, paper
        self.histograms = histograms  # {label: events by active lanes}
        self.timelines = timelines  # [(label, timeline)]
        self.numbers = data.paper_numbers(runs, list(NAMES))


class Figure:
    """One that has been drawn."""

    def __init__(self, inputs: Inputs, name: str, title: str, caption: str) -> None:
        self.inputs, self.name, self.title, self.caption = inputs, name, title, caption
        self.paper = inputs.paper.get(name, {})
        self.numbers = inputs.numbers.get(name, {})  # ours, under the keys of paper.yaml

    def write(self, figure: Any, header: list[str], rows: Iterable[Sequence[Any]]) -> None:
        draw.save(figure, self.inputs.folder / f"{self.name}.png")
        files.write_csv(self.inputs.folder / f"{self.name}.csv", header, rows)

    def comparisons(self) -> list[Comparison]:
        return data.compare(self.paper, self.numbers)

    def stated(self, key: str) -> float | None:
        entry = self.paper.get("numbers", {}).get(key)
        return entry["value"] if entry else None


def columns_with_mean(
    runs: Runs, series: dict[str, dict[str, float]]
) -> tuple[list[str], dict[str, list[float | None]]]:
    """(labels, {name: values}) of {name: {trace: value}}, the mean of the paper's groups behind the traces."""
    traces = [trace for trace in runs.traces() if any(trace in values for values in series.values())]
    labels = [runs.label(trace) for trace in traces] + ["mean"]
    out = {
        name: [values.get(trace) for trace in traces] + [runs.summary(values)["mean"]]
        for name, values in series.items()
    }
    return labels, out


def bars(
    out: Figure,
    series: dict[str, dict[str, float]],
    colors: list[str],
    unit: str,
    marks: dict[str, float] | None = None,
    log: bool = True,
) -> None:
    """A chart of bars and its table; `series` is {name: {trace: value}}."""
    runs = out.inputs.runs
    labels, columns = columns_with_mean(runs, series)
    figure, axes = draw.wide(len(labels))
    draw.grouped_bars(axes[0][0], labels, columns, colors, unit, marks=marks, log=log)
    draw.separate_last(axes[0][0], len(labels))
    out.write(figure, ["workload", *columns], zip(labels, *columns.values()))


def hardware_figure(
    inputs: Inputs,
    name: str,
    gpu: str,
    value: Callable[..., Any],
    title: str,
    caption: str,
    unit: str,
    names: list[str],
) -> Figure:
    out = Figure(inputs, name, title, caption)
    series = {label: inputs.runs.compare(gpu, value, *HARDWARE[label]) for label in names}
    marks = {label: out.stated(f"{HARDWARE[label][0]}.mean") for label in names if label != "ARC-HW fused"}
    bars(
        out,
        series,
        [HARDWARE_COLORS[list(HARDWARE).index(label)] for label in names],
        unit,
        marks={label: value for label, value in marks.items() if value},
    )
    return out


def fig07(inputs: Inputs) -> Figure:
    out = Figure(
        inputs,
        "fig07",
        "Figure 7: active lanes of an update",
        "How many lanes of a warp take part in one reduce call. Reduce calls, in a logarithmic scale.",
    )
    labels = list(inputs.histograms)
    figure, panels = draw.small_multiples(len(labels), 4, sharex=True)
    for panel, label in zip(panels, labels):
        counts = inputs.histograms[label]
        panel.bar(range(1, 33), counts, 0.9, color=draw.BLUE)
        panel.set_yscale("log")
        panel.set_ylim(bottom=0.7)
        panel.set_title(label)
        panel.set_xticks([1, 8, 16, 24, 32])
        panel.tick_params(labelbottom=True)
    figure.supxlabel("active lanes", fontsize=9)
    figure.supylabel("reduce calls", fontsize=9)
    out.write(
        figure,
        ["active lanes", *labels],
        [[lanes + 1, *(inputs.histograms[label][lanes] for label in labels)] for lanes in range(32)],
    )
    return out


def stall_figure(inputs: Inputs, name: str, policy: str, title: str, caption: str) -> Figure:
    out = Figure(inputs, name, title, caption)
    runs = inputs.runs
    found = [
        (gpu, trace, data.stalls_per_instruction(row))
        for gpu in NAMES
        for trace in runs.traces()
        if (row := runs.get(trace, gpu, policy)) is not None
    ]
    gpus = [gpu for gpu in NAMES if any(entry[0] == gpu for entry in found)]
    figure, axes = draw.wide(max(2, len(runs.traces())), panels=len(gpus))
    table_rows = []
    for axis, gpu in zip([line[0] for line in axes], gpus):
        mine = [(trace, parts) for name_of_gpu, trace, parts in found if name_of_gpu == gpu]
        draw.stacked_bars(
            axis,
            [runs.label(trace) for trace, _ in mine],
            {kind: [parts[kind] for _, parts in mine] for kind in data.STALLS},
            STALL_COLORS,
            "stall cycles per instruction",
        )
        axis.set_title(NAMES[gpu])
        for trace, parts in mine:
            table_rows.append([gpu, runs.label(trace), *parts.values(), sum(parts.values())])
    draw.figure_legend(figure, axes[0][0], len(data.STALLS))
    out.write(figure, ["machine", "workload", *data.STALLS, "all"], table_rows)
    return out


def fig08(inputs: Inputs) -> Figure:
    return stall_figure(
        inputs,
        "fig08",
        "baseline",
        "Figure 8: stalls of the baseline",
        "Cycles that warps wait for each instruction that issues, by what they wait for.",
    )


HARDWARE_CAPTION = (
    "Speedup of the gradient kernel over the baseline, in hardware; LAB with the best of the partitions of "
    "the L1 that were run, for each workload."
)


def fig18(inputs: Inputs) -> Figure:
    return hardware_figure(
        inputs,
        "fig18",
        "rtx3060",
        data.cycles,
        "Figure 18: speedup on the 3060",
        HARDWARE_CAPTION,
        "speedup over baseline",
        list(HARDWARE),
    )


def fig19(inputs: Inputs) -> Figure:
    return hardware_figure(
        inputs,
        "fig19",
        "rtx4090",
        data.cycles,
        "Figure 19: speedup on the 4090",
        HARDWARE_CAPTION,
        "speedup over baseline",
        list(HARDWARE),
    )


STALL_CAPTION = (
    "Sub-core cycles without an issue because the memory path took no atomic: those of the baseline over "
    "those of the policy."
)


def fig20(inputs: Inputs) -> Figure:
    return hardware_figure(
        inputs,
        "fig20",
        "rtx3060",
        data.atomic_stalls,
        "Figure 20: reduction of atomic stalls on the 3060",
        STALL_CAPTION,
        "atomic stalls, baseline over policy",
        ["ARC-HW", "ARC-HW fused", "LAB", "LAB-ideal"],
    )


def fig21(inputs: Inputs) -> Figure:
    return hardware_figure(
        inputs,
        "fig21",
        "rtx4090",
        data.atomic_stalls,
        "Figure 21: reduction of atomic stalls on the 4090",
        STALL_CAPTION,
        "atomic stalls, baseline over policy",
        ["ARC-HW", "ARC-HW fused", "LAB", "LAB-ideal"],
    )


def two_machines(
    inputs: Inputs,
    name: str,
    title: str,
    caption: str,
    unit: str,
    value: Callable[..., Any],
    policy: str,
    unit_kind: str = "serial",
    over: str = "baseline",
) -> Figure:
    """Bars of one policy on both machines."""
    out = Figure(inputs, name, title, caption)
    series = {NAMES[gpu]: inputs.runs.compare(gpu, value, policy, unit_kind, over) for gpu in NAMES}
    marks = {label: out.stated(f"{gpu}.mean") for gpu, label in NAMES.items()}
    bars(out, series, [draw.BLUE, draw.ORANGE], unit, marks={label: value for label, value in marks.items() if value})
    return out


def fig22(inputs: Inputs) -> Figure:
    return two_machines(
        inputs,
        "fig22",
        "Figure 22: speedup of ARC-SW",
        "Gradient kernel, the best of SW-B and SW-S and of the thresholds that were run.",
        "speedup over baseline",
        data.cycles,
        "arc-sw",
    )


def fig23(inputs: Inputs) -> Figure:
    out = Figure(
        inputs,
        "fig23",
        "Figure 23: sensitivity to the balancing threshold",
        "Speedup over the baseline on the 4090 by balancing threshold X: lanes that must be active for a "
        "reduction in software.",
    )
    runs, gpu = inputs.runs, "rtx4090"
    baselines = {
        trace: row
        for trace in runs.traces()
        if (row := runs.get(trace, gpu, "baseline")) and any(runs.over_thresholds(trace, gpu, p) for p in data.SOFTWARE)
    }
    figure, panels = draw.small_multiples(max(1, len(baselines)), 4, sharex=True)
    table_rows = []
    for panel, (trace, baseline) in zip(panels, baselines.items()):
        base = data.cycles(baseline)
        for policy, color, marker, line in (("sw-b", draw.BLUE, "o", "-"), ("sw-s", draw.RED, "s", "--")):
            points = [(x, base / data.cycles(row)) for x, row in runs.over_thresholds(trace, gpu, policy)]
            table_rows += [[runs.label(trace), policy, x, speedup] for x, speedup in points]
            panel.plot(
                [x for x, _ in points],
                [y for _, y in points],
                line,
                color=color,
                marker=marker,
                markersize=3,
                label=policy.upper(),
            )
        panel.axhline(1, color="black", linewidth=0.8)
        panel.set_title(runs.label(trace))
        panel.set_xticks(range(0, 33, 8))
        panel.tick_params(labelbottom=True)
        panel.set_ylim(0, 1.1 * panel.get_ylim()[1])
    figure.supxlabel("balancing threshold X, lanes", fontsize=9)
    figure.supylabel("speedup over baseline", fontsize=9)
    draw.figure_legend(figure, panels[0], 2)
    out.write(figure, ["workload", "policy", "threshold", "speedup"], table_rows)
    return out


def fig24(inputs: Inputs) -> Figure:
    return stall_figure(
        inputs,
        "fig24",
        "arc-sw",
        "Figure 24: stalls of ARC-SW",
        "As figure 8, for the better of SW-B and SW-S at its best threshold.",
    )


def fig25(inputs: Inputs) -> Figure:
    out = Figure(
        inputs,
        "fig25",
        "Figure 25: ARC-HW over ARC-SW",
        "Speedup of ARC-HW over the best of ARC-SW, with the serial unit, which is the paper's, and with the "
        "fused one.",
    )
    series = {}
    for gpu, kind in ((gpu, kind) for gpu in NAMES for kind in ("serial", "fused")):
        name = NAMES[gpu] + (" fused" if kind == "fused" else "")
        series[name] = inputs.runs.compare(gpu, data.cycles, "arc-hw", kind, over="arc-sw")
    bars(
        out,
        series,
        [draw.BLUE, draw.SKY, draw.ORANGE, draw.YELLOW],
        "speedup over ARC-SW",
        marks={label: mark for gpu, label in NAMES.items() if (mark := out.stated(f"{gpu}.mean"))},
    )
    return out


def fig26(inputs: Inputs) -> Figure:
    out = Figure(
        inputs,
        "fig26",
        "Figure 26: ARC-SW and CCCL on the 4090",
        "Speedup over the baseline of the best of ARC-SW and of a warp reduction by CCCL in every pass. 3D alone: "
        "CCCL's reduction takes lanes of one primitive, which those of NV and PS are not.",
    )
    runs, gpu = inputs.runs, "rtx4090"
    cccl = runs.compare(gpu, data.cycles, "cccl")
    arc = {trace: value for trace, value in runs.compare(gpu, data.cycles, "arc-sw").items() if trace in cccl}
    bars(out, {"ARC-SW": arc, "CCCL": cccl}, [draw.BLUE, draw.ORANGE], "speedup over baseline")
    return out


ENERGY_CAPTION = (
    "Energy of a launch under the baseline over that under the policy, idle power included, by the "
    "energy model (docs/results-file.md)."
)


def fig27(inputs: Inputs) -> Figure:
    return two_machines(
        inputs,
        "fig27",
        "Figure 27: energy of ARC-SW",
        ENERGY_CAPTION,
        "energy, baseline over ARC-SW",
        data.energy,
        "arc-sw",
    )


def fig28(inputs: Inputs) -> Figure:
    return two_machines(
        inputs,
        "fig28",
        "Figure 28: energy of ARC-HW",
        ENERGY_CAPTION,
        "energy, baseline over ARC-HW",
        data.energy,
        "arc-hw",
    )


def utilization(inputs: Inputs) -> Figure:
    out = Figure(
        inputs,
        "utilization",
        "Utilization over time",
        "Share of a machine's units that are busy, in the course of a launch.",
    )
    figure, panels = draw.small_multiples(max(1, len(inputs.timelines)), 2, size=(4.4, 2.0), sharey=True)
    kinds = {
        "issue": ("issue slots", draw.GREY),
        "lsu": ("LSU", draw.RED),
        "rop": ("ROP", draw.BLUE),
        "arc_unit": ("reduction unit", draw.GREEN),
    }
    rows = []
    for panel, (label, timeline) in zip(panels, inputs.timelines):
        for index, (kind, (name, color)) in enumerate(kinds.items()):
            points = data.utilization(timeline, kind)
            panel.plot(
                [cycle / 1000 for cycle, _ in points],
                [100 * share for _, share in points],
                color=color,
                linestyle=draw.LINES[index],
                linewidth=1.2,
                label=name,
            )
            rows += [[label, kind, cycle, share] for cycle, share in points]
        panel.set_title(label)
        panel.set_ylim(0, 104)
        panel.set_xlim(left=0)
        panel.tick_params(labelleft=True)
    figure.supxlabel("thousand SM cycles", fontsize=9)
    figure.supylabel("busy, %", fontsize=9)
    draw.figure_legend(figure, panels[0], len(kinds))
    out.write(figure, ["run", "unit", "cycle", "busy"], rows)
    return out


FIGURES = [fig07, fig08, fig18, fig19, fig20, fig21, fig22, fig23, fig24, fig25, fig26, fig27, fig28, utilization]


# --- The page ------------------------------------------------------------------------------------------

STYLE = """body { font: 15px/1.45 sans-serif; margin: 2em auto; max-width: 62em; padding: 0 1em; }
img { max-width: 100%; } table { border-collapse: collapse; } td, th { padding: 0.15em 0.7em; text-align: left;
border-bottom: 1px solid #ddd; vertical-align: top; } td.n { text-align: right; } .differs { font-weight: bold; }
figure { margin: 0 0 3em; }"""


def number(value: float | None, digits: int = 2) -> str:
    return "-" if value is None else f"{value:.{digits}f}" if math.isfinite(value) else "without end"


def comparison_rows(figure: Figure, remarks: dict[str, dict[str, str]]) -> list[tuple[str, str, str, str, str]]:
    out = []
    for entry in figure.comparisons():
        if entry.difference is None:
            remark = "not run"
        elif entry.differs:
            remark = remarks.get(figure.name, {}).get(entry.key, "not explained")
        else:
            remark = ""
        difference = "-" if entry.difference is None else f"{100 * entry.difference:+.0f} %"
        out.append((f"{entry.what} ({entry.where})", number(entry.paper), number(entry.ours), difference, remark))
    return out


def page(figures: list[Figure], remarks: dict[str, dict[str, str]], sources: str) -> str:
    parts = [
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>Warpfold: figures</title>',
        f"<style>{STYLE}</style></head><body>",
        "<h1>ARC's figures, from the shipped traces</h1>",
        "<p>Simulated with the golden unit. White diamonds are means that the paper states. Means are arithmetic, "
        f"over {html.escape(sources)}. Where a number is more than 15 % off the paper's, a sentence says what is "
        "known of the reason.</p>",
    ]
    for figure in figures:
        parts.append(f'<figure id="{figure.name}"><h2>{html.escape(figure.title)}</h2>')
        parts.append(f'<a href="{figure.name}.csv"><img src="{figure.name}.png" alt="{html.escape(figure.title)}"></a>')
        parts.append(f'<figcaption>{html.escape(figure.caption)} <a href="{figure.name}.csv">CSV</a></figcaption>')
        if figure.paper.get("says"):
            parts.append(f"<p>The paper: {html.escape(figure.paper['says'])}</p>")
        rows = comparison_rows(figure, remarks)
        if rows:
            parts.append("<table><tr><th></th><th>ARC</th><th>here</th><th>difference</th><th></th></tr>")
            for what, paper, ours, difference, remark in rows:
                mark = ' class="differs"' if remark else ""
                parts.append(
                    f'<tr><td>{html.escape(what)}</td><td class="n">{paper}</td><td class="n">{ours}</td>'
                    f"<td{mark}>{difference}</td><td>{html.escape(remark)}</td></tr>"
                )
            parts.append("</table>")
        parts.append("</figure>")
    return "\n".join(parts) + "\n</body></html>\n"


# --- Where it all comes from ---------------------------------------------------------------------------


def collect(numbers: Numbers, folder: Path) -> Inputs:
    """Inputs from docs/numbers: the traces of ARC's groups on the paper's machines."""
    rows = [
        row
        for row in numbers.rows
        if row["trace"] in numbers.paper_traces and row["gpu"] in NAMES and not row["thin"] and row["divider"] == 1
    ]
    runs = data.Runs(rows)
    histograms = {runs.label(trace): data.histogram(numbers.traces[trace]) for trace in runs.traces()}
    timelines = []
    for entry in (numbers.sims or {}).get("timelines", []):
        unit = of_run(entry["unit_kind"], entry["set"])
        kind = f" ({unit.name})" if entry["policy"] == "arc-hw" and unit else ""
        timelines.append((f"{entry['trace']}, {entry['gpu']}, {entry['policy']}{kind}", entry))
    return Inputs(runs, folder, numbers.paper, histograms, timelines)


def draw_all(inputs: Inputs, chosen: list[Callable[..., Any]], remarks: dict[str, dict[str, str]]) -> list[Figure]:
    inputs.folder.mkdir(parents=True, exist_ok=True)
    figures = [figure(inputs) for figure in chosen]
    sources = ", ".join(inputs.runs.label(trace) for trace in inputs.runs.of_paper())
    files.write(inputs.folder / "index.html", page(figures, remarks, sources))
    rows = [
        [
            figure.name,
            entry.key,
            entry.paper,
            entry.ours,
            entry.difference,
            remarks.get(figure.name, {}).get(entry.key, "") if entry.differs else "",
        ]
        for figure in figures
        for entry in figure.comparisons()
    ]
    files.write_csv(inputs.folder / "comparison.csv", ["figure", "number", "arc", "here", "difference", "remark"], rows)
    return figures


def notes(figures: list[Figure], remarks: dict[str, dict[str, str]], paper: dict[str, dict[str, Any]]) -> list[str]:
    """What a person should look at: differences without a remark, remarks without a difference."""
    out = data.check_remarks(remarks, paper)
    for figure in figures:
        for entry in figure.comparisons():
            has = entry.key in remarks.get(figure.name, {})
            if entry.differs and not has:
                out.append(f"{figure.name}.{entry.key}: {entry.ours:.2f}, ARC {entry.paper}: no remark")
            if has and entry.difference is not None and not entry.differs:
                out.append(f"{figure.name}.{entry.key}: {entry.ours:.2f}, ARC {entry.paper}: the remark is idle")
    return out


def read_remarks(numbers: Numbers) -> dict[str, dict[str, str]]:
    """{figure: {key: sentence}}, with the numbers that the sentences name."""
    remarks = module("yaml").safe_load((HERE / "remarks.yaml").read_text(encoding="utf-8")) or {}

    def filled(text: str) -> str:
        try:
            return tables.remark(numbers, text)
        except store.Missing as error:
            return f"no result of {error}"

    return {figure: {key: filled(text) for key, text in entries.items()} for figure, entries in remarks.items()}


def draw_chosen(numbers: Numbers, folder: Path, names: list[str]) -> None:
    """Draws figures by their names and prints what a person should look at."""
    known = [figure.__name__ for figure in FIGURES]
    for name in names or known:
        if name not in known:
            raise BadInput(f"--only: no figure '{name}'; there are: {', '.join(known)}")
    inputs = collect(numbers, folder)
    if not inputs.runs.workloads:
        raise store.Missing("simulation")
    remarks = read_remarks(numbers)
    figures = draw_all(inputs, [figure for figure in FIGURES if figure.__name__ in (names or known)], remarks)
    for line in notes(figures, remarks, inputs.paper):
        print(f"note: {line}")
    print(inputs.folder / "index.html")
