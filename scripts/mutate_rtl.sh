#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Plants one bug at a time in a copy of rtl/ and checks that the unit bench of the changed part
# fails. RTL assertions are off, so that each bug is caught by what a bench compares, not by the RTL
# itself. Prints one line per bug; exits 1 if one survives, 2 if the unchanged RTL fails or a bug
# does not apply any more.
#
#   scripts/mutate_rtl.sh [name ...]     default: all
#
# A bench object is compiled once: the Verilated class that it sees depends on the ports only. Per
# bug only the changed module is verilated, compiled and linked again.
set -euo pipefail
if [[ ${1:-} == -h || ${1:-} == --help ]]; then
  sed -n -e '1,2d' -e '/^#/!q' -e 's/^# \{0,1\}//p' "$0"
  exit 0
fi

root=$(cd "$(dirname "$(readlink -f "$0")")/.." && pwd)
# Yosys and make take no path with blanks.
[[ ${TMPDIR:-} != *[[:space:]]* ]] || export TMPDIR=/tmp
# shellcheck source=scripts/progress.sh
source "$root/scripts/progress.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# Asked from the tool itself, because the package puts it in different places.
verilator_root=${VERILATOR_ROOT:-$(verilator --getenv VERILATOR_ROOT)}
jobs=${WARPFOLD_JOBS:-2}

# name | bench | file | perl substitution
bugs=$(cat <<'BUGS'
wrong_sticky          | arc_fp32_adder     | arc_fp_align.sv     | s/sticky_o = sticky_o \| \(/sticky_o = (/
sticky_not_borrowed   | arc_fp32_adder     | arc_fp_adder.sv     | s/aligned\[0\] \| sticky\)/aligned[0])/
tie_always_up         | arc_fp32_adder     | arc_fp_adder.sv     | s/round_up = norm\[3\] &.*;/round_up = norm[3];/
result_not_flushed    | arc_fp32_adder     | arc_fp_adder.sv     | s/ \|\| exp_borrow;/;/
operand_not_flushed   | arc_fp32_adder     | arc_fp_align.sv     | s/\(little_hidden_i \|\| FlushSubnormals == 0\)/1'b1/
nan_not_canonical     | arc_fp32_adder     | arc_fp_adder.sv     | s/\{FracWidth\{is_nan\}\}/{is_nan, {(FracWidth - 1) {1'b0}}}/
negative_exact_zero   | arc_fp32_adder     | arc_fp_adder.sv     | s/ & ~\(subtract & is_exact_zero\)//
shift_below_exponent  | arc_fp32_adder     | arc_fp_adder.sv     | s/\(room >> s\) != '0/1'b1/
half_shifter_too_short | arc_half_adder    | arc_fp_align.sv     | s/clog2\(SigWidth \+ 4\)/clog2(SigWidth - 4)/
half_nan_of_fp32      | arc_half_adder     | arc_fp_adder.sv     | s/ExpMax = \{ExpWidth\{1'b1\}\}/ExpMax = ExpWidth'(15)/
half_normalised_short | arc_half_adder     | arc_fp_adder.sv     | s/ShiftBits = \$clog2\(WorkWidth\)/ShiftBits = \$clog2(WorkWidth) - 1/
wrong_lane            | arc_lane_picker    | arc_lane_picker.sv    | s/mask_i \& ~blocked/mask_i \& ~below/
picked_lane_kept      | arc_lane_picker    | arc_lane_picker.sv    | s/rest_o = .*;/rest_o = mask_i;/
tie_pays              | arc_addr_match     | arc_group_pays.sv     | s/lanes > words/lanes >= words/
others_counted        | arc_addr_match     | arc_group_pays.sv     | s/Words'\(here_i\[l\]\)/Words'(1)/
half_a_warp_counted   | arc_addr_match     | arc_group_pays.sv     | s/ \+ 6'\(sum\[20:16\]\)//
sent_lanes_counted    | arc_addr_match     | arc_addr_match.sv     | s/left_mask_o & same_sector/req_mask_i \& same_sector/
pair_is_one           | arc_addr_match     | arc_addr_match.sv     | s/several = any_lone \|\| .*;/several = any_lone;/
wrong_leader          | arc_addr_match     | arc_addr_match.sv     | s/\.mask_i   \(pending\)/.mask_i   (req_mask_i)/
done_not_cleared      | arc_addr_match     | arc_addr_match.sv     | s/done_d = '0;/done_d = done_q;/
lone_not_cleared      | arc_addr_match     | arc_addr_match.sv     | s/lone_d = '0;/lone_d = lone_q;/
last_is_gathered      | arc_addr_match     | arc_addr_match.sv     | s/gather = !pays && others/gather = !pays/
one_is_two            | arc_addr_match     | arc_addr_match.sv     | s/two_lone_d = several/two_lone_d = 1'b1/
gathered_are_lost     | arc_addr_match     | arc_addr_match.sv     | s/left_mask_o = pending \| lone_q/left_mask_o = pending/
address_bit_ignored   | arc_addr_match     | arc_addr_match.sv     | s/same_sector\[l\] = .*;/same_sector[l] = (addr >> (SectorBits + 1)) == (txn_addr_o >> (SectorBits + 1));/
done_without_ready    | arc_addr_match     | arc_addr_match.sv     | s/else if \(txn_valid_o && txn_ready_i\)/else if (txn_valid_o)/
staged_last_gathered  | arc_addr_match_staged | arc_addr_match_staged.sv | s/ && !\(ended_q && !lone_q\)//
staged_tie_pays       | arc_addr_match_staged | arc_addr_match_staged.sv | s/lanes <= words/lanes < words/
staged_sent_counted   | arc_addr_match_staged | arc_addr_match_staged.sv | s/used_q <= used_q & ~word_q;.*/used_q <= used_q;/
staged_half_counted   | arc_addr_match_staged | arc_addr_match_staged.sv | s/ \+ 6'\(sum\[20:16\]\)//
staged_pair_is_one    | arc_addr_match_staged | arc_addr_match_staged.sv | s/lone_q \|\| several_q/lone_q/
staged_part_ignored   | arc_addr_match_staged | arc_addr_match_staged.sv | s/lead & \{PlaceWidth\{first_part\[p\]\}\}/lead/
staged_found_again    | arc_addr_match_staged | arc_addr_match_staged.sv | s/if \(match\) found_q <= .*;/if (match) found_q <= here_d;/
staged_place_early    | arc_addr_match_staged | arc_addr_match_staged.sv | s/ && !txn_valid_q;/;/
staged_never_cleared  | arc_addr_match_staged | arc_addr_match_staged.sv | s/lone_q <= 1'b0;/lone_q <= lone_q;/
staged_one_is_enough  | arc_addr_match_staged | arc_addr_match_staged.sv | s/left_valid_o = two_lone_q/left_valid_o = lone_q/
red_before_result     | arc_scheduler      | arc_scheduler.sv      | s/red_free = lsu_room_i && !result_valid_i/red_free = lsu_room_i/
sent_twice            | arc_scheduler      | arc_scheduler.sv      | s/red_free \? !left_valid_i : /red_free || /
red_before_result_groups | arc_scheduler_groups | arc_scheduler_groups.sv | s/red_free = lsu_room_i && !result_valid_i/red_free = lsu_room_i/
group_passed_on       | arc_scheduler_groups | arc_scheduler_groups.sv | s/txn_valid_i && !\(congested && several\)/txn_valid_i/
lone_lane_reduced     | arc_scheduler_groups | arc_scheduler_groups.sv | s/congested \? several && /congested ? /
left_before_gathered  | arc_scheduler_groups | arc_scheduler_groups.sv | s/left_valid_i && !txn_valid_i && left_last_i/left_valid_i \&\& !txn_valid_i/
never_greedy          | arc_scheduler_groups | arc_scheduler_groups.sv | s/ByRequest != 0 \|\| congested_i/1'b1/
group_with_the_left   | arc_scheduler_groups | arc_scheduler_groups.sv | s/\(ByRequest != 0 \|\| !left_goes\)/1'b1/
neighbours_not_seen   | arc_scheduler_groups | arc_scheduler_groups.sv | s/distance >= 1;/distance >= 2;/
room_forgotten        | arc_congestion     | arc_congestion.sv     | s/again = .*;/again = 1'b0;/
idle_counts           | arc_congestion     | arc_congestion.sv     | s/: req_valid_i && !lsu_room_i;/: !lsu_room_i;/
idle_starts_again     | arc_congestion     | arc_congestion.sv     | s/!congested_o && req_valid_i && lsu_room_i/!congested_o \&\& lsu_room_i/
groups_not_counted    | arc_congestion     | arc_congestion.sv     | s/congested_o \? taken_i :/congested_o ? 1'b0 :/
congestion_not_reset  | arc_congestion     | arc_congestion.sv     | s/count_q <= '0;/count_q <= '1;/
word_skipped          | arc_word_sequencer | arc_word_sequencer.sv | s/word_q <= word_q \+ WordWidth'\(1\)/word_q <= word_q + WordWidth'(2)/
last_one_late         | arc_word_sequencer | arc_word_sequencer.sv | s/last_q <= word_q == before_last_q/last_q <= word_q == before_last_q + WordWidth'(1)/
one_word_without_end  | arc_word_sequencer | arc_word_sequencer.sv | s/last_q <= txn_words_i == '0/last_q <= 1'b0/
next_txn_too_early    | arc_word_sequencer | arc_word_sequencer.sv | s/\(word_ready_i && last_q\)/word_ready_i/
next_txn_too_late     | arc_word_sequencer | arc_word_sequencer.sv | s/ \|\| \(word_ready_i && last_q\)//
txn_lost              | arc_word_sequencer | arc_word_sequencer.sv | s/txn_valid_i \|\| !txn_ready_o/txn_valid_i/
words_not_reset       | arc_word_sequencer | arc_word_sequencer.sv | s/valid_q <= 1'b0/valid_q <= 1'b1/
last_lane_lost        | arc_reduction_serial | arc_reduction_serial.sv | s/left_any = mask_q != '0/left_any = (mask_q \& (mask_q - 1)) != '0/
load_too_early        | arc_reduction_serial | arc_reduction_serial.sv | s/\(!add_valid_q \|\| result_ready_i\)/1'b1/
load_too_late         | arc_reduction_serial | arc_reduction_serial.sv | s/\(!add_valid_q \|\| result_ready_i\)/!add_valid_q/
stall_ignored         | arc_reduction_serial | arc_reduction_serial.sv | s/ \|\| \(result_valid_o && !result_ready_i\);/;/
acc_not_started       | arc_reduction_serial | arc_reduction_serial.sv | s/\{!add && !load\}/{!add}/
acc_starts_at_plus_0  | arc_reduction_serial | arc_reduction_serial.sv | s/\(Neutral & \{DataWidth\{load\}\}\)/'0/
first_read_lost       | arc_reduction_serial | arc_reduction_serial.sv | s/\{Lanes\{rf_ready_i\}\}/{Lanes{rf_ready_i || load}}/
addresses_mixed       | arc_reduction_serial | arc_reduction_serial.sv | s/if \(load\) begin/if (txn_valid_i) begin/
tags_mixed            | arc_reduction_serial | arc_reduction_serial.sv | s/\(tag_q & \{Width\{left_any\}\}\)/tag_q/
upper_half_not_added  | arc_reduction_serial_halves | arc_reduction_serial.sv | s/rf_data_i\[DataWidth-1:NumberWidth\]/rf_data_i[NumberWidth-1:0]/
halves_start_as_fp32  | arc_reduction_serial_halves | arc_reduction_serial.sv | s/\? arc_pkg::NegativeZeros :/? arc_pkg::NegativeZero :/
halves_flush          | arc_reduction_serial_halves | arc_reduction_serial.sv | s/FlushSubnormals = 1 - Halves/FlushSubnormals = 1/
two_of_a_bank         | arc_reduction_paired | arc_paired_fetch.sv | s/blocked = blocked \| \(group_below << i\)/blocked = below/
pair_read_again       | arc_reduction_paired | arc_paired_fetch.sv | s/\(blocked \| \{Lanes\{!ready_i\}\}\)/{Lanes{1'b1}}/
last_read_too_late    | arc_reduction_paired | arc_paired_fetch.sv | s/any = any \|\| four != '0;/any = 1'b1;/
sum_moves_too_far     | arc_reduction_paired | arc_paired_align.sv | s/\(largest_1 && from_1_to_old\[BinWidth-1:0\] == BinWidth'\(32 - k/(largest_1 \&\& from_1_to_old[BinWidth-1:0] == BinWidth'(31 - k/
bin_of_what_was_not_read | arc_reduction_paired | arc_paired_align.sv | s/largest_1 = read_i\[1\] && /largest_1 = /
old_bin_in_a_first_read | arc_reduction_paired | arc_paired_align.sv | s/\(from_0_to_old\[BinWidth\] \|\| first_i\)/from_0_to_old[BinWidth]/
sum_before_is_kept    | arc_reduction_paired | arc_paired_align.sv | s/keep_o\[k\] = !first_i && /keep_o[k] = /
subnormal_kept        | arc_reduction_paired | arc_paired_align.sv | s/ & \{FracWidth\{hidden\}\}//
sign_not_moved        | arc_reduction_paired | arc_paired_sum.sv   | s/\? i \+ 8 \* k : Width - 1\]/? i + 8 * k : i]/
missing_one_lost      | arc_reduction_paired | arc_paired_sum.sv   | s/\.carry_i\(neg_i\[1\]\)/.carry_i(1'b0)/
two_signs_as_one      | arc_reduction_paired | arc_paired_sum.sv   | s/neg_i\[0\] \^ neg_i\[1\], term/neg_i[0] | neg_i[1], term/
negative_tie          | arc_reduction_paired | arc_paired_round.sv | s/round_up = neg_q \? norm\[7\] \| norm\[8\]/round_up = neg_q ? norm[7]/
byte_not_in_the_tail  | arc_reduction_paired | arc_paired_round.sv | s/tail = !leads \|\| mag_q\[7:0\] == \{8\{neg_q\}\}/tail = 1'b1/
zeros_shifted_in      | arc_reduction_paired | arc_paired_round.sv | s/norm = \{norm\[27:0\], \{4\{neg_q\}\}\}/norm = {norm[27:0], 4'b0}/
third_accepted        | arc_reduction_paired | arc_reduction_paired.sv | s/ && \(!back_valid_q \|\| advance\);/;/
flags_of_the_sum_before | arc_reduction_paired | arc_reduction_paired.sv | s/\(sum_flags_q & \{4\{!add_first_q\}\}\)/sum_flags_q/
sum_forgotten         | arc_reduction_paired | arc_reduction_paired.sv | s/ \|\| \(done_q && !leave\)//
bin_of_the_next       | arc_reduction_paired | arc_reduction_paired.sv | s/sum_bin_q <= bin_q/sum_bin_q <= bin/
wrong_scheduler       | arc_subcore        | arc_unit.sv           | s/Scheduler == arc_pkg::SchedulerGroups\) begin : g_groups/Scheduler != arc_pkg::SchedulerGroups) begin : g_groups/
mask_not_blanked      | arc_subcore        | arc_unit.sv           | s/red_mask & \{Lanes\{red_valid\}\}/red_mask/
group_instead_of_rest | arc_subcore        | arc_unit.sv           | s/left_valid_i \? left_mask_i : txn_mask_i/txn_mask_i/
tag_not_blanked       | arc_subcore        | arc_unit.sv           | s/req_tag_i & \{TagWidth\{red_valid\}\}/req_tag_i/
BUGS
)

cxx=(g++ -std=c++20 -O1 -ffp-contract=off -w -I"$root" -I"$verilator_root/include"
     -I"$verilator_root/include/vltstd"
     -DWARPFOLD_VECTORS="\"$root/tb/unit/vectors/f32_add_rne.tv\"")

# Names of the Verilated classes of a bench, with their extra arguments.
tops_of() {
  case $1 in
    arc_scheduler_groups) printf '%s\n' arc_scheduler_groups arc_scheduler_groups_by_request ;;
    arc_fp32_adder) printf 'arc_fp32_adder_%s\n' flush gradual ;;
    arc_half_adder) printf 'arc_half_adder_%s\n' flush gradual ;;
    *) echo "$1" ;;
  esac
}

# The module that a bench is about.
module_of() {
  case $1 in
    arc_fp32_adder | arc_half_adder) echo arc_fp_adder ;;
    *) echo "${1%_halves}" ;;
  esac
}

verilate() {  # bench, rtl folder, output folder
  local top extra
  for top in $(tops_of "$1"); do
    case $top in
      *_flush) extra=(-GFlushSubnormals=1) ;;
      *_gradual) extra=(-GFlushSubnormals=0) ;;
      *_serial_halves) extra=(-GFormat=1) ;;
      *_by_request) extra=(-GByRequest=1) ;;
      *) extra=() ;;
    esac
    [[ $top != arc_half_adder_* ]] || extra+=(-GExpWidth=5 -GFracWidth=10)
    (cd "$2" && sed -e 's,//.*,,' -e '/^[[:space:]]*$/d' arc.f | xargs verilator --cc \
      -Wno-fatal -Wno-lint --reloop-limit 64 --x-assign unique --x-initial unique \
      "${extra[@]}" -I. --top-module "$(module_of "$1")" --prefix "V$top" --Mdir "$3" >/dev/null)
    (cd "$3" && printf '#include "%s"\n' "V$top"*.cpp >"all_$top.cc" &&
      "${cxx[@]}" -I. -c "all_$top.cc" -o "$top.o")
  done
}

link_and_run() {  # bench, folder with the module objects, log
  local objects=()
  for top in $(tops_of "$1"); do objects+=("$2/$top.o"); done
  g++ "$work/$1_test.o" "${objects[@]}" "$work"/runtime_*.o "$work/fp32.o" \
    -lgtest_main -lgtest -lpthread -o "$2/bench"
  timeout 120 "$2/bench" --gtest_fail_fast --gtest_brief=1 >"$3" 2>&1
}

prepare() {  # bench: its object, and a run on the unchanged RTL
  local folder=$work/base_$1 defines=()
  mkdir -p "$folder"
  verilate "$1" "$root/rtl" "$folder"
  local source=$1
  case $1 in
    *_halves) defines=(-DWARPFOLD_HALVES) source=${1%_halves} ;;
    arc_reduction_paired) defines=(-DWARPFOLD_PAIRED) source=arc_reduction_fused ;;
  esac
  "${cxx[@]}" "${defines[@]}" -I"$folder" -c "$root/tb/unit/${source}_test.cpp" \
    -o "$work/$1_test.o"
  if ! link_and_run "$1" "$folder" "$folder/log"; then
    cat "$folder/log"
    echo "mutate_rtl: $1 fails on the unchanged RTL" >&2
    return 1
  fi
}

try_bug() {  # name, bench, file, substitution -> verdict in $work/<name>.verdict
  local folder=$work/bug_$1 rtl=$work/rtl_$1
  mkdir -p "$folder"
  cp -r "$root/rtl" "$rtl"
  perl -pi -e "$4" "$rtl/$3"
  if cmp -s "$rtl/$3" "$root/rtl/$3"; then
    echo "STALE     the substitution changes nothing" >"$work/$1.verdict"
  elif ! verilate "$2" "$rtl" "$folder" >"$folder/build.log" 2>&1; then
    echo "BROKEN    does not build: $(tail -1 "$folder/build.log")" >"$work/$1.verdict"
  elif link_and_run "$2" "$folder" "$folder/log"; then
    echo "SURVIVED  " >"$work/$1.verdict"
  else
    echo "killed    $(grep -oP '^\[  FAILED  \] \K[^, ]+' "$folder/log" | head -1)" >"$work/$1.verdict"
  fi
  rm -rf "$folder" "$rtl"
}

throttle() { while (($(jobs -rp | wc -l) >= jobs)); do wait -n || exit 2; done; }
drain() { while (($(jobs -rp | wc -l) > 0)); do wait -n || exit 2; done; }

chosen=()
benches=()
while IFS='|' read -r name bench file edit; do
  name=${name// /} bench=${bench// /} file=${file// /} edit=${edit# }
  if (($# > 0)) && [[ " $* " != *" $name "* ]]; then continue; fi
  chosen+=("$name|$bench|$file|$edit")
  [[ " ${benches[*]-} " == *" $bench "* ]] || benches+=("$bench")
done <<<"$bugs"
((${#chosen[@]} > 0)) || { echo "mutate_rtl: no such bug: $*" >&2; exit 2; }

"${cxx[@]}" -c "$verilator_root/include/verilated.cpp" -o "$work/runtime_verilated.o" &
"${cxx[@]}" -c "$verilator_root/include/verilated_threads.cpp" -o "$work/runtime_threads.o" &
drain
"${cxx[@]}" -c "$root/model/unit/fp32.cpp" -o "$work/fp32.o"
for bench in "${benches[@]}"; do
  throttle
  prepare "$bench" &
done
drain
begun=0
for bug in "${chosen[@]}"; do
  IFS='|' read -r name bench file edit <<<"$bug"
  throttle
  progress $begun ${#chosen[@]} bugs
  begun=$((begun + 1))
  try_bug "$name" "$bench" "$file" "$edit" &
done
drain
wipe_progress

status=0
for bug in "${chosen[@]}"; do
  name=${bug%%|*}
  verdict=$(cat "$work/$name.verdict")
  printf '%-22s %s\n' "$name" "$verdict"
  case $verdict in
    killed*) ;;
    SURVIVED*) ((status == 0)) && status=1 ;;
    *) status=2 ;;
  esac
done
echo "${#chosen[@]} planted bugs, exit $status"
exit "$status"
