#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Holds the model's cycles against the kernel times that traces have in their headers, with the golden
# unit: a table, mean absolute error, worst point, correlations, and what the model's choice of a
# threshold costs. With --out also correlation.json, .csv and a log-log scatter plot.
#
#   scripts/correlate.sh [--jobs N] [--out DIR] [--gpu NAME] [--policy LIST] [TRACE...]
#
# Without traces: those of traces/data. Exit 2: usage, or the build failed.
set -euo pipefail
# shellcheck source=scripts/lib.sh
source "$(dirname "$0")/lib.sh"

if [[ -z ${WARPFOLD:-} ]]; then
  log=$(mktemp)
  trap 'rm -f "$log"' EXIT
  { cmake -S "$repo" --preset release &&
    cmake --build "$repo/build/release" --target warpfold -j "$jobs"; } >"$log" 2>&1 ||
    { cat "$log" >&2; die "the build failed"; }
fi
python3 -B "$repo/scripts/correlate.py" "$@"
