#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Applies the diffs of a page: makes a folder with the sources and lists of the repository's model/, and them in it.

usage: changed.py PAGE OUT. Files are links into the tree, but for those that a diff makes or changes. Each diff must
make one file and add one line to another; a diff that names no file is an excerpt and left out. Exit code 1: one does
not, or does not apply.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from warpfold.tools.develop.docs.page import Page

ROOT = Path(__file__).resolve().parents[2]


def link_model(out):
    for source in (ROOT / "model").rglob("*"):
        if source.suffix in (".cpp", ".cmake", ".in"):
            target = out / source.relative_to(ROOT)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.symlink_to(source)


def files_of(diff):
    """The file that a diff makes and the one to which it adds a line, or None if it does anything else."""
    made = re.findall(r"^--- /dev/null\n\+\+\+ b/(\S+)$", diff, re.MULTILINE)
    changed = re.findall(r"^--- a/(\S+)\n\+\+\+ b/\1$", diff, re.MULTILINE)
    if len(made) != 1 or len(changed) != 1:
        return None
    hunks = diff.partition(f"--- a/{changed[0]}\n+++ b/{changed[0]}\n")[2].partition("\n--- ")[0]
    marks = [line[0] for line in hunks.splitlines() if line[:1] in ("+", "-")]
    return (made[0], changed[0]) if marks == ["+"] else None


def apply(page, block, out):
    where = f"{page}:{block.line}"
    diff = "\n".join(block.lines) + "\n"
    files = files_of(diff)
    if files is None:
        sys.exit(f"{where}: a diff of one new file and one line in another is wanted")
    for name in files:
        target = out / name
        if target.is_symlink():
            source = target.resolve()
            target.unlink()
            shutil.copyfile(source, target)
    # Exactly as it stands there; only the lines may be others.
    done = subprocess.run(["patch", "-p1", "--fuzz=0", "--forward", "--batch", "--no-backup-if-mismatch", "-r", "-"],
                          cwd=out, input=diff, text=True, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode != 0:
        sys.exit(f"{where}: the diff does not apply:\n{done.stdout}")
    # As old as the page, so that nothing is compiled anew for being made anew.
    for name in files:
        time = max((path.stat().st_mtime for path in (page, ROOT / name) if path.exists()))
        os.utime(out / name, (time, time))


def main(page, out):
    page, out = Path(page).resolve(), Path(out)
    shutil.rmtree(out, ignore_errors=True)
    blocks = [block for block in Page(page, page.parent).blocks if block.language == "diff"]
    diffs = [block for block in blocks if block.lines[0].startswith("--- ")]
    if not diffs:
        sys.exit(f"{page}: no diff")
    if not shutil.which("patch"):
        sys.exit(f"{page}: its diffs need the program patch")
    link_model(out)
    for block in diffs:
        apply(page, block, out)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
