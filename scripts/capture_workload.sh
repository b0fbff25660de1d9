#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Captures the traces of one workload of warpfold_capture_workloads on this machine's GPU: builds the
# program, takes instruction costs from the machine code, then checks, times and records on one loading of
# the input, and compares predicted with measured warp instructions where ncu may read the counters. Needs
# what capture.sh needs.
set -euo pipefail

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

die() {
  echo "capture_workload.sh: $*" >&2
  exit 2
}

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
name='' label='' out=$root/results/capture build=$root/build/capture program='' ctas=0 value_bytes=1600000
costs=yes profile=yes workload=''
while [ $# -gt 0 ]; do
  case $1 in
    --name | --label | --out | --build | --program | --ctas | --value-bytes)
      [ $# -ge 2 ] || die "$1 needs a value"
      key=${1#--}
      printf -v "${key//-/_}" '%s' "$2"
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

# CUDA is often installed beside PATH.
if ! command -v nvcc >/dev/null && [ -x /usr/local/cuda/bin/nvcc ]; then
  PATH=$PATH:/usr/local/cuda/bin
fi
if command -v nvidia-smi >/dev/null; then
  nvidia-smi -L >/dev/null 2>&1 || die "no NVIDIA GPU on this machine"
fi

if [ -z "$program" ]; then
  command -v nvcc >/dev/null || die "no nvcc: install the CUDA toolkit"
  generator=()
  if command -v ninja >/dev/null; then
    generator=(-G Ninja)
  fi
  echo "== build"
  mkdir -p "$build"
  cmake "${generator[@]}" -S "$root/traces/capture" -B "$build" >"$build/configure.log" 2>&1 ||
    die "cannot configure: $(grep -m1 -A3 'CMake Error' "$build/configure.log" | tr '\n' ' ')"
  cmake --build "$build" --parallel --target warpfold_capture_workloads >"$build/build.log" 2>&1 ||
    die "cannot build: $(grep -m1 -i 'error' "$build/build.log") (all in $build/build.log)"
  program=$build/warpfold_capture_workloads
fi
[ -x "$program" ] || die "$program: no such program"
mkdir -p "$out"

record=(--label "$label" --out "$out" --ctas "$ctas" --value-bytes "$value_bytes"
  --times "$out/$name-times.json" --manifest "$out/MANIFEST.json")
if [ "$costs" = yes ]; then
  echo "== instruction costs"
  command -v cuobjdump >/dev/null || die "no cuobjdump: install it or give --no-costs"
  "$root/traces/capture/sass_cost.py" dump --program "$program" --out "$out/sass-workloads"
  "$root/traces/capture/sass_cost.py" costs --workload "$workload" --sass "$out/sass-workloads" \
    --json "$out/$workload-costs.json"
  record+=(--costs "$out/$workload-costs.json")
fi
echo "== check, time, record"
"$program" "$workload" --name "$name" "$@" check time --json "$out/$name-times.json" record "${record[@]}"

if [ "$costs" = yes ] && [ "$profile" = yes ]; then
  if command -v ncu >/dev/null; then
    echo "== predicted against measured warp instructions"
    if ncu --clock-control none --metrics smsp__inst_executed.sum -k "regex:warpfold_${workload}_" \
      --csv --log-file "$out/$name-ncu.csv" "$program" "$workload" --name "$name" "$@" launch \
      >/dev/null 2>&1; then
      "$root/traces/capture/sass_cost.py" predict --costs "$out/$workload-costs.json" \
        --counts "$out/$name-counts.json" --ncu "$out/$name-ncu.csv"
    else
      echo "ncu cannot read the counters here: not compared"
    fi
  else
    echo "no ncu: predicted and measured warp instructions not compared"
  fi
fi
echo "== done: $out/$name.wft $out/$name-values.wft"
