#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Keeps rtl/ within the SystemVerilog that Verilator 5.006, Yosys 0.23 and Icarus 11 all read with
# the same meaning. Text patterns, one rule each; prints the rule that a line breaks. Some of these
# constructs are accepted without a word by a tool that then builds wrong logic.
#
#   scripts/check_sv_subset.sh [file or folder ...]     default: rtl/
#   scripts/check_sv_subset.sh --self-check             plants one bad line per rule; all must be caught
#
# Every run does the self-check first. Code guarded by `ifndef SYNTHESIS, or by macros that
# arc_assert.svh defines, is exempt from the rules marked S.
set -euo pipefail
if [[ ${1:-} == -h || ${1:-} == --help ]]; then
  sed -n -e '1,2d' -e '/^#/!q' -e 's/^# \{0,1\}//p' "$0"
  exit 0
fi

root=$(cd "$(dirname "$(readlink -f "$0")")/.." && pwd)
# Yosys and make take no path with blanks.
[[ ${TMPDIR:-} != *[[:space:]]* ]] || export TMPDIR=/tmp

# flags ~ extended regular expression (PCRE) ~ rule ~ planted line that must be caught
rules=$(cat <<'RULES'
-~^\s*import\b~no import, write arc_pkg::X (Yosys rejects it)~  import arc_pkg::*;
-~\bmodule\s+\w+\s+import\b~no import in a module header (Yosys rejects it)~module arc_x import arc_pkg::*; (
-~\b(logic|bit|wire|reg)\s*(signed\s*)?\[[^\]]*\]\s*\[~no packed two-dimensional arrays (Yosys rejects them)~  logic [3:0][7:0] lanes;
-~^\s*(input|output)\b[^,;/]*\b\w+\s*\[[^\]]*\]\s*[,)]?\s*(//.*)?$~no unpacked array ports (Yosys rejects them)~  input  logic [7:0] lane_i [4],
-~\b\w+_[ts]\s+\w+\s*\[~no unpacked array of structs (Yosys builds one register without a warning)~  entry_t queue [0:3];
-~\b\w+_[ts]\s*\[~no packed array of structs or typedefs (Yosys drops or cuts the value)~  entry_t [3:0] queue;
-~^\s*(input|output)\s+(\w+::)?\w+_[ts]\b~ports are flat vectors (Icarus crashes on package structs)~  input  arc_pkg::txn_t txn_i,
-~\b\w+_pkg::\w+_[tes]\b~no package enum or struct as a type (Icarus crashes)~  arc_pkg::state_e state_q;
-~\breturn\b~no return, assign to the function name (Yosys rejects it)~    return sum;
-~\b(break|continue|foreach|while)\b~no break, continue, foreach, while (Yosys rejects them)~      if (found) break;
-~'\{~no assignment patterns '{...} (Yosys and Icarus reject them)~    txn = '{addr: a, mask: m};
-~\b(signed|unsigned|int|\w+_[tes])'\(~no type casts, use $signed or N'(x) (Yosys or Icarus reject them)~    x = signed'(y);
-~\bparameter\s+(type|string)\b~no parameter type or string (Yosys rejects them)~  parameter type data_t = logic,
-~\b(parameter|localparam)\s+int\s+unsigned\b~no int unsigned parameters (Icarus rejects them)~  parameter int unsigned Depth = 4,
-~\bfunction\b[^;]*\b\w+_s\b~no struct arguments or results of functions (Yosys rejects them)~  function automatic logic f(input txn_s x);
-~\binside\b~no inside (Yosys rejects it)~    if (x inside {1, 2}) y = 1;
-~\{\s*(<<|>>)~no streaming operators (Yosys rejects them)~    y = {<<{x}};
-~[=!]=\?~no wildcard equality (Yosys rejects it)~    if (x ==? 4'b1??0) y = 1;
-~\b(unique0?|priority)\s+if\b~no unique if or priority if (Yosys rejects it)~    unique if (a) y = 1;
-~\bunique0\b~no unique0 case (Verilator warns)~    unique0 case (x)
-~\bstruct\s*(\{|unpacked|$)~structs are packed (Yosys rejects others)~  typedef struct {
-~\bgenvar\b[^;]*;[^;]*;\s*(\+\+|--)~write i++ in a genvar loop (Yosys rejects ++i)~  for (genvar i = 0; i < 4; ++i) begin : g_x
-~\bautomatic\s+(logic|int|bit)\b~no automatic variables in a block (Yosys rejects them)~    automatic logic x = 1;
-~\blocalparam\s+\w+(\s*\[[^\]]*\])?\s+\w+\s*\[~no localparam arrays, use a flat vector (Yosys rejects them)~  localparam int Table [4] = X;
-~\blet\b~no let (Verilator rejects it)~  let max(a, b) = a > b ? a : b;
-~\bstruct\b.*\bsigned\b|^\s*(logic|bit)\s+signed\s.*//\s*member~no signed struct members (Icarus loses the sign)~  typedef struct packed { logic signed [7:0] x; } s_t;
-~\binterface\b|\bmodport\b~no interfaces (Icarus rejects them)~interface arc_if;
-~\bunion\b~no unions, use a flat vector~  typedef union packed {
-~\bbind\b~no bind (Icarus rejects it)~bind arc_subcore arc_checker u_c (.*);
-~\bfinal\b~no final blocks (Yosys rejects them)~  final $display("x");
-~\boutput\s+var\b~no output var (Icarus rejects it)~  output var logic x_o,
-~\bconst\s+(logic|int|bit)\b~no const variables, use localparam (Icarus rejects them)~  const logic x = 1;
-~\$(size|left|right|high|low)\b~no array queries (Yosys stops at them)~    n = $size(x);
-~\btype\s*\(~no type operator (Yosys and Icarus reject it)~  type(x) y;
-~\binitial\b~no initial values in hardware~  initial x_q = 0;
-~\balways_latch\b|\balways\s*@~only always_ff and always_comb~  always @(posedge clk_i) x <= y;
-~#\s*[0-9]~no delays~    #1 x = y;
S~\$(error|fatal|warning|info|display)\b~no message tasks outside assertions (Yosys rejects them)~    $fatal(1, "x");
S~\b(assert|assume|cover)\b~no plain assert, use ARC_ASSERT (Yosys leaves cells that stat counts)~    assert (x);
S~\$isunknown\b~no $isunknown outside assertions (no meaning after synthesis)~    y = $isunknown(x);
S~\$(past|stable|rose|fell|changed)\b~no $past or $stable outside assertions~    y = $past(x);
-~\blint_(off|on)\b~no lint pragmas, waivers go into lint.vlt~  // verilator lint_off WIDTH
RULES
)

# Prints a file as numbered lines, without comments and strings (so that prose may name a
# construct), except lint pragmas. With $2 = S also without assertion macro calls and `ifndef
# SYNTHESIS regions.
code_of() {
  perl -e '
    my ($file, $mode) = @ARGV;
    open(my $in, "<", $file) or die "cannot read $file\n";
    local $/;
    my $text = <$in>;
    my $blank = sub { my $t = shift; $t =~ s/[^\n]//g; $t };
    $text =~ s{//(?![^\n]*\blint_o)[^\n]*}{}g;
    $text =~ s{(/\*.*?\*/)}{$blank->($1)}gse;
    $text =~ s{"[^"\n]*"}{""}g;
    if ($mode eq "S") {
      $text =~ s{(`ifndef\s+SYNTHESIS\b.*?`endif)}{$blank->($1)}gse;
      $text =~ s{(`ARC_\w+\s*(\((?:[^()]++|(?2))*\)))}{$blank->($1)}gse;
    }
    my $n = 0;
    print ++$n, ":$_\n" for split /\n/, $text;
  ' "$1" "$2"
}

check_file() {  # file -> prints hits; status 1 when there is one
  local file=$1 found=0 flags pattern rule planted all guarded hits
  all=$(code_of "$file" -)
  guarded=$(code_of "$file" S)
  while IFS='~' read -r flags pattern rule planted; do
    # The line number must not hide the start of the line from ^.
    pattern="^[0-9]+:(?:${pattern#^}|.*(?:${pattern#^}))"
    [[ $flags == S ]] && hits=$(grep -P -- "$pattern" <<<"$guarded" || true) ||
      hits=$(grep -P -- "$pattern" <<<"$all" || true)
    if [[ -n $hits ]]; then
      found=1
      while IFS= read -r hit; do
        printf '%s:%s\n    rule: %s\n' "$file" "$hit" "$rule"
      done <<<"$hits"
    fi
  done <<<"$rules"
  return "$found"
}

self_check() {
  local folder flags pattern rule planted output count=0
  folder=$(mktemp -d)
  # shellcheck disable=SC2064
  trap "rm -rf '$folder'" RETURN
  while IFS='~' read -r flags pattern rule planted; do
    printf 'module arc_planted;\n%s\nendmodule\n' "$planted" >"$folder/planted.sv"
    if output=$(check_file "$folder/planted.sv") || ! grep -qF -- "rule: $rule" <<<"$output"; then
      printf 'self-check: rule not enforced: %s\n    planted: %s\n' "$rule" "$planted" >&2
      return 1
    fi
    count=$((count + 1))
  done <<<"$rules"
  cat >"$folder/clean.sv" <<'CLEAN'
// import, return, '{}, while: words in a comment are fine
module arc_clean (
  input  logic [7:0] a_i,  // a port
  output logic [arc_pkg::Lanes-1:0] b_o
);
  typedef enum logic [1:0] {StIdle, StRun} state_e;
  state_e state_q, state_d;
  logic [7:0] mem [0:15];
  for (genvar i = 0; i < 4; i++) begin : g_x
    assign b_o[i] = a_i[i];
  end
  `ARC_ASSERT(Name, (a_i == $past(a_i)) || (b_o != '0))
endmodule
CLEAN
  if ! output=$(check_file "$folder/clean.sv"); then
    printf 'self-check: clean code is refused:\n%s\n' "$output" >&2
    return 1
  fi
  echo "$count"
}

for argument in "$@"; do
  if [[ $argument == --self-check ]]; then
    (($# == 1)) && continue
    echo "check_sv_subset.sh: --self-check stands alone" >&2
    exit 2
  elif [[ $argument == -* || ! -e $argument ]]; then
    echo "check_sv_subset.sh: '$argument' is no file, folder or option" >&2
    exit 2
  fi
done

count=$(self_check)
if [[ ${1:-} == --self-check ]]; then
  echo "self-check: all $count planted lines caught"
  exit 0
fi

status=0
checked=0
mapfile -t files < <(find "${@:-$root/rtl}" -name '*.sv' | sort)
for file in "${files[@]}"; do
  check_file "$file" || status=1
  checked=$((checked + 1))
done
echo "SystemVerilog subset: $checked files, $count rules, $([[ $status == 0 ]] && echo clean || echo BROKEN)"
exit "$status"
