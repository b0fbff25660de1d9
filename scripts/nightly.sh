#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The checks that take too long for scripts/test.sh, one after the other, a line for each with its time; the
# output of NAME stays in results/nightly/NAME.log. Hours on two cores.
#   scripts/nightly.sh [NAME...]      only these
#   scripts/nightly.sh --docs         only the commands of the pages that take minutes
#   scripts/nightly.sh --gpu          also what needs a GPU: commands of the pages, and the sanitizer
#   scripts/nightly.sh --list         what there is
# Installs what is missing on Debian 12. Exit code 1: a check failed. 2: bad usage.
set -euo pipefail
# shellcheck source=scripts/lib.sh
source "$(dirname "$(readlink -f "$0")")/lib.sh"

# name | what it holds | command
checks=(
  "tests|the tests of the nightly tier|scripts/test.sh --nightly"
  "elsewhere|the gate for another user, in another language|scripts/test.sh --elsewhere"
  "docs|commands of the pages that take minutes|scripts/docs.sh --nightly"
  "seeds|unit benches and lockstep with 20 seeds|scripts/regress.sh --seeds 20"
  "traces|RTL, golden unit, bounds on every shipped trace|scripts/check_traces.sh"
  "synth|transistors, area and paths against the accepted ones|python3 -B python synth --check"
  "proofs|all proofs of the RTL|scripts/prove.sh"
  "netlists|the mapped netlists equal the RTL|python3 -B python prove-netlist"
  "mutants|mutants of the netlist are found or equivalent|scripts/mutate.sh"
  "bugs|bugs planted in the RTL are found|scripts/mutate_rtl.sh"
  "coverage|every line and branch of the RTL is reached|scripts/coverage.sh"
  "cpp-coverage|lines and branches of the model and the format|scripts/coverage.sh --cpp"
  "fuzz|readers of files under libFuzzer, a minute each|scripts/fuzz.sh --minutes 1"
  "soak|random machines and traces, 1,000 runs|scripts/soak.sh --runs 1000"
  "kill|commands that are killed at random moments|scripts/kill.sh --times 200"
  "sanitizers|the gate under ASan and UBSan|scripts/test.sh debug"
  "capture|the capture programs compile for GPUs|scripts/capture.sh --build-only"
)
gpu_checks=(
  "gpu-docs|commands of the pages that need a GPU|scripts/docs.sh --gpu"
  "gpu-sanitizer|the capture programs under compute-sanitizer|scripts/sanitize.sh"
)

list=no with_gpu=no
names=()
for argument in "$@"; do
  case $argument in
    --docs) names+=(docs) ;;
    --gpu) with_gpu=yes ;;
    --list) list=yes ;;
    -h | --help)
      sed -n '/^# The checks/,/^[^#]/{s/^# \{0,1\}//p}' "$0"
      exit 0
      ;;
    -*) die "unknown option '$argument' (--help lists them)" ;;
    *) names+=("$argument") ;;
  esac
done
everything=("${checks[@]}" "${gpu_checks[@]}")
if [[ $list == yes ]]; then
  for check in "${everything[@]}"; do
    IFS='|' read -r name what command <<<"$check"
    printf '%-14s %-53s %s\n' "$name" "$what" "$command"
  done
  exit 0
fi
for name in "${names[@]}"; do
  grep -q "^$name|" < <(printf '%s\n' "${everything[@]}") || die "no check '$name' (--list shows them)"
done
if ((${#names[@]} == 0)); then
  [[ $with_gpu == yes ]] || everything=("${checks[@]}")
elif [[ $with_gpu == yes ]]; then
  for check in "${gpu_checks[@]}"; do names+=("${check%%|*}"); done
fi

need_writable
cd "$repo"
logs=results/nightly
mkdir -p "$logs"
failed=0
for check in "${everything[@]}"; do
  IFS='|' read -r name what command <<<"$check"
  ((${#names[@]} == 0)) || [[ " ${names[*]} " == *" $name "* ]] || continue
  started=$SECONDS verdict=ok
  # shellcheck disable=SC2086
  $command >"$logs/$name.log" 2>&1 </dev/null || verdict=FAILED
  printf '%-14s %-6s %6d s  %s\n' "$name" "$verdict" $((SECONDS - started)) "$what"
  if [[ $verdict == FAILED ]]; then
    failed=1
    tail -n 5 "$logs/$name.log" | sed 's/^/    /'
    echo "    all of it: $logs/$name.log"
  fi
done
exit "$failed"
