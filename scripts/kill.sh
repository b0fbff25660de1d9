#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Ends long commands at random moments by SIGINT, SIGTERM and SIGKILL: nothing half-written under a
# final name, no process left, and sweeps go on to the same table.
#   scripts/kill.sh [--times N] [--seed S]      each command so often [200]
# Installs what is missing on Debian 12. Exit code 1: a command failed. 2: bad usage.
set -euo pipefail
# shellcheck source=scripts/lib.sh
source "$(dirname "$(readlink -f "$0")")/lib.sh"
help_first - "$@"

times=200 seed=1
while (($#)); do
  case $1 in
    --times | --seed) set_option "$@"; shift ;;
    *) die "unknown option '$1' (--help lists them)" ;;
  esac
  shift
done
[[ $times =~ ^[1-9][0-9]{0,5}$ ]] || die "--times $times: must be a number from 1 on"
[[ $seed =~ ^[0-9]{1,9}$ ]] || die "--seed $seed: must be a number"

prepare_simulator "${packages_sweep[@]}"
cd "$repo"
export WARPFOLD=${WARPFOLD:-$repo/build/release/model/warpfold} WARPFOLD_KILLS=$times WARPFOLD_SEED=$seed
PYTHONPATH=$repo/python:$repo exec "$debian_python" -B tb/robustness/kill_test.py
