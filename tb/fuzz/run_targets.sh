#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs fuzz targets that are built, wherever their programs lie: behind scripts/fuzz.sh.
#   tb/fuzz/run_targets.sh PROGRAMS SEEDS OUT JOBS "NAME..." [OPTION OF LIBFUZZER]...
# SEEDS has a folder and a dictionary for those targets that want them. Exit code 1: something was found.
set -euo pipefail

programs=$1 seeds=$2 out=$3 jobs=$4
read -ra names <<<"$5"
shift 5

fuzz() {  # name option...
  local name=$1 dictionary=() given=()
  shift
  mkdir -p "$out/$name/made" "$out/$name/corpus" "$out/$name/findings"
  rm -f "$out/$name/made"/* "$out/$name/findings"/*
  # Those of programs that have been carried elsewhere are there already.
  if ! compgen -G "$seeds/$name/made-*" >/dev/null; then
    "$programs/$name" --write-seeds "$out/$name/made" >"$out/$name/log" 2>&1 || return 0
  fi
  [[ ! -f $seeds/$name.dict ]] || dictionary=(-dict="$seeds/$name.dict")
  [[ ! -d $seeds/$name ]] || given=("$seeds/$name")
  UBSAN_OPTIONS=print_stacktrace=1 "$programs/$name" "${dictionary[@]}" -max_len=32768 -len_control=20 -timeout=20 \
    -rss_limit_mb=1024 -malloc_limit_mb=256 -print_final_stats=1 -artifact_prefix="$out/$name/findings/" "$@" \
    "$out/$name/corpus" "$out/$name/made" "${given[@]}" >"$out/$name/log" 2>&1 </dev/null || true
}

export -f fuzz
export programs seeds out
printf '%s\n' "${names[@]}" | xargs -P "$jobs" -I {} bash -c 'fuzz "$@"' fuzz {} "$@"

status=0
printf '%-12s %12s %14s %12s  %s\n' target executions 'edges of seeds' 'edges at end' findings
for name in "${names[@]}"; do
  log=$out/$name/log
  found=$(find "$out/$name/findings" -type f -printf '%f ')
  executions=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
  first=$(sed -n 's/.*INITED cov: \([0-9]*\).*/\1/p' "$log")
  last=$(sed -n 's/.* cov: \([0-9]*\) .*/\1/p' "$log" | tail -n 1)
  if [[ -z $executions && -z $found ]]; then
    found="does not run: $(tail -n 1 "$log")"
  fi
  printf '%-12s %12s %14s %12s  %s\n' "$name" "${executions:--}" "${first:--}" "${last:--}" "${found:-none}"
  [[ -z $found ]] || status=1
done
exit "$status"
