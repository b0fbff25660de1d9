#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the fuzz targets (tb/fuzz) and runs them, each on its own core as far as there are so many; a line for
# each with its executions, edges that its seeds reach, edges at the end, and findings.
#   scripts/fuzz.sh [NAME...]         these targets; default: all. 1 minute each
#   scripts/fuzz.sh --minutes N       so many minutes each
#   scripts/fuzz.sh --runs N          so many executions each, the same ones every time
#   scripts/fuzz.sh --list            what there is
# What was found lies in results/fuzz/NAME/findings, the corpus beside it; a finding is done again with
# build/fuzz/tb/fuzz/NAME FILE.
# Installs what is missing on Debian 12. Exit code 1: something was found. 2: bad usage.
set -euo pipefail
# shellcheck source=scripts/lib.sh
source "$(dirname "$(readlink -f "$0")")/lib.sh"
help_first - "$@"

minutes=1 runs='' list=no
names=()
while (($#)); do
  case $1 in
    --minutes | --runs) set_option "$@"; shift ;;
    --list) list=yes ;;
    -*) die "unknown option '$1' (--help lists them)" ;;
    *) names+=("$1") ;;
  esac
  shift
done
[[ $minutes =~ ^[0-9]{1,4}$ && $minutes != 0 ]] || die "--minutes $minutes: must be a number from 1 on"
[[ -z $runs || $runs =~ ^[0-9]{1,9}$ ]] || die "--runs $runs: must be a number"
all=()
for file in "$repo"/tb/fuzz/*_fuzz.cpp; do
  name=${file##*/}
  all+=("${name%_fuzz.cpp}")
done
if [[ $list == yes ]]; then
  printf '%s\n' "${all[@]}"
  exit 0
fi
((${#names[@]})) || names=("${all[@]}")
for name in "${names[@]}"; do
  [[ " ${all[*]} " == *" $name "* ]] || die "no target '$name'; there are: ${all[*]}"
done

need_writable
ensure_packages "${packages_run[@]}" "${packages_fuzz[@]}"
cd "$repo"
cmake --preset fuzz >/dev/null
cmake --build --preset fuzz -j "$jobs" >/dev/null
if [[ -n $runs ]]; then
  limit=(-runs="$runs" -seed=1)
else
  limit=(-max_total_time=$((60 * minutes)))
fi
tb/fuzz/run_targets.sh build/fuzz/tb/fuzz tb/fuzz/seeds results/fuzz "$jobs" "${names[*]}" "${limit[@]}"
