#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Man pages say what --help says, all of it and no more, and shells complete what the command takes.

usage: pages_test.py WARPFOLD
"""

import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

WARPFOLD = sys.argv.pop(1)
BREAKS = " \t\n\"'@><=;|&(:"


def help_of(words):
    done = subprocess.run([WARPFOLD, *words, "--help"], capture_output=True, text=True, check=True)
    return done.stdout


def words_of(text):
    return " ".join(text.split())


def listed(text, title):
    """What --help lists under a title: [(name with its details, text)]."""
    section = re.search(rf"^{title}:\n((?:  .*\n)+)", text, re.MULTILINE)
    entries = []
    for line in section.group(1).splitlines() if section else []:
        if re.match(r"  \S", line):
            entries.append(line)
        else:
            entries[-1] += "\n" + line
    return [words_of(entry) for entry in entries]


def commands_of(text):
    """What --help lists as commands, the tools among them."""
    return [*listed(text, "Subcommands"), *listed(text, "Tools")]


class Page:
    """A page taken apart as man(1) reads it."""

    def __init__(self, path):
        text = path.read_text(encoding="utf-8")
        self.sections = {}
        for title, body in re.findall(r"^\.SH (.*)\n((?:(?!\.SH ).*\n)*)", text, re.MULTILINE):
            self.sections[title] = body

    @staticmethod
    def plain(text):
        text = re.sub(r"^\.(?:TP|PP|nf|fi|RS|RE)\n", "", text, flags=re.MULTILINE)
        text = re.sub(r"^\.(?:B|I) ", "", text, flags=re.MULTILINE)
        assert not re.search(r"^\.", text, re.MULTILINE), text
        for roff, char in (("\\&", ""), ("\\(aq", "'"), ("\\(ga", "`"), ("\\(ti", "~"), ("\\(ha", "^"), ("\\-", "-"),
                           ("\\e", "\\")):
            text = text.replace(roff, char)
        return words_of(text)

    def text(self, title):
        return self.plain(self.sections.get(title, ""))

    def entries(self, title):
        parts = self.sections.get(title, "").split(".TP\n")[1:]
        return [self.plain(part) for part in parts]


class Written(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = Path(folder.name) / "pages"
        subprocess.run([WARPFOLD, "pages", cls.folder], check=True)
        cls.commands = [[]]
        for words in cls.commands:
            cls.commands += [[*words, entry.split()[0]] for entry in commands_of(help_of(words))]


class Pages(Written):
    def page(self, words):
        return Page(self.folder / ("-".join(["warpfold", *words]) + ".1"))

    def test_a_page_for_each_command(self):
        self.assertGreater(len(self.commands), 15)
        self.assertEqual({path.name for path in self.folder.iterdir()},
                         {"-".join(["warpfold", *words]) + ".1" for words in self.commands}
                         | {"warpfold.bash", "_warpfold", "commands.md"})

    def test_the_reference_has_every_option(self):
        text = (self.folder / "commands.md").read_text(encoding="utf-8")
        sections = dict(re.findall(r"^## (.*)\n((?:(?!## ).*\n)*)", text, re.MULTILINE))
        for words in self.commands:
            said = help_of(words)
            if commands_of(said):
                continue
            rows = re.findall(r"^\| `([^`]+)`", sections.pop(" ".join(["warpfold", *words])), re.MULTILINE)
            wanted = [re.split(r"[ =:{]", entry)[0].replace(",", ", ") for title in ("Positionals", "Options")
                      for entry in listed(said, title) if not entry.startswith("-h,")]
            self.assertEqual(rows, wanted, words)
        self.assertEqual(sections, {})

    def test_pages_say_what_help_says(self):
        for words in self.commands:
            with self.subTest(words=words):
                text, page = help_of(words), self.page(words)
                self.assertEqual(page.entries("OPTIONS"), listed(text, "Options"))
                self.assertEqual(page.entries("ARGUMENTS"), listed(text, "Positionals"))
                prefix = " ".join(["warpfold", *words])
                self.assertEqual(page.entries("COMMANDS"),
                                 [f"{prefix} {entry}" for entry in commands_of(text)])
                first, usage = text.splitlines()[:2]
                self.assertEqual(page.text("NAME"), f"{prefix.replace(' ', '-')} - {first.rstrip('.')}")
                self.assertEqual(page.text("SYNOPSIS"), usage.removeprefix("Usage: "))
                self.check_end(text, page, first)

    def check_end(self, text, page, first):
        """Each paragraph behind the lists stands in one section."""
        end = re.split(r"\n\n(?!Options:|Positionals:|Subcommands:|Tools:)", text)[1:]
        own = [words_of(part) for part in "\n\n".join(end).split("\n\n") if part.strip()]
        pages = [page.text("DESCRIPTION").removeprefix(first.rstrip(".") + ".").strip(), page.text("EXIT STATUS"),
                 page.text("EXAMPLES")]
        self.assertEqual(sorted(" ".join(own).split()), sorted(" ".join(pages).split()))
        for paragraph in own:
            self.assertTrue(any(paragraph in body for body in pages), paragraph)

    def test_typed_lines_stay_as_they_are(self):
        self.assertIn(".nf\n.RS\nwarpfold sim truck.wft\n.RE\n.fi\n", self.page([]).sections["EXAMPLES"])

    def test_man_takes_them_without_a_warning(self):
        if not shutil.which("man"):
            self.skipTest("no man")
        for path in self.folder.glob("*.1"):
            done = subprocess.run(["man", "--warnings", "-l", path], capture_output=True, text=True, check=True,
                                  env={"PATH": "/usr/bin:/bin", "MANWIDTH": "100", "LC_ALL": "C.UTF-8"})
            self.assertEqual(done.stderr, "", path.name)

    def test_help_does_not_list_the_command_that_writes_them(self):
        self.assertNotIn("pages", [entry.split()[0] for entry in commands_of(help_of([]))])

    def test_bad_folder_is_one_line_and_exit_2(self):
        done = subprocess.run([WARPFOLD, "pages", self.folder / "warpfold.1" / "x"], capture_output=True, text=True,
                              check=False)
        self.assertEqual(done.returncode, 2)
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)


# What is typed, and what it is completed with.
TYPED = {
    "warpfold tr": ["trace"],
    "warpfold trace s": ["slice", "sample"],
    "warpfold pa": [],
    "warpfold sim --pol": ["--policy"],
    "warpfold sim x.wft --unit g": ["golden"],
    "warpfold sim --unit-kind v": ["vector", "vector-staged"],
    "warpfold sim --gpu rtx": ["rtx4090", "rtx3060"],
    "warpfold sim --gpu h200,rtx3": ["h200,rtx3060"],
    "warpfold sim --policy lab": ["lab", "lab-ideal"],
    "warpfold sim --policy baseline,sw": ["baseline,sw-s:", "baseline,sw-b:"],
    "warpfold sim --policy=baseline,arc": ["baseline,arc-hw", "baseline,arc-merge", "baseline,arc-merge-l2"],
    "warpfold sim --policy sw-b:16,ph": ["16,phi"],
    "warpfold sim --json g": [],
    "warpfold gpus --h": ["--help"],
    "warpfold syn": ["synth"],
    "warpfold synth --tr": ["--transistors-only"],
    "warpfold yardstick --gpu h": ["h200", "h100"],
}


class Completion(Written):
    def complete(self, line):
        script = (f"source {self.folder}/warpfold.bash; COMP_LINE=$1 COMP_POINT=${{#1}} COMP_WORDBREAKS=$2; _warpfold;"
                  'printf "%s\\n" "${COMPREPLY[@]}"')
        done = subprocess.run(["bash", "-euc", script, "-", line, BREAKS], capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""), line)
        return done.stdout.split()

    def test_bash(self):
        for line, choices in TYPED.items():
            self.assertEqual(self.complete(line), choices, line)

    def test_every_command_and_option(self):
        for words in self.commands:
            line = " ".join(["warpfold", *words]) + " "
            text = help_of(words)
            self.assertEqual(self.complete(line), [entry.split()[0] for entry in commands_of(text)], line)
            options = [re.search(r"--[a-z0-9-]*[a-z0-9]", entry).group() for entry in listed(text, "Options")]
            self.assertEqual(self.complete(line + "-"), options, line)

    def test_lists_of_the_command_itself(self):
        def first_column(command):
            output = subprocess.run([WARPFOLD, command], capture_output=True, text=True, check=True).stdout
            return [line.split()[0].removesuffix("X") for line in output.split("\n\n")[0].splitlines()
                    if line[0].islower() and not line.startswith("gpu ")]
        self.assertEqual(self.complete("warpfold sim --gpu "), first_column("gpus"))
        self.assertEqual(self.complete("warpfold sim --policy "), ["all", *first_column("policies")])

    def test_zsh(self):
        if not shutil.which("zsh"):
            self.skipTest("no zsh")
        # Stand-ins for what zsh has only while it completes.
        stand_ins = """
          compset() { local short=${words[CURRENT]#${~2}}; [[ $short != ${words[CURRENT]} ]] || return 1
            words[CURRENT]=${words[CURRENT]##${~2}}; }
          compadd() { while [[ $1 != -- ]]; do shift; done; shift; print -l -- ${(M)@:#${words[CURRENT]}*}; }
          _files() { }
          words=("${(@s: :)1}") CURRENT=$#words; shift; source $1"""
        for line, choices in TYPED.items():
            done = subprocess.run(["zsh", "-f", "-c", stand_ins, "-", line, self.folder / "_warpfold"],
                                  capture_output=True, text=True, check=False)
            self.assertEqual((done.returncode, done.stderr), (0, ""), line)
            shown = [re.split("[,=]", choice.removeprefix("16,"))[-1] for choice in choices]
            self.assertEqual(done.stdout.split(), shown, line)


if __name__ == "__main__":
    unittest.main()
