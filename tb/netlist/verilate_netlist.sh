#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Verilates a netlist into two files that a build can name in advance: fast.cpp is what runs every
# cycle, slow.cpp what runs once.
#
#   verilate_netlist.sh VERILATOR FILE.v TOP PREFIX FOLDER [Verilator argument...]
set -euo pipefail

verilator=$1 netlist=$2 top=$3 prefix=$4 folder=$5
shift 5

rm -rf "$folder"
mkdir -p "$folder"
# Flops without reset start with random bits, as in the RTL it is compared with. A port whose bits
# depend on each other is no loop, though Verilator 5.006 may simulate it wrongly: the comparison
# with the RTL would show that.
"$verilator" --cc "$netlist" --top-module "$top" --prefix "$prefix" --Mdir "$folder" \
  -O3 --x-assign unique --x-initial unique -Wno-lint -Wno-UNOPTFLAT "$@"

cd "$folder"
for file in "$prefix"*.cpp; do
  [[ $file == *Slow.cpp ]] && part=slow.cpp || part=fast.cpp
  printf '#include "%s"\n' "$file" >>"$part"
done
