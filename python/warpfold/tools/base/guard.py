# SPDX-License-Identifier: Apache-2.0
"""How the tools end: what is wrong with what they were given is one line on stderr and exit code 2, an interrupt 130,
never a traceback. WARPFOLD_TRACEBACK=1 shows one to who looks for a fault in a tool."""

import sys
from collections.abc import Callable
from types import TracebackType


def _silent(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    if not issubclass(kind, KeyboardInterrupt):
        sys.__excepthook__(kind, error, trace)


# Whoever imports this says nothing of an interrupt, at any moment from here on; the exit code is as without.
sys.excepthook = _silent

import os
import signal
import threading

from .errors import BadInput, ToolFailed


def _again(what: "sys.UnraisableHookArgs") -> None:
    """An interrupt where Python cannot raise it, as in a destructor, comes once more."""
    if issubclass(what.exc_type, KeyboardInterrupt):
        threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT)).start()
    else:
        sys.__unraisablehook__(what)


sys.unraisablehook = _again

# What input that is not as expected makes Python raise.
UNEXPECTED = (
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


def line_of(error: BaseException) -> str:
    """What an exception says, in one line."""
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    if isinstance(error, MemoryError):
        return "out of memory"
    text = " ".join(str(error).split())
    if isinstance(error, (BadInput, ToolFailed)) or (isinstance(error, ValueError) and text):
        return text
    return f"input is not as expected: {type(error).__name__} {text}"


def end(name: str, function: Callable[[], int]) -> None:
    """Ends the process with what the function returns. The name stands in front of what goes wrong."""
    try:
        code = function()
        sys.stdout.flush()
    except KeyboardInterrupt:
        code = 130
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # what is left goes nowhere
        code = 2
    except ToolFailed as error:
        print(f"{name}: {line_of(error)}", file=sys.stderr)
        code = 1
    except (BadInput, *UNEXPECTED) as error:
        if os.environ.get("WARPFOLD_TRACEBACK"):
            raise
        print(f"{name}: {line_of(error)}", file=sys.stderr)
        code = 2
    sys.exit(code)
