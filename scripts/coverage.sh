#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Coverage of the RTL by the unit benches and the lockstep tests, counted by Verilator: prints lines,
# branches and toggles reached, for each module and kind of unit, and each line and branch that is
# not. tb/coverage_waivers.txt explains those that cannot be reached.
#
#   scripts/coverage.sh [--toggles]     --toggles: list the bits that never toggle as well
#   scripts/coverage.sh --cpp           of the model and the trace format in C++ instead, by their own
#                                       tests, counted by gcov: lines and branches of each file
#
# Exit 1: a line or branch of the RTL is not reached and not explained, an explanation is out of date,
# or a test fails. Exit 2: usage, or a step failed. Signals wider than 256 bits (request addresses) are
# not counted for toggles, which is the default of Verilator. Counts stay in build/coverage/rtl_coverage,
# to be looked at with verilator_coverage; of C++ in build/coverage/cpp_coverage.txt.
set -euo pipefail
# shellcheck source=scripts/lib.sh
source "$(dirname "$(readlink -f "$0")")/lib.sh"
help_first - "$@"

(($# == 0)) || [[ $# == 1 && $1 =~ ^--(toggles|cpp)$ ]] || die "takes --toggles, --cpp or nothing, got '$*'"
need_writable
cd "$repo"

# Branches that only an exception takes are those of the compiler, and no test's to reach.
cpp_coverage() {
  ensure_packages "${packages_test[@]}" gcovr
  local log=build/coverage/cpp_coverage.log tests=(warpfold) folder file
  for folder in model report trace import record; do
    for file in tb/"$folder"/*_test.cpp; do
      file=$(basename "$file" .cpp)
      [[ $folder =~ ^(model|report)$ ]] || file=${folder}_$file
      tests+=("$file")
    done
  done
  mkdir -p build/coverage
  cmake --preset coverage >"$log" 2>&1 && cmake --build --preset coverage --target "${tests[@]}" -j "$jobs" >>"$log" 2>&1 ||
    { tail -n 20 "$log" >&2; die "the build failed"; }
  find build/coverage -name '*.gcda' -delete
  ctest --preset coverage -j "$jobs" -R '^(model|report|trace|import|record)[.]' >>"$log" 2>&1 ||
    { grep -A 30 'tests FAILED' "$log" >&2; exit 1; }
  local table=build/coverage/cpp_coverage.txt
  rm -f "$table"
  for folder in model/ traces/format/; do
    printf '\n== %s\n' "$folder" >>"$table"
    gcovr --root . --object-directory build/coverage --filter "$folder" --exclude-throw-branches --print-summary \
      >>"$table" 2>>"$log" || die "gcovr failed: $(tail -n 1 "$log")"
  done
  grep -v '^-*$' "$table"
}
if [[ ${1:-} == --cpp ]]; then
  cpp_coverage
  exit
fi

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
  own=("$folder/Varc_subcore_${kind}"_*.dat)
  ((${#own[@]})) || die "the lockstep tests ran no unit of the kind $kind"
  others=("$folder"/V*.dat)
  for other in "${kinds[@]}"; do
    [[ $other == "$kind" ]] || others=("${others[@]//*Varc_subcore_${other}_*/}")
  done
  # shellcheck disable=SC2068
  must verilator_coverage --write "$folder/$kind.dat" ${others[@]}
  must verilator_coverage --write "$folder/$kind.own" "${own[@]}"
done
"${tools[@]}" coverage-report "$folder" "${kinds[@]}" "$@"
