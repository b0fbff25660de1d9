// SPDX-License-Identifier: Apache-2.0
// Signals that ask a process to end wait as long as this lives: for the few calls between which a
// file has a name that nobody would remove. Of the calling thread alone.
#pragma once

#include <signal.h>

#include <cerrno>
#include <initializer_list>

namespace warpfold::trace {

class SignalsHeld {
 public:
  SignalsHeld() {
    sigset_t held;
    ::sigemptyset(&held);
    for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGALRM}) {
      ::sigaddset(&held, number);
    }
    ::pthread_sigmask(SIG_BLOCK, &held, &before_);
  }
  ~SignalsHeld() {
    const int error = errno;
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    errno = error;
  }
  SignalsHeld(const SignalsHeld&) = delete;
  SignalsHeld& operator=(const SignalsHeld&) = delete;

 private:
  sigset_t before_{};
};

}  // namespace warpfold::trace
