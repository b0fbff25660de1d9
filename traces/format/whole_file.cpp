// SPDX-License-Identifier: Apache-2.0
#include "traces/format/whole_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <system_error>
#include <utility>

#include "traces/format/signals_held.hpp"

namespace warpfold::trace {

namespace fs = std::filesystem;

namespace {

constexpr mode_t kNewMode = 0666;  // less the umask
constexpr int kMostLinks = 40;     // as Linux has it

// Beside the target, and not longer than a name may be.
fs::path temporary_name(const fs::path& target) {
  static std::atomic<unsigned> serial{0};
  const std::string end = fmt::format(".tmp-{}-{}", ::getpid(), serial++);
  constexpr std::size_t kMostOfName = 200;
  return target.parent_path() / (target.filename().string().substr(0, kMostOfName) + end);
}

std::string link_to(int descriptor) {
  return fmt::format("/proc/self/fd/{}", descriptor);
}

bool is_number(const std::string& text) {
  return !text.empty() && std::all_of(text.begin(), text.end(),
                                      [](unsigned char c) { return std::isdigit(c) != 0; });
}

// A folder of descriptors is /proc/PID/fd or /proc/PID/task/TID/fd. Returns PID, 0 for any other.
long process_of(const fs::path& folder) {
  const std::string text = folder.string();
  constexpr std::string_view kProc = "/proc/";
  if (!text.starts_with(kProc) || folder.filename() != "fd") {
    return 0;
  }
  const std::string pid = text.substr(kProc.size(), text.find('/', kProc.size()) - kProc.size());
  return is_number(pid) ? std::strtol(pid.c_str(), nullptr, 10) : 0;
}

bool stat_of(const Destination& destination, struct stat& status) {
  return destination.descriptor >= 0 ? ::fstat(destination.descriptor, &status) == 0
                                     : ::stat(destination.target.c_str(), &status) == 0;
}

}  // namespace

Destination destination_of(const fs::path& path) {
  std::error_code error;
  Destination out;
  out.target = fs::absolute(path, error);
  for (int links = 0; links < kMostLinks; ++links) {
    const fs::path name = out.target.filename();
    if (name.empty() || name == "." || name == "..") {
      out.target = fs::weakly_canonical(out.target, error);
      return out;
    }
    const fs::path folder = fs::weakly_canonical(out.target.parent_path(), error);
    if (error) {
      return out;
    }
    out.target = folder / name;
    if (const long pid = process_of(folder); pid != 0 && is_number(name.string())) {
      out.held_open = true;
      if (pid == ::getpid()) {
        const long descriptor = std::strtol(name.c_str(), nullptr, 10);
        out.descriptor = descriptor <= INT_MAX ? static_cast<int>(descriptor) : -1;
      }
      return out;
    }
    if (!fs::is_symlink(fs::symlink_status(out.target, error))) {
      return out;
    }
    const fs::path next = fs::read_symlink(out.target, error);
    if (error) {
      return out;
    }
    out.target = folder / next;
  }
  return out;
}

bool same_file(const fs::path& a, const fs::path& b) {
  const Destination of_a = destination_of(a);
  const Destination of_b = destination_of(b);
  struct stat status_a {};
  struct stat status_b {};
  if (stat_of(of_a, status_a) && stat_of(of_b, status_b)) {
    return status_a.st_dev == status_b.st_dev && status_a.st_ino == status_b.st_ino;
  }
  return of_a.target == of_b.target;
}

bool is_standard_stream(const fs::path& path) {
  const Destination destination = destination_of(path);
  struct stat status {};
  if (destination.held_open || !stat_of(destination, status) || !S_ISREG(status.st_mode)) {
    return false;
  }
  for (const int stream : {STDOUT_FILENO, STDERR_FILENO}) {
    struct stat other {};
    if (::fstat(stream, &other) == 0 && other.st_dev == status.st_dev &&
        other.st_ino == status.st_ino) {
      return true;
    }
  }
  return false;
}

bool take_permissions(int fd, const fs::path& of) {
  struct stat status {};
  if (::stat(of.c_str(), &status) != 0) {
    return errno == ENOENT;
  }
  // Of another's file the owner may not stay; what is special about its owner then goes.
  const bool owned = ::fchown(fd, status.st_uid, status.st_gid) == 0;
  return ::fchmod(fd, status.st_mode & (owned ? 07777U : 0777U)) == 0;
}

bool UnnamedFile::create(const fs::path& target) {
  target_ = target;
  name_.clear();
  if (::access("/proc/self/fd", X_OK) == 0) {
    fd_ = ::open(target.parent_path().c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, kNewMode);
  }
  if (fd_ < 0) {
    const SignalsHeld held;
    const fs::path name = temporary_name(target);
    fd_ = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, kNewMode);
    name_ = fd_ >= 0 ? name : fs::path();
  }
  return fd_ >= 0;
}

// A link cannot replace a file, so that it gets a temporary name first.
bool UnnamedFile::give_name() {
  const fs::path name = temporary_name(target_);
  if (::linkat(AT_FDCWD, link_to(fd_).c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) != 0) {
    return false;
  }
  name_ = name;
  return true;
}

bool UnnamedFile::take_place() {
  // Some file systems report a full disk only here.
  bool good = ::fsync(fd_) == 0 || errno == EINVAL;
  const SignalsHeld held;
  good = good && (!name_.empty() || give_name());
  good = good && ::close(std::exchange(fd_, -1)) == 0;
  good = good && ::rename(name_.c_str(), target_.c_str()) == 0;
  if (good) {
    name_.clear();
  }
  const int error = errno;
  discard();
  errno = error;
  return good;
}

void UnnamedFile::discard() {
  if (fd_ >= 0) {
    ::close(std::exchange(fd_, -1));
  }
  if (!name_.empty()) {
    ::unlink(name_.c_str());
    name_.clear();
  }
}

WholeFile::WholeFile(const fs::path& path, bool probe) : shown_(path.string()) {
  if (path.empty()) {
    fail(ENOENT);
  }
  const Destination destination = destination_of(path);
  target_ = destination.target;
  struct stat status {};
  if (!stat_of(destination, status)) {
    if (destination.held_open) {
      fail(errno);
    }
    std::error_code error;
    if (fs::is_symlink(fs::symlink_status(path, error))) {
      throw FileError(
          fmt::format("{}: cannot be written: it is a symbolic link to nothing", shown_));
    }
    open_beside();
    return;
  }
  if (S_ISDIR(status.st_mode)) {
    fail(EISDIR);
  }
  if (destination.held_open || !S_ISREG(status.st_mode)) {
    if (!probe) {
      open_directly(destination);
    } else if (destination.descriptor >= 0) {
      check_descriptor(destination.descriptor);
    } else if (::access(target_.c_str(), W_OK) != 0) {
      fail(errno);
    }
    return;
  }
  if (::access(target_.c_str(), W_OK) != 0) {
    fail(errno);
  }
  open_beside();
  if (!take_permissions(beside_.fd(), target_)) {
    const int error = errno;
    beside_.discard();
    fail(error);
  }
}

WholeFile::~WholeFile() {
  if (direct_ >= 0) {
    ::close(direct_);
  }
}

void WholeFile::fail(int error) const {
  throw FileError(fmt::format("{}: cannot be written: {}", shown_, std::strerror(error)));
}

void WholeFile::check_descriptor(int descriptor) const {
  const int flags = ::fcntl(descriptor, F_GETFL);
  if (flags < 0 || (flags & O_ACCMODE) == O_RDONLY) {
    fail(EBADF);
  }
}

// A descriptor of this process goes on where it is; another's file is written behind what it holds.
void WholeFile::open_directly(const Destination& destination) {
  if (destination.descriptor >= 0) {
    check_descriptor(destination.descriptor);
    direct_ = ::fcntl(destination.descriptor, F_DUPFD_CLOEXEC, 0);
  } else {
    direct_ = ::open(target_.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC | O_NOCTTY);
  }
  if (direct_ < 0) {
    fail(errno);
  }
}

void WholeFile::open_beside() {
  if (!beside_.create(target_)) {
    fail(errno);
  }
}

void WholeFile::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written =
        ::write(beside_.is_open() ? beside_.fd() : direct_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) {
      continue;
    }
    if (written <= 0) {
      fail(written < 0 ? errno : ENOSPC);
    }
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

void WholeFile::commit() {
  const bool good =
      beside_.is_open() ? beside_.take_place() : ::close(std::exchange(direct_, -1)) == 0;
  if (!good) {
    fail(errno);
  }
}

void write_whole(const fs::path& path, std::string_view text) {
  WholeFile file(path);
  file.write(text);
  file.commit();
}

}  // namespace warpfold::trace
