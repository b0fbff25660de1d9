#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The diagrams in docs/pictures are those that python3 python diagrams draws, and can be read by everybody."""

import re
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree
from pathlib import Path

from warpfold.tools.results import diagram_parts, diagrams

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ("-B", ROOT / "python", "diagrams")

SVG = "{http://www.w3.org/2000/svg}"
SMALLEST = 11  # pixels
MOST_BYTES = 140_000


def font_sizes():
    """{class or "": pixels} of the style that all diagrams share."""
    sizes = {}
    for selector, body in re.findall(r"([^{}\s][^{}]*)\{([^{}]*)\}", diagram_parts.STYLE):
        size = re.search(r"font(?:-size)?:[^;]*?([\d.]+)px", body)
        if size and selector.startswith((".", "text")):
            sizes[selector.lstrip(".").replace("text", "")] = float(size.group(1))
    return sizes


class Diagrams(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.paths = diagrams.draw_all(self.folder)

    def test_those_of_the_pages_are_up_to_date(self):
        for path in self.paths:
            kept = ROOT / "docs/pictures" / path.name
            self.assertTrue(kept.is_file(), f"{kept.name} is missing")
            self.assertEqual(kept.read_text(encoding="utf-8"), path.read_text(encoding="utf-8"),
                             f"{kept.name}: run python3 python diagrams")

    def test_each_is_shown_in_a_page(self):
        pages = "".join(path.read_text(encoding="utf-8")
                        for path in [ROOT / "README.md", *ROOT.glob("docs/*.md"), *ROOT.glob("*/README.md")])
        for path in self.paths:
            if path.stem != "flow":  # README.md's, if it likes
                self.assertIn(f"pictures/{path.name})", pages)

    def test_text_lies_within_the_picture_and_is_large_enough(self):
        sizes = font_sizes()
        self.assertGreaterEqual(len(sizes), 5)
        self.assertGreaterEqual(min(sizes.values()), SMALLEST)
        for path in self.paths:
            root = ElementTree.parse(path).getroot()
            width, height = float(root.get("width")), float(root.get("height"))
            self.assertLessEqual(width, 860, path.name)
            texts = root.findall(f".//{SVG}text")
            self.assertGreater(len(texts), 5, path.name)
            for text in texts:
                if text.get("transform"):
                    continue
                size = sizes.get(text.get("class", ""), sizes[""])
                length = 0.62 * size * len(text.text)  # more than a sans-serif font takes
                x, anchor = float(text.get("x")), text.get("text-anchor", "start")
                left = x - {"start": 0, "middle": length / 2, "end": length}[anchor]
                said = f"{path.name}: '{text.text}'"
                self.assertGreaterEqual(left, -2, said)
                self.assertLessEqual(left + length, width + 12, said)
                self.assertLessEqual(float(text.get("y")), height - 2, said)

    def test_light_and_dark_have_the_same_colours(self):
        light, _, dark = diagram_parts.STYLE.partition("@media (prefers-color-scheme:dark)")
        dark = dark.partition("text{")[0]
        names = set(re.findall(r"var\((--[\w-]+)\)", diagram_parts.STYLE))
        for name in names - {"--group"}:
            self.assertIn(f"{name}:", light)
            self.assertIn(f"{name}:", dark)

    def test_colours_are_there_where_nothing_knows_variables(self):
        paths = [*(ROOT / "docs/pictures").glob("*.svg"), *(ROOT / "rtl/doc").glob("*.svg")]
        self.assertGreater(len(paths), 20)
        for path in paths:
            text = path.read_text(encoding="utf-8")
            sheet = "".join(re.findall(r"<style>(.*?)</style>", text, re.DOTALL))
            coloured = 0
            for selectors, body in re.findall(r"([^{}]+)\{([^{}]*)\}", sheet):
                for name, variable in re.findall(r"\b(fill|stroke):var\(--([\w-]+)\)", body):
                    for selector in selectors.strip().split(","):
                        tag = rf'<[^<>]*\bclass="{selector[1:]}"[^<>]*>' if selector[0] == "." else rf"<{selector}\b[^<>]*>"
                        for found in re.findall(tag, text):
                            self.assertRegex(found, rf'\s{name}="(#[0-9a-f]{{6}}|none)"', f"{path.name}: {selector}")
                            coloured += 1
            for found in re.findall(r'<[^<>]*style="[^"]*\bfill: ?var\(--[^"]*"[^<>]*>', text):
                self.assertRegex(found, r'\sfill="#[0-9a-f]{6}"', path.name)
            self.assertGreater(coloured, 20, path.name)

    def test_all_are_small_and_stand_alone(self):
        self.assertLessEqual(sum(path.stat().st_size for path in self.paths), MOST_BYTES)
        for path in self.paths:
            text = path.read_text(encoding="utf-8")
            self.assertNotRegex(text.replace('xmlns="http://www.w3.org/2000/svg"', ""), r"https?:|<script|<image|@import")
            self.assertIn("<title", text)

    def test_a_folder_that_is_not_there_is_bad_input(self):
        done = subprocess.run([sys.executable, "-B", *SCRIPT, self.folder / "none"], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 2)
        self.assertEqual(len(done.stderr.splitlines()), 1)


if __name__ == "__main__":
    unittest.main()
