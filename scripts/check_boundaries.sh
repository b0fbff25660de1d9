#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Holds the sources to the one-way data flow of CONTRIBUTING.md. Prints each rule and what breaks it.
#   scripts/check_boundaries.sh     takes no arguments; exits 1 if a rule is broken
set -euo pipefail
if [[ ${1:-} == -h || ${1:-} == --help ]]; then
  sed -n -e '1,2d' -e '/^#/!q' -e 's/^# \{0,1\}//p' "$0"
  exit 0
fi
cd "$(dirname "$(readlink -f "$0")")/.."

if (($# > 0)); then
  echo "check_boundaries.sh: takes no arguments, got '$1'" >&2
  exit 2
fi

failed=0
# rule "text" PATTERN FILE...: no line of these files may match (Perl's expressions).
rule() {
  local text=$1 pattern=$2 hits status=0
  shift 2
  if (($# == 0)); then
    printf 'broken: %s: no file to check\n' "$text"
    failed=1
    return
  fi
  hits=$(grep -nP "$pattern" "$@" /dev/null) || status=$?
  case $status in
    0) printf 'broken: %s\n%s\n' "$text" "$hits" ;;
    1) return ;;
    *) printf 'broken: %s: grep failed\n' "$text" ;;
  esac
  failed=1
}
sources() { find "$@" -name '*.[ch]pp' -o -name '*.cu' -o -name '*.cuh' | sort; }

mapfile -t trace_files < <(sources traces)
mapfile -t model_files < <(sources model)
mapfile -t outside_systemc < <(sources model | grep -v '^model/\(gpu\|systemc\)/')
mapfile -t outside_cli < <(sources model | grep -v '^model/cli/')
mapfile -t outside_wrapper < <(sources model | grep -v '^model/\(unit/rtl_unit\|systemc/arc_subcore_rtl\)\.cpp$')
mapfile -t unit_files < <(sources model/unit)
mapfile -t subcore_module_files < <(sources model/systemc | grep '/\(arc_subcore\|port_bits\)')
mapfile -t policy_files < <(sources model/policy)
mapfile -t results_files < <(sources model/results)
mapfile -t report_files < <(sources model/report)
mapfile -t rtl_files < <(find rtl -name '*.sv' -o -name '*.svh' | sort)
mapfile -t synth_files < <(find synth scripts/synth.sh -type f ! -name '*.md' ! -name '*.json' | sort)

rule "traces/ knows neither model nor rtl" '#include "(model|rtl|tb|synth)/' "${trace_files[@]}"
rule "rtl/ includes nothing from outside itself" '`include "[^"]*/' "${rtl_files[@]}"
rule "rtl/ does not name the model" '(golden|warpfold::|\.hpp)' "${rtl_files[@]}"
rule "model/ does not include tests" '#include "(tb|synth)/' "${model_files[@]}"
rule "only model/gpu and model/systemc see SystemC" '#include <(systemc|tlm)' "${outside_systemc[@]}"
rule "only rtl_unit.cpp and arc_subcore_rtl.cpp see the Verilated unit" '#include "V[a-z_]+\.h"' "${outside_wrapper[@]}"
rule "model/unit does not know the GPU around it" '#include "model/(gpu|policy|results|systemc)/' \
  "${unit_files[@]}"
rule "the unit's SystemC module knows of model/ the unit alone" \
  '#include "(model/(?!systemc/(arc_subcore|port_bits)|unit/|types\.hpp)|traces/)' "${subcore_module_files[@]}"
rule "model/policy knows of model/gpu the machine's parameters alone: config.hpp and ticks.hpp" \
  '#include "model/gpu/(?!(config|ticks)\.hpp")' "${policy_files[@]}"
rule "model/policy knows neither results nor units" '#include "model/(results|unit)/' \
  "${policy_files[@]}"
rule "model/results knows of model/gpu the parameters, a whole run and its reference sums alone" \
  '#include "model/gpu/(?!(config|config_fields|gpu|reference_sums)\.hpp")' "${results_files[@]}"
rule "model/gpu knows of model/results the plain data of a run alone: run_result.hpp" \
  '#include "model/results/(?!run_result\.hpp")' model/gpu/*.[ch]pp
rule "model/report knows results files alone" '#include "(model/(?!report/)|traces/)' "${report_files[@]}"
rule "nothing in model/ stands on the command but its own files" '#include "model/cli/' \
  "${outside_cli[@]}"
rule "synth/ reads rtl only" '(model|traces)/' "${synth_files[@]}"
if ((failed)); then
  exit 1
fi
echo "boundaries: ok"
