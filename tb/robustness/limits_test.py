#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Limits of the place in which the command runs: one line each, and the exit code that docs/errors.md has."""

import json
import os
import signal
import unittest

from tb.robustness.command import ROOT, CommandTest

SIM = ("sim", "small.wft", "--unit", "golden", "--policy", "baseline")


class Limits(CommandTest):
    def setUp(self):
        super().setUp()
        self.small_trace()

    def limited(self, limits, *words):
        """(exit code, lines on stderr) under limits of bash."""
        done = self.shell(f'{limits}; "$warpfold" {" ".join(map(str, words))}')
        self.assertNotIn("Traceback", done.stderr)
        self.assertNotIn("terminate", done.stderr)
        return done.returncode, done.stderr.splitlines()

    def test_memory(self):
        """However little there is, it is said in one line, or there is enough."""
        trace = ROOT / "traces/data/dynibar.wft"
        # In less the program cannot begin; the other commands need more.
        least = next(kilobytes for kilobytes in range(10000, 60000, 500)
                     if self.shell(f'ulimit -v {kilobytes}; "$warpfold" trace verify {trace}').returncode == 0)
        seen = set()
        for kilobytes in (least, least + 1000, least + 10000, least + 40000, least + 180000):
            for words in (("sim", trace, "--unit", "golden", "--policy", "baseline", "--json", "o.json"),
                          ("trace", "sample", trace, "o.wft", "--every", 4), ("trace", "verify", trace)):
                with self.subTest(kilobytes=kilobytes, words=words):
                    code, said = self.limited(f"ulimit -v {kilobytes}", *words)
                    seen.add(code)
                    if code != 127:  # nor can the command be loaded
                        self.assertIn(code, (0, 1, 2))
                        self.assertEqual(len(said), 0 if code == 0 else 1 if words[0] == "trace" else len(said), said)
                        self.assertTrue(all(line.startswith("warpfold: ") for line in said), said)
                    for name in ("o.json", "o.wft"):
                        if (self.folder / name).exists():
                            self.assertEqual(code, 0, name)
                            (self.folder / name).unlink()
        self.assertLessEqual({0, 2}, seen)

    def test_descriptors(self):
        code, said = self.limited("ulimit -n 4", *SIM)
        self.assertEqual(code, 2)
        self.assertRegex("\n".join(said), r"\Awarpfold: [^\n]*Too many open files\Z")

    def test_a_closed_pipe(self):
        done = self.shell('"$warpfold" trace dump small.wft | true; echo ${PIPESTATUS[0]}')
        self.assertIn(done.stdout, ("0\n", f"{128 + signal.SIGPIPE}\n"))
        self.assertEqual(done.stderr, "")
        done = self.shell('trap "" PIPE; "$warpfold" trace dump small.wft | true; echo ${PIPESTATUS[0]}')
        self.assertIn(done.stdout, ("0\n", "2\n"))
        self.assertLessEqual(len(done.stderr.splitlines()), 1)

    def test_no_folder_for_temporary_files(self):
        code, _ = self.limited("export TMPDIR=/nowhere", *SIM, "--json", "o.json")
        self.assertEqual(code, 0)
        code, said = self.limited("export TMPDIR=/nowhere", "regress", "small.wft", "--wave", "o.fst")
        self.assertEqual((code, len(said)), (2, 1), said)

    def test_folders_that_cannot_be_written(self):
        for words in ((*SIM, "--json", "/proc/o.json"), (*SIM, "--energy", "/proc/o.json"),
                      (*SIM, "--timeline", "/proc/o.json"), ("trace", "slice", "small.wft", "/proc/o.wft"),
                      ("trace", "sample", "small.wft", "/proc/o.wft", "--every", 1),
                      ("regress", "small.wft", "--wave", "/proc/o.fst"),
                      ("trace", "import-accelsim", ROOT / "traces/import/accelsim/example/kernelslist.g", "--out",
                       "/proc/o")):
            with self.subTest(words=words):
                self.refusal(*words)

    def test_names_and_languages(self):
        folder = self.folder / "Ünï cödé ß"
        folder.mkdir()
        (folder / "ä b.wft").write_bytes((self.folder / "small.wft").read_bytes())
        for language in ("C", "de_DE.UTF-8", "tr_TR.UTF-8"):
            self.succeeds("sim", folder / "ä b.wft", "--unit", "golden", "--policy", "baseline", "--set",
                          "noc.flit_cycles=1.5", "--json", folder / "ö.json",
                          env={**os.environ, "LC_ALL": language, "LANG": language})
            run = json.loads((folder / "ö.json").read_text(encoding="utf-8"))["runs"][0]
            self.assertEqual((run["trace"], run["config"]["noc"]["flit_cycles"]), (str(folder / "ä b.wft"), 1.5))


if __name__ == "__main__":
    unittest.main()
