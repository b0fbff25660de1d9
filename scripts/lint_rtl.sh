#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Lints and elaborates every RTL module alone as top, also with the parameters that change what it is
# made of, in the three tools that must read the source: Verilator (-Wall, with and without
# assertions), Yosys (warnings that hide wrong logic are errors; also with -formal) and Icarus;
# arc_subcore with each kind of reduction unit and each scheduler. Prints one line per
# module; nonzero when a tool complains.
#
#   scripts/lint_rtl.sh [rtl folder]
set -euo pipefail
if [[ ${1:-} == -h || ${1:-} == --help ]]; then
  sed -n -e '1,2d' -e '/^#/!q' -e 's/^# \{0,1\}//p' "$0"
  exit 0
fi

root=$(cd "$(dirname "$(readlink -f "$0")")/.." && pwd)
# Yosys and make take no path with blanks.
[[ ${TMPDIR:-} != *[[:space:]]* ]] || export TMPDIR=/tmp
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

lint() {  # module, parameters each with its value
  local module=$1 name=$1 verilator=() yosys='' icarus=() assertions flag formal
  shift
  while (($#)); do
    name+=" $1=$2"
    verilator+=("-G$1=$2")
    yosys+=" -set $1 $2"
    icarus+=("-P$module.$1=$2")
    shift 2
  done
  yosys=${yosys:+chparam$yosys $module;}
  for assertions in --assert --no-assert; do
    [[ $assertions == --no-assert ]] && flag=() || flag=(--assert)
    check "$name: verilator -Wall ${flag[*]-}" \
      verilator --lint-only -Wall "${flag[@]}" "${verilator[@]}" -I. lint.vlt \
      --top-module "$module" "${files[@]}"
  done
  for formal in "" -formal; do
    check "$name: yosys $formal" \
      yosys -q -e 'implicitly declared|Resizing cell port' \
      -p "read_verilog -sv $formal -I. ${files[*]}; $yosys hierarchy -check -top $module; proc
          check -assert"
  done
  check "$name: iverilog" \
    iverilog -g2012 -DSYNTHESIS -I. "${icarus[@]}" -s "$module" -o /dev/null "${files[@]}"
  printf 'lint  %s\n' "$name"
}

# Values of UnitKind for which arc_subcore has a unit: those whose module is there.
kinds=()
for kind in reduction_serial:0 reduction_pipelined:1 reduction_fused:2 word_sequencer:3 \
  reduction_serial:4 reduction_paired:5; do
  [[ ! -f arc_${kind%:*}.sv ]] || kinds+=("${kind#*:}")
done

half=(ExpWidth 5 FracWidth 10)
for file in "${files[@]}"; do
  module=$(basename "$file" .sv)
  case $module in
    arc_pkg) ;;
    arc_fp_adder) lint "$module"; lint "$module" Pipelined 1; lint "$module" "${half[@]}" ;;
    arc_fp_align) lint "$module"; lint "$module" "${half[@]}" ;;
    arc_reduction_serial) lint "$module"; lint "$module" Halves 1 ;;
    arc_subcore) for kind in "${kinds[@]}"; do lint "$module" UnitKind "$kind"; done
                 lint "$module" Scheduler 1 ;;
    arc_fused_align | arc_fused_sum | arc_fused_round)
      lint "$module"; lint "$module" WindowWidth 33; lint "$module" WindowWidth 58 ;;
    arc_reduction_fused)
      lint "$module"; lint "$module" WindowWidth 33; lint "$module" WindowWidth 58
      lint "$module" Width 17 ;;
    *) lint "$module" ;;
  esac
done

# Other sizes of addresses and tags: nothing may depend on the numbers in arc_pkg.sv.
sizes=$(mktemp -d)
trap 'rm -rf "$sizes"' EXIT
for widths in 32:8 40:1 64:16; do
  cp ./*.sv ./*.svh lint.vlt "$sizes"
  sed -i "s/AddrWidth = 48/AddrWidth = ${widths%:*}/; s/TagWidth = 12/TagWidth = ${widths#*:}/" \
    "$sizes/arc_pkg.sv"
  if cmp -s arc_pkg.sv "$sizes/arc_pkg.sv"; then
    echo "FAIL  arc_pkg.sv has other widths than lint_rtl.sh looks for"
    status=1
  fi
  for kind in "${kinds[@]}"; do
    (cd "$sizes" && check "AddrWidth:TagWidth $widths, UnitKind $kind" \
      verilator --lint-only -Wall --assert "-GUnitKind=$kind" -I. lint.vlt --top-module arc_subcore \
      "${files[@]}" && exit "$status") || status=1
  done
  printf 'lint  arc_subcore AddrWidth:TagWidth=%s\n' "$widths"
done

# Parameters that have no meaning are refused when the design is elaborated, with the module's words.
refuses() {  # words, module, parameter=value...
  local words=$1 module=$2 output
  shift 2
  if output=$(verilator --lint-only --assert "${@/#/-G}" -I. lint.vlt --top-module "$module" \
    "${files[@]}" 2>&1); then
    echo "FAIL  $module takes $*"
    status=1
  elif [[ $output != *"$words"* ]]; then
    printf 'FAIL  %s refuses %s for another reason\n%s\n' "$module" "$*" "$output"
    status=1
  fi
  printf 'lint  %s refuses %s\n' "$module" "$*"
}
kinds_are='there are 0 serial, 1 pipelined, 2 fused, 3 vector, 4 halves and 5 paired'
widths_are='must be 33 to 58'
refuses "$kinds_are" arc_subcore UnitKind=6
refuses "$kinds_are" arc_subcore UnitKind=-1
refuses 'there are 0 greedy and 1 groups' arc_subcore Scheduler=2
refuses 'there are stages for FP32 alone' arc_fp_adder Pipelined=1 ExpWidth=5 FracWidth=10
refuses 'vector, has no greedy scheduler' arc_subcore UnitKind=3 Scheduler=0
refuses 'paired, has no gradual underflow' arc_subcore UnitKind=5 FlushSubnormals=0
refuses 'must be 3 or more' arc_merge_buffer IndexBits=2
if [[ " ${kinds[*]} " == *" 2 "* ]]; then
  refuses "$widths_are" arc_reduction_fused WindowWidth=32
  refuses "$widths_are" arc_reduction_fused WindowWidth=59
  refuses "$widths_are" arc_subcore UnitKind=2 WindowWidth=32
  refuses "$widths_are" arc_subcore UnitKind=2 WindowWidth=59
fi

exit "$status"
