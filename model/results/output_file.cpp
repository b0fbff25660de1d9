// SPDX-License-Identifier: Apache-2.0
#include "model/results/output_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <system_error>
#include <utility>

namespace warpfold {
namespace {

constexpr mode_t kMode = 0666;  // less the umask

// Removes its file unless that was renamed.
class TemporaryFile {
 public:
  TemporaryFile(std::filesystem::path path, int flags)
      : path_(std::move(path)), fd_(::open(path_.c_str(), flags, kMode)), exists_(fd_ >= 0) {}
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() {
    if (fd_ >= 0) {
      ::close(fd_);
    }
    if (exists_) {
      ::unlink(path_.c_str());
    }
  }

  [[nodiscard]] int fd() const { return fd_; }
  [[nodiscard]] bool close() { return ::close(std::exchange(fd_, -1)) == 0; }
  [[nodiscard]] bool rename_to(const std::filesystem::path& target) {
    exists_ = std::rename(path_.c_str(), target.c_str()) != 0;
    return !exists_;
  }

 private:
  std::filesystem::path path_;
  int fd_;
  bool exists_;
};

[[noreturn]] void fail(const std::filesystem::path& path, int error) {
  throw OutputError(fmt::format("{}: cannot be written: {}", path.string(), std::strerror(error)));
}

bool write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) {
      continue;
    }
    if (written <= 0) {
      return false;
    }
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

std::filesystem::path temporary_name(const std::filesystem::path& target) {
  return target.parent_path() / fmt::format(".{}.tmp.{}", target.filename().string(), ::getpid());
}

constexpr int kCreate = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC;

}  // namespace

OutputFile::OutputFile(std::filesystem::path path) : path_(std::move(path)), target_(path_) {
  std::error_code error;
  if (path_.empty()) {
    fail(path_, ENOENT);
  }
  if (std::filesystem::is_directory(path_, error)) {
    fail(path_, EISDIR);
  }
  if (std::filesystem::is_symlink(path_, error) && !std::filesystem::exists(path_, error)) {
    throw OutputError(
        fmt::format("{}: cannot be written: it is a symbolic link to nothing", path_.string()));
  }
  if (std::filesystem::exists(path_, error)) {
    target_ = std::filesystem::canonical(path_, error);
    if (error) {
      fail(path_, error.value());
    }
    if (::access(target_.c_str(), W_OK) != 0) {
      fail(path_, errno);
    }
    direct_ = !std::filesystem::is_regular_file(target_, error);
  }
  if (!direct_) {
    const TemporaryFile probe(temporary_name(target_), kCreate);
    if (probe.fd() < 0) {
      fail(path_, errno);
    }
  }
}

void OutputFile::write(std::string_view text) const {
  if (direct_) {
    const int fd = ::open(target_.c_str(), O_WRONLY | O_CLOEXEC);
    if (fd < 0) {
      fail(path_, errno);
    }
    const bool written = write_all(fd, text);
    const int error = errno;
    if (::close(fd) != 0 && written) {
      fail(path_, errno);
    }
    if (!written) {
      fail(path_, error);
    }
    return;
  }
  TemporaryFile file(temporary_name(target_), kCreate);
  if (file.fd() < 0 || !write_all(file.fd(), text) || !file.close() || !file.rename_to(target_)) {
    fail(path_, errno);
  }
}

}  // namespace warpfold
