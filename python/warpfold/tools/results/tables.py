# SPDX-License-Identifier: Apache-2.0
"""Tables of pages, as Markdown."""

import re
import statistics
from collections.abc import Callable, Sequence
from typing import Any

from .. import correlate
from ..base.errors import BadInput
from ..base.modules import module
from ..figures import data
from . import gpu_kernels, paper_machine, probe, recorded, store, today
from .family import DATAPATHS, GPUS, MEMBERS, PAPER_GPUS, PAPERS, Member
from .points import STALLS, Facts
from .simulated import HERE, NEAR
from .store import Missing, Unknown
from .text import Table, error, markdown, percent, two, whole
from .values import LANES, Numbers

POLICIES = ["baseline", "sw-s:16", "sw-b:16", "skip", "cccl", "arc-hw", "lab", "lab-ideal", "phi"]
UNITS = ["arc_unit", "lsu", "buffer", "noc", "rop"]
OTHERS = [
    ("ARC-SW, best threshold", "arc-sw", ""),
    ("LAB-ideal", "lab-ideal", ""),
    ("LAB, best partition of the L1", "lab-best", ""),
    ("PHI", "phi", ""),
]
Columns = dict[str, tuple[str, str]]  # policy and unit by name
PLACEHOLDER = re.compile(r"\{([^{}\s]+)\}")


def featured(n: Numbers) -> list[Member]:
    """The recommended units, and the one that the paper has."""
    return [*n.chosen, *([PAPERS] if PAPERS not in n.chosen else [])]


def truck_rows(n: Numbers) -> list[tuple[str, str, str]]:
    """Name, policy and unit: of arc-hw what the command simulates by default, and the featured units at their clocks."""
    rows = [
        (f"`{policy}`" + (f" ({PAPERS.name}, ideal clock)" if policy == "arc-hw" else ""), policy, "")
        for policy in POLICIES
    ]
    at = POLICIES.index("arc-hw") + 1
    rows[at:at] = [(f"`arc-hw` ({one.name})", "arc-hw", one.row) for one in featured(n)]
    return rows


def truck(n: Numbers) -> str:
    def cell(gpu: str, policy: str, unit: str, name: str) -> str:
        return n.shown(name, n.metric("truck", gpu, policy, unit, name))

    rows = [
        [
            name,
            *(cell(gpu, policy, unit, what) for gpu in GPUS for what in ("cycles", "speedup")),
            cell("rtx4090", policy, unit, "rop_ops"),
        ]
        for name, policy, unit in truck_rows(n)
    ]
    head = ["policy"] + [word for gpu in GPUS for word in (f"{gpu} cycles", "speedup")] + ["ROP operations (rtx4090)"]
    return markdown(head, rows)


def truck_stalls(n: Numbers) -> str:
    columns = [*(f"stall.{part}" for part in STALLS), *(f"busy.{unit}" for unit in UNITS)]
    rows = [
        [name, *(n.shown(column, n.metric("truck", "rtx4090", policy, unit, column)) for column in columns)]
        for name, policy, unit in truck_rows(n)
    ]
    return markdown(
        ["policy", *(part.replace("_", " ") for part in STALLS), *(f"{unit.replace('_', ' ')} busy" for unit in UNITS)],
        rows,
    )


SUMS = {
    "serial": "chain of adds in lane order",
    "paired": "one rounding, in lane order",
    "fused": "one rounding, any lane order",
}


def kinds(n: Numbers) -> str:
    """The family: what each unit is, costs and gains at the clock that its path allows."""

    def each(name: str, key: str) -> list[str]:
        return [name] + [n.unit_value([one.row, *key.split(".")]) for one in MEMBERS]

    rows = [
        each("lanes a cycle", "lanes"),
        ["words of a request", *(str(one.unit.words) for one in MEMBERS)],
        ["sum", *(SUMS[one.unit.datapath] for one in MEMBERS)],
        each("largest error on recorded values, ulp", "max_ulp"),
        each("transistors that it adds to a sub-core", "transistors"),
        each("the same with its coalescer", "with_coalescer"),
        each("128 x 4 units, of an RTX 4090's transistors", "share"),
        each("layout of its datapath, mm2, 180 nm", "die"),
        each("energy of its datapath, pJ a lane, 180 nm", "pj"),
        each("worst path of the sub-core, ns, ASAP7 RVT TT", "path_ns"),
    ]
    for gpu in GPUS:
        rows += [
            each(f"{gpu}: cycles of the GPU in one of the unit", f"divider.{gpu}"),
            each(f"{gpu}: speedup, mean of the 13 traces", f"mean.{gpu}"),
            each(f"{gpu}: the same at the ideal clock", f"ideal.{gpu}"),
            each(f"{gpu}: speedup, geometric mean of {len(n.unit_traces)} traces", f"geomean.{gpu}"),
            each(f"{gpu}: least speedup of them", f"least.{gpu}"),
            each(f"{gpu}: over ARC-SW's best threshold, geometric mean of the 13", f"software.{gpu}"),
            each(f"{gpu}: energy gain, geometric mean of the {len(n.unit_traces)}", f"energy.{gpu}"),
        ]
    return markdown(["", *(one.name for one in MEMBERS)], rows)


def units_in_short(n: Numbers) -> str:
    """A row for each unit: what it costs, and what it gains on all shipped traces at the clock that its path allows."""
    columns = {
        "lanes a cycle": "lanes",
        "transistors": "transistors",
        "with its coalescer": "with_coalescer",
        "path, ns": "path_ns",
        **{gpu: f"geomean.{gpu}" for gpu in GPUS},
        "least, rtx4090": "least.rtx4090",
        "energy gain, rtx4090": "energy.rtx4090",
    }
    rows = [[one.name, *(n.unit_value([one.row, *key.split(".")]) for key in columns.values())] for one in MEMBERS]
    return markdown(["unit", *columns], rows)


def units_by_trace(n: Numbers, gpu: str) -> str:
    """Every trace with every unit at its clock on a machine."""
    cells = {trace: [n.metric(trace, gpu, "arc-hw", one.row, "speedup") for one in MEMBERS] for trace in n.unit_traces}
    rows = [[trace, *map(two, row)] for trace, row in cells.items()]

    def summary(name: str, mean: Callable[[Sequence[float]], float], traces: Sequence[str]) -> list[str]:
        columns = zip(*(cells[trace] for trace in traces))
        return [f"**{name}**", *(f"**{two(mean(column))}**" for column in columns)]

    rows.append(summary("mean of the 13", statistics.fmean, n.paper_traces))
    rows.append(summary("geometric mean of all", statistics.geometric_mean, list(cells)))
    dividers = [n.clocks.divider(one, gpu) for one in MEMBERS]
    names = [one.name + (f" /{count}" if count > 1 else "") for one, count in zip(MEMBERS, dividers)]
    return markdown(["trace", *names], rows)


def not_best(n: Numbers) -> str:
    """Where the unit recommended for one word is farther from the best of its kind than what the choice allows."""
    mine = n.chosen[0]
    rows = []
    for trace in n.unit_traces:
        for gpu in GPUS:
            gains = {one: n.metric(trace, gpu, "arc-hw", one.row, "speedup") for one in MEMBERS if one.unit.words == 1}
            best = max(gains, key=lambda one, of=gains: of[one])  # type: ignore[misc]
            if gains[mine] < (1 - NEAR) * gains[best]:
                rows.append([trace, gpu, best.name, two(gains[best]), two(gains[mine])])
    return markdown(["trace", "machine", "best", "its speedup", mine.name], rows, 3)


# Where the paper states a mean over its workloads: figures of its rtx4090 and its rtx3060.
ARC_MEANS = {
    ("arc-hw", PAPERS.row): ("fig19.arc-hw", "fig18.arc-hw"),
    ("lab-ideal", ""): ("fig19.lab-ideal", "fig18.lab-ideal"),
    ("phi", ""): ("fig19.phi", "fig18.phi"),
    ("arc-sw", ""): ("fig22.rtx4090", "fig22.rtx3060"),
}


def stated_mean(n: Numbers, policy: str, unit: str, gpu: str) -> str:
    """The paper's mean (largest), where it states one."""
    if (policy, unit) not in ARC_MEANS:
        return "not stated"
    figure, _, key = ARC_MEANS[policy, unit][PAPER_GPUS.index(gpu)].partition(".")
    stated = n.paper[figure]["numbers"]
    mean, most = stated[f"{key}.mean"], stated.get(f"{key}.max")
    return f"{mean['value']:.2f}" + (f" ({most['value']:.2f})" if most else "")


def means(n: Numbers) -> str:
    """Units at the clocks that they keep, and what is no unit, on the paper's machines."""
    rows = []
    for name, policy, unit in [*((f"ARC-HW: {one.name}", "arc-hw", one.row) for one in MEMBERS), *OTHERS]:
        row = [name]
        for gpu in PAPER_GPUS:
            found = list(n.over(n.paper_traces, gpu, policy, unit).values())
            ideal = two(n.mean_gain("arc-ideal", unit, gpu)) if unit else two(statistics.fmean(found))
            row += [
                f"{statistics.fmean(found):.2f} ({max(found):.2f})",
                ideal,
                stated_mean(n, policy, unit, gpu),
            ]
        rows.append(row)
    heads = [(gpu, "at the ideal clock", f"the paper, {gpu.removeprefix('rtx')}") for gpu in PAPER_GPUS]
    return markdown(["speedup over plain atomics, mean (largest)", *(head for group in heads for head in group)], rows)


# What a sub-core gets; for the buffers and for software the paper and we state no transistors.
ADDED = {"arc-sw": "none", "lab-ideal": "an SRAM in each SM", "lab-best": "a part of the L1", "phi": "lines of the L1"}


def headline(n: Numbers) -> str:
    """The RTX 4090 alone: the recommended units, the paper's, and what is no unit."""

    def row(name: str, added: str, path: str, step: str, policy: str, unit: str) -> list[str]:
        gains = list(n.over(n.paper_traces, "rtx4090", policy, unit).values())
        # The paper simulates its unit at an ideal clock.
        stated = {"arc-ideal": "arc-hw", "arc-hw": ""}.get(policy, policy)
        of_paper = stated_mean(n, stated, unit, "rtx4090") + (", on a real GPU" if policy == "arc-sw" else "")
        found = [two(statistics.fmean(gains)), two(statistics.geometric_mean(gains)), two(max(gains))]
        return [name, added, path, step, *found, of_paper]

    rows = []
    for one in featured(n):
        name = f"ARC-HW: {one.name}" + (", ARC's unit at the clock that its path allows" if one == PAPERS else "")
        path, divider = (n.unit_value([one.row, key]) for key in ("path_ns", "divider"))
        rows.append(
            row(
                name if one == PAPERS else f"**{name}**",
                f"{whole(n.transistors(one))} transistors",
                path,
                divider,
                "arc-hw",
                one.row,
            )
        )
    name = f"ARC-HW: {PAPERS.name}, ARC's unit at the GPU's clock, as the paper simulates it"
    path = f"{n.unit_value([PAPERS.row, 'path_ns'])}, too long for this clock"
    rows.append(row(name, f"{whole(n.transistors(PAPERS))} transistors", path, "1", "arc-ideal", PAPERS.row))
    rows += [row(name, ADDED[policy], "none", "none", policy, unit) for name, policy, unit in OTHERS]
    return markdown(
        [
            "",
            "added to a sub-core",
            "longest path, ns",
            "SM cycles per step of the unit",
            "mean",
            "geometric mean",
            "largest",
            "the paper: mean (largest)",
        ],
        rows,
        3,
    )


def remark(n: Numbers, text: str) -> str:
    """A sentence with the numbers that its {keys} name."""
    return " ".join(PLACEHOLDER.sub(lambda match: n.value(match.group(1)), text).split())


def paper(n: Numbers) -> str:
    remarks = module("yaml").safe_load((HERE.parent / "figures/remarks.yaml").read_text(encoding="utf-8"))
    rows = []
    for figure, ours in sorted(n.of_paper.items()):
        for entry in data.compare(n.paper.get(figure, {}), ours):
            reason = remark(n, remarks.get(figure, {}).get(entry.key, "not explained")) if entry.differs else ""
            rows.append(
                [
                    figure.removeprefix("fig").lstrip("0"),
                    entry.what,
                    f"{entry.paper:.2f}",
                    f"{entry.ours:.2f}",
                    "" if entry.difference is None else f"{100 * entry.difference:+.0f} %",
                    reason,
                ]
            )
    return "\n".join(
        ["| figure | what | ARC | here | | reason, if over 15 % off |", "|---|---|---:|---:|---:|---|"]
        + ["| " + " | ".join(row) + " |" for row in rows]
    )


def lab_partition(n: Numbers) -> str:
    """The best of the partitions that were simulated."""
    own = {gpu: values_of["lab.bytes"] for gpu, values_of in probe.machine_values().items()}
    rows = []
    for trace in n.paper_traces:
        row = [trace]
        for gpu in PAPER_GPUS:
            best = n.run(trace, gpu, "lab-best")
            size = int(best["set"].partition("=")[2]) if best["set"] else own[gpu]
            row += [f"{size // 1024} KiB", two(n.run(trace, gpu, "baseline")["cycles"] / best["cycles"])]
        rows.append(row)
    return markdown(["trace"] + [word for gpu in PAPER_GPUS for word in (f"{gpu}: best", "speedup")], rows)


def even_l2(n: Numbers) -> str:
    """Truck with the L2 of the machine, and with one whose slices take an operation a cycle each."""
    even = {row["full_policy"]: row for row in n.rows if row["trace"] == "truck" and "l2.rop_cycles" in row["set"]}
    if len(even) < 5:
        raise Missing("truck rtx4090 with another L2")
    rows = [
        [
            f"`{policy}`",
            n.value(f"truck.rtx4090.{policy}.speedup"),
            two(even["baseline"]["cycles"] / even[policy]["cycles"]),
        ]
        for policy in ("arc-hw", "sw-b:8", "lab-ideal", "lab")
    ]
    return markdown(["truck on the rtx4090, speedup", "with its L2", "with one operation a cycle and slice"], rows)


def speed_columns(n: Numbers) -> Columns:
    return {
        "ARC-SW": ("arc-sw", ""),
        **{one.name: ("arc-hw", one.row) for one in featured(n)},
        "LAB": ("lab-best", ""),
        "LAB-ideal": ("lab-ideal", ""),
        "PHI": ("phi", ""),
    }


def energy_columns(n: Numbers) -> Columns:
    return {name: column for name, column in speed_columns(n).items() if column[0].startswith("arc-")}


def by_trace(n: Numbers, columns: Columns, name: str) -> str:
    """A metric of each trace of ARC's groups on the paper's machines."""
    head = ["trace"] + [f"{column} {gpu[3:]}" for gpu in PAPER_GPUS for column in columns]
    rows = [
        [trace]
        + [two(n.metric(trace, gpu, policy, unit, name)) for gpu in PAPER_GPUS for policy, unit in columns.values()]
        for trace in n.paper_traces
    ]
    return markdown(head, rows)


def speed(n: Numbers) -> str:
    rows = []
    for row in n.need("speed")["rows"]:
        how = "every block clocked, " if row["clock_all"] else ""
        middle, least, most = (whole(float(f"{rate:.3g}")) for rate in row["warp_atomics_per_second"])
        threads = "1 thread" if row["threads"] == 1 else f"{row['threads']} threads"
        rows.append(
            [f"`{row['policy']}`, {how}{threads}", row["unit"], middle, "" if least == most else f"{least} to {most}"]
        )
    return markdown(["truck on rtx4090", "unit", "warp-atomics a second", "range"], rows, 2)


def ranged(errors: Sequence[float]) -> str:
    if not errors:
        return "-"
    low, high = (f"{100 * value:+.1f}" for value in (min(errors), max(errors)))
    return f"{low} %" if low == high else f"{low} to {high} %"


def correlation_by_trace(n: Numbers) -> str:
    picks = {pick["trace"]: pick for pick in correlate.picks(n.correlation)}
    rows = []
    for trace in dict.fromkeys(p["trace"] for p in n.correlation):
        own = [p for p in n.correlation if p["trace"] == trace]
        errors = {p["policy"]: p["modelled_ms"] / p["measured_ms"] - 1 for p in own}
        of = {
            kind: [e for policy, e in errors.items() if policy.partition(":")[0] == kind] for kind in correlate.POLICIES
        }
        pick = picks.get(trace)
        rows.append(
            [
                trace + ("\\*" if n.traces[trace]["thin"] else ""),
                str(len(own)),
                *(ranged(of[kind]) for kind in ("baseline", "sw-b", "sw-s", "skip", "cccl")),
                percent(statistics.fmean(map(abs, errors.values()))),
                f"{percent(pick['cost'])} ({pick['pick']})" if pick else "-",
            ]
        )
    head = [
        "trace",
        "points",
        "baseline",
        "sw-b",
        "sw-s",
        "skip",
        "cccl",
        "mean absolute",
        "the model's threshold costs",
    ]
    return markdown(head, rows)


def synthesis(n: Numbers) -> str:
    rows = [
        [
            f"`{top}`",
            whole(row["transistors"]),
            whole(row["flops"]),
            percent(row["transistors"] / 70_000),
            whole(row["area"]),
            f"{row['path_ns']:.2f}",
            whole(row["fast_area"]),
            f"{row['fast_path_ns']:.2f}",
        ]
        for top, row in n.synthesis.items()
    ]
    return markdown(
        ["module", "transistors", "flops", "of ARC's 70,000", "area", "path, ns", "fast: area", "path, ns"], rows
    )


def synthesis_asap7(n: Numbers) -> str:
    rows = [
        [
            f"`{top}`",
            f"{row['area']:,.4g}",
            f"{row['path_ns']:.3f}",
            f"{row['fast_area']:,.4g}",
            f"{row['fast_path_ns']:.3f}",
        ]
        for top, row in n.asap7.items()
    ]
    return markdown(["module", "area", "path, ns", "fast: area", "path, ns"], rows)


def transistors(n: Numbers) -> str:
    rows = [
        [name] + [f"{n.value(f'unit.{kind}.{count}')}, {n.value(f'unit.{kind}.{share}')}" for kind in LANES]
        for name, count, share in (
            ("what ARC adds", "transistors", "share"),
            ("with the coalescer", "with_coalescer", "share_with_coalescer"),
        )
    ]
    return markdown(["a sub-core, and 128 x 4 of them in an RTX 4090", *LANES], rows)


def layout(n: Numbers) -> str:
    def power(row: dict[str, Any], *keys: str) -> str:
        found: Any = row["power"]
        for key in keys:
            found = found[key]
        return f"{found:,.0f}" if found >= 100 else f"{found:.3g}"

    lines: list[tuple[str, Callable[[dict[str, Any]], str]]] = [
        ("die, um", lambda row: f"{row['die_um'][0]:.0f} x {row['die_um'][1]:.0f}"),
        ("die, um2", lambda row: whole(row["die_um2"])),
        ("of it cells", lambda row: f"{100 * row['filled']:.0f} %"),
        ("cells", lambda row: whole(row["cells"])),
        ("wires, mm", lambda row: f"{row['wire_um'] / 1e3:,.0f}"),
        ("vias", lambda row: whole(row["vias"])),
        ("capacitance of wires, pF", lambda row: f"{row['capacitance_pf']:.1f}"),
        ("nets with it in one place", lambda row: str(row["nets_without_tree_of_resistances"])),
        ("clock buffers, levels", lambda row: f"{sum(row['clock']['buffers'])}, {len(row['clock']['buffers'])}"),
        ("clock at the flops, ns", lambda row: f"{row['clock']['latest_ns']:.2f}, skew {row['clock']['skew_ns']:.2f}"),
        ("hold met by, ns", lambda row: f"{row['clock']['hold_slack_ns']:.2f}"),
        *(
            (f"register to register, {words}, ns", lambda row, key=key: f"{row['timing']['reg_to_reg'][key]['ns']:.2f}")
            for key, words in (
                ("without_wires", "without wires"),
                ("with_wires", "with wires"),
                ("with_tree", "with wires and clock tree"),
            )
        ),
        ("worst of all paths with wires, ns", lambda row: f"{row['timing']['worst']['with_wires']['ns']:.2f}"),
        ("clock for the power, MHz", lambda row: f"{row['power']['clock_mhz']:.1f}"),
        ("power without wires, mW", lambda row: power(row, "without_wires", "power_mw", "total")),
        ("power with wires, mW", lambda row: power(row, "power_mw", "total")),
        ("of it the clock tree, mW", lambda row: power(row, "power_mw", "clock_tree")),
        ("pJ per lane reduced", lambda row: power(row, "pj_per_lane_reduced")),
        ("violations of design rules", lambda row: str(len(row["drc"]))),
        ("differences from the netlist", lambda row: str(len(row["lvs"]))),
        ("vias added, pads grown", lambda row: f"{row['repairs']['vias_added']}, {row['repairs']['pads_grown']}"),
        ("GDS, start of its SHA-256", lambda row: f"`{row['gds_sha256'][:12]}`"),
    ]
    return markdown(["", *n.layouts], [[name, *(show(row) for row in n.layouts.values())] for name, show in lines])


def fpga(n: Numbers) -> str:
    rows = [
        [
            f"`{row['top']}`" + (f", {row['address_bits']} address bits" if "address_bits" in row else ""),
            whole(row["logic_cells"]),
            whole(row["flops_at_ports"]),
            percent(row["logic_cells"] / row["logic_cells_of_device"]),
            f"{row['mhz']:.1f}",
            f"{row['mhz_by_icetime']:.1f}",
        ]
        for row in n.need("layout")["fpga"]
    ]
    return markdown(
        ["module", "logic cells", "of them flops at the ports", "of the device", "MHz (nextpnr)", "MHz (icetime)"], rows
    )


def adders(n: Numbers) -> str:
    ours = [
        ("arc_fp32_adder", "combinational", 0),
        ("arc_fp32_adder_gradual", "combinational", 0),
    ]
    rows = [
        [
            f"**`{top}`**",
            rate,
            str(stages),
            f"**{whole(n.synthesis[top]['transistors'])}**",
            two(n.path_ns(top)),
        ]
        for top, rate, stages in ours
    ]
    for other in n.others["designs"]:
        rows.append(
            [
                other["design"],
                str(other["results_per_cycle"] or "combinational"),
                str(other["pipeline_registers"]),
                whole(other["transistors"]),
                f"{other['asap7_path_ns']:.2f}",
            ]
        )
    return markdown(["design", "results a cycle", "pipeline registers", "transistors", "ASAP7 path, ns"], rows)


def accuracy(n: Numbers) -> str:
    rows = [
        [
            trace,
            whole(entry["transactions"]),
            *(f"{entry[kind]['mean_ulp']:.2f}, {entry[kind]['max_ulp']:,.1f}" for kind in DATAPATHS),
        ]
        for trace, entry in n.need("accuracy")["traces"].items()
    ]
    return markdown(["trace", "transactions", *(f"{kind}, ulp: mean, largest" for kind in DATAPATHS)], rows)


# Of the cases of all 32 lanes; the whole GPU.
REPLAYED = {
    "same/lanes=32": "one address a warp",
    "consecutive/lanes=32": "a line",
    "sectors/lanes=32": "a sector each",
    "lines/lanes=32": "a line each",
    "random/lanes=32": "anywhere",
    "distinct_2_consecutive/lanes=32": "16 lanes on each of 2 words",
    "gaussian/lanes=32": "parameters of a Gaussian",
    "hot_address/lanes=32": "one address of all warps",
    "hot_line/lanes=32": "one line of all warps",
}


def replay(n: Numbers) -> str:
    cases = {name: (measured, modelled) for name, measured, modelled in n.need("replay")["cases"]}
    rows = []
    for part, what in REPLAYED.items():
        for name, (measured_cycles, modelled) in cases.items():
            if f"/{part}/" in name and name.endswith("/gpu" if "hot" not in part else name[-1]):
                rows.append(
                    [
                        f"`{name}`",
                        what,
                        f"{measured_cycles:,.4g}",
                        f"{modelled:,.4g}",
                        error(modelled, measured_cycles),
                    ]
                )
    return markdown(["case", "lanes on", "measured, cycles a RED", "modelled", "error"], rows, 2)


# Patterns of the group `vector`, all 32 lanes of all warps.
VECTORS = {
    "same": "all at one place",
    "packed": "beside each other",
    "sectors": "a sector each",
    "lines": "a line each",
    "random": "any line each",
    "struct_48": "a struct of 48 bytes each",
    "struct_64": "a struct of 64 bytes each",
}


def vectors(n: Numbers) -> str:
    """Vector REDs beside as many of one float."""
    rows = []
    for pattern, what in VECTORS.items():
        for place in ("sm", "gpu"):
            cells = []
            for words, form in ((2, "scalar"), (2, "v2"), (4, "scalar"), (4, "v4")):
                cells.append(n.value(f"microbench.vector/{pattern}/words={words}/{form}/lanes=32/warps=32/{place}"))
            rows.append([f"`{pattern}`", what, {"sm": "one SM", "gpu": "all SMs"}[place], *cells])
    return markdown(["pattern", "lanes", "on", "2 floats, scalar", "v2", "4 floats, scalar", "v4"], rows, 3)


def vector_replay(n: Numbers) -> str:
    """Each case's cycles of all SMs, measured, modelled, and the error there and on one SM."""
    cases = {name: (measured, modelled) for name, measured, modelled in n.need("vector_replay")["cases"]}

    def error_of(name: str) -> str:
        return "-" if name not in cases else error(cases[name][1], cases[name][0])

    rows = [
        [
            f"`{name.removeprefix('vector/').removesuffix('/warps=32/gpu')}`",
            f"{took:,.4g}",
            f"{modelled:,.4g}",
            error_of(name),
            error_of(name.removesuffix("/gpu") + "/sm"),
        ]
        for name, (took, modelled) in cases.items()
        if not name.endswith("/sm")
    ]
    return markdown(["case", "measured, cycles", "modelled", "error", "error, one SM"], rows, 1)


def slots(n: Numbers) -> str:
    """Each trace's sums in slots of shared memory: what it holds, milliseconds and the error."""
    facts = {**n.traces, **n.need("h100")["traces"]}
    rows = [
        [
            trace,
            f"{facts[trace]['mean_active_lanes']:.1f}",
            percent(facts[trace]["one_address_share"]),
            f"{measured:.4f}",
            f"{modelled:.4f}",
            error(modelled, measured),
        ]
        for trace, measured, modelled in n.need("slots")["cases"]
    ]
    return markdown(
        ["trace", "lanes of an event", "events on one primitive", "measured ms", "modelled ms", "error"], rows
    )


# Ways to add nine words of a struct; the last two for each of 32 lanes.
STRUCTS = {
    "nine REDs of one lane": "/words=9/scalar/lanes=1",
    "`v4`, `v4` and a RED of one lane": "/words=9/v4/lanes=1",
    "a RED of nine lanes": "_by_lanes/words=1/scalar/lanes=9",
    "a `v4` of three lanes": "_by_lanes/words=4/v4/lanes=3",
    "nine REDs of 32 lanes, a struct each": "/words=9/scalar/lanes=32",
    "`v4`, `v4` and a RED of 32 lanes, a struct each": "/words=9/v4/lanes=32",
}


def vector_structs(n: Numbers) -> str:
    sizes = (36, 48, 64)

    def cell(size: int, case: str) -> str:
        cycles = n.microbench.get(f"vector/struct_{size}{case}/warps=32/gpu")
        return "-" if cycles is None else two(cycles)

    rows = [[how, *(cell(size, case) for size in sizes)] for how, case in STRUCTS.items()]
    return markdown(["how", *(f"{size} bytes" for size in sizes)], rows)


def best_of(ms: dict[str, float], kind: str) -> str:
    """Speedup at the best threshold, with it."""
    found = {policy: value for policy, value in ms.items() if policy.startswith(kind + ":")}
    if not found:
        return "-"
    policy = min(found, key=lambda name: found[name])
    return f"{ms['baseline'] / found[policy]:.2f} ({policy.partition(':')[2]})"


TRACE_HEAD = ["trace", "workload", "events", "lanes", "one address", "baseline, ms", "best sw-b (X)", "best sw-s (X)"]


def trace_cells(trace: str, facts: Facts, others: list[str]) -> list[str]:
    """What a trace holds and how fast its kernels are, those of `others` beside the first."""
    ms = facts["ms"]
    return [
        trace + ("\\*" if facts["sample_every"] > 1 else ""),
        facts["workload"],
        whole(facts["events"]),
        f"{facts['mean_active_lanes']:.2f}",
        percent(facts["one_address_share"]),
        f"{ms['baseline']:.3f}",
        best_of(ms, "sw-b"),
        best_of(ms, "sw-s"),
        *(f"{ms['baseline'] / ms[policy]:.2f}" if policy in ms else "-" for policy in others),
    ]


def measured(n: Numbers) -> str:
    others = ["skip", "cccl"]
    return markdown(
        TRACE_HEAD + others, [trace_cells(trace, facts, others) for trace, facts in n.traces.items() if facts["ms"]], 2
    )


def on_h100(n: Numbers) -> str:
    """Traces of an H100 as in `measured`, and the mean absolute error and the range of the model's."""
    document, rows = n.need("h100"), []
    others = ["skip", "cccl", "none"]
    for trace, facts in document["traces"].items():
        errors = [modelled / facts["ms"][policy] - 1 for name, policy, modelled in document["points"] if name == trace]
        rows.append([*trace_cells(trace, facts, others), percent(statistics.fmean(map(abs, errors))), ranged(errors)])
    return markdown([*TRACE_HEAD, *others, "model: mean error", "from, to"], rows, 2)


def as_it_is(n: Numbers, name: str) -> str:
    """A table from a file that has columns and rows of its own."""
    document = n.need(name)
    rows = [[str(cell) for cell in row] for row in document["rows"]]
    return markdown(document["columns"], rows, len(document["columns"]))


def calibration(n: Numbers) -> str:
    """Benchmarks behind the parameters of the h200, whose values are those of the machine file."""
    document, machine = n.need("calibration"), probe.machine_values()["h200"]
    rows = []
    for parameters, _, *rest in document["rows"]:
        read = [machine[name] for name in re.findall(r"`([^`]+)`", parameters) if name in machine]
        shown = [f"{value:,}" if isinstance(value, (int, float)) else str(value) for value in read]
        rows.append([parameters, ", ".join(dict.fromkeys(shown)), *map(str, rest)])
    return markdown(document["columns"], rows, len(document["columns"]))


def sources(n: Numbers) -> str:
    rows = [
        [
            f"[{name}]({name})",
            where.get("commit", ""),
            where.get("host", ""),
            where.get("date", ""),
            "`" + where.get("command", "").replace("|", "\\|") + "`",
        ]
        for name, where in store.source_lines(n.folder)
    ]
    return markdown(["file", "commit", "made on", "date", "command"], rows, 5)


TABLES: dict[str, Callable[[Numbers], str]] = {
    "truck": truck,
    "truck-stalls": truck_stalls,
    "kinds": kinds,
    "units": units_in_short,
    **{f"units-{gpu}": lambda n, gpu=gpu: units_by_trace(n, gpu) for gpu in GPUS},  # type: ignore[misc]
    "not-best": not_best,
    "means": means,
    "paper-machine": lambda n: markdown(*paper_machine.rows_of(paper_machine.PaperMachine(n))),
    "headline": headline,
    "paper": paper,
    "even-l2": even_l2,
    "lab-partition": lab_partition,
    "policies-by-trace": lambda n: by_trace(n, speed_columns(n), "speedup"),
    "energy-by-trace": lambda n: by_trace(n, energy_columns(n), "energy_gain"),
    "speed": speed,
    "correlation-by-trace": correlation_by_trace,
    "synthesis": synthesis,
    "synthesis-asap7": synthesis_asap7,
    "transistors": transistors,
    "adders": adders,
    "layout": layout,
    "fpga": fpga,
    "accuracy": accuracy,
    "replay": replay,
    "vectors": vectors,
    "vector-replay": vector_replay,
    "slots": slots,
    "on-h100": on_h100,
    "vector-structs": vector_structs,
    "measured": measured,
    "calibration": calibration,
    "held-out": lambda n: as_it_is(n, "held_out"),
    "times-h100": lambda n: as_it_is(n, "h100_times"),
    "energy-fit": lambda n: as_it_is(n, "energy_fit"),
    "power": lambda n: as_it_is(n, "power"),
    "floor": lambda n: markdown(*today.floor_rows(n.today)),
    "gains-3d": lambda n: markdown(*today.gain_rows(n.today)),
    "merging": lambda n: markdown(*n.merging.rows()),
    "sums-left": lambda n: markdown(*n.merging.left_rows()),
    "merged": lambda n: markdown(*n.merging.merged_rows()),
    "forms": lambda n: markdown(*gpu_kernels.form_rows(n.need(gpu_kernels.FORMS))),
    "training": lambda n: markdown(*gpu_kernels.training_rows(n.need(gpu_kernels.TRAINING))),
    "recorded": lambda n: markdown(*recorded.kernel_rows(n.need(recorded.NAME)), 4),
    "recorded-caches": lambda n: markdown(*recorded.cache_rows(n.need(recorded.LOADS))),
    "recorded-loads": lambda n: markdown(*recorded.loads_rows(n.need(recorded.LOADS)), 3),
    "recorded-loads-summary": lambda n: markdown(*recorded.loads_summary_rows(n.need(recorded.LOADS))),
    "recorded-none": lambda n: markdown(*recorded.without_rows(n.need(recorded.NAME)), 3),
    "recorded-own": lambda n: markdown(*recorded.own_rows(n.need(recorded.NAME))),
    "recorded-summary": lambda n: markdown(*recorded.summary_rows(n.need(recorded.NAME))),
    "today-h100": lambda n: markdown(*today.kernel_rows(n.today, "h100")),
    "today-rtx4090": lambda n: markdown(*today.kernel_rows(n.today, "rtx4090")),
    "verification": lambda n: markdown(*n.verification.rows(), 9),
    "verification-runs": lambda n: markdown(*n.verification.runs(), 3),
    "sources": sources,
}


def table(name: str, numbers: Numbers) -> str:
    if name not in TABLES:
        raise Unknown(name)
    try:
        return TABLES[name](numbers)
    except BadInput as error:
        raise Missing(str(error)) from error
