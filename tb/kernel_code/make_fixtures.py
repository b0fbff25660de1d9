#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Saves the machine code of kernels.cu as the tests read it, by cuobjdump and nvdisasm of the CUDA toolkit.
  make_fixtures.py FILE.cubin
  make_fixtures.py --reductions DIR     the kernels of two parameters in a dump of traces/capture/costs/generic"""

import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
WITH_TABLES = "chooses"  # of this one nvdisasm's text too


def squeezed(text):
    return "".join(re.sub(r"[ \t]+", " ", line).rstrip() + "\n" for line in text.splitlines() if line.strip())


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def main(cubin):
    text = run("cuobjdump", "-sass", cubin)
    arch = re.search(r"code for (sm_\d+)", text).group(1)
    for name in re.findall(r"Function : (\S+)", text):
        with open(os.path.join(HERE, f"{name}.{arch}.sass"), "w", encoding="utf-8") as file:
            file.write(squeezed(run("cuobjdump", "-sass", "-fun", name, cubin)))
    listing = run("nvdisasm", "-c", "-hex", cubin)
    section = re.search(rf"^//-+ \.text\.{WITH_TABLES} .*?(?=^//-----|\Z)", listing, re.MULTILINE | re.DOTALL).group(0)
    target = re.search(r"^\s*\.target.*$", listing, re.MULTILINE).group(0)
    with open(os.path.join(HERE, f"{WITH_TABLES}.{arch}.nvdisasm"), "w", encoding="utf-8") as file:
        file.write(squeezed(target + "\n" + section))


def reductions(dump, arch="sm_90"):
    folder = os.path.join(HERE, "reductions")
    with open(os.path.join(dump, f"{arch}.sass"), encoding="utf-8") as file:
        parts = re.split(r"(?=^\s*Function : )", file.read(), flags=re.MULTILINE)
    with open(os.path.join(folder, f"{arch}.sass"), "w", encoding="utf-8") as file:
        file.write(f" code for {arch}\n")
        file.writelines(squeezed(p) for p in parts if re.match(r"\s*Function : \S+_2\n", p))
    with open(os.path.join(dump, "resources.txt"), encoding="utf-8") as file:
        text = re.split(r"^arch = ", file.read(), flags=re.MULTILINE)
    text = next(t for t in text if t.startswith(arch))
    with open(os.path.join(folder, "resources.txt"), "w", encoding="utf-8") as file:
        file.write(f"arch = {arch}\n")
        file.writelines(f" Function {name}:\n  REG:{count}\n"
                        for name, count in re.findall(r"Function (\S+_2):\s+REG:(\d+)", text))


if __name__ == "__main__":
    reductions(sys.argv[2]) if sys.argv[1] == "--reductions" else main(*sys.argv[1:])
