#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Holds the sources to the one-way data flow of CONTRIBUTING.md. Prints each rule and what breaks it.
set -euo pipefail
cd "$(dirname "$0")/.."

failed=0
# rule "text" PATTERN FILE...: no line of these files may match.
rule() {
  local text=$1 pattern=$2 hits
  shift 2
  if hits=$(grep -nE "$pattern" "$@" /dev/null); then
    printf 'broken: %s\n%s\n' "$text" "$hits"
    failed=1
  fi
}
sources() { find "$@" -name '*.[ch]pp' -o -name '*.cu' -o -name '*.cuh' | sort; }

mapfile -t trace_files < <(sources traces)
mapfile -t model_files < <(sources model)
mapfile -t outside_gpu < <(sources model | grep -v '^model/gpu/')
mapfile -t outside_wrapper < <(sources model | grep -v '^model/unit/arc_rtl\.cpp$')
mapfile -t unit_files < <(sources model/unit)
mapfile -t rtl_files < <(find rtl -name '*.sv' -o -name '*.svh' | sort)
mapfile -t synth_files < <(find synth scripts/synth.sh -type f ! -name '*.md' ! -name '*.json' | sort)

rule "traces/ knows neither model nor rtl" '#include "(model|rtl|tb|synth)/' "${trace_files[@]}"
rule "rtl/ includes nothing from outside itself" '`include "[^"]*/' "${rtl_files[@]}"
rule "rtl/ does not name the model" '(golden|warpfold::|\.hpp)' "${rtl_files[@]}"
rule "model/ does not include tests" '#include "(tb|synth)/' "${model_files[@]}"
rule "only model/gpu sees SystemC" '#include <systemc' "${outside_gpu[@]}"
rule "only arc_rtl.cpp sees the Verilated unit" '#include "V[a-z_]+\.h"' "${outside_wrapper[@]}"
rule "model/unit does not know the GPU around it" '#include "model/(gpu|policy|results)/' \
  "${unit_files[@]}"
rule "synth/ reads rtl only" '(model|traces)/' "${synth_files[@]}"
if ((failed)); then
  exit 1
fi
echo "boundaries: ok"
