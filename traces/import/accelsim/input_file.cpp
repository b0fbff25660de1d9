// SPDX-License-Identifier: Apache-2.0
#include "traces/import/accelsim/input_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "traces/import/accelsim/tracez.hpp"
#include "traces/import/accelsim/unpacker.hpp"

namespace warpfold::accelsim {

namespace {

constexpr std::size_t kPackedBytes = std::size_t{256} << 10U;
constexpr std::size_t kTextBytes = std::size_t{1} << 20U;
// A tile that one instruction copies has thousands of addresses.
constexpr std::size_t kMostLineBytes = std::size_t{1} << 20U;
constexpr std::size_t kMagicBytes = 6;
constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

}  // namespace

InputFile::InputFile(const std::filesystem::path& path, trace::Step step)
    : path_(path), step_(std::move(step)), fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
  struct stat status {};
  if (fd_ < 0 || ::fstat(fd_, &status) != 0 || S_ISDIR(status.st_mode)) {
    const std::string why =
        fd_ >= 0 && S_ISDIR(status.st_mode) ? "is a folder" : std::strerror(errno);
    if (fd_ >= 0) {
      ::close(fd_);
    }
    refuse_file(why);
  }
  if (S_ISREG(status.st_mode)) {
    size_ = static_cast<std::uint64_t>(status.st_size);
  }
  packed_.reserve(kPackedBytes);
  text_.resize(kTextBytes + kMostLineBytes);
}

InputFile::~InputFile() {
  ::close(fd_);
}

void InputFile::refuse(std::string_view why) const {
  throw FileError(fmt::format("{}:{}: {}", path_.string(), line_, why));
}

void InputFile::refuse_file(std::string_view why) const {
  throw FileError(fmt::format("{}: {}", path_.string(), why));
}

bool InputFile::next(std::string_view& line) {
  std::size_t searched = begin_;
  for (;;) {
    const void* found = std::memchr(text_.data() + searched, '\n', end_ - searched);
    if (found != nullptr) {
      const auto at = static_cast<std::size_t>(static_cast<const char*>(found) - text_.data());
      line = {text_.data() + begin_, at - begin_};
      begin_ = at + 1;
      break;
    }
    if (end_ - begin_ > kMostLineBytes) {
      ++line_;
      refuse(fmt::format("a line of more than {} bytes", kMostLineBytes));
    }
    searched = end_ - begin_;
    if (!extend()) {
      if (begin_ == end_) {
        return false;
      }
      line = {text_.data() + begin_, end_ - begin_};
      begin_ = end_;
      break;
    }
  }
  ++line_;
  if (line.ends_with('\r')) {
    line.remove_suffix(1);
  }
  return true;
}

void InputFile::ask_step() const {
  if (step_ && step_(size_ == 0 ? 0 : trace::share_of(taken_, size_))) {
    throw trace::TraceError(fmt::format("{}: reading was given up", path_.string()));
  }
}

void InputFile::find_packing() {
  while (rest_.size() < kMagicBytes && fill()) {
  }
  if (is_tracez(rest_)) {
    unpacker_ = open_tracez(fd_, [this](std::uint64_t taken) {
      taken_ = taken;
      ask_step();
    });
    rest_ = {};
    ended_ = true;
    return;
  }
  unpacker_ = unpacker_for(rest_);
  if (rest_.starts_with(kByteOrderMark)) {
    rest_.remove_prefix(kByteOrderMark.size());
  }
}

bool InputFile::fill() {
  std::string kept(rest_);
  packed_.resize(kPackedBytes + kMagicBytes);
  std::memcpy(packed_.data(), kept.data(), kept.size());
  ssize_t count = -1;
  do {
    ask_step();
    count = ::read(fd_, packed_.data() + kept.size(), kPackedBytes);
  } while (count < 0 && errno == EINTR);
  if (count < 0) {
    refuse_file(std::strerror(errno));
  }
  taken_ += static_cast<std::uint64_t>(count);
  ended_ = count == 0;
  rest_ = {packed_.data(), kept.size() + static_cast<std::size_t>(count)};
  return !ended_;
}

bool InputFile::extend() {
  std::memmove(text_.data(), text_.data() + begin_, end_ - begin_);
  end_ -= begin_;
  begin_ = 0;
  try {
    if (unpacker_ == nullptr) {
      find_packing();
    }
    for (;;) {
      if (rest_.empty() && !ended_) {
        fill();
      }
      const std::size_t before = rest_.size();
      const std::size_t count =
          unpacker_->unpack(rest_, text_.data() + end_, text_.size() - end_, ended_);
      end_ += count;
      if (count > 0) {
        return true;
      }
      if (ended_ && rest_.size() == before) {
        return false;
      }
    }
  } catch (const trace::TraceError&) {
    throw;
  } catch (const std::runtime_error& error) {
    refuse_file(error.what());
  }
}

}  // namespace warpfold::accelsim
