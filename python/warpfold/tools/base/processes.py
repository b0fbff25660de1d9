# SPDX-License-Identifier: Apache-2.0
"""How the tools run other programs."""

import contextlib
import ctypes
import math
import os
import re
import select
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from .errors import BadInput, ToolFailed

Word = str | Path | int | float
Done = subprocess.CompletedProcess[str]

# Debian's package of a program, where it has another name.
PACKAGES = {
    "berkeley-abc": "berkeley-abc, or yosys-abc where there is none",
    "cuobjdump": "nvidia-cuda-toolkit",
    "nvdisasm": "nvidia-cuda-toolkit",
    "icepack": "fpga-icestorm",
    "icetime": "fpga-icestorm",
    "sbatch": "slurm-client",
    "sta": "opensta",
    "tclsh": "tcl",
}


def missing(program: str) -> str:
    """Says that a program is not there, and, if it was looked for, which of Debian's packages has it."""
    if "/" in program:
        return f"{program}: no such program"
    return f"'{program}' not found; it is in Debian's package {PACKAGES.get(program, program)}"


def need(*programs: str) -> None:
    """BadInput where one of the programs is not installed."""
    for program in programs:
        if not shutil.which(program):
            raise BadInput(missing(program))


def run(
    command: Sequence[Word],
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    timeout: float | None = None,
    together: bool = False,
) -> Done:
    """The program's exit code and what it said; `together`: stderr among stdout. It reads nothing.

    BadInput where it is not installed. One that takes longer than the timeout, in seconds, ends with 124."""
    words = [str(word) for word in command]
    try:
        return subprocess.run(
            words,
            cwd=cwd,
            env=env,
            timeout=timeout,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT if together else subprocess.PIPE,
            text=True,
            errors="replace",
            check=False,
        )
    except FileNotFoundError as error:
        if error.filename != words[0]:
            raise
        raise BadInput(missing(words[0])) from None
    except subprocess.TimeoutExpired:
        return Done(words, 124, f"no end after {timeout} s", "")


def run_within(
    command: Sequence[Word], seconds: float = math.inf, memory: int | None = None, most: int = 1 << 20
) -> Done:
    """As `run` with stderr among stdout, for a program that is given what others wrote: it and all of its group end
    after so many seconds, and none of them gets more memory than so many bytes. Of what it says, the first and the
    last `most` bytes are kept."""
    words = [str(word) for word in command]
    need(words[0])
    # The limits are set by a shell: Python's own way is not safe where there are threads.
    limits = f"ulimit -c 0 -v {memory >> 10 if memory else 'unlimited'}" + ' && exec "$@"'
    child = subprocess.Popen(
        ["bash", "-c", limits, "bash", *words],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        process_group=0,
    )
    assert child.stdout
    first, last, late = b"", b"", time.monotonic() + seconds
    try:
        while True:
            left = late - time.monotonic()
            if left <= 0 or not select.select([child.stdout], [], [], min(left, 3600))[0]:
                if left > 3600:
                    continue
                return Done(words, 124, f"no end after {seconds:.0f} s", "")
            piece = os.read(child.stdout.fileno(), 1 << 16)
            if not piece:
                break
            if len(first) < most:
                first += piece
            else:
                last = (last + piece)[-most:]
        status = child.wait(None if math.isinf(late) else max(late - time.monotonic(), 0.1))
    except subprocess.TimeoutExpired:
        return Done(words, 124, f"no end after {seconds:.0f} s", "")
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)
        child.stdout.close()
        child.wait()
    return Done(words, status, (first + last).decode("utf-8", errors="replace"), "")


def output(command: Sequence[Word], env: Mapping[str, str] | None = None) -> str:
    """What the program prints. BadInput with its last line of complaint, or with the command, where it fails."""
    done = run(command, env=env)
    if done.returncode != 0:
        said = done.stderr.strip().splitlines()
        name = Path(str(command[0])).name
        complaint = said[-1].removeprefix(f"{name}: ") if said else ""
        raise BadInput(complaint or f"{' '.join(done.args)}: ended with {done.returncode}")
    return done.stdout


def first_match(command: Sequence[Word], pattern: str) -> str:
    """Of what the program prints, as for its version; "unknown" where there is no match."""
    found = re.search(pattern, run(command, together=True).stdout)
    return found.group(0) if found else "unknown"


def logged(
    command: Sequence[Word],
    log: Path,
    what: str,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
) -> None:
    """Runs a program with its output in the file `log`. ToolFailed with the last lines of that where it fails; `what`
    it was at work on stands in front."""
    words = [str(word) for word in command]
    with open(log, "w", encoding="utf-8") as file:
        status = subprocess.run(
            words, stdout=file, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, cwd=cwd, env=env, check=False
        ).returncode
    if status != 0:
        tail = " | ".join(log.read_text(encoding="utf-8", errors="replace").strip().splitlines()[-3:])
        raise ToolFailed(f"{what}: {words[0]} failed: {tail}")


def die_with_parent() -> None:
    """In a child before it becomes another program: it is killed when its parent ends, however that ends."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


def _below() -> dict[int, list[int]]:
    """Process -> its children, of all living processes below this one."""
    children: dict[int, list[int]] = {}
    for entry in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{entry}/stat", encoding="latin-1") as file:
                state, parent = file.read().rpartition(")")[2].split()[:2]
        except OSError:
            continue  # it has gone
        if state != "Z":
            children.setdefault(int(parent), []).append(int(entry))
    found: dict[int, list[int]] = {}
    todo = children.get(os.getpid(), [])[:]
    while todo:
        process = todo.pop()
        found[process] = children.get(process, [])
        todo += found[process]
    return found


def _all(below: dict[int, list[int]]) -> list[int]:
    return list(below)


def _leaves(below: dict[int, list[int]]) -> list[int]:
    return [process for process, children in below.items() if not children]


def end_children() -> None:
    """Ends all processes below this one within about a second. They are asked as by Ctrl-C; those that go on and have
    no others below them are killed, so that the others can still clean up, then all."""
    steps: list[tuple[Callable[[dict[int, list[int]]], list[int]], int, float]] = [
        (_all, signal.SIGINT, 0.6),
        (_leaves, signal.SIGKILL, 0.4),
        (_all, signal.SIGKILL, 0.2),
    ]
    for choose, number, seconds in steps:
        for process in choose(_below()):
            try:
                os.kill(process, number)
            except ProcessLookupError:
                pass
        end = time.monotonic() + seconds
        while _below() and time.monotonic() < end:
            time.sleep(0.02)


def end_children_when_interrupted() -> None:
    """From here on an interrupt ends what this process has started, then raises KeyboardInterrupt; once."""

    def interrupted(*_: Any) -> None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        end_children()
        raise KeyboardInterrupt

    signal.signal(signal.SIGINT, interrupted)


def run_beside(process: int, command: Sequence[str]) -> Done:
    """Runs a program whose output nobody wants, and that ends when that process (0: none) does."""
    with subprocess.Popen(
        command,
        preexec_fn=die_with_parent,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
    ) as child:
        if process:

            def watch() -> None:
                try:
                    select.select([os.pidfd_open(process)], [], [])
                except OSError:
                    pass  # it has gone already
                child.kill()

            threading.Thread(target=watch, daemon=True).start()
        said = child.communicate()[1]
    return Done(command, child.returncode, "", said)
