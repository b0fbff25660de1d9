# SPDX-License-Identifier: Apache-2.0
"""What ends a tool before its work is done. The text of each is one line, for whoever called it."""


class BadInput(Exception):
    """The caller gave or asked for something that cannot be used: exit code 2."""


class ToolFailed(Exception):
    """A program that was run stopped where it should not: exit code 1."""
