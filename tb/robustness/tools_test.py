#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The Python tools answer bad input with one line and exit code 2."""

import gzip
import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# The one that Debian's packages are for, as in the scripts.
PYTHON = "/usr/bin/python3" if os.access("/usr/bin/python3", os.X_OK) else sys.executable

CELL = """library (l) {{
  time_unit : "1ns";
  cell (INV) {{ area : {area}; pin (A) {{ direction : input; }} pin (Y) {{ direction : output; function : "!A"; }} }}
}}
"""


class Tools(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def refusal(self, tool, *words, code=2):
        done = subprocess.run([PYTHON, "-B", str(ROOT / "python"), tool, *map(str, words)], cwd=self.folder, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False, timeout=120,
                              env={**os.environ, "WARPFOLD": "/bin/true"})
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertRegex(done.stderr, r"\A[^\n]*\n\Z")
        return done.stderr.strip()

    def file(self, name, content):
        path = self.folder / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))
        return path

    def test_liberty(self):
        whole = gzip.compress(CELL.format(area=1).encode("ascii"), mtime=0)
        broken = bytearray(whole)
        broken[len(broken) // 2] ^= 0xff
        for name, content in (("comma", CELL.format(area="32,0")), ("inf", CELL.format(area="inf")),
                              ("nan", CELL.format(area="nan")), ("word", CELL.format(area="large")),
                              ("cut.gz", whole[:-9]), ("broken.gz", bytes(broken)), ("head.gz", whole[:12]),
                              ("unit", CELL.format(area=1).replace('"1ns"', '"7ns"')),
                              ("deep", "library (l) {" + "a (b) {" * 5000 + "}" * 5001), ("empty", ""),
                              ("bytes", bytes(range(256)))):
            with self.subTest(name):
                path = self.file(name, content)
                self.assertIn(str(path), self.refusal("liberty", "-o", "out.lib", path))
                self.assertFalse((self.folder / "out.lib").exists())

    def test_results_of_others(self):
        documents = {"list": "[]", "empty": "{}", "text": '"x"', "rows": '{"rows": 3}', "row": '{"rows": [{}]}',
                     "null": "null", "no json": "{", "bytes": b"\xff\xfe", "deep": "[" * 100000,
                     "other": json.dumps({"schema": "warpfold.sim/1", "runs": [{"cycles": "x"}]})}
        for name, content in documents.items():
            path = self.file("in.json", content)
            with self.subTest(name):
                self.assertIn("in.json", self.refusal("fit-energy", path))
                self.assertIn("in.json", self.refusal("fit-energy", "--measured", path, path))
                self.refusal("replay", path)

    def test_sweep_files(self):
        point = "sweeps:\n- {traces: [truck], machines: [rtx4090], policies: [baseline]%s}\n"
        for name, text, said in (
                ("key twice", point % "" + "memory_mb: 100\nmemory_mb: 200\n", "key 'memory_mb' given twice"),
                ("inner key twice", point % ", unit: rtl, unit: golden", "key 'unit' given twice"),
                ("parameter twice", point % ", set: {l2.ways: [8], l2.ways: [16]}", "key 'l2.ways' given twice"),
                ("octal", point % ", set: {l2.ways: [010]}", "number 010 begins with a 0"),
                ("sexagesimal", point % ", set: {l2.ways: [1:30]}", "1:30"),
                ("deep", "[" * 20000, "")):
            with self.subTest(name):
                path = self.file("s.yaml", text)
                self.assertIn(said, self.refusal("sweep", "--dry-run", path))

    def test_an_interrupt_in_a_destructor_is_not_lost(self):
        program = self.file("p.py", f"""
import os, signal, time
from warpfold.tools.base import guard
class Loses:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.1)
def main():
    Loses()
    time.sleep(60)
    return 0
guard.end("p.py", main)
""")
        done = subprocess.run([PYTHON, "-B", program], capture_output=True, check=False, timeout=30)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (130, b"", b""))


if __name__ == "__main__":
    unittest.main()
