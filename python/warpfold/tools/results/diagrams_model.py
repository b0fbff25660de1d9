# SPDX-License-Identifier: Apache-2.0
"""The figures of docs/model.md, one for each section."""

from .diagram_parts import Picture


# ---- dispatcher and CTAs ----------------------------------------------------------------------------


def draw_dispatch() -> Picture:
    p = Picture(
        860,
        232,
        "A CTA on an SM",
        "The dispatcher gives the next CTA to the next SM with room. The CTA keeps its "
        "place until its last warp has ended and its last RED has left the SM.",
    )
    p.box(16, 20, 150, 60, "dispatcher", "one CTA a cycle")
    for index, places in enumerate((5, 5, 4)):
        x = 260 + index * 196
        p.rect(x, 14, 172, 72, "box")
        p.text(x + 86, 34, f"SM {index}", "b")
        for place in range(5):
            p.rect(x + 12 + place * 30, 46, 26, 26, "full" if place < places else "cell", 3)
    p.arrow((166, 50), (206, 50), (206, 102), (782, 102), (782, 76))
    p.text(690, 118, "the next SM in turn with a free place", "x")
    y = 158
    p.text(16, y + 4, "one CTA", "b", anchor="start")
    spans = ((100, 90, "c0", "launch"), (190, 320, "c1", "warps run"), (510, 150, "c4", "REDs leave the SM"))
    for x, width, kind, name in spans:
        p.rect(x, y - 14, width, 26, kind, 3)
        p.text(x + width / 2, y + 4, name, "w")
    p.rect(660, y - 14, 110, 26, "dash", 3)
    p.text(715, y + 4, "REDs reach ROPs", "x")
    p.arrow((100, y + 34), (800, y + 34))
    p.text(812, y + 38, "time", "x", anchor="start")
    for x, name, anchor in (
        (100, "dispatched", "end"),
        (190, "after latency.cta_launch", "start"),
        (510, "last warp ends", "middle"),
        (660, "its place is free", "middle"),
    ):
        p.line((x, y + 14), (x, y + 40), kind="g")
        p.text(x + (4 if anchor == "end" else -4 if anchor == "start" else 0), y + 56, name, "x", anchor=anchor)
    return p


# ---- sub-core and issue -----------------------------------------------------------------------------

PATCHES = {"i": "c1", "r": "c3", "d": "c0", "q": "c5", "s": "c4", "b": "cell", "n": "queue"}


def issue_rows() -> tuple[tuple[str, str], ...]:
    """Warps by cycle: what each does, one issuing at a time."""
    return (
        ("warp 0", "iniddddddniniiqqrqqqqqrq"),
        ("warp 1", "ninidddddddddd" + "iqqqrqqqqq"),
        ("warp 2", "ssssssinissssssss" + "iqqrqqq"),
        ("warp 3", "ddddddninini" + "bbbbbbbbbbbb"),
    )


def draw_issue() -> Picture:
    p = Picture(
        860,
        292,
        "Issue in a sub-core",
        "Four warps over 24 cycles. In each cycle one warp issues at most. A cycle "
        "in which none issues is put down to one cause.",
    )
    rows = issue_rows()
    left, cell, top = 96, 30, 30
    for row, (name, states) in enumerate(rows):
        y = top + row * 34
        p.text(84, y + 18, name, "b", anchor="end")
        for cycle, state in enumerate(states):
            p.rect(left + cycle * cell + 1, y, cell - 2, 26, PATCHES[state], 3)
            if state == "r":
                p.text(left + cycle * cell + cell / 2, y + 17.5, "RED", "w")
    y = top + 4 * 34 + 12
    p.text(84, y + 18, "sub-core", "b", anchor="end")
    for cycle in range(24):
        column = [states[cycle] for _, states in rows]
        state = next((s for s in "irqsdb" if s in column), "d")
        p.rect(left + cycle * cell + 1, y, cell - 2, 26, PATCHES[state], 3)
        p.text(left + cycle * cell + cell / 2, y + 42, str(cycle), "x")
    p.text(84, y + 42, "cycle", "x", anchor="end")
    p.key(
        96,
        276,
        [
            ("c1", "issues", 84),
            ("c3", "issues a RED", 118),
            ("queue", "ready, not selected", 150),
            ("c5", "memory queue", 122),
            ("c4", "shuffle", 84),
            ("c0", "dependency", 108),
            ("cell", "barrier", 80),
        ],
    )
    return p


# ---- memory queue -----------------------------------------------------------------------------------


def draw_queue() -> Picture:
    p = Picture(
        860,
        262,
        "The memory queue and its sleepers",
        "Warps of a sub-core wait for room in the memory queue. Those "
        "that find it full while the injection port is a quarter full fall asleep. Who goes next depends on how "
        "long they have waited and on the age of their CTA.",
    )
    p.group(16, 14, 250, 232, "warps of a sub-core")
    for row, (kind, name, note) in enumerate(
        (
            ("c3", "ahead", "waited through two ticks"),
            ("c1", "in turn", "of the oldest CTA, 3 at a time"),
            ("c0", "asleep", "until one of their CTA got in"),
        )
    ):
        y = 60 + row * 62
        p.rect(32, y, 16, 30, kind, 3)
        p.left(58, y + 12, name, "b")
        p.left(58, y + 29, note, "s")
        p.text(252, y + 14, ("1st", "2nd", "not now")[row], "x", anchor="end")
    p.arrow((266, 80), (330, 80), (330, 114), (352, 114))
    p.arrow((266, 142), (300, 142), (300, 126), (352, 126))
    p.queue(352, 104, 160, 32, 16, 16)
    p.text(432, 94, "memory queue", "b")
    p.text(432, 156, "lsu.queue_depth", "p")
    p.arrow((512, 120), (540, 120))
    p.box(540, 92, 70, 56, "LSU")
    p.arrow((610, 120), (640, 120))
    p.queue(640, 104, 204, 32, 8, 3)
    p.text(742, 94, "injection port", "b")
    p.text(714, 156, "noc.injection_depth", "p")
    p.line((793, 98), (793, 190), kind="k")
    p.text(793, 206, "a quarter full", "s")
    p.arrow((793, 214), (793, 236), (306, 236), (306, 204), (266, 204), kind="ad")
    p.text(540, 230, "queue full and this reached: fall asleep", "s")
    return p


# ---- load-store unit --------------------------------------------------------------------------------

Flit = tuple[str, str, float]  # class of the patch, label, width; no patch around an ellipsis, whose width is 0


def draw_packet_case(
    p: Picture, y: float, name: str, words: list[bool], flits: list[Flit], note: str, cycles: str
) -> None:
    """A RED: the words of a line that its lanes add to, the flits that leave, what they take."""
    p.left(16, y + 14, name, "b")
    p.left(16, y + 31, note, "s")
    for sector in range(4):
        p.rect(268 + sector * 62, y + 4, 60, 22, "queue", 2)
        for word in range(8):
            if words[sector * 8 + word]:
                p.rect(269.5 + sector * 62 + word * 7.3, y + 6, 6, 18, "c1", 1)
    x = 540.0
    for kind, label, width in flits:
        if width:
            p.rect(x, y + 4, width - 2, 22, kind, 2)
            p.text(x + width / 2 - 1, y + 19, label, "w")
        else:
            p.text(x + 10, y + 18, label, "s")
            width = 20
        x += width
    p.text(844, y + 19, cycles, "b", anchor="end")


def draw_packets() -> Picture:
    p = Picture(
        860,
        262,
        "How a RED leaves the load-store unit",
        "Four REDs of 32 lanes, the words of a line that they add " "to, and the flits that each becomes.",
    )
    for x, text, anchor in (
        (16, "RED of 32 lanes", "start"),
        (390, "line of 128 bytes, 4 sectors", "middle"),
        (540, "flits", "start"),
        (844, "flits in all", "end"),
    ):
        p.text(x, 22, text, "s", anchor=anchor)
    one = [index == 3 for index in range(32)]
    two = [index in (3, 4) for index in range(32)]
    four = [index % 8 == 2 for index in range(32)]
    lone = ("c3", "word", 40)
    head, sector = ("c4", "head", 40), ("c1", "sector", 46)
    draw_packet_case(
        p, 36, "all lanes on one word", one, [lone, lone, lone, ("", "...", 0), lone], "a lone word for each lane", "32"
    )
    draw_packet_case(
        p, 92, "32 words in a row", [True] * 32, [head, sector, sector, sector, sector], "one packet, four sectors", "5"
    )
    draw_packet_case(
        p,
        148,
        "16 lanes on each of 2 words",
        two,
        [head, sector, head, sector, ("", "...", 0)],
        "16 packets of one sector",
        "32",
    )
    draw_packet_case(
        p,
        204,
        "8 lanes on a word of each sector",
        four,
        [head, sector, sector, sector, sector, ("", "...", 0)],
        "8 packets of four sectors",
        "40",
    )
    return p


# ---- atomic buffers ---------------------------------------------------------------------------------


def draw_buffer() -> Picture:
    p = Picture(
        860,
        226,
        "An atomic buffer",
        "A transaction is looked up in the SRAM, then its lanes are added. Sums of a "
        "line that must go wait in the victim queue for the injection port.",
    )
    p.box(16, 40, 84, 56, "LSU")
    p.arrow((100, 68), (124, 68))
    p.queue(124, 54, 92, 28, 4, 3)
    p.text(170, 46, "buffer.queue_depth", "p")
    p.arrow((216, 68), (252, 68))
    p.group(252, 14, 400, 128, "", "group")
    p.box(272, 40, 120, 56, "look-up", "line, or oldest out")
    p.arrow((392, 68), (424, 68))
    p.box(424, 40, 110, 56, "adder", "lanes on a word")
    p.arrow((534, 68), (566, 68))
    p.box(566, 40, 72, 56, "SRAM", "sums")
    p.text(452, 128, "two stages: the next is looked up while one is added", "s")
    p.arrow((602, 96), (602, 108), (332, 108), (332, 96), kind="ad")
    p.arrow((332, 142), (332, 184), (424, 184))
    p.text(342, 162, "evicted sectors; at the end of the kernel all", "s", anchor="start")
    p.queue(424, 170, 184, 28, 8, 3)
    p.text(516, 216, "buffer.victims", "p")
    p.arrow((608, 184), (680, 184))
    p.text(644, 176, "1 a cycle", "x")
    p.box(680, 156, 164, 56, "injection port", "an operation a sector")
    return p


# ---- interconnect -----------------------------------------------------------------------------------


def draw_noc() -> Picture:
    p = Picture(
        860,
        268,
        "From injection ports to a port of the L2",
        "The heads of injection ports wait for a port of the L2. "
        "Its inputs take turns, and so do the SMs of each input. One is let in when there is room for all its "
        "flits.",
    )
    for index, label in enumerate(("SMs 0-35", "SMs 36-71", "SMs 72-107", "SMs 108-131")):
        y = 34 + index * 54
        p.left(16, y + 24, label, "b")
        for port in range(4):
            p.queue(120 + port * 54, y + 10, 44, 18, 4, (2, 4, 1, 3)[(port + index) % 4])
        p.line((334, y + 19), (366, y + 19))
        p.add(f'<circle class="queue" cx="378" cy="{y + 19}" r="12"/>')
        p.text(378, y + 23.5, str(index), "x")
        p.arrow((390, y + 19), (438, 128 + (index - 1.5) * 18))
    p.text(226, 22, "heads for this port", "s")
    p.text(378, 22, "inputs", "s")
    p.text(378, 262, "l2.input_sms", "p")
    p.rect(438, 88, 44, 80, "box")
    p.text(460, 132, "turns", "s")
    p.arrow((482, 128), (568, 128))
    p.text(524, 120, "noc.latency", "p")
    p.queue(568, 112, 172, 32, 12, 8)
    p.text(654, 100, "ingress, room in flits", "s")
    p.text(654, 164, "l2.ingress_flits", "p")
    p.arrow((740, 128), (772, 128))
    p.box(772, 98, 72, 60, "tags", "slices")
    p.arrow((808, 158), (808, 206), (460, 206), (460, 168), kind="ad")
    p.text(640, 224, "room comes back when the additions are done", "s")
    return p


# ---- L2 slice and ROPs ------------------------------------------------------------------------------


def draw_slice() -> Picture:
    p = Picture(
        860,
        268,
        "Beats at a ROP",
        "Beats of four SMs at one ROP over 16 cycles. A beat takes line_cycles for each "
        "sector. A beat on a sector that one before it added to begins sector_cycles after that one.",
    )
    left, scale = 130, 44
    beats = (
        (0, 0.0, 1, "A"),
        (1, 1.18, 1, "B"),
        (2, 3.49, 1, "A"),
        (3, 4.67, 4, "C-F"),
        (0, 9.39, 1, "B"),
        (1, 10.57, 1, "A"),
        (2, 14.06, 1, "A"),
    )
    for row in range(4):
        y = 26 + row * 40
        p.text(112, y + 18, f"SM {row}", "b", anchor="end")
        p.line((left, y + 32), (left + 16 * scale, y + 32), kind="g")
    for sm, begin, sectors, name in beats:
        width = 1.18 * sectors * scale
        kind = {"A": "c3", "B": "c1"}.get(name, "c2")
        p.rect(left + begin * scale, 30 + sm * 40, width - 1.5, 24, kind, 3)
        p.text(left + begin * scale + width / 2, 46 + sm * 40, name, "w")
    p.arrow((left, 124), (left + 3.49 * scale, 124), both=True)
    p.text(left + 1.7 * scale, 118, "sector_cycles", "p")
    p.line((left + 10.57 * scale, 94), (left + 10.57 * scale, 136), kind="g")
    p.arrow((left + 10.57 * scale, 124), (left + 14.06 * scale, 124), both=True)
    p.text(left + 12.3 * scale, 118, "sector_cycles", "p")
    p.arrow((left + 4.67 * scale, 190), (left + 9.39 * scale, 190), both=True)
    p.text(left + 7.03 * scale, 204, "4 line_cycles", "p")
    y = 218
    p.line((left, y), (left + 16 * scale, y), kind="l")
    for cycle in range(0, 17, 2):
        p.line((left + cycle * scale, y), (left + cycle * scale, y + 5))
        p.text(left + cycle * scale, y + 20, str(cycle), "x")
    p.text(112, y + 20, "SM cycle", "x", anchor="end")
    p.key(130, 260, [("c3", "sector A", 100), ("c1", "sector B", 100), ("c2", "four sectors of another line", 200)])
    return p


# ---- checks -----------------------------------------------------------------------------------------


def draw_checks() -> Picture:
    p = Picture(
        860,
        262,
        "Where every lane value goes",
        "Each lane value of the trace goes one of four ways and is added at "
        "a ROP once. The arrays at the end equal the sums taken from the trace.",
    )
    p.box(16, 92, 130, 64, "lane values", "of the trace", kind="queue")
    ways = (
        ("lanes_as_red", "lane by lane"),
        ("lanes_to_unit", "reduction unit"),
        ("lanes_to_buffer", "atomic buffer"),
        ("lanes_in_software", "shuffles"),
    )
    for index, (name, note) in enumerate(ways):
        y = 14 + index * 58
        kind = "unit" if index == 1 else "box"
        p.rect(236, y, 190, 46, kind)
        p.text(331, y + 20, note, "b")
        p.text(331, y + 37, name, "p")
        p.arrow((146, 124), (190, 124), (190, y + 23), (236, y + 23))
        p.arrow((426, y + 23), (484, y + 23), (484, 124), (520, 124))
        p.text(455, y + 17, "values" if index == 0 else "sums", "x")
    p.box(520, 92, 120, 64, "ROPs", "each once")
    p.arrow((640, 124), (690, 124))
    p.box(690, 92, 154, 64, "arrays", "at the end", kind="queue")
    p.box(690, 190, 154, 52, "reference sums", kind="box")
    p.arrow((767, 190), (767, 156), both=True)
    p.text(775, 178, "equal", "x", anchor="start")
    p.arrow((81, 156), (81, 250), (767, 250), (767, 242), kind="ad")
    return p


# ---- ahead and behind -------------------------------------------------------------------------------


def draw_ahead() -> Picture:
    p = Picture(
        860,
        236,
        "SMs ahead of the L2 and behind it",
        "The GPU is in one cycle. An SM whose port has room may be "
        "ahead of it, one whose port has plenty to send may be behind, others keep step.",
    )
    now, scale = 400, 0.085
    rows = (
        ("SM 0", "keeps step", 0, "c1", "a CTA may come or end"),
        ("SM 1", "ahead", 3300, "c2", "its port has room for all that it sends"),
        ("SM 2", "behind", -1500, "c4", "its port has plenty to send, no CTA can end"),
        ("L2, ports", "the GPU's cycle", 0, "c0", ""),
    )
    for row, (name, state, offset, kind, why) in enumerate(rows):
        y = 34 + row * 42
        p.text(88, y + 17, name, "b", anchor="end")
        width = now - 100 + offset * scale
        p.rect(100, y, width, 24, kind, 3)
        p.text(108, y + 16.5, f"{state}: {why}" if offset > 0 else state, "w", anchor="start")
        if why and offset <= 0:
            p.left(now + 12, y + 16.5, why, "s")
    p.line((now, 20), (now, 206), kind="k")
    p.text(now, 14, "now", "b")
    limit = now + 4096 * scale
    p.line((limit, 28), (limit, 66), kind="ad")
    p.line((limit, 110), (limit, 206), kind="ad")
    p.text(limit, 20, "next multiple of 4,096 cycles", "x")
    p.arrow((100, 206), (836, 206))
    p.text(468, 226, "cycles", "x")
    return p


# ---- host threads -----------------------------------------------------------------------------------


def draw_threads() -> Picture:
    p = Picture(
        860,
        182,
        "Partitions and halves of a cycle",
        "Two host threads, each with a partition. All blocks tick, then "
        "all channels change. No partition begins a half before all have ended the last one.",
    )
    lengths = (((150, 60), (120, 76)), ((110, 88), (150, 52)))
    for row in range(2):
        y = 40 + row * 58
        p.text(112, y + 16, f"thread {row}", "b", anchor="end")
        p.text(112, y + 31, "SMs, L2 ports", "x", anchor="end")
        for cycle in range(2):
            x = 124 + cycle * 330
            evaluate, update = lengths[row][cycle]
            p.rect(x, y, evaluate, 34, "c1", 3)
            p.text(x + evaluate / 2, y + 21, "blocks tick", "w")
            p.rect(x + 180, y, update + 40, 34, "c2", 3)
            p.text(x + 180 + (update + 40) / 2, y + 21, "channels", "w")
    for index, x in enumerate((124, 304, 454, 634, 784)):
        p.line((x - 4, 26), (x - 4, 140), kind="g" if index % 2 else "k")
    p.text(285, 20, "cycle t", "b")
    p.text(615, 20, "cycle t + 1", "b")
    p.text(454, 168, "at each line all threads have come so far; what crosses partitions is handed over there", "s")
    return p


PICTURES = {
    "dispatch": draw_dispatch,
    "issue": draw_issue,
    "queue": draw_queue,
    "packets": draw_packets,
    "buffer": draw_buffer,
    "noc": draw_noc,
    "slice": draw_slice,
    "checks": draw_checks,
    "ahead": draw_ahead,
    "threads": draw_threads,
}
