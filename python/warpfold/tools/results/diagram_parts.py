# SPDX-License-Identifier: Apache-2.0
"""What the diagrams are made of: boxes, arrows, queues and text in an SVG that a browser shows in its light or dark
colours. Text stays text; sizes are pixels at the picture's natural width."""

from collections.abc import Iterable
from xml.sax.saxutils import escape

from .plain_colours import light_of, with_plain_colours

Point = tuple[float, float]

STYLE = """\
svg{--ink:#1f2328;--soft:#57606a;--line:#6e7781;--edge:#afb8c1;--box:#f6f8fa;--group:none;
--unit:#fff1e0;--unit-edge:#c2570c;--queue:#e8f2ff;--queue-edge:#3b78c4;--fill:#4f8cd3;--red:#d1495b;--green:#3f8f5a;
--violet:#8a63d2;--amber:#b98310;--on:#ffffff}
@media (prefers-color-scheme:dark){svg{--ink:#e6edf3;--soft:#9da7b3;--line:#8b949e;--edge:#484f58;--box:#1c2128;
--unit:#3a2412;--unit-edge:#f0883e;--queue:#12263f;--queue-edge:#3a6cae;--fill:#5f9ae0;--red:#e5677a;--green:#57ab72;
--violet:#a98be8;--amber:#e0b44a;--on:#0d1117}}
text{font:13px system-ui,-apple-system,"Segoe UI",Roboto,"DejaVu Sans",sans-serif;fill:var(--ink)}
.s{font-size:12px;fill:var(--soft)}.x{font-size:11px;fill:var(--soft)}.b{font-weight:600}.h{font-size:14px;font-weight:600}
.p{font:11.5px ui-monospace,SFMono-Regular,Consolas,"DejaVu Sans Mono",monospace;fill:var(--soft)}
.w{font-size:11px;fill:var(--on);font-weight:600}
.box{fill:var(--box);stroke:var(--edge)}.unit{fill:var(--unit);stroke:var(--unit-edge);stroke-width:1.6}
.queue{fill:var(--queue);stroke:var(--queue-edge)}.cell{fill:none;stroke:var(--queue-edge)}
.full{fill:var(--fill);stroke:var(--queue-edge)}.group{fill:var(--group);stroke:var(--edge)}
.dash{fill:none;stroke:var(--edge);stroke-dasharray:5 4}.opt{fill:var(--box);stroke:var(--edge);stroke-dasharray:5 4}
.c1{fill:var(--fill)}.c2{fill:var(--green)}.c3{fill:var(--red)}.c4{fill:var(--violet)}.c5{fill:var(--amber)}
.c0{fill:var(--line)}.cu{fill:var(--unit-edge)}
.a,.au,.ad,.l{fill:none;stroke:var(--line);stroke-width:1.4}.au{stroke:var(--unit-edge)}.ad{stroke-dasharray:4 3}
.g{fill:none;stroke:var(--edge);stroke-width:1}.k{fill:none;stroke:var(--ink);stroke-width:1.2}
"""


def number(value: float) -> str:
    """12, 12.5: at most one decimal, no needless digits."""
    return f"{round(value, 1):g}"


class Picture:
    """SVG text in the order of drawing."""

    def __init__(self, width: int, height: int, title: str, description: str) -> None:
        self.width, self.height = width, height
        self.parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
            f'role="img" aria-labelledby="t d">',
            f'<title id="t">{escape(title)}</title><desc id="d">{escape(description)}</desc>',
            f"<style>{STYLE}</style>",
            "<defs>"
            + "".join(
                f'<marker id="{name}" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" '
                f'orient="auto-start-reverse"><path d="M0 0L8 4L0 8Z" style="fill:var(--{colour})"/></marker>'
                for name, colour in (("m", "line"), ("mu", "unit-edge"))
            )
            + "</defs>",
        ]

    def add(self, part: str) -> None:
        self.parts.append(part)

    def rect(self, x: float, y: float, width: float, height: float, kind: str = "box", radius: int = 5) -> None:
        self.add(
            f'<rect class="{kind}" x="{number(x)}" y="{number(y)}" width="{number(width)}" '
            f'height="{number(height)}" rx="{radius}"/>'
        )

    def text(self, x: float, y: float, text: str, kind: str = "", anchor: str = "middle", turned: bool = False) -> None:
        attributes = f' class="{kind}"' if kind else ""
        attributes += f' text-anchor="{anchor}"' if anchor != "start" else ""
        attributes += f' transform="rotate(-90 {number(x)} {number(y)})"' if turned else ""
        self.add(f'<text x="{number(x)}" y="{number(y)}"{attributes}>{escape(text)}</text>')

    def left(self, x: float, y: float, text: str, kind: str = "") -> None:
        self.text(x, y, text, kind, anchor="start")

    def box(self, x: float, y: float, width: float, height: float, label: str, *notes: str, kind: str = "box") -> None:
        """A box with a label and smaller lines below it, centred."""
        self.rect(x, y, width, height, kind)
        first = y + height / 2 + 4.5 - 8 * len(notes)
        self.text(x + width / 2, first, label, "b")
        for row, note in enumerate(notes, start=1):
            self.text(x + width / 2, first + 16 * row, note, "s")

    def group(self, x: float, y: float, width: float, height: float, label: str, kind: str = "group") -> None:
        """A frame around other boxes, labelled inside its top left corner."""
        self.rect(x, y, width, height, kind, 9)
        if label:
            self.left(x + 12, y + 20, label, "h")

    def arrow(self, *points: Point, kind: str = "a", both: bool = False) -> None:
        """Through these points, with a head at the last one."""
        head = "mu" if kind == "au" else "m"
        start = f' marker-start="url(#{head})"' if both else ""
        self.add(f'<path class="{kind}" d="{self.path(points)}" marker-end="url(#{head})"{start}/>')

    def line(self, *points: Point, kind: str = "l") -> None:
        self.add(f'<path class="{kind}" d="{self.path(points)}"/>')

    @staticmethod
    def path(points: Iterable[Point]) -> str:
        return "M" + "L".join(f"{number(x)} {number(y)}" for x, y in points)

    def queue(self, x: float, y: float, width: float, height: float, cells: int, filled: int) -> None:
        """A queue that moves to the right: its rightmost cells hold something."""
        self.rect(x, y, width, height, "queue", 3)
        step = width / cells
        if filled:
            self.rect(x + width - filled * step, y, filled * step, height, "full", 3)
        for cell in range(1, cells):
            self.line((x + cell * step, y), (x + cell * step, y + height), kind="cell")

    def key(self, x: float, y: float, entries: Iterable[tuple[str, str, float]]) -> None:
        """A legend in a row: [(class of the patch, text, width)]."""
        for kind, text, width in entries:
            self.rect(x, y - 10, 14, 12, kind, 2)
            self.left(x + 20, y, text, "s")
            x += width

    def svg(self) -> str:
        return with_plain_colours("\n".join([*self.parts, "</svg>", ""]), light_of(STYLE))
