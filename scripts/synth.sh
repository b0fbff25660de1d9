#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Transistors, area and worst path of the unit and of each of its modules, beside the paper's figure.
#
#   scripts/synth.sh                                    all rows, Debian's osu018 library
#   scripts/synth.sh --top arc_subcore --transistors-only --json F
#   scripts/synth.sh --liberty A.lib.gz --liberty B.lib another library, here in two files
#   scripts/synth.sh --check                            compare with synth/baseline.json
#   scripts/synth.sh --help                             all options
#
# Exit codes: 0 done, 1 a check or a tool failed, 2 bad usage or bad input.
set -euo pipefail

root=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.." && pwd)
if ! command -v python3 >/dev/null; then
  echo "synth.sh: 'python3' not found; it is in Debian's package python3" >&2
  exit 2
fi
exec python3 -B "$root/python" synth.synth "$@"
