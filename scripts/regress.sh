#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The constrained-random tests, unit benches, lockstep and the SystemC modules, with N seeds one after
# the other. Prints one line for each seed and stops at the first that fails, with the test and the
# command that repeats it.
#
#   scripts/regress.sh [--seeds N] [--from SEED]     default: 10 seeds, from the time of day
#
# Exit 1: a test fails. Exit 2: usage, or the build failed.
set -euo pipefail
# shellcheck source=scripts/lib.sh
source "$(dirname "$(readlink -f "$0")")/lib.sh"
help_first - "$@"
# shellcheck source=scripts/progress.sh
source "$repo/scripts/progress.sh"

seeds=10
first=$(date +%s)
while (($#)); do
  [[ $1 == --seeds || $1 == --from ]] || die "unknown option '$1'; there are --seeds and --from"
  [[ ${2:-} =~ ^[0-9]{1,18}$ ]] || die "$1 needs a number"
  if [[ $1 == --seeds ]]; then seeds=$((10#$2)); else first=$((10#$2)); fi
  shift 2
done
((seeds > 0)) || die "--seeds needs at least 1"
need_writable
cd "$repo"

log=$(mktemp)
trap 'rm -f "$log"' EXIT
programs=(tb/lockstep/lockstep_tests)
for bench in tb/unit/*_test.cpp; do programs+=("${bench%.cpp}"); done
runs=("${programs[@]/%/ --gtest_brief=1 --gtest_fail_fast}")
programs+=(tb/systemc/systemc_lockstep)
for kind in $(unit_kinds); do runs+=("tb/systemc/systemc_lockstep $kind"); done
{ cmake --preset release -DWARPFOLD_TESTS=ON &&
  cmake --build --preset release --target "${programs[@]##*/}" -j "$jobs"; } >"$log" 2>&1 ||
  { tail -20 "$log" >&2; die "the build failed"; }

for ((seed = first; seed < first + seeds; seed++)); do
  started=$SECONDS
  for i in "${!runs[@]}"; do
    read -ra words <<<"${runs[i]}"
    progress $(((seed - first) * ${#runs[@]} + i)) $((seeds * ${#runs[@]})) "runs of benches"
    if ! WARPFOLD_SEED=$seed "build/release/${words[0]}" "${words[@]:1}" >"$log" 2>&1; then
      wipe_progress
      grep -v '^WARPFOLD_SEED' "$log" | tail -20
      echo "seed $seed: FAILED; again with: WARPFOLD_SEED=$seed build/release/${runs[i]}"
      exit 1
    fi
  done
  wipe_progress
  echo "seed $seed: ok, $((SECONDS - started)) s"
done
