#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# All tests: style and lint of the RTL, layering, build, unit and lockstep tests, whole runs, netlist.
# Installs what is missing on Debian 12 and 13.
#   scripts/test.sh [release|debug|coverage]     default: release
set -euo pipefail
# shellcheck source=scripts/lib.sh
source "$(dirname "$(readlink -f "$0")")/lib.sh"
help_first - "$@"

(($# <= 1)) || die "takes one preset, got '$2' too"
preset=${1:-release}
case $preset in
  release | debug | coverage) ;;
  *) die "unknown preset '$preset'; one of: release debug coverage" ;;
esac

need_writable
ensure_packages "${packages_test[@]}"
cd "$repo"

scripts/check_format.sh
scripts/check_boundaries.sh
scripts/check_commits.sh
scripts/check_sv_subset.sh
scripts/lint_rtl.sh

cmake --preset "$preset" -DWARPFOLD_TESTS=ON
cmake --build --preset "$preset" -j "$jobs"
ctest --preset "$preset" -j "$jobs"
