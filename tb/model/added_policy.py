#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Takes the example of docs/extend.md, "Add a policy", out of the page: writes its file, and rules.cpp with its line.

usage: added_policy.py PAGE RULES_CPP OUT_RULE OUT_RULES_CPP. Exit code 1: the page has no such example any more.
"""

import re
import sys
from pathlib import Path


def main(page, rules, out_rule, out_rules):
    section = Path(page).read_text(encoding="utf-8").partition("\n## Add a policy\n")[2].partition("\n## ")[0]
    blocks = {kind: re.findall(rf"^```{kind}\n(.*?)^```$", section, re.MULTILINE | re.DOTALL) for kind in ("cpp", "diff")}
    if [len(found) for found in blocks.values()] != [1, 1]:
        sys.exit(f"{page}: 'Add a policy' must have one cpp block, the file, and one diff block, the line")
    above, _, added = blocks["diff"][0].partition("\n")
    text = Path(rules).read_text(encoding="utf-8")
    if not re.fullmatch(r"\+[^\n]*\n", added) or text.count(above[1:] + "\n") != 1:
        sys.exit(f"{page}: the diff must add one line behind one of {rules}, and has '{above}' and '{added}'")
    Path(out_rule).write_text(blocks["cpp"][0], encoding="utf-8")
    Path(out_rules).write_text(text.replace(above[1:] + "\n", above[1:] + "\n" + added[1:]), encoding="utf-8")


if __name__ == "__main__":
    if len(sys.argv) != 5:
        sys.exit(__doc__)
    main(*sys.argv[1:])
