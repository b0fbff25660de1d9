// SPDX-License-Identifier: Apache-2.0
// Standard input for several runs of a program: each reads the same, from the front. What a run
// reads is kept, and the next has it first. A terminal is left to the program.
#pragma once

#include <poll.h>
#include <sys/types.h>

#include <cstddef>
#include <string>

namespace warpfold::record {

class InputTape {
 public:
  // `source`: where the input comes from.
  explicit InputTape(int source);
  ~InputTape() { end(); }
  InputTape(const InputTape&) = delete;
  InputTape& operator=(const InputTape&) = delete;

  // For one run: a descriptor that the program reads from and that the caller closes, or -1 where
  // it is to keep the source itself. Throws trace::TraceError where there is none to be had.
  int begin();
  void end();
  // What there is for a program that is given a file. Of a stream all that was read so far.
  [[nodiscard]] std::string so_far() const;

  // What serve() waits for; at most kDescriptors. Returns how many.
  static constexpr std::size_t kDescriptors = 2;
  [[nodiscard]] std::size_t wanted(pollfd* descriptors) const;
  // Takes what has come, and gives the program what it has not got. Never waits.
  void serve();

 private:
  void take();
  void give();

  enum class Kind { kTerminal, kFile, kStream };
  const int source_;
  Kind kind_ = Kind::kTerminal;
  off_t begin_ = 0;     // of a file, where it stood
  std::string kept_;    // of a stream
  bool ended_ = false;  // it has no more
  int program_ = -1;    // where the program's input goes
  std::size_t given_ = 0;
};

}  // namespace warpfold::record
