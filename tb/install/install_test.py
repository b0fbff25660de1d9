#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Installs a build into a folder, moves it, and builds and runs a project outside with what lies there.

usage: install_test.py --cmake CMAKE --build BUILD --compiler CXX [--flags=FLAGS] [Install.TEST...]
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
ARGS = argparse.Namespace()


def run(*command, **options):
    return subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, check=False, **options)


class Install(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="warpfold-install-")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = Path(folder.name)
        cls.installed = run(ARGS.cmake, "--install", ARGS.build, "--prefix", cls.folder / "first")
        cls.prefix = cls.folder / "moved"
        if cls.installed.returncode == 0:
            (cls.folder / "first").rename(cls.prefix)

    def setUp(self):
        self.assertEqual(self.installed.returncode, 0, self.installed.stdout[-4000:])

    def configure(self, source, name, *options):
        return run(ARGS.cmake, "-G", "Ninja", "-S", source, "-B", self.folder / name, f"-DCMAKE_PREFIX_PATH={self.prefix}",
                   f"-DCMAKE_CXX_COMPILER={ARGS.compiler}", f"-DCMAKE_EXE_LINKER_FLAGS={ARGS.flags}",
                   "-DCMAKE_EXPORT_NO_PACKAGE_REGISTRY=ON", *options, cwd=self.folder)

    def build(self, source, name):
        """Copies a project out of the repository and builds it; the folder of its programs."""
        shutil.copytree(source, self.folder / f"{name}-source")
        done = self.configure(self.folder / f"{name}-source", name)
        self.assertEqual(done.returncode, 0, done.stdout[-4000:])
        done = run(ARGS.cmake, "--build", self.folder / name, "--parallel", "2")
        self.assertEqual(done.returncode, 0, done.stdout[-4000:])
        return self.folder / name

    def output(self, *command, **environment):
        done = run(*command, cwd=self.folder,
                   env={**os.environ, "SYSTEMC_DISABLE_COPYRIGHT_MESSAGE": "1", **environment})
        self.assertEqual(done.returncode, 0, done.stdout[-4000:])
        return done.stdout

    def test_outside_project(self):
        programs = self.build(HERE / "outside", "outside")
        trace = ROOT / "traces/data/truck-values.wft"
        self.assertEqual(self.output(programs / "use_trace", trace), "13 CTAs, 4400 events\n")
        self.assertEqual(self.output(programs / "use_unit"),
                         "golden: cycle 32, sum 32\nrtl: cycle 32, sum 32\n")
        self.assertEqual(self.output(programs / "use_lockstep", trace), "agree over 20 events\n")
        cycles = self.output(self.prefix / "bin/warpfold", "sim", trace, "--gpu", "rtx3060", "--policy",
                             "baseline,arc-hw", "--unit", "golden", "--json", "-")
        for line in self.output(programs / "use_model", trace).splitlines():
            self.assertIn(f'"cycles": {line.split()[0]},', cycles)
        self.assertEqual(self.output(programs / "use_systemc").split("\n")[-2], "golden 1, rtl 1")
        # In a shared library, as in the command.
        gpu = self.output(programs / "use_gpu", trace, "rtx3060").split("\n")[-2]
        self.assertIn(f'"cycles": {gpu.split()[0]},', cycles)

    def test_pkg_config(self):
        if not shutil.which("pkg-config"):
            self.skipTest("no pkg-config")
        environment = {**os.environ, "PKG_CONFIG_PATH": str(self.prefix / "lib/pkgconfig")}

        def ask(*options, package="warpfold"):
            done = run("pkg-config", *options, package, env=environment)
            self.assertEqual(done.returncode, 0, done.stdout)
            return done.stdout.split()
        version = (ROOT / "CMakeLists.txt").read_text(encoding="utf-8").split("VERSION ")[2].split()[0]
        self.assertEqual(ask("--modversion"), [version])
        for name in ("rtldir", "gpusdir"):
            self.assertTrue(Path(*ask(f"--variable={name}")).is_dir(), name)
        for program, package, wanted in (("unit", "warpfold", "golden: cycle 32, sum 32\nrtl: cycle 32, sum 32\n"),
                                         ("systemc", "warpfold-systemc", "golden 1, rtl 1\n")):
            binary = self.folder / f"pkg-config-{program}"
            done = run(ARGS.compiler, "-o", binary, HERE / f"outside/use_{program}.cpp",
                       *ask("--cflags", "--libs", package=package),
                       *filter(None, ARGS.flags.split(";")))
            self.assertEqual(done.returncode, 0, done.stdout[-4000:])
            # pkg-config names no place for the loader to look in.
            said = self.output(binary, LD_LIBRARY_PATH=str(self.prefix / "lib"))
            self.assertTrue(said.endswith(wanted), program)

    def test_exports_names_of_its_own(self):
        library = self.prefix / "lib/libwarpfold.so"
        if not library.exists():
            self.skipTest("static libraries")
        names = run("nm", "-DC", "--defined-only", library).stdout.splitlines()
        self.assertGreater(len(names), 500)
        self.assertEqual([name for name in names if "warpfold::" not in name and not name.endswith(" sc_main")], [])

    def test_debian_packages(self):
        missing = [tool for tool in ("dpkg-deb", "dpkg-shlibdeps", "file") if not shutil.which(tool)]
        if missing or ARGS.flags:
            self.skipTest(f"no {' '.join(missing)}" if missing else "an instrumented build")
        folder = self.folder / "packages"
        done = run("cpack", "--config", ARGS.build / "CPackConfig.cmake", "-B", folder, cwd=self.folder)
        self.assertEqual(done.returncode, 0, done.stdout[-4000:])
        packages = {path.name.split("_")[0]: path for path in folder.glob("*.deb")}
        self.assertEqual(set(packages), {"warpfold", "libwarpfold-dev"})
        files = {name: {line.split()[-1].removeprefix("./usr/") for line in run("dpkg-deb", "-c", path).stdout.splitlines()}
                 for name, path in packages.items()}
        for path in ("bin/warpfold", "share/man/man1/warpfold-sim.1.gz", "share/bash-completion/completions/warpfold",
                     "share/zsh/vendor-completions/_warpfold", "share/doc/warpfold/copyright",
                     "share/doc/warpfold/changelog.Debian.gz", "share/doc/warpfold/changelog.gz"):
            self.assertIn(path, files["warpfold"])
        for path in ("lib/libwarpfold_trace.a", "share/doc/libwarpfold-dev/docs/systemc.md",
                     "share/doc/libwarpfold-dev/examples/systemc_platform/platform.cpp"):
            self.assertIn(path, files["libwarpfold-dev"])
        self.assertFalse({path for path in files["warpfold"] & files["libwarpfold-dev"] if path and not path.endswith("/")})
        self.assertRegex(run("dpkg-deb", "-f", packages["warpfold"], "Depends").stdout, r"libsystemc.*libzstd1")
        self.assertRegex(run("dpkg-deb", "-f", packages["warpfold"], "Depends").stdout, r"\bpython3\b")
        unpacked = self.folder / "unpacked"
        run("dpkg-deb", "-x", packages["warpfold"], unpacked)
        self.tools(unpacked / "usr")
        if shutil.which("lintian"):
            # Information about hardening apart, it finds nothing.
            done = run("lintian", "--allow-root", *packages.values())
            self.assertEqual(done.stdout, "")

    def test_recorder_header(self):
        folder = self.prefix / "include/warpfold"
        self.assertIn('#include <warpfold/record_log.cuh>', (folder / "record.cuh").read_text(encoding="utf-8"))
        # What of it is not for a GPU compiles alone.
        done = run(ARGS.compiler, "-std=c++17", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-x", "c++",
                   "-include", folder / "record_log.cuh", os.devnull)
        self.assertEqual(done.returncode, 0, done.stdout[-4000:])

    def test_example_outside(self):
        programs = self.build(ROOT / "examples/systemc_testbench", "testbench")
        golden, rtl = (self.output(programs / "subcore_testbench", body, "waves") for body in ("golden", "rtl"))
        self.assertEqual(golden, rtl)
        self.assertIn("reduced 1, data 240\n", rtl)

    def find(self, name, words, *options):
        """Configures a project that says find_package(warpfold <words>)."""
        source = self.folder / name
        source.mkdir()
        (source / "CMakeLists.txt").write_text(
            f"cmake_minimum_required(VERSION 3.21)\nproject({name} LANGUAGES CXX)\nfind_package(warpfold {words})\n",
            encoding="utf-8")
        return self.configure(source, f"{name}-build", *options)

    def test_a_later_version_is_not_there(self):
        done = self.find("later", "99 REQUIRED")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("99", done.stdout)

    def test_components(self):
        without = [f"-DCMAKE_DISABLE_FIND_PACKAGE_{package}=ON" for package in ("fmt", "tomlplusplus", "ZLIB", "Zstd")]
        done = self.find("part", "0.2 REQUIRED COMPONENTS unit systemc", *without)
        self.assertEqual(done.returncode, 0, done.stdout[-4000:])
        done = self.find("nothing", "0.2 REQUIRED COMPONENTS unitt")
        self.assertNotEqual(done.returncode, 0)
        self.assertRegex(" ".join(done.stdout.split()), "warpfold has no component unitt: it has trace, unit, .*, no_sc_main")

    def test_refuses_another_systemc(self):
        home = self.folder / "systemc-99"
        (home / "include/sysc/kernel").mkdir(parents=True)
        (home / "include/systemc").touch()
        (home / "include/sysc/kernel/sc_ver.h").write_text(
            "".join(f"#define SC_VERSION_{part}        {number}\n" for part, number in (("MAJOR", 99), ("MINOR", 1), ("PATCH", 2))),
            encoding="utf-8")
        (home / "lib").mkdir()
        (home / "lib/libsystemc.so").touch()
        done = self.find("other", "0.2 REQUIRED COMPONENTS systemc", f"-DSYSTEMC_INCLUDE_DIR={home / 'include'}",
                         f"-DSYSTEMC_LIBRARY={home / 'lib/libsystemc.so'}")
        self.assertNotEqual(done.returncode, 0)
        self.assertRegex(" ".join(done.stdout.split()), r"warpfold was built with SystemC [0-9.]+, and 99\.1\.2 is here")

    def test_defines_names_of_its_own(self):
        """Of what others' code brings, two versions may be in one program."""
        foreign = set()
        for archive in (self.prefix / "lib").glob("libwarpfold_*.a"):
            for line in run("nm", "--defined-only", "--extern-only", "--format=posix", archive).stdout.splitlines():
                name = line.split(" ")[0]
                if " " in line and line.split(" ")[1] not in "VWuv" and not name.startswith(("warpfold_", "__odr_asan", "__")):
                    if "8warpfold" not in name and name != "sc_main":
                        foreign.add(f"{archive.name}: {name}")
        self.assertEqual(foreign, set())

    def test_names_no_folder_of_the_build(self):
        for path in (self.prefix / "lib").rglob("*.cmake"):
            text = path.read_text(encoding="utf-8")
            for folder in (str(ROOT), str(ARGS.build)):
                self.assertNotIn(folder, text, path)

    def test_command_and_data(self):
        self.assertIn("warpfold ", self.output(self.prefix / "bin/warpfold", "--version"))
        share = self.prefix / "share"
        files = {path.relative_to(share).as_posix() for path in share.rglob("*") if path.is_file()}
        for path in [*ROOT.glob("rtl/*.sv"), *ROOT.glob("rtl/arc*"), *ROOT.glob("model/gpus/*.toml")]:
            self.assertIn(f"warpfold/{path.relative_to(ROOT).as_posix().removeprefix('model/')}", files)
        self.assertIn("man/man1/warpfold.1", files)
        self.output(self.prefix / "bin/warpfold", "sim", ROOT / "traces/data/truck-values.wft", "--gpu",
                    share / "warpfold/gpus/h100.toml", "--policy", "baseline")

    def test_python_package(self):
        package = self.prefix / "lib/python3/dist-packages/warpfold"
        self.assertEqual({path.name for path in package.iterdir()},
                         {path.name for path in ROOT.glob("python/warpfold/*.py")} | {"libwarpfold_trace.so", "tools"})
        if "sanitize" in ARGS.flags:
            return  # which Python alone cannot load
        # Without NumPy, which not every Python that runs this has.
        self.output(sys.executable, "-B", "-c", "import ctypes, sys; library = ctypes.CDLL(sys.argv[1]); "
                    "assert library.warpfold_open(b'nowhere') == 0", package / "libwarpfold_trace.so")

    def tools(self, prefix):
        """Each kind of tool on what it finds below a prefix alone."""
        command, share = prefix / "bin/warpfold", prefix / "share/warpfold"
        sweep = self.folder / "s.yaml"
        sweep.write_text("sweeps: [{traces: [truck], machines: [h100], policies: [all], set: {lab.bytes: [4096]}}]\n",
                         encoding="utf-8")
        self.assertEqual(self.output(command, "sweep", "--dry-run", sweep).count("to do"), 9)
        self.output(command, "fit-energy", "--help")
        self.output(command, "yardstick", "--table", self.folder / "yardstick.csv")
        self.assertEqual((self.folder / "yardstick.csv").read_bytes(), (share / "docs/yardstick.csv").read_bytes())
        self.output(command, "calibrate", "--name", "h100", "--measurements", share / "gpus/h100-microbench.json",
                    "--no-replay", "--out", self.folder / "made")
        self.assertIn("bob ", self.output(command, "correlate", "--policy", "sw-s:0", share / "traces/data/bob.wft"))
        if shutil.which("yosys"):
            self.assertIn("arc_scheduler", self.output(command, "synth", "--top", "arc_scheduler", "--transistors-only"))
        done = run(command, "results", "--check", cwd=self.folder)
        self.assertEqual((done.returncode, done.stdout), (2, "warpfold results: works on a checkout of Warpfold: run it in one\n"))

    def test_tools(self):
        self.tools(self.prefix)

    def test_a_unit_of_others(self):
        shutil.copytree(ROOT / "tb/evaluate/queued", self.folder / "queued")
        toml = self.folder / "queued/unit.toml"
        toml.write_text(toml.read_text(encoding="utf-8").replace("../../../rtl", str(self.prefix / "share/warpfold/rtl")),
                        encoding="utf-8")
        said = self.output(self.prefix / "bin/warpfold", "evaluate", "--rtl", self.folder / "queued", "--quick", "--only", "contract",
                           "--out", self.folder / "evaluated", "--cache", self.folder / "cache")
        self.assertRegex(said, r"contract +kept")

    def test_man_pages_and_completions(self):
        share = self.prefix / "share"
        written = {path.name for path in (Path(ARGS.build) / "pages").glob("*.1")}
        self.assertGreater(len(written), 15)
        self.assertEqual({path.name for path in (share / "man/man1").iterdir()}, written)
        self.assertIn("complete ", (share / "bash-completion/completions/warpfold").read_text(encoding="utf-8"))
        self.assertTrue((share / "zsh/site-functions/_warpfold").read_text(encoding="utf-8").startswith("#compdef"))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--cmake", required=True)
    parser.add_argument("--build", required=True, type=Path)
    parser.add_argument("--compiler", required=True)
    parser.add_argument("--flags", default="")
    parser.add_argument("tests", nargs="*")
    ARGS = parser.parse_args()
    unittest.main(argv=[sys.argv[0], *ARGS.tests])
