#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Mutation of arc_subcore: Yosys `mutate` changes its netlist in many small ways (an input or output
# bit of a cell constant, inverted, or inverted depending on another bit), and every one must be
# found by the lockstep comparison with the golden unit, or be proved to change nothing. Prints one
# row for each kind of unit, and each mutant that is neither. (scripts/mutate_rtl.sh is the other
# one: it plants bugs written by hand into the source and tries the unit benches.)
#
#   scripts/mutate.sh [--kind NAME]... [--mutants N] [--seed S]      default: all kinds, 300, 1
#
# Exit 1: a mutant survived, or the unchanged netlist differs. Exit 2: usage, or a step failed.
#
# One netlist holds all mutants, chosen by the input mutsel; tb/mutation/mutants.cpp runs them. For
# a survivor abc compares next state and outputs in all states; when these differ, it proves the
# outputs equal in every environment that keeps the contract (tb/mutation/contract.sv), from reset,
# with registers that have no reset starting at 0. What was decided about each mutant lies in
# build/release/tb/mutation/<kind>.txt.
set -euo pipefail
# shellcheck source=scripts/lib.sh
source "$(dirname "$(readlink -f "$0")")/lib.sh"
help_first - "$@"
# shellcheck source=scripts/progress.sh
source "$repo/scripts/progress.sh"

kinds=()
count=300
seed=1
while (($#)); do
  case $1 in
    --kind | --mutants | --seed) (($# >= 2)) || die "$1 needs a value" ;;
    *) die "unknown option '$1'; usage: mutate.sh [--kind NAME]... [--mutants N] [--seed S]" ;;
  esac
  case $1 in
    --kind) unit_parameters "$2" >/dev/null; kinds+=("$2") ;;
    --mutants) count=$2 ;;
    --seed) seed=$2 ;;
  esac
  shift 2
done
[[ $count =~ ^[1-9][0-9]*$ && $seed =~ ^[0-9]+$ ]] || die "--mutants and --seed take numbers"
((${#kinds[@]})) || read -ra kinds <<<"$(unit_kinds)"
for tool in yosys:yosys verilator:verilator; do
  command -v "${tool%:*}" >/dev/null || die "${tool%:*} not found; Debian package ${tool#*:}"
done
abc=$(abc_program)
export abc

build=$repo/build/release
export folder=$build/tb/mutation repo
need_writable
mkdir -p "$folder"

# Runs a command quietly; if it fails, shows the end of its output and ends the script.
must() {  # log, command...
  local log=$1
  shift
  "$@" >"$log" 2>&1 || { tail -20 "$log" >&2; die "failed: $1 (see $log)"; }
}

# <kind>.list: N lines `mutate -mode ...`; mutants_<kind>.v: the netlist with all of them.
make_netlist() {  # kind
  local kind=$1 base=$folder/$1 files
  files=$(cd "$repo/rtl" && sed -e 's,//.*,,' arc.f | xargs)
  # In rtl/, so that names and places are the same wherever the repository is.
  (cd "$repo/rtl" &&
    must "$base.yosys.log" yosys -q -e 'implicitly declared|Resizing cell port' -p "
    read_verilog -sv -noassert -defer -DSYNTHESIS -I. $files
    hierarchy -check -top arc_subcore $(unit_parameters "$kind" | sed 's/\(\w*\)=\(\w*\)/-chparam \1 \2/g')
    prep -flatten
    rename -top arc_subcore
    write_rtlil $base.unchanged.il
    mutate -list $count -seed $seed -ctrl mutsel 32 1 -o $base.list")
  (($(wc -l <"$base.list") == count)) || die "Yosys has fewer than $count mutants of $kind"
  must "$base.yosys.log" yosys -q -p "
    read_rtlil $base.unchanged.il
    script $base.list
    opt_clean
    write_rtlil $base.il
    write_verilog -noattr $base.v
    async2sync; dffunmap; techmap; simplemap; opt_clean
    write_rtlil $base.bits.il"
  # Only a changed netlist is compiled again.
  cmp -s "$base.v" "$folder/mutants_$kind.v" || cp "$base.v" "$folder/mutants_$kind.v"
}

# The unit with the registers cut open, as `mutant` has it: what abc compares.
write_aig() {  # kind, mutant, file
  yosys -q -p "
    read_rtlil $folder/$1.bits.il
    delete -input arc_subcore/w:mutsel
    connect -set mutsel 32'd$2
    aigmap; write_aiger $3"
}

# Prints "<mutant> equivalent HOW" or "<mutant> survived HOW". The limit is of processor time, so that
# what is proved does not depend on what else the machine does.
prove_equal() {  # kind, mutant, most seconds for each proof (200)
  local kind=$1 mutant=$2 work=$folder/$1.$2
  rm -rf "$work"
  mkdir "$work"
  write_aig "$kind" "$mutant" "$work/mutant.aig" >"$work/log" 2>&1
  # comb makes inputs and outputs of the registers.
  (ulimit -t "${3:-200}"; "$abc" -c "read $folder/$kind.unchanged.aig; comb; write $work/a.aig;
    read $work/mutant.aig; comb; write $work/b.aig;
    cec $work/a.aig $work/b.aig" || true) >>"$work/log" 2>&1
  if grep -q 'Networks are equivalent' "$work/log"; then
    echo "$mutant equivalent in all states"
    rm -r "$work"
    return
  fi
  yosys -q -e 'implicitly declared|Resizing cell port' -p "
    read_rtlil $folder/$kind.il
    read_verilog -sv $repo/rtl/arc_pkg.sv $repo/tb/mutation/contract.sv
    chparam -set Mutant $mutant -set ReadLanes $(<"$folder/$kind.lanes") contract
    hierarchy -check -top contract
    proc; flatten; opt -full; async2sync; dffunmap; techmap; simplemap; dffunmap; opt_clean
    setundef -zero; zinit -all; aigmap; opt_clean
    write_aiger $work/contract.aig" >>"$work/log" 2>&1
  (ulimit -t "${3:-200}"
    "$abc" -c "read $work/contract.aig; scorr; dc2; scorr -F 3; dprove" || true) \
    >"$work/contract.log" 2>&1
  if grep -q '^UNSATISFIABLE\|Networks are equivalent' "$work/contract.log" &&
     ! grep -q 'NOT EQUIVALENT\|not equivalent\|asserted' "$work/contract.log"; then
    echo "$mutant equivalent under the contract"
    rm -r "$work"
  else
    echo "$mutant survived $(grep -oE 'asserted in frame [0-9]+' "$work/contract.log" |
      sed -n '1s,asserted in frame,(differs in cycle,;1s,$,),p' || true)"
  fi
}
export -f prove_equal write_aig

# Where in the source a mutant is. A place that spans lines is an instance around it.
place_of() {  # line of the list
  local what where
  what=$(grep -oP -- '-(mode|port|portbit|ctrlbit) \K\S+' <<<"$1" | xargs)
  where=$(grep -oP -- '-src \K\S+?:(\d+)\.\d+-\1\.\d+' <<<"$1" | sort -u | xargs)
  echo "$what at $where"
}

must "$folder/cmake.log" cmake -S "$repo" --preset release -DWARPFOLD_TESTS=ON
status=0
row='%-10s %7s %6s %10s %8s %7s\n'
# shellcheck disable=SC2059
table=$(printf "$row" kind mutants killed equivalent survived seconds)
kinds_done=0
for kind in "${kinds[@]}"; do
  progress $kinds_done ${#kinds[@]} "kinds of unit"
  started=$SECONDS
  make_netlist "$kind"
  must "$folder/cmake.log" cmake --build "$build" --target "mutants_$kind" -j "$jobs"
  results=$folder/$kind.txt
  if ! "$folder/mutants_$kind" "$count" "$seed" >"$folder/$kind.run"; then
    echo "$kind: the lockstep run of the unchanged netlist fails" >&2
    exit 1
  fi
  write_aig "$kind" 0 "$folder/$kind.unchanged.aig"
  grep -oP 'wire width \K\d+(?= input \d+ .rf_data_i)' "$folder/$kind.il" |
    awk '{ print $1 / 32 }' >"$folder/$kind.lanes"
  {
    grep -v ' survived' "$folder/$kind.run" || true
    awk '/ survived/ { print $1 }' "$folder/$kind.run" |
      xargs -r -P "$jobs" -I N bash -c 'prove_equal "$@"' - "$kind" N
  } | sort -n >"$results"
  # A proof that finds mutants equal which the run has told apart would be worth nothing.
  for mutant in $(awk '/ killed / { print $1 }' "$results" | head -n 2); do
    if [[ $(prove_equal "$kind" "$mutant" 20) == *equivalent* ]]; then
      echo "$kind $mutant: proved equal, although it differs when it is run" >&2
      exit 1
    fi
  done
  killed=$(grep -c ' killed ' "$results" || true)
  equivalent=$(grep -c ' equivalent ' "$results" || true)
  survived=$((count - killed - equivalent))
  # shellcheck disable=SC2059
  table+=$'\n'$(printf "$row" "$kind" "$count" "$killed" "$equivalent" "$survived" \
    $((SECONDS - started)))
  kinds_done=$((kinds_done + 1))
  wipe_progress
  echo "$kind: mutants by place:"
  # shellcheck disable=SC2016
  # The cell of an instance within the top is called $flatten\u_x.\u_y.$and$file:line$number.
  sed -E 's/.*-cell (\$flatten)?((\\[a-z_]+\.)*).*/\2/; s/\\//g; s/\.$//; s/^$/arc_subcore/' \
    "$folder/$kind.list" | sort | uniq -c | sort -rn | awk '{ printf "  %4d  %s\n", $1, $2 }'
  while read -r mutant _ how; do
    place=$(place_of "$(sed -n "${mutant}p" "$folder/$kind.list")")
    echo "SURVIVED  $kind $mutant${how:+ $how}: $place"
    status=1
  done < <(grep ' survived' "$results" || true)
  ((survived == 0)) || status=1
done
echo "$table"
exit "$status"
