#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Draws the figures of ARC's evaluation from simulations of the shipped traces, beside the numbers that the paper
# states: results/figures/index.html. Installs what is missing on Debian 12 and builds the simulator. What has been
# simulated is not simulated again.
#   scripts/figures.sh [--cores N | --slurm] [--output DIR]      scripts/figures.sh --help; scripts/figures/README.md
set -euo pipefail
# shellcheck source=scripts/lib.sh
source "$(dirname "$(readlink -f "$0")")/lib.sh"

prepare_simulator "${packages_figures[@]}"
PYTHONDONTWRITEBYTECODE=1 exec "$debian_python" "$repo/scripts/figures/figures.py" "$@"
