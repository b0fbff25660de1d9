// SPDX-License-Identifier: Apache-2.0
// How the subcommands of `warpfold trace` show how far they are, and how a signal ends those that
// write.
#pragma once

#include <functional>
#include <ostream>
#include <streambuf>
#include <string>

#include "model/cli/progress_line.hpp"
#include "traces/format/progress.hpp"

namespace warpfold::cli {

// Standard output while a progress line may stand on the terminal: what is printed takes its place.
class BehindLine : public std::streambuf {
 public:
  explicit BehindLine(ProgressLine& line) : line_(line) {}

 private:
  int_type overflow(int_type character) override;
  std::streamsize xsputn(const char* text, std::streamsize count) override;
  int sync() override;

  ProgressLine& line_;
};

// What the user is told of a command's progress; nothing where that is no terminal.
[[nodiscard]] trace::Progress progress_on(ProgressLine& line, const std::string& what);

// Has `write` do its work, with a step that tells it when a signal asks for an end and a stream to
// print to. What it has begun is then removed, as it throws TraceError, and the signal does its
// work.
int run_stoppable(const std::string& what,
                  const std::function<int(const trace::Step&, std::ostream&)>& write);

}  // namespace warpfold::cli
