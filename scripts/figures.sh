#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Draws the figures of ARC's evaluation from the simulations of docs/numbers, beside the numbers that the paper states:
# results/figures/index.html. Installs what is missing on Debian 12. scripts/results.sh makes the simulations.
#   scripts/figures.sh [--output DIR] [--only NAME,...]      scripts/figures.sh --help; python/warpfold/tools/figures/README.md
set -euo pipefail
# shellcheck source=scripts/lib.sh
source "$(dirname "$(readlink -f "$0")")/lib.sh"
help_first figures.figures "$@"

ensure_packages "${packages_figures[@]}"
exec "${tools[@]}" figures.figures "$@"
