// SPDX-License-Identifier: Apache-2.0
#include "traces/record/host/input_tape.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "traces/format/trace.hpp"

namespace warpfold::record {

namespace {

constexpr std::size_t kBytes = std::size_t{1} << 16U;
constexpr std::size_t kAhead = std::size_t{1} << 20U;  // that is taken before the program reads it

[[noreturn]] void fail(const char* what) {
  throw trace::TraceError(fmt::format("{}: {}", what, std::strerror(errno)));
}

}  // namespace

InputTape::InputTape(int source) : source_(source) {
  struct stat about {};
  if (fstat(source, &about) != 0 || isatty(source) != 0) {
    return;
  }
  kind_ = S_ISREG(about.st_mode) ? Kind::kFile : Kind::kStream;
  begin_ = kind_ == Kind::kFile ? lseek(source, 0, SEEK_CUR) : 0;
}

int InputTape::begin() {
  end();
  if (kind_ == Kind::kTerminal) {
    return -1;
  }
  if (kind_ == Kind::kFile) {
    const int file = open(fmt::format("/proc/self/fd/{}", source_).c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0 || lseek(file, begin_, SEEK_SET) < 0) {
      fail("standard input");
    }
    return file;
  }
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) {
    fail("a pipe");
  }
  fcntl(ends[1], F_SETFL, O_NONBLOCK);
  program_ = ends[1];
  given_ = 0;
  return ends[0];
}

void InputTape::end() {
  if (program_ >= 0) {
    close(program_);
  }
  program_ = -1;
}

std::string InputTape::so_far() const {
  if (kind_ != Kind::kFile) {
    return kept_;
  }
  std::string text;
  std::array<char, kBytes> bytes{};
  for (off_t at = begin_;;) {
    const ssize_t got = pread(source_, bytes.data(), bytes.size(), at);
    if (got <= 0) {
      return text;
    }
    text.append(bytes.data(), static_cast<std::size_t>(got));
    at += got;
  }
}

std::size_t InputTape::wanted(pollfd* descriptors) const {
  std::size_t count = 0;
  if (program_ >= 0 && !ended_ && kept_.size() < given_ + kAhead) {
    descriptors[count++] = {.fd = source_, .events = POLLIN, .revents = 0};
  }
  if (program_ >= 0 && given_ < kept_.size()) {
    descriptors[count++] = {.fd = program_, .events = POLLOUT, .revents = 0};
  }
  return count;
}

void InputTape::serve() {
  if (program_ >= 0) {
    take();
    give();
  }
}

void InputTape::take() {
  pollfd there{.fd = source_, .events = POLLIN, .revents = 0};
  if (ended_ || kept_.size() >= given_ + kAhead || poll(&there, 1, 0) <= 0) {
    return;
  }
  std::array<char, kBytes> bytes{};
  const ssize_t got = read(source_, bytes.data(), bytes.size());
  if (got > 0) {
    kept_.append(bytes.data(), static_cast<std::size_t>(got));
  }
  ended_ = got == 0 || (got < 0 && errno != EINTR && errno != EAGAIN);
}

void InputTape::give() {
  if (given_ < kept_.size()) {
    const ssize_t sent = write(program_, kept_.data() + given_, kept_.size() - given_);
    if (sent > 0) {
      given_ += static_cast<std::size_t>(sent);
    } else if (errno != EAGAIN && errno != EINTR) {
      end();  // the program reads no more
      return;
    }
  }
  if (ended_ && given_ == kept_.size()) {
    end();
  }
}

}  // namespace warpfold::record
