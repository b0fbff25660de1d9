# SPDX-License-Identifier: Apache-2.0
# Shared by the scripts: where the repository is, and what has to be installed. Source it.
# shellcheck shell=bash disable=SC2034

repo=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
jobs=$(nproc)
# The Python that Debian's packages are for, whatever else PATH has.
debian_python=/usr/bin/python3
[[ -x $debian_python ]] || debian_python=python3

die() {
  echo "${0##*/}: $*" >&2
  exit 2
}

# Names of the kinds of unit, in the order of their numbers (UnitKind in the RTL).
unit_kinds() { sed -n 's/^set(unit_kinds \(.*\))$/\1/p' "$repo/model/unit/CMakeLists.txt"; }

kind_number() {  # name
  local kind number=0
  for kind in $(unit_kinds); do
    [[ $kind != "$1" ]] || { echo "$number"; return; }
    number=$((number + 1))
  done
  die "no kind of unit '$1'; there are: $(unit_kinds)"
}

# What building and simulating needs, and what the tests need beside it. All from Debian 12.
packages_run=(
  g++ cmake ninja-build
  verilator libsystemc-dev yosys berkeley-abc
  libcli11-dev nlohmann-json3-dev libtomlplusplus-dev libzstd-dev libxxhash-dev libfmt-dev
  python3
)
packages_sweep=(snakemake python3-yaml python3-jsonschema)
packages_figures=("${packages_sweep[@]}" python3-matplotlib python3-numpy)
packages_test=(
  "${packages_run[@]}" "${packages_figures[@]}"
  libgtest-dev iverilog opensta qflow-tech-osu018 clang-format-14 z3
  slurmctld slurmd slurm-client munge
)

# Installs those of the named packages that are missing; asks for nothing when none is.
ensure_packages() {
  local missing=() package
  command -v dpkg-query >/dev/null ||
    die "this script installs Debian packages; on another system install: $*"
  for package in "$@"; do
    if [[ $(dpkg-query -W -f '${Status}' "$package" 2>/dev/null) != "install ok installed" ]]; then
      missing+=("$package")
    fi
  done
  ((${#missing[@]})) || return 0
  local as_root=()
  if ((EUID != 0)); then
    command -v sudo >/dev/null || die "not root and no sudo; install: ${missing[*]}"
    as_root=(sudo)
  fi
  echo "installing: ${missing[*]}"
  local log
  log=$(mktemp)
  if ! { "${as_root[@]}" apt-get update -qq &&
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq \
      --no-install-recommends "${missing[@]}"; } >"$log" 2>&1; then
    cat "$log" >&2
    rm -f "$log"
    die "installing packages failed"
  fi
  rm -f "$log"
}

# Builds the simulator, with what it and the named packages bring; not where WARPFOLD names one.
prepare_simulator() {
  [[ -z ${WARPFOLD:-} ]] || return 0
  ensure_packages "${packages_run[@]}" "$@"
  if [[ ! -f $repo/build/release/build.ninja ]]; then
    (cd "$repo" && cmake --preset release -DWARPFOLD_TESTS=OFF >/dev/null)
  fi
  cmake --build "$repo/build/release" --target warpfold -j "$jobs" >/dev/null
}
