# SPDX-License-Identifier: Apache-2.0
"""Walks a warp through machine code instruction by instruction and chance by chance, apart from what the costs do:
what it counts is what a way must cost."""

import re

MARKER = re.compile(r"(LDG|STG|LD|ST|REDG?|ATOMG?|LDS|STS|ATOMS|LDL|STL|BAR|SHFL|WARPSYNC|EXIT)$")
MOVE = re.compile(r"(?:MOV|IMAD\.MOV\.U32) (R\d+), (?:RZ, RZ, )?(?:0x([0-9a-f]+)|(R\d+))$")


def is_conditional(i):
    return i.guard is not None or (i.opcode == "BRA" and any(re.search(r"\bU?P\d", o) for o in i.operands[:-1]))


def walk(code, tables, rng, most=300):
    """(markers passed from the entry on, each with the number of instructions issued up to it)."""
    at = issued = 0
    registers = {}
    passed = [(-1, 0)]
    while len(passed) < most:
        i = code[at // 16]
        issued += 1
        runs = not is_conditional(i) or rng.random() < 0.5
        following = at + 16
        if runs and MARKER.match(i.opcode):
            passed.append((at, issued))
        found = MOVE.match(i.text)
        if found:
            to, number, source = found.groups()
            registers[to] = int(number, 16) if number else registers.get(source)
        if i.opcode == "EXIT" and runs:
            break
        if runs and i.opcode in ("BRA", "CALL") and not i.name.startswith("BRA.DIV"):
            following = i.target
        elif i.opcode == "BRX":
            following = rng.choice(tables[at])
        elif i.opcode == "RET":
            following = registers[i.operands[0].split(" ")[0]]
        at = following
    return passed
