#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Holds the RTL against the golden unit on whole traces. For each trace and kind of unit:
#   - `warpfold regress`: both side by side under random back-pressure, every port in every cycle;
#   - `warpfold sim --policy arc-hw` with either: all sums match the trace's, and the runs take the
#     same cycles and do the same.
# Prints a line for each; long (minutes for a frame). Without a named trace also: no policy is faster than its lower
# bounds on the whole frame truck.
#
#   scripts/check_traces.sh [--kind NAME]... [--gpu NAME] [--jobs N] [TRACE...]
#                                          default: serial, rtx4090, 2, the shipped traces
#
# Exit 1: a check failed. Exit 2: usage, or a tool is missing. WARPFOLD names another program than
# that of build/release.
set -euo pipefail
# shellcheck source=scripts/lib.sh
source "$(dirname "$(readlink -f "$0")")/lib.sh"
help_first - "$@"
# shellcheck source=scripts/progress.sh
source "$repo/scripts/progress.sh"

kinds=()
gpu=rtx4090
at_once=2
traces=()
while (($#)); do
  case $1 in
    --kind | --gpu | --jobs) (($# >= 2)) || die "$1 needs a value" ;;
    -*) die "unknown option '$1'; usage: check_traces.sh [--kind NAME]... [--gpu NAME] [--jobs N] [TRACE...]" ;;
  esac
  case $1 in
    --kind) unit_parameters "$2" >/dev/null; kinds+=("$2"); shift 2 ;;
    --gpu) gpu=$2; shift 2 ;;
    --jobs) at_once=$2; shift 2 ;;
    *) traces+=("$1"); shift ;;
  esac
done
[[ $at_once =~ ^[1-9][0-9]*$ ]] || die "--jobs takes a number"
((${#kinds[@]})) || kinds=(serial)
program=${WARPFOLD:-$repo/build/release/model/warpfold}
[[ -x $program ]] || die "$program not found; build it first (scripts/run.sh)"
if ((${#traces[@]} == 0)); then
  traces=("$repo"/traces/data/*.wft)
  python3 -B "$repo/tb/shipped/bounds.py" "$program" "$repo/traces/data/truck.wft" "$gpu" || exit 1
fi

check() {  # program, machine, kind, trace
  local program=$1 gpu=$2 kind=$3 trace=$4 name folder status=0
  name="$(basename "$trace" .wft) $kind"
  folder=$(mktemp -d)
  if ! "$program" regress --unit-kind "$kind" "$trace" >"$folder/regress" 2>&1; then
    echo "$name: regress FAILED: $(tail -n 1 "$folder/regress")"
    status=1
  fi
  for unit in golden rtl; do
    if ! "$program" sim "$trace" --gpu "$gpu" --policy arc-hw --unit $unit --unit-kind "$kind" --jobs 1 \
      --json "$folder/$unit.json" >"$folder/$unit" 2>&1; then
      echo "$name: sim --unit $unit FAILED: $(tail -n 1 "$folder/$unit")"
      status=1
    fi
  done
  if ((status == 0)) && ! python3 - "$name" "$folder" <<'PYTHON'
import json, sys
name, folder = sys.argv[1:]
golden, rtl = (json.load(open(f"{folder}/{unit}.json", encoding="utf-8"))["runs"][0] for unit in ("golden", "rtl"))
different = [key for key in golden if key not in ("unit", "wall_seconds") and golden[key] != rtl[key]]
good = not different and all(run["sums_match"] and run["conserved"] for run in (golden, rtl))
regressed = open(f"{folder}/regress", encoding="utf-8").read().strip().splitlines()[-1].split(": ", 2)[-1]
print(f"{name}: {'ok' if good else 'FAILED'}: {regressed}; sums match on both units, {golden['cycles']:,} cycles"
      if good else f"{name}: FAILED: {', '.join(different) or 'sums'}")
sys.exit(not good)
PYTHON
  then
    status=1
  fi
  rm -rf "$folder"
  return $status
}
export -f check

# shellcheck disable=SC2016  # expanded by the shell that xargs starts
for trace in "${traces[@]}"; do
  for kind in "${kinds[@]}"; do
    printf '%s\0%s\0' "$kind" "$trace"
  done
done | xargs -0 -n 2 -P "$at_once" bash -c 'check "$0" "$1" "$2" "$3"' "$program" "$gpu" | {
  checked=0
  progress 0 $((${#traces[@]} * ${#kinds[@]})) traces
  while IFS= read -r line; do
    wipe_progress
    echo "$line"
    checked=$((checked + 1))
    progress $checked $((${#traces[@]} * ${#kinds[@]})) traces
  done
  wipe_progress
} || exit 1
