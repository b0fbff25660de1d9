# SPDX-License-Identifier: Apache-2.0
"""How the Python scripts end: what is wrong with what they were given is one line on stderr and exit code 2, an
interrupt 130, never a traceback. WARPFOLD_TRACEBACK=1 shows one to who looks for a fault in a script."""

import ctypes
import os
import select
import signal
import subprocess
import sys
import threading

# What input that is not as expected makes Python raise.
BAD_INPUT = (OSError, ValueError, LookupError, TypeError, AttributeError, ArithmeticError, EOFError, RecursionError,
             MemoryError, StopIteration)


def _silent(kind, error, trace, otherwise=sys.excepthook):
    if not issubclass(kind, KeyboardInterrupt):
        otherwise(kind, error, trace)


# Whoever imports this says nothing of an interrupt, at any moment from here on; the exit code is as without.
sys.excepthook = _silent


def line_of(error):
    """What an exception says, in one line."""
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    if isinstance(error, MemoryError):
        return "out of memory"
    text = " ".join(str(error).split())
    return text if isinstance(error, ValueError) and text else f"input is not as expected: {type(error).__name__} {text}"


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
