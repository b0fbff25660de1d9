// SPDX-License-Identifier: Apache-2.0
#include "model/cli/stop.hpp"

#include <unistd.h>

#include <csignal>
#include <initializer_list>

namespace warpfold::cli {

namespace {

constexpr unsigned kSeconds = 2;

volatile std::sig_atomic_t stop_signal = 0;

void end_at_once(int /*alarm*/) {
  const int number = stop_signal;
  std::signal(number, SIG_DFL);
  std::raise(number);
}

void note(int number) {
  stop_signal = number;
  struct sigaction action {};
  action.sa_handler = end_at_once;
  action.sa_flags = static_cast<int>(SA_NODEFER | SA_RESETHAND);
  ::sigaction(SIGALRM, &action, nullptr);
  ::alarm(kSeconds);
}

void note_signal(int number) {
  struct sigaction action {};
  if (::sigaction(number, nullptr, &action) != 0 || action.sa_handler == SIG_IGN) {
    return;
  }
  action = {};
  action.sa_handler = note;
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  ::sigaction(number, &action, nullptr);
}

}  // namespace

void note_stops() {
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    note_signal(number);
  }
}

bool is_stopped() {
  return stop_signal != 0;
}

int stop_number() {
  return stop_signal;
}

void end_by_signal() {
  std::signal(stop_signal, SIG_DFL);
  std::raise(stop_signal);
}

}  // namespace warpfold::cli
