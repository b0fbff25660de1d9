#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Lists of files as Verilator reads them, and sources that no list orders."""

import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from warpfold.tools.base import file_list
from warpfold.tools.base.errors import BadInput
from warpfold.tools.evaluate.sources import Sources
from warpfold.tools.evaluate.unit import load


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name).resolve()

    def file(self, name, text=""):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    def names(self, paths):
        return [str(path.relative_to(self.folder)) for path in paths]


class Lists(Case):
    def setUp(self):
        super().setUp()
        for name in ("a.sv", "b.sv", "sub/c.sv", "sub/with blank.sv", "inc/x.svh", "lib/d.v"):
            self.file(name, f"module {Path(name).stem.replace(' ', '_')}; endmodule\n")

    # Text of list.f, and what it names.
    FORMS = (
        ("a.sv b.sv\n", ["a.sv", "b.sv"]),
        ("a.sv // b.sv\n", ["a.sv"]),
        ("a.sv\n# b.sv\n", ["a.sv"]),
        ("a.sv /* b.sv\nsub/c.sv */ lib/d.v\n", ["a.sv", "lib/d.v"]),
        ("$RTL/a.sv ${RTL}/b.sv $(RTL)/sub/c.sv\n", ["a.sv", "b.sv", "sub/c.sv"]),
        ('"a.sv" "sub/with blank.sv"\n', ["a.sv", "sub/with blank.sv"]),
        ("sub/with\\ blank.sv\n", ["sub/with blank.sv"]),
        ("a.sv \\\nb.sv\n", ["a.sv", "b.sv"]),
        (b"\xef\xbb\xbfa.sv\r\nb.sv\r\n", ["a.sv", "b.sv"]),
        ("-f sub/more.f\n", ["sub/c.sv"]),
        ("-F sub/more.f\n", ["sub/c.sv"]),
        ("-v lib/d.v a.sv\n", ["lib/d.v", "a.sv"]),
        ("a.sv a.sv\n", ["a.sv"]),
        ("lint.vlt a.sv -Wall --top-module top +libext+.sv -sv\n", ["a.sv"]),
        ("+incdir+inc+lib d\n", ["lib/d.v"]),
    )

    def test_forms(self):
        self.file("sub/more.f", "c.sv\n")
        self.file("lint.vlt")
        for text, names in self.FORMS:
            with self.subTest(text=text), mock.patch.dict(os.environ, {"RTL": str(self.folder)}):
                self.assertEqual(self.names(file_list.read(self.file("list.f", text)).files), names)

    @unittest.skipUnless(shutil.which("verilator"), "no Verilator")
    def test_verilator_takes_the_same(self):
        self.file("sub/more.f", "c.sv\n")
        self.file("lint.vlt", "`verilator_config\n")
        for text, names in self.FORMS:
            if isinstance(text, bytes) or any(more in text for more in ("\\", "with blank", "-f ", "+inc+lib", "-Wall")):
                continue  # read here, and not by Verilator
            path = self.file("list.f", text)
            with self.subTest(text=text):
                shutil.rmtree(self.folder / "made", ignore_errors=True)
                done = subprocess.run(
                    ["verilator", "--cc", "-Wno-fatal", "-Wno-lint", "--MMD", "--Mdir", self.folder / "made", "-F", path],
                    cwd=self.folder, env={**os.environ, "RTL": str(self.folder)}, text=True, capture_output=True, check=False)
                self.assertEqual(done.returncode, 0, done.stderr)
                read = " ".join(made.read_text() for made in (self.folder / "made").glob("*.d")).split()
                # Verilator 5.032 reads a file of its own beside them.
                sources = {Path(word).resolve() for word in read
                           if word.endswith((".sv", ".v")) and not word.startswith("/usr/share/verilator/")}
                self.assertEqual(sources, {self.folder / name for name in names})

    def test_folders_and_macros(self):
        found = file_list.read(self.file("list.f", "+incdir+inc+sub -Ilib -I sub +define+A+B=2 -DC=3 -D D a.sv\n"))
        self.assertEqual(self.names(found.include), ["inc", "sub", "lib"])
        self.assertEqual(found.defines, {"A": "", "B": "2", "C": "3", "D": ""})

    def test_a_written_list_names_the_same(self):
        found = file_list.read(self.file("list.f", '+incdir+inc +define+A=1 "sub/with blank.sv" a.sv\n'))
        file_list.write(self.folder / "again.f", found)
        self.assertEqual(file_list.read(self.folder / "again.f"), found)

    def test_what_is_wrong_is_said(self):
        self.file("circle.f", "-F circle.f\n")
        for text, words in (
            ("a.sv /* b.sv\n", "has no end"),
            ('"a.sv\n', "has no end"),
            ("$NOT_SET_ANYWHERE/a.sv\n", "$NOT_SET_ANYWHERE is not set"),
            ("--binary a.sv\n", "'--binary'"),
            ("a.cpp\n", "no Verilog source"),
            ("-f\n", "nothing behind -f"),
            ("-f gone.f\n", "gone.f: No such file"),
            ("-f circle.f\n", "lists within lists"),
            ("+define+1=2\n", "no macro"),
            (b"a\0b\n", "bytes of zero"),
        ):
            with self.subTest(text=text), self.assertRaises(BadInput) as caught:
                file_list.read(self.file("list.f", text))
            self.assertIn(words, str(caught.exception))
            self.assertNotIn("\n", str(caught.exception))


class Order(Case):
    def order(self, **files):
        paths = [self.file(f"{name}.sv", text) for name, text in sorted(files.items())]
        return [path.stem for path in Sources(paths, [self.folder]).ordered()]

    def test_packages_come_in_the_order_of_their_imports(self):
        self.assertEqual(self.order(a="package a; import z::*; endpackage", z="package z; import m::X; endpackage",
                                    m="package m; endpackage", b="module b; import a::*; endmodule"),
                         ["m", "z", "a", "b"])

    def test_names_without_an_import_count_too(self):
        self.assertEqual(self.order(a="package a; localparam X = z::Y; endpackage", z="package z; endpackage"), ["z", "a"])

    def test_comments_and_strings_are_no_packages(self):
        self.assertEqual(self.order(a='module a; // package b;\n /* package c; */ initial $display("package d; z::x"); endmodule',
                                    z="package z; endpackage // a::x"), ["z", "a"])

    def test_what_is_included_counts_for_the_file(self):
        self.file("types.svh", "typedef z::T t;")
        self.assertEqual(self.order(a='`include "types.svh"\npackage a; endpackage', z="package z; typedef int T; endpackage"),
                         ["z", "a"])

    def test_macros_come_before_their_use(self):
        self.assertEqual(self.order(a="module a; logic [`WIDTH-1:0] x; endmodule", z="`define WIDTH 3\n"), ["z", "a"])

    def test_circles_are_named(self):
        with self.assertRaises(BadInput) as caught:
            self.order(a="package a; import z::*; endpackage", z="package z; import a::*; endpackage")
        self.assertIn("a.sv -> z.sv -> a.sv", str(caught.exception))

    @unittest.skipUnless(shutil.which("verilator"), "no Verilator")
    def test_verilator_reads_a_folder_in_that_order(self):
        self.file("a_pkg.sv", "package a_pkg; import z_pkg::*; localparam int A = Z; endpackage\n")
        self.file("z_pkg.sv", b"\xef\xbb\xbf// package of constants\npackage automatic z_pkg; localparam int Z = 3; endpackage\n")
        self.file("arc_subcore.sv", "module arc_subcore; localparam int W = a_pkg::A; low u_low(); endmodule\n")
        self.file("low.v", "module low; endmodule\n")
        unit = load(str(self.folder))
        self.assertEqual(self.names(unit.files)[:2], ["z_pkg.sv", "a_pkg.sv"])
        done = subprocess.run(["verilator", "--lint-only", "--top-module", "arc_subcore", *map(str, unit.files)], text=True,
                              capture_output=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)


if __name__ == "__main__":
    unittest.main()
