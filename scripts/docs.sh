#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Holds the pages to what they show: runs their commands and compares the output, and checks links, lengths and
# wording. Installs what is missing on Debian 12 and builds the simulator.
#   scripts/docs.sh [--update] [--nightly] [--gpu] [PAGE...]      all options: scripts/docs.sh --help
#   scripts/docs.sh --form                                        only links, lengths and wording
#   scripts/docs.sh --site [--gallery] [--out DIR] [--repository URL]   the pages as a site, in out/site,
#                                                                 with the reports of docs/tutorial.md
# Exit code 0: as the pages say. 1: something differs. 2: bad usage, or a page that cannot be read.
set -euo pipefail
# shellcheck source=scripts/lib.sh
source "$(dirname "$(readlink -f "$0")")/lib.sh"
help_first docs "$@"

if [[ ${1:-} == --form ]]; then
  (($# == 1)) || die "--form goes alone"
  exec "${tools[@]}" docs-form
fi
if [[ ${1:-} == --site ]]; then
  shift
  if [[ ${1:-} == --gallery ]]; then
    prepare_simulator "${packages_site[@]}"
    exec "${tools[@]}" docs-site --gallery "${WARPFOLD:-$repo/build/release/model/warpfold}" "${@:2}"
  fi
  ensure_packages "${packages_site[@]}"
  exec "${tools[@]}" docs-site "$@"
fi
prepare_simulator python3-matplotlib
exec "${tools[@]}" docs "$@"
