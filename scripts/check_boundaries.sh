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
mapfile -t import_files < <(sources traces/import)
mapfile -t python_files < <(sources python)
mapfile -t model_files < <(sources model)
mapfile -t outside_wrapper < <(sources model | grep -v -e '^model/unit/rtl_unit\.cpp$' -e '^model/systemc/arc_subcore_rtl\.cpp$')
mapfile -t rtl_files < <(find rtl -name '*.sv' -o -name '*.svh' | sort)
mapfile -t synth_files < <(find synth python/warpfold/tools/synth -type f ! -name '*.md' ! -name '*.json' | sort)

rule "traces/ knows neither model nor rtl" '#include "(model|rtl|tb|synth)/' "${trace_files[@]}"
rule "traces/format does not know what records or imports" '#include "traces/(capture|import)/' "${format_files[@]}"
mapfile -t record_files < <(sources traces/record)
rule "traces/record knows of ours traces/format alone" '#include "(?!traces/(format|record)/)' "${record_files[@]}"
rule "what is loaded into programs knows no more than the protocol" '#include "traces/(format|record/host)/' \
  traces/record/inject/*.[ch]pp traces/record/device/*.cu
rule "traces/import knows traces/format alone" '#include "traces/(?!(format|import)/)' "${import_files[@]}"
mapfile -t cost_files < <(find python/warpfold/tools/costs -name '*.py' | sort)
rule "what reads machine code knows what all tools share alone, for the recorder runs it where there is nothing else" \
  '^\s*(from|import) +(\.\.(?!base)|warpfold)' "${cost_files[@]}"
mapfile -t base_files < <(find python/warpfold/tools/base -name '*.py' | sort)
rule "what all tools share knows no tool" '^\s*(from|import) +(\.\.|warpfold)' "${base_files[@]}"
rule "python/ knows of ours traces/format alone" '#include "(?!traces/format/)' "${python_files[@]}"
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
capture_rule training "splat and splat_forms and what these know" "common|reduce|splat|splat_forms"
capture_rule commands "splat, training and what these know" "common|reduce|splat|splat_forms|training"
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
rule "only rtl_unit.cpp and arc_subcore_rtl.cpp see the Verilated unit" '#include "V[a-z_]+\.h"' "${outside_wrapper[@]}"

# The rooms of model/, each with the rooms that it may include, which all stand above it: no arrow
# runs back up, so there is no circle. Every room may include itself and model/types.hpp.
rooms=(
  "base: "
  "gpus: "
  "machine: base gpus"
  "outcome: base machine"
  "kernel: base outcome"
  "unit: base"
  "policy: base machine"
  "gpu/cta: base"
  "gpu/traffic: base unit gpu/cta"
  "gpu/noc: base machine kernel gpu/traffic"
  "gpu/sm: base machine kernel unit policy gpu/cta gpu/traffic gpu/noc"
  "gpu/memory: base machine kernel unit gpu/cta gpu/traffic gpu/noc"
  "gpu/run: base machine outcome kernel unit policy gpu/cta gpu/traffic gpu/noc gpu/sm gpu/memory"
  "systemc: outcome kernel unit gpu/traffic gpu/noc gpu/sm gpu/memory gpu/run base"
  "results: base machine outcome kernel unit policy gpu/run"
  "report: base machine outcome"
  "cli: base machine outcome kernel unit policy gpu/run results report"
)
seen=" "
for line in "${rooms[@]}"; do
  room=${line%%:*}
  allowed="types $room"
  for other in ${line#*:}; do
    if [[ $seen != *" $other "* ]]; then
      printf 'broken: the rooms of model/ are in order: %s stands on %s, which comes later\n' "$room" "$other"
      failed=1
    fi
    allowed+=" $other"
  done
  seen+="$room "
  mapfile -t files < <(find "model/$room" -maxdepth 3 \( -name '*.[ch]pp' -o -name '*.in' \) | sort)
  rule "model/$room includes of model/ no more than ${allowed// /, }" \
    "#include \"model/(?!types\.hpp\")(?!(${allowed// /|})/[a-z0-9_]+(\.hpp|/[a-z0-9_]+\.hpp)\")" "${files[@]}"
done
while read -r folder; do
  if [[ $seen != *" $folder "* ]]; then
    printf 'broken: model/%s is no room that check_boundaries.sh knows\n' "$folder"
    failed=1
  fi
done < <(sources model | xargs -n 1 dirname | sort -u | sed 's,^model/\?,,' |
  grep -v -e '^$' -e '/admission$' -e '/scheduler$' -e '/rules$' -e '^gpu/memory/l2_order$' -e '^gpu/noc/slice_map$' \
    -e '^gpu/sm/red_wait$' -e '^gpu/sm/packets$')
rule "results/ knows of a whole run its options, its rules and its reference sums alone" \
  '#include "model/gpu/(?!run/(simulate|rules|reference_sums)\.hpp)' model/results/*.[ch]pp
mapfile -t no_systemc < <(sources model | grep -v -e '^model/kernel/' -e '^model/systemc/')
rule "only model/kernel and model/systemc see SystemC" '#include <(systemc|tlm)' "${no_systemc[@]}"
rule "synth/ reads rtl only" '(model|traces)/' "${synth_files[@]}"
if ((failed)); then
  exit 1
fi
echo "boundaries: ok"
