#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Holds the messages of commits to the rule of CONTRIBUTING.md: a subject of at most 50 characters without a full
# stop, an empty line, and a body that says why. Merges are left out.
#   scripts/check_commits.sh [RANGE]     default: the commits since the rule was made a test
# Exit code 1: a message breaks the rule. Where Git or the history is missing it says so and exits 0.
set -euo pipefail
if [[ ${1:-} == -h || ${1:-} == --help ]]; then
  sed -n -e '1,2d' -e '/^#/!q' -e 's/^# \{0,1\}//p' "$0"
  exit 0
fi
cd "$(dirname "$(readlink -f "$0")")/.."

# The last commit that no test has seen.
base=d72fd2e46520f3c569b1f9c721df4223cf3e31c5
longest=50

(($# <= 1)) || { echo "check_commits.sh: takes one range of commits, got '$2' too" >&2; exit 2; }
if [[ ${1:-} == -* ]]; then
  echo "check_commits.sh: takes a range of commits, got '$1'" >&2
  exit 2
fi
range=${1:-$base..HEAD}
if ! git rev-parse -q --verify HEAD >/dev/null 2>&1; then
  echo "commits: not checked, no Git history here"
  exit 0
fi
if (($# == 0)) && ! git merge-base --is-ancestor "$base" HEAD 2>/dev/null; then
  echo "commits: not checked, the history does not reach back to $base"
  exit 0
fi
commits=$(git rev-list --no-merges --reverse "$range" -- 2>/dev/null) || {
  echo "check_commits.sh: no range of commits: $range" >&2
  exit 2
}

failed=0 count=0
complain() { echo "${commit:0:10} $1: $subject"; failed=1; }
for commit in $commits; do
  count=$((count + 1))
  subject=$(git show -s --format=%s "$commit")
  body=$(git show -s --format=%b "$commit")
  message=$(git show -s --format=%B "$commit")
  ((${#subject} <= longest)) || complain "subject of ${#subject} characters, more than $longest"
  [[ $subject != *. ]] || complain "subject ends with a full stop"
  [[ $subject =~ ^[A-Z] ]] || complain "subject begins with no capital letter"
  [[ -n ${body//[[:space:]]/} ]] || complain "no body that says why"
  [[ $message != *$'\n'* || -z $(sed -n 2p <<<"$message") ]] || complain "no empty line behind the subject"
done
((failed == 0)) && echo "commits: $count, ok"
exit "$failed"
