// SPDX-License-Identifier: Apache-2.0
// A text file that is read line by line: plain, as xz or zstd packed it, or a .tracez. It may be a
// pipe, but for the last: it is read once and in order, and never held as a whole. Which of the
// four it is shows in its first bytes, whatever its name. Of a .tracez the lines are those that
// Accel-Sim's traceDsm prints.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "traces/format/progress.hpp"
#include "traces/format/trace.hpp"

namespace warpfold::accelsim {

// What is wrong with one file. Others of a list can be read nevertheless.
class FileError : public trace::TraceError {
 public:
  using TraceError::TraceError;
};

// What was packed, given out piece by piece.
class Unpacker {
 public:
  Unpacker() = default;
  Unpacker(const Unpacker&) = delete;
  Unpacker& operator=(const Unpacker&) = delete;
  virtual ~Unpacker() = default;
  // Takes packed bytes from the front of `in`, writes to `out` and returns how many it wrote. With
  // `last` there is nothing behind `in`. Throws std::runtime_error with what is wrong with them.
  virtual std::size_t unpack(std::string_view& in, char* out, std::size_t room, bool last) = 0;
};

class InputFile {
 public:
  // Throws FileError where it cannot be opened. `step` is asked now and then whether to go on, and
  // told how much of the file has been read, 0 of a pipe; trace::TraceError where it says no.
  explicit InputFile(const std::filesystem::path& path, trace::Step step = nullptr);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  // The next line without its end, up to the next call; false behind the last.
  bool next(std::string_view& line);
  // Number of the line that next() gave last, from 1 on.
  [[nodiscard]] std::uint64_t line() const { return line_; }
  [[nodiscard]] std::string name() const { return path_.string(); }
  // Throws FileError that names the file, and the line.
  [[noreturn]] void refuse(std::string_view why) const;
  [[noreturn]] void refuse_file(std::string_view why) const;

 private:
  void ask_step() const;
  void find_packing();
  bool fill();    // more packed bytes; false at the end of the file
  bool extend();  // more text behind what is there; false at its end

  std::filesystem::path path_;
  trace::Step step_;
  int fd_ = -1;
  std::uint64_t size_ = 0;  // 0: not known
  std::uint64_t taken_ = 0;
  std::unique_ptr<Unpacker> unpacker_;
  std::string packed_;
  std::string_view rest_;  // of packed_
  bool ended_ = false;     // no more packed bytes
  std::string text_;
  std::size_t begin_ = 0;  // of the next line in text_
  std::size_t end_ = 0;    // of the text in text_
  std::uint64_t line_ = 0;
};

}  // namespace warpfold::accelsim
