# SPDX-License-Identifier: Apache-2.0
"""How the Python scripts end: what is wrong with what they were given is one line on stderr and exit code 2, an
interrupt 130, never a traceback. WARPFOLD_TRACEBACK=1 shows one to who looks for a fault in a script."""

import sys


def _silent(kind, error, trace, otherwise=sys.excepthook):
    if not issubclass(kind, KeyboardInterrupt):
        otherwise(kind, error, trace)


# Whoever imports this says nothing of an interrupt, at any moment from here on; the exit code is as without.
sys.excepthook = _silent

import ctypes
import os
import select
import signal
import subprocess
import threading
import time


def _again(what, otherwise=sys.unraisablehook):
    """An interrupt where Python cannot raise it, as in a destructor, comes once more."""
    if issubclass(what.exc_type, KeyboardInterrupt):
        threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT)).start()
    else:
        otherwise(what)


sys.unraisablehook = _again

# What input that is not as expected makes Python raise.
BAD_INPUT = (
    OSError,
    ValueError,
    LookupError,
    TypeError,
    AttributeError,
    ArithmeticError,
    EOFError,
    RecursionError,
    MemoryError,
    StopIteration,
)


def line_of(error):
    """What an exception says, in one line."""
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    if isinstance(error, MemoryError):
        return "out of memory"
    text = " ".join(str(error).split())
    return (
        text if isinstance(error, ValueError) and text else f"input is not as expected: {type(error).__name__} {text}"
    )


def end(name, function, *arguments):
    """Ends the process with what a script's main() returns."""
    try:
        code = function(*arguments)
        sys.stdout.flush()
    except KeyboardInterrupt:
        code = 130
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # what is left goes nowhere
        code = 2
    except BAD_INPUT as error:
        if os.environ.get("WARPFOLD_TRACEBACK"):
            raise
        print(f"{name}: {line_of(error)}", file=sys.stderr)
        code = 2
    sys.exit(code)


def die_with_parent():
    """In a child before it becomes another program: it is killed when its parent ends, however that ends."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


def _below():
    """Process -> its children, of all living processes below this one."""
    children = {}
    for entry in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{entry}/stat", encoding="latin-1") as file:
                state, parent = file.read().rpartition(")")[2].split()[:2]
        except OSError:
            continue  # it has gone
        if state != "Z":
            children.setdefault(int(parent), []).append(int(entry))
    found, todo = {}, children.get(os.getpid(), [])[:]
    while todo:
        process = todo.pop()
        found[process] = children.get(process, [])
        todo += found[process]
    return found


def end_children():
    """Ends all processes below this one within about a second. They are asked as by Ctrl-C; those that go on and have
    no others below them are killed, so that the others can still clean up, then all."""
    for choose, number, seconds in (
        (dict.keys, signal.SIGINT, 0.6),
        (_leaves, signal.SIGKILL, 0.4),
        (dict.keys, signal.SIGKILL, 0.2),
    ):
        for process in choose(_below()):
            try:
                os.kill(process, number)
            except ProcessLookupError:
                pass
        end = time.monotonic() + seconds
        while _below() and time.monotonic() < end:
            time.sleep(0.02)


def _leaves(below):
    return [process for process, children in below.items() if not children]


def end_children_when_interrupted():
    """From here on an interrupt ends what this process has started, then raises KeyboardInterrupt; once."""

    def interrupted(*_):
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        end_children()
        raise KeyboardInterrupt

    signal.signal(signal.SIGINT, interrupted)


def run_beside(process, command, **options):
    """subprocess.run, which ends when that process (a number; 0: none) does."""
    with subprocess.Popen(command, preexec_fn=die_with_parent, **options) as child:
        if process:

            def watch():
                try:
                    select.select([os.pidfd_open(process)], [], [])
                except OSError:
                    pass  # it has gone already
                child.kill()

            threading.Thread(target=watch, daemon=True).start()
        out, said = child.communicate()
    return subprocess.CompletedProcess(command, child.returncode, out, said)


def read_json(path, wanted=None):
    """The document; ValueError with one line that names the file where it is none, or none of that schema."""
    import json

    try:
        with open(path, encoding="utf-8") as file:
            document = json.load(file)
    except OSError as error:
        raise ValueError(f"{path}: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path}: is not JSON: {' '.join(str(error).split())}") from error
    if wanted is not None and (not isinstance(document, dict) or document.get("schema") != wanted):
        raise ValueError(f"{path}: is not {wanted}")
    return document
