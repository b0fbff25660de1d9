// SPDX-License-Identifier: Apache-2.0
#include "tb/import/launch_text.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <lzma.h>
#include <zstd.h>

#include <algorithm>
#include <bit>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "traces/format/header_fields.hpp"
#include "traces/format/reader.hpp"

namespace warpfold::accelsim::test {

namespace fs = std::filesystem;

namespace {

std::string addresses_text(const Line& line) {
  if (line.addresses.empty()) {
    return "0";
  }
  const std::vector<std::uint64_t>& all = line.addresses;
  std::string text = fmt::format("4 {}", static_cast<int>(line.form));
  if (line.form == Form::kEach) {
    for (const std::uint64_t address : all) {
      text += fmt::format(" 0x{:016x}", address);
    }
    return text;
  }
  text += fmt::format(" 0x{:x}", all.front());
  if (line.form == Form::kStride) {
    return text +
           fmt::format(" {}", all.size() < 2 ? 0 : static_cast<std::int64_t>(all[1] - all[0]));
  }
  for (std::size_t i = 1; i < all.size(); ++i) {
    text += fmt::format(" {}", static_cast<std::int64_t>(all[i] - all[i - 1]));
  }
  return text;
}

}  // namespace

namespace {

std::string values_text(const Line& line) {
  // A value for the warp and one for each lane in turn.
  std::string text = "Val";
  const std::size_t count = line.sources.size() + (line.destination.empty() ? 0 : 1);
  for (std::size_t i = 0; i < count; ++i) {
    text += i % 2 == 0 ? " 1" : " 32";
    for (std::size_t lane = 0; lane < (i % 2 == 0 ? 1 : 32); ++lane) {
      text += fmt::format(" 0x{:x}", i + lane * 0x10000000ffU);
    }
  }
  return text;
}

std::string front_text(const Launch& launch) {
  std::string text = fmt::format("-kernel name = {}\n-kernel id = 1\n", launch.kernel);
  text += fmt::format("-grid dim = ({},{},{})\n", launch.grid[0], launch.grid[1], launch.grid[2]);
  text +=
      fmt::format("-block dim = ({},{},{})\n", launch.block[0], launch.block[1], launch.block[2]);
  text += "-shmem = 1024\n-nregs = 24\n-binary version = 86\n-cuda stream id = 0\n";
  text += fmt::format("-shmem base_addr = 0x{:016x}\n", kSharedWindow);
  text += "-local mem base_addr = 0x00007f2ace000000\n-nvbit version = 1.7\n";
  text += fmt::format("-accelsim tracer version = {}\n", launch.version);
  if (launch.version > 3) {
    text += fmt::format("-enable lineinfo = {}\n", launch.line_numbers ? 1 : 0);
  }
  return text + "\n#traces format = PC mask dest_num [reg_dests] opcode src_num [reg_srcs] ...\n\n";
}

std::string line_text(const Launch& launch, const Line& line) {
  std::string text = launch.version > 3 && launch.line_numbers ? "17 " : "";
  text += fmt::format("{:04x} {:08x} ", line.pc, line.mask);
  text += line.destination.empty() ? "0 " : fmt::format("1 {} ", line.destination);
  text += fmt::format("{} {} ", line.opcode, line.sources.size());
  for (const std::string& source : line.sources) {
    text += source + " ";
  }
  if (!line.behind.empty()) {
    return text + line.behind;
  }
  text += addresses_text(line) + " ";
  if (launch.version > 3 && launch.immediate) {
    text += launch.version > 5 ? "-1 0 " : "0 ";
  }
  if (launch.version > 5) {
    text += launch.values ? values_text(line) + " " : "NoVal ";
  }
  return text;
}

void put(std::string& out, std::uint64_t number, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; ++i) {
    out += static_cast<char>(number >> (8 * i));
  }
}

// "1,0,2".
std::vector<std::uint32_t> numbers_of(const std::string& text) {
  std::vector<std::uint32_t> numbers;
  std::istringstream in(text);
  for (std::string word; std::getline(in, word, ',');) {
    numbers.push_back(static_cast<std::uint32_t>(std::stoul(word)));
  }
  return numbers;
}

}  // namespace

std::string Launch::text() const {
  std::string text = front_text(*this);
  for (const auto& [place, warps] : blocks) {
    text += fmt::format("\n#BEGIN_TB\n\nthread block = {}\n", place);
    if (clusters) {
      text += "cluster id = 0,0,0\ncluster cta = 0,0,0\ncluster rank = 0\n";
    }
    for (std::size_t warp = 0; warp < warps.size(); ++warp) {
      text += fmt::format("\nwarp = {}\ninsts = {}\n", warp, warps[warp].size());
      for (const Line& line : warps[warp]) {
        text += line_text(*this, line) + "\n";
      }
    }
    text += "\n#END_TB\n";
  }
  return text;
}

std::string tracez_of(const Launch& launch, std::size_t frame, bool dictionary) {
  const std::string words = dictionary ? "ffffffff 0 RED.E.ADD.F32.FTZ.RN.STRONG.GPU 2 R2 R4" : "";
  std::string file = front_text(launch) + '\0';
  put(file, words.size(), 4);
  put(file, frame, 4);
  file += words;
  std::string index;
  put(index, launch.blocks.size(), 4);
  ZSTD_CCtx* const context = ZSTD_createCCtx();
  for (const auto& [place, warps] : launch.blocks) {
    for (const std::uint32_t number : numbers_of(place)) {
      put(index, number, 4);
    }
    for (int i = 0; i < 7; ++i) {  // of a cluster
      put(index, 0, 4);
    }
    put(index, warps.size(), 4);
    for (const WarpLines& lines : warps) {
      const std::size_t frames = (lines.size() + frame - 1) / frame;
      for (std::string* const out : {&index, &file}) {
        const std::uint64_t offset = file.size();
        put(*out, lines.size(), 4);
        put(*out, frames, 4);
        if (out == &index) {
          put(*out, offset, 8);
        }
      }
      for (std::size_t first = 0; first < lines.size(); first += frame) {
        const std::size_t end = std::min(first + frame, lines.size());
        std::string text;
        for (std::size_t i = first; i < end; ++i) {
          text += (i == first ? "" : "\n") + line_text(launch, lines[i]);
        }
        std::string packed(ZSTD_compressBound(text.size()), '\0');
        packed.resize(ZSTD_compress_usingDict(context, packed.data(), packed.size(), text.data(),
                                              text.size(), words.data(), words.size(), 3));
        put(index, end - first, 4);
        put(file, packed.size(), 4);
        file += packed;
      }
    }
  }
  ZSTD_freeCCtx(context);
  const std::uint64_t index_at = file.size();
  file += index;
  put(file, index_at, 8);
  return file;
}

Line red(std::uint32_t pc, std::vector<std::uint64_t> addresses, std::uint32_t mask,
         const std::string& opcode) {
  return {.pc = pc,
          .mask = mask,
          .destination = "",
          .opcode = opcode,
          .sources = {"R2", "R4"},
          .addresses = std::move(addresses)};
}

Line plain(std::uint32_t pc, const std::string& opcode, const std::string& destination,
           std::vector<std::string> sources) {
  return {.pc = pc,
          .mask = kAll,
          .destination = destination,
          .opcode = opcode,
          .sources = std::move(sources),
          .addresses = {}};
}

std::vector<std::uint64_t> at(std::uint64_t address, std::size_t lanes) {
  return std::vector<std::uint64_t>(lanes, address);
}

Launch launch_of(const WarpLines& lines) {
  Launch launch;
  launch.blocks = {{"0,0,0", {lines}}};
  return launch;
}

std::string xz_of(const std::string& text) {
  std::string packed(lzma_stream_buffer_bound(text.size()), '\0');
  std::size_t size = 0;
  if (lzma_easy_buffer_encode(1, LZMA_CHECK_CRC64, nullptr,
                              reinterpret_cast<const std::uint8_t*>(text.data()), text.size(),
                              reinterpret_cast<std::uint8_t*>(packed.data()), &size,
                              packed.size()) != LZMA_OK) {
    throw std::runtime_error("xz");
  }
  packed.resize(size);
  return packed;
}

std::string zstd_of(const std::string& text) {
  std::string packed(ZSTD_compressBound(text.size()), '\0');
  packed.resize(ZSTD_compress(packed.data(), packed.size(), text.data(), text.size(), 3));
  return packed;
}

void write_text(const fs::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

void read_back(const fs::path& path, Imported& into) {
  const trace::Reader reader(path);
  reader.verify();
  into.header = reader.header();
  into.ctas.clear();
  for (std::size_t i = 0; i < reader.cta_count(); ++i) {
    into.ctas.push_back(reader.read_cta(i));
  }
}

Imported imported(const std::string& text, const std::string& name, bool loads) {
  const TempFolder folder;
  write_text(folder / "kernelslist.g", name + "\n");
  write_text(folder / name, text);
  Imported result;
  std::ostringstream printed;
  result.outcome = import_accelsim(
      {.list = folder / "kernelslist.g",
       .out = folder / "out",
       .loads = loads,
       .complain = [&](const std::string& line) { result.complaints += line + "\n"; }},
      printed);
  result.printed = printed.str();
  if (result.outcome.traces > 0) {
    read_back(folder / "out/kernel-1.wft", result);
  } else {
    EXPECT_TRUE(fs::is_empty(folder / "out"));
  }
  const std::string prefix = folder.path().string() + "/";
  for (std::size_t at = 0; (at = result.complaints.find(prefix)) != std::string::npos;) {
    result.complaints.erase(at, prefix.size());
  }
  return result;
}

std::string refusal(const std::string& text, const std::string& name) {
  const Imported result = imported(text, name);
  EXPECT_EQ(result.outcome.refused, 1U) << "is taken:\n" << text;
  EXPECT_EQ(result.outcome.launches, 0U);
  EXPECT_EQ(result.printed, "");
  EXPECT_EQ(std::count(result.complaints.begin(), result.complaints.end(), '\n'), 1)
      << result.complaints;
  return result.complaints.substr(0, result.complaints.find('\n'));
}

std::vector<std::vector<std::uint64_t>> addresses_of(const trace::Header& header,
                                                     const trace::WarpTrace& warp,
                                                     const trace::Record& event) {
  std::vector<std::vector<std::uint64_t>> result;
  for (const trace::Parameter& parameter : header.sites.at(event.site).parameters) {
    std::vector<std::uint64_t>& lanes = result.emplace_back();
    for (std::uint32_t rest = event.mask; rest != 0; rest &= rest - 1) {
      const auto lane = static_cast<std::size_t>(std::countr_zero(rest));
      const std::uint32_t primitive = event.lane_primitives == trace::Record::kUniform
                                          ? event.primitive
                                          : warp.lane_primitives.at(event.lane_primitives + lane);
      lanes.push_back(parameter.base + std::uint64_t{primitive} * parameter.stride_bytes);
    }
  }
  return result;
}

std::vector<trace::Record> events_of(const trace::WarpTrace& warp) {
  std::vector<trace::Record> events;
  std::copy_if(warp.records.begin(), warp.records.end(), std::back_inserter(events),
               [](const trace::Record& r) { return r.kind == trace::RecordKind::kEvent; });
  return events;
}

trace::InstructionCost work_of(const Imported& trace) {
  trace::InstructionCost all;
  const auto& costs = trace.header.costs.begin()->second.at("baseline").paths;
  for (const trace::CtaTrace& cta : trace.ctas) {
    for (const trace::WarpTrace& warp : cta.warps) {
      for (const trace::Record& record : warp.records) {
        for (const trace::CostField& field : trace::kCostFields) {
          if (record.kind == trace::RecordKind::kWork) {
            all.*field.member += record.count * (costs.at(record.path).*field.member);
          }
        }
      }
    }
  }
  return all;
}

}  // namespace warpfold::accelsim::test
