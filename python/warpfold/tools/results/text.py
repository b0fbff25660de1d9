# SPDX-License-Identifier: Apache-2.0
"""How pages write numbers and tables."""

from collections.abc import Sequence

# Head and rows.
Table = tuple[list[str], list[list[str]]]


def whole(value: float) -> str:
    return f"{value:,.0f}"


def two(value: float) -> str:
    return f"{value:.2f}"


def percent(value: float, digits: int = 1) -> str:
    return f"{100 * value:.{digits}f} %"


def error(modelled: float, measured: float) -> str:
    """Of the model: "+2.5 %"."""
    return f"{100 * (modelled / measured - 1):+.1f} %"


def markdown(head: Sequence[str], rows: Sequence[Sequence[str]], numbers_from: int = 1) -> str:
    """Columns from `numbers_from` on are set to the right."""
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * numbers_from + "---:|" * (len(head) - numbers_from)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])
