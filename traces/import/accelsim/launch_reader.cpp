// SPDX-License-Identifier: Apache-2.0
#include "traces/import/accelsim/launch_reader.hpp"

#include <fmt/format.h>

#include <stdexcept>

#include "traces/format/trace.hpp"
#include "traces/import/accelsim/fields.hpp"

namespace warpfold::accelsim {

namespace {

// What stands behind `key` and "="; nothing where the line is of another kind.
std::optional<std::string_view> value_of(std::string_view line, std::string_view key) {
  if (!line.starts_with(key)) {
    return std::nullopt;
  }
  line.remove_prefix(key.size());
  Words words(line);
  if (words.next() != "=") {
    return std::nullopt;
  }
  return words.next();
}

}  // namespace

void LaunchReader::read() {
  std::string_view line;
  while (file_.next(line)) {
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    if (!line.empty()) {
      take(line);
    }
  }
  if (place_ != Place::kOutside) {
    file_.refuse("ends within a thread block");
  }
  if (ctas_ == 0) {
    file_.refuse("has no thread block");
  }
}

void LaunchReader::take(std::string_view line) {
  if (line.front() == '#') {
    if (line.starts_with("#BEGIN_TB")) {
      begin_block();
    } else if (line.starts_with("#END_TB")) {
      end_block();
    } else {
      file_.refuse("begins with #, but is neither #BEGIN_TB nor #END_TB");
    }
  } else if (const auto block = value_of(line, "thread block")) {
    name_block(*block);
  } else if (line.starts_with("cluster ")) {
    check_cluster(line);
  } else if (const auto warp = value_of(line, "warp")) {
    begin_warp(*warp);
  } else if (const auto count = value_of(line, "insts")) {
    begin_instructions(*count);
  } else {
    take_instruction(line);
  }
}

void LaunchReader::begin_block() {
  if (place_ != Place::kOutside) {
    file_.refuse("a thread block begins before the one before it has ended");
  }
  place_ = Place::kBlock;
}

void LaunchReader::end_block() {
  if (place_ != Place::kWarps && place_ != Place::kInstructions) {
    file_.refuse("#END_TB where no thread block ends");
  }
  end_warp();
  place_ = Place::kOutside;
}

void LaunchReader::name_block(std::string_view value) {
  if (place_ != Place::kBlock) {
    file_.refuse("'thread block' that is not the first behind #BEGIN_TB");
  }
  std::uint32_t at[3] = {};
  std::string_view rest = value;
  for (std::size_t i = 0; i < 3; ++i) {
    const std::size_t end = i < 2 ? rest.find(',') : rest.size();
    if (end == std::string_view::npos || !read_number(rest.substr(0, end), at[i])) {
      file_.refuse(fmt::format("'{}' is not x,y,z of a thread block", value));
    }
    if (at[i] >= header_.grid[i]) {
      file_.refuse(fmt::format("thread block {} lies outside the grid", value));
    }
    rest.remove_prefix(i < 2 ? end + 1 : end);
  }
  const std::uint64_t cta =
      at[0] + std::uint64_t{header_.grid[0]} * (at[1] + std::uint64_t{header_.grid[1]} * at[2]);
  if (last_cta_ && cta <= *last_cta_) {
    file_.refuse(fmt::format(
        "thread block {} comes behind a later one: they must be in order, x fastest", value));
  }
  last_cta_ = cta;
  last_warp_.reset();
  ++ctas_;
  spill_.cta(cta);
  place_ = Place::kWarps;
}

// Where the thread block lies in a cluster, from version 6 on: a trace has no room for it.
void LaunchReader::check_cluster(std::string_view line) {
  const bool known = value_of(line, "cluster id") || value_of(line, "cluster cta") ||
                     value_of(line, "cluster rank");
  if (!known || place_ != Place::kWarps) {
    file_.refuse("'cluster' that is not id, cta or rank behind 'thread block'");
  }
}

void LaunchReader::begin_warp(std::string_view value) {
  if (place_ != Place::kWarps && place_ != Place::kInstructions) {
    file_.refuse("a warp outside a thread block");
  }
  end_warp();
  std::uint32_t warp = 0;
  if (!read_number(value, warp) || warp >= header_.warps_per_cta()) {
    file_.refuse(fmt::format("'{}' is not one of the {} warps of a thread block", value,
                             header_.warps_per_cta()));
  }
  if (last_warp_ && warp <= *last_warp_) {
    file_.refuse(fmt::format("warp {} comes behind warp {}", warp, *last_warp_));
  }
  last_warp_ = warp;
  warps_.begin(warp);
  place_ = Place::kWarp;
}

void LaunchReader::begin_instructions(std::string_view value) {
  if (place_ != Place::kWarp) {
    file_.refuse("'insts' that does not follow 'warp'");
  }
  if (!read_number(value, instructions_left_)) {
    file_.refuse(fmt::format("'{}' is not a number of instructions", value));
  }
  place_ = Place::kInstructions;
}

void LaunchReader::take_instruction(std::string_view line) {
  if (place_ == Place::kOutside) {
    file_.refuse(
        "an instruction outside a thread block: what the tracer writes is to be grouped by "
        "Accel-Sim's post-traces-processing");
  }
  if (place_ != Place::kInstructions) {
    file_.refuse("an instruction outside a warp");
  }
  if (instructions_left_ == 0) {
    file_.refuse("an instruction more than 'insts' says");
  }
  --instructions_left_;
  parser_.parse(line, issue_);
  try {
    warps_.issue(issue_);
  } catch (const trace::TraceError&) {
    throw;
  } catch (const std::runtime_error& error) {
    file_.refuse(error.what());
  }
}

void LaunchReader::end_warp() {
  if (place_ != Place::kInstructions) {
    return;
  }
  if (instructions_left_ > 0) {
    file_.refuse(
        fmt::format("warp {} ends {} instructions early", *last_warp_, instructions_left_));
  }
  warps_.end();
}

}  // namespace warpfold::accelsim
