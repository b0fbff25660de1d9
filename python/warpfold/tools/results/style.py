# SPDX-License-Identifier: Apache-2.0
"""How pictures look: SVG that follows the reader's light or dark scheme, small, the same from the same numbers.

Pictures are drawn in colours that stand for names; the file has CSS variables in their place. Colours are Okabe and
Ito's, which the colour-blind can tell apart.
"""

import io
import re
from typing import Any

from ..base.modules import module, pyplot
from .plain_colours import with_plain_colours

plt = pyplot()
VERSION = module("matplotlib").__version__
# Name: (stand-in, light, dark).
COLORS = {
    "text": ("#010101", "#1f2328", "#e6edf3"),
    "muted": ("#010102", "#59636e", "#9198a1"),
    "grid": ("#010103", "#d1d9e0", "#3d444d"),
    "paper": ("#010104", "#ffffff", "#0d1117"),
    "blue": ("#010105", "#0072b2", "#58a6ff"),
    "sky": ("#010106", "#56b4e9", "#9ad5f7"),
    "orange": ("#010107", "#e69f00", "#f0b429"),
    "green": ("#010108", "#009e73", "#3fb950"),
    "red": ("#010109", "#d55e00", "#ff7b54"),
    "pink": ("#01010a", "#cc79a7", "#e29ac4"),
    "grey": ("#01010b", "#8c959f", "#7d8590"),
    "yellow": ("#01010c", "#d4b106", "#f2cc60"),
}
FONT = "system-ui, 'Segoe UI', 'DejaVu Sans', sans-serif"


def color(name: str) -> str:
    return COLORS[name][0]


plt.rcParams.update(
    {
        "svg.fonttype": "none",
        "svg.hashsalt": "warpfold",
        "font.size": 10,
        "axes.titlesize": 10.5,
        "axes.titleweight": "bold",
        "axes.titlelocation": "left",
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.grid": True,
        "axes.axisbelow": True,
        "figure.constrained_layout.use": True,
        "legend.frameon": False,
        "legend.fontsize": 9.5,
        "savefig.transparent": True,
        "grid.color": color("grid"),
        "grid.linewidth": 0.7,
        "text.color": color("text"),
        "axes.labelcolor": color("text"),
        "axes.edgecolor": color("muted"),
        "xtick.color": color("muted"),
        "ytick.color": color("muted"),
        "xtick.labelcolor": color("text"),
        "ytick.labelcolor": color("text"),
        "path.simplify_threshold": 0.5,
    }
)


def sheet(more: str) -> str:
    """The style element, light first."""

    def rules(index: int) -> str:
        return "".join(f"--{name}:{entry[index]};" for name, entry in COLORS.items())

    return f"<style>:root{{{rules(1)}}}@media(prefers-color-scheme:dark){{:root{{{rules(2)}}}}}{more}</style>"


def with_classes(text: str) -> tuple[str, str]:
    """(text, rules): styles that occur often as classes, names of things short, groups without a purpose gone."""
    counts: dict[str, int] = {}
    for style in re.findall(r' style="([^"]*)"', text):
        counts[style] = counts.get(style, 0) + 1
    often = [style for style, count in counts.items() if count > 2]
    names = {style: f"s{index}" for index, style in enumerate(often)}
    text = re.sub(
        r' style="([^"]*)"',
        lambda match: f' class="{names[match.group(1)]}"' if match.group(1) in names else match.group(0),
        text,
    )
    rules = "".join(f".{name}{{{style.replace('; ', ';').replace(': ', ':')}}}" for style, name in names.items())
    used = dict.fromkeys(re.findall(r'(?:href="#|url\(#)(\w+)', text))
    short = {name: f"i{index}" for index, name in enumerate(used)}
    text = re.sub(
        r' id="(\w+)"', lambda match: f' id="{short[match.group(1)]}"' if match.group(1) in short else "", text
    )
    text = re.sub(r'(href="#|url\(#)(\w+)', lambda match: match.group(1) + short[match.group(2)], text)
    for _ in range(6):
        text = re.sub(r"<g>\s*(<(?:use|path|text)\b(?:[^<>]*/>|[^<>]*>[^<>]*</text>))\s*</g>", r"\1", text)
    return text, rules


def to_text(figure: Any, title: str) -> str:
    """The file of a figure; `title` is what a screen reader says."""
    buffer = io.StringIO()
    figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None, "Format": None, "Type": None})
    plt.close(figure)
    text = buffer.getvalue()
    text = re.sub(r"<!DOCTYPE.*?>\s*", "", text, flags=re.S)
    text = re.sub(r"\s*<metadata>.*?</metadata>", "", text, flags=re.S)
    text = re.sub(r"<!--.*?-->\s*", "", text, flags=re.S)
    for name, (stand_in, *_) in COLORS.items():
        text = text.replace(stand_in, f"var(--{name})")
    text = re.sub(r"font: (\S+ )?([0-9.]+)px [^;\"]*", rf"font: \g<1>\2px {FONT}", text)
    # Two digits behind the point, no needless room.
    text = re.sub(r"(\d\.\d\d)\d+", r"\1", text)
    text = re.sub(
        r' d="([^"]*)"',
        lambda match: ' d="' + re.sub(r"(?<=[A-Z]) | (?=[A-Zz])", "", " ".join(match.group(1).split())) + '"',
        text,
    )
    text = re.sub(r"\n +(?=<)", "\n", text)
    text = re.sub(r' transform="rotate\(-0 [^"]*\)"', "", text)
    text, rules = with_classes(text)
    words = title.replace("&", "&amp;").replace("<", "&lt;")
    head = re.compile(r"(<svg\b[^>]*?)>", re.S)
    text = head.sub(
        lambda match: f'{match.group(1)} role="img" aria-label="{words}">\n<title>{words}</title>{sheet(rules)}',
        text,
        count=1,
    )
    text = with_plain_colours(text, {name: light for name, (_, light, _) in COLORS.items()})
    return text.replace(
        '<?xml version="1.0" encoding="utf-8" standalone="no"?>',
        f'<?xml version="1.0" encoding="utf-8"?>\n<!-- matplotlib {VERSION} -->',
    )
