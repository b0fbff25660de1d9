# SPDX-License-Identifier: Apache-2.0
"""The exception of the package."""


class Error(ValueError):
    """A file that is refused, or a site, parameter or number of CTAs that is not there: one line that says which."""
