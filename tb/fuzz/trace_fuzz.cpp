// SPDX-License-Identifier: Apache-2.0
// A trace file, byte by byte. Most of its bytes are under checksums, so the input is read a second
// time with checksums that fit.
#include <algorithm>
#include <sstream>

#include "tb/fuzz/fuzz.hpp"
#include "tb/fuzz/made_trace.hpp"
#include "traces/format/commands.hpp"
#include "traces/format/container.hpp"
#include "traces/format/reader.hpp"
#include "traces/format/trace.hpp"

namespace warpfold::fuzz {

namespace {

using trace::TraceError;
namespace container = trace::container;

void store(std::string& bytes, std::size_t at, std::uint64_t value) {
  for (std::size_t i = 0; i < 8; ++i) {
    bytes[at + i] = static_cast<char>(value >> (8 * i));
  }
}

std::uint64_t hash(const std::string& bytes, std::size_t at, std::size_t count,
                   std::uint64_t seed) {
  return container::xxh64({reinterpret_cast<const std::uint8_t*>(bytes.data()) + at, count}, seed);
}

std::string with_checksums(std::string_view input) {
  std::string bytes(input);
  std::size_t at = container::kPreludeBytes;
  const auto number = [&](std::size_t place) {
    return container::get_u64(reinterpret_cast<const std::uint8_t*>(bytes.data()) + place);
  };
  while (at + container::kChunkHeadBytes + container::kTrailerBytes <= bytes.size()) {
    const std::uint64_t stored = number(at + 8);
    const std::size_t payload = at + container::kChunkHeadBytes;
    if (stored <= bytes.size() - payload) {
      store(bytes, at + 40, hash(bytes, payload, stored, 0));
    }
    store(bytes, at + 48, hash(bytes, at, 48, at));
    if (stored > bytes.size() - payload) {
      return bytes;
    }
    at = payload + stored;
  }
  if (at + container::kTrailerBytes <= bytes.size()) {
    store(bytes, at + 16, hash(bytes, at, 16, 0));
  }
  return bytes;
}

void read(const std::filesystem::path& path) {
  takes<TraceError>(
      [&] {
        const trace::Reader reader(path);
        reader.verify();
        if (reader.cta_count() > 1) {
          static_cast<void>(reader.read_cta(reader.cta_count() - 1));
          static_cast<void>(reader.read_cta(0));
        }
        std::ostringstream out;
        trace::trace_info({path}, true, out);
        trace::trace_dump(path, {.values = true}, out);
      },
      path);
  takes<TraceError>([&] { trace::Reader::of_version_3(path).verify(); }, path);
}

}  // namespace

void run(std::string_view input) {
  read(file("t.wft", input));
  read(file("t.wft", with_checksums(input)));
}

std::vector<std::string> seeds() {
  std::vector<std::string> all;
  for (const MadeTrace& made : made_traces()) {
    all.push_back(made.file);
  }
  all.push_back(all.front());
  all.back()[8] = 3;
  return all;
}

}  // namespace warpfold::fuzz
