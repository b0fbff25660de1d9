# SPDX-License-Identifier: Apache-2.0
"""Probes, simulates what is missing, fills the pages and draws the pictures; or says what differs."""

import argparse
import json
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from ..base.errors import BadInput
from . import family, merging, pages, pictures, points, probe as probing, sources, store, today, values, verification

DONE, DIFFERS = 0, 1
COMMAND = "warpfold results"
NUMBERS, PICTURES = Path("docs/numbers"), Path("docs/pictures")
ADVICE = f"run {COMMAND}"


def say(lines: Iterable[str]) -> None:
    for line in lines:
        print(f"{COMMAND}: {line}", file=sys.stderr)


def report_absent(numbers: values.Numbers, absent: list[str]) -> int:
    """One line each on simulations and on numbers that are not there."""
    simulations = numbers.sims["missing"] if numbers.sims else "all"
    if simulations:
        say([f"{simulations} simulations are missing; {ADVICE}"])
        absent = absent or [f"{simulations} simulations"]
    elif absent:
        say([f"{len(absent)} numbers have no result yet, {absent[0]}; {ADVICE}"])
    return DIFFERS if absent else DONE


def render(root: Path) -> int:
    numbers = values.Numbers(root / NUMBERS)
    changed, problems, absent = pages.render(numbers, root)
    drawn, undrawn = pictures.draw(numbers, root / PICTURES)
    for path in [*changed, *drawn]:
        print(path.relative_to(root))
    say(problems)
    return DIFFERS if report_absent(numbers, absent + undrawn) or problems else DONE


def check(root: Path) -> int:
    problems = []
    for path in sorted((root / NUMBERS).glob("*.json")):
        try:
            store.read(path.stem, root / NUMBERS)
        except BadInput as error:
            problems.append(str(error))
    if problems:
        say(problems)
        return DIFFERS
    numbers = values.Numbers(root / NUMBERS)
    problems, absent = pages.check(numbers, root)
    different, undrawn, note = pictures.check(numbers, root / PICTURES)
    if note:
        print(f"{COMMAND}: pictures were not compared: {note}")
    say(problems + different)
    return DIFFERS if report_absent(numbers, absent + undrawn) or problems or different else DONE


def probe(cores: int) -> int:
    """Whether what the repository does now is what it did when the numbers were made."""
    kept = store.read("probe")
    if kept is None:
        say([f"results are stale: there is no docs/numbers/probe.json; {ADVICE}"])
        return DIFFERS
    now = probing.take(probing.simulator_path(), cores)
    lines = probing.differences(kept, now)
    of_transistors, why_not = probing.transistor_differences(kept["transistors"], now["transistors"])
    lines += of_transistors
    if why_not:
        print(f"{COMMAND}: transistors were not compared: {why_not}")
    if lines:
        more = f" (and {len(lines) - 1} more)" if len(lines) > 1 else ""
        say([f"results are stale: {lines[0]}{more}; {ADVICE}"])
        return DIFFERS
    print(
        f"results are fresh: {len(now['cycles'])} runs, {len(now['transistors']['tops']) if now['transistors'] else 0} "
        "modules and all machine parameters are as they were"
    )
    return DONE


def taken(cores: int, simulator: str) -> tuple[Mapping[str, Any], bool]:
    """The probe of now, written if it is another; and whether the transistors changed."""
    try:
        kept = store.read("probe")
    except BadInput:
        kept = None
    now = probing.take(simulator, cores)
    other_gates = True
    if kept:
        lines = probing.differences(kept, now)
        of_transistors, why_not = probing.transistor_differences(kept["transistors"], now["transistors"])
        other_gates = bool(of_transistors)
        if now["transistors"] is None:
            now["transistors"] = kept["transistors"]
        if lines:
            print(f"results are stale: {lines[0]}" + (f" (and {len(lines) - 1} more)" if len(lines) > 1 else ""))
        if not lines and not other_gates and (why_not or kept["transistors"] == now["transistors"]):
            return kept, False
    store.write("probe", store.source(f"{COMMAND} --probe"), now)
    return now, other_gates


def outdated(name: str, behaviour: str | None = None) -> bool:
    """Whether a file is not there, was changed by hand, or is of another behaviour."""
    try:
        document = store.read(name)
    except BadInput:
        return True
    return document is None or (behaviour is not None and document.get("behaviour") != behaviour)


def layouts_outdated() -> bool:
    """Whether a kind of unit that is laid out has no layout, or one of other gates."""
    if outdated("layout"):
        return True

    def transistors(name: str) -> dict[str, int]:
        document = store.read(name)
        return {row["top"]: row["transistors"] for row in document["rows"]} if document else {}

    gates, laid_out = transistors("synthesis"), transistors("layout")
    tops = [f"arc_reduction_{kind}" for kind in family.DATAPATHS]
    return any(top not in laid_out or laid_out[top] != gates[top] for top in tops)


def make(name: str, what: str, source: sources.Source, behaviour: str | None = None) -> None:
    """A file anew; one of a behaviour says which."""
    print(what, flush=True)
    command, data = source()
    store.write(name, store.source(command), {**({"behaviour": behaviour} if behaviour else {}), **data})


def make_all(options: argparse.Namespace) -> int:
    simulator, cores = probing.simulator_path(), options.cores
    print("probe", flush=True)
    now, other_gates = taken(cores, simulator)
    behaviour = probing.behaviour(now)
    command, data = sources.accuracy()
    points.write_if_new("accuracy", command, data, store.FOLDER)
    if other_gates or outdated("synthesis"):
        make("synthesis", "synthesis", sources.synthesis)
    if options.layout or layouts_outdated():
        make("layout", "layouts", sources.layouts)
    paths = store.read("asap7")
    if paths is None:
        raise store.Missing("docs/numbers/asap7.json")
    clocks = family.Clocks(paths)
    modelled: tuple[tuple[str, str, str, sources.Source], ...] = (
        ("replay", "microbenchmarks", behaviour.plain, lambda: sources.replay(simulator)),
        ("vector_replay", "microbenchmarks of vector REDs", behaviour.plain, lambda: sources.vector_replay(simulator)),
        ("slots", "slots of shared memory", behaviour.plain, lambda: sources.slots(simulator)),
        ("h100", "traces of an H100", behaviour.plain, lambda: sources.on_h100(simulator)),
        (today.NAME, "kernels of today", behaviour.every, lambda: sources.today(simulator, cores, clocks)),
        (merging.NAME, "merging", behaviour.every, lambda: sources.merged(simulator, cores, clocks)),
    )
    for name, what, of, source in modelled:
        if outdated(name, of):
            make(name, what, source, of)
    failed = points.update(behaviour, simulator, cores, clocks)
    if options.speed or outdated("speed"):  # last, when nothing else is at work
        make("speed", "speed", lambda: sources.speed(simulator))
    return max(render(store.ROOT), DIFFERS if failed else DONE)


def keys() -> int:
    numbers = values.Numbers()
    found = {
        match.group(2)
        for path in pages.documents()
        for match in pages.TAG.finditer(path.read_text(encoding="utf-8"))
        if match.group(1) == "n"
    }
    for key in sorted(found):
        try:
            print(key, numbers.value(key))
        except store.Missing:
            print(key, "-")
        except store.Unknown:
            print(key, "is no key")
    return DONE


def verified(folder: Path) -> int:
    """Brings in what checks printed, and renders."""
    where = store.source(f"{COMMAND} --verified DIR")
    found = verification.bring_in(
        folder, store.ours(verification.NAME), where["commit"], where["date"], verification.Sources()
    )
    store.write(verification.NAME, where, found)
    return render(store.ROOT)


def seal(name: str) -> int:
    path = store.FOLDER / f"{name}.json"
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        where = document.pop("source")
        missing = [word for word in ("commit", "host", "command", "date") if not where.get(word)]
    except (OSError, ValueError, KeyError, AttributeError) as error:
        raise BadInput(f"{path}: is no file of numbers ({error})") from error
    if missing:
        raise BadInput(f"{path}: its source names no {missing[0]}")
    store.write(name, where, {key: value for key, value in document.items() if key not in ("schema", "digest")})
    return DONE
