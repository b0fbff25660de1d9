#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What Snakemake asks of a cluster: is the job running, has it succeeded or failed? With accounting or without.

slurm_status.py JOB
"""

import re
import subprocess
import sys

SUCCEEDED = {"COMPLETED"}
FAILED = {
    "BOOT_FAIL",
    "CANCELLED",
    "DEADLINE",
    "FAILED",
    "NODE_FAIL",
    "OUT_OF_MEMORY",
    "PREEMPTED",
    "REVOKED",
    "TIMEOUT",
}


def ask(*command: str) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout if done.returncode == 0 else ""


def state_of(job: str) -> str:
    """Slurm's word for it, empty if it knows no such job any more."""
    found = re.search(r"\bJobState=(\w+)", ask("scontrol", "--oneliner", "show", "job", job))
    if found:
        return found.group(1)
    words = ask("sacct", "-X", "-n", "-P", "-o", "State", "-j", job).split()
    return words[0] if words else ""


def answer(state: str) -> str:
    if state in SUCCEEDED:
        return "success"
    return "failed" if state in FAILED or not state else "running"


if __name__ == "__main__":
    print(answer(state_of(sys.argv[1].partition(";")[0])))
