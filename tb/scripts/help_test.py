#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every script says at once what it does: --help installs nothing, builds nothing and needs no package."""

import os
import subprocess
import tempfile
import unittest
from pathlib import Path

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"
COMMANDS = [path for path in sorted([*SCRIPTS.glob("*.sh"), *SCRIPTS.glob("*.py")])
            if os.access(path, os.X_OK) and path.name != "lib.sh"]
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

    def run_help(self, script, option, **environment):
        environment = {**os.environ, "PATH": f"{self.folder}/bin:{os.environ['PATH']}", **environment}
        environment.pop("WARPFOLD", None)
        done = subprocess.run([script, option], cwd=self.folder, text=True, capture_output=True, check=False,
                              stdin=subprocess.DEVNULL, timeout=SECONDS, env=environment)
        self.assertEqual((done.returncode, done.stderr), (0, ""), script.name)
        self.assertGreaterEqual(len(done.stdout.splitlines()), 2, script.name)
        calls = self.folder / "calls"
        self.assertFalse(calls.exists(), f"{script.name}: {calls.read_text() if calls.exists() else ''}")
        return done.stdout

    def test_all_scripts(self):
        self.assertGreaterEqual(len(COMMANDS), 25)
        for script in COMMANDS:
            for option in ("--help", "-h"):
                with self.subTest(script=script.name, option=option):
                    self.run_help(script, option)

    def test_without_the_packages_of_python(self):
        for module in MODULES:
            (self.folder / f"{module}.py").write_text(f"raise ImportError('no {module}')\n", encoding="utf-8")
        for script in (path for path in COMMANDS if path.suffix == ".sh"):
            with self.subTest(script=script.name):
                text = self.run_help(script, "--help", PYTHONPATH=str(self.folder))
                self.assertIn(script.stem, text)

    def test_the_programs_options_are_shown(self):
        for name, option in (("correlate", "--as-shipped"), ("docs", "--update"), ("power", "--cycles")):
            self.assertIn(f"{option} ", self.run_help(SCRIPTS / f"{name}.sh", "--help"))


if __name__ == "__main__":
    unittest.main()
