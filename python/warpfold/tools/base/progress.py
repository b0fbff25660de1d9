# SPDX-License-Identifier: Apache-2.0
"""How far long work is: a line on the terminal with the time that is left, nothing in a pipe.

with Progress(len(cases), "cases") as progress:
    for case in cases:
        ...
        progress.step()
"""

import shutil
import sys
import threading
import time

# Before that much is done, or that many seconds have passed, what is left would be a guess.
LEAST_SHARE = 0.01
LEAST_SECONDS = 1.0


def duration(seconds: float) -> str:
    """'12 s', '3 min 20 s', '2 h 5 min'."""
    whole = round(max(seconds, 0))
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


class Progress:
    """Of `total` steps, or of so much work in any unit. May be told from several threads."""

    def __init__(self, total: float, what: str) -> None:
        self.enabled = sys.stderr.isatty()
        self.total = total
        self.what = what
        self.done = 0.0
        self.began = time.monotonic()
        self.lock = threading.Lock()
        self.show()

    def __enter__(self) -> "Progress":
        return self

    def __exit__(self, *_: object) -> None:
        self.wipe()

    def step(self, by: float = 1) -> None:
        with self.lock:
            self.done += by
            self.show()

    def at(self, done: float) -> None:
        with self.lock:
            self.done = done
            self.show()

    def text(self) -> str:
        share = min(self.done / self.total, 1) if self.total else 1
        seconds = time.monotonic() - self.began
        left = ""
        if share >= LEAST_SHARE and seconds >= LEAST_SECONDS:
            left = f"{duration(seconds * (1 - share) / share)} left, "
        return f"{share:4.0%}".replace("%", " %") + f"  {left}{self.done:,.0f} of {self.total:,.0f} {self.what}"

    def show(self) -> None:
        if self.enabled:
            width = shutil.get_terminal_size().columns - 1
            print("\r\x1b[K" + self.text()[:width], end="", file=sys.stderr, flush=True)

    def wipe(self) -> None:
        """For what is printed next."""
        if self.enabled:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)
