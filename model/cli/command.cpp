// SPDX-License-Identifier: Apache-2.0
#include "model/cli/command.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <iostream>
#include <regex>
#include <string_view>
#include <system_error>

namespace warpfold::cli {

void complain(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  std::cerr << "warpfold: " << trace::printable(text) << '\n';
}

std::string refuse_negative(const std::string& text) {
  return text.starts_with('-') ? fmt::format("is {}, must be 0 or more", text) : "";
}

std::string refuse_empty(const std::string& text) {
  return text.empty() ? "is empty" : "";
}

std::string refuse_no_launch(const std::string& text) {
  const bool is_number = !text.empty() && text.size() < 10 && text.front() != '0' &&
                         text.find_first_not_of("0123456789") == std::string::npos;
  return is_number || text == "all"
             ? ""
             : fmt::format("'{}' is neither a number from 1 on nor all", text);
}

std::string refuse_no_expression(const std::string& text) {
  try {
    const std::regex expression(text);
    return "";
  } catch (const std::regex_error& error) {
    return fmt::format("'{}' is no regular expression: {}", text, error.what());
  }
}

std::vector<std::string> split_list(const std::string& list) {
  std::vector<std::string> items;
  std::size_t begin = 0;
  for (std::size_t end = 0; end != std::string::npos; begin = end + 1) {
    end = list.find(',', begin);
    items.push_back(list.substr(begin, end == std::string::npos ? end : end - begin));
  }
  return items;
}

namespace {

// Whether the whole of `text` is a number, without a sign.
template <typename Number>
bool read_number(std::string_view text, Number& number) {
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  return error == std::errc() && rest == end;
}

}  // namespace

CycleRange parse_cycles(const std::string& option, const std::string& text, std::uint64_t most) {
  const std::size_t colon = std::min(text.find(':'), text.size());
  const std::string_view all = text;
  CycleRange range;
  if (!read_number(all.substr(0, colon), range.begin) || colon == text.size() ||
      !read_number(all.substr(colon + 1), range.end) || range.begin >= range.end) {
    throw UsageError(
        fmt::format("{} {}: must be A:B, two cycles of which A is the lower", option, text));
  }
  if (range.end - range.begin > most) {
    throw UsageError(fmt::format("{} {}: is more than {} cycles", option, text, most));
  }
  return range;
}

std::vector<std::uint32_t> parse_numbers(const std::string& option, const std::string& text) {
  std::vector<std::uint32_t> numbers;
  for (const std::string& item : split_list(text)) {
    std::uint32_t number = 0;
    if (!read_number(item, number)) {
      throw UsageError(fmt::format("{} {}: '{}' is no number", option, text, item));
    }
    if (std::find(numbers.begin(), numbers.end(), number) != numbers.end()) {
      throw UsageError(fmt::format("{} {}: {} is given twice", option, text, number));
    }
    numbers.push_back(number);
  }
  return numbers;
}

void refuse_input_as_output(const std::string& option, const std::string& output,
                            const std::vector<std::string>& inputs, const char* of) {
  for (const std::string& input : inputs) {
    std::error_code error;  // a built-in GPU is no file
    if (std::filesystem::equivalent(input, output, error)) {
      throw UsageError(fmt::format("{} {}: is an input of this {}", option, output, of));
    }
  }
}

std::vector<trace::Reader> open_traces(const std::vector<std::string>& paths) {
  std::vector<trace::Reader> readers;
  for (const std::string& path : paths) {
    readers.emplace_back(path);
    for (std::size_t i = 0; i + 1 < readers.size(); ++i) {
      if (std::filesystem::equivalent(paths[i], path)) {
        throw UsageError(paths[i] == path
                             ? fmt::format("{}: given twice", path)
                             : fmt::format("{}: the same trace as {}", path, paths[i]));
      }
    }
  }
  return readers;
}

}  // namespace warpfold::cli
