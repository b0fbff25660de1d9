# SPDX-License-Identifier: Apache-2.0
# Shared by the scripts: where the repository is, what has to be installed, and the steps of a capture.
# Source it.
# shellcheck shell=bash disable=SC2034

repo=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.." && pwd)
jobs=$(nproc)
# The Python that Debian's packages are for, whatever else PATH has.
debian_python=/usr/bin/python3
[[ -x $debian_python ]] || debian_python=python3
# Runs a tool of python/warpfold/tools/list.txt, and leaves nothing compiled in the checkout.
tools=("$debian_python" -B "$repo/python")
export PYTHONDONTWRITEBYTECODE=1

die() {
  echo "${0##*/}: $*" >&2
  exit 2
}

# With --help among the script's arguments: prints the comment at the script's head, or what the tool says of its options,
# and ends the script. Before anything is installed or built.
help_first() {  # tool, or -; arguments of the script
  local tool=$1 argument
  shift
  for argument in "$@"; do
    case $argument in
      --) return 0 ;;
      -h | --help)
        if [[ $tool == - ]]; then
          sed -n -e '1,2d' -e '/^#/!q' -e 's/^# \{0,1\}//p' "$0"
        else
          "${tools[@]}" "$tool" --help
        fi
        exit 0
        ;;
    esac
  done
}

# Before a script has installed what it needs: a fresh machine has no Python.
need_python() { command -v "$debian_python" >/dev/null || ensure_packages python3; }

# The value of an option into the variable of its name: --value-bytes 5 sets value_bytes.
set_option() {  # option value [what follows them]
  (($# >= 2)) || die "$1 needs a value"
  local key=${1#--}
  printf -v "${key//-/_}" '%s' "$2"
}

# The family of the unit (rtl/units.json): names on a line; parameters of one, with its own scheduler or another,
# as Datapath=1 Format=0 MaxWords=1 Scheduler=0 Coalescer=0.
unit_kinds() {
  need_python >&2
  "${tools[@]}" units names | xargs
}
unit_parameters() {  # name [scheduler]
  local parameters
  need_python >&2
  parameters=$("${tools[@]}" units parameters "$@" 2>&1) || die "${parameters#units: }"
  echo "$parameters"
}

# What building and simulating needs, and what the tests need beside it. All from Debian 12 and 13. "a|b": either, the
# first that the release has. "a?": left out where the release does not have it; what needs it says so.
packages_run=(
  g++ cmake ninja-build
  verilator libsystemc-dev yosys 'berkeley-abc|yosys-abc'
  libcli11-dev nlohmann-json3-dev libtomlplusplus-dev libzstd-dev liblzma-dev libxxhash-dev libfmt-dev zlib1g-dev
  node-d3
  python3
)
packages_package=("${packages_run[@]}" dpkg-dev file gzip binutils)
packages_sweep=(snakemake python3-yaml python3-jsonschema)
packages_fuzz=(clang libclang-rt-dev llvm)
packages_site=(python3 git python3-sphinx python3-myst-parser furo)
packages_test=(
  "${packages_run[@]}" "${packages_sweep[@]}" "${packages_site[@]}" python3-matplotlib python3-numpy
  nextpnr-ice40 fpga-icestorm fpga-icestorm-chipdb
  qflow'?' qflow-tech-osu018'?' graywolf'?' qrouter'?' magic'?' netgen-lvs klayout tcl
  libgtest-dev iverilog opensta make clang-format-14'?' black mypy z3 patch pkgconf zsh
  chromium chromium-driver python3-selenium
  slurmctld slurmd slurm-client munge
)

installed() {  # package
  [[ $(dpkg-query -W -f '${Status}' "$1" 2>/dev/null) == "install ok installed" ]]
}

# Whether the release has a package, as far as the lists tell that are here.
available() {  # package
  [[ $(LC_ALL=C apt-cache policy "$1" 2>/dev/null | sed -n 's/^ *Candidate: //p') =~ ^[0-9] ]]
}

# Into `missing`: those of the named packages that are to be installed. Of alternatives that the lists do not have, the
# first, so that apt names it.
find_missing() {  # package...
  local item package names
  missing=()
  for item in "$@"; do
    IFS='|' read -r -a names <<<"${item%'?'}"
    for package in "${names[@]}"; do
      ! installed "$package" || continue 2
    done
    for package in "${names[@]}"; do
      ! available "$package" || { missing+=("$package"); continue 2; }
    done
    [[ $item == *'?' ]] || missing+=("${names[0]}")
  done
}

# Runs apt-get, shows what it says only if it fails.
as_root=()
apt_quietly() {
  local log
  log=$(mktemp)
  if ! "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -y -qq "$@" >"$log" 2>&1; then
    cat "$log" >&2
    rm -f "$log"
    die "installing packages failed"
  fi
  rm -f "$log"
}

# Installs those of the named packages that are missing; asks for nothing when none is.
ensure_packages() {
  local missing
  command -v dpkg-query >/dev/null ||
    die "this script installs Debian packages; on another system install: $*"
  find_missing "$@"
  ((${#missing[@]})) || return 0
  if ((EUID != 0)); then
    command -v sudo >/dev/null || die "not root and no sudo; install: ${missing[*]}"
    as_root=(sudo)
  fi
  apt_quietly update
  find_missing "$@"
  echo "installing: ${missing[*]}"
  apt_quietly install --no-install-recommends "${missing[@]}"
}

# ABC by the name that it has here.
abc_program() {
  command -v berkeley-abc || command -v yosys-abc ||
    die "berkeley-abc not found; Debian package berkeley-abc, or yosys-abc where there is none"
}

# For scripts that build in their checkout, before they do.
need_writable() {
  [[ -w $repo ]] ||
    die "$repo cannot be written: copy it, or build elsewhere by cmake -S and -B, and name the command in WARPFOLD"
}

# Builds programs in build/release, which is configured without the tests where it is not yet.
build_release() {  # target...
  need_writable
  if [[ ! -f $repo/build/release/build.ninja ]]; then
    (cd "$repo" && cmake --preset release -DWARPFOLD_TESTS=OFF >/dev/null)
  fi
  cmake --build "$repo/build/release" --target "$@" -j "$jobs" >/dev/null
}

# Builds the simulator, with what it and the named packages bring; not where WARPFOLD names one.
prepare_simulator() {
  [[ -z ${WARPFOLD:-} ]] || return 0
  ensure_packages "${packages_run[@]}" "$@"
  build_release warpfold
}

# CUDA is often installed beside PATH.
find_cuda() {
  if [[ -d /usr/local/cuda/bin ]]; then
    PATH=$PATH:/usr/local/cuda/bin
  fi
}

# Where nothing tells of GPUs, the programs themselves will.
need_gpu() {
  if command -v nvidia-smi >/dev/null; then
    nvidia-smi -L >/dev/null 2>&1 || die "no NVIDIA GPU on this machine"
  fi
}

# Builds programs of traces/capture, with the other dependencies of that folder alone. A script may put further
# options of cmake into capture_cmake_options.
capture_cmake_options=()
build_capture() {  # folder program...
  local build=$1 generator=()
  shift
  command -v nvcc >/dev/null || die "no nvcc: install the CUDA toolkit"
  if [[ ! -f $build/CMakeCache.txt ]] && command -v ninja >/dev/null; then
    generator=(-G Ninja)
  fi
  echo "== build"
  mkdir -p "$build"
  cmake "${generator[@]}" -DWARPFOLD_CUDA=ON "${capture_cmake_options[@]}" -S "$repo/traces/capture" -B "$build" \
    >"$build/configure.log" 2>&1 ||
    die "cannot configure: $(grep -m1 -A3 'CMake Error' "$build/configure.log" | tr '\n' ' ')"
  cmake --build "$build" --parallel --target "$@" >"$build/build.log" 2>&1 ||
    die "cannot build: $(grep -m1 -i 'error' "$build/build.log") (all in $build/build.log)"
}

# Costs of a program's kernels from its machine code, which is left in a folder.
take_costs() {  # program folder costs.json [option of sass_cost.py]...
  echo "== instruction costs"
  command -v cuobjdump >/dev/null || die "no cuobjdump: install it or give --no-costs"
  "${tools[@]}" kernel-costs dump --program "$1" --out "$2"
  "${tools[@]}" kernel-costs costs "${@:4}" --sass "$2" --json "$3"
}

# Warp instructions that the costs predict beside those that ncu counts while the command runs, where it may.
compare_with_ncu() {  # costs.json counts.json ncu.csv kernels command...
  if ! command -v ncu >/dev/null; then
    echo "no ncu: predicted and measured warp instructions not compared"
    return
  fi
  echo "== predicted against measured warp instructions"
  if ncu --clock-control none --metrics smsp__inst_executed.sum -k "regex:$4" --csv --log-file "$3" \
    "${@:5}" >/dev/null 2>&1; then
    "${tools[@]}" kernel-costs predict --costs "$1" --counts "$2" --ncu "$3"
  else
    echo "ncu cannot read the counters here: not compared"
  fi
}
