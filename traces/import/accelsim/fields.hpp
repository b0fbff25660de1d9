// SPDX-License-Identifier: Apache-2.0
// Words and numbers of a line.
#pragma once

#include <charconv>
#include <concepts>
#include <string_view>

namespace warpfold::accelsim {

// A number that is all of `text`; hexadecimal ones may begin with 0x.
template <std::integral Number>
[[nodiscard]] bool read_number(std::string_view text, Number& number, int base = 10) {
  if (base == 16 && text.starts_with("0x")) {
    text.remove_prefix(2);
  }
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  return error == std::errc() && end == text.data() + text.size();
}

// Words between blanks, from the front.
class Words {
 public:
  explicit Words(std::string_view line) : rest_(line) {}

  // Empty behind the last.
  std::string_view next() {
    const std::size_t begin = rest_.find_first_not_of(" \t");
    if (begin == std::string_view::npos) {
      rest_.remove_prefix(rest_.size());
      return {};
    }
    rest_.remove_prefix(begin);
    const std::string_view word = rest_.substr(0, rest_.find_first_of(" \t"));
    rest_.remove_prefix(word.size());
    return word;
  }
  // Where the next word is looked for.
  [[nodiscard]] const char* position() const { return rest_.data(); }

 private:
  std::string_view rest_;
};

}  // namespace warpfold::accelsim
