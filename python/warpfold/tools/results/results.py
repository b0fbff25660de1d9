# SPDX-License-Identifier: Apache-2.0
"""Probes, simulates what is missing, fills the pages and draws the pictures; or says what differs."""

import argparse
import json
import sys
from pathlib import Path

from ..base.errors import BadInput
from . import merging, pages, pictures, points, probe as probing, sources, store, today, values

DONE, DIFFERS = 0, 1
COMMAND = "warpfold results"
NUMBERS, PICTURES = Path("docs/numbers"), Path("docs/pictures")
ADVICE = f"run {COMMAND}"


def say(lines):
    for line in lines:
        print(f"{COMMAND}: {line}", file=sys.stderr)


def report_absent(numbers, absent):
    """One line each on simulations and on numbers that are not there."""
    simulations = numbers.sims["missing"] if numbers.sims else "all"
    if simulations:
        say([f"{simulations} simulations are missing; {ADVICE}"])
        absent = absent or [f"{simulations} simulations"]
    elif absent:
        say([f"{len(absent)} numbers have no result yet, {absent[0]}; {ADVICE}"])
    return DIFFERS if absent else DONE


def render(root):
    numbers = values.Numbers(root / NUMBERS)
    changed, problems, absent = pages.render(numbers, root)
    drawn, undrawn = pictures.draw(numbers, root / PICTURES)
    for path in [*changed, *drawn]:
        print(path.relative_to(root))
    say(problems)
    return DIFFERS if report_absent(numbers, absent + undrawn) or problems else DONE


def check(root):
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


def probe(cores):
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


def taken(cores, simulator):
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


def outdated(name, behaviour=None):
    """Whether a file is not there, was changed by hand, or is of another behaviour."""
    try:
        document = store.read(name)
    except BadInput:
        return True
    return document is None or (behaviour is not None and document.get("behaviour") != behaviour)


def layouts_outdated():
    """Whether a kind of unit that is laid out has no layout, or one of other gates."""
    if outdated("layout"):
        return True
    gates = {row["top"]: row["transistors"] for row in store.read("synthesis")["rows"]}
    laid_out = {row["top"]: row["transistors"] for row in store.read("layout")["rows"]}
    tops = [f"arc_reduction_{kind}" for kind in values.LAID_OUT]
    return any(top not in laid_out or laid_out[top] != gates[top] for top in tops)


def make_all(options: argparse.Namespace) -> int:
    simulator = probing.simulator_path()
    print("probe", flush=True)
    now, other_gates = taken(options.cores, simulator)
    behaviour = probing.behaviour(now)
    command, data = sources.accuracy()
    points.write_if_new("accuracy", command, data, store.FOLDER)
    if other_gates or outdated("synthesis"):
        print("synthesis", flush=True)
        command, data = sources.synthesis()
        store.write("synthesis", store.source(command), data)
    if options.layout or layouts_outdated():
        print("layouts", flush=True)
        command, data = sources.layouts()
        store.write("layout", store.source(command), data)
    if outdated("replay", behaviour):
        print("microbenchmarks", flush=True)
        command, data = sources.replay(simulator)
        store.write("replay", store.source(command), {"behaviour": behaviour, **data})
    if outdated("vector_replay", behaviour):
        print("microbenchmarks of vector REDs", flush=True)
        command, data = sources.vector_replay(simulator)
        store.write("vector_replay", store.source(command), {"behaviour": behaviour, **data})
    if outdated("slots", behaviour):
        print("slots of shared memory", flush=True)
        command, data = sources.slots(simulator)
        store.write("slots", store.source(command), {"behaviour": behaviour, **data})
    if outdated(today.NAME, behaviour):
        print("kernels of today", flush=True)
        command, data = sources.today(simulator, options.cores)
        store.write(today.NAME, store.source(command), {"behaviour": behaviour, **data})
    if outdated(merging.NAME, behaviour):
        print("merging", flush=True)
        command, data = sources.merged(simulator, options.cores)
        store.write(merging.NAME, store.source(command), {"behaviour": behaviour, **data})
    if outdated("h100", behaviour):
        print("traces of an H100", flush=True)
        command, data = sources.on_h100(simulator)
        store.write("h100", store.source(command), {"behaviour": behaviour, **data})
    failed = points.update(behaviour, simulator, options.cores)
    if options.speed or outdated("speed"):  # last, when nothing else is at work
        print("speed", flush=True)
        command, data = sources.speed(simulator)
        store.write("speed", store.source(command), data)
    return max(render(store.ROOT), DIFFERS if failed else DONE)


def keys():
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
        except values.Missing:
            print(key, "-")
        except values.Unknown:
            print(key, "is no key")
    return DONE


def seal(name):
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
