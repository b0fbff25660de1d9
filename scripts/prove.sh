#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Proves the RTL units; tb/formal/README.md says what and under which assumptions. For each proof it
# prints that it holds, that the states that matter are reached, and that planted bugs are refuted.
#
#   scripts/prove.sh [--quick] [NAME...]     default: all
#
# --quick: only the proofs that take seconds, and of each only its first bug.
#
# WARPFOLD_JOBS (2) proofs run at a time. Exit 1: something is not as expected. Exit 2: usage, or a
# tool is missing.
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
formal=$root/tb/formal
jobs=${WARPFOLD_JOBS:-2}

die() {
  echo "prove: $*" >&2
  exit 2
}

# name | quick | kind | top | RTL files beside arc_pkg.sv | Yosys defines | induction, cover, bug depth
#   cec:   ABC against fp_adder_exact; the defines column is FlushSubnormals, and ExpWidth,FracWidth
#          where these are not FP32's
#   open:  ABC, <top>_dut against <top>_exact, the flops between made wires
#   comb:  one step of free inputs is everything
#   induct: k-induction, base case from reset one step deeper
#   abc: the same by ABC, where z3 does not finish
proofs=$(cat <<'PROOFS'
lane_picker        | yes | comb   | arc_lane_picker    | arc_lane_picker                         | -                     | 1 1 1
scheduler          | yes | comb   | arc_scheduler      | arc_scheduler                           | -                     | 1 1 1
scheduler_groups   | yes | comb   | arc_scheduler_groups | arc_scheduler_groups                  | -                     | 1 1 1
congestion         | yes | induct | arc_congestion     | arc_congestion                          | -                     | 2 14 12
word_sequencer     | yes | induct | arc_word_sequencer | arc_word_sequencer                      | -                     | 2 9 6
reduction_serial   | yes | induct | arc_reduction_serial | arc_lane_picker arc_reduction_serial    | -                     | 2 11 9
halves_serial      | no  | induct | arc_reduction_serial | arc_lane_picker arc_reduction_serial    | -DHALVES              | 2 11 9
serial_progress    | no  | induct | arc_reduction_serial | arc_lane_picker arc_reduction_serial    | -DPROGRESS            | 2 11 12
group_pays         | yes | comb   | arc_group_pays     | arc_group_pays                          | -                     | 1 1 1
addr_match         | no  | abc    | arc_addr_match     | arc_lane_picker arc_addr_match          | -                     | 2 8 7
addr_compare       | no  | abc    | arc_addr_match     | arc_lane_picker arc_addr_match          | -DCOMPARE             | 0 1 1
addr_match_staged  | no  | abc    | arc_addr_match_staged | arc_addr_match_staged                | -                     | 2 14 12
staged_whole       | no  | abc    | arc_addr_match_staged | arc_addr_match_staged                | -DWHOLE               | 2 14 14
staged_compare     | no  | abc    | arc_addr_match_staged | arc_addr_match_staged                | -DCOMPARE             | 0 1 1
bin_max            | yes | comb   | arc_bin_max        | arc_bin_max                             | -                     | 1 1 1
fused_control      | no  | induct | arc_reduction_fused | arc_fused_fetch arc_fused_align arc_fused_sum arc_fused_round arc_reduction_fused | - | 2 13 7
paired_control     | no  | induct | arc_reduction_paired | arc_paired_fetch arc_paired_align arc_paired_sum arc_paired_round arc_reduction_paired | - | 2 13 7
fast_adder         | yes | open   | fast_adder         | arc_fast_adder                          | -                     | - - -
fused_align        | no  | open   | fused_align        | arc_fused_align                         | -                     | - - -
fused_sum          | no  | open   | fused_sum          | arc_fast_adder arc_fused_sum            | -                     | - - -
fused_round        | yes | open   | fused_round        | arc_fused_round                         | -                     | - - -
paired_align       | yes | open   | paired_align       | arc_paired_align                        | -                     | - - -
paired_sum         | yes | open   | paired_sum         | arc_fast_adder arc_paired_sum           | -                     | - - -
paired_round       | yes | open   | paired_round       | arc_paired_round                        | -                     | - - -
count_row          | no  | open   | count_row          | count_row                               | -                     | - - -
adder_flush        | no  | cec    | arc_fp_adder     | arc_fp_align arc_fp_adder | 1                     | - - -
adder_gradual      | no  | cec    | arc_fp_adder     | arc_fp_align arc_fp_adder | 0                     | - - -
adder_half_flush   | yes | cec    | arc_fp_adder     | arc_fp_align arc_fp_adder | 1,5,10                | - - -
adder_half_gradual | yes | cec    | arc_fp_adder     | arc_fp_align arc_fp_adder | 0,5,10                | - - -
PROOFS
)

# proof | bug | file | perl substitution
bugs=$(cat <<'BUGS'
lane_picker        | wrong_lane          | arc_lane_picker    | s/mask_i \& ~blocked/mask_i \& ~below/
lane_picker        | picked_lane_kept    | arc_lane_picker    | s/rest_o = .*;/rest_o = mask_i;/
scheduler          | red_before_result   | arc_scheduler      | s/red_free = lsu_room_i && !result_valid_i/red_free = lsu_room_i/
scheduler          | dropped             | arc_scheduler      | s/: reduce_ready_i;/: 1'b1;/
scheduler          | sent_twice          | arc_scheduler      | s/red_free \? !left_valid_i : /red_free || /
scheduler_groups   | red_before_result   | arc_scheduler_groups | s/red_free = lsu_room_i && !result_valid_i/red_free = lsu_room_i/
scheduler_groups   | group_among_the_left | arc_scheduler_groups | s/left_valid_i && !txn_valid_i && left_last_i/left_valid_i \&\& left_last_i/
scheduler_groups   | group_passes_on     | arc_scheduler_groups | s/txn_valid_i && !\(congested && several\)/txn_valid_i/
scheduler_groups   | never_greedy        | arc_scheduler_groups | s/ByRequest != 0 \|\| congested_i/1'b1/
scheduler_groups   | neighbours_not_seen | arc_scheduler_groups | s/distance >= 1;/distance >= 2;/
scheduler_groups   | lone_lane_reduced   | arc_scheduler_groups | s/congested \? several && /congested ? /
congestion         | room_forgotten      | arc_congestion     | s/again = .*;/again = 1'b0;/
congestion         | idle_counts         | arc_congestion     | s/: req_valid_i && !lsu_room_i;/: !lsu_room_i;/
congestion         | idle_starts_again   | arc_congestion     | s/!congested_o && req_valid_i && lsu_room_i/!congested_o \&\& lsu_room_i/
congestion         | one_too_soon        | arc_congestion     | s/count_q <= '0;/count_q <= CountBits'(1);/
word_sequencer     | next_too_early      | arc_word_sequencer | s/\(word_ready_i && last_q\)/word_ready_i/
word_sequencer     | lost_while_it_waits | arc_word_sequencer | s/txn_valid_i \|\| !txn_ready_o/txn_valid_i/
word_sequencer     | last_one_late       | arc_word_sequencer | s/last_q <= word_q == before_last_q/last_q <= word_q == before_last_q + WordWidth'(1)/
word_sequencer     | word_goes_on_alone  | arc_word_sequencer | s/else if \(word_ready_i\)/else/
word_sequencer     | lanes_of_the_next   | arc_word_sequencer | s/if \(txn_ready_o\) begin/if (txn_ready_o || word_ready_i) begin/
word_sequencer     | reset_forgotten     | arc_word_sequencer | s/valid_q <= 1'b0/valid_q <= 1'b1/
reduction_serial   | load_too_early      | arc_reduction_serial | s/\(!add_valid_q \|\| result_ready_i\)/1'b1/
reduction_serial   | gap_between         | arc_reduction_serial | s/\(!add_valid_q \|\| result_ready_i\)/!add_valid_q/
reduction_serial   | stall_ignored       | arc_reduction_serial | s/ \|\| \(result_valid_o && !result_ready_i\);/;/
reduction_serial   | first_lane_again    | arc_reduction_serial | s/\{Lanes\{rf_ready_i\}\}/{Lanes{rf_ready_i && left_any}}/
reduction_serial   | first_lane_lost     | arc_reduction_serial | s/\{Lanes\{rf_ready_i\}\}/{Lanes{rf_ready_i || load}}/
reduction_serial   | chain_not_started   | arc_reduction_serial | s/\{!add && !load\}/{!add}/
reduction_serial   | addresses_mixed     | arc_reduction_serial | s/if \(load\) begin/if (txn_valid_i) begin/
reduction_serial   | tags_mixed          | arc_reduction_serial | s/\(tag_q & \{Width\{left_any\}\}\)/tag_q/
reduction_serial   | idle_changes        | arc_reduction_serial | s/if \(load\) begin/if (load || !busy_o) begin/
reduction_serial   | reset_forgotten     | arc_reduction_serial | s/if \(!rst_ni\) add_valid_q <= 1'b0;/if (!rst_ni) add_valid_q <= 1'b1;/
halves_serial      | upper_half_alone    | arc_reduction_serial | s/\.a_i  \(acc_q\[DataWidth-1:NumberWidth\]\)/.a_i  (acc_q[NumberWidth-1:0])/
halves_serial      | neutral_of_fp32     | arc_reduction_serial | s/\? arc_pkg::NegativeZeros :/? arc_pkg::NegativeZero :/
serial_progress    | read_never_asked    | arc_reduction_serial | s/\.mask_i   \(fetch_mask\)/.mask_i   (fetch_mask & {Lanes{!tag_q[0]}})/
serial_progress    | result_never_due    | arc_reduction_serial | s/add_valid_q && !left_any;/add_valid_q && !left_any && !tag_q[0];/
group_pays         | tie_pays            | arc_group_pays     | s/lanes > words/lanes >= words/
group_pays         | others_counted      | arc_group_pays     | s/Words'\(here_i\[l\]\)/Words'(1)/
group_pays         | half_a_warp_counted | arc_group_pays     | s/ \+ 6'\(sum\[20:16\]\)//
addr_match         | sent_lanes_counted  | arc_addr_match     | s/left_mask_o & same_sector/req_mask_i \& same_sector/
addr_match         | pair_is_one         | arc_addr_match     | s/several = any_lone \|\| .*;/several = any_lone;/
addr_match         | wrong_leader        | arc_addr_match     | s/\.mask_i   \(pending\)/.mask_i   (req_mask_i)/
addr_match         | done_not_cleared    | arc_addr_match     | s/done_d = '0;/done_d = done_q;/
addr_match         | lone_not_cleared    | arc_addr_match     | s/lone_d = '0;/lone_d = lone_q;/
addr_match         | last_is_gathered    | arc_addr_match     | s/gather = !pays && others/gather = !pays/
addr_match         | one_is_two          | arc_addr_match     | s/two_lone_d = several/two_lone_d = 1'b1/
addr_match         | gathered_are_lost   | arc_addr_match     | s/left_mask_o = pending \| lone_q/left_mask_o = pending/
addr_match         | done_without_ready  | arc_addr_match     | s/else if \(txn_valid_o && txn_ready_i\)/else if (txn_valid_o)/
addr_compare       | address_bit_ignored | arc_addr_match     | s/same_sector\[l\] = .*;/same_sector[l] = (addr >> (SectorBits + 1)) == (txn_addr_o >> (SectorBits + 1));/
addr_compare       | addresses_mixed     | arc_addr_match     | s/\{AddrWidth\{leader\[l\]\}\}/{AddrWidth{pending[l]}}/
addr_compare       | word_ignored        | arc_addr_match     | s/ && addr\[SectorBits-1:0\] == txn_addr_o\[SectorBits-1:0\]//
addr_match_staged  | lost_at_a_stall     | arc_addr_match_staged | s/: txn_valid_q && !txn_ready_i;/: 1'b0;/
addr_match_staged  | sent_without_ready  | arc_addr_match_staged | s/if \(txn_valid_q && txn_ready_i\) sent_q/if (txn_valid_q) sent_q/
addr_match_staged  | sent_twice          | arc_addr_match_staged | s/sent_q <= sent_q \| group_q/sent_q <= group_q/
addr_match_staged  | gathered_are_lost   | arc_addr_match_staged | s/left_mask_o = req_mask_i & ~sent_q/left_mask_o = req_mask_i \& ~found_q/
addr_match_staged  | word_of_another     | arc_addr_match_staged | s/\+: Words\] & word\) != '0/+: Words] \& rest_q) != '0/
addr_match_staged  | last_part_leads     | arc_addr_match_staged | s/part_any & \(~part_any \+ 1'b1\)/part_any \& ~((part_any >> 1) | (part_any >> 2) | (part_any >> 3))/
addr_match_staged  | words_backwards     | arc_addr_match_staged | s/Words'\(1\) << req_addr_i/Words'(1) << ~req_addr_i/
addr_match_staged  | found_again         | arc_addr_match_staged | s/if \(match\) found_q <= .*;/if (match) found_q <= here_d;/
addr_match_staged  | place_of_the_next   | arc_addr_match_staged | s/ && !txn_valid_q;/;/
addr_match_staged  | sent_lanes_counted  | arc_addr_match_staged | s/used_q <= used_q & ~word_q;.*/used_q <= used_q;/
addr_match_staged  | tie_pays            | arc_addr_match_staged | s/lanes <= words/lanes < words/
addr_match_staged  | half_a_warp_counted | arc_addr_match_staged | s/ \+ 6'\(sum\[20:16\]\)//
addr_match_staged  | last_is_gathered    | arc_addr_match_staged | s/ && !\(ended_q && !lone_q\)//
addr_match_staged  | pair_is_one         | arc_addr_match_staged | s/lone_q \|\| several_q/lone_q/
addr_match_staged  | one_is_two          | arc_addr_match_staged | s/left_valid_o = two_lone_q/left_valid_o = lone_q/
addr_match_staged  | lone_not_cleared    | arc_addr_match_staged | s/lone_q <= 1'b0;/lone_q <= lone_q;/
addr_match_staged  | a_cycle_lost        | arc_addr_match_staged | s/!group_valid_q && free;/!group_valid_q \&\& !txn_valid_q;/
staged_whole       | part_of_a_sector    | arc_addr_match_staged | s/here_d\[l\] = unfound\[l\] && /here_d[l] = unfound[l] \&\& first_part[l\/8] \&\& /
staged_whole       | half_of_a_group     | arc_addr_match_staged | s/group_d\[l\] = here_q\[l\] && /group_d[l] = here_q[l] \&\& l < 16 \&\& /
staged_compare     | address_bit_ignored | arc_addr_match_staged | s/addr\[AddrWidth-1:SectorBits\], addr/addr[AddrWidth-1:SectorBits+1], 1'b0, addr/
staged_compare     | byte_ignored        | arc_addr_match_staged | s/, addr\[WordBits-1:0\]\}/, WordBits'(0)}/
staged_compare     | leaders_mixed       | arc_addr_match_staged | s/lead & \{PlaceWidth\{first_part\[p\]\}\}/lead/
staged_compare     | place_and_word      | arc_addr_match_staged | s/\{place_q\[PlaceWidth-1:WordBits\], word_index/{word_index, place_q[PlaceWidth-1:WordBits]/
bin_max            | later_bit_alone     | arc_bin_max        | s/ \|\| \(any_x && !any_1x\)//
bin_max            | third_bit_ignored   | arc_bin_max        | s/b3 \| \{Lanes\{~max_o\[3\]\}\}/b3 | ~b3/
fused_control      | load_too_early      | arc_reduction_fused | s/\(grant && fetch_last\)/grant/
fused_control      | third_accepted      | arc_reduction_fused | s/ && \(!back_valid_q \|\| advance\)//
fused_control      | two_of_a_bank       | arc_fused_fetch    | s/mask_q\[l\] & ~bank_o\[b\]/mask_q[l]/
fused_control      | sum_cleared         | arc_reduction_fused | s/align_first_q && align_valid_q/align_first_q/
fused_control      | tag_of_the_front    | arc_reduction_fused | s/rf_tag_o = \(back_valid_q \? back_tag_q : front_tag_q\)/rf_tag_o = front_tag_q/
fused_control      | word_added_again    | arc_reduction_fused | s/fetch_bank & \{Banks\{grant\}\}/fetch_bank/
fused_control      | sum_forgotten       | arc_reduction_fused | s/ \|\| \(done_q && !leave\)//
fused_control      | result_overrun      | arc_reduction_fused | s/leave = done_q && .*;/leave = done_q;/
fused_control      | bin_of_the_rest     | arc_reduction_fused | s/unpack_mask_q <= fetch_left/unpack_mask_q <= fetch_left \& ~rf_mask_o/
fused_control      | bin_moves           | arc_reduction_fused | s/unpack_valid_q && unpack_first_q\) max/unpack_valid_q) max/
fused_control      | reset_forgotten     | arc_reduction_fused | s/if \(!rst_ni\) done_q <= 1'b0;/if (!rst_ni) done_q <= 1'b1;/
paired_control     | load_too_early      | arc_reduction_paired | s/txn_ready_o = fetch_last && /txn_ready_o = /
paired_control     | third_accepted      | arc_reduction_paired | s/ && \(!back_valid_q \|\| advance\);/;/
paired_control     | two_of_a_bank       | arc_paired_fetch   | s/blocked = blocked \| \(group_below << i\)/blocked = below/
paired_control     | lane_read_again     | arc_paired_fetch   | s/\(blocked \| \{Lanes\{!ready_i\}\}\)/{Lanes{1'b1}}/
paired_control     | last_read_too_late  | arc_paired_fetch   | s/any = any \|\| four != '0;/any = 1'b1;/
paired_control     | word_added_again    | arc_reduction_paired | s/fetch_bank & \{Banks\{grant\}\}/fetch_bank/
paired_control     | sum_before_is_kept  | arc_paired_align   | s/keep_o\[k\] = !first_i && /keep_o[k] = /
paired_control     | flags_of_the_sum_before | arc_reduction_paired | s/\(sum_flags_q & \{4\{!add_first_q\}\}\)/sum_flags_q/
paired_control     | tag_of_the_front    | arc_reduction_paired | s/rf_tag_o = \(back_valid_q \? back_tag_q : front_tag_q\)/rf_tag_o = front_tag_q/
paired_control     | sum_forgotten       | arc_reduction_paired | s/ \|\| \(done_q && !leave\)//
paired_control     | result_overrun      | arc_reduction_paired | s/leave = done_q && .*;/leave = done_q;/
paired_control     | bin_of_the_next     | arc_reduction_paired | s/sum_bin_q <= bin_q/sum_bin_q <= bin/
paired_control     | reset_forgotten     | arc_reduction_paired | s/      done_q <= 1'b0;/      done_q <= 1'b1;/
fast_adder         | tree_too_short      | arc_fast_adder     | s/distance <= Width/distance < 32/
fused_align        | filled_with_zeros   | arc_fused_align    | s/\{\{8\{neg_q\}\}, coarse/{8'd0, coarse/
fused_align        | far_value_kept      | arc_fused_align    | s/far = down.*;/far = 1'b0;/
fused_align        | nan_not_seen        | arc_fused_align    | s/is_nan\[b\] = exp_max && frac_any/is_nan[b] = exp_max && word[FracWidth-1]/
fused_sum          | signs_kept          | arc_fused_sum      | s/\(SumWidth - Window - 2\) \{1'b1\}/(SumWidth - Window - 2) {1'b0}/
fused_sum          | wrong_missing_one   | arc_fused_sum      | s/neg_q <= neg_i\[3:2\]/neg_q <= neg_i[1:0]/
fused_sum          | sum_not_started     | arc_fused_sum      | s/\{!first_i\}\}/{1'b1}}/
paired_align       | sum_moves_too_far  | arc_paired_align    | s/\(largest_1 && from_1_to_old\[BinWidth-1:0\] == BinWidth'\(32 - k/(largest_1 \&\& from_1_to_old[BinWidth-1:0] == BinWidth'(31 - k/
paired_align       | bin_of_what_was_not_read | arc_paired_align | s/largest_1 = read_i\[1\] && /largest_1 = /
paired_align       | old_bin_in_a_first_read | arc_paired_align | s/\(from_0_to_old\[BinWidth\] \|\| first_i\)/from_0_to_old[BinWidth]/
paired_align       | least_bits_kept    | arc_paired_align    | s/\(fine >> \(8 \* k\)\)/(fine >> (k < 3 ? 8 * k : 16))/
paired_align       | nan_not_seen       | arc_paired_align    | s/is_nan\[b\] = exp_max && frac_any/is_nan[b] = exp_max \&\& word[FracWidth-1]/
paired_align       | subnormal_kept     | arc_paired_align    | s/ & \{FracWidth\{hidden\}\}//
paired_sum         | sign_not_moved     | arc_paired_sum      | s/\? i \+ 8 \* k : Width - 1\]/? i + 8 * k : i]/
paired_sum         | missing_one_lost   | arc_paired_sum      | s/\.carry_i\(neg_i\[1\]\)/.carry_i(1'b0)/
paired_sum         | two_signs_as_one   | arc_paired_sum      | s/neg_i\[0\] \^ neg_i\[1\], term/neg_i[0] | neg_i[1], term/
paired_round       | negative_tie       | arc_paired_round    | s/round_up = neg_q \? norm\[7\] \| norm\[8\]/round_up = neg_q ? norm[7]/
paired_round       | byte_not_in_the_tail | arc_paired_round  | s/tail = !leads \|\| mag_q\[7:0\] == \{8\{neg_q\}\}/tail = 1'b1/
paired_round       | zeros_shifted_in   | arc_paired_round    | s/norm = \{norm\[27:0\], \{4\{neg_q\}\}\}/norm = {norm[27:0], 4'b0}/
paired_round       | infinity_too_early | arc_paired_round    | s/huge_sum = !zero && \(/huge_sum = !zero \&\& (\&exp[ExpWidth-1:1] || /
paired_round       | exponent_of_the_next_byte | arc_paired_round | s/\+ 6'd1 - 6'\(k\)/- 6'(k)/
count_row          | carry_in_place      | count_row           | s/twos_o\[i\+1\] = /twos_o[i] = /
fused_round        | negative_tie        | arc_fused_round    | s/norm_neg_q \? round_up \| norm\[MagWidth-SigWidth\]/norm_neg_q ? round_up/
fused_round        | zeros_shifted_in    | arc_fused_round    | s/\(\{MagWidth\{norm_neg_q\}\} &/({MagWidth{1'b0}} \&/
fused_round        | infinity_too_early  | arc_fused_round    | s/huge_sum = !zero && \(/huge_sum = !zero \&\& (\&exp[ExpWidth-1:1] || /
adder_flush        | sticky_not_borrowed | arc_fp_adder     | s/aligned\[0\] \| sticky\)/aligned[0])/
adder_flush        | result_not_flushed  | arc_fp_adder     | s/ \|\| exp_borrow;/;/
adder_gradual      | tie_always_up       | arc_fp_adder     | s/round_up = norm\[3\] &.*;/round_up = norm[3];/
adder_gradual      | wrong_room          | arc_fp_adder     | s/\(room >> s\) != '0/1'b1/
adder_half_flush   | operand_not_flushed | arc_fp_align       | s/\(little_hidden_i \|\| FlushSubnormals == 0\)/1'b1/
adder_half_gradual | shifter_too_short   | arc_fp_align       | s/clog2\(SigWidth \+ 4\)/clog2(SigWidth - 4)/
adder_half_gradual | sticky_forgotten    | arc_fp_align       | s/sticky_o = sticky_o \| \(/sticky_o = (/
BUGS
)

# ------------------------------------------------------------------------------------------------
# Tools
# ------------------------------------------------------------------------------------------------

# Runs a command quietly; on failure its output is shown. For steps that must succeed.
must() {  # log, command...
  local log=$1
  shift
  if ! "$@" >"$log" 2>&1; then
    tail -5 "$log"
    return 1
  fi
}

# Copies the RTL for Yosys, less the count of lanes in the reduction units. Yosys 0.23 gives a size
# cast of a wider number the width of that number when it stands in a comparison, so the modulo-2^16
# count in arc_reduction_serial would fail at its wrap; and z3 does not get through the ones in the
# masks of the others. The record of each proof states the same for each transaction.
copy_rtl() {  # folder
  local unit
  mkdir -p "$1"
  cp "$root"/rtl/*.sv "$root"/rtl/*.svh "$1"
  for unit in arc_reduction_serial arc_reduction_fused arc_reduction_paired; do
    perl -0pi -e 's/`ARC_ASSERT\(NoLaneLostOrDoubled,\s*lanes_in_q.*?\)\n\s*\n?/\n/s' "$1/$unit.sv"
    if cmp -s "$1/$unit.sv" "$root/rtl/$unit.sv"; then
      echo "the lane count of $unit.sv is not where prove.sh looks for it"
      return 1
    fi
  done
}

build_smt2() {  # RTL folder, top, RTL files, defines, output, further Yosys commands, AIGER output
  local folder=$1 top=$2 defines=$4 out=$5 sources=() file purge='' cut='' aiger=''
  for file in $3; do sources+=("$folder/$file.sv"); done
  case $top in
    arc_reduction_fused)  # what only leads to stand-ins goes: the proof is about control
      sources+=("$formal"/arc_{bin_max,fast_adder}_any.sv)
      purge=-purge ;;
    arc_reduction_paired)
      sources+=("$formal/arc_fast_adder_any.sv")
      purge=-purge ;;
    arc_reduction_*) sources+=("$formal/arc_fp_adder_any.sv") ;;
    arc_addr_match)  # its comparisons alone, or what it does with their results
      sources+=("$formal/arc_group_pays_any.sv")
      if [[ $defines == *COMPARE* ]]; then
        cut="chformal -remove a:src=*$folder/*"
      else
        cut="cutpoint w:u_dut.same_addr w:u_dut.same_sector w:txn_addr"
      fi ;;
    arc_addr_match_staged)  # its own claims where all others are, so that ABC has one kind at a time
      if [[ $defines =~ COMPARE|WHOLE|REACHED ]]; then
        cut="chformal -assert -remove a:src=*$folder/*"
      fi ;;
  esac
  if [[ -n ${7:-} ]]; then
    aiger="chformal -cover -remove; opt_clean; setundef -undriven -anyseq
      opt -nosdff -nodffe; techmap; opt -fast -nosdff -nodffe; abc -g AND -fast; opt_clean
      tee -q -o ${7%.aig}.asserts dump t:\$assert
      write_aiger -zinit $7"
  fi
  must "$out.log" yosys -q -e 'implicitly declared|Resizing cell port' -p "
    read_verilog -sv -formal $defines -I$folder $folder/arc_pkg.sv ${sources[*]} \
      $formal/${top}_proof.sv
    prep -nordff -flatten -top ${top}_proof
    $cut
    async2sync; dffunmap; opt_clean $purge; check -assert
    ${6:-}
    write_smt2 -wires $out
    $aiger"
}

# From reset and by induction; at depth 0 in one step from any state.
abc_induct() {  # log, AIGER file, depth: 0 proved, 1 not
  if (($3 > 0)); then
    "$abc" -c "read_aiger $2; fold; strash; orpos; bmc3 -F $(($3 + 2))" >"$1" 2>&1 || true
    grep -q 'No output asserted' "$1" || return 1
  fi
  "$abc" -c "read_aiger $2; fold; strash; orpos; ind -F $(($3 + 1))" >>"$1" 2>&1 || true
  grep -q 'Networks are equivalent' "$1"
}

# Searches for traces to asserted outputs, where z3 does not get as far.
abc_search() {  # log, AIGER file, frames, options...: 0 found, 1 not
  "$abc" -c "read_aiger $2; fold; strash; bmc3 -F $3 ${*:4}" >"$1" 2>&1 || true
  grep -qE 'Output [0-9]+ of miter .* was asserted|All [0-9]+ outputs are found to be SAT' "$1"
}

smtbmc() {  # log, options...: 0 passed, 1 failed, 2 neither
  local log=$1
  shift
  # --unroll: as nested functions, which is the default, z3 does not get through reading the design.
  yosys-smtbmc --unroll --noprogress -s z3 "$@" >"$log" 2>&1 || true
  if grep -q 'Status: PASSED' "$log"; then return 0; fi
  if grep -qE 'Status: (FAILED|failed)' "$log"; then return 1; fi
  return 2
}

# The claim that a failed assertion is named after: the last one at or before its line.
failed_claim() {  # log of smtbmc, or of ABC and its list of assertions
  local place file line
  if (($# > 1)); then
    line=$(grep -m 1 -oP 'Output \K[0-9]+(?= of miter)' "$1") || return 0
    place=$(grep -oP 'src "\K[^"]+' "$2" | sed -n "$((line + 1))p" | grep -oE '[^|]+\.sv:[0-9]+' | tail -1)
  else
    place=$(grep -m 1 'Assert failed' "$1" | grep -oE '[^ |($]+\.sv:[0-9]+' | tail -1) || return 0
  fi
  file=${place%:*} line=${place##*:}
  head -n "$line" "$file" |
    grep -oP '(begin : \K(?!g_)\w+|`ARC_ASSERT\w*\(\K\w+)' | tail -1
}

build_aig() {  # RTL folder, parameters as in the table of proofs, output folder
  local flush exp frac
  IFS=, read -r flush exp frac <<<"$2"
  must "$3/dut.log" yosys -q -p "
    read_verilog -sv -noassert -DSYNTHESIS -I$1 $1/arc_pkg.sv $1/arc_fp_align.sv $1/arc_fp_adder.sv
    chparam -set FlushSubnormals $flush \
      -set ExpWidth ${exp:-8} -set FracWidth ${frac:-23} arc_fp_adder
    hierarchy -check -top arc_fp_adder
    proc; flatten; opt_clean
    synth -flatten; abc -g AND; opt_clean; aigmap; write_aiger -symbols $3/dut.aig"
}

reference() {  # parameters as in the table of proofs: Yosys commands that leave it loaded
  local flush exp frac
  IFS=, read -r flush exp frac <<<"$1"
  echo "read_verilog -sv $formal/fp_adder_exact.sv
    chparam -set FlushSubnormals $flush -set ExpWidth ${exp:-8} -set FracWidth ${frac:-23} \
      fp_adder_exact"
}

build_reference() {  # parameters, output folder
  must "$2/ref.log" yosys -q -p "
    $(reference "$1")
    hierarchy -check -top fp_adder_exact
    proc; opt; techmap; opt -fast; opt_clean; aigmap; opt_clean
    write_aiger -symbols $2/ref.aig"
}

# A part of the fused or the paired unit, its flops made wires: what it computes, without when.
build_open() {  # RTL folder, top, RTL files, output folder
  local file sources=()
  for file in $3; do sources+=("$1/$file.sv"); done
  must "$4/dut.log" yosys -q -p "
    read_verilog -sv -noassert -DSYNTHESIS -I$1 $1/arc_pkg.sv ${sources[*]} $formal/$2_dut.sv
    hierarchy -check -top $2_dut
    proc; flatten; techmap -map $formal/transparent.v; opt_clean -purge; opt
    select -assert-none t:\$dff* t:\$adff*
    techmap; opt -fast; abc -g AND; opt_clean; aigmap; write_aiger -symbols $4/dut.aig"
}

build_open_reference() {  # top, output folder
  must "$2/ref.log" yosys -q -p "
    read_verilog -sv $formal/$1_exact.sv $formal/count_row.sv
    hierarchy -check -top $1_exact
    proc; flatten; opt; techmap; opt -fast; opt_clean; aigmap; opt_clean
    write_aiger -symbols $2/ref.aig"
}

cec() {  # log, first, second: 0 equivalent, 1 not, 2 neither
  "$abc" -c "cec $2 $3" >"$1" 2>&1 || true
  if grep -q 'Networks are equivalent' "$1"; then return 0; fi
  if grep -q 'NOT EQUIVALENT' "$1"; then return 1; fi
  return 2
}

# ------------------------------------------------------------------------------------------------
# One proof
# ------------------------------------------------------------------------------------------------

report() { wipe_progress; printf '%-23s %-9s %s\n' "$@"; }  # proof, verdict, details

# Registers that "an idle unit changes nothing" has to name.
check_registers() {  # top
  local register
  while read -r register; do
    grep -qF "\$stable(\\u_dut.$register )" "$formal/$1_proof.sv" ||
      { echo "$1_proof.sv does not say that $register keeps its value when idle"; return 1; }
  done < <(sed '/`ifndef SYNTHESIS/,$d' "$root/rtl/$1.sv" |
             grep -oE '\b\w+_q <=' | cut -d' ' -f1 | sort -u)
}

prove_smt() {  # folder, name, kind, top, files, defines, depths
  local folder=$1 name=$2 kind=$3 top=$4 files=$5 defines=$6 depth cover_depth bug_depth
  local started=$SECONDS model=$1/proof.smt2
  read -r depth cover_depth bug_depth <<<"$7"
  copy_rtl "$folder/rtl"
  local search=
  if [[ $top == arc_addr_match_staged && $defines != *COMPARE* ]]; then
    search=abc
    perl -pi -e 's/AddrWidth = 48;/AddrWidth = 8;/' "$folder/rtl/arc_pkg.sv"
  fi
  build_smt2 "$folder/rtl" "$top" "$files" "$defines -DINVARIANTS" "$model" "" \
    "$([[ $kind != abc ]] || echo "${model%.smt2}.aig")"
  if [[ $top == arc_reduction_serial ]]; then check_registers "$top"; fi
  if [[ $kind == comb ]]; then
    smtbmc "$folder/base.log" -t 1 "$model" || { report "$name" FAILED \
      "$(failed_claim "$folder/base.log")"; return 1; }
    report "$name" proved "z3, all inputs, combinational, $((SECONDS - started)) s"
  elif [[ $kind == abc ]]; then
    abc_induct "$folder/ind.log" "${model%.smt2}.aig" "$depth" || { report "$name" FAILED \
      "ABC: $(tail -1 "$folder/ind.log")"; return 1; }
    report "$name" proved "abc, $( ((depth)) && echo "$depth-induction, unbounded" ||
      echo "all inputs and states"), $((SECONDS - started)) s"
  else
    smtbmc "$folder/base.log" -t "$((depth + 1))" "$model" || { report "$name" FAILED \
      "from reset: $(failed_claim "$folder/base.log")"; return 1; }
    smtbmc "$folder/step.log" -i -t "$depth" "$model" || { report "$name" FAILED \
      "induction step: $(failed_claim "$folder/step.log")"; return 1; }
    report "$name" proved "z3, $depth-induction, unbounded, $((SECONDS - started)) s"
  fi

  # Without the invariants: what is reached and what refutes a bug is said at the ports. Searching
  # for a trace over 32 wide addresses takes minutes; 7 bits still allow every grouping of 32 lanes.
  started=$SECONDS
  if [[ $top == arc_addr_match* ]]; then
    perl -pi -e 's/AddrWidth = (48|8);/AddrWidth = 7;/' "$folder/rtl/arc_pkg.sv"
  fi
  if [[ $search == abc ]]; then
    build_smt2 "$folder/rtl" "$top" "$files" "$defines -DREACHED" "$folder/cover.smt2" "" "$folder/cover.aig"
    abc_search "$folder/cover.log" "$folder/cover.aig" "$cover_depth" -a || { report "$name" FAILED \
      "not every state is reached in $cover_depth steps"; return 1; }
    report "$name" covered "$(grep -c 'attribute .src' "$folder/cover.asserts") states, $((SECONDS - started)) s"
    each_bug "$folder" "$name" refute_abc "$top" "$files" "$defines" "$bug_depth"
    return
  fi
  build_smt2 "$folder/rtl" "$top" "$files" "$defines" "$folder/cover.smt2"
  smtbmc "$folder/cover.log" -c -t "$cover_depth" "$folder/cover.smt2" || { report "$name" FAILED \
    "not every state is reached in $cover_depth steps"; return 1; }
  report "$name" covered \
    "$(grep -c 'Reached cover' "$folder/cover.log") states, $((SECONDS - started)) s"
  each_bug "$folder" "$name" refute_smt "$top" "$files" "$defines" "$bug_depth"
}

# A trace takes minutes where there are many claims: there it is enough that the induction does not go through.
refute_abc() {  # RTL folder, top, files, defines, depth
  if [[ $4 == *WHOLE* ]]; then
    build_smt2 "$1" "$2" "$3" "$4" "$1/bug.smt2" "" "$1/bug.aig" || return 2
    abc_search "$1/bug.log" "$1/bug.aig" "$5" || return 1
    failed_claim "$1/bug.log" "$1/bug.asserts"
  else
    perl -pi -e 's/AddrWidth = 7;/AddrWidth = 8;/' "$1/arc_pkg.sv"  # as it was proved
    build_smt2 "$1" "$2" "$3" "$4 -DINVARIANTS" "$1/bug.smt2" "" "$1/bug.aig" || return 2
    "$abc" -c "read_aiger $1/bug.aig; fold; strash; orpos; ind -F 3" >"$1/bug.log" 2>&1 || true
    grep -q 'Networks are UNDECIDED' "$1/bug.log" || return 1
    echo 'not proved any more'
  fi
}

refute_smt() {  # RTL folder, top, files, defines, depth
  local status=0 only=
  # A unit that stops breaks other claims as well, so that those of progress stand alone here.
  if [[ $4 == *PROGRESS* ]]; then
    only="chformal -assert -remove t:\$assert $(grep -n 'begin : [A-Za-z]*InTime' \
      "$formal/$2_proof.sv" | awk -F: '{ print "a:src=*_proof.sv:" $1 + 1 ".* %d" }' | xargs)"
  fi
  build_smt2 "$1" "$2" "$3" "$4" "$1/bug.smt2" "$only" || return 2
  smtbmc "$1/bug.log" -t "$5" "$1/bug.smt2" || status=$?
  if [[ $status == 0 && $2 =~ ^arc_reduction_(fused|paired)$ ]]; then
    # Results come so late that the search for a trace to a wrong one takes minutes: then it is
    # enough that the induction does not go through.
    build_smt2 "$1" "$2" "$3" "$4 -DINVARIANTS" "$1/bug.smt2" || return 2
    status=0
    smtbmc "$1/bug.log" -i -t 2 "$1/bug.smt2" || status=$?
    printf 'not proved any more, '
  fi
  ((status == 1)) || return 1
  failed_claim "$1/bug.log"
}

prove_cec() {  # folder, name, parameters
  local folder=$1 name=$2 parameters=$3 started=$SECONDS width=32 frac minus_three sum
  frac=$(cut -s -d, -f3 <<<"$parameters")
  [[ -z $frac ]] || width=16
  copy_rtl "$folder/rtl"
  build_aig "$folder/rtl" "$parameters" "$folder"
  build_reference "$parameters" "$folder"
  cec "$folder/cec.log" "$folder/dut.aig" "$folder/ref.aig" || { report "$name" FAILED \
    "not shown equal to fp_adder_exact"; return 1; }
  report "$name" proved "abc cec, all 2^$((2 * width)) inputs, $((SECONDS - started)) s"

  # There are no assumptions. That the proof spoke about addition: -1 - 2 = -3, and the least normal
  # number less its successor, which is where the two kinds of underflow part.
  started=$SECONDS
  local -A points=([32]='bf800000 c0000000 c0400000 00800000 80800001 8000000'
                   [16]='bc00 c000 c200 0400 8401 800')
  local a b c d
  read -r a b minus_three c d sum <<<"${points[$width]}"
  [[ $parameters == 1* ]] && sum+=0 || sum+=1
  yosys -p "
    $(reference "$parameters")
    prep -top fp_adder_exact
    eval -set a_i $width'h$a -set b_i $width'h$b -show sum_o
    eval -set a_i $width'h$c -set b_i $width'h$d -show sum_o" >"$folder/cover.log" 2>&1
  local as_bits='printf "%0*b", shift, hex shift'
  if ! grep -q "sum_o = $width'$(perl -e "$as_bits" "$width" "$minus_three")" "$folder/cover.log" ||
     ! grep -q "sum_o = $width'$(perl -e "$as_bits" "$width" "$sum")" "$folder/cover.log"; then
    report "$name" FAILED "fp_adder_exact does not add"
    return 1
  fi
  report "$name" covered "2 sums, $((SECONDS - started)) s"
  each_bug "$folder" "$name" refute_cec "$parameters" "$folder/ref.aig"
}

prove_open() {  # folder, name, top, RTL files
  local folder=$1 name=$2 top=$3 files=$4 started=$SECONDS
  copy_rtl "$folder/rtl"
  # It is no RTL, but proved, and bugs are planted in it, as if it were.
  [[ $top != count_row ]] || cp "$formal/count_row.sv" "$folder/rtl"
  build_open "$folder/rtl" "$top" "$files" "$folder"
  build_open_reference "$top" "$folder"
  cec "$folder/cec.log" "$folder/dut.aig" "$folder/ref.aig" || { report "$name" FAILED \
    "not shown equal to ${top}_exact"; return 1; }
  report "$name" proved "abc cec, all inputs, $((SECONDS - started)) s"

  # That the reference is what it says: known results.
  started=$SECONDS
  local inputs output value evals= points=0 log=$folder/cover.log
  while IFS='|' read -r _ inputs output value; do
    evals+="eval $(sed 's/\([a-z_]*\)=\([^ ]*\)/-set \1 \2/g' <<<"$inputs") -show $output
"
  done < <(known_results "$top")
  must "$log" yosys -p "
    read_verilog -sv $formal/${top}_exact.sv $formal/count_row.sv
    prep -flatten -top ${top}_exact; $evals"
  while IFS='|' read -r _ inputs output value; do
    # As Yosys prints it: in bits, but a positive number of 32 bits in decimal.
    value=$(perl -Mbigint -e '($w, $h) = split /\x27h/, shift; $n = Math::BigInt->from_hex($h);
      print $w == 32 && $n < 1 << 31 ? $n
        : "$w\x27" . substr(("0" x $w) . substr($n->as_bin, 2), -$w)' "$value")
    points=$((points + 1))
    if [[ $(grep 'Eval result' "$log" | sed -n "${points}p") != *" = $value." ]]; then
      report "$name" FAILED "${top}_exact at $inputs"
      return 1
    fi
  done < <(known_results "$top")
  report "$name" covered "$points known results, $((SECONDS - started)) s"
  each_bug "$folder" "$name" refute_open "$top" "$files" "$folder/ref.aig"
}

# Lines of: | inputs | output | value.
known_results() {  # top
  case $1 in
    fast_adder) cat <<'POINTS' ;;
|a_i=50'h3ffffffffffff b_i=50'h1 carry_i=1'h1|sum_o|50'h1
POINTS
    count_row) cat <<'POINTS' ;;
|x_i=50'h3ffffffffffff y_i=50'h7 z_i=50'h5|sum_o|50'hb
POINTS
    fused_align) cat <<POINTS ;;
|rf_data_i=128'h3f800000 read_i=4'h1 max_bin_i=5'hf|total_o|184'h$(perl -e 'use bigint; printf "%s", (((1 << 44) * (1 + (1 << 46) + (1 << 92) + (1 << 138))) + (1 << 43))->as_hex' | cut -c3-)
|rf_data_i=128'h000000007f80000000000000ff800001 read_i=4'h5 max_bin_i=5'h1f|flags_o|4'hd
POINTS
    fused_sum) cat <<'POINTS' ;;
|sum_i=50'h5 first_i=1'h0 window_i=176'h7 neg_i=4'h0|sum_o|50'hc
|sum_i=50'h5 first_i=1'h1 window_i=176'hffffffffffe neg_i=4'h1|sum_o|50'h3ffffffffffff
POINTS
    paired_align) cat <<'POINTS' ;;
|rf_data_i=64'hbf80000040000000 read_i=2'h3 first_i=1'h1 bin_i=5'h1f|value_o|66'h3ff00000001000000
|rf_data_i=64'hbf80000040000000 read_i=2'h2 first_i=1'h0 bin_i=5'h0c|keep_o|5'h8
|rf_data_i=64'hff80000000000000 read_i=2'h3 first_i=1'h0 bin_i=5'h0c|flags_o|4'h3
POINTS
    paired_sum) cat <<'POINTS' ;;
|sum_i=38'h3fffffffff down_i=3'h0 term_i=64'h0000000700000005 neg_i=2'h1|sum_o|38'h1
|sum_i=38'h2000000000 down_i=3'h4 term_i=64'h0 neg_i=2'h0|sum_o|38'h3fffffffe0
|sum_i=38'h2000000000 down_i=3'h5 term_i=64'h0 neg_i=2'h0|sum_o|38'h0
POINTS
    paired_round) cat <<'POINTS' ;;
|sum_i=38'h80000000 bin_i=5'hf nan_i=1'h0 pos_inf_i=1'h0 neg_inf_i=1'h0 any_pos_i=1'h1|data_o|32'h3f800000
|sum_i=38'h3fffffffff bin_i=5'hf nan_i=1'h0 pos_inf_i=1'h0 neg_inf_i=1'h0 any_pos_i=1'h0|data_o|32'hb0000000
|sum_i=38'h4 bin_i=5'h0 nan_i=1'h0 pos_inf_i=1'h0 neg_inf_i=1'h0 any_pos_i=1'h1|data_o|32'h0
|sum_i=38'h0 bin_i=5'h5 nan_i=1'h0 pos_inf_i=1'h0 neg_inf_i=1'h0 any_pos_i=1'h0|data_o|32'h80000000
POINTS
    fused_round) cat <<'POINTS' ;;
|sum_i=50'h080000000000 bin_i=5'hf nan_i=1'h0 pos_inf_i=1'h0 neg_inf_i=1'h0 any_pos_i=1'h1|data_o|32'h3f800000
|sum_i=50'h3ffffffffffff bin_i=5'hf nan_i=1'h0 pos_inf_i=1'h0 neg_inf_i=1'h0 any_pos_i=1'h0|data_o|32'haa000000
|sum_i=50'h4000 bin_i=5'h0 nan_i=1'h0 pos_inf_i=1'h0 neg_inf_i=1'h0 any_pos_i=1'h1|data_o|32'h0
|sum_i=50'h0 bin_i=5'h5 nan_i=1'h0 pos_inf_i=1'h0 neg_inf_i=1'h0 any_pos_i=1'h0|data_o|32'h80000000
POINTS
  esac
}

refute_open() {  # RTL folder, top, RTL files, reference
  local status=0
  build_open "$1" "$2" "$3" "$1" || return 2
  cec "$1/bug.log" "$1/dut.aig" "$4" || status=$?
  ((status == 1)) || return 1
  grep -oE 'Verification failed for at least [0-9]+ output' "$1/bug.log" | head -1 || true
}

refute_cec() {  # RTL folder, parameters, reference
  local status=0
  build_aig "$1" "$2" "$1" || return 2
  cec "$1/bug.log" "$1/dut.aig" "$3" || status=$?
  ((status == 1)) || return 1
  grep -oE 'Verification failed for at least [0-9]+ output' "$1/bug.log" | head -1 || true
}

each_bug() {  # folder, proof, command and its arguments after the RTL folder
  local folder=$1 name=$2 proof bug file change started claim failed=0 tried=0 rtl
  local refute=$3
  shift 3
  while IFS='|' read -r proof bug file change; do
    proof=${proof// /} bug=${bug// /} file=${file// /}
    [[ $proof == "$name" ]] || continue
    [[ $quick == no || $tried == 0 ]] || continue
    tried=1
    started=$SECONDS
    rtl=$folder/$bug
    cp -r "$folder/rtl" "$rtl"
    perl -pi -e "$change" "$rtl/$file.sv"
    if cmp -s "$rtl/$file.sv" "$folder/rtl/$file.sv"; then
      report "$name" STALE "$bug: the substitution changes nothing"
      failed=1
    elif claim=$("$refute" "$rtl" "$@"); then
      report "$name" refuted "$bug${claim:+: $claim}, $((SECONDS - started)) s"
    else
      report "$name" SURVIVED "$bug ${claim:-}"
      failed=1
    fi
  done <<<"$bugs"
  return "$failed"
}

# ------------------------------------------------------------------------------------------------
# Command line
# ------------------------------------------------------------------------------------------------

quick=no
names=()
for argument in "$@"; do
  case $argument in
    --quick) quick=yes ;;
    -*) die "unknown option $argument; usage: prove.sh [--quick] [NAME...]" ;;
    *) grep -q "^$argument  *|" <<<"$proofs" ||
         die "no proof $argument; there are: $(cut -d' ' -f1 <<<"$proofs" | tr '\n' ' ')"
       names+=("$argument") ;;
  esac
done
for tool in yosys:yosys yosys-smtbmc:yosys z3:z3 perl:perl; do
  command -v "${tool%:*}" >/dev/null || die "${tool%:*} not found; Debian package ${tool#*:}"
done
abc=$(command -v berkeley-abc || command -v yosys-abc) ||
  die "berkeley-abc not found; Debian package berkeley-abc, or yosys-abc where there is none"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

failed=0
running=0
ended=0
total=${#names[@]}
if ((total == 0)); then
  total=$(awk -F'|' -v quick=$quick 'quick == "no" || $2 ~ /yes/' <<<"$proofs" | grep -c '[|]')
fi
while IFS='|' read -r name is_quick kind top files defines depths; do
  name=${name// /} is_quick=${is_quick// /} kind=${kind// /} top=${top// /}
  defines=${defines// /}
  [[ $defines != - ]] || defines=
  if ((${#names[@]})); then [[ " ${names[*]} " == *" $name "* ]] || continue; fi
  [[ $quick == no || $is_quick == yes ]] || continue
  if ((running >= jobs)); then
    wait -n || failed=1
    running=$((running - 1))
    ended=$((ended + 1))
  fi
  progress $ended "$total" proofs
  mkdir "$work/$name"
  (
    if [[ $kind == cec ]]; then
      prove_cec "$work/$name" "$name" "$defines"
    elif [[ $kind == open ]]; then
      prove_open "$work/$name" "$name" "$top" "$files"
    else
      prove_smt "$work/$name" "$name" "$kind" "$top" "$files" "$defines" "$depths"
    fi
  ) &
  running=$((running + 1))
done <<<"$proofs"
while ((running)); do
  wait -n || failed=1
  running=$((running - 1))
  ended=$((ended + 1))
  progress $ended "$total" proofs
done
wipe_progress
((failed == 0)) || { echo "prove: not everything is as expected" >&2; exit 1; }
echo "prove: all as expected, $SECONDS s"
