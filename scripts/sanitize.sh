#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs every capture program under NVIDIA's compute-sanitizer, on small inputs that it makes itself: the
# checks of 3DGS, of its training and of every workload, which launch each kernel variant and the recorder,
# and the example of reduce_arc.cuh, under memcheck, racecheck, synccheck and initcheck. Ends with 1
# when one of them finds something. Needs a GPU, compute-sanitizer (CUDA 12 or newer), python3, and what
# capture.sh needs unless --build has the programs.
set -euo pipefail
# shellcheck source=scripts/lib.sh
source "$(dirname "$(readlink -f "$0")")/lib.sh"

usage() {
  cat <<'END'
usage: scripts/sanitize.sh [options]
  --build DIR       folder with the capture programs, built there if they are missing [build/capture]
  --out DIR         logs                                   [results/sanitize]
  --tools LIST      of memcheck,racecheck,synccheck,initcheck [all]
  --only PATTERN    runs whose name has it, such as dynibar [all]
  --jobs N          at a time                              [4]
END
}

build=$repo/build/capture out=$repo/results/sanitize tools=memcheck,racecheck,synccheck,initcheck only='' jobs=4
while [ $# -gt 0 ]; do
  case $1 in
    --build | --out | --tools | --only | --jobs)
      set_option "$@"
      shift 2
      ;;
    -h | --help)
      usage
      exit 0
      ;;
    *) die "unknown option $1 (--help lists them)" ;;
  esac
done
for tool in ${tools//,/ }; do
  case $tool in memcheck | racecheck | synccheck | initcheck) ;; *) die "no tool $tool" ;; esac
done

find_cuda
sanitizer=$(command -v compute-sanitizer || true)
[ -n "$sanitizer" ] || [ ! -x /usr/local/cuda/compute-sanitizer/compute-sanitizer ] ||
  sanitizer=/usr/local/cuda/compute-sanitizer/compute-sanitizer
[ -n "$sanitizer" ] || die "no compute-sanitizer: install it"
programs=(warpfold_capture warpfold_capture_workloads warpfold_reduce_arc_example)
for program in "${programs[@]}"; do
  if [ ! -x "$build/$program" ]; then
    build_capture "$build" "${programs[@]}"
    break
  fi
done
mkdir -p "$out"

# Inputs: a graph, cameras, a mesh, a panorama, a picture, splats. Small, and the same each time.
python3 - "$out" <<'END'
import json, math, os, random, struct, sys

out = sys.argv[1]
rng = random.Random(1)


def write(name, data):
    with open(os.path.join(out, name), "wb") as file:
        file.write(data if isinstance(data, bytes) else data.encode())


edges = [f"{rng.randrange(400)}\t{int(400 * rng.random() ** 2)}" for _ in range(3000)]
write("graph.txt", "# Nodes: 400\n" + "\n".join(edges) + "\n")

frames = []
for k in range(6):
    a = k * math.pi / 3
    c, s = math.cos(a), math.sin(a)
    frames.append({"file_path": f"./r_{k}", "transform_matrix":
                   [[c, 0, s, 4 * s], [0, 1, 0, 0], [-s, 0, c, 4 * c], [0, 0, 0, 1]]})
write("transforms.json", json.dumps({"camera_angle_x": 0.7, "frames": frames}))

corners = [(1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0), (0, 0, 1), (0, 0, -1)]
faces = [(1, 3, 5), (3, 2, 5), (2, 4, 5), (4, 1, 5), (3, 1, 6), (2, 3, 6), (4, 2, 6), (1, 4, 6)]
write("mesh.obj", "".join(f"v {x} {y} {z}\n" for x, y, z in corners) +
      "".join(f"f {a} {b} {c}\n" for a, b, c in faces))

width, height = 32, 16
pixels = bytes(v for _ in range(width * height) for v in (*(rng.randrange(3, 256) for _ in range(3)), 128))
write("sky.hdr", b"#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n-Y 16 +X 32\n" + pixels)

write("picture.ppm", b"P6\n72 44\n255\n" + bytes(
    int(127 + 120 * math.sin((x * (c + 1) + y) / 9)) for y in range(44) for x in range(72) for c in range(3)))

splats = b""
for _ in range(800):
    splats += struct.pack("<3f3f", *(rng.uniform(-1, 1) for _ in range(3)),
                          *(math.exp(rng.uniform(-4, -1.5)) for _ in range(3)))
    splats += bytes([*(rng.randrange(256) for _ in range(3)), rng.randrange(40, 256)])
    splats += bytes(rng.randrange(256) for _ in range(4))
write("few.splat", splats)
write("cameras.json", json.dumps({"scenes": {"few": {
    "width": 203, "height": 117, "fov_x": 60, "eye": [0, 0, -3], "target": [0, 0, 0], "up": [0, -1, 0]}}}))
END

runs=$out/runs.txt
workload() {  # workload [options]
  echo "$1 $build/warpfold_capture_workloads $1 --name small ${*:2} check"
}
{
  for policy in 0 1 2; do
    echo "example_$policy $build/warpfold_reduce_arc_example $policy"
  done
  echo "3dgs $build/warpfold_capture check"
  if grep -q check-training < <("$build/warpfold_capture" --help); then
    echo "training $build/warpfold_capture check-training"
  fi
  frame="--scene $out/few.splat --camera $out/cameras.json --viewpoint few"
  workload block_reduced "$frame --tiles tight"
  workload block_reduced_struct "$frame --tiles tight"
  workload four_pixels "$frame"
  workload gradient_struct "$frame"
  workload halved "$frame --tiles tight"
  workload halved_vector "$frame --tiles tight"
  workload per_splat "$frame --tiles tight"
  workload per_splat_struct "$frame --tiles tight"
  workload tile_warp "$frame --tiles tight"
  workload tile_warp_halved "$frame --tiles tight"
  workload pagerank --graph "$out/graph.txt" --iterations 3
  workload hexplane --cameras "$out/transforms.json" --rays 32 --iterations 2
  workload dynibar --rays 8 --samples 100
  workload envmap --mesh "$out/mesh.obj" --environment "$out/sky.hdr" --pixels 48 --texels 16 --iterations 4
  workload fit_staged --image "$out/picture.ppm" --blobs 60 --iterations 4
  workload fit_ballot --image "$out/picture.ppm" --blobs 60 --iterations 4
  workload spheres --spheres 300 --pixels 64
  workload camera_pose --gaussians 700 --cameras 3
  workload camera_pose_halved --gaussians 700 --cameras 3
  workload embedding --tokens 500 --rows 40
  workload embedding_rows --tokens 500 --rows 40
  workload hash_grid --rays 20 --table-bits 12
  workload hash_grid_half --rays 20 --table-bits 12
} | grep -e "$only" >"$runs" || die "no run has \"$only\" in its name"

# One run under one tool. A check of numbers may fail on inputs as small as these: that is no finding.
one() {
  local tool=$1 name=$2 log=$out/$2-$1.log status=0
  shift 2
  timeout 600 "$sanitizer" --tool "$tool" --print-limit 20 "$@" >"$log" 2>&1 || status=$?
  if grep -qE 'ERROR SUMMARY: 0 errors|RACECHECK SUMMARY: 0 hazards displayed' "$log" && [ $status -le 1 ]; then
    echo "ok       $tool $name"
  else
    echo "FINDINGS $tool $name ($log): $(grep -m1 -E '=========.*(Error|error|Invalid|Race|hazard|Uninit|Barrier)' "$log" ||
      tail -n 1 "$log")"
  fi
}
export -f one
export out sanitizer
for tool in ${tools//,/ }; do
  sed "s/^/$tool /" "$runs"
done | xargs -P "$jobs" -L 1 bash -c 'one "$@"' one | tee "$out/summary.txt"
if grep -q '^FINDINGS' "$out/summary.txt"; then
  echo "sanitize: findings"
  exit 1
fi
echo "sanitize: ok, $(wc -l <"$out/summary.txt") runs"
