#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Debian packages of this machine's release, in out/packages: warpfold with the command, libwarpfold-dev for programs
# around its libraries. Builds what they hold; where lintian is installed, it has to find nothing. Installs what is missing.
#   scripts/package.sh
# Exit codes: 0 done, 1 lintian found something, 2 bad usage, or a step failed.
set -euo pipefail
# shellcheck source=scripts/lib.sh
source "$(dirname "$(readlink -f "$0")")/lib.sh"
help_first - "$@"
(($# == 0)) || die "takes no arguments, got '$*'"

need_writable
ensure_packages "${packages_package[@]}"
cd "$repo"
out=out/packages
mkdir -p "$out"
cmake --preset release -DWARPFOLD_TESTS=OFF >/dev/null
cmake --build --preset release -j "$jobs" >"$out/build.log" || die "cannot build (see $out/build.log)"
rm -f "$out"/*.deb
cpack --config build/release/CPackConfig.cmake -B "$out" >"$out/pack.log" 2>&1 || die "cannot pack (see $out/pack.log)"
rm -rf "$out/_CPack_Packages"
ls "$out"/*.deb
if command -v lintian >/dev/null; then
  options=()
  ((EUID != 0)) || options=(--allow-root)
  lintian "${options[@]}" --fail-on error,warning "$out"/*.deb
  echo "lintian: nothing found"
fi
