#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Power of the mapped netlists, and energy for each lane reduced, while lanes of a real trace go through
# them; synth/README.md says what it covers. About a minute for each mapping of the unit without the
# coalescer.
#
#   scripts/power.sh                                    both rows of each kind of FP32, Debian's osu018 library
#   scripts/power.sh --top arc_subcore_without_addr_match --liberty A.lib.gz --liberty B.lib
#   scripts/power.sh --help                             all options
#
# Exit codes: 0 done, 1 a tool failed or a netlist differs from the RTL, 2 bad usage or bad input.
set -euo pipefail
# shellcheck source=scripts/lib.sh
source "$(dirname "$(readlink -f "$0")")/lib.sh"
help_first synth.power "$@"

for tool in python3:python3 cmake:cmake verilator:verilator make:make; do
  command -v "${tool%:*}" >/dev/null || die "'${tool%:*}' not found; it is in Debian's package ${tool#*:}"
done
build_release unit_stimulus
exec "${tools[@]}" synth.power --unit-stimulus "$unit_stimulus" "$@"
