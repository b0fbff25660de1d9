#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Cells and clock of a module in an iCE40 HX8K after routing, by yosys and nextpnr, with its ports behind shift
# registers. Installs what is missing. One to a few minutes.
#
#   scripts/fpga.sh                                     the serial reduction unit
#   scripts/fpga.sh --top arc_reduction_fused --json F --out DIR
#   scripts/fpga.sh --rtl DIR --file-list F --top NAME  other RTL
#   scripts/fpga.sh --help                              all options
#
# Exit codes: 0 done, 1 a tool failed (does not fit, no route), 2 bad usage or bad input.
set -euo pipefail
# shellcheck source=scripts/lib.sh
source "$(dirname "$(readlink -f "$0")")/lib.sh"
help_first synth.fpga "$@"

ensure_packages "${packages_fpga[@]}"
exec "${tools[@]}" synth.fpga "$@"
