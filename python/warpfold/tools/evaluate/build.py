# SPDX-License-Identifier: Apache-2.0
"""Elaborates a unit in three tools, and makes of it a shared object for the simulator."""

import codecs
import concurrent.futures
import hashlib
import os
import platform
import re
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

from ..base import processes
from ..base.errors import BadInput, ToolFailed
from ..base.places import SHIPPED
from .sources import Sources
from .unit import KEYS, SUFFIXES, Unit, fingerprint, usable


HERE = Path(__file__).resolve().parent
INCLUDE = Path("/usr/share/verilator/include")

# Ports of arc_subcore: direction, bits. rf_data_i has 32 bits for each bank.
PORTS = {
    "clk_i": ("input", 1),
    "rst_ni": ("input", 1),
    "req_valid_i": ("input", 1),
    "req_ready_o": ("output", 1),
    "req_mask_i": ("input", 32),
    "req_addr_i": ("input", 48 * 32),
    "req_tag_i": ("input", 12),
    "lsu_valid_o": ("output", 1),
    "lsu_room_i": ("input", 1),
    "lsu_addr_o": ("output", 48),
    "lsu_mask_o": ("output", 32),
    "lsu_reduced_o": ("output", 1),
    "lsu_data_o": ("output", 32),
    "lsu_tag_o": ("output", 12),
    "rf_valid_o": ("output", 1),
    "rf_ready_i": ("input", 1),
    "rf_mask_o": ("output", 32),
    "rf_tag_o": ("output", 12),
    "rf_data_i": ("input", 32),
    "rf_bin_i": ("input", 5 * 32),
    "busy_o": ("output", 1),
}
# Of requests of several words: their bits, and what stands at those that a unit of one word has.
WORD_PORTS = {
    "req_words_i": ("input", 4),
    "lsu_word_o": ("output", 4),
    "lsu_last_o": ("output", 1),
    "rf_word_o": ("output", 4),
}
WORD_PINS = {"req_words_i": "4'd0", "lsu_word_o": "", "lsu_last_o": "", "rf_word_o": ""}
REGISTERED = (
    "req_valid_i",
    "lsu_room_i",
    "rf_ready_i",
    "req_mask_i",
    "req_addr_i",
    "req_tag_i",
    "rf_data_i",
    "rf_bin_i",
)


# The ports for words of a unit that takes one alone.
ONE_WORD = """  assign lsu_word_o = 4'd0;
  assign lsu_last_o = lsu_valid_o;
  assign rf_word_o = 4'd0;
"""


def port_bits(unit: Unit, port: str) -> int:
    return int(32 * unit.banks) if port == "rf_data_i" else {**PORTS, **WORD_PORTS}[port][1]


# Of a tool that reads a unit: seconds, and bytes of its memory.
TOOL_SECONDS = 3600
TOOL_MEMORY = max(4 << 30, os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") * 3 // 4)


def run(command: Sequence[processes.Word], seconds: float = TOOL_SECONDS) -> tuple[int, str]:
    """(exit status, output) of a tool, in so many seconds at most."""
    done = processes.run_within(command, seconds, TOOL_MEMORY)
    return done.returncode, done.stdout


def first_error(output: str) -> str:
    """The line of a tool's output that says what is wrong."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    for pattern in (r"^%Error(-\w+)?: (?!Exiting)", r"ERROR: |syntax error", r"\berror\b", r"."):
        for line in lines:
            if re.search(pattern, line, re.IGNORECASE):
                return re.sub(r"^%Error(-\w+)?: |^ERROR: ", "", line)
    return "no message"


def verilator_options(unit: Unit) -> list[str]:
    return [
        "-sv",
        "-Wno-lint",
        "-Wno-style",
        "-Wno-fatal",
        "-DSYNTHESIS",
        "--reloop-limit",
        "64",
        *unit.options(),
    ]


def parameter_list(unit: Unit) -> str:
    return "#(" + ", ".join(parameter_values(unit)) + ") " if unit.parameters else ""


def parameter_values(unit: Unit) -> list[str]:
    return [f".{key}({value})" for key, value in unit.parameters.items()]


# What Verilator says of something that is not there.
NOT_THERE = re.compile(
    r"Cannot find|Can't find|not found|[Mm]issing package|Define or directive not defined|unexpected IDENTIFIER.*::"
)

# ------------------------------------------------------------------------------------------------
# Elaboration
# ------------------------------------------------------------------------------------------------


def port_names(unit: Unit, work: Path) -> dict[str, str]:
    """Name -> direction of the top's ports, by Verilator; what it cannot read is bad input."""
    xml = work / "ports.xml"
    status, output = run(
        [
            "verilator",
            "--xml-only",
            *verilator_options(unit),
            "--top-module",
            unit.top,
            *(f"-G{key}={value}" for key, value in unit.parameters.items()),
            "--Mdir",
            work,
            "--xml-output",
            xml,
            *unit.files,
        ]
    )
    if status != 0:
        if re.search(r"top-module '?\w+'? was not found", output):
            raise BadInput(f"no module {unit.top} in {unit.folder}; name it with --top")
        if match := re.search(r"Parameters from the command line were not found in the design: (.*)", output):
            raise BadInput(f"{unit.top} has no parameter {match.group(1).strip()}")
        if NOT_THERE.search(output):
            missing = Sources(unit.files, unit.include).missing({"SYNTHESIS", "VERILATOR", *unit.defines})
            if missing:
                raise BadInput(f"{unit.folder} does not have " + "; ".join(missing))
        raise BadInput(f"Verilator: {first_error(output)}")
    modules = ElementTree.parse(xml).getroot().iter("module")
    top = next((module for module in modules if module.get("topModule") == "1"), None)
    if top is None:
        raise BadInput(f"no module {unit.top} in {unit.folder}; name it with --top")
    return {var.attrib["name"]: var.attrib["dir"] for var in top.iter("var") if var.get("dir")}


def check_ports(unit: Unit, names: dict[str, str], work: Path) -> Path:
    """Every port of the contract is there, no input beside them, all as wide as they should be."""
    optional = {"rf_bin_i"} if not unit.exponent_bins else set()
    wanted = {**PORTS, **WORD_PORTS} if unit.words > 1 else PORTS
    missing = [port for port in wanted if port not in names and port not in optional]
    if missing:
        raise BadInput(f"{unit.top} has no port {', '.join(missing)} (rtl/README.md lists the ports)")
    for port, direction in names.items():
        if port not in PORTS and port not in WORD_PINS and direction != "output":
            raise BadInput(f"{unit.top} has the {direction} {port}, which is no port of the contract")
        if port in wanted and direction != wanted[port][0]:
            raise BadInput(f"{unit.top}: {port} is an {direction}, must be an {wanted[port][0]}")
    wrapper = write_wrapper(unit, names, work)
    _, output = run(
        [
            "verilator",
            "--lint-only",
            "-sv",
            "-Wno-fatal",
            "-Wall",
            "-DSYNTHESIS",
            "--reloop-limit",
            "64",
            *unit.options(),
            "--top-module",
            "evaluated_stepped",
            *unit.files,
            wrapper,
        ]
    )
    found = re.search(
        r"evaluated_stepped\.sv:\d+:\d+: (?:Input|Output) port connection '(\w+)' expects (\d+) bits", output
    )
    if found:
        raise BadInput(
            f"{unit.top}: {found.group(1)} has {found.group(2)} bits, must have " f"{port_bits(unit, found.group(1))}"
        )
    return wrapper


def write_wrapper(unit: Unit, names: dict[str, str], work: Path) -> Path:
    pins = [
        f"    .{port}({port.removesuffix('_i') + '_q' if port in REGISTERED else port})"
        for port in PORTS
        if port in names
    ]
    word_pins = {port: "req_words_q" if port == "req_words_i" else port for port in WORD_PORTS}
    pins += [
        f"    .{port}({pin})" for port, pin in (word_pins if unit.words > 1 else WORD_PINS).items() if port in names
    ]
    words = ONE_WORD if unit.words == 1 else ""
    text = (HERE / "evaluated_stepped.sv.in").read_text(encoding="utf-8")
    for key, value in (
        ("DATA", str(32 * unit.banks)),
        ("TOP", unit.top),
        ("PARAMETERS", parameter_list(unit)),
        ("WORDS", words),
        ("PINS", ",\n".join(pins)),
    ):
        text = text.replace(f"@{key}@", value)
    path = work / "evaluated_stepped.sv"
    path.write_text(text, encoding="utf-8")
    return path


def elaborate_yosys(unit: Unit, work: Path) -> tuple[int, str]:
    unit = usable(unit, work)
    chparam = " ".join(f"-chparam {key} {value}" for key, value in unit.parameters.items())
    script = work / "elaborate.ys"
    script.write_text(
        f"read_verilog -sv {' '.join(unit.options())} {' '.join(map(str, unit.files))}\n"
        f"hierarchy -check -top {unit.top} {chparam}\nproc\ncheck\n",
        encoding="utf-8",
    )
    return run(["yosys", "-q", "-e", "implicitly declared|Resizing cell port", "-s", script])


def without_marks(paths: list[Path], folder: Path) -> list[Path]:
    """The files, those with a byte order mark as copies without it, which Icarus does not know."""
    result = []
    for path in paths:
        data = path.read_bytes()
        if data.startswith(codecs.BOM_UTF8):
            folder.mkdir(parents=True, exist_ok=True)
            path = folder / path.name
            path.write_bytes(data.removeprefix(codecs.BOM_UTF8))
        result.append(path)
    return result


def elaborate_icarus(unit: Unit, work: Path) -> tuple[int, str]:
    folder = work / "icarus"
    shutil.rmtree(folder, ignore_errors=True)
    for index, path in enumerate(unit.include):
        headers = [file for file in sorted(path.iterdir()) if file.suffix in SUFFIXES and file.is_file()]
        without_marks(headers, folder / f"include{index}")
    include = [*sorted(folder.glob("include*")), *unit.include]
    return run(
        [
            "iverilog",
            "-g2012",
            "-t",
            "null",
            "-s",
            unit.top,
            *(f"-P{unit.top}.{key}={value}" for key, value in unit.parameters.items()),
            "-DSYNTHESIS",
            *replace(unit, include=include).options(),
            *without_marks(unit.files, folder / "files"),
        ]
    )


NOT_INSTALLED = "not installed"


def elaborate(unit: Unit, work: Path, names: dict[str, str]) -> tuple[dict[str, str], Path]:
    """Rows of the step, and the wrapper. Verilator has read the unit: nothing could be judged without."""
    wrapper = check_ports(unit, names, work)
    rows = {"Verilator": ""}
    for name, package, tool in (("Yosys", "yosys", elaborate_yosys), ("Icarus", "iverilog", elaborate_icarus)):
        if not shutil.which(package):
            rows[name] = f"{NOT_INSTALLED} (Debian's package {package})"
            continue
        status, output = tool(unit, work)
        rows[name] = "" if status == 0 else first_error(output)
    return rows, wrapper


# ------------------------------------------------------------------------------------------------
# Shared object
# ------------------------------------------------------------------------------------------------

ENTRY = """// Made by `warpfold evaluate`.
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

#include "Vevaluated.h"
#include "model/unit/unit_library.hpp"
#include "model/unit/verilated_unit.hpp"

namespace {{

constexpr warpfold::UnitDeclaration kDeclaration = {{
    "{name}",
    {{.operands = {operands}, .read_lanes = {banks}, .sees_exponents = {bins}, .max_words = {words},
      .cycles_to_rest = {cycles_to_rest}, .rest_period = {rest_period}}},
    {{.sum = warpfold::SumKind::{sum}, .flush_subnormals = {flush}, .window = {window},
      .most_lanes = {read_lanes}, .read_turn = {read_turn}, .zero_payload = {zero}}}}};

// Registers that the reset leaves alone begin with bits at random.
std::unique_ptr<VerilatedContext> context() {{
  auto made = warpfold::single_threaded_context();
  made->randReset(2);
  made->randSeed(1);
  return made;
}}

[[noreturn]] void end(const char* task, const char* file, int line, const char* message) {{
  const std::string_view path(file != nullptr ? file : "");
  throw std::runtime_error("the RTL ended the simulation: " + std::string(task) + ", " +
                           std::string(path.substr(path.rfind('/') + 1)) + ":" + std::to_string(line) +
                           (*message != 0 ? ": " : "") + message);
}}

}}  // namespace

// In the place of Verilator's own, which end the process.
void vl_finish(const char* file, int line, const char*) VL_MT_UNSAFE {{
  end("$finish", file, line, "");
}}
void vl_stop(const char* file, int line, const char*) VL_MT_UNSAFE {{
  end("$stop, $error or $fatal", file, line, "");
}}
void vl_fatal(const char* file, int line, const char*, const char* message) VL_MT_UNSAFE {{
  end("a fault", file, line, message);
}}

{traced}
WARPFOLD_UNIT_LIBRARY(kDeclaration, new {unit}(kDeclaration.ports, context()))
"""

# The unit with a wave of all its signals, in the file that WARPFOLD_INTERNALS names. Cycle N begins at N ns.
TRACED = """
#include <verilated_vcd_c.h>

namespace {

class Traced final : public warpfold::ArcUnit {
 public:
  Traced(const Ports& ports, std::unique_ptr<VerilatedContext> context)
      : unit_(ports, traced(std::move(context))), model_(unit_.model()) {
    model_.trace(&wave_, 99);
    wave_.set_time_unit("1ns");
    wave_.set_time_resolution("1ns");
    wave_.open(std::getenv("WARPFOLD_INTERNALS"));
  }
  void reset() override { unit_.reset(); }
  warpfold::UnitOutputs tick(const warpfold::UnitInputs& inputs) override {
    const warpfold::UnitOutputs out = unit_.tick(inputs);
    wave_.dump(cycle_++);
    wave_.flush();
    return out;
  }
  [[nodiscard]] Ports ports() const override { return unit_.ports(); }
  [[nodiscard]] bool busy() const override { return unit_.busy(); }

 private:
  static std::unique_ptr<VerilatedContext> traced(std::unique_ptr<VerilatedContext> context) {
    context->traceEverOn(true);
    return context;
  }

  warpfold::RtlUnit<Vevaluated> unit_;
  Vevaluated& model_;
  VerilatedVcdC wave_;  // ends first
  std::uint64_t cycle_ = 0;
};

}  // namespace
"""


def entry_text(unit: Unit, traced: bool) -> str:
    yes = {True: "true", False: "false"}
    return ENTRY.format(
        name=unit.name.replace("\\", "").replace('"', ""),
        operands=unit.operands,
        banks=unit.banks,
        bins=yes[unit.exponent_bins],
        words=unit.words,
        # A wave has every cycle.
        cycles_to_rest=KEYS["cycles_to_rest"][1] if traced else unit.cycles_to_rest,
        rest_period=unit.rest_period,
        sum={"chain": "kChain", "any-order": "kAnyOrder", "one-rounding": "kOneRounding"}[unit.sum],
        flush=yes[unit.subnormals == "flush"],
        window=unit.window,
        read_lanes=unit.read_lanes,
        read_turn=unit.read_turn,
        zero=yes[unit.payload == "zero"],
        traced=TRACED if traced else "",
        unit="Traced" if traced else "warpfold::RtlUnit<Vevaluated>",
    )


def headers() -> list[Path]:
    return [
        *sorted((SHIPPED / "model/base").glob("*.hpp")),
        *sorted((SHIPPED / "model/unit").glob("*.hpp")),
        SHIPPED / "model/types.hpp",
        Path(__file__).resolve(),
        HERE / "evaluated_stepped.sv.in",
    ]


COMPILER_OPTIONS = [
    "-std=c++20",
    "-O2",
    "-fPIC",
    "-w",
    "-ffp-contract=off",
    "-fvisibility=hidden",
    "-fno-finite-loops",  # a loop of the RTL that never ends is none that may be left out
    "-DVM_COVERAGE=0",
    "-DVM_SC=0",
    # The entry has its own.
    "-DVL_USER_FINISH",
    "-DVL_USER_STOP",
    "-DVL_USER_FATAL",
    # What the RTL prints is no output of ours.
    "-DVL_PRINTF(...)=std::fprintf(stderr, __VA_ARGS__)",
]


def compile_all(sources: list[Path], folder: Path, jobs: int, traced: bool) -> list[Path]:
    """Objects of C++ sources."""
    options = [
        *COMPILER_OPTIONS,
        f"-DVM_TRACE={int(traced)}",
        f"-I{SHIPPED}",
        f"-I{folder}",
        f"-I{INCLUDE}",
        f"-I{INCLUDE / 'vltstd'}",
    ]
    if platform.machine() == "x86_64":
        options.append("-march=x86-64-v2")  # the oldest that the simulator is built for
    compiler = [os.environ.get("CXX", "g++")]

    def compile_one(source: Path) -> Path:
        target = folder / (source.stem + ".o")
        status, output = run([*compiler, *options, "-c", source, "-o", target])
        if status != 0:
            raise ToolFailed(f"{compiler[0]} cannot compile {source.name}: {first_error(output)}")
        return target

    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        return list(pool.map(compile_one, sources))


def runtime(cache: Path, jobs: int, traced: bool) -> list[Path]:
    """Objects of Verilator's own sources, which are the same for every unit."""
    names = ["verilated", "verilated_threads", *(["verilated_vcd_c"] if traced else [])]
    sources = [INCLUDE / f"{name}.cpp" for name in names]
    made_of = b"".join(source.read_bytes() for source in sources) + " ".join([*COMPILER_OPTIONS, str(traced)]).encode()
    folder = cache / f"runtime-{hashlib.sha256(made_of).hexdigest()[:16]}"
    objects = [folder / f"{source.stem}.o" for source in sources]
    if not all(path.is_file() for path in objects):
        with tempfile.TemporaryDirectory(dir=cache) as temporary:
            made = compile_all(sources, Path(temporary), jobs, traced)
            folder.mkdir(exist_ok=True)
            for path in made:
                path.replace(folder / path.name)
    return objects


def shared_object(unit: Unit, wrapper: Path, cache: Path, jobs: int, traced: bool = False) -> Path:
    """The shared object of a unit, made anew where its sources have changed. traced: it writes a wave of all signals to
    the file that WARPFOLD_INTERNALS names."""
    folder = cache / (fingerprint(unit, wrapper, INCLUDE / "verilated_config.h", *headers()) + "-traced" * traced)
    library = folder / "unit.so"
    if library.is_file():
        return library
    folder.mkdir(parents=True, exist_ok=True)
    status, output = run(
        [
            "verilator",
            "--cc",
            *verilator_options(unit),
            "-O3",
            *(["--trace", "--trace-params"] if traced else []),
            "--x-assign",
            "fast",
            "--x-initial",
            "unique",
            "--top-module",
            "evaluated_stepped",
            "--prefix",
            "Vevaluated",
            "--Mdir",
            folder,
            *unit.files,
            wrapper,
        ]
    )
    if status != 0:
        raise BadInput(f"Verilator: {first_error(output)}")
    (folder / "entry.cpp").write_text(entry_text(unit, traced), encoding="utf-8")
    # As one source: each of them takes seconds to read the same headers, and hardly any for what is its own.
    parts = [*sorted(folder.glob("Vevaluated*.cpp")), folder / "entry.cpp"]
    (folder / "unit.cpp").write_text("".join(f'#include "{part.name}"\n' for part in parts), encoding="utf-8")
    objects = [*compile_all([folder / "unit.cpp"], folder, jobs, traced), *runtime(cache, jobs, traced)]
    unfinished = folder / "unit.so.part"
    try:
        status, output = run(
            [os.environ.get("CXX", "g++"), "-shared", "-Wl,-Bsymbolic", "-o", unfinished, *objects, "-lpthread"]
        )
        if status != 0:
            raise ToolFailed(f"cannot link {library}: {first_error(output)}")
        unfinished.replace(library)
    finally:
        unfinished.unlink(missing_ok=True)
    return library
