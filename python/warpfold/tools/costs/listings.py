# SPDX-License-Identifier: Apache-2.0
"""A folder with the disassembly of a program: a listing for each architecture, registers, the compiler."""

from collections.abc import Iterator
import os
import re

from ..base import files
from ..base.files import read_text
from ..base.processes import output
from .instructions import Instruction, SassError, parse_registers, parse_sass


def write_listings(program: str, folder: str) -> list[str]:
    """Architectures that `program`, or cubin, has machine code for."""
    sass = output(["cuobjdump", "-sass", program])
    resources = output(["cuobjdump", "-res-usage", program])
    by_arch: dict[str, list[str]] = {}
    arch = None
    for line in sass.splitlines(keepends=True):
        found = re.match(r"\s*code for (sm_\d+)", line)
        if found:
            arch = found.group(1)
        if arch:
            by_arch.setdefault(arch, []).append(line)
    if not by_arch:
        raise SassError(f"{program}: holds no machine code")
    if not re.search(r"^\s*arch = ", resources, re.MULTILINE):  # of a cubin, which is for one architecture
        resources = f"arch = {next(iter(by_arch))}\n{resources}"
    os.makedirs(folder, exist_ok=True)
    for arch, lines in by_arch.items():
        files.write(os.path.join(folder, f"{arch}.sass"), "".join(lines))
    files.write(os.path.join(folder, "resources.txt"), resources)
    version = re.findall(r"release [^\n]*", output(["cuobjdump", "--version"]))
    files.write(os.path.join(folder, "compiler.txt"), (version[-1] if version else "unknown") + "\n")
    return sorted(by_arch)


class Listings:
    """What write_listings() has left in a folder."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.files = (
            sorted(f for f in os.listdir(folder) if re.fullmatch(r"sm_\d+\.sass", f)) if os.path.isdir(folder) else []
        )
        if not self.files:
            raise SassError(f"{folder}: holds no sm_*.sass; make them with dump")
        self._registers = parse_registers(read_text(os.path.join(folder, "resources.txt")))
        compiler = os.path.join(folder, "compiler.txt")
        self.compiler = read_text(compiler).strip() if os.path.exists(compiler) else "unknown"

    def architectures(self) -> Iterator[tuple[str, dict[str, list[Instruction]]]]:
        """(name, {function: instructions}) of each."""
        for file in self.files:
            yield file.removesuffix(".sass"), parse_sass(read_text(os.path.join(self.folder, file)))

    def function(self, arch: str, functions: dict[str, list[Instruction]], name: str) -> list[Instruction]:
        if name not in functions:
            raise SassError(f"{arch}.sass: has no {name}; kernel-code reads kernels of any name")
        return functions[name]

    def registers(self, arch: str, name: str) -> int:
        count = self._registers.get(arch, {}).get(name)
        if count is None:
            raise SassError(f"{self.folder}/resources.txt: has no registers of {name} for {arch}")
        return count
