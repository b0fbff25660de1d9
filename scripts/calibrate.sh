#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# From a GPU to a machine file: runs the microbenchmarks on this machine's GPU, derives every parameter from them by
# the rules of python/warpfold/tools/calibrate/rules.py, and replays them in the model. docs/calibrate.md says how to read what it
# prints. Writes DIR/NAME.toml and DIR/NAME-microbench.json.
#
# Measuring needs nvcc (CUDA 12 or newer), cmake, a C++20 compiler and the headers that scripts/capture.sh names;
# the replay needs the simulator, which is built on Debian 12 with what is missing. Exit 2: bad input.
set -euo pipefail
# shellcheck source=scripts/lib.sh
source "$(dirname "$(readlink -f "$0")")/lib.sh"

usage() {
  cat <<'END'
usage: scripts/calibrate.sh --name NAME [options]
  --name NAME          of the machine, and of what is written
  --measurements FILE  what warpfold_microbench wrote earlier, on any machine: no GPU is needed then. Of several,
                       the first that has a case decides
  --base MACHINE       where parameters come from that no microbenchmark decides         [h200]
  --compare MACHINE    also print where that machine has other values
  --out DIR            folder                                                            [results/calibrate]
  --no-replay          do not run the microbenchmarks in the model
  --match REGEX        replay the cases whose name it finds, . for all    [those that set the rates of REDs]
  --energy             also measure joules of launches, of a scene of random Gaussians, and fit the energies to them
  --energies FILE      what `warpfold_capture energy` wrote earlier. Of several scenes the first is fitted
  --trace FILE         of a scene whose energies were measured   [those of traces/calibrate and traces/data]
  --jobs N             simulations at a time
  --build DIR          build folder of the microbenchmarks                               [build/capture]
END
}

name='' out=$repo/results/calibrate build=$repo/build/capture
measurements=() rest=() replay=yes energy=no simulate=no
while [ $# -gt 0 ]; do
  case $1 in
    --name | --out | --build)
      set_option "$@"
      shift 2
      ;;
    --measurements | --base | --compare | --match | --jobs | --energies | --trace)
      (($# >= 2)) || die "$1 needs a value"
      [ "$1" != --measurements ] || measurements+=("$2")
      [ "$1" != --energies ] || simulate=yes
      rest+=("$1" "$2")
      shift 2
      ;;
    --energy)
      energy=yes simulate=yes
      shift
      ;;
    --no-replay)
      replay=no
      rest+=("$1")
      shift
      ;;
    -h | --help)
      usage
      exit 0
      ;;
    *) die "unknown option $1 (--help lists them)" ;;
  esac
done
[ -n "$name" ] || die "needs --name"

[ "$energy" = no ] || [ ${#measurements[@]} = 0 ] || die "--energy measures on this machine's GPU, as all else must be; with --measurements, --energies names a file"
[ "$replay" = no ] || simulate=yes

if [ "$simulate" = yes ] && [ -z "${WARPFOLD:-}" ]; then
  prepare_simulator python3-numpy
  cmake --build "$repo/build/release" --target warpfold_red_trace -j "$jobs" >/dev/null
fi
if [ ${#measurements[@]} = 0 ]; then
  find_cuda
  need_gpu
  # For the GPU that is there, whatever its compute capability.
  capture_cmake_options=(-DCMAKE_CUDA_ARCHITECTURES=native)
  build_capture "$build" warpfold_microbench
  mkdir -p "$out"
  echo "== measure"
  all=$out/$name-all.json
  "$build/microbench/warpfold_microbench" --json "$all" \
    --only red,vector,bulk,shared_add,slices,share,burst,latency,ops,memory,mixed,control || die "the microbenchmarks failed"
  rest+=(--measurements "$all")
  if [ "$energy" = yes ]; then
    build_capture "$build" warpfold_capture
    scene=$out/$name-scene
    "${tools[@]}" calibrate.random_scene "$scene"
    view=(--scene "$scene/random.splat" --camera "$scene/cameras.json" --name random)
    echo "== energy"
    "$build/warpfold_capture" energy "${view[@]}" --policy none,cccl,sw-b:32,sw-s:0,sw-s:16 --json "$out/$name-energy.json"
    "$repo/scripts/capture.sh" --program "$build/warpfold_capture" "${view[@]}" --out "$scene" --no-profile
    rest+=(--energies "$out/$name-energy.json" --trace "$scene/random.wft")
  fi
fi
exec "${tools[@]}" calibrate.calibrate --name "$name" --out "$out" "${rest[@]}"
