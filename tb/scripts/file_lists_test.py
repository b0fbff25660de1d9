#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""rtl/arc.f, arc.core (FuseSoC) and Bender.yml name the same files in the same order, and all that are there."""

import re
import unittest
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[2]
RTL = ROOT / "rtl"


def plain_list():
    lines = (re.sub(r"//.*", "", line).strip() for line in (RTL / "arc.f").read_text(encoding="utf-8").splitlines())
    return [line for line in lines if line]


def core():
    text = (RTL / "arc.core").read_text(encoding="utf-8")
    first, rest = text.split("\n", 1)  # what FuseSoC looks for; no YAML
    assert first == "CAPI=2:", first
    return yaml.safe_load(rest)


def names(files):
    """Entries are names, or a name with attributes."""
    return [next(iter(entry)) if isinstance(entry, dict) else entry for entry in files]


class FileLists(unittest.TestCase):
    def test_every_source_is_listed_once(self):
        self.assertEqual(sorted(plain_list()), sorted(path.name for path in RTL.glob("*.sv")))

    def test_fusesoc(self):
        files = names(core()["filesets"]["rtl"]["files"])
        headers = [name for name in files if name.endswith(".svh")]
        self.assertEqual(headers, sorted(path.name for path in RTL.glob("*.svh")))
        self.assertEqual([name for name in files if name not in headers], plain_list())

    def test_bender(self):
        manifest = yaml.safe_load((RTL / "Bender.yml").read_text(encoding="utf-8"))
        groups = manifest["sources"]
        self.assertEqual([name for group in groups for name in group["files"]], plain_list())
        self.assertTrue(all("." in group["include_dirs"] for group in groups), "arc_assert.svh is beside the sources")

    def test_parameters_are_those_of_the_top(self):
        description = core()
        header = re.search(r"module arc_subcore #\((.*?)\n\) \(", (RTL / "arc_subcore.sv").read_text(encoding="utf-8"), re.DOTALL)
        settable = re.findall(r"^\s*parameter int (\w+)", header.group(1), re.MULTILINE)
        self.assertEqual(settable, list(description["parameters"]))
        self.assertEqual(settable, description["targets"]["default"]["parameters"])

    def test_version_is_that_of_the_project(self):
        version = re.search(r"project\(warpfold VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text(encoding="utf-8")).group(1)
        self.assertEqual(core()["name"].split(":")[-1], version)


if __name__ == "__main__":
    unittest.main()
