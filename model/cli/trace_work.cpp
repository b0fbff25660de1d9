// SPDX-License-Identifier: Apache-2.0
#include "model/cli/trace_work.hpp"

#include <iostream>

#include "model/cli/stop.hpp"
#include "traces/format/trace.hpp"

namespace warpfold::cli {

BehindLine::int_type BehindLine::overflow(int_type character) {
  line_.wipe();
  return std::cout.rdbuf()->sputc(traits_type::to_char_type(character));
}

std::streamsize BehindLine::xsputn(const char* text, std::streamsize count) {
  line_.wipe();
  return std::cout.rdbuf()->sputn(text, count);
}

int BehindLine::sync() {
  return std::cout.rdbuf()->pubsync();
}

trace::Progress progress_on(ProgressLine& line, const std::string& what) {
  if (!line.enabled()) {
    return nullptr;
  }
  return [&line, what](double done) { line.show(done, what); };
}

int run_stoppable(const std::string& what,
                  const std::function<int(const trace::Step&, std::ostream&)>& write) {
  note_stops();
  ProgressLine line;
  BehindLine behind(line);
  std::ostream printed(&behind);
  const trace::Progress progress = progress_on(line, what);
  try {
    return write(
        [&progress](double done) {
          if (progress) {
            progress(done);
          }
          return is_stopped();
        },
        printed);
  } catch (const trace::TraceError&) {
    if (is_stopped()) {
      end_by_signal();
    }
    throw;
  }
}

}  // namespace warpfold::cli
