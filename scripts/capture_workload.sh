#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Captures the traces of one workload of warpfold_capture_workloads on this machine's GPU: builds the
# program, takes instruction costs from the machine code, then checks, times and records on one loading of
# the input, and compares predicted with measured warp instructions where ncu may read the counters. Needs
# what capture.sh needs.
set -euo pipefail
# shellcheck source=scripts/lib.sh
source "$(dirname "$(readlink -f "$0")")/lib.sh"

usage() {
  cat <<'END'
usage: scripts/capture_workload.sh WORKLOAD --name NAME --label LABEL [options] -- [options of the workload]
  --name NAME       of the input, and of the output
  --label LABEL     of the workload in the trace, such as PR-WS
  --out DIR         output folder                             [results/capture]
  --build DIR       build folder                              [build/capture]
  --program FILE    use this program, build none
  --ctas N          at most so many CTAs in the trace; 0: all [0]
  --value-bytes N   raw size of the values that are sampled   [1600000]
  --no-costs        leave instruction costs out of the trace
  --no-profile      do not compare the costs with ncu
`warpfold_capture_workloads WORKLOAD --help` lists the options of a workload.
END
}

name='' label='' out=$repo/results/capture build=$repo/build/capture program='' ctas=0 value_bytes=1600000
costs=yes profile=yes workload=''
while [ $# -gt 0 ]; do
  case $1 in
    --name | --label | --out | --build | --program | --ctas | --value-bytes)
      set_option "$@"
      shift 2
      ;;
    --no-costs)
      costs=no
      shift
      ;;
    --no-profile)
      profile=no
      shift
      ;;
    -h | --help)
      usage
      exit 0
      ;;
    --)
      shift
      break
      ;;
    -*) die "unknown option $1 (--help lists them)" ;;
    *)
      [ -z "$workload" ] || die "one workload at a time"
      workload=$1
      shift
      ;;
  esac
done
if [ -z "$workload" ] || [ -z "$name" ] || [ -z "$label" ]; then
  die "needs a workload, --name and --label"
fi
[[ $name =~ ^[A-Za-z0-9_.-]+$ ]] || die "\"$name\" is no name of a file"

find_cuda
need_gpu
if [ -z "$program" ]; then
  build_capture "$build" warpfold_capture_workloads
  program=$build/warpfold_capture_workloads
fi
[ -x "$program" ] || die "$program: no such program"
mkdir -p "$out"

record=(--label "$label" --out "$out" --ctas "$ctas" --value-bytes "$value_bytes"
  --times "$out/$name-times.json" --manifest "$out/MANIFEST.json")
if [ "$costs" = yes ]; then
  take_costs "$program" "$out/sass-workloads" "$out/$workload-costs.json" --workload "$workload"
  record+=(--costs "$out/$workload-costs.json")
fi
echo "== check, time, record"
"$program" "$workload" --name "$name" "$@" check time --json "$out/$name-times.json" record "${record[@]}"

if [ "$costs" = yes ] && [ "$profile" = yes ]; then
  compare_with_ncu "$out/$workload-costs.json" "$out/$name-counts.json" "$out/$name-ncu.csv" \
    "warpfold_${workload}_" "$program" "$workload" --name "$name" "$@" launch
fi
echo "== done: $out/$name.wft $out/$name-values.wft"
