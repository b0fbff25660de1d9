#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Coverage of the RTL by the unit benches and the lockstep tests, counted by Verilator: prints lines,
# branches and toggles reached, for each module and kind of unit, and each line and branch that is
# not. tb/coverage_waivers.txt explains those that cannot be reached.
#
#   scripts/coverage.sh [--toggles]     --toggles: list the bits that never toggle as well
#
# Exit 1: a line or branch is not reached and not explained, an explanation is out of date, or a test
# fails. Exit 2: usage, or a step failed. Signals wider than 256 bits (request addresses) are not
# counted for toggles, which is the default of Verilator. Counts stay in build/coverage/rtl_coverage,
# to be looked at with verilator_coverage.
set -euo pipefail
# shellcheck source=scripts/lib.sh
source "$(dirname "$(readlink -f "$0")")/lib.sh"
help_first - "$@"

(($# == 0)) || [[ $# == 1 && $1 == --toggles ]] || die "takes --toggles or nothing, got '$*'"
cd "$repo"
folder=build/coverage/rtl_coverage
rm -rf "$folder"
mkdir -p "$folder"
must() { "$@" >"$folder/log" 2>&1 || { tail -20 "$folder/log" >&2; die "failed: $*"; }; }

benches=()
for bench in tb/unit/*_test.cpp; do benches+=("$(basename "$bench" .cpp)"); done
must cmake --preset coverage
must cmake --build --preset coverage --target "${benches[@]}" lockstep_tests -j "$jobs"

failed=0
run_test() {  # program
  WARPFOLD_COVERAGE_DIR=$folder "$1" --gtest_brief=1 >"$folder/$(basename "$1").log" 2>&1 ||
    { tail -20 "$folder/$(basename "$1").log"; return 1; }
}
export -f run_test
export folder
printf 'build/coverage/%s\n' "${benches[@]/#/tb/unit/}" tb/lockstep/lockstep_tests |
  xargs -P "$jobs" -I PROGRAM bash -c 'run_test PROGRAM' || failed=1
((failed == 0)) || { echo "coverage.sh: a test fails" >&2; exit 1; }

# A bench stands for its module in every kind; the lockstep model of a kind for that kind.
read -ra kinds <<<"$(unit_kinds)"
shopt -s extglob nullglob
for kind in "${kinds[@]}"; do
  own=("$folder/Varc_subcore_$kind".*.dat)
  ((${#own[@]})) || die "the lockstep tests ran no unit of the kind $kind"
  others=("$folder"/V*.dat)
  for other in "${kinds[@]}"; do
    [[ $other == "$kind" ]] || others=("${others[@]//*Varc_subcore_$other.*/}")
  done
  # shellcheck disable=SC2068
  must verilator_coverage --write "$folder/$kind.dat" ${others[@]}
  must verilator_coverage --write "$folder/$kind.own" "${own[@]}"
done
python3 -B scripts/coverage_report.py "$folder" "${kinds[@]}" "$@"
