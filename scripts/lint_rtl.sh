#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Lints and elaborates every RTL module alone as top, also with the parameters that change what it is
# made of, in the three tools that must read the source:
# Verilator (-Wall, with and without assertions), Yosys (warnings that hide wrong logic are errors;
# also with -formal) and Icarus. Prints one line per module; nonzero on the first tool that
# complains.
#
#   scripts/lint_rtl.sh [rtl folder]
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
if (($# > 1)); then
  echo "lint_rtl.sh: takes one folder, got '$2' too" >&2
  exit 2
fi
if [[ ! -f ${1:-$root/rtl}/arc.f ]]; then
  echo "lint_rtl.sh: '$1' is no RTL folder, it has no arc.f" >&2
  exit 2
fi
cd "${1:-$root/rtl}"

mapfile -t files < <(sed -e 's,//.*,,' -e '/^[[:space:]]*$/d' arc.f)
status=0

check() {  # name, command...
  local name=$1
  shift
  if ! output=$("$@" 2>&1); then
    printf 'FAIL  %s\n%s\n' "$name" "$output"
    status=1
  fi
}

lint() {  # module [parameter value]
  local name="$1${2+ $2 $3}" verilator=() yosys="" iverilog=()
  if [[ -n ${2-} ]]; then
    verilator=("-G$2=$3") yosys="-chparam $2 $3" iverilog=("-P$1.$2=$3")
  fi
  for assertions in --assert --no-assert; do
    [[ $assertions == --no-assert ]] && flag=() || flag=(--assert)
    check "$name: verilator -Wall ${flag[*]-}" verilator --lint-only -Wall "${flag[@]}" \
      "${verilator[@]}" -I. lint.vlt --top-module "$1" "${files[@]}"
  done
  for formal in "" -formal; do
    check "$name: yosys $formal" yosys -q -e 'implicitly declared|Resizing cell port' -p "
      read_verilog -sv $formal -I. ${files[*]}; hierarchy -check -top $1 $yosys; proc; check -assert"
  done
  check "$name: iverilog" \
    iverilog -g2012 -DSYNTHESIS -I. -s "$1" "${iverilog[@]}" -o /dev/null "${files[@]}"
  printf 'lint  %s\n' "$name"
}

for file in "${files[@]}"; do
  module=$(basename "$file" .sv)
  case $module in
    arc_pkg) ;;
    arc_fp32_adder) lint "$module"; lint "$module" Pipelined 1 ;;
    arc_subcore) lint "$module"; lint "$module" UnitKind 1 ;;
    *) lint "$module" ;;
  esac
done

exit "$status"
