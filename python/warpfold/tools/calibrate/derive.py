# SPDX-License-Identifier: Apache-2.0
"""Applies the rules to a measurement: a value for every parameter, where it comes from and how well it is known."""

import dataclasses
from collections.abc import Sequence
from typing import Any

from .machine_file import Base
from .measurement import Measurement, Missing
from .rules import BY_CODE, NOT_MEASURED, RULES, Rule, Undecided
from .slices import Readings, SoFar, partner_in_piece


WELL, FAIR = 0.02, 0.10


@dataclasses.dataclass
class Value:
    parameter: str
    value: Any
    source: str  # measured, recorded, device, base, undetermined
    comment: str  # of the machine file
    readings: Readings = dataclasses.field(default_factory=dict)
    known_to: float | None = None  # relative; None: nothing says
    misfit: str = ""

    @property
    def determined(self) -> str:
        if self.source in ("base", "undetermined"):
            return "not"
        if self.source == "device":
            return "exact"
        if self.known_to is None:
            return "recorded" if self.source == "recorded" else "one figure"
        return "well" if self.known_to <= WELL else "fair" if self.known_to <= FAIR else "poorly"


# How well a parameter can be determined, best first.
WORDS = ("exact", "well", "fair", "poorly", "recorded", "one figure", "not")


def told(readings: Readings, most: int = 99) -> str:
    """Each reading, or how many there are and their range."""
    if len(readings) > most:
        return f"{len(readings)} readings, {min(readings.values()):.4g} to {max(readings.values()):.4g}"
    return "; ".join(f"{label}: {value:.4g}" for label, value in readings.items())


def cases_text(cases: Sequence[str]) -> str:
    return cases[0] + (f" +{len(cases) - 1}" if len(cases) > 1 else "")


def apart(readings: Readings) -> float:
    """Range of the readings over their mean."""
    values = list(readings.values())
    mean = sum(values) / len(values)
    return (max(values) - min(values)) / abs(mean) if mean else 0.0


def by_rule(rule: Rule, measured: Measurement, so_far: SoFar) -> Value:
    readings = rule.read(measured, so_far, rule.cases)
    value: Any = rule.rounding(rule.choose(list(readings.values())))
    if rule.parameter == "sm.issue_order":
        value = "lrr" if value else "gto"
    if rule.source == "device":
        source = "CUDA guide" if rule.how == BY_CODE else "measured"
        return Value(rule.parameter, value, "device", f"{source}: {rule.how}", readings)
    range_ = apart(readings)
    launches = measured.launches_apart(rule.cases)
    known_to = None if launches is None and len(readings) == 1 else max(range_ / 2, (launches or 0) / 2)
    cases = [label for label in readings if label in measured.cases] or rule.cases
    result = Value(rule.parameter, value, "measured", f"measured: {cases_text(cases)}: {rule.how}", readings, known_to)
    if range_ > rule.apart:
        result.misfit = f"readings lie {range_:.0%} apart: {told(readings)}"
    return result


def taken_over(parameter: str, base: Base, base_name: str, why: str) -> Value:
    return Value(
        parameter,
        base.values[parameter],
        "undetermined" if why else "base",
        (
            f"estimate, as {base_name}, undetermined: {why}"
            if why
            else f"as {base_name}: {base.comments.get(parameter, '')}".rstrip(": ")
        ),
    )


def derive(measured: Measurement, base: Base, base_name: str) -> tuple[dict[str, Value], list[str]]:
    """({parameter: Value}, notes) of all parameters of the base machine. Missing names every absent case at once."""
    absent, so_far, values = [], {"sm.subcores": base.values["sm.subcores"]}, {}
    for rule in RULES:
        given = measured.given.get(rule.parameter)
        try:
            if given:
                values[rule.parameter] = Value(rule.parameter, given["value"], "recorded", f"recorded: {given['why']}")
            else:
                values[rule.parameter] = by_rule(rule, measured, so_far)
        except Undecided as reason:
            values[rule.parameter] = taken_over(rule.parameter, base, base_name, str(reason))
        except Missing as missing:
            absent += [name for name in missing.names if name not in absent]
            values[rule.parameter] = taken_over(rule.parameter, base, base_name, "missing")
        so_far[rule.parameter] = values[rule.parameter].value
    if absent:
        raise Missing(absent)
    for parameter in base.values:
        if parameter not in values:
            if parameter not in NOT_MEASURED and parameter.split(".")[0] not in NOT_MEASURED:
                raise Missing([f"a rule for {parameter}"])
            values[parameter] = taken_over(parameter, base, base_name, "")
    note = partner_in_piece(measured, so_far)
    return values, [note] if note else []
