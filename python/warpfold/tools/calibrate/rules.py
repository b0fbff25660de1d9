# SPDX-License-Identifier: Apache-2.0
"""The rules from benchmarks to parameters of a machine: one table, RULES.

A rule reads cases of the microbenchmarks and returns readings, {label: value}: what each of its cases says the
parameter is. Its value is their mean (or what `choose` says), rounded by `rounding`. Readings further apart than
`apart` times their mean are a misfit: the GPU does not do what the parameter stands for, and the report says so.
A rule that cannot decide raises Undecided; the value is then taken over from the base machine and marked.
"""

import dataclasses
import math
import statistics
from collections.abc import Callable, Sequence

from .measurement import Measurement
from .slices import Cases, Reader, Readings, SoFar, address_map, fast_offsets, ports, slices


class Undecided(Exception):
    """The measurements do not say; one line why."""


# ---- rounding ---------------------------------------------------------------------------------------


def whole(value: float) -> int:
    return math.floor(value + 0.5)


def down(value: float) -> int:
    return math.floor(value + 1e-9)


def tens(value: float) -> int:
    return 10 * whole(value / 10)


def digits(number: int) -> Callable[[float], float]:
    def rounded(value: float) -> float:
        return round(value + 1e-12, number)

    return rounded


def power_of_two(value: float) -> int:
    return 1 << max(0, round(math.log2(value)))


# ---- the table's row ----------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Rule:
    parameter: str
    how: str  # what is done with the cases, a few words
    cases: Cases
    read: Reader
    rounding: Callable[[float], float] = whole
    choose: Callable[[Sequence[float]], float] = statistics.fmean
    apart: float = 0.05
    source: str = "measured"

    @property
    def section(self) -> str:
        return self.parameter.split(".")[0]


# ---- readings -----------------------------------------------------------------------------------------


def median(scale: float = 1.0, offset: float = 0.0) -> Reader:
    """Each case's figure, times `scale`, plus `offset`."""
    return lambda m, so_far, cases: {name: m.median(name) * scale + offset for name in cases}


def median_over(*divisors: int) -> Reader:
    """Each case's figure over its own divisor."""
    return lambda m, so_far, cases: {name: m.median(name) / over for name, over in zip(cases, divisors, strict=True)}


def drained_over(*divisors: int) -> Reader:
    return lambda m, so_far, cases: {name: m.drained(name) / over for name, over in zip(cases, divisors, strict=True)}


def difference(m: Measurement, so_far: SoFar, cases: Cases) -> Readings:
    """Of each two cases, the first less the second."""
    pairs = zip(cases[::2], cases[1::2])
    return {f"{a} less {b}": m.median(a) - m.median(b) for a, b in pairs}


def device(key: str, scale: float = 1.0) -> Reader:
    return lambda m, so_far, cases: {key: m.device(key) * scale}


# Stall counts, in SM cycles, that the compiler gave the other instructions of these loops, from the machine code.
STALLS = {90: {"control/loop": 24.0, "latency/s2r": 9.25, "latency/ldc_chain": 6.0, "shared_add": 24.0}}


def global_load(m: Measurement, so_far: SoFar, cases: Cases) -> Readings:
    """SMs lie nearer to the L2 or farther, so that of all decides, if it was measured."""
    every = "latency/load_l2_chain/every_sm"
    return {every: m.extra(every, "mean_over_sms")} if m.has(every) else {cases[0]: m.median(cases[0])}


def less_stalls(loop: str) -> Reader:
    def read(m: Measurement, so_far: SoFar, cases: Cases) -> Readings:
        code = m.device("compute_capability")
        if code not in STALLS:
            raise Undecided(f"the stall counts of {loop} are not known for sm_{code}")
        return {name: m.median(name) - STALLS[code][loop] for name in cases}

    return read


def slope(steps: tuple[int, ...]) -> Reader:
    """Least squares of the cases over `steps`."""

    def read(m: Measurement, so_far: SoFar, cases: Cases) -> Readings:
        ys = [m.median(name) for name in cases]
        each = {
            f"{a} to {b}": (yb - ya) / (sb - sa)
            for a, b, ya, yb, sa, sb in zip(cases, cases[1:], ys, ys[1:], steps, steps[1:])
        }
        return each

    return read


def issue_order(m: Measurement, so_far: SoFar, cases: Cases) -> Readings:
    """1 where the first of four warps ends when the last nearly does, 0 where it ends alone."""
    marks = m.extra(cases[0], "cycle_of_each_eighth")
    ends = [row[-1] for row in marks]
    share = min(ends) / max(ends)
    if 0.45 < share < 0.7:
        raise Undecided(f"the first warp ends at {share:.0%} of the time")
    return {f"first of {len(ends)} warps ends at {share:.0%} of the time": float(share >= 0.7)}


def queue_depth(m: Measurement, so_far: SoFar, cases: Cases) -> Readings:
    """Those that wait, and the one in the load-store unit."""
    return {name: m.median(name) + 1 for name in cases}


def sleep_cycles(m: Measurement, so_far: SoFar, cases: Cases) -> Readings:
    """Half of the shortest: two ticks; a power of two, or warps do not sleep."""
    shortest = min(cases, key=m.median)
    half = m.median(shortest) / 2
    if abs(half / power_of_two(half) - 1) > 0.02 or half < 1024:
        raise Undecided(f"half of {shortest}, {half:.0f}, is near no power of two: no ticks seen")
    return {f"half of {shortest}": half}


def red_change(m: Measurement, so_far: SoFar, cases: Cases) -> Readings:
    """What lanes on several lines take beyond as many lone flits, by 21 changes of line."""
    flits = m.drained(cases[0])
    return {name: (m.drained(name) - flits) / 21 for name in cases[1:]}


def red_word(m: Measurement, so_far: SoFar, cases: Cases) -> Readings:
    """What REDs of two and of four words take beyond one of a word, for each further word."""
    if any(not m.has(name) for name in cases):
        raise Undecided("vector REDs were not measured")
    word = m.drained(cases[0])
    return {name: (m.drained(name) - word) / further for name, further in zip(cases[1:], (1, 3), strict=True)}


def shared_turn(m: Measurement, cases: Cases) -> Readings:
    """A further lane at one word: a turn of the loop that loads, adds and swaps, by successive numbers of lanes."""
    if any(not m.has(name) for name in cases):
        raise Undecided("additions in shared memory were not measured")
    lanes = [int(name.split("/lanes=")[1].split("/")[0]) for name in cases]
    return {
        f"{a} to {b}": (m.median(b) - m.median(a)) / (n - k) for a, b, k, n in zip(cases, cases[1:], lanes, lanes[1:])
    }


def latency_shared_cas(m: Measurement, so_far: SoFar, cases: Cases) -> Readings:
    """A turn of one warp, less its load, its branch and the stall counts of the rest."""
    code = m.device("compute_capability")
    if code not in STALLS:
        raise Undecided(f"the stall counts of shared_add are not known for sm_{code}")
    rest = so_far["latency.shared"] + so_far["latency.branch"] + STALLS[code]["shared_add"]
    return {label: turn - rest for label, turn in shared_turn(m, cases).items()}


def latency_fence(m: Measurement, so_far: SoFar, cases: Cases) -> Readings:
    if any(not m.has(name) for name in cases):
        raise Undecided("fences were not measured")
    return {name: m.median(name) for name in cases}


def lsu_shared_cas(m: Measurement, so_far: SoFar, cases: Cases) -> Readings:
    """A turn of many warps, less its load."""
    return {label: turn - so_far["lsu.shared_access"] for label, turn in shared_turn(m, cases).items()}


def lsu_match(m: Measurement, so_far: SoFar, cases: Cases) -> Readings:
    """What 16 MATCHes add to 16 REDs of one lane and of 8, and to 16 shuffles; REDs and shuffles count alike."""
    one, one_with, eight, eight_with, shuffles, shuffles_with = (m.median(name) for name in cases)
    reds = statistics.fmean([one_with - one, eight_with - eight]) / 16
    return {"beside REDs": reds, "beside shuffles": (shuffles_with - shuffles) / 16}


def hand_red(m: Measurement, so_far: SoFar, cases: Cases) -> Readings:
    return {name: m.extra(name, "steady_gap") / warps for name, warps in zip(cases, (1, 2), strict=True)}


def injection(m: Measurement, so_far: SoFar, cases: Cases) -> Readings:
    """REDs on the way, less those of the memory queues."""
    queues = so_far["lsu.queue_depth"] * so_far["sm.subcores"]
    rest = m.median(cases[0]) - queues
    if rest < 1:
        raise Undecided(f"{m.median(cases[0]):.0f} on the way, no more than the memory queues hold")
    return {cases[0]: rest}


def input_sms(m: Measurement, so_far: SoFar, cases: Cases) -> Readings:
    """Inputs take turns, so an SM's share tells how many SMs its input has."""
    shares = sorted(m.extra(cases[0], "over_mean_by_sm"))
    kinds = [[shares[0]]]
    for share in shares[1:]:
        if share > 1.04 * kinds[-1][0]:
            kinds.append([])
        kinds[-1].append(share)
    told = ", ".join(f"{len(kind)} SMs at {statistics.fmean(kind):.2f} of the mean" for kind in kinds)
    if len(kinds) > 2:
        raise Undecided(f"SMs of {len(kinds)} kinds ({told}), where inputs of one size and a rest would give two")
    if len(kinds) == 1:
        raise Undecided(f"all SMs have one share ({told}): as many inputs as one likes")
    small = kinds[1]
    return {told: len(small) * statistics.fmean(small) / statistics.fmean(kinds[0])}


# Words at random fill the ports unevenly: what all SMs take in the model over what even ports would.
UNEVEN_PORTS = 1.042


def port_cycles(m: Measurement, so_far: SoFar, cases: Cases) -> Readings:
    """Two slices alone, and what all SMs get through all ports."""
    ports = so_far["l2.slices"] / so_far["l2.slices_per_port"]
    return {cases[0]: m.median(cases[0]), cases[1]: m.drained(cases[1]) * ports / m.device("sms") / UNEVEN_PORTS}


def flit_cycles(m: Measurement, so_far: SoFar, cases: Cases) -> Readings:
    """What REDs of two to five flits take over what one word takes, which takes port_cycles of its port."""
    word = m.median(cases[0])
    return {
        name: m.drained(name) / word * so_far["l2.port_cycles"] / flits
        for name, flits in zip(cases[1:], (2, 3, 4, 5), strict=True)
    }


def line_cycles(m: Measurement, so_far: SoFar, cases: Cases) -> Readings:
    """A turn of four whole sectors, over four; of two, half of whose turns wait for their sector."""
    two, four = (m.drained(name) / m.device("sms") for name in cases)
    return {
        f"{cases[1]}, a sector of four": four / 4,
        f"{cases[0]}, a sector of two": (2 * two - so_far["l2.sector_cycles"]) / 2,
    }


def dram_bytes(m: Measurement, so_far: SoFar, cases: Cases) -> Readings:
    """Both edges of the memory clock, over the SM clock."""
    bytes_per_second = 2e3 * m.device("memory_clock_khz") * m.device("memory_bus_bits") / 8
    return {"memory clock and bus": bytes_per_second / (1e9 * so_far["sm.clock_ghz"])}


def of_loads(read: Reader) -> Reader:
    """The same, where the misses of the L1 were measured."""

    def guarded(m: Measurement, so_far: SoFar, cases: Cases) -> Readings:
        if any(not m.has(name) for name in cases):
            raise Undecided("loads that miss the L1 were not measured")
        return read(m, so_far, cases)

    return guarded


def misses(m: Measurement, so_far: SoFar, cases: Cases) -> Readings:
    """Lines of the DRAM that an SM alone gets in the time that one takes."""
    trip = so_far["latency.global_load"] + so_far["l2.dram_latency"]
    return {name: lines / m.median(name) * trip for name, lines in zip(cases, (32, 8), strict=True)}


def port_of_loads(m: Measurement, so_far: SoFar, cases: Cases) -> tuple[float, float]:
    """What a port takes for a line that is asked for, and for each of its sectors: lines of one sector and of four."""
    ports = so_far["l2.slices"] / so_far["l2.slices_per_port"] / m.device("sms")
    one, four = (ports * m.median(name) / lines for name, lines in zip(cases, (32, 8), strict=True))
    return one - (four - one) / 3, (four - one) / 3


def load_cycles(m: Measurement, so_far: SoFar, cases: Cases) -> Readings:
    return {f"{cases[0]}, less its sector": port_of_loads(m, so_far, cases)[0]}


def read_cycles(m: Measurement, so_far: SoFar, cases: Cases) -> Readings:
    return {f"{cases[1]} less {cases[0]}, by three sectors": port_of_loads(m, so_far, cases)[1]}


def dram_share(m: Measurement, so_far: SoFar, cases: Cases) -> Readings:
    return {cases[0]: 1024 / m.median(cases[0]) / so_far["l2.dram_bytes_per_cycle"]}


def dram_burst(m: Measurement, so_far: SoFar, cases: Cases) -> Readings:
    """What the DRAM would read in the time of a lone sector."""
    lines = 32 * m.device("sms") / m.median(cases[0])
    return {cases[0]: so_far["l2.dram_bytes_per_cycle"] * so_far["l2.dram_share"] / lines}


RUN_TIME = "as the CUDA run time reports it"
BY_CODE = "by compute capability"

# SRAM of an SM by compute capability (CUDA C++ Programming Guide, technical specifications).
L1_KBYTES = {70: 128, 75: 96, 80: 192, 86: 128, 87: 192, 89: 128, 90: 256, 100: 256, 103: 256, 120: 128}


def l1_bytes(m: Measurement, so_far: SoFar, cases: Cases) -> Readings:
    code = m.device("compute_capability")
    if code not in L1_KBYTES:
        raise Undecided(f"the size of an SM's SRAM is not known for sm_{code}")
    return {f"sm_{code}": 1024.0 * L1_KBYTES[code]}


ONE = "chains=1/subcores=1/warps_each=1"
FOUR_CHAINS = "chains=4/subcores=1/warps_each=8"
BUSY = "chains=4/subcores=4/warps_each=8"
LONE_SM = "warps=32/sm"
ALL = "warps=32/gpu"
ALL_LOADS = tuple(f"loads/load/{places}/l2/warps=64/gpu" for places in ("lines", "sectors"))
PAIRS = tuple(f"slices/pair/offset={offset}" for offset in range(32, 2049, 32))

RULES = (
    # What the run time says of the device.
    Rule("sm.count", RUN_TIME, (), device("sms"), source="device"),
    Rule("sm.clock_ghz", RUN_TIME, (), device("sm_clock_khz", 1e-6), digits(3), source="device"),
    Rule("sm.max_warps", RUN_TIME, (), device("max_warps_of_sm"), source="device"),
    Rule("sm.max_ctas", RUN_TIME, (), device("max_ctas_of_sm"), source="device"),
    Rule("sm.registers", RUN_TIME, (), device("registers_of_sm"), source="device"),
    Rule("sm.shared_bytes", RUN_TIME, (), device("shared_bytes_of_sm"), source="device"),
    Rule("l1.bytes", BY_CODE, (), l1_bytes, source="device"),
    Rule("l2.bytes", RUN_TIME, (), device("l2_bytes"), source="device"),
    Rule(
        "l2.dram_bytes_per_cycle",
        "2 x memory clock x bus width that the CUDA run time reports",
        (),
        dram_bytes,
        digits(1),
        source="device",
    ),
    # The sub-core.
    Rule(
        "sm.issue_order", "four warps end together: lrr; one by one: gto", ("control/red_order/warps=4",), issue_order
    ),
    Rule(
        "pipe.integer",
        "busy sub-cores",
        tuple(f"ops/{op}/{BUSY}" for op in ("lop3", "iadd3", "shf", "isetp_sel")),
        median_over(1, 1, 1, 2),
        digits(1),
    ),
    Rule(
        "pipe.sfu",
        "busy sub-cores",
        tuple(f"ops/{op}/{BUSY}" for op in ("ex2", "popc", "flo", "brev_lop3")),
        median(),
        digits(1),
    ),
    Rule("latency.shared", "one chain", ("memory/shared/bytes=4/stride=4/chains=1/warps=1",), median()),
    Rule("latency.sfu", "less the product", (f"ops/rcp_fmul/{ONE}", f"ops/fmul/{ONE}"), difference),
    Rule("latency.shuffle", "one chain", (f"ops/shfl_bfly/{ONE}",), median()),
    Rule("latency.shuffle_index", "one chain", (f"ops/shfl_idx/{ONE}",), median()),
    Rule("latency.match", "one chain", (f"ops/match_any_1/{ONE}",), median()),
    Rule(
        "latency.match_group",
        "a further value",
        tuple(f"ops/match_any_{n}/{ONE}" for n in (1, 2, 8, 32)),
        slope((1, 2, 8, 32)),
    ),
    Rule("latency.redux", "less the move back", (f"ops/redux/{ONE}", f"ops/lop3/{ONE}"), difference),
    Rule("latency.special", "less stall counts of the code", ("latency/s2r",), less_stalls("latency/s2r")),
    Rule("latency.uniform", "less the logic operation", ("latency/s2ur", f"ops/lop3/{ONE}"), difference),
    Rule("latency.constant", "less the shift between", ("latency/ldc_chain",), less_stalls("latency/ldc_chain")),
    Rule(
        "latency.global_load",
        "one chain, lines of the L2, mean over SMs",
        ("latency/load_l2_chain/stride=4096",),
        global_load,
        apart=0.03,
    ),
    Rule("latency.l1_load", "one chain", ("latency/load_l1_chain/stride=128",), median()),
    Rule(
        "latency.branch",
        "less stall counts of the code",
        ("control/loop/subcores=1/warps_each=1",),
        less_stalls("control/loop"),
    ),
    Rule("latency.barrier", "one warp, less the loop around 16", ("control/barrier/ctas=1/warps=1",), median(), down),
    Rule(
        "latency.barrier_warp",
        "a further warp",
        tuple(f"control/barrier/ctas=1/warps={n}" for n in (1, 2, 4, 8, 16, 32)),
        slope((1, 2, 4, 8, 16, 32)),
        digits(1),
    ),
    Rule(
        "latency.cta_launch",
        "less 5 for two looks at the clock; tens",
        tuple(f"control/cta_gap/threads={n}" for n in (32, 256, 1024)),
        median(offset=-5),
        tens,
    ),
    Rule(
        "latency.shared_cas",
        "a turn of the loop, less load, branch and stall counts",
        tuple(f"shared_add/same/lanes={n}/warps=1" for n in (4, 8, 16, 32)),
        latency_shared_cas,
    ),
    Rule("latency.fence", "one warp, nothing on its way", ("latency/fence/lanes=1/lane_bytes=0",), latency_fence),
    # The load-store unit.
    Rule(
        "lsu.queue_depth",
        "waiting, and one in service",
        ("burst/stamped/same_32/subcores=4/warps_each=1",),
        queue_depth,
    ),
    Rule(
        "lsu.sleep_cycles",
        "half of the shortest gap, a power of two",
        tuple(f"share/sleep/ctas={n}/warps=12" for n in (2, 4, 5)),
        sleep_cycles,
        power_of_two,
    ),
    Rule("lsu.tick_groups", "groups of SMs with one clock", ("share/clocks",), median()),
    Rule("lsu.red_min", "a RED of one lane", (f"red/same/lanes=1/{LONE_SM}",), drained_over(1), digits(2)),
    Rule(
        "lsu.red_flit",
        "over the flits of the RED",
        (
            *(f"red/same/lanes={n}/{LONE_SM}" for n in (8, 16, 32)),
            f"red/sectors/lanes=4/{LONE_SM}",
            *(f"red/consecutive/lanes={n}/{LONE_SM}" for n in (16, 24, 32)),
        ),
        drained_over(8, 16, 32, 5, 3, 4, 5),
        digits(2),
    ),
    Rule(
        "lsu.red_change",
        "beyond 32 lone flits, by 21 changes",
        tuple(f"red/{name}/lanes=32/{LONE_SM}" for name in ("same", "distinct_4_lines", "distinct_8_lines")),
        red_change,
        digits(2),
        apart=0.1,
    ),
    Rule(
        "lsu.red_word",
        "beyond a RED of one word, a further one",
        tuple(f"vector/same/words={form}/lanes=1/{LONE_SM}" for form in ("1/half2", "2/v2", "4/v4")),
        red_word,
        digits(2),
    ),
    Rule("lsu.shuffle", "busy SM, over four sub-cores", (f"ops/shfl_bfly/{BUSY}",), median(0.25), digits(2)),
    Rule(
        "lsu.match",
        "added by 16",
        tuple(
            f"mixed/red={red}/shfl={shfl}/lds=0/match={match}/ffma=0/lanes={lanes}/warps=32"
            for red, shfl, lanes in ((16, 0, 1), (16, 0, 8), (0, 16, 0))
            for match in (0, 16)
        ),
        lsu_match,
        digits(1),
        apart=0.25,
    ),
    Rule("lsu.shared_access", "busy SM", ("memory/shared/bytes=4/stride=4/chains=4/warps=32",), median(), digits(1)),
    Rule("lsu.shared_wide", "busy SM", ("memory/shared/bytes=16/stride=0/chains=4/warps=32",), median(), digits(1)),
    Rule(
        "lsu.shared_cas",
        "a turn of the loop, less the load",
        tuple(f"shared_add/same/lanes={n}/warps=32" for n in (4, 8, 16, 32)),
        lsu_shared_cas,
        digits(2),
    ),
    Rule("lsu.global_load", "a sector for each lane", (f"memory/l1/lane_bytes=32/{LONE_SM}",), median(), digits(1)),
    Rule(
        "lsu.match_unit",
        "busy SM, over four sub-cores and values",
        (*(f"ops/match_any_{n}/{BUSY}" for n in (1, 2, 8, 32)), f"ops/redux/{BUSY}"),
        median_over(4, 8, 32, 128, 4),
        digits(1),
    ),
    Rule(
        "lsu.hand_red",
        "between REDs of a warp",
        tuple(f"burst/stamped/one_lane/subcores=1/warps_each={n}" for n in (1, 2)),
        hand_red,
        digits(1),
        min,
    ),
    Rule("lsu.hand_shuffle", "one busy sub-core", (f"ops/shfl_bfly/{FOUR_CHAINS}",), median(), digits(1)),
    Rule("lsu.hand_shuffle_index", "one busy sub-core", (f"ops/shfl_idx/{FOUR_CHAINS}",), median(), digits(1)),
    Rule(
        "lsu.hand_match",
        "one busy sub-core",
        tuple(f"ops/{op}/{FOUR_CHAINS}" for op in ("match_any_1", "redux")),
        median(),
        digits(1),
    ),
    # The way to the L2, and the L2.
    Rule(
        "noc.injection_depth",
        "on the way less the memory queues; a power of two",
        ("burst/flight/one_lane/gpu",),
        injection,
        power_of_two,
    ),
    Rule("l2.slices", "classes of addresses that slow each other down", ("slices/classes",), slices(Undecided)),
    Rule("l2.slices_per_port", "slices that slow each other down", ("slices/ports",), ports(Undecided)),
    Rule("l2.slice_bytes", "first offset in another slice", PAIRS, address_map(Undecided, "slice_bytes")),
    Rule(
        "l2.interleave_bytes",
        "last offset in the first slice, and the piece of another behind it",
        PAIRS,
        address_map(Undecided, "interleave_bytes"),
    ),
    Rule("l2.input_sms", "by the shares of SMs that add to one address", ("share/address",), input_sms),
    Rule(
        "l2.sector_cycles",
        "an address each in two slices",
        PAIRS,
        fast_offsets,
        digits(2),
        statistics.median,
        apart=0.02,
    ),
    Rule("l2.rop_cycles", "16 sectors of a slice at random", ("share/random/sectors=16",), median(), digits(2)),
    Rule(
        "l2.line_cycles",
        "whole sectors of two lines, by turns",
        tuple(f"red/hot_block/sectors={n}/words=8/lines=2" for n in (2, 4)),
        line_cycles,
        digits(2),
    ),
    Rule(
        "l2.port_cycles",
        "a slice and its partner; one word of all SMs at random",
        ("slices/ports", f"red/same/lanes=1/{ALL}"),
        port_cycles,
        digits(2),
    ),
    Rule(
        "l2.flit_cycles",
        "two to five flits over one word",
        (f"red/random/lanes=1/{ALL}", *(f"red/consecutive/lanes={n}/{ALL}" for n in (2, 16, 24, 32))),
        flit_cycles,
        digits(3),
    ),
    Rule("l2.turn_spread", "turns of an SM at one address", ("share/order",), median(), digits(2)),
    Rule(
        "l2.dram_latency",
        "less a load of the L2",
        ("latency/load_dram_chain/stride=1024", "latency/load_l2_chain/stride=4096"),
        difference,
    ),
    # Loads that say what they touch.
    Rule(
        "l1.access_cycles",
        "over its lines",
        tuple(f"memory/l1/lane_bytes={n}/{LONE_SM}" for n in (32, 128)),
        of_loads(median_over(8, 32)),
        digits(1),
    ),
    Rule(
        "l1.misses",
        "lines of the DRAM in the time that one takes; a power of two",
        tuple(f"loads/load/{places}/dram/warps=64/sm" for places in ("lines", "sectors")),
        of_loads(misses),
        power_of_two,
    ),
    Rule(
        "noc.return_cycles",
        "whole lines of the L2 into one SM, over their sectors",
        ("loads/load/sectors/l2/warps=64/sm",),
        of_loads(median_over(32)),
        digits(2),
    ),
    Rule("l2.load_cycles", "lines of one sector and of four", ALL_LOADS, of_loads(load_cycles), digits(2)),
    Rule("l2.read_cycles", "lines of one sector and of four", ALL_LOADS, of_loads(read_cycles), digits(2)),
    Rule(
        "l2.dram_share",
        "a stream of reads, over the bandwidth",
        ("memory/stream/dram/gpu",),
        of_loads(dram_share),
        digits(2),
    ),
    Rule(
        "l2.dram_burst",
        "lone sectors of the DRAM",
        ("loads/load/lines/dram/warps=64/gpu",),
        of_loads(dram_burst),
    ),
)

# Decided by no microbenchmark; taken over from the base machine.
NOT_MEASURED = {
    "latency.launch": "a profiler has it, which the microbenchmarks do without",
    "sm.subcores": "four on every GPU since compute capability 7.0",
    "l2.ingress_flits": "calibrated by replay on the base machine",
    "noc.flit_cycles": "one flit an SM cycle",
    "arc": "the unit, not the GPU",
    "lab": "a policy's buffer, not the GPU",
    "buffer": "a policy's buffer, not the GPU",
    "l1": "estimates",
    "noc": "estimates",
    "l2.ways": "estimate",
    "l2.line_bytes": "CUDA guide",
    "energy": "`warpfold fit-energy` sets it from a measurement of energy",
}
