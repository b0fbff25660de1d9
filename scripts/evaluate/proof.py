# SPDX-License-Identifier: Apache-2.0
"""Proves the rules of the contract that are about ports, for a unit that Yosys can read."""

import re
import shlex
import shutil

from build import HERE, PORTS, WORD_PINS, first_error, parameter_list, port_bits, run

# What becomes of the sums' values is not a part of the proof: without the port, the arithmetic goes.
LEFT_OPEN = ("lsu_data_o",)
CLAIMS = 12  # assertions of the two files here


def write_unit(unit, names, work):
    """evaluated_unit: the unit with the parameters and ports that it has."""
    ports = [port for port in PORTS if port not in LEFT_OPEN]
    lines = [f"  {PORTS[port][0]} logic [{port_bits(unit, port) - 1}:0] {port}" for port in ports]
    pins = [f"    .{port}({port if port not in LEFT_OPEN else ''})" for port in PORTS if port in names]
    pins += [f"    .{port}({pin})" for port, pin in WORD_PINS.items() if port in names]
    path = work / "evaluated_unit.sv"
    path.write_text("module evaluated_unit (\n" + ",\n".join(lines) + "\n);\n\n"
                    f"  {unit.top} {parameter_list(unit)}u_unit (\n" + ",\n".join(pins) + "\n  );\n\nendmodule\n",
                    encoding="utf-8")
    return path


def build(unit, names, work):
    """The proof as SMT-LIB, or (None, why not)."""
    top = write_unit(unit, names, work)
    model = work / "proof.smt2"
    include = " ".join(f"-I{path}" for path in unit.include)
    values = {"Banks": unit.banks, "MostLanes": unit.read_lanes, "ReadTurn": unit.read_turn,
              "ZeroPayload": int(unit.payload == "zero")}
    script = work / "proof.ys"
    # Gates: z3 is faster with them than with words.
    # Yosys 0.23 forgets -noassert no more: ours come first.
    script.write_text(f"""read_verilog -sv -formal {HERE}/arc_contract_checker.sv {HERE}/evaluate_proof.sv
read_verilog -sv -noassert -DSYNTHESIS {include} {' '.join(map(str, unit.files))} {top}
hierarchy -check -top evaluate_proof {' '.join(f'-chparam {key} {value}' for key, value in values.items())}
prep -nordff -flatten -top evaluate_proof
async2sync
dffunmap
opt_clean -purge
check -assert
techmap
opt -fast
dfflegalize -cell $_DFF_P_ 01
abc -g AND
opt_clean
select -assert-min {CLAIMS} t:$assert
write_smt2 -wires {model}
""", encoding="utf-8")
    status, output = run(["yosys", "-q", "-s", script])
    return (model, "") if status == 0 else (None, first_error(output))


def solve(model, options, seconds):
    """(verdict, output): passed, failed, or open where the solver has not ended. Seconds of a processor, not of a clock."""
    command = shlex.join(map(str, ["yosys-smtbmc", "--unroll", "--noprogress", "-s", "z3", *options, model]))
    _, output = run(["bash", "-c", f"ulimit -t {seconds}; PYTHONUNBUFFERED=1 exec {command}"])
    if "Status: PASSED" in output:
        return "passed", output
    if re.search(r"Status: (FAILED|failed)", output):
        return "failed", output
    return "open" if "Checking" in output else "stopped", output


def claim(output):
    """Name of the assertion that failed."""
    match = re.search(r"Assert failed in [^:]*: (?:\S*\.)?(\w+)\s", output)
    return match.group(1) if match else "an assertion"


def bounded(model, depth, seconds, trace):
    """From reset, cycle by cycle; a solver that has not ended has shown those before."""
    verdict, output = solve(model, ["-t", depth + 1, "--dump-vcd", trace], seconds)
    steps = [int(step) for step in re.findall(r"Checking assertions in step (\d+)", output)]
    if verdict == "passed":
        return {"verdict": "proved", "cycles": depth}
    if verdict == "failed":
        return {"verdict": "failed", "claim": claim(output), "cycles": max(steps, default=0), "wave": str(trace)}
    if verdict == "open" and max(steps, default=0) > 1:
        return {"verdict": "proved", "cycles": max(steps) - 1, "limit_s": seconds}
    return {"verdict": "open", "why": f"no cycle in {seconds} s" if verdict == "open" else first_error(output)}


def prove(unit, names, work, options):
    """The step's result. options: depth, seconds, induction."""
    for tool, package in (("yosys", "yosys"), ("yosys-smtbmc", "yosys"), ("z3", "z3")):
        if not shutil.which(tool):
            return {"verdict": "open", "why": f"{tool} is not installed (Debian's package {package})"}
    model, why = build(unit, names, work)
    if model is None:
        return {"verdict": "open", "why": f"Yosys: {why}"}
    result = bounded(model, options["depth"], options["seconds"], work / "proof.vcd")
    if result["verdict"] == "proved" and options["induction"]:
        verdict, _ = solve(model, ["-i", "-t", options["depth"]], options["seconds"])
        result["induction"] = {"passed": "proved", "failed": "not inductive"}.get(verdict, "open")
    return result
