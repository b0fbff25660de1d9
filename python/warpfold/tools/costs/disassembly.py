# SPDX-License-Identifier: Apache-2.0
"""One kernel's machine code, from a cubin by CUDA's tools or from a text of theirs that was saved."""

import gzip
import hashlib
import json
import os
import re
import shutil
import subprocess
import tempfile

from ..base.files import read_text
from .instructions import Instruction, SassError, parse_sass


# Of sm_90a and the like the number counts: no other code is for these machines.
ARCH = re.compile(r"^\s*(?:code for |\.target\s+)(sm_\d+)[a-z]*", re.MULTILINE)
FLAGS = re.compile(r"EF_CUDA_SM(\d+)")
SECTION = re.compile(r"^\.text\.(\S+):$")
LABEL = re.compile(r"^(\.L_x_\d+|\$\S+):$")
ADDRESS = re.compile(r"^\s*/\*([0-9a-f]{4,})\*/")
TARGETS = re.compile(r'\(\*"BRANCH_TARGETS ([^"]*)"\*\)')
REFERENCE = re.compile(r"(?:32@(?:lo|hi)\(\([^()]*\+ (\.L_x_\d+)@srel\)\)|`\(([^()]+)\))")


class Kernel:
    """Instructions of one function, its architecture, and the targets of jump tables by the address of the jump."""

    def __init__(self, arch: str, instructions: list[Instruction], tables: dict[int, list[int]]) -> None:
        self.arch = arch
        self.instructions = instructions
        self.tables = tables


def is_nvdisasm(text: str) -> bool:
    return re.search(r"^\.text\.\S+:$", text, re.MULTILINE) is not None


def section_of(text: str, name: str) -> tuple[list[str], dict[str, int]]:
    """Lines of a function in nvdisasm's text, and the addresses of its labels."""
    lines = []
    labels = {}
    waiting = []
    inside = False
    for line in text.splitlines():
        found = SECTION.match(line)
        if found or line.startswith("//-----"):
            inside = found is not None and found.group(1) == name
            continue
        if not inside:
            continue
        found = LABEL.match(line)
        if found:
            waiting.append(found.group(1))
            continue
        found = ADDRESS.match(line)
        if found:
            labels.update(dict.fromkeys(waiting, int(found.group(1), 16)))
            waiting = []
        lines.append(line)
    return lines, labels


def jump_tables(lines: list[str], labels: dict[str, int]) -> dict[int, list[int]]:
    tables = {}
    for line in lines:
        found = TARGETS.search(line)
        if found:
            names = [n.strip() for n in found.group(1).split(",")]
            if any(n not in labels for n in names):
                continue
            address = ADDRESS.match(line)
            if address:
                tables[int(address.group(1), 16)] = sorted({labels[n] for n in names})
    return tables


def from_nvdisasm(text: str, name: str) -> tuple[str, dict[int, list[int]]]:
    """The function as cuobjdump would print it, with addresses in place of labels, and its jump tables."""
    lines, labels = section_of(text, name)

    def address(found: re.Match[str]) -> str:
        label = found.group(1) or found.group(2)
        return f"0x{labels[label]:x}" if label in labels else found.group(0)

    plain = [re.sub(r'\s*\(\*"[^"]*"\*\)', " ", REFERENCE.sub(address, line)) for line in lines]
    return f"Function : {name}\n" + "\n".join(plain), jump_tables(lines, labels)


def by_architecture(text: str) -> dict[str, str]:
    """cuobjdump's text of a file -> {architecture: its part}."""
    starts = [(m.start(), m.group(1)) for m in ARCH.finditer(text)]
    if not starts:
        found = FLAGS.search(text)
        return {f"sm_{found.group(1)}" if found else "unknown": text}
    parts: dict[str, str] = {}
    for (start, arch), (end, _) in zip(starts, starts[1:] + [(len(text), None)]):
        parts[arch] = parts.get(arch, "") + text[start:end]
    return parts


def kernel_from_text(text: str, name: str, what: str) -> Kernel:
    """The kernel `name` in a text of cuobjdump -sass or of nvdisasm -c -hex; `what` names the text in errors."""
    if is_nvdisasm(text):
        arch = next(iter(by_architecture(text)))
        text, tables = from_nvdisasm(text, name)
        functions = parse_sass(text)
        if not functions.get(name):
            raise SassError(f"{what}: has no function {name}")
        return Kernel(arch, functions[name], tables)
    found = {}
    others: list[str] = []
    for arch, part in by_architecture(text).items():
        functions = parse_sass(part)
        if functions.get(name):
            found[arch] = functions[name]
        others += functions
    if not found:
        some = ", ".join(sorted(set(others))[:3])
        raise SassError(f"{what}: has no function {name}; it has {some}{', ...' if len(set(others)) > 3 else ''}")
    if len(found) > 1:
        raise SassError(
            f"{what}: has {name} for {', '.join(sorted(found))}: give a cubin, which is for one architecture"
        )
    arch, instructions = found.popitem()
    return Kernel(arch, instructions, {})


def tool_output(*command: str) -> str | None:
    """What a tool prints, or None if it fails."""
    if shutil.which(command[0]) is None:
        raise SassError(f"{command[0]} is not installed: it comes with CUDA; or give a text of it with --text")
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout if done.returncode == 0 else None


def listing_of(path: str, name: str) -> tuple[str, dict[int, list[int]]]:
    """What CUDA's tools print of a function, perhaps of others too, and its jump tables."""
    text = tool_output("cuobjdump", "-sass", "-fun", name, path)
    if text is None or name not in text:
        text = tool_output("cuobjdump", "-sass", path)
    if text is None or "Function :" not in text:
        raise SassError(f"{path}: cuobjdump finds no machine code in it")
    kernel = kernel_from_text(text, name, path)
    if any(i.opcode in ("BRX", "BRXU", "JMX", "JMXU") for i in kernel.instructions):
        listing = tool_output("nvdisasm", "-c", path)
        if listing is not None:
            return text, jump_tables(*section_of(listing, name))
    return text, {}


class ListingCache:
    """Listings of functions by the hash of their cubin, in a folder. The tools take seconds for a large one. What cannot
    be written is not kept, and what cannot be read is not there."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def _path(self, cubin: str, name: str) -> str:
        found = hashlib.sha256()
        with open(cubin, "rb") as file:
            while piece := file.read(1 << 20):
                found.update(piece)
        found.update(name.encode())
        return os.path.join(self.folder, found.hexdigest() + ".json.gz")

    def get(self, cubin: str, name: str) -> tuple[str, dict[int, list[int]]]:
        path = self._path(cubin, name)
        try:
            with gzip.open(path, "rt", encoding="utf-8") as file:
                kept = json.load(file)
            return str(kept["text"]), {int(at): [int(t) for t in targets] for at, targets in kept["tables"].items()}
        except (OSError, EOFError, ValueError, KeyError, TypeError, AttributeError):
            pass
        text, tables = listing_of(cubin, name)
        try:
            os.makedirs(self.folder, exist_ok=True)
            with tempfile.NamedTemporaryFile(dir=self.folder, delete=False) as raw:
                with gzip.open(raw, "wt", compresslevel=1, encoding="utf-8") as file:
                    json.dump({"text": text, "tables": tables}, file)
            os.replace(raw.name, path)
        except OSError:
            pass
        return text, tables


def kernel_from_cubin(path: str, name: str, cache: str | None = None) -> Kernel:
    if not os.path.isfile(path):
        raise SassError(f"{path}: cannot be read: no such file")
    text, tables = ListingCache(cache).get(path, name) if cache else listing_of(path, name)
    kernel = kernel_from_text(text, name, path)
    kernel.tables = tables
    return kernel


def load_kernel(cubin: str | None, name: str, text_file: str | None, cache: str | None = None) -> Kernel:
    if text_file:
        return kernel_from_text(read_text(text_file), name, text_file)
    assert cubin is not None, "one of the two is given"
    return kernel_from_cubin(cubin, name, cache)
