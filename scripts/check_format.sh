#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Holds C++ and CUDA sources to .clang-format (version 14), the Python package to black and its types to mypy, the
# tests to calls that the package has, and the text files to no trailing blanks.
#   scripts/check_format.sh [--fix]     --fix: format the sources
# Other versions format otherwise: without version 14, which Debian 13 does not have, C++ is not looked at.
# Exit code 1: something is not as it should be. 2: bad usage, or --fix without clang-format 14.
set -euo pipefail
if [[ ${1:-} == -h || ${1:-} == --help ]]; then
  sed -n -e '1,2d' -e '/^#/!q' -e 's/^# \{0,1\}//p' "$0"
  exit 0
fi
cd "$(dirname "$(readlink -f "$0")")/.."

if (($# > 1)) || [[ $# == 1 && $1 != --fix ]]; then
  echo "check_format.sh: takes --fix or nothing, got '$*'" >&2
  exit 2
fi

mapfile -t sources < <(find model traces python tb examples -name '*.[ch]pp' -o -name '*.cu' -o -name '*.cuh' | sort)
python=(--config python/pyproject.toml python synth/layout/picture.py)
left_out=
formatter=$(command -v clang-format-14 || command -v clang-format || true)
if [[ -z $formatter ]] || ! grep -q 'version 14\.' < <("$formatter" --version); then
  [[ ${1:-} != --fix ]] || {
    echo "check_format.sh: no clang-format of version 14; Debian package clang-format-14" >&2
    exit 2
  }
  left_out=" (C++ not checked: no clang-format of version 14)"
  formatter=true
fi
for program in black mypy; do
  command -v "$program" >/dev/null || {
    echo "check_format.sh: '$program' not found; it is in Debian's package $program" >&2
    exit 2
  }
done
if [[ ${1:-} == --fix ]]; then
  "$formatter" -i "${sources[@]}"
  black -q "${python[@]}"
  exit 0
fi
failed=0
"$formatter" --dry-run -Werror "${sources[@]}" || failed=1
black -q --check --diff "${python[@]}" || failed=1
mypy --config-file python/pyproject.toml --no-error-summary || failed=1
# The tests, most of which have no types: only calls of the package that it does not have so any more. Some run at night alone.
calls=$(mypy --config-file tb/mypy.ini --no-error-summary tb) || (($? == 1)) || failed=1
if grep -E '\[call-arg\]$|Module has no attribute' <<<"$calls"; then
  failed=1
fi
if grep -rnE '[[:blank:]]+$' --include='*.sv' --include='*.svh' --include='*.[ch]pp' --include='*.sh' \
  --include='*.py' --include='*.md' --include='*.toml' --include='CMakeLists.txt' \
  rtl model traces python tb examples cmake synth scripts docs ./*.md CMakeLists.txt; then
  echo "trailing blanks" >&2
  failed=1
fi
((failed == 0)) && echo "format: ok$left_out"
exit "$failed"
