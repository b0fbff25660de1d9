# SPDX-License-Identifier: Apache-2.0
# Worst paths of a mapped netlist, for OpenSTA. Environment: SYNTH_LIBERTY, SYNTH_NETLIST, SYNTH_TOP,
# SYNTH_PERIOD in the library's time unit (any: a path's delay is the period less its slack).
#
# Ideal clock, no wire load, inputs arrive with the clock edge and without slew, outputs drive nothing.
read_liberty $::env(SYNTH_LIBERTY)
read_verilog $::env(SYNTH_NETLIST)
link_design $::env(SYNTH_TOP)

# A module without a clock is timed against one that has no port.
if {[llength [get_ports -quiet clk_i]] > 0} {
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

set sequential [expr {[llength [all_registers -data_pins]] > 0}]

puts "@ worst"
report_checks -path_delay max -digits 6
if {$sequential} {
  set flops [all_registers -clock_pins]
  set ends [all_registers -data_pins]
  puts "@ in_to_out"
  report_checks -path_delay max -digits 6 -from [all_inputs] -to [all_outputs]
  puts "@ in_to_reg"
  report_checks -path_delay max -digits 6 -from [all_inputs] -to $ends
  puts "@ reg_to_reg"
  report_checks -path_delay max -digits 6 -from $flops -to $ends
  puts "@ reg_to_out"
  report_checks -path_delay max -digits 6 -from $flops -to [all_outputs]
}
puts "@ done"
