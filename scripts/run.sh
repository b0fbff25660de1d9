#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The main job: builds warpfold, replays the shipped truck trace on a simulated RTX 4090 with the
# Verilated reduction unit in every sub-core under every policy, and prints the table, with the
# unit's transistor count beside the paper's; both for the kind of unit that --unit-kind names.
# Installs what is missing on Debian 12.
#   scripts/run.sh [options of `warpfold sim`, for example --gpu h200 or --unit golden]
set -euo pipefail
# shellcheck source=scripts/lib.sh
source "$(dirname "$0")/lib.sh"

results=out/truck.json
kind=serial
options=("$@")
for ((i = 0; i < $#; i++)); do
  case ${options[i]} in
    -h | --help)
      sed -n '/^# The main job/,/^[^#]/{s/^# \{0,1\}//p}' "$0"
      echo "Options of \`warpfold sim\`: --gpu, --policy, --unit, --unit-kind, --set, --json, --energy, --timeline,"
      echo "--timeline-interval, --timeline-window, --timeline-sm, --timeline-l2, --wave, --wave-cycles, --wave-sm,"
      echo "--wave-subcore, --jobs, --threads, --bounds, --whole-gpu, --clock-all."
      exit 0
      ;;
    --json) results=${options[i + 1]:-} ;;
    --json=*) results=${options[i]#--json=} ;;
    --unit-kind) kind=${options[i + 1]:-} ;;
    --unit-kind=*) kind=${options[i]#--unit-kind=} ;;
    --gpu | --policy | --unit | --jobs | --threads | --set | --energy | --timeline | --timeline-interval | \
      --timeline-window | --timeline-sm | --timeline-l2 | --wave | --wave-cycles | --wave-sm | --wave-subcore) ;;
    --gpu=* | --policy=* | --unit=* | --jobs=* | --threads=* | --set=* | --energy=* | --timeline=* | \
      --timeline-*=* | --wave=* | --wave-*=*) continue ;;
    --bounds | --whole-gpu | --clock-all) continue ;;
    *) die "unknown option '${options[i]}' (--help lists them)" ;;
  esac
  if [[ ${options[i]} != *=* ]]; then
    ((i + 1 < $#)) || die "${options[i]} needs a value"
    i=$((i + 1))
  fi
done
kind_number "$kind" >/dev/null
top=arc_subcore
[[ $kind == serial ]] || top=arc_subcore_$kind

ensure_packages "${packages_run[@]}"
cd "$repo"

cmake --preset release -DWARPFOLD_TESTS=OFF >/dev/null
cmake --build --preset release --target warpfold -j "$jobs" | tail -n 1
mkdir -p out
build/release/model/warpfold sim traces/data/truck.wft --gpu rtx4090 --policy all --unit rtl \
  --json out/truck.json "$@"
echo
scripts/synth.sh --top "${top}_without_addr_match" --top "$top" --transistors-only \
  --json out/transistors.json
echo
echo "results: $results, out/transistors.json"
