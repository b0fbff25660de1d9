#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Holds the model's cycles against the kernel times that traces have in their headers, with the golden
# unit: a table, mean absolute error, worst point, correlations, and what the model's choice of a
# threshold costs. With --out also correlation.json, .csv and a log-log scatter plot. Installs what is missing on
# Debian 12 and builds the simulator.
#
#   scripts/correlate.sh [--jobs N] [--out DIR] [--gpu NAME] [--policy LIST] [--as-shipped] [TRACE...]
#
# Samples with most to add are thinned to a third of their CTAs, unless --as-shipped.
# Without traces: those of traces/data. Exit 2: bad input.
set -euo pipefail
# shellcheck source=scripts/lib.sh
source "$(dirname "$(readlink -f "$0")")/lib.sh"
help_first correlate "$@"

prepare_simulator "${packages_correlate[@]}"
exec "${tools[@]}" correlate "$@"
