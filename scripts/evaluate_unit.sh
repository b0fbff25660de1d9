#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Judges anybody's unit with the ports of arc_subcore (rtl/README.md): whether it elaborates, keeps
# the contract, what is proved of it, what it costs and gains, beside the kinds that are built in.
# docs/evaluate.md is its page.
#
#   scripts/evaluate_unit.sh --rtl DIR                  as DIR/unit.toml says; some minutes
#   scripts/evaluate_unit.sh --rtl DIR --top NAME --quick
#   scripts/evaluate_unit.sh --rtl DIR --replay FILE    what broke the contract, again
#   scripts/evaluate_unit.sh --help                     all options
#
# Exit codes: 0 all right, 1 a check failed, 2 bad usage or bad input.
set -euo pipefail
# shellcheck source=scripts/lib.sh
source "$(dirname "$(readlink -f "$0")")/lib.sh"
help_first evaluate.evaluate "$@"

prepare_simulator "${packages_evaluate[@]}"
[[ -n ${WARPFOLD:-} ]] || build_release unit_stimulus
exec "${tools[@]}" evaluate.evaluate "$@"
