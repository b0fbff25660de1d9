# SPDX-License-Identifier: Apache-2.0
# Power of each cell of a mapped netlist when its nets toggle once a cycle, and when none does, for
# OpenSTA. Environment: SYNTH_LIBERTY (files), SYNTH_NETLIST, SYNTH_TOP, SYNTH_PERIOD in the library's
# time unit, SYNTH_SPEF (the wires; may be empty). Prints lines of: cell, internal at 1, switching at 1, internal at 0, leakage; in watts.
foreach file $::env(SYNTH_LIBERTY) {
  read_liberty $file
}
read_verilog $::env(SYNTH_NETLIST)
link_design $::env(SYNTH_TOP)
if {$::env(SYNTH_SPEF) ne ""} {
  read_spef $::env(SYNTH_SPEF)
}

# Without a clock that reaches them, OpenSTA gives cells no power.
create_clock -name clk -period $::env(SYNTH_PERIOD) [get_ports clk_i]
set_input_delay 0 -clock clk [all_inputs]
set_output_delay 0 -clock clk [all_outputs]
report_checks > /dev/null

set corner [sta::cmd_corner]
set cells [get_cells *]
foreach activity {1.0 0.0} {
  set_power_activity -global -activity $activity -duty 0.5
  puts "@ $activity"
  foreach cell $cells {
    set power [sta::instance_power $cell $corner]
    puts "[get_property $cell full_name] $power"
  }
}
puts "@ done"
