// SPDX-License-Identifier: Apache-2.0
#include "model/cli/apart.hpp"

#include <dirent.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <map>
#include <memory>
#include <new>
#include <optional>
#include <set>
#include <stdexcept>
#include <system_error>

#include "model/cli/command.hpp"
#include "model/cli/stop.hpp"

namespace warpfold::cli {

namespace {

using Clock = std::chrono::steady_clock;

constexpr int kLook = 50;                                       // milliseconds between two looks
constexpr auto kEndOfWork = std::chrono::seconds(5);            // of a process whose work is done
constexpr auto kEndOfSignal = std::chrono::milliseconds(1500);  // of one that was told to end
constexpr std::size_t kMostPath = 4096;
constexpr std::uint64_t kMib = std::uint64_t{1} << 20U;

[[noreturn]] void fail(const char* what) {
  throw std::system_error(errno, std::generic_category(), what);
}

// --- messages: a kind, and behind it a path with a file that is passed along, or an exit code ----

constexpr char kOutput = 'o';
constexpr char kCode = 'c';

void send_message(int socket, const std::string& text, int file) {
  iovec part{const_cast<char*>(text.data()), text.size()};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
  if (file >= 0) {
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    cmsghdr* const header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(header), &file, sizeof file);
  }
  while (::sendmsg(socket, &message, MSG_NOSIGNAL) < 0) {
    if (errno != EINTR) {
      fail("cannot deliver results");
    }
  }
}

struct Message {
  std::string text;
  int file = -1;
};

// False where there is none.
bool receive_message(int socket, Message& message) {
  std::array<char, kMostPath + 1> text;
  iovec part{text.data(), text.size()};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
  header.msg_control = control.data();
  header.msg_controllen = control.size();
  const ssize_t count = ::recvmsg(socket, &header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  if (count <= 0) {
    return false;
  }
  message = {std::string(text.data(), static_cast<std::size_t>(count)), -1};
  const cmsghdr* const passed = CMSG_FIRSTHDR(&header);
  if (passed != nullptr && passed->cmsg_type == SCM_RIGHTS) {
    std::memcpy(&message.file, CMSG_DATA(passed), sizeof message.file);
  }
  return true;
}

std::string content_of(int file) {
  struct stat status {};
  std::string text;
  if (::fstat(file, &status) == 0) {
    text.resize(static_cast<std::size_t>(status.st_size));
  }
  std::size_t have = 0;
  while (have < text.size()) {
    const ssize_t count =
        ::pread(file, text.data() + have, text.size() - have, static_cast<off_t>(have));
    if (count <= 0 && errno != EINTR) {
      break;
    }
    have += count > 0 ? static_cast<std::size_t>(count) : 0;
  }
  ::close(file);
  text.resize(have);
  return text;
}

// --- processes -----------------------------------------------------------------------------------

// Parent of each process that there is.
std::map<pid_t, pid_t> all_processes() {
  std::map<pid_t, pid_t> parents;
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir("/proc"), ::closedir);
  if (!folder) {
    return parents;
  }
  while (const dirent* const entry = ::readdir(folder.get())) {
    const auto process = static_cast<pid_t>(std::strtol(entry->d_name, nullptr, 10));
    if (process <= 0) {
      continue;
    }
    std::ifstream file(fmt::format("/proc/{}/stat", process));
    std::string text;
    std::getline(file, text, '\0');
    // A name may have anything in it, blanks and brackets too.
    const std::size_t name_end = text.rfind(") ");
    char state = 'Z';
    long parent = 0;
    if (name_end != std::string::npos &&
        std::sscanf(text.c_str() + name_end + 2, "%c %ld", &state, &parent) == 2 && state != 'Z' &&
        state != 'X') {
      parents[process] = static_cast<pid_t>(parent);
    }
  }
  return parents;
}

// This process's children but for those in `others`, their children and so on.
std::vector<pid_t> descendants(const std::set<pid_t>& others) {
  const std::map<pid_t, pid_t> parents = all_processes();
  std::vector<pid_t> found;
  for (const auto& [process, parent] : parents) {
    pid_t above = process;
    for (std::size_t steps = 0; steps < parents.size(); ++steps) {
      const auto at = parents.find(above);
      if (at == parents.end() || others.contains(above)) {
        break;
      }
      if (at->second == ::getpid()) {
        found.push_back(process);
        break;
      }
      above = at->second;
    }
  }
  return found;
}

std::uint64_t resident_bytes(pid_t process) {
  std::ifstream file(fmt::format("/proc/{}/statm", process));
  std::uint64_t all = 0;
  std::uint64_t resident = 0;
  file >> all >> resident;
  return resident * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

// Ends them all, also those that are begun meanwhile; how many there were.
std::size_t end_all(const std::set<pid_t>& others) {
  std::set<pid_t> ended;
  for (;;) {
    const std::vector<pid_t> left = descendants(others);
    if (left.empty()) {
      break;
    }
    // None that is stopped begins another one.
    for (const pid_t process : left) {
      ::kill(process, SIGSTOP);
      ended.insert(process);
    }
    for (const pid_t process : descendants(others)) {
      ::kill(process, SIGKILL);
      ended.insert(process);
    }
    while (::waitpid(-1, nullptr, WNOHANG) > 0) {
    }
    ::usleep(1000);
  }
  while (::waitpid(-1, nullptr, WNOHANG) > 0) {
  }
  return ended.size();
}

// --- the watched process -------------------------------------------------------------------------

[[noreturn]] void do_work(const Apart& apart, int socket,
                          const std::function<int(const Apart&)>& work) {
  int code = kBadInput;
  try {
    code = work(apart);
  } catch (const std::bad_alloc&) {
    complain("out of memory");
  } catch (const std::exception& error) {
    complain(error.what());
  }
  if (!std::cout.flush()) {
    complain("cannot write to standard output");
    code = kBadInput;
  }
  send_message(socket, kCode + std::to_string(code), -1);
  std::exit(code);
}

class Watch {
 public:
  Watch(const ApartLimits& limits, const UnitPulse& pulse, pid_t process, int socket,
        std::set<pid_t> others)
      : limits_(limits),
        pulse_(pulse),
        process_(process),
        socket_(socket),
        others_(std::move(others)) {}

  ApartResult run() {
    ApartResult result;
    while (!ended_) {
      pollfd waiting{.fd = socket_, .events = POLLIN, .revents = 0};
      ::poll(&waiting, 1, kLook);
      take_messages();
      look();
    }
    take_messages();
    if (verdict_.empty() && !is_stopped()) {
      look_at_time();
    }
    const std::size_t left = end_all(others_);
    for (const auto& [path, file] : outputs_) {
      result.outputs.emplace_back(path, content_of(file));
    }
    if (is_stopped()) {
      return result;
    }
    if (verdict_.empty() && !code_) {
      verdict_ = death();
    }
    if (verdict_.empty() && !place().empty()) {
      verdict_ = fmt::format("ended its process{}", place());
    }
    if (verdict_.empty() && left > 0) {
      verdict_ = fmt::format("left {} behind, which {} ended",
                             left == 1 ? "a process" : "processes", left == 1 ? "was" : "were");
    }
    if (!verdict_.empty()) {
      result.verdict = fmt::format("{}: {}", limits_.unit, verdict_);
    }
    result.code = code_.value_or(kCheckFailed);
    return result;
  }

 private:
  void take_messages() {
    Message message;
    while (receive_message(socket_, message)) {
      if (message.text.starts_with(kCode) && !code_) {
        code_ = std::atoi(message.text.c_str() + 1);
        done_ = Clock::now();
      } else if (message.text.starts_with(kOutput) && message.file >= 0) {
        outputs_.emplace_back(message.text.substr(1), message.file);
      } else if (message.file >= 0) {
        ::close(message.file);
      }
    }
  }

  // Whether it has ended, or is to.
  void look() {
    if (::waitpid(process_, &status_, WNOHANG) == process_) {
      ended_ = true;
      return;
    }
    if (is_stopped()) {
      if (!told_) {
        told_ = Clock::now();
        ::kill(process_, stop_number());
        ::kill(process_, SIGCONT);
      } else if (Clock::now() - *told_ > kEndOfSignal) {
        end();
      }
      return;
    }
    if (code_) {
      if (Clock::now() - done_ > kEndOfWork) {
        end();
      }
      return;
    }
    look_at_time();
    look_at_processes();
  }

  void look_at_time() {
    const auto now = Clock::now();
    const auto limit = std::chrono::seconds(limits_.seconds);
    for (std::size_t i = 0; i < pulse_.beats.size(); ++i) {
      const UnitPulse::Beat& beat = pulse_.beats[i];
      if (beat.forked > 0) {
        verdict_ =
            fmt::format("forked its process, and both went on{}", place_of(i, beat.forked - 1));
        end();
        return;
      }
      const std::uint64_t begun = beat.begun;
      Inside& seen = seen_[i];
      if (!beat.is_inside() || begun != seen.begun) {
        seen = {begun, now};
      } else if (is_gone(beat.process)) {
        // Of several runs one. The work tells how it ended.
      } else if (now - seen.since > limit) {
        verdict_ = fmt::format("did not come back within {} s{}", limits_.seconds, place_of(i));
        end();
        return;
      }
    }
  }

  void look_at_processes() {
    if (++looks_ % 2 != 0) {
      return;
    }
    const std::vector<pid_t> all = descendants(others_);
    if (all.size() > limits_.processes) {
      verdict_ = fmt::format("began more than {} processes{}", limits_.processes, place());
      end();
      return;
    }
    for (const pid_t process : all) {
      if (resident_bytes(process) > limits_.memory_mib * kMib) {
        verdict_ = fmt::format("took more than {} MiB of memory{}", limits_.memory_mib, place());
        end();
        return;
      }
    }
  }

  // Of the process, if that is still there.
  void end() {
    if (!ended_) {
      ::kill(process_, SIGKILL);
      ::waitpid(process_, &status_, 0);
      ended_ = true;
    }
  }

  static std::string place_of(std::size_t beat, std::uint64_t cycle) {
    return beat == 0 ? ", while its library was loaded" : fmt::format(", in its cycle {}", cycle);
  }
  [[nodiscard]] std::string place_of(std::size_t beat) const {
    return place_of(beat, pulse_.beats[beat].cycles);
  }
  // Whether it is no process any more; 0 is none.
  static bool is_gone(pid_t process) {
    return process != 0 && ::kill(process, 0) != 0 && errno == ESRCH;
  }
  // Of the unit that is inside of its code, or else of any.
  [[nodiscard]] std::string place() const {
    for (std::size_t i = 0; i < pulse_.beats.size(); ++i) {
      if (pulse_.beats[i].is_inside()) {
        return place_of(i);
      }
    }
    return "";
  }

  [[nodiscard]] std::string death() const {
    if (WIFSIGNALED(status_)) {
      return fmt::format("crashed{}: {}", place(), ::strsignal(WTERMSIG(status_)));
    }
    return fmt::format("ended the program with exit code {}{}", WEXITSTATUS(status_), place());
  }

  struct Inside {
    std::uint64_t begun = 0;
    Clock::time_point since;
  };

  const ApartLimits& limits_;
  const UnitPulse& pulse_;
  const pid_t process_;
  const int socket_;
  const std::set<pid_t> others_;
  std::vector<Inside> seen_ = std::vector<Inside>(UnitPulse::kBeats, {0, Clock::now()});
  std::vector<std::pair<std::string, int>> outputs_;
  std::optional<int> code_;
  Clock::time_point done_;
  std::optional<Clock::time_point> told_;
  std::string verdict_;
  unsigned looks_ = 0;
  int status_ = 0;
  bool ended_ = false;
};

}  // namespace

Deliver Apart::deliver() const {
  if (socket_ < 0) {
    return nullptr;
  }
  return [socket = socket_](const std::filesystem::path& path, std::string_view text) {
    const int file = ::memfd_create("warpfold-output", MFD_CLOEXEC);
    if (file < 0) {
      fail("cannot deliver results");
    }
    for (std::string_view rest = text; !rest.empty();) {
      const ssize_t count = ::write(file, rest.data(), rest.size());
      if (count < 0 && errno != EINTR) {
        fail("cannot deliver results");
      }
      rest.remove_prefix(count > 0 ? static_cast<std::size_t>(count) : 0);
    }
    send_message(socket, kOutput + path.string(), file);
    ::close(file);
  };
}

ApartResult run_apart(const ApartLimits& limits, const std::function<int(const Apart&)>& work) {
  // What the process begins is this one's child when the process has ended.
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  void* const shared =
      ::mmap(nullptr, sizeof(UnitPulse), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) {
    fail("cannot share memory");
  }
  auto* const pulse = new (shared) UnitPulse;
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    fail("cannot make a socket");
  }
  const std::vector<pid_t> before = descendants({});
  std::cout.flush();
  const pid_t parent = ::getpid();
  const pid_t process = ::fork();
  if (process == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::setpgid(0, 0);
    const rlimit no_core{0, 0};
    ::setrlimit(RLIMIT_CORE, &no_core);
    ::close(ends[0]);
    if (::getppid() != parent) {
      ::_exit(kBadInput);
    }
    do_work(Apart(pulse, ends[1]), ends[1], work);
  }
  const int error = errno;
  ::close(ends[1]);
  if (process < 0) {
    ::close(ends[0]);
    errno = error;
    fail("cannot start a process");
  }
  note_stops();
  ApartResult result =
      Watch(limits, *pulse, process, ends[0], std::set<pid_t>(before.begin(), before.end())).run();
  ::close(ends[0]);
  ::munmap(shared, sizeof(UnitPulse));
  return result;
}

int finish_apart(const ApartResult& result) {
  if (!result.verdict.empty()) {
    complain(result.verdict);
    return kCheckFailed;
  }
  for (const auto& [path, text] : result.outputs) {
    OutputFile(path).write(text);
  }
  if (is_stopped()) {
    end_by_signal();
  }
  return result.code;
}

void add_apart_options(CLI::App& app, ApartLimits& limits) {
  app.add_option("--unit-seconds", limits.seconds,
                 "Seconds that a unit library may take for one call; then it\nhangs")
      ->type_name("N")
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast)
      ->check(CLI::Range(1, 86'400))
      ->capture_default_str();
  app.add_option("--unit-memory", limits.memory_mib,
                 "MiB that a process with a unit library may take")
      ->type_name("MIB")
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast)
      ->check(CLI::Range(std::uint64_t{64}, std::uint64_t{1} << 24U))
      ->capture_default_str();
}

}  // namespace warpfold::cli
