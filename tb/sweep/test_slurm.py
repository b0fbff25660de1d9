#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The sweep workflow on a real Slurm cluster of one node, which the test starts and stops.

    test_slurm.py WARPFOLD [unittest's options]

Exit code 77, the test is skipped, where Slurm is not installed; scripts/test.sh installs it.
"""

import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

import slurm_cluster
from warpfold.tools.sweep import table
from warpfold.tools.sweep.slurm import slurm_status

ROOT = Path(__file__).resolve().parent.parent.parent

SWEEP = ("-B", ROOT / "python", "sweep")
SKIPPED = 77
WARPFOLD = ""


class Status(unittest.TestCase):
    def test_words_of_slurm(self):
        self.assertEqual(slurm_status.answer("COMPLETED"), "success")
        for state in ("FAILED", "TIMEOUT", "OUT_OF_MEMORY", "CANCELLED", ""):
            self.assertEqual(slurm_status.answer(state), "failed")
        for state in ("PENDING", "RUNNING", "COMPLETING", "CONFIGURING", "REQUEUED"):
            self.assertEqual(slurm_status.answer(state), "running")


class Slurm(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.cluster = slurm_cluster.Cluster(folder.name)
        cls.enterClassContext(cls.cluster)

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def start(self, text, simulator):
        file = self.folder / "s.yaml"
        file.write_text(text, encoding="utf-8")
        return subprocess.Popen([sys.executable, *SWEEP, "--slurm", "--output", self.folder / "out", file], text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                env={**self.cluster.environment, "WARPFOLD": str(simulator),
                                     "WARPFOLD_POINTS": str(self.folder / "points")})

    def test_points_are_jobs_and_a_failed_one_stops_no_other(self):
        with self.start("""
            memory_mb: 500
            sweeps:
              - {traces: [truck-values], machines: [rtx4090], policies: [baseline, arc-hw]}
              - {traces: [truck-values], machines: [rtx4090], policies: [lab], set: {lab.bytes: [1]}}
            """, WARPFOLD) as child:
            out, err = child.communicate(timeout=400)
        log = self.folder / "out/snakemake.log"
        self.assertEqual(child.returncode, 1, f"{out}\n{err}\n{log.read_text()}\n{self.cluster.logs()}")
        self.assertEqual(len(err.splitlines()), 1, err)
        self.assertIn("lab.bytes=1", err)
        self.assertIn("is 1, must be 128 to", err)
        rows = table.read_csv(self.folder / "out/table.csv")
        self.assertEqual([(row["policy"], row["sums_match"]) for row in rows], [("baseline", "True"), ("arc-hw", "True")])
        self.assertEqual(len(list((self.folder / "out").glob("slurm-*.log"))), 3)
        self.assertEqual(self.cluster.jobs(), [])

    def test_an_interrupted_sweep_leaves_no_jobs(self):
        slow = self.folder / "slow"
        # Knows what the simulator knows, and never ends a simulation.
        slow.write_text(f'#!/bin/sh\n[ "$1 $2" = "sim /dev/null" ] && exec {WARPFOLD} "$@"\nexec sleep 600\n', encoding="utf-8")
        slow.chmod(0o755)
        with self.start("""
            memory_mb: 500
            sweeps: [{traces: [truck-values], machines: [rtx4090], policies: [baseline, arc-hw]}]
            """, slow) as child:
            deadline = time.monotonic() + 120
            while len(self.cluster.jobs()) < 2 and time.monotonic() < deadline:
                time.sleep(0.2)
            self.assertEqual(len(self.cluster.jobs()), 2)
            child.send_signal(signal.SIGTERM)
            _, err = child.communicate(timeout=120)
        self.assertEqual(child.returncode, 128 + signal.SIGTERM)
        self.assertIn("interrupted", err)
        deadline = time.monotonic() + 60
        while self.cluster.jobs() and time.monotonic() < deadline:
            time.sleep(0.2)
        self.assertEqual(self.cluster.jobs(), [])


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    WARPFOLD = os.path.abspath(sys.argv.pop(1))
    missing = slurm_cluster.missing_programs()
    if missing:
        print(f"skipped: no {', '.join(missing)}; Debian packages slurmctld slurmd slurm-client munge")
        sys.exit(SKIPPED)
    unittest.main()
