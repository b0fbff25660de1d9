# SPDX-License-Identifier: Apache-2.0
"""Machine code that tests make up."""

from warpfold.tools.costs.instructions import Instruction


def code_of(*lines):
    """Instructions of one line each, of stall count 2; behind # the scoreboard that one sets, behind ? that it waits for."""
    code = []
    for number, line in enumerate(lines):
        text, _, scoreboard = line.partition(" #")
        text, _, wait = text.partition(" ?")
        high = 2 << 41 | (int(scoreboard) if scoreboard else 7) << 46 | 7 << 49 | (1 << int(wait) if wait else 0) << 52
        code.append(Instruction(16 * number, text, 0, high))
    return code
