#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Proves that the netlists whose transistors, area and path scripts/synth.sh reports do what the RTL does,
# for all inputs and all states, and that a netlist with one changed gate is refuted.
#
#   scripts/prove_netlist.sh                    the whole unit in each kind, Debian's osu018 library
#   scripts/prove_netlist.sh --gates-only ROW   only the netlist of simple gates; rows as in synth.sh
#   scripts/prove_netlist.sh --help             all options
#
# Exit codes: 0 all as expected, 1 something is not, 2 bad usage or bad input.
set -euo pipefail

root=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.." && pwd)
if ! command -v python3 >/dev/null; then
  echo "prove_netlist.sh: 'python3' not found; it is in Debian's package python3" >&2
  exit 2
fi
exec python3 -B "$root/python" synth.equiv "$@"
