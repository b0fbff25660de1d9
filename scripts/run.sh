#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The main job: builds warpfold, replays the shipped truck trace on a simulated RTX 4090 with the
# Verilated reduction unit in every sub-core under every policy, and prints the table, with the
# unit's transistor count beside the paper's; both for the kind of unit that --unit-kind names.
# Installs what is missing on Debian 12 and 13.
#   scripts/run.sh [options of `warpfold sim`, for example --gpu h200 or --unit golden]
set -euo pipefail
# shellcheck source=scripts/lib.sh
source "$(dirname "$(readlink -f "$0")")/lib.sh"

results=out/truck.json
kind=serial
options=("$@")

# Files that options name lie where the caller is, the rest in the repository.
from_caller() {  # path
  if [[ $1 == /* || $1 == - || -z $1 || $PWD -ef $repo ]]; then
    printf '%s' "$1"
  else
    printf '%s' "$PWD/$1"
  fi
}

machines_from_caller() {  # comma-separated list
  local names name out=()
  IFS=, read -r -a names <<<"$1"
  for name in "${names[@]}"; do
    [[ $name != *.toml ]] || name=$(from_caller "$name")
    out+=("$name")
  done
  (IFS=, && printf '%s' "${out[*]}")
}

# The value of an option, which may name files.
value_of() {  # option value
  case $1 in
    --json | --energy | --timeline | --wave) from_caller "$2" ;;
    --gpu) machines_from_caller "$2" ;;
    *) printf '%s' "$2" ;;
  esac
}
for ((i = 0; i < $#; i++)); do
  case ${options[i]} in
    -h | --help)
      sed -n '/^# The main job/,/^[^#]/{s/^# \{0,1\}//p}' "$0"
      echo "Options of \`warpfold sim\`: --gpu, --policy, --unit, --unit-kind, --set, --json, --energy, --timeline,"
      echo "--timeline-interval, --timeline-window, --timeline-sm, --timeline-l2, --wave, --wave-cycles, --wave-sm,"
      echo "--wave-subcore, --jobs, --threads, --bounds, --whole-gpu, --reference."
      exit 0
      ;;
    --json) results=$(from_caller "${options[i + 1]:-}") ;;
    --json=*)
      results=$(from_caller "${options[i]#--json=}")
      options[i]=--json=$results
      ;;
    --unit-kind) kind=${options[i + 1]:-} ;;
    --unit-kind=*) kind=${options[i]#--unit-kind=} ;;
    --gpu | --policy | --unit | --jobs | --threads | --set | --energy | --timeline | --timeline-interval | \
      --timeline-window | --timeline-sm | --timeline-l2 | --wave | --wave-cycles | --wave-sm | --wave-subcore) ;;
    --gpu=* | --policy=* | --unit=* | --jobs=* | --threads=* | --set=* | --energy=* | --timeline=* | \
      --timeline-*=* | --wave=* | --wave-*=*)
      options[i]=${options[i]%%=*}=$(value_of "${options[i]%%=*}" "${options[i]#*=}")
      continue
      ;;
    --bounds | --whole-gpu | --reference) continue ;;
    *) die "unknown option '${options[i]}' (--help lists them)" ;;
  esac
  if [[ ${options[i]} != *=* ]]; then
    ((i + 1 < $#)) || die "${options[i]} needs a value"
    options[i + 1]=$(value_of "${options[i]}" "${options[i + 1]}")
    i=$((i + 1))
  fi
done
need_writable
ensure_packages "${packages_run[@]}"
unit_parameters "$kind" >/dev/null
cd "$repo"

mkdir -p out
cmake --preset release -DWARPFOLD_TESTS=OFF >/dev/null
cmake --build --preset release --target warpfold_sim -j "$jobs" >out/build.log ||
  die "cannot build (all in out/build.log): $(grep -m1 -A12 '^FAILED' out/build.log | grep -m3 -i 'error')"
tail -n 1 out/build.log
build/release/model/warpfold_sim sim traces/data/truck.wft --gpu rtx4090 --policy all --unit rtl \
  --json out/truck.json "${options[@]}"
echo
"${tools[@]}" synth --top "arc_unit_$kind" --top "arc_subcore_$kind" --transistors-only \
  --json out/transistors.json
echo
echo "results: $results, out/transistors.json"
