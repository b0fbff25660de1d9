#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every script and every tool says at once what it does: --help installs nothing, builds nothing and needs no package."""

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from warpfold.tools.commands import tools

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = {path.stem: [path] for path in sorted((ROOT / "scripts").glob("*.sh"))
           if os.access(path, os.X_OK) and path.name != "lib.sh"}
TOOLS_OF_OURS = {name: [sys.executable, "-B", ROOT / "python", name] for name in tools()}
TOOLS = ("cmake", "ninja", "g++", "dpkg-query", "apt-get", "sudo", "nvcc", "verilator", "yosys", "snakemake",
         "clang-format", "clang-format-14")
MODULES = ("yaml", "jsonschema", "matplotlib", "numpy", "snakemake")
SECONDS = 20


class Help(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        (self.folder / "bin").mkdir()
        for tool in TOOLS:
            path = self.folder / "bin" / tool
            path.write_text(f'#!/bin/sh\necho "{tool} $*" >>"{self.folder}/calls"\nexit 1\n', encoding="utf-8")
            path.chmod(0o755)

    def run_help(self, command, option, **environment):
        environment = {**os.environ, "PATH": f"{self.folder}/bin:{os.environ['PATH']}", **environment}
        environment.pop("WARPFOLD", None)
        done = subprocess.run([*command, option], cwd=self.folder, text=True, capture_output=True, check=False,
                              stdin=subprocess.DEVNULL, timeout=SECONDS, env=environment)
        self.assertEqual((done.returncode, done.stderr), (0, ""), command)
        self.assertGreaterEqual(len(done.stdout.splitlines()), 2, command)
        calls = self.folder / "calls"
        self.assertFalse(calls.exists(), f"{command}: {calls.read_text() if calls.exists() else ''}")
        return done.stdout

    def test_all_scripts(self):
        self.assertGreaterEqual(len(SCRIPTS), 20)
        for name, command in SCRIPTS.items():
            for option in ("--help", "-h"):
                with self.subTest(script=name, option=option):
                    self.run_help(command, option)

    def test_without_the_packages_of_python(self):
        for module in MODULES:
            (self.folder / f"{module}.py").write_text(f"raise ImportError('no {module}')\n", encoding="utf-8")
        for name, command in {**SCRIPTS, **TOOLS_OF_OURS}.items():
            with self.subTest(name):
                self.assertIn(name, self.run_help(command, "--help", PYTHONPATH=str(self.folder)))

    def test_the_programs_options_are_shown(self):
        self.assertIn("--update ", self.run_help(SCRIPTS["docs"], "--help"))


if __name__ == "__main__":
    unittest.main()
