# SPDX-License-Identifier: Apache-2.0
# Worst paths of a laid-out netlist, for OpenSTA: without wires, with wires, and with the delays of the clock tree.
# Environment: SYNTH_LIBERTY, SYNTH_NETLIST, SYNTH_TOP, SYNTH_PERIOD in the library's time unit, SYNTH_SPEF.
#
# Inputs arrive with the clock edge and without slew, outputs drive nothing but their wires.
read_liberty $::env(SYNTH_LIBERTY)
read_verilog $::env(SYNTH_NETLIST)
link_design $::env(SYNTH_TOP)

set clocked [expr {[llength [get_ports -quiet clk_i]] > 0}]
if {$clocked} {
  create_clock -name clk -period $::env(SYNTH_PERIOD) [get_ports clk_i]
} else {
  create_clock -name clk -period $::env(SYNTH_PERIOD)
}
set_input_delay 0 -clock clk [all_inputs]
set_output_delay 0 -clock clk [all_outputs]
# Reset is released long before work begins; else recovery checks dominate.
if {[llength [get_ports -quiet rst_ni]] > 0} {
  set_false_path -from [get_ports rst_ni]
}

proc report {name} {
  puts "@ $name"
  report_checks -path_delay max -digits 6
  if {[llength [all_registers -data_pins]] > 0} {
    puts "@ ${name}_reg_to_reg"
    report_checks -path_delay max -digits 6 -from [all_registers -clock_pins] -to [all_registers -data_pins]
  }
}

report ideal
read_spef $::env(SYNTH_SPEF)
report wires
if {$clocked} {
  set_propagated_clock [all_clocks]
  report tree
  puts "@ skew"
  report_clock_skew -digits 6
  puts "@ hold"
  report_checks -path_delay min -digits 6 -from [all_registers -clock_pins] -to [all_registers -data_pins]
}
puts "@ done"
