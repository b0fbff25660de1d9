#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Simulates every combination of traces, machines, policies and parameters that a sweep file asks for, on this
# machine or on a Slurm cluster, and puts the results into one table. Installs what is missing on Debian 12 and
# builds the simulator. An interrupted sweep goes on where it was.
#   scripts/sweep.sh [--cores N | --slurm] FILE.yaml      scripts/sweep.sh --help; python/warpfold/tools/sweep/README.md
set -euo pipefail
# shellcheck source=scripts/lib.sh
source "$(dirname "$(readlink -f "$0")")/lib.sh"
help_first sweep.sweep "$@"

# With WARPFOLD set, that simulator is used and nothing is installed or built.
prepare_simulator "${packages_sweep[@]}"
exec "${tools[@]}" sweep.sweep "$@"
