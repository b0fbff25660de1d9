#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A module as a routed layout, from Debian's packages alone: placed and routed with the osu018 cells, held to design
# rules and netlist, timed with its wires, its power on recorded requests, GDS and picture. Installs what is missing.
#
#   scripts/layout.sh                                   the serial reduction unit, into out/layout
#   scripts/layout.sh --top arc_reduction_fused --json F --out DIR
#   scripts/layout.sh --rtl DIR --file-list F --top NAME    other RTL
#   scripts/layout.sh --help                            all options
#
# Exit codes: 0 done, 1 a tool failed or a check found something, 2 bad usage or bad input.
set -euo pipefail
# shellcheck source=scripts/lib.sh
source "$(dirname "$(readlink -f "$0")")/lib.sh"
help_first synth.layout.layout "$@"

ensure_packages "${packages_layout[@]}"
arguments=("$@")
power=yes
for argument in "$@"; do
  [[ $argument != --no-power && $argument != --rtl* && $argument != --file-list* ]] || power=no
done
if [[ $power == yes ]]; then  # the program that turns a trace into requests
  ensure_packages "${packages_run[@]}" "${packages_power[@]}"
  build_release unit_stimulus
  arguments+=(--unit-stimulus "$unit_stimulus")
fi
exec "${tools[@]}" synth.layout.layout "${arguments[@]}"
