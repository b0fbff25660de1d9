# SPDX-License-Identifier: Apache-2.0
"""Runs the microbenchmarks, and what energies come from, on this machine's GPU."""

import argparse
import os
import shutil
from pathlib import Path

from ..base import processes
from ..base.errors import BadInput, ToolFailed
from ..base.places import CHECKOUT
from ..base.processes import Word
from . import random_scene

GROUPS = "red,vector,bulk,shared_add,slices,share,burst,latency,ops,memory,loads,mixed,control"
POLICIES = "none,cccl,sw-b:32,sw-s:0,sw-s:16"


def find_cuda() -> None:
    """CUDA is often installed beside PATH."""
    if os.path.isdir("/usr/local/cuda/bin"):
        os.environ["PATH"] += ":/usr/local/cuda/bin"
    if not shutil.which("nvcc"):
        raise BadInput("no nvcc: install the CUDA toolkit, or name earlier measurements by --measurements")
    if shutil.which("nvidia-smi") and processes.run(["nvidia-smi", "-L"]).returncode != 0:
        raise BadInput("no NVIDIA GPU on this machine")


def build(folder: Path, target: str) -> None:
    """A program of traces/capture, for the GPU that is there, whatever its compute capability."""
    if CHECKOUT is None:
        raise BadInput("measuring needs a checkout of Warpfold, whose traces/capture it builds")
    folder.mkdir(parents=True, exist_ok=True)
    fresh = not (folder / "CMakeCache.txt").exists() and shutil.which("ninja")
    configure: list[Word] = ["cmake", *(["-G", "Ninja"] if fresh else []), "-DCMAKE_CUDA_ARCHITECTURES=native"]
    print("== build", flush=True)
    processes.logged([*configure, "-S", CHECKOUT / "traces/capture", "-B", folder], folder / "configure.log", target)
    processes.logged(["cmake", "--build", folder, "--parallel", "--target", target], folder / "build.log", target)


def call(*command: Word) -> None:
    """Runs a program that says itself what it does."""
    status = os.spawnvp(os.P_WAIT, str(command[0]), [str(word) for word in command])
    if status != 0:
        raise ToolFailed(f"{command[0]} ended with {status}")


def measure(arguments: argparse.Namespace) -> None:
    """Leaves what it measures in the folder of the results, and names it among the arguments."""
    find_cuda()
    build(arguments.build, "warpfold_microbench")
    out: Path = arguments.out
    out.mkdir(parents=True, exist_ok=True)
    print("== measure", flush=True)
    measured = out / f"{arguments.name}-all.json"
    call(arguments.build / "microbench/warpfold_microbench", "--json", measured, "--only", GROUPS)
    arguments.measurements.append(str(measured))
    if not arguments.energy:
        return
    assert CHECKOUT is not None
    build(arguments.build, "warpfold_capture")
    scene, capture = out / f"{arguments.name}-scene", arguments.build / "warpfold_capture"
    random_scene.write(scene)
    view: list[Word] = ["--scene", scene / "random.splat", "--camera", scene / "cameras.json", "--name", "random"]
    print("== energy", flush=True)
    energies = out / f"{arguments.name}-energy.json"
    call(capture, "energy", *view, "--policy", POLICIES, "--json", energies)
    call(CHECKOUT / "scripts/capture.sh", "--program", capture, *view, "--out", scene, "--no-profile")
    arguments.energies.append(str(energies))
    arguments.trace.append(str(scene / "random.wft"))
