#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The tests of pages find what they are for: each rule is broken once in a repository made up here."""

import shutil
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

PYTHON = Path(__file__).resolve().parents[2] / "python"

SIMULATOR = """#!/bin/sh
case "$*" in
  --help) printf 'Subcommands:\\n  gpus    List\\n  sim     Run\\n  trace   Look\\n\\n' ;;
  "trace --help") printf 'Subcommands:\\n  info    What\\n\\n' ;;
  *--help) echo "  --json FILE" ;;
  gpus*) printf 'gpu  cores\\nbig     64\\nsmall    2\\n' ;;
  *) echo "warpfold: no such trace: $*" >&2; exit 2 ;;
esac
"""

SOUND = """# Manual

The commands, one after the other. See [the list](#gpus-and-more) and `warpfold trace info --json`.

## GPUs and more

```console
$ warpfold gpus
gpu  cores
big     64
small    2
$ echo one > made.txt; \\
    cat made.txt
one
```

<!-- test: exit 2 -->
```console
$ warpfold sim none.wft
warpfold: [...] sim none.wft
```

<!-- file: my.toml -->
```toml
name = "mine"
```

```console
$ cat my.toml made.txt
...
one
```
"""


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name) / "repo"
        shutil.copytree(PYTHON, self.root / "python", ignore=shutil.ignore_patterns("__pycache__", "*.md"))
        self.write("rtl/arc.f", "")  # by which a checkout is known
        self.simulator = self.root / "warpfold"
        self.write("warpfold", SIMULATOR).chmod(0o755)
        self.write("scripts/tool.sh", "#!/bin/sh\n# A tool.\n#   scripts/tool.sh [--fast]\nexit 0\n").chmod(0o755)
        self.write("README.md", "# It\n\nOne line.\n\n```console\n$ warpfold gpus\n...\n```\n")
        self.write("docs/simulate.md", SOUND)

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def program(self, name, *arguments):
        return subprocess.run([sys.executable, "-B", self.root / "python", name, *arguments], text=True,
                              capture_output=True, check=False, cwd=self.root)

    def assert_ends(self, done, code, words):
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        self.assertIn(words, done.stdout + done.stderr)


class Commands(Case):
    def run_page(self, text, *options):
        page = self.write("docs/simulate.md", text)
        return self.program("docs", "--warpfold", str(self.simulator), "--build", str(self.root), *options,
                            str(page))

    def test_sound_page(self):
        self.assert_ends(self.run_page(SOUND), 0, "docs/simulate.md: ok")
        self.assertFalse((self.root / "made.txt").exists(), "outputs stay out of the tree")
        self.assertFalse((self.root / "my.toml").exists())

    def test_builds_of_pages_stay_apart(self):
        program = self.write("build/model/tool", "#!/bin/sh\necho built\n")
        program.chmod(0o755)
        done = self.run_page("```console\n$ build/release/model/tool\nbuilt\n"
                             "$ echo other > build/release/model/tool; echo new > build/release/CMakeCache.txt\n```\n",
                             "--build", str(self.root / "build"))
        self.assert_ends(done, 0, "ok")
        self.assertIn("built", program.read_text(encoding="utf-8"))
        self.assertFalse((self.root / "build/CMakeCache.txt").exists())

    def test_other_output(self):
        done = self.run_page(SOUND.replace("big     64", "big     65"))
        self.assert_ends(done, 1, "-big     65\n+big     64")
        self.write("warpfold", SIMULATOR.replace("64", "63"))
        done = self.run_page(SOUND)
        self.assert_ends(done, 1, "-big     64\n+big     63")

    def test_missing_and_additional_lines(self):
        self.assert_ends(self.run_page(SOUND.replace("small    2\n", "")), 1, "+small    2")
        self.assert_ends(self.run_page(SOUND.replace("small    2\n", "small    2\nmore\n")), 1, "-more")

    def test_exit_codes(self):
        self.assert_ends(self.run_page(SOUND.replace("exit 2", "exit 1")), 1, "exit code 2, not 1")
        self.assert_ends(self.run_page("```console\n$ false\n```\n"), 1, "exit code 1, not 0")
        self.assert_ends(self.run_page("<!-- test: run -->\n```console\n$ false\n```\n"), 1, "exit code 1, not 0")

    def test_commands_that_take_too_long(self):
        page = f"```console\n$ (sleep 2; touch {self.root}/late) & sleep 60\n```\n"
        self.assert_ends(self.run_page(page, "--timeout", "1"), 1, "exit code 124, not 0")
        time.sleep(2)
        self.assertFalse((self.root / "late").exists(), "what it started has ended, too")

    def test_patterns(self):
        page = "```console\n$ printf 'a\\nb1\\nc\\n'\n{}```\n"
        for shown, code in (("...\n", 0), ("a\n...\nc\n", 0), ("a\nb[...]\nc\n", 0), ("[...]\nb1\nc\n", 0),
                            ("a\n...\nd\n", 1), ("a\nx[...]\nc\n", 1), ("[...]\n", 1), ("a\nb.\nc\n", 1)):
            with self.subTest(shown=shown):
                self.assertEqual(self.run_page(page.format(shown)).returncode, code)

    def test_update(self):
        text = SOUND.replace("big     64", "big     65").replace("one\n```", "two\n```")
        self.assert_ends(self.run_page(text, "--update"), 0, "3 outputs brought up to date")
        updated = (self.root / "docs/simulate.md").read_text(encoding="utf-8")
        self.assertEqual(updated, SOUND)

    def test_update_keeps_what_is_left_out(self):
        page = "```console\n$ printf 'run of {0} ms\\n\\nname  cycles\\na  {0}\\nb  {0}\\n\\nlong {0}\\nend\\n'\n{1}```\n"
        for shown, wanted in (("run of 1 ms\n...\nb  1\n...\n", "run of 23 ms\n...\nb  23\n...\n"),
                              ("...\nend of it\n", "...\nend\n"),
                              ("run of 1 ms\n...\nc  1\n", "run of 23 ms\n...\nend\n")):
            with self.subTest(shown=shown):
                self.assertEqual(self.run_page(page.format(23, shown), "--update").returncode, 0)
                self.assertEqual((self.root / "docs/simulate.md").read_text(encoding="utf-8"), page.format(23, wanted))
                self.assertEqual(self.run_page(page.format(23, wanted)).returncode, 0)

    def test_nightly_and_gpu(self):
        page = "<!-- test: {} -->\n```console\n$ warpfold gpus\nnothing\n```\n"
        self.assertEqual(self.run_page(page.format("nightly")).returncode, 0)
        self.assertEqual(self.run_page(page.format("nightly"), "--nightly").returncode, 1)
        self.assertEqual(self.run_page(page.format("run nightly"), "--nightly").returncode, 0)
        self.assertEqual(self.run_page(page.format("gpu"), "--nightly").returncode, 0)
        self.assertEqual(self.run_page(page.format("gpu"), "--gpu").returncode, 1)

    def test_a_changed_simulator(self):
        changed = self.write("changed", SIMULATOR.replace("small    2", "small    3"))
        changed.chmod(0o755)
        page = "<!-- test: changed -->\n```console\n$ warpfold gpus\n...\nsmall    3\n```\n" + SOUND
        self.assert_ends(self.run_page(page), 0, "ok")
        self.assert_ends(self.run_page(page, "--changed", str(changed)), 0, "ok")
        self.assert_ends(self.run_page(page, "--changed", str(self.simulator)), 1, "small    3\n+gpu  cores")
        self.assert_ends(self.run_page(page.replace("gpus", "gpus --none", 1)), 1, "no option")
        self.assert_ends(self.run_page(page, "--changed", "none"), 2, "no program none")

    def test_parts_of_the_site(self):
        self.write("docs/more.md", "# More\n")
        listed = "[[part]]\ntitle = 'Use'\npages = ['docs/simulate.md'{}]\n"
        self.write("docs/simulate.md", SOUND)
        for pages, words in (("", "docs/more.md stands in no part"), (", 'docs/none.md'", "docs/none.md: no such page"),
                             (", 'docs/more.md', 'docs/more.md'", "docs/more.md: listed twice")):
            with self.subTest(pages=pages):
                self.write("docs/site/parts.toml", listed.format(pages))
                self.assert_ends(self.program("docs-site", "--out", str(self.root / "site")), 2, words)
        self.assertFalse((self.root / "site").exists())

    def test_names_of_commands(self):
        for code, words in (("warpfold simulate x", "no such subcommand"), ("warpfold gpus --jsonl F", "no option"),
                            ("warpfold trace info|fix", "no such subcommand"), ("scripts/none.sh", "there is no"),
                            ("scripts/tool.sh --slow", "has no option --slow")):
            with self.subTest(code=code):
                self.assert_ends(self.run_page(f"Use `{code}`.\n"), 1, words)
                page = f"<!-- test: nightly -->\n```console\n$ {code.replace('|', ' ')}\n```\n"
                if "|" not in code:
                    self.assert_ends(self.run_page(page), 1, words)
        self.assert_ends(self.run_page("# A\n\nUse `warpfold gpus\n--none` here.\n"), 1, "line 3: `warpfold gpus` has no")
        for code in ("warpfold gpus --json F", "warpfold trace info --json", "scripts/tool.sh --fast", "scripts/*.sh"):
            with self.subTest(code=code):
                self.assertEqual(self.run_page(f"Use `{code}`.\n").returncode, 0)

    def test_pages_against_the_rules(self):
        for text, words in (("<!-- test: sometimes -->\n```console\n$ true\n```\n", "is no mark"),
                            ("<!-- test: run -->\n\n```console\n$ true\n```\n", "before a fence"),
                            ("```console\ntrue\n```\n", "begins with"), ("```console\n$ true\n", "nothing closes"),
                            ("<!-- file: ../x -->\n```\n```\n\n```console\n$ true\n```\n", "outside")):
            with self.subTest(text=text):
                self.assert_ends(self.run_page(text), 2, words)


class Form(Case):
    def broken(self, name, text, words):
        self.write(name, text)
        self.assert_ends(self.program("docs-form"), 1, words)

    def test_sound_pages(self):
        self.assert_ends(self.program("docs-form"), 0, "pages: 2, ok")

    def test_length_of_the_readme(self):
        text = "# It\n\n```console\n$ warpfold gpus\n...\n```\n"
        self.write("README.md", text + "\n" * 144)
        self.assert_ends(self.program("docs-form"), 0, "ok")
        self.broken("README.md", text + "\n" * 145, "README.md:151: 151 lines, more than 150")

    def test_long_paragraphs(self):
        line = "ninety-nine letters and blanks, of which six make a paragraph, and a seventh makes one too many. \n"
        self.write("tb/README.md", "# Tests\n\n" + line * 6 + "\n" + line * 6 + "\n## More\n" + line * 6)
        self.assert_ends(self.program("docs-form"), 0, "ok")
        self.broken("tb/README.md", "# Tests\n\n" + line * 7, "tb/README.md:3: a paragraph of")
        self.broken("tb/README.md", "# Tests\n" + line * 7, "tb/README.md:2: a paragraph of")
        self.broken("tb/README.md", "- item\n\n" + line * 7, "tb/README.md:3: a paragraph of")
        for no_paragraph in ("- " + "  ".join([line] * 9), "- " + line * 9, "1. " + "   ".join([line] * 9),
                             ("| " + line) * 9, "```\n" + line * 9 + "```\n", ("    " + line) * 9,
                             "[" + "x" * 9 + "](docs/simulate.md)\n<!-- " + line.strip() * 9 + " -->\n"):
            with self.subTest(text=no_paragraph[:20]):
                self.write("tb/README.md", "# Tests\n\n" + no_paragraph.replace("(docs/", "(../docs/"))
                self.assert_ends(self.program("docs-form"), 0, "ok")

    def test_links(self):
        for link in ("[x](none.md)", "![x](none.svg)", '<img src="none.svg">', "[x](simulate.md#none)", "[x](#none)",
                     "[x]: none.md"):
            with self.subTest(link=link):
                self.broken("docs/more.md", f"# More\n\n![](simulate.md)\n{link}\n", "docs/more.md:4: a link leads")
        self.write("docs/more.md", "# A `more`: 2 x\n\n![](simulate.md) [a](#a-more-2-x) [b](simulate.md#gpus-and-more)\n"
                                   "[c](https://example.org/none) `[d](none)` [e](../README.md#it)\n")
        self.assert_ends(self.program("docs-form"), 0, "ok")

    def test_pages_for_users_have_examples(self):
        self.broken("docs/more.md", "# More\n\nWords.\n", "docs/more.md:1: a page for users without")
        self.write("docs/more.md", "# More\n\n![words](simulate.md)\n")
        self.write("docs/notebook.md", "# Words\n")
        self.write("tb/README.md", "# Words\n")
        self.write("docs/numbers/README.md", "# Words\n")
        self.assert_ends(self.program("docs-form"), 0, "ok")

    def test_hedges(self):
        for text in ("It is 2.1 in place of 2.0.\n", "| a | the model before |\n", "- It has one of its own.\n",
                     "Figures of an\nolder version.\n"):
            with self.subTest(text=text):
                self.broken("tb/README.md", "# Tests\n\n" + text, "tb/README.md:3: hedges")

    def test_commands_outside_of_console_blocks(self):
        for text in ("```\n$ make\n```\n", "```sh\nscripts/test.sh\n```\n", "    warpfold gpus\n",
                     "    cmake --preset release\n"):
            with self.subTest(text=text):
                self.broken("tb/README.md", "# Tests\n\n" + text, "a command in")


if __name__ == "__main__":
    unittest.main()
