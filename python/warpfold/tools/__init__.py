# SPDX-License-Identifier: Apache-2.0
"""The tools behind the subcommands of `warpfold` that are written in Python, and those of developers."""

from .base import guard  # first: an interrupt says nothing, whatever is imported next

__all__ = ["guard"]
