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
mapfile -t format_files < <(sources traces/format)
mapfile -t model_files < <(sources model)
mapfile -t outside_gpu < <(sources model | grep -v '^model/gpu/')
mapfile -t outside_cli < <(sources model | grep -v '^model/cli/')
mapfile -t outside_wrapper < <(sources model | grep -v '^model/unit/rtl_unit\.cpp$')
mapfile -t unit_files < <(sources model/unit)
mapfile -t policy_files < <(sources model/policy)
mapfile -t results_files < <(sources model/results)
mapfile -t report_files < <(sources model/report)
mapfile -t rtl_files < <(find rtl -name '*.sv' -o -name '*.svh' | sort)
mapfile -t synth_files < <(find synth scripts/synth.sh -type f ! -name '*.md' ! -name '*.json' | sort)

rule "traces/ knows neither model nor rtl" '#include "(model|rtl|tb|synth)/' "${trace_files[@]}"
rule "traces/format does not know what records" '#include "traces/capture/' "${format_files[@]}"
# capture_rule FOLDER "what it may know" FOLDER|...: of traces/capture it includes these and itself alone.
capture_rule() {
  local files
  mapfile -t files < <(sources "traces/capture/$1")
  rule "traces/capture/$1 knows $2" "#include \"traces/capture/(?!($1|$3)/)" "${files[@]}"
}
capture_rule common "no kernel and no program" common
capture_rule reduce "itself alone, so that a kernel may take it" reduce
capture_rule microbench "what all share alone" common
capture_rule splat "what all share, and reductions" "common|reduce"
capture_rule training "splat and what that knows" "common|reduce|splat"
capture_rule commands "splat, training and what these know" "common|reduce|splat|training"
capture_rule workload "what all share, and reductions, but no workload" "common|reduce"
for folder in traces/capture/*/; do
  [[ -n $(sources "$folder") ]] || continue
  folder=$(basename "$folder")
  case $folder in
    common | reduce | microbench | splat | training | commands | workload | costs) ;;
    image_fit | splat_forms)
      capture_rule "$folder" "splat and what all workloads share" "common|reduce|workload|splat"
      ;;
    *) capture_rule "$folder" "what all workloads share, and no other workload" "common|reduce|workload" ;;
  esac
done
mapfile -t loose < <(find traces/capture -maxdepth 1 -type f ! -name CMakeLists.txt ! -name README.md)
if ((${#loose[@]})); then
  printf 'broken: every file of traces/capture lies in a folder\n%s\n' "${loose[*]}"
  failed=1
fi
rule "rtl/ includes nothing from outside itself" '`include "[^"]*/' "${rtl_files[@]}"
rule "rtl/ does not name the model" '(golden|warpfold::|\.hpp)' "${rtl_files[@]}"
rule "model/ does not include tests" '#include "(tb|synth)/' "${model_files[@]}"
rule "only model/gpu sees SystemC" '#include <systemc' "${outside_gpu[@]}"
rule "only rtl_unit.cpp sees the Verilated unit" '#include "V[a-z_]+\.h"' "${outside_wrapper[@]}"
rule "model/unit does not know the GPU around it" '#include "model/(gpu|policy|results)/' \
  "${unit_files[@]}"
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
