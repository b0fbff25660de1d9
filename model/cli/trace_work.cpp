// SPDX-License-Identifier: Apache-2.0
#include "model/cli/trace_work.hpp"

#include <csignal>
#include <iostream>

#include "traces/format/trace.hpp"

namespace warpfold::cli {

namespace {

// The signal that asks for an end.
volatile std::sig_atomic_t stop_signal = 0;

// A second one ends the process at once. One that is ignored, as under nohup, stays so.
void stop_on(int signal) {
  struct sigaction action {};
  if (::sigaction(signal, nullptr, &action) != 0 || action.sa_handler == SIG_IGN) {
    return;
  }
  action = {};
  action.sa_handler = [](int number) { stop_signal = number; };
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  ::sigaction(signal, &action, nullptr);
}

}  // namespace

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
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    stop_on(signal);
  }
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
          return stop_signal != 0;
        },
        printed);
  } catch (const trace::TraceError&) {
    if (stop_signal != 0) {
      std::raise(stop_signal);  // ends the process: the first one has put the default back
    }
    throw;
  }
}

}  // namespace warpfold::cli
