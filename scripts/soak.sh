#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Random machines within the ranges of their parameters x random small traces x every policy, kind and unit: each
# run ends with true checks, and golden unit, RTL, SystemC's clock, any number of threads, and a timeline give the
# same results.
#   scripts/soak.sh --runs N          so many runs
#   scripts/soak.sh --hours H         or so long
#   ... [--seed S] [--jobs J]         the first run's seed [1], and how many at once [all cores]
# A failure is made small; its trace and the commands that do it again lie in results/soak/SEED.wft and .txt.
# Installs what is missing on Debian 12. Exit code 1: a run failed. 2: bad usage.
set -euo pipefail
# shellcheck source=scripts/lib.sh
source "$(dirname "$(readlink -f "$0")")/lib.sh"
help_first - "$@"

need_writable
ensure_packages "${packages_run[@]}" libgtest-dev
cd "$repo"
cmake --preset release -DWARPFOLD_TESTS=ON >/dev/null
cmake --build --preset release --target warpfold_soak -j "$jobs" >/dev/null
exec build/release/tb/soak/warpfold_soak --jobs "$jobs" --out results/soak "$@"
