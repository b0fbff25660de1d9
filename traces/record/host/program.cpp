// SPDX-License-Identifier: Apache-2.0
#include "traces/record/host/program.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include "traces/format/trace.hpp"

namespace warpfold::record {

namespace {

constexpr int kLookMs = 50;  // between looks whether the program ended
constexpr int kLastLooks = 20;
constexpr std::size_t kReadBytes = std::size_t{1} << 20U;
constexpr std::uint64_t kMostMessage = std::uint64_t{4} << 30U;

volatile std::sig_atomic_t stopped = 0;

void stop(int number) {
  stopped = number;
}

pid_t pid_of(Peer peer) {
  ucred who{};
  socklen_t bytes = sizeof who;
  return getsockopt(peer, SOL_SOCKET, SO_PEERCRED, &who, &bytes) == 0 ? who.pid : 0;
}

// What processes get that are to end: SIGINT, a little later SIGTERM, then SIGKILL.
class Ending {
 public:
  // Again and again, from when they are to end. To those of one moment alike.
  [[nodiscard]] int next_signal() {
    constexpr std::array<int, 3> kSignals{SIGINT, SIGTERM, SIGKILL};
    const auto now = std::chrono::steady_clock::now();
    if (sent_ == kSignals.size() || now < next_) {
      return 0;
    }
    next_ = now + kPatience;
    return kSignals.at(sent_++);
  }

 private:
  static constexpr std::chrono::milliseconds kPatience{900};
  std::size_t sent_ = 0;
  std::chrono::steady_clock::time_point next_;
};

// While it lives, SIGINT and SIGTERM are noted and no more, and a pipe without a reader is an error
// of write().
class NotedSignals {
 public:
  NotedSignals() {
    stopped = 0;
    struct sigaction action {};
    action.sa_handler = stop;
    sigaction(SIGINT, &action, &interrupt_);
    sigaction(SIGTERM, &action, &terminate_);
    action.sa_handler = SIG_IGN;
    sigaction(SIGPIPE, &action, &pipe_);
  }
  ~NotedSignals() {
    sigaction(SIGINT, &interrupt_, nullptr);
    sigaction(SIGTERM, &terminate_, nullptr);
    sigaction(SIGPIPE, &pipe_, nullptr);
  }
  NotedSignals(const NotedSignals&) = delete;
  NotedSignals& operator=(const NotedSignals&) = delete;

 private:
  struct sigaction interrupt_ {};
  struct sigaction terminate_ {};
  struct sigaction pipe_ {};
};

[[noreturn]] void become(const std::vector<std::string>& command, const Program::Setting& setting,
                         const std::string& socket, int input, int failure) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  std::signal(SIGPIPE, SIG_DFL);
  if (input >= 0) {
    dup2(input, STDIN_FILENO);
  }
  setenv("CUDA_INJECTION64_PATH", setting.library.c_str(), 1);
  setenv(kPatchesVariable, setting.patches.c_str(), 1);
  setenv(kPatienceVariable, std::to_string(setting.patience).c_str(), 1);
  setenv(kSocketVariable, socket.c_str(), 1);
  std::vector<char*> arguments;
  for (const std::string& argument : command) {
    arguments.push_back(const_cast<char*>(argument.c_str()));
  }
  arguments.push_back(nullptr);
  execvp(arguments.front(), arguments.data());
  const int why = errno;
  const ssize_t sent = write(failure, &why, sizeof why);
  _exit(sent == sizeof why ? 127 : 126);
}

// Starts the program; throws if it cannot be. Closes `input`.
pid_t start(const std::vector<std::string>& command, const Program::Setting& setting,
            const std::string& socket, int input) {
  int failure[2];
  if (pipe2(failure, O_CLOEXEC) != 0) {
    throw trace::TraceError(fmt::format("a pipe: {}", std::strerror(errno)));
  }
  const pid_t child = fork();
  if (child == 0) {
    become(command, setting, socket, input, failure[1]);
  }
  if (input >= 0) {
    close(input);
  }
  close(failure[1]);
  int why = child < 0 ? errno : 0;
  if (child > 0 && read(failure[0], &why, sizeof why) == sizeof why) {
    waitpid(child, nullptr, 0);
  }
  close(failure[0]);
  if (why != 0) {
    throw trace::TraceError(fmt::format("{}: {}", command.front(), std::strerror(why)));
  }
  return child;
}

}  // namespace

Program::Program(std::filesystem::path scratch, Handler handler)
    : socket_path_(std::move(scratch) / "socket"),
      handler_(std::move(handler)),
      input_(STDIN_FILENO) {
  sockaddr_un name{};
  const std::string path = socket_path_.string();
  if (path.size() >= sizeof name.sun_path) {
    throw trace::TraceError(path + ": too long a path for a socket; set TMPDIR to a shorter one");
  }
  name.sun_family = AF_UNIX;
  std::strcpy(name.sun_path, path.c_str());
  unlink(path.c_str());
  listener_ = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (listener_ < 0 ||
      bind(listener_, reinterpret_cast<const sockaddr*>(&name), sizeof name) != 0 ||
      listen(listener_, SOMAXCONN) != 0) {
    throw trace::TraceError(fmt::format("{}: {}", path, std::strerror(errno)));
  }
}

Program::~Program() {
  for (const auto& [peer, inbox] : peers_) {
    close(peer);
  }
  if (listener_ >= 0) {
    close(listener_);
  }
  unlink(socket_path_.c_str());
}

ProgramResult Program::run(const std::vector<std::string>& command, const Setting& setting) {
  const NotedSignals signals;
  heard_ = ending_ = false;
  const pid_t child = start(command, setting, socket_path_.string(), input_.begin());
  ProgramResult result;
  int status = 0;
  bool running = true;
  Ending ending;
  try {
    // What it has said is heard to the end, and so are processes that it leaves behind, unless they
    // are to end.
    while (running || (!peers_.empty() && stopped == 0 && !ending_)) {
      serve(kLookMs);
      if ((stopped != 0 || ending_) && running) {
        result.interrupted = stopped;
        result.ended = ending_;
        urge(child, ending.next_signal());
      }
      if (running && waitpid(child, &status, WNOHANG) == child) {
        running = false;
      }
    }
  } catch (...) {
    if (running) {
      kill(child, SIGTERM);
      for (const auto& [peer, inbox] : peers_) {
        close(peer);
      }
      peers_.clear();
      waitpid(child, &status, 0);
    }
    throw;
  }
  input_.end();
  // Of those that were told to end the last word.
  for (int look = 0; look < kLastLooks && !peers_.empty(); ++look) {
    serve(kLookMs);
  }
  while (!peers_.empty()) {
    const Peer peer = peers_.begin()->first;
    close(peer);
    peers_.erase(peer);
    handler_.on_end(peer);
  }
  result.heard = heard_;
  result.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return result;
}

void Program::urge(pid_t child, int number) const {
  if (number == 0) {
    return;
  }
  kill(child, number);
  for (const auto& [peer, inbox] : peers_) {
    if (const pid_t pid = pid_of(peer); pid > 0 && pid != child) {
      kill(pid, number);
    }
  }
}

void Program::serve(int timeout_ms) {
  std::vector<pollfd> waiting{{.fd = listener_, .events = POLLIN, .revents = 0}};
  for (const auto& [peer, inbox] : peers_) {
    waiting.push_back({.fd = peer, .events = POLLIN, .revents = 0});
  }
  const std::size_t peers = waiting.size();
  waiting.resize(peers + InputTape::kDescriptors);
  waiting.resize(peers + input_.wanted(&waiting[peers]));
  if (poll(waiting.data(), waiting.size(), timeout_ms) <= 0) {
    return;
  }
  input_.serve();
  for (std::size_t i = 1; i < peers; ++i) {
    if (waiting[i].revents != 0) {
      read_from(waiting[i].fd);
    }
  }
  if (waiting.front().revents != 0) {
    accept_peer();
  }
}

void Program::accept_peer() {
  const int peer = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
  if (peer >= 0) {
    peers_.try_emplace(peer);
    heard_ = true;
  }
}

void Program::read_from(Peer peer) {
  std::string& bytes = peers_.at(peer).bytes;
  const std::size_t before = bytes.size();
  bytes.resize(before + kReadBytes);
  const ssize_t got = recv(peer, bytes.data() + before, kReadBytes, 0);
  bytes.resize(before + static_cast<std::size_t>(got > 0 ? got : 0));
  std::size_t at = 0;
  MessageHead head{};
  while (bytes.size() - at >= sizeof head) {
    std::memcpy(&head, bytes.data() + at, sizeof head);
    if (head.bytes > kMostMessage) {
      throw trace::TraceError("the recorded program sends what is no message");
    }
    if (bytes.size() - at - sizeof head < head.bytes) {
      break;
    }
    at += sizeof head;
    handler_.on_message(peer, head.kind, bytes.substr(at, head.bytes));
    at += head.bytes;
  }
  bytes.erase(0, at);
  if (got == 0 || (got < 0 && errno != EINTR)) {
    close(peer);
    peers_.erase(peer);
    handler_.on_end(peer);
  }
}

bool Program::interrupted() {
  return stopped != 0;
}

void Program::send(Peer peer, const void* data, std::size_t bytes) {
  const auto* at = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t sent = ::send(peer, at, bytes, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) {
      continue;
    }
    if (sent <= 0) {
      return;
    }
    at += sent;
    bytes -= static_cast<std::size_t>(sent);
  }
}

}  // namespace warpfold::record
