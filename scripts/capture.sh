#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Captures the traces of one scene on this machine's GPU: builds the capture program, checks it against
# the CPU reference, times every policy, takes instruction costs from the machine code, records, and
# reads the traces back. Needs nvcc and cuobjdump (CUDA 12 or newer), cmake, python3 and a C++20 compiler;
# headers that are not installed (nlohmann/json, CLI11, fmt, xxhash, zstd) are found in CPATH.
set -euo pipefail

usage() {
  cat <<'END'
usage: scripts/capture.sh --scene FILE.splat --camera cameras.json --name NAME [options]
       scripts/capture.sh --scene FILE.gaussians --name NAME [options]
  --scene FILE      Gaussians: 32-byte .splat records, or a .gaussians file, which holds its view
  --camera FILE     viewpoints of a .splat file (cameras.json)
  --name NAME       which viewpoint of a .splat file; also the name of the output
  --out DIR         output folder                             [results/capture]
  --workload NAME   workload name in the trace                [3D]
  --build DIR       build folder                              [build/capture]
  --program FILE    use this capture program, build none
  --value-bytes N   raw size of the values that are sampled   [2000000]
  --no-costs        leave instruction costs out of the trace
  --no-profile      do not compare the costs with ncu
END
}

die() {
  echo "capture.sh: $*" >&2
  exit 2
}

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
scene='' camera='' name='' out=$root/results/capture workload=3D build=$root/build/capture program=''
value_bytes=2000000 costs=yes profile=yes
while [ $# -gt 0 ]; do
  case $1 in
    --scene | --camera | --name | --out | --workload | --build | --program | --value-bytes)
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
    *) die "unknown option $1 (--help lists them)" ;;
  esac
done
if [ -z "$scene" ] || [ -z "$name" ]; then
  die "needs --scene and --name"
fi
[ -r "$scene" ] || die "$scene: no such scene"
[[ $name =~ ^[A-Za-z0-9_.-]+$ ]] || die "\"$name\" is no name of a view"

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
  cmake --build "$build" --parallel >"$build/build.log" 2>&1 ||
    die "cannot build: $(grep -m1 -i 'error' "$build/build.log") (all in $build/build.log)"
  program=$build/warpfold_capture
fi
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
"$program" time "${view[@]}" --json "$out/$name-times.json"

record=(--times "$out/$name-times.json")
if [ "$costs" = yes ]; then
  echo "== instruction costs"
  command -v cuobjdump >/dev/null || die "no cuobjdump: install it or give --no-costs"
  "$root/traces/capture/sass_cost.py" dump --program "$program" --out "$out/sass"
  "$root/traces/capture/sass_cost.py" costs --sass "$out/sass" --json "$out/$name-costs.json"
  record+=(--costs "$out/$name-costs.json")
fi
echo "== record"
"$program" record "${view[@]}" --workload "$workload" --out "$out" --value-bytes "$value_bytes" \
  --manifest "$out/MANIFEST.json" "${record[@]}"

if [ "$costs" = yes ] && [ "$profile" = yes ]; then
  if command -v ncu >/dev/null; then
    echo "== predicted against measured warp instructions"
    if ncu --clock-control none --metrics smsp__inst_executed.sum -k regex:warpfold_backward \
      --csv --log-file "$out/$name-ncu.csv" "$program" launch "${view[@]}" >/dev/null 2>&1; then
      "$root/traces/capture/sass_cost.py" predict --costs "$out/$name-costs.json" \
        --counts "$out/$name-counts.json" --ncu "$out/$name-ncu.csv"
    else
      echo "ncu cannot read the counters here: not compared"
    fi
  else
    echo "no ncu: predicted and measured warp instructions not compared"
  fi
fi
echo "== done: $out/$name.wft $out/$name-values.wft"
