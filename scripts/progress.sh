# SPDX-License-Identifier: Apache-2.0
# For scripts that take long. Source it.
# shellcheck shell=bash

# How far the script is, with the time that is left: a line on the terminal, nothing in a pipe. What is printed
# next comes after a wipe_progress.
progress() {  # done total what
  [[ -t 2 ]] || return 0
  local left=''
  if (($1 > 0 && SECONDS > 1)); then
    local seconds=$((SECONDS * ($2 - $1) / $1))
    if ((seconds < 60)); then left="$seconds s left, "; else left="$((seconds / 60)) min left, "; fi
  fi
  printf '\r\e[K%3d %%  %s%s of %s %s' $(($2 > 0 ? 100 * $1 / $2 : 100)) "$left" "$1" "$2" "$3" >&2
}
wipe_progress() { [[ ! -t 2 ]] || printf '\r\e[K' >&2; }
