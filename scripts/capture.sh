#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Captures the traces of one scene on this machine's GPU: builds the capture program, checks it against
# the CPU reference, times every policy, takes instruction costs from the machine code, records, and
# reads the traces back. Needs nvcc and cuobjdump (CUDA 12 or newer), cmake, python3 and a C++20 compiler;
# headers that are not installed (nlohmann/json, CLI11, fmt, xxhash, zstd) are found in CPATH.
set -euo pipefail
# shellcheck source=scripts/lib.sh
source "$(dirname "$(readlink -f "$0")")/lib.sh"

usage() {
  cat <<'END'
usage: scripts/capture.sh --scene FILE.splat --camera cameras.json --name NAME [options]
       scripts/capture.sh --scene FILE.gaussians --name NAME [options]
  --scene FILE      Gaussians: 32-byte .splat records, or a .gaussians file, which holds its view
  --camera FILE     viewpoints of a .splat file (cameras.json)
  --name NAME       which viewpoint of a .splat file; also the name of the output
  --out DIR         output folder                             [results/capture]
  --tiles RULE      tiles of a Gaussian: box, or tight, where names end in -tight   [box]
  --workload NAME   workload name in the trace                [3D]
  --build DIR       build folder                              [build/capture]
  --program FILE    use this capture program, build none
  --value-bytes N   raw size of the values that are sampled   [2000000]
  --no-costs        leave instruction costs out of the trace
  --no-profile      do not compare the costs with ncu
  --build-only      build all programs of traces/capture, which needs no GPU, and stop
END
}

scene='' camera='' name='' out=$repo/results/capture workload=3D build=$repo/build/capture program=''
value_bytes=2000000 costs=yes profile=yes tiles=box build_only=no
while [ $# -gt 0 ]; do
  case $1 in
    --scene | --camera | --name | --out | --workload | --build | --program | --value-bytes | --tiles)
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
    --build-only)
      build_only=yes
      shift
      ;;
    -h | --help)
      usage
      exit 0
      ;;
    *) die "unknown option $1 (--help lists them)" ;;
  esac
done
if [ "$build_only" = yes ]; then
  find_cuda
  build_capture "$build" all
  exit 0
fi
if [ -z "$scene" ] || [ -z "$name" ]; then
  die "needs --scene and --name"
fi
[ -r "$scene" ] || die "$scene: no such scene"
[[ $name =~ ^[A-Za-z0-9_.-]+$ ]] || die "\"$name\" is no name of a view"

find_cuda
need_gpu
if [ -z "$program" ]; then
  build_capture "$build" warpfold_capture
  program=$build/warpfold_capture
fi
list=() stem=$name
case $tiles in
  box) ;;
  tight)
    list=(--tiles tight)
    stem=$name-tight
    ;;
  *) die "no tiles \"$tiles\": box or tight" ;;
esac
[ -x "$program" ] || die "$program: no such program"
mkdir -p "$out"
view=(--scene "$scene" --name "$name")
if [[ $scene != *.gaussians ]]; then
  [ -n "$camera" ] || die "a .splat file needs --camera"
  [ -r "$camera" ] || die "$camera: no such file"
  view+=(--camera "$camera")
fi

echo "== check"
"$program" check "${view[@]}"
echo "== time"
"$program" time "${view[@]}" "${list[@]}" --json "$out/$stem-times.json"

record=(--times "$out/$stem-times.json")
if [ "$costs" = yes ]; then
  take_costs "$program" "$out/sass" "$out/$stem-costs.json"
  record+=(--costs "$out/$stem-costs.json")
fi
echo "== record"
"$program" record "${view[@]}" "${list[@]}" --workload "$workload" --out "$out" --value-bytes "$value_bytes" \
  --manifest "$out/MANIFEST.json" "${record[@]}"

if [ "$costs" = yes ] && [ "$profile" = yes ]; then
  compare_with_ncu "$out/$stem-costs.json" "$out/$stem-counts.json" "$out/$stem-ncu.csv" warpfold_backward \
    "$program" launch "${view[@]}" "${list[@]}"
fi
echo "== done: $out/$stem.wft $out/$stem-values.wft"
