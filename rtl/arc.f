// SPDX-License-Identifier: Apache-2.0
// Compile order; paths are relative to rtl/.
arc_pkg.sv
arc_lane_picker.sv
arc_group_pays.sv
arc_addr_match.sv
arc_scheduler.sv
arc_congestion.sv
arc_scheduler_groups.sv
arc_fp_align.sv
arc_fp_adder.sv
arc_bin_max.sv
arc_fast_adder.sv
arc_fused_fetch.sv
arc_fused_align.sv
arc_fused_sum.sv
arc_fused_round.sv
arc_reduction_fused.sv
arc_reduction_serial.sv
arc_word_sequencer.sv
arc_paired_fetch.sv
arc_paired_align.sv
arc_paired_sum.sv
arc_paired_round.sv
arc_reduction_paired.sv
arc_reduction.sv
arc_unit.sv
arc_subcore.sv
