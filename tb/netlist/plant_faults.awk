# SPDX-License-Identifier: Apache-2.0
# Plants faults in a gate netlist written by Yosys: the type of every so many-th gate is changed (AND to
# OR, OR to AND, exclusive OR inverted) while the new input fault_i has the fault's number, 1 and up. With
# fault_i 0 the netlist is what it was. The file is given twice: gates are counted first.
#
#   awk -v faults=48 -f plant_faults.awk netlist.v netlist.v

/^  assign .* = .*[&|^]/ {
  if (NR == FNR) {
    gates++
    next
  }
  gate++
  if (planted < faults && gate >= (planted + 0.5) * gates / faults) {
    planted++
    split($0, side, " = ")
    right = substr(side[2], 1, length(side[2]) - 1)
    wrong = right
    if (!sub(/ & /, " | ", wrong) && !sub(/ \| /, " \\& ", wrong)) wrong = "~(" right ")"
    printf "%s = fault_i == 8'd%d ? %s : %s;  // fault %d\n", side[1], planted, wrong, right, planted
    next
  }
}

NR == FNR { next }

/^module / { sub(/\(/, "(fault_i, ") }

# The end of the port list, which may be on a line of its own.
/\);$/ && !declared {
  print
  print "  input [7:0] fault_i;"
  declared = 1
  next
}

{ print }

END {
  if (planted != faults) {
    printf "plant_faults.awk: planted %d faults instead of %d\n", planted, faults > "/dev/stderr"
    exit 1
  }
}
