# SPDX-License-Identifier: Apache-2.0
"""Tables of pages, as Markdown."""

import math
import re
import statistics
from collections.abc import Callable, Sequence
from typing import Any

from .. import correlate
from ..base.errors import BadInput
from ..base.modules import module
from ..figures import data
from . import gpu_kernels, paper_machine, probe, recorded, schedulers, store, today
from .points import STALLS, Facts
from .simulated import GPUS, HERE, KINDS, ON_ARC_TRACES, PAPER_GPUS
from .store import Missing, Unknown
from .text import Table, error, markdown, percent, two, whole
from .values import LANES, Numbers

POLICIES = ["baseline", "sw-s:16", "sw-b:16", "skip", "cccl", "arc-hw", "lab", "lab-ideal", "phi"]
UNITS = ["arc_unit", "lsu", "buffer", "noc", "rop"]
MEANS = [
    ("ARC-HW, serial unit", "arc-hw", "serial"),
    ("ARC-HW, paired unit", "arc-hw", "paired"),
    ("ARC-HW, fused unit", "arc-hw", "fused"),
    ("ARC-SW, best threshold", "arc-sw", "serial"),
    ("LAB-ideal", "lab-ideal", "serial"),
    ("LAB, best partition of the L1", "lab-best", "serial"),
    ("PHI", "phi", "serial"),
]
Columns = dict[str, tuple[str, str]]  # policy and kind of unit by name
SPEED_COLUMNS: Columns = {
    "ARC-SW": ("arc-sw", "serial"),
    "ARC-HW serial": ("arc-hw", "serial"),
    "ARC-HW fused": ("arc-hw", "fused"),
    "LAB": ("lab-best", "serial"),
    "LAB-ideal": ("lab-ideal", "serial"),
    "PHI": ("phi", "serial"),
}
ENERGY_COLUMNS = {name: column for name, column in SPEED_COLUMNS.items() if name.startswith("ARC")}
PLACEHOLDER = re.compile(r"\{([^{}\s]+)\}")


def truck(n: Numbers) -> str:
    rows = []
    for policy in POLICIES:
        row = [f"`{policy}`"]
        for gpu in GPUS:
            row += [n.value(f"truck.{gpu}.{policy}.cycles"), n.value(f"truck.{gpu}.{policy}.speedup")]
        rows.append(row + [n.value(f"truck.rtx4090.{policy}.rop_ops")])
    head = ["policy"] + [word for gpu in GPUS for word in (f"{gpu} cycles", "speedup")] + ["ROP operations (rtx4090)"]
    return markdown(head, rows)


def truck_stalls(n: Numbers) -> str:
    rows = [
        [f"`{policy}`"]
        + [n.value(f"truck.rtx4090.{policy}.stall.{part}") for part in STALLS]
        + [n.value(f"truck.rtx4090.{policy}.busy.{unit}") for unit in UNITS]
        for policy in POLICIES
    ]
    return markdown(
        ["policy", *(part.replace("_", " ") for part in STALLS), *(f"{unit.replace('_', ' ')} busy" for unit in UNITS)],
        rows,
    )


def kinds(n: Numbers) -> str:
    def row(name: str, *keys: str) -> list[str]:
        return [name] + [n.value(key) for key in keys]

    def each(name: str, pattern: str) -> list[str]:
        return row(name, *(pattern.format(kind) for kind in KINDS))

    rows = [
        each("lanes a cycle", "unit.{}.lanes"),
        each("transistors that ARC adds to a sub-core", "unit.{}.transistors"),
        each("128 x 4 units, of an RTX 4090's transistors", "unit.{}.share"),
        each("the same with the coalescer", "unit.{}.share_with_coalescer"),
        each("worst path, ns, ASAP7 RVT TT", "unit.{}.path_ns"),
        [
            "sum",
            "chain of adds in lane order",
            "one rounding, in lane order",
            "one rounding, any lane order",
        ],
        row(
            "largest error on recorded values, ulp",
            "accuracy.serial.max_ulp",
            "accuracy.paired.max_ulp",
            "accuracy.fused.max_ulp",
        ),
    ]
    for gpu in GPUS:
        rows.append(
            [f"speedup, truck, {gpu}"]
            + [
                n.value(f"truck.{gpu}.arc-hw.{kind}.speedup") if gpu in ON_ARC_TRACES.get(kind, GPUS) else "-"
                for kind in KINDS
            ]
        )
    rows.append(each("speedup, mean of ARC's 13 traces, rtx4090", "mean13.rtx4090.arc-hw.{}.speedup"))
    for gpu in GPUS:
        rows.append(
            [f"speedup, geometric mean of {len(n.traces)} traces, {gpu}"]
            + ["-" if kind in ON_ARC_TRACES else n.value(f"geomean.{gpu}.arc-hw.{kind}.speedup") for kind in KINDS]
        )
    return markdown(["", *KINDS], rows)


def kinds_by_trace(n: Numbers) -> str:
    columns = [(kind, gpu) for kind in KINDS for gpu in ON_ARC_TRACES.get(kind, GPUS)]
    cells = {
        trace: [
            (
                n.metric(trace, gpu, "arc-hw", kind, "speedup")
                if kind not in ON_ARC_TRACES or trace in n.paper_traces
                else None
            )
            for kind, gpu in columns
        ]
        for trace in sorted(n.traces)
    }
    rows = [[trace] + ["-" if cell is None else two(cell) for cell in row] for trace, row in cells.items()]
    means = [
        "-" if None in column else two(math.exp(statistics.fmean(map(math.log, column))))
        for column in zip(*cells.values())
    ]
    return markdown(
        ["trace"] + [f"{kind} {gpu}" for kind, gpu in columns],
        rows + [["**geometric mean**"] + [f"**{mean}**" for mean in means]],
    )


# Where the paper states a mean over its workloads: figures of its rtx4090 and its rtx3060.
ARC_MEANS = {
    ("arc-hw", "serial"): ("fig19.arc-hw", "fig18.arc-hw"),
    ("lab-ideal", "serial"): ("fig19.lab-ideal", "fig18.lab-ideal"),
    ("phi", "serial"): ("fig19.phi", "fig18.phi"),
    ("arc-sw", "serial"): ("fig22.rtx4090", "fig22.rtx3060"),
}


def mean_and_most(n: Numbers, policy: str, kind: str) -> list[str]:
    """Four cells: ours and the paper's mean (most) on either of its GPUs."""
    cells = []
    for index, gpu in enumerate(PAPER_GPUS):
        if gpu in ON_ARC_TRACES.get(kind, PAPER_GPUS):
            found = list(n.over(n.paper_traces, gpu, policy, kind).values())
            cells.append(f"{statistics.fmean(found):.2f} ({max(found):.2f})")
        else:
            cells.append("-")
        figure, _, key = ARC_MEANS[policy, kind][index].partition(".") if (policy, kind) in ARC_MEANS else ("", "", "")
        stated = n.paper[figure]["numbers"] if figure else {}
        mean, most = stated.get(f"{key}.mean"), stated.get(f"{key}.max")
        cells.append("" if mean is None else f"{mean['value']:.2f}" + (f" ({most['value']:.2f})" if most else ""))
    return cells


def means(n: Numbers) -> str:
    rows = [[name, *mean_and_most(n, policy, kind)] for name, policy, kind in MEANS]
    return markdown(["speedup over baseline, mean (most)", "rtx4090", "ARC", "rtx3060", "ARC"], rows)


# What a sub-core gets; for the buffers and for software the paper and we state no transistors.
ADDED = {"arc-sw": "none", "lab-ideal": "an SRAM in each SM", "lab-best": "a part of the L1", "phi": "lines of the L1"}


def headline(n: Numbers) -> str:
    """The RTX 4090 alone: ours, and what the paper states."""
    rows = []

    def add(name: str, added: str, gains: list[float], stated: str) -> None:
        rows.append(
            [
                name,
                added,
                two(statistics.fmean(gains)),
                two(statistics.geometric_mean(gains)),
                two(max(gains)),
                stated,
            ]
        )

    for name, policy, kind in MEANS:
        found = list(n.over(n.paper_traces, "rtx4090", policy, kind).values())
        added = ADDED.get(policy) or f"{n.value(f'unit.{kind}.transistors')} transistors"
        stated = mean_and_most(n, policy, kind)[1]
        add(name, added, found, stated + (", on a real GPU" if stated and policy == "arc-sw" else ""))
        if (policy, kind) == ("arc-hw", "serial"):
            add(
                f"{name}, groups reduced when congested",
                f"{n.value('synth.arc_unit_serial_groups.transistors')} transistors",
                [n.scheduled.over(trace, "rtx4090", schedulers.GROUPS) for trace in n.paper_traces],
                "",
            )
    return markdown(
        ["", "added to a sub-core", "mean", "geometric mean", "largest", "the paper: mean (largest)"], rows, 2
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
        for gpu in GPUS:
            if gpu not in PAPER_GPUS and trace != "truck":
                row += ["", ""]
                continue
            best = n.run(trace, gpu, "lab-best")
            size = int(best["set"].partition("=")[2]) if best["set"] else own[gpu]
            row += [f"{size // 1024} KiB", two(n.run(trace, gpu, "baseline")["cycles"] / best["cycles"])]
        rows.append(row)
    return markdown(["trace"] + [word for gpu in GPUS for word in (f"{gpu}: best", "speedup")], rows)


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


def by_trace(n: Numbers, columns: Columns, name: str) -> str:
    """A metric of each trace of ARC's groups on the paper's machines."""
    head = ["trace"] + [f"{column} {gpu[3:]}" for gpu in PAPER_GPUS for column in columns]
    rows = [
        [trace]
        + [two(n.metric(trace, gpu, policy, kind, name)) for gpu in PAPER_GPUS for policy, kind in columns.values()]
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
            whole(entry["nearer"]),
            whole(entry["as_near"]),
            whole(entry["farther"]),
            *(f"{entry[kind]['mean_ulp']:.2f}, {entry[kind]['max_ulp']:,.1f}" for kind in ("serial", "fused")),
        ]
        for trace, entry in n.need("accuracy")["traces"].items()
    ]
    return markdown(
        [
            "trace",
            "transactions",
            "fused is nearer",
            "as near",
            "farther",
            "serial, ulp: mean, largest",
            "fused, ulp: mean, largest",
        ],
        rows,
    )


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
            f"[{name}](numbers/{name})",
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
    "kinds-by-trace": kinds_by_trace,
    "means": means,
    "paper-machine": lambda n: markdown(*paper_machine.rows_of(paper_machine.PaperMachine(n))),
    "headline": headline,
    "paper": paper,
    "even-l2": even_l2,
    "lab-partition": lab_partition,
    "policies-by-trace": lambda n: by_trace(n, SPEED_COLUMNS, "speedup"),
    "energy-by-trace": lambda n: by_trace(n, ENERGY_COLUMNS, "energy_gain"),
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
    "schedulers": lambda n: markdown(*schedulers.by_trace(n.scheduled)),
    "scheduler-bounds": lambda n: markdown(*schedulers.bound_rows(n.scheduled)),
    "floor": lambda n: markdown(*today.floor_rows(n.today)),
    "gains-3d": lambda n: markdown(*today.gain_rows(n.today)),
    "merging": lambda n: markdown(*n.merging.rows()),
    "sums-left": lambda n: markdown(*n.merging.left_rows()),
    "merged": lambda n: markdown(*n.merging.merged_rows()),
    "forms": lambda n: markdown(*gpu_kernels.form_rows(n.need(gpu_kernels.FORMS))),
    "training": lambda n: markdown(*gpu_kernels.training_rows(n.need(gpu_kernels.TRAINING))),
    "recorded": lambda n: markdown(*recorded.kernel_rows(n.need(recorded.NAME)), 4),
    "recorded-none": lambda n: markdown(*recorded.without_rows(n.need(recorded.NAME)), 3),
    "recorded-own": lambda n: markdown(*recorded.own_rows(n.need(recorded.NAME))),
    "recorded-summary": lambda n: markdown(*recorded.summary_rows(n.need(recorded.NAME))),
    "today-h100": lambda n: markdown(*today.kernel_rows(n.today, "h100")),
    "today-rtx4090": lambda n: markdown(*today.kernel_rows(n.today, "rtx4090")),
    "sources": sources,
}


def table(name: str, numbers: Numbers) -> str:
    if name not in TABLES:
        raise Unknown(name)
    try:
        return TABLES[name](numbers)
    except BadInput as error:
        raise Missing(str(error)) from error
