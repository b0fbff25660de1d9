// SPDX-License-Identifier: Apache-2.0
// Compile order; paths are relative to rtl/.
arc_pkg.sv
arc_fp32_adder.sv
arc_lane_picker.sv
arc_addr_match.sv
arc_scheduler.sv
arc_bin_max.sv
arc_fast_adder.sv
arc_reduction_serial.sv
arc_reduction_fused.sv
arc_reduction_pipelined.sv
arc_subcore.sv
