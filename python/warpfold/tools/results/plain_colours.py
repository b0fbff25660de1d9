# SPDX-License-Identifier: Apache-2.0
"""What a style sheet says of a picture, once more as plain attributes, its variables replaced by the light colours:
what shows a picture and reads no style sheet with variables, such as Inkscape or a converter to PDF, takes the
attributes, which a rule of the style sheet comes before elsewhere (SVG 1.1, section 6.4)."""

import re

RULE = re.compile(r"([^{}]+)\{([^{}]*)\}")
TAG = re.compile(r"<([a-z][\w-]*)((?:\s[^<>]*?)?)(/?)>")
VARIABLE = re.compile(r"var\(--([\w-]+)\)")
FONT = re.compile(r"(?:(?P<weight>\w+) )?(?P<size>[\d.]+px) .+")
PROPERTIES = ("fill", "stroke", "stop-color", "stroke-width", "stroke-dasharray")
USUAL = {"stroke": "none", "stroke-width": "1", "font-weight": "400", "text-anchor": "start"}
DRAWN = {"path", "rect", "circle", "ellipse", "line", "polyline", "polygon", "use", "text", "tspan", "g", "stop"}
OF_TEXT = ("text-anchor", "font-size", "font-weight")


def declared(text: str) -> dict[str, str]:
    """Property -> value of declarations, the last of each."""
    pairs = (part.partition(":") for part in text.split(";") if ":" in part)
    return {name.strip(): value.strip() for name, _, value in pairs}


def with_font(style: dict[str, str]) -> dict[str, str]:
    """With the parts of the property `font`, if it is there, as properties of their own."""
    found = FONT.fullmatch(style.get("font", ""))
    if not found:
        return style
    return {**style, "font-size": found["size"], "font-weight": found["weight"] or "400"}


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
        style: dict[str, str] = {**rules.get("*", {}), **rules.get(name, {})}
        if classes := re.search(r'\bclass="([^"]*)"', given):
            for each in classes.group(1).split():
                style |= with_font(rules.get(f".{each}", {}))
        if inline := re.search(r'\bstyle="([^"]*)"', given):
            style |= declared(inline.group(1))
        style = with_font(style)
        more = ""
        for key in PROPERTIES + (OF_TEXT if name in ("text", "tspan") else ()):
            value = VARIABLE.sub(lambda variable: light[variable.group(1)], style.get(key, ""))
            if value != USUAL.get(key, "") and value and name in DRAWN and not re.search(rf'\s{key}="', given):
                more += f' {key}="{value}"'
        return f"<{name}{given}{more}{end}>"

    picture = TAG.sub(attributes, picture)
    if family := re.search(r"font:(?:\w+ )?[\d.]+px ([^;}]+)", sheet):  # most texts have it
        plain = family.group(1).replace('"', "'")
        picture = picture.replace("<svg ", f'<svg font-family="{plain}" ', 1)
    return picture
