// SPDX-License-Identifier: Apache-2.0
// Files that appear whole or not at all: written into a temporary file beside the target, which
// then takes its name. What is no regular file (a pipe, a device), or is held open by somebody who
// is named by its descriptor (/dev/stdout, /dev/fd/3), is never replaced: it is written into. A
// symbolic link stays one, and a file that is replaced leaves its permissions to the new one.
#pragma once

#include <cstddef>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>

#include "traces/format/printable.hpp"

namespace warpfold::trace {

// A target that cannot be written: one clear line that begins with its path.
class FileError : public std::runtime_error {
 public:
  explicit FileError(std::string_view what) : std::runtime_error(printable(what)) {}
};

// What the name of an output leads to.
struct Destination {
  std::filesystem::path target;  // absolute, symbolic links followed; need not be there
  int descriptor = -1;           // of this process, if the name is that of one
  bool held_open = false;        // the name is that of a descriptor, of whatever process
};
Destination destination_of(const std::filesystem::path& path);

// Whether two names lead to one file, which need not be there.
bool same_file(const std::filesystem::path& a, const std::filesystem::path& b);

// A regular file that standard output or standard error goes to would be replaced under them.
bool is_standard_stream(const std::filesystem::path& path);

// A file that is to take the place of a target. It has no name until then where the file system can
// do that, so that nothing is left of a process that ends before, however it ends; elsewhere it has
// a temporary name beside the target.
class UnnamedFile {
 public:
  UnnamedFile() = default;
  ~UnnamedFile() { discard(); }
  UnnamedFile(const UnnamedFile&) = delete;
  UnnamedFile& operator=(const UnnamedFile&) = delete;

  // Open for writing. False, with errno, if it cannot be made.
  bool create(const std::filesystem::path& target);
  [[nodiscard]] bool is_open() const { return fd_ >= 0; }
  [[nodiscard]] int fd() const { return fd_; }
  // Closes it and gives it the target's name. False, with errno, if that failed: nothing is left
  // then.
  bool take_place();
  // Closes it; nothing is left.
  void discard();

 private:
  bool give_name();

  std::filesystem::path target_;
  std::filesystem::path name_;  // none yet if empty
  int fd_ = -1;
};

// Gives the open file the owner and permissions of another, as far as the process may. False, with
// errno, if it could not.
bool take_permissions(int fd, const std::filesystem::path& of);

class WholeFile {
 public:
  // Throws as the constructor would. Leaves nothing behind, and does not open a pipe, whose reader
  // would take that for its end.
  static void probe(const std::filesystem::path& path) { const WholeFile file(path, true); }
  // Opens the temporary file, or the pipe or device. Throws FileError if that is not possible.
  explicit WholeFile(const std::filesystem::path& path) : WholeFile(path, false) {}
  // Without commit() an existing target stays as it was and nothing is left behind.
  ~WholeFile();
  WholeFile(const WholeFile&) = delete;
  WholeFile& operator=(const WholeFile&) = delete;

  void write(std::string_view bytes);
  void write(const void* bytes, std::size_t size) {
    write({static_cast<const char*>(bytes), size});
  }
  // Gives the file its name. Call once, last.
  void commit();

 private:
  WholeFile(const std::filesystem::path& path, bool probe);
  [[noreturn]] void fail(int error) const;
  void check_descriptor(int descriptor) const;
  void open_directly(const Destination& destination);
  void open_beside();

  std::string shown_;             // the path as given, for messages
  std::filesystem::path target_;  // with symbolic links followed
  UnnamedFile beside_;
  int direct_ = -1;  // descriptor of what is written into as it is
};

// The whole text.
void write_whole(const std::filesystem::path& path, std::string_view text);

}  // namespace warpfold::trace
