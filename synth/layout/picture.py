# SPDX-License-Identifier: Apache-2.0
"""Draws a GDS file as PNG, in klayout: klayout -z -rd gds=FILE -rd out=FILE -rd width=PIXELS -r picture.py"""

import os
import tempfile

import pya

# GDS layer of each metal in magic's osu018 technology, and its colour, from the lowest up.
METALS = [(49, "#c3cddc"), (51, "#e0803c"), (62, "#3f7fbf"), (31, "#8a4fb0"), (33, "#2f9a5f"), (37, "#303030")]
LAYER = (
    "<properties><frame-color>{colour}</frame-color><fill-color>{colour}</fill-color><dither-pattern>I0"
    "</dither-pattern><visible>true</visible><valid>true</valid><source>{layer}/0@1</source></properties>"
)


def layer_file() -> str:
    """Without a window klayout takes colours from a file alone."""
    handle, path = tempfile.mkstemp(suffix=".lyp")
    with os.fdopen(handle, "w", encoding="ascii") as file:
        file.write(
            "<layer-properties>"
            + "".join(LAYER.format(layer=layer, colour=colour) for layer, colour in METALS)
            + "</layer-properties>"
        )
    return path


view = pya.LayoutView()
for option, value in (
    ("background-color", "#ffffff"),
    ("grid-visible", "false"),
    ("text-visible", "false"),
    ("cell-box-visible", "false"),
):
    view.set_config(option, value)
view.load_layout(gds, False)  # noqa: F821, names from -rd
layers = layer_file()
view.load_layer_props(layers)
os.unlink(layers)
view.max_hier()
box = view.active_cellview().cell.dbbox()
view.save_image_with_options(
    out, int(width), max(1, round(int(width) * box.height() / box.width())), 0, 1, 0, box, False  # noqa: F821
)
