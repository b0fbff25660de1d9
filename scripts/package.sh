#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Packages of this machine's release, in out/packages. For Debian: warpfold with the command, libwarpfold-dev for programs
# around its libraries; where lintian is installed, it has to find nothing. For other machines: a tarball of the command with
# the libraries that it needs, to be unpacked anywhere. Builds what they hold. Installs what is missing.
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

# The command of the build finds libraries beside it; those of C and C++ are every system's own.
name=warpfold-$(uname -m)
rm -rf "${out:?}/$name" "$out"/*.tar.xz
cmake --install build/release --component runtime --prefix "$repo/$out/$name" >>"$out/pack.log" || die "cannot install (see $out/pack.log)"
strip -o "$out/$name/bin/warpfold" build/release/model/warpfold
# CMake ends the path of a build with an empty one, which would be the folder at hand.
# shellcheck disable=SC2016  # the loader sets ORIGIN
libraries='$ORIGIN/../lib/warpfold/libraries'
echo "file(RPATH_CHANGE FILE [[$out/$name/bin/warpfold]] OLD_RPATH [[$libraries:]] NEW_RPATH [[$libraries]])" >"$out/path.cmake"
cmake -P "$out/path.cmake"
mkdir "$out/$name/lib/warpfold/libraries"
ldd build/release/model/warpfold | awk '$2 == "=>" && $1 !~ /^lib(c|m|gcc_s|stdc\+\+)[.]so/ { print $3 }' |
  xargs cp -L -t "$out/$name/lib/warpfold/libraries"
for library in "$out/$name/lib/warpfold/libraries"/*; do
  package=$(dpkg -S "*/${library##*/}" | sed -n '1s/:.*//p')
  cp "/usr/share/doc/$package/copyright" "$out/$name/share/doc/warpfold/copyright.$package"
done
tar -C "$out" -cJf "$out/$name.tar.xz" "$name"
rm -rf "${out:?}/$name" "$out/path.cmake"
ls "$out"/*.tar.xz
if command -v lintian >/dev/null; then
  options=()
  ((EUID != 0)) || options=(--allow-root)
  lintian "${options[@]}" --fail-on error,warning "$out"/*.deb
  echo "lintian: nothing found"
fi
