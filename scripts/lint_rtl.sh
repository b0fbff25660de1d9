#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Lints and elaborates every RTL module alone as top in the three tools that must read the source:
# Verilator (-Wall, with and without assertions), Yosys (warnings that hide wrong logic are errors;
# also with -formal) and Icarus. Prints one line per module; nonzero on the first tool that
# complains.
#
#   scripts/lint_rtl.sh [rtl folder]
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
if (($# > 1)); then
  echo "lint_rtl.sh: takes one folder, got '$2' too" >&2
  exit 2
fi
if [[ ! -f ${1:-$root/rtl}/arc.f ]]; then
  echo "lint_rtl.sh: '$1' is no RTL folder, it has no arc.f" >&2
  exit 2
fi
cd "${1:-$root/rtl}"

mapfile -t files < <(sed -e 's,//.*,,' -e '/^[[:space:]]*$/d' arc.f)
status=0

check() {  # name, command...
  local name=$1
  shift
  if ! output=$("$@" 2>&1); then
    printf 'FAIL  %s\n%s\n' "$name" "$output"
    status=1
  fi
}

for file in "${files[@]}"; do
  module=$(basename "$file" .sv)
  [[ $module == arc_pkg ]] && continue
  for assertions in --assert --no-assert; do
    [[ $assertions == --no-assert ]] && flag=() || flag=(--assert)
    check "$module: verilator -Wall ${flag[*]-}" \
      verilator --lint-only -Wall "${flag[@]}" -I. lint.vlt --top-module "$module" "${files[@]}"
  done
  for formal in "" -formal; do
    check "$module: yosys $formal" \
      yosys -q -e 'implicitly declared|Resizing cell port' \
      -p "read_verilog -sv $formal -I. ${files[*]}; hierarchy -check -top $module; proc; check -assert"
  done
  check "$module: iverilog" \
    iverilog -g2012 -DSYNTHESIS -I. -s "$module" -o /dev/null "${files[@]}"
  printf 'lint  %s\n' "$module"
done

exit "$status"
