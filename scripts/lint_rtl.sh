#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Lints and elaborates every RTL module alone as top, also with the parameters that change what it is
# made of, in the three tools that must read the source: Verilator (-Wall, with and without
# assertions), Yosys (warnings that hide wrong logic are errors; also with -formal) and Icarus; the
# units of units.json with each of their schedulers. Combinations that are not legal must stop all
# three. Prints one line per module; nonzero when a tool complains.
#
#   scripts/lint_rtl.sh [rtl folder]
set -euo pipefail
if [[ ${1:-} == -h || ${1:-} == --help ]]; then
  sed -n -e '1,2d' -e '/^#/!q' -e 's/^# \{0,1\}//p' "$0"
  exit 0
fi

# shellcheck source=scripts/lib.sh
source "$(dirname "$(readlink -f "$0")")/lib.sh"
# Yosys and make take no path with blanks.
[[ ${TMPDIR:-} != *[[:space:]]* ]] || export TMPDIR=/tmp
if (($# > 1)); then
  echo "lint_rtl.sh: takes one folder, got '$2' too" >&2
  exit 2
fi
if [[ ! -f ${1:-$repo/rtl}/arc.f ]]; then
  echo "lint_rtl.sh: '$1' is no RTL folder, it has no arc.f" >&2
  exit 2
fi
cd "${1:-$repo/rtl}"

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

elaborate() {  # module, parameter=value...: the command of Yosys
  local module=$1
  shift
  sed 's/=/ /g' <<<"hierarchy -check -top $module ${*/#/-chparam }"
}

lint() {  # module, parameter=value...
  local module=$1 name=$* verilator=() icarus=() assertions flag formal
  shift
  verilator=("${@/#/-G}")
  icarus=("${@/#/-P$module.}")
  for assertions in --assert --no-assert; do
    [[ $assertions == --no-assert ]] && flag=() || flag=(--assert)
    check "$name: verilator -Wall ${flag[*]-}" \
      verilator --lint-only -Wall "${flag[@]}" "${verilator[@]}" -I. lint.vlt \
      --top-module "$module" "${files[@]}"
  done
  for formal in "" -formal; do
    check "$name: yosys $formal" \
      yosys -q -e 'implicitly declared|Resizing cell port' \
      -p "read_verilog -sv -defer $formal -I. ${files[*]}; $(elaborate "$module" "$@"); proc
          check -assert"
  done
  check "$name: iverilog" \
    iverilog -g2012 -DSYNTHESIS -I. "${icarus[@]}" -s "$module" -o /dev/null "${files[@]}"
  printf 'lint  %s\n' "$name"
}

# The parameters of each unit with each of its schedulers, a line each.
units=()
for unit in $(unit_kinds); do
  for scheduler in $("${tools[@]}" units schedulers "$unit"); do
    units+=("$(unit_parameters "$unit" "$scheduler")")
  done
done
((${#units[@]})) || die "no units in rtl/units.json"

half=(ExpWidth=5 FracWidth=10)
for file in "${files[@]}"; do
  module=$(basename "$file" .sv)
  case $module in
    arc_pkg) ;;
    arc_fp_adder | arc_fp_align) lint "$module"; lint "$module" "${half[@]}" ;;
    arc_reduction_serial) lint "$module"; lint "$module" Format=1 ;;
    arc_word_sequencer) lint "$module"; lint "$module" MaxWords=5 ;;
    arc_reduction_fused | arc_reduction_paired) lint "$module"; lint "$module" Width=17 ;;
    arc_unit | arc_subcore)
      for unit in "${units[@]}" 'Datapath=1 Format=0 MaxWords=5 Scheduler=1'; do
        [[ $module == arc_subcore ]] || unit=${unit/ Coalescer=?/}  # which arc_unit does not have
        read -ra parameters <<<"$unit"
        lint "$module" "${parameters[@]}"
      done ;;
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
  for unit in "${units[@]}"; do
    read -ra parameters <<<"$unit"
    (cd "$sizes" && check "AddrWidth:TagWidth $widths, $unit" \
      verilator --lint-only -Wall --assert "${parameters[@]/#/-G}" -I. lint.vlt --top-module arc_subcore \
      "${files[@]}" && exit "$status") || status=1
  done
  printf 'lint  arc_subcore AddrWidth:TagWidth=%s\n' "$widths"
done

# Parameters that have no meaning stop the elaboration in every tool, which names the reason.
refuses() {  # reason, module, parameter=value...
  local reason=$1 module=$2 tool output
  shift 2
  for tool in verilator yosys iverilog; do
    local command=()
    case $tool in
      verilator) command=(verilator --lint-only --assert "${@/#/-G}" -I. lint.vlt --top-module "$module"
                          "${files[@]}") ;;
      yosys) command=(yosys -q -p "read_verilog -sv -defer -I. ${files[*]}; $(elaborate "$module" "$@")") ;;
      iverilog) command=(iverilog -g2012 -DSYNTHESIS -I. "${@/#/-P$module.}" -s "$module" -o /dev/null
                         "${files[@]}") ;;
    esac
    if output=$("${command[@]}" 2>&1); then
      echo "FAIL  $tool: $module takes $*"
      status=1
    elif [[ $output != *"$reason"* ]]; then
      printf 'FAIL  %s: %s refuses %s for another reason\n%s\n' "$tool" "$module" "$*" "$output"
      status=1
    fi
  done
  printf 'lint  %s refuses %s\n' "$module" "$*"
}
for module in arc_unit arc_subcore; do
  refuses Datapath_is_0_serial_1_paired_or_2_fused "$module" Datapath=3
  refuses Datapath_is_0_serial_1_paired_or_2_fused "$module" Datapath=7
  refuses Format_is_0_FP32_or_1_two_binary16 "$module" Format=2
  refuses Datapath_paired_and_fused_add_FP32_alone "$module" Datapath=1 Format=1
  refuses Datapath_paired_and_fused_add_FP32_alone "$module" Datapath=2 Format=1
  refuses MaxWords_is_1_to_16 "$module" MaxWords=0
  refuses MaxWords_is_1_to_16 "$module" MaxWords=17
  refuses Scheduler_is_0_greedy_or_1_groups "$module" Scheduler=2
  refuses Scheduler_greedy_takes_one_word "$module" MaxWords=4 Scheduler=0
done
refuses Coalescer_is_0_direct_or_1_staged arc_subcore Coalescer=2

exit "$status"
