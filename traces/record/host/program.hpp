// SPDX-License-Identifier: Apache-2.0
// Runs the user's program with an injected library, and hears what the library says.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "traces/record/host/input_tape.hpp"
#include "traces/record/protocol.hpp"

namespace warpfold::record {

// One process of the program; it may start others.
using Peer = int;

struct ProgramResult {
  int status = 0;       // as a shell has it: 128 + the signal that ended it
  int interrupted = 0;  // the signal that came to us, SIGINT or SIGTERM
  bool heard = false;   // a process of it has loaded the library
  bool ended = false;   // by end()
};

class Program {
 public:
  struct Handler {
    // A whole message. An answer to kLaunch is the handler's to send.
    std::function<void(Peer, Message, const std::string&)> on_message;
    std::function<void(Peer)> on_end;  // the process is gone, or says no more
  };

  // `scratch`: a folder for the socket. Throws trace::TraceError where there can be none.
  Program(std::filesystem::path scratch, Handler handler);
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  // What a run is given beside the command. Variables that are empty are not set.
  struct Setting {
    std::filesystem::path library;  // that CUDA is to load into it
    std::filesystem::path patches;  // for kPatchesVariable
    std::uint32_t patience = 0;     // seconds, for kPatienceVariable
  };
  // Until the program and all that it started have ended. `command` is looked up as a shell does.
  // Every run has the same standard input. Throws trace::TraceError if it cannot be started. What
  // the handler throws ends the program.
  ProgramResult run(const std::vector<std::string>& command, const Setting& setting);

  // The standard input of the runs, for a tool that is given it as a file.
  [[nodiscard]] std::string input() const { return input_.so_far(); }

  // For the handler: the program is to end, as if interrupted.
  void end() { ending_ = true; }

  // Whether SIGINT or SIGTERM has come to a run: what is at hand is to end.
  static bool interrupted();

  // Sends an answer; a process that is gone is no error.
  static void send(Peer peer, const void* data, std::size_t bytes);

 private:
  struct Inbox {
    std::string bytes;
  };
  void serve(int timeout_ms);
  // The signal to the program, and to those of its processes that have said something; 0: none.
  void urge(pid_t child, int number) const;
  void read_from(Peer peer);
  void accept_peer();

  std::filesystem::path socket_path_;
  Handler handler_;
  InputTape input_;
  int listener_ = -1;
  bool heard_ = false;   // in this run
  bool ending_ = false;  // the same
  std::map<Peer, Inbox> peers_;
};

}  // namespace warpfold::record
