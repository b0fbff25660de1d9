// SPDX-License-Identifier: Apache-2.0
#include "model/results/process_pool.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <malloc.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <new>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "model/outcome/result_fields.hpp"

namespace warpfold {

// Parts of timelines, of which there are many, as lists.
static void to_json(nlohmann::ordered_json& out, const TimelineSlice& slice) {
  out = {slice.begin, slice.length, slice.what, slice.count};
}
static void from_json(const nlohmann::ordered_json& in, TimelineSlice& slice) {
  in.at(0).get_to(slice.begin);
  in.at(1).get_to(slice.length);
  in.at(2).get_to(slice.what);
  in.at(3).get_to(slice.count);
}
static void to_json(nlohmann::ordered_json& out, const TimelineLevel& level) {
  out = {level.cycle, level.value};
}
static void from_json(const nlohmann::ordered_json& in, TimelineLevel& level) {
  in.at(0).get_to(level.cycle);
  in.at(1).get_to(level.value);
}
static void to_json(nlohmann::ordered_json& out, const TimelineTrack& track) {
  out = {track.place, track.name, track.what, track.count, track.slices};
}
static void from_json(const nlohmann::ordered_json& in, TimelineTrack& track) {
  in.at(0).get_to(track.place);
  in.at(1).get_to(track.name);
  in.at(2).get_to(track.what);
  in.at(3).get_to(track.count);
  in.at(4).get_to(track.slices);
}
static void to_json(nlohmann::ordered_json& out, const TimelineLevels& levels) {
  out = {levels.place, levels.name, levels.parts, levels.levels};
}
static void from_json(const nlohmann::ordered_json& in, TimelineLevels& levels) {
  in.at(0).get_to(levels.place);
  in.at(1).get_to(levels.name);
  in.at(2).get_to(levels.parts);
  in.at(3).get_to(levels.levels);
}

namespace {

using Json = nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

constexpr auto kProgressInterval = std::chrono::milliseconds(100);

// --- What a child sends: one JSON value a line -------------------------------------------------

// Doubles travel as bits: JSON has no infinity.
struct Sender {
  Json& out;

  void derived(const char* /*key*/) {}
  template <typename T>
  void if_any(const char* key, const T& value) {
    out[key] = value;
  }
  template <typename T>
  void operator()(const char* key, const T& value) {
    out[key] = value;
  }
  void operator()(const char* key, double value) { out[key] = std::bit_cast<std::uint64_t>(value); }
  void operator()(const char* key, const Fractions& values) {
    Json& list = out[key] = Json::array();
    for (const auto& [name, value] : values) {
      list.push_back({name, std::bit_cast<std::uint64_t>(value)});
    }
  }
  // Finite, and JSON gives each back as it was.
  void operator()(const char* key, const decltype(Timeline::busy)& values) { out[key] = values; }
};

struct Receiver {
  const Json& in;

  void derived(const char* /*key*/) {}
  template <typename T>
  void if_any(const char* key, T& value) {
    in.at(key).get_to(value);
  }
  template <typename T>
  void operator()(const char* key, T& value) {
    in.at(key).get_to(value);
  }
  void operator()(const char* key, double& value) {
    value = std::bit_cast<double>(in.at(key).get<std::uint64_t>());
  }
  void operator()(const char* key, Fractions& values) {
    for (const Json& item : in.at(key)) {
      values.emplace_back(item.at(0).get<std::string>(),
                          std::bit_cast<double>(item.at(1).get<std::uint64_t>()));
    }
  }
};

void send(int fd, const Json& message) {
  const std::string line = message.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  std::string_view rest = line;
  while (!rest.empty()) {
    const ssize_t written = ::write(fd, rest.data(), rest.size());
    if (written < 0 && errno == EINTR) {
      continue;
    }
    if (written <= 0) {
      return;  // the parent is gone
    }
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
}

// One line, whatever an exception says.
std::string one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

// What a simulation allocates from now on lies in large pages, where the system has them, and stays
// with the process when it is freed: a simulation looks at all parts of some 100 MB again and
// again, for which small pages took up to a tenth more time on a virtual machine (truck-4p, sw-s:8;
// at other times none), and it frees only to allocate again.
void keep_memory() {
#ifdef __GLIBC__
  constexpr std::size_t kReserve = std::size_t{512} << 20U;  // of addresses, not of memory
  constexpr std::size_t kLargePage = std::size_t{2} << 20U;
  ::mallopt(M_MMAP_MAX, 0);
  ::mallopt(M_TRIM_THRESHOLD, -1);
  if (void* const reserve = std::malloc(kReserve); reserve != nullptr) {
    void* begin = reserve;
    std::size_t space = kReserve;
    if (std::align(kLargePage, kLargePage, begin, space) != nullptr) {
      ::madvise(begin, space, MADV_HUGEPAGE);  // or not
    }
    std::free(reserve);
  }
#endif
}

// The life of a child. Does not return and runs no exit handlers of the parent's.
[[noreturn]] void child_main(const PoolTask& task, int fd, bool wants_progress) {
  auto last_report = Clock::now();
  std::function<void(double)> progress;
  if (wants_progress) {
    progress = [fd, &last_report](double done) {
      const auto now = Clock::now();
      if (now - last_report >= kProgressInterval) {
        last_report = now;
        send(fd, {{"progress", std::bit_cast<std::uint64_t>(done)}});
      }
    };
  }
  try {
    keep_memory();
    const RunResult run = task.work(progress);
    Json result = Json::object();
    visit_result(Sender{result}, run);
    visit_unpublished(Sender{result}, run);
    send(fd, {{"result", std::move(result)}});
  } catch (const BadInputError& error) {
    send(fd, {{"bad_input", one_line(error.what())}});
  } catch (const std::bad_alloc&) {
    send(fd, {{"failed", "out of memory"}});
  } catch (const std::exception& error) {
    send(fd, {{"failed", one_line(error.what())}});
  } catch (...) {
    send(fd, {{"failed", "an unknown exception"}});
  }
  ::_exit(0);
}

std::string describe_death(int status) {
  if (WIFSIGNALED(status)) {
    return fmt::format("the simulation died: {}", ::strsignal(WTERMSIG(status)));
  }
  return fmt::format("the simulation ended without a result, exit status {}", WEXITSTATUS(status));
}

// One running child; kills and reaps it if it is still there.
class Child {
 public:
  Child(std::size_t index, const PoolTask& task, bool wants_progress) : index_(index) {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
      throw std::system_error(errno, std::generic_category(), "cannot make a pipe");
    }
    const pid_t parent = ::getpid();
    pid_ = ::fork();
    if (pid_ == 0) {
      ::close(ends[0]);
      // Killed with the parent, Ctrl-C included. It may be gone already.
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (::getppid() != parent) {
        ::_exit(1);
      }
      child_main(task, ends[1], wants_progress);
    }
    const int error = errno;
    ::close(ends[1]);
    fd_ = ends[0];
    if (pid_ < 0) {
      ::close(fd_);
      throw std::system_error(error, std::generic_category(), "cannot start a process");
    }
  }
  Child(Child&& other) noexcept
      : index_(other.index_),
        pid_(std::exchange(other.pid_, -1)),
        fd_(std::exchange(other.fd_, -1)),
        buffer_(std::move(other.buffer_)),
        done_(other.done_) {}
  Child& operator=(Child&& other) noexcept {
    std::swap(index_, other.index_);
    std::swap(pid_, other.pid_);
    std::swap(fd_, other.fd_);
    std::swap(buffer_, other.buffer_);
    std::swap(done_, other.done_);
    return *this;
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() {
    if (fd_ >= 0) {
      ::close(fd_);
    }
    if (pid_ > 0) {
      ::kill(pid_, SIGKILL);
      wait();
    }
  }

  [[nodiscard]] std::size_t index() const { return index_; }
  [[nodiscard]] int fd() const { return fd_; }
  [[nodiscard]] double done() const { return done_; }

  // Takes in what has arrived. True when the child has ended and `outcome` is filled.
  bool receive(PoolOutcome& outcome) {
    std::array<char, 65536> chunk{};
    const ssize_t got = ::read(fd_, chunk.data(), chunk.size());
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) {
      return false;
    }
    if (got > 0) {
      buffer_.append(chunk.data(), static_cast<std::size_t>(got));
      for (std::size_t end = buffer_.find('\n'); end != std::string::npos;
           end = buffer_.find('\n')) {
        take(Json::parse(buffer_.substr(0, end)), outcome);
        buffer_.erase(0, end + 1);
      }
      return false;
    }
    const int status = wait();
    if (!outcome.result && outcome.error.empty()) {
      outcome.error = describe_death(status);
    }
    return true;
  }

 private:
  void take(const Json& message, PoolOutcome& outcome) {
    if (message.contains("progress")) {
      done_ = std::bit_cast<double>(message["progress"].get<std::uint64_t>());
    } else if (message.contains("result")) {
      RunResult& result = outcome.result.emplace();
      visit_result(Receiver{message["result"]}, result);
      visit_unpublished(Receiver{message["result"]}, result);
    } else if (message.contains("bad_input")) {
      throw BadInputError(message["bad_input"].get<std::string>());
    } else {
      outcome.error = message.at("failed").get<std::string>();
    }
  }

  int wait() {
    int status = 0;
    while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    pid_ = -1;
    return status;
  }

  std::size_t index_;
  pid_t pid_ = -1;
  int fd_ = -1;
  std::string buffer_;
  double done_ = 0;
};

void report(const PoolOptions& options, const std::vector<PoolTask>& tasks,
            const std::vector<Child>& children, std::size_t finished) {
  PoolProgress progress;
  progress.tasks = tasks.size();
  progress.finished = finished;
  double done = static_cast<double>(finished);
  for (const Child& child : children) {
    done += child.done();
    progress.running += (progress.running.empty() ? "" : ", ") + tasks[child.index()].name;
  }
  progress.done = done / static_cast<double>(tasks.size());
  options.progress(progress);
}

}  // namespace

std::vector<PoolOutcome> run_pool(const std::vector<PoolTask>& tasks, const PoolOptions& options) {
  const bool wants_progress = static_cast<bool>(options.progress);
  std::vector<PoolOutcome> outcomes(tasks.size());
  std::vector<Child> children;
  std::size_t next = 0;
  std::size_t finished = 0;
  constexpr int kLook = 200;  // milliseconds
  const auto stopped = [&] { return options.stopped && options.stopped(); };
  while (finished < tasks.size() && !stopped()) {
    while (!stopped() && next < tasks.size() &&
           children.size() < std::max<std::size_t>(1, options.jobs)) {
      if (tasks[next].prepare) {
        tasks[next].prepare();
      }
      children.emplace_back(next, tasks[next], wants_progress);
      ++next;
      if (wants_progress) {
        report(options, tasks, children, finished);
      }
    }
    std::vector<pollfd> waiting;
    for (const Child& child : children) {
      waiting.push_back({.fd = child.fd(), .events = POLLIN, .revents = 0});
    }
    if (::poll(waiting.data(), waiting.size(), options.stopped ? kLook : -1) < 0) {
      if (errno == EINTR) {
        continue;
      }
      throw std::system_error(errno, std::generic_category(), "cannot wait for the simulations");
    }
    // From the back, so that erasing a child moves none that is still to be looked at.
    for (std::size_t i = waiting.size(); i-- > 0;) {
      if (waiting[i].revents != 0 && children[i].receive(outcomes[children[i].index()])) {
        children.erase(children.begin() + static_cast<std::ptrdiff_t>(i));
        ++finished;
      }
    }
    if (wants_progress) {
      report(options, tasks, children, finished);
    }
  }
  for (PoolOutcome& outcome : outcomes) {
    if (!outcome.result && outcome.error.empty()) {
      outcome.error = "interrupted";
    }
  }
  return outcomes;
}

}  // namespace warpfold
