# SPDX-License-Identifier: Apache-2.0
"""Colours that are CSS variables, once more as plain attributes: what shows a picture and knows no variables, such as a
converter to PDF, takes the attribute, which a rule of the style sheet comes before where variables are known (SVG 1.1,
section 6.4)."""

import re

RULE = re.compile(r"([^{}]+)\{([^{}]*)\}")
TAG = re.compile(r"<([a-z][\w-]*)((?:\s[^<>]*?)?)(/?)>")
PROPERTIES = ("fill", "stroke", "stop-color")


def declared(text: str) -> dict[str, str]:
    """Property -> value of declarations, the last of each."""
    pairs = (part.partition(":") for part in text.split(";") if ":" in part)
    return {name.strip(): value.strip() for name, _, value in pairs}


def light_of(style: str) -> dict[str, str]:
    """The variables of a style sheet that begins with the light scheme."""
    return dict(reversed(re.findall(r"--([\w-]+):([^;}]+)", style)))


def with_plain_colours(picture: str, light: dict[str, str]) -> str:
    """The picture with attributes; light: the colour of each variable where the reader has no dark scheme."""
    sheet = "".join(re.findall(r"<style[^>]*>(.*?)</style>", picture, re.DOTALL))
    sheet = re.sub(r"@media[^{]*\{(?:[^{}]*\{[^{}]*\})*[^{}]*\}", "", sheet)
    rules: dict[str, dict[str, str]] = {}
    for selectors, body in RULE.findall(sheet):
        for selector in selectors.split(","):
            rules.setdefault(selector.strip(), {}).update(declared(body))

    def attributes(match: re.Match[str]) -> str:
        name, given, end = match.groups()
        style: dict[str, str] = dict(rules.get(name, {}))
        if classes := re.search(r'\bclass="([^"]*)"', given):
            for each in classes.group(1).split():
                style |= rules.get(f".{each}", {})
        if inline := re.search(r'\bstyle="([^"]*)"', given):
            style |= declared(inline.group(1))
        more = ""
        for key in PROPERTIES:
            variable = re.fullmatch(r"var\(--([\w-]+)\)", style.get(key, ""))
            if variable and not re.search(rf'\s{key}="', given):
                more += f' {key}="{light[variable.group(1)]}"'
        return f"<{name}{given}{more}{end}>"

    return TAG.sub(attributes, picture)
