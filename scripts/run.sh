#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The main job: builds warpfold, replays the shipped truck trace on a simulated RTX 4090 with the
# Verilated reduction unit in every sub-core under every policy, and prints the table, with the
# unit's transistor count beside the paper's. Installs what is missing on Debian 12.
#   scripts/run.sh [options of `warpfold sim`, for example --gpu h200 or --unit golden]
set -euo pipefail
# shellcheck source=scripts/lib.sh
source "$(dirname "$0")/lib.sh"

results=out/truck.json
options=("$@")
for ((i = 0; i < $#; i++)); do
  case ${options[i]} in
    -h | --help)
      sed -n '/^# The main job/,/^[^#]/{s/^# \{0,1\}//p}' "$0"
      echo "Options of \`warpfold sim\`: --gpu, --policy, --unit, --set, --json, --energy, --timeline, --timeline-interval, --jobs,"
      echo "--bounds, --clock-all."
      exit 0
      ;;
    --json) results=${options[i + 1]:-} ;;
    --json=*) results=${options[i]#--json=} ;;
    --gpu | --policy | --unit | --jobs | --set | --energy | --timeline | --timeline-interval) ;;
    --gpu=* | --policy=* | --unit=* | --jobs=* | --set=* | --energy=* | --timeline=* | --timeline-interval=*) continue ;;
    --bounds | --clock-all) continue ;;
    *) die "unknown option '${options[i]}' (--help lists them)" ;;
  esac
  if [[ ${options[i]} != *=* ]]; then
    ((i + 1 < $#)) || die "${options[i]} needs a value"
    i=$((i + 1))
  fi
done

ensure_packages "${packages_run[@]}"
cd "$repo"

cmake --preset release -DWARPFOLD_TESTS=OFF >/dev/null
cmake --build --preset release --target warpfold -j "$jobs" | tail -n 1
mkdir -p out
build/release/model/warpfold sim traces/data/truck.wft --gpu rtx4090 --policy all --unit rtl \
  --json out/truck.json "$@"
echo
scripts/synth.sh --top arc_subcore_without_addr_match --top arc_subcore --transistors-only \
  --json out/transistors.json
echo
echo "results: $results, out/transistors.json"
