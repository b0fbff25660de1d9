# SPDX-License-Identifier: Apache-2.0
"""Proves the rules of the contract that are about ports, for a unit that Yosys can read. ABC decides; yosys-smtbmc only
makes waves of what ABC found."""

import re
import shutil
from pathlib import Path
from typing import Any

from ..synth import synth
from .build import (
    HERE,
    PORTS,
    WORD_PINS,
    first_error,
    parameter_list,
    port_bits,
    run,
)
from .unit import Unit, usable


# What becomes of the sums' values is not a part of the proof: without the port, the arithmetic goes.
LEFT_OPEN = ("lsu_data_o",)
CLAIMS = 12  # assertions of the two files here
TAG_BITS = 12
LANES = 32


def write_unit(unit: Unit, names: dict[str, str], work: Path) -> Path:
    """evaluated_unit: the unit with the parameters and ports that it has."""
    ports = [port for port in PORTS if port not in LEFT_OPEN]
    lines = [f"  {PORTS[port][0]} logic [{port_bits(unit, port) - 1}:0] {port}" for port in ports]
    pins = [f"    .{port}({port if port not in LEFT_OPEN else ''})" for port in PORTS if port in names]
    pins += [f"    .{port}({pin})" for port, pin in WORD_PINS.items() if port in names]
    path = work / "evaluated_unit.sv"
    path.write_text(
        "module evaluated_unit (\n" + ",\n".join(lines) + "\n);\n\n"
        f"  {unit.top} {parameter_list(unit)}u_unit (\n" + ",\n".join(pins) + "\n  );\n\nendmodule\n",
        encoding="utf-8",
    )
    return path


def gates(unit: Unit, names: dict[str, str], work: Path, tag_bits: int) -> str:
    """Yosys commands that leave the proof as AND gates and flops, for any lane and tags of so many bits. The names of
    all rules, and those of the ones that are left when the gates are made, go to files."""
    top = write_unit(unit, names, work)
    unit = usable(unit, work)
    here = synth.without_blanks(HERE, work)
    values = {
        "Banks": unit.banks,
        "MostLanes": unit.read_lanes,
        "ReadTurn": unit.read_turn,
        "ZeroPayload": int(unit.payload == "zero"),
        "TagBits": tag_bits,
    }
    # Yosys 0.23 forgets -noassert no more: ours come first.
    return f"""read_verilog -sv -formal {here}/arc_contract_checker.sv {here}/evaluate_proof.sv
read_verilog -sv -noassert -DSYNTHESIS {' '.join(unit.options())} {' '.join(map(str, unit.files))} {top}
hierarchy -check -top evaluate_proof {' '.join(f'-chparam {key} {value}' for key, value in values.items())}
proc
flatten
select -assert-count {CLAIMS} t:$assert
tee -q -o {work}/proof_all.txt select -list t:$assert
prep -nordff -flatten -top evaluate_proof
async2sync
dffunmap
opt_clean -purge
check -assert
delete t:$cover
techmap
opt -fast
dfflegalize -cell $_DFF_P_ 01
abc -g AND
opt_clean
"""


def models(path: Path) -> str:
    """Yosys commands that write the proof as AIGER. Its map and the same as SMT-LIB lie beside it, for waves."""
    return f"""tee -q -o {path.parent}/proof_left.txt select -list t:$assert
write_aiger -zinit -map {path.with_suffix('.aim')} {path}
write_smt2 -wires {path.with_suffix('.smt2')}
"""


def idle_rules(work: Path) -> list[str]:
    """Rules of which nothing was left when the gates were made: what they speak of cannot happen in the unit."""

    def names(file: str) -> set[str]:
        lines = (work / file).read_text(encoding="utf-8").split()
        return {line.rpartition("/")[2].rpartition(".")[2].removeprefix("\\") for line in lines}

    return sorted(names("proof_all.txt") - names("proof_left.txt"))


def run_yosys(commands: str, script: Path) -> str:
    """Why it failed; or an empty text."""
    script.write_text(commands, encoding="utf-8")
    status, output = run(["yosys", "-q", "-s", script])
    return "" if status == 0 else first_error(output)


def build(unit: Unit, names: dict[str, str], work: Path) -> tuple[Path | None, str]:
    """(the proof as AIGER, "") or (None, why not)."""
    model = work / "proof.aig"
    why = run_yosys(gates(unit, names, work, TAG_BITS) + models(model), work / "proof.ys")
    return (None, why) if why else (model, "")


def build_lane(any_lane: Path, lane: int) -> tuple[Path | None, str]:
    """The same, of the gates in a file, for one lane. They were made for any: to make them takes much longer."""
    model = any_lane.with_name("proof_lane.aig")
    why = run_yosys(
        f"""read_rtlil {any_lane}
select -assert-count 1 t:$anyconst r:WIDTH=5 %i
delete t:$anyconst r:WIDTH=5 %i
connect -set any_lane 5'd{lane}
opt_expr
opt_clean
"""
        + models(model),
        model.with_suffix(".ys"),
    )
    return (None, why) if why else (model, "")


def abc() -> str | None:
    """ABC by the name that it has here, or None."""
    return next(filter(shutil.which, ("yosys-abc", "berkeley-abc")), None)


def decide(model: Path, command: str, seconds: int) -> str:
    """Output of an ABC command on the model, seconds of a processor at most."""
    script = model.with_suffix(".abc")
    script.write_text(
        f"read_aiger {model}\nfold\nstrash\nscorr\n{command}\n" f"write_cex -a {model.with_suffix('.aiw')}\n",
        encoding="utf-8",
    )
    model.with_suffix(".aiw").unlink(missing_ok=True)
    # Seconds of a processor; where others have it, four times as many go by.
    _, output = run(["bash", "-c", f"ulimit -t {seconds + 10}; exec {abc()} -f {script}"], 4 * seconds + 60)
    return output


def failure(model: Path, output: str, trace: Path) -> dict[str, Any]:
    """The step's result where ABC has found a way to break a rule: which one, in which cycle, and as waves."""
    # Yosys 0.52 also writes how many registers have a value at reset, a line that its own yosys-smtbmc refuses.
    names = model.with_suffix(".aim")
    lines = names.read_text(encoding="utf-8").splitlines(keepends=True)
    names.write_text("".join(line for line in lines if not line.startswith("ninitff")), encoding="utf-8")
    _, shown = run(
        [
            "yosys-smtbmc",
            "--noprogress",
            "-s",
            "z3",
            "--aig-noheader",
            "--aig",
            f"{names}:{model.with_suffix('.aiw')}",
            "--dump-vcd",
            trace,
            model.with_suffix(".smt2"),
        ]
    )
    match = re.search(r"Assert failed in [^:]*: (?:\S*\.)?(\w+)\s", shown)
    cycle = re.search(r"asserted in frame (\d+)", output)
    return {
        "verdict": "failed",
        "claim": match.group(1) if match else "an assertion",
        "cycles": int(cycle.group(1)) if cycle else 0,
        "wave": str(trace),
    }


def bounded(model: Path, depth: int, seconds: int, trace: Path) -> dict[str, Any]:
    """From reset, cycle by cycle; what has not ended has shown the cycles before."""
    output = decide(model, f"bmc3 -v -F {depth + 1} -T {seconds}", seconds)
    if re.search(r"was asserted in frame", output):
        return failure(model, output, trace)
    frames = [int(frame) for frame in re.findall(r"^ *(\d+) [+-] : Var =", output, re.MULTILINE)]
    done = re.search(r"No output asserted in (\d+) frames", output)
    reached = int(done.group(1)) - 1 if done else max(frames, default=0) - 1
    if reached >= depth:
        return {"verdict": "bounded", "cycles": depth}
    if reached > 0:
        return {"verdict": "bounded", "cycles": reached, "limit_s": seconds}
    return {"verdict": "open", "why": f"no cycle in {seconds} s" if frames else first_error(output)}


def unbounded(unit: Unit, names: dict[str, str], work: Path, model: Path, seconds: int) -> dict[str, Any]:
    """For every number of cycles, by property-directed reachability: an invariant that ABC finds. Lane by lane and with
    tags of one bit that takes it some seconds each for the serial kind; with any lane and all tags, it finds none."""
    any_lane = work / "proof_any_lane.il"
    why = run_yosys(gates(unit, names, work, 1) + f"write_rtlil {any_lane}\n", work / "proof_any_lane.ys")
    if why:
        return {"verdict": "open", "why": f"Yosys: {why}"}
    for lane in range(LANES):
        one, why = build_lane(any_lane, lane)
        if one is None:
            return {"verdict": "open", "why": f"Yosys: {why}"}
        # Made for any lane, the gates are many for one: rewritten, all lanes are proved; as they are, some take minutes.
        output = decide(one, f"dc2\nscorr\npdr -T {seconds // 3}", seconds // 3)
        if re.search(r"was asserted in frame", output):
            return failure(one, output, work / "proof.vcd")
        if "Property proved" not in output:
            return {"verdict": "open", "why": f"lane {lane} in {seconds // 3} s; {some_rules(model, seconds)}"}
    return {"verdict": "proved"}


def some_rules(model: Path, seconds: int) -> str:
    """How many rules hold for every number of cycles, each alone, for any lane and all tags."""
    output = decide(model, f"pdr -a -H {1000 * seconds // CLAIMS} -T {seconds}", seconds)
    found = re.search(r"All = (\d+)\. Proved = (\d+)\.", output)
    return f"{found.group(2)} of {found.group(1)} rules proved" if found else "no rule proved"


def prove(unit: Unit, names: dict[str, str], work: Path, options: dict[str, Any]) -> dict[str, Any]:
    """The step's result. options: depth, seconds, induction."""
    for tool, package in (("yosys", "yosys"), ("yosys-smtbmc", "yosys"), ("z3", "z3")):
        if not shutil.which(tool):
            return {"verdict": "open", "why": f"{tool} is not installed (Debian's package {package})"}
    if abc() is None:
        return {"verdict": "open", "why": "ABC is not installed (Debian's package berkeley-abc)"}
    model, why = build(unit, names, work)
    if model is None:
        return {"verdict": "none", "why": f"Yosys: {why}"}
    idle = idle_rules(work)
    if len(idle) == CLAIMS:
        return {"verdict": "none", "why": "no rule is left to prove: the unit does nothing"}
    result = bounded(model, options["depth"], options["seconds"], work / "proof.vcd")
    if result["verdict"] == "bounded":
        result["idle"] = idle
        if options["induction"]:
            induction = unbounded(unit, names, work, model, options["seconds"])
            if induction["verdict"] == "failed":
                return induction
            if induction["verdict"] == "proved":
                result["verdict"] = "proved"
            result["induction"] = induction["verdict"]
            if "why" in induction:
                result["open"] = induction["why"]
    return result
