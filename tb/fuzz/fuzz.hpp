// SPDX-License-Identifier: Apache-2.0
// What the fuzz targets share. A target is a file that defines run() and seeds(); libFuzzer gives
// run() bytes, as somebody outside might. A reader answers bad input with its own exception, one
// line; anything else that comes out of it is a finding.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace warpfold::fuzz {

// Of a target: reads what somebody outside has written.
void run(std::string_view input);
// Of a target: sound input, made by the writers of this build, beside what tb/fuzz/seeds has.
std::vector<std::string> seeds();

// A folder of this process, in memory where there is such a place; what lies in it may be replaced
// at each run.
const std::filesystem::path& folder();
// Writes a file there.
std::filesystem::path file(const std::string& name, std::string_view content);
std::string content_of(const std::filesystem::path& path);

// Ends the program with what is wrong.
[[noreturn]] void finding(std::string_view what);

// One line, no more than a screen has, in front of which the path stands, where one is given.
void check_line(std::string_view line, const std::filesystem::path& path = {});

// Whether the reader takes the input: false if it says no in one line.
template <class Error, class Read>
bool takes(Read read, const std::filesystem::path& path = {}) {
  try {
    read();
    return true;
  } catch (const Error& error) {
    check_line(error.what(), path);
    return false;
  }
}

// Numbers from the front of the input, little endian; zeros behind its end.
class Front {
 public:
  explicit Front(std::string_view input) : rest_(input) {}
  std::uint64_t number(std::size_t bytes);
  std::string_view bytes(std::uint64_t count);
  [[nodiscard]] std::string_view rest() const { return rest_; }

 private:
  std::string_view rest_;
};

// The other way around, for seeds.
void put_number(std::string& out, std::uint64_t value, std::size_t bytes);

// A file of the repository, where this program was built.
std::string repository_file(const std::string& path);

}  // namespace warpfold::fuzz
