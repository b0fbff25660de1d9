#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Scripts are found and find their files from any folder, through links, and with blanks in paths."""

import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

from warpfold.tools.synth import synth

ROOT = Path(__file__).resolve().parents[2]
TOOL = """#!/bin/sh
echo "${0##*/} $*" >>"$FOLDER/calls"
printf "install ok installed"
"""


class FromElsewhere(unittest.TestCase):
    """A copy of what run.sh needs, in a folder with a blank and an umlaut in its name."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.repo = Path(folder.name) / "ä clone"
        self.caller = Path(folder.name) / "a caller"
        self.caller.mkdir()
        for name in ("scripts/run.sh", "scripts/lib.sh", "rtl/units.json"):
            (self.repo / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, self.repo / name)
        for name in ("bin/cmake", "bin/dpkg-query", "build/release/model/warpfold_sim"):
            path = self.repo / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(TOOL, encoding="utf-8")
            path.chmod(0o755)
        (self.repo / "python").mkdir()
        (self.repo / "python/__main__.py").write_text("", encoding="utf-8")

    def run_script(self, script, *options):
        done = subprocess.run(["bash", str(script), *options], cwd=self.caller, text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, check=False,
                              env={**os.environ, "PATH": f"{self.repo}/bin:{os.environ['PATH']}",
                                   "FOLDER": str(self.caller), "TMPDIR": str(self.caller)})
        self.assertEqual(done.returncode, 0, done.stdout)
        return [line for line in (self.caller / "calls").read_text(encoding="utf-8").splitlines()
                if line.startswith("warpfold")][-1]

    def test_relative_paths_are_the_callers(self):
        for form in ("{} {}", "{}={}"):
            options = " ".join([form.format("--gpu", "h200,my.toml"), form.format("--json", "o.json"),
                                form.format("--energy", "d/e.json"), form.format("--timeline", "/t.json")]).split()
            call = self.run_script(self.repo / "scripts/run.sh", *options)
            for wanted in (("--gpu", f"h200,{self.caller}/my.toml"), ("--json", f"{self.caller}/o.json"),
                           ("--energy", f"{self.caller}/d/e.json"), ("--timeline", "/t.json")):
                self.assertIn(form.format(*wanted), call)
        self.assertIn("--json -", self.run_script(self.repo / "scripts/run.sh", "--json", "-"))

    def test_through_a_link(self):
        for target in (self.repo / "scripts/run.sh", "../ä clone/scripts/run.sh"):
            link = self.caller / "link"
            link.unlink(missing_ok=True)
            link.symlink_to(target)
            self.assertIn(" sim traces/data/truck.wft ", self.run_script(link))

    def test_every_script_finds_its_own_folder_through_a_link(self):
        wrong = [f"{path.name}: {line}" for path in sorted((ROOT / "scripts").glob("*.sh"))
                 for line in path.read_text(encoding="utf-8").splitlines()
                 if "dirname" in line and "readlink -f" not in line and ("$0" in line or "BASH_SOURCE" in line)]
        self.assertEqual(wrong, [])


class ReadOnly(unittest.TestCase):
    """A checkout that cannot be written: one line, before anything is installed or built."""

    WRITERS = ("coverage.sh", "fuzz.sh", "nightly.sh", "package.sh", "regress.sh", "run.sh", "soak.sh", "test.sh")

    def test_one_line(self):
        with tempfile.TemporaryDirectory() as folder:
            repo = Path(folder) / "repo"
            shutil.copytree(ROOT / "scripts", repo / "scripts", ignore=shutil.ignore_patterns("__pycache__"))
            # Root may write where modes say no, so the mount says it, in a namespace of its own.
            mount = ["unshare", "--mount", *(["--map-root-user"] if os.geteuid() else []), "sh", "-c",
                     'mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && exec "$@"', str(repo)]
            if subprocess.run([*mount, "true"], capture_output=True, check=False).returncode != 0:
                self.skipTest("no mounts here")
            for script in self.WRITERS:
                done = subprocess.run([*mount, "bash", str(repo / "scripts" / script)], text=True, capture_output=True,
                                      stdin=subprocess.DEVNULL, check=False)
                self.assertEqual((done.returncode, done.stdout), (2, ""), (script, done.stderr))
                self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
                self.assertIn(f"{script}: {repo} cannot be written", done.stderr)


class Synthesis(unittest.TestCase):
    def test_folders_with_blanks(self):
        with tempfile.TemporaryDirectory(prefix="a blank ") as folder:
            before = tempfile.tempdir
            tempfile.tempdir = folder
            try:
                with synth.scratch("warpfold-test-") as scratch:
                    self.assertNotIn(" ", scratch)
                    link = synth.without_blanks(folder, scratch)
                    self.assertNotIn(" ", str(link))
                    self.assertTrue(link.samefile(folder))
                    self.assertEqual(synth.without_blanks(scratch, scratch), Path(scratch).resolve())
            finally:
                tempfile.tempdir = before


if __name__ == "__main__":
    unittest.main()
