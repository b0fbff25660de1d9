#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes the numbers, tables and pictures of the documents: docs/numbers, docs/pictures, the tags in the pages.
# Without an option everything that needs no GPU; what was stopped goes on where it was. Installs what is missing on
# Debian 12 and builds the simulator.
#   scripts/results.sh [--cores N] [--speed] [--layout]    probe, simulate and synthesize what is missing, render
#   scripts/results.sh --render | --check | --probe | --keys             --help; python/warpfold/tools/results/README.md
set -euo pipefail
# shellcheck source=scripts/lib.sh
source "$(dirname "$(readlink -f "$0")")/lib.sh"
help_first results.results "$@"

case ${1:-} in
  --render | --check | --keys | --seal | -h | --help)
    ;;
  *)
    prepare_simulator "${packages_test[@]}"
    if [[ -z ${WARPFOLD:-} ]]; then
      if [[ $(sed -n 's/^WARPFOLD_TESTS:BOOL=//p' "$repo/build/release/CMakeCache.txt") != ON ]]; then
        (cd "$repo" && cmake --preset release -DWARPFOLD_TESTS=ON >/dev/null)
      fi
      cmake --build "$repo/build/release" --target accuracy_test warpfold_red_trace -j "$jobs" >/dev/null
    fi
    ;;
esac
exec "${tools[@]}" results.results "$@"
