#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The tests, by tier, with the build that they need. Installs what is missing on Debian 12 and 13.
#   scripts/test.sh --quick      before each commit: what a change of the model, the unit or the format breaks first
#   scripts/test.sh              the gate: all but what takes long; CI runs it
#   scripts/test.sh --nightly    what takes long; scripts/nightly.sh runs it, and more
#   scripts/test.sh --elsewhere  the gate for another user: an empty home, umask 077, another time zone and language
# A preset (release, debug, coverage) may follow; release without one.
set -euo pipefail
# shellcheck source=scripts/lib.sh
source "$(dirname "$(readlink -f "$0")")/lib.sh"
help_first - "$@"

tier=gate
case ${1:-} in
  --quick | --nightly | --elsewhere) tier=${1#--}; shift ;;
  -*) die "unknown option '$1' (--help lists them)" ;;
esac
(($# <= 1)) || die "takes one preset, got '$2' too"
preset=${1:-release}
case $preset in
  release | debug | coverage) ;;
  *) die "unknown preset '$preset'; one of: release debug coverage" ;;
esac

need_writable
ensure_packages "${packages_test[@]}"
cd "$repo"
if [[ $tier == elsewhere ]]; then
  home=$(mktemp -d)
  trap 'rm -rf "$home"' EXIT
  umask 077
  env -i HOME="$home" PATH="$PATH" LC_ALL=POSIX TZ=Pacific/Chatham "$0" "$preset"
  exit
fi

scripts/check_format.sh
scripts/check_boundaries.sh
scripts/check_commits.sh
scripts/check_sv_subset.sh

cmake --preset "$preset" -DWARPFOLD_TESTS=ON
case $tier in
  quick)
    cmake --build --preset "$preset" -j "$jobs" --target warpfold_quick
    ctest --preset "$preset" -j "$jobs" -L '^quick$'
    ;;
  gate)
    scripts/lint_rtl.sh
    cmake --build --preset "$preset" -j "$jobs"
    # What the capture programs do on the host. Their code for GPUs is built at night and where there is a GPU.
    cmake -G Ninja -S traces/capture -B build/capture -DWARPFOLD_CUDA=OFF >/dev/null
    cmake --build build/capture -j "$jobs"
    ctest --test-dir build/capture -j "$jobs" --output-on-failure --no-tests=error
    ctest --preset "$preset" -j "$jobs" -LE '^nightly$'
    ;;
  nightly)
    cmake --build --preset "$preset" -j "$jobs" --target all warpfold_nightly
    ctest --preset "$preset" -j "$jobs" -L '^nightly$'
    ;;
esac
