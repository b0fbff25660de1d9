#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A build with BUILD_SHARED_LIBS=ON, installed, is enough for projects outside.
#   shared_test.sh CMAKE SOURCES BUILD COMPILER PYTHON...
set -euo pipefail
cmake=$1 sources=$2 build=$3 compiler=$4
python=("${@:5}")
"$cmake" -G Ninja -S "$sources" -B "$build" -DCMAKE_BUILD_TYPE=Release -DBUILD_SHARED_LIBS=ON \
  -DWARPFOLD_TESTS=OFF -DCMAKE_CXX_COMPILER="$compiler"
"$cmake" --build "$build" --parallel 2
"${python[@]}" -B "$sources/tb/install/install_test.py" --cmake "$cmake" --build "$build" --compiler "$compiler" \
  Install.test_outside_project Install.test_pkg_config Install.test_exports_names_of_its_own
