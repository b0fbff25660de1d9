// SPDX-License-Identifier: Apache-2.0
// What the subcommands of warpfold share: exit codes, usage errors, one-line complaints, and checks
// of arguments. Each subcommand has a file of its own that adds it to the parser.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "model/kernel/recorder.hpp"
#include "traces/format/printable.hpp"
#include "traces/format/reader.hpp"

namespace CLI {
class App;
}

namespace warpfold::cli {

constexpr int kDone = 0;
constexpr int kCheckFailed = 1;
constexpr int kBadInput = 2;

// Usage that CLI11 cannot see is wrong: one clear line.
class UsageError : public std::runtime_error {
 public:
  explicit UsageError(std::string_view what) : std::runtime_error(trace::printable(what)) {}
};

// One line on stderr, whatever the text.
void complain(std::string text);

// For CLI::Option::check: the complaint, or nothing. CLI11 reads "-1" as a large unsigned number.
std::string refuse_negative(const std::string& text);
std::string refuse_empty(const std::string& text);
// What is neither "all" nor a number from 1 on.
std::string refuse_no_launch(const std::string& text);
std::string refuse_no_expression(const std::string& text);

// The items of a comma-separated list, empty ones too.
std::vector<std::string> split_list(const std::string& list);

// Results would replace what they were made from. Throws UsageError; `of` what they are results.
void refuse_input_as_output(const std::string& option, const std::string& output,
                            const std::vector<std::string>& inputs, const char* of = "simulation");

// Opens every trace, and so checks its structure, before any of them is worked on. Throws
// UsageError where one is named twice, trace::TraceError where one cannot be read.
std::vector<trace::Reader> open_traces(const std::vector<std::string>& paths);

// "A:B": cycles from A on, before B, which is greater. At most `most` of them. Throws UsageError
// that begins with the option.
CycleRange parse_cycles(const std::string& option, const std::string& text, std::uint64_t most);
// A list of different numbers below 2^32, likewise.
std::vector<std::uint32_t> parse_numbers(const std::string& option, const std::string& text);

constexpr std::uint64_t kMostWaveCycles = 1'000'000;
constexpr const char* kUnitKindHelp =
    "Kind of the reduction unit: one, two or four lanes a cycle;\n"
    "vector: fused, of structs of up to 16 words; halves: serial, of\n"
    "two binary16 values a word. Another one is\n"
    "DATAPATH[-FORMAT][-WORDS][-staged], as paired-4 (rtl/README.md)";

constexpr const char* kUnitLibraryHelp =
    "A unit of somebody else, as a shared object\n(docs/evaluate.md)";

// What the command line asks for, to be run once it has been parsed. Returns the exit code.
using Command = std::function<int()>;

// Adds its subcommands to the parser; what is parsed becomes `command`.
using AddCommand = void(CLI::App& app, Command& command);
// Parses the command line and does what it asks for. Returns the exit code; nothing is thrown.
int run_command(std::span<AddCommand* const> commands, int argc, char** argv);

void add_sim(CLI::App& app, Command& command);
void add_trace(CLI::App& app, Command& command);
void add_trace_import(CLI::App& trace_app, Command& command);
void add_record(CLI::App& app, Command& command);
void add_regress(CLI::App& app, Command& command);
void add_contract(CLI::App& app, Command& command);
void add_report(CLI::App& app, Command& command);
void add_lists(CLI::App& app, Command& command);
void add_stimulus(CLI::App& app, Command& command);
void add_pages(CLI::App& app, Command& command);

}  // namespace warpfold::cli
