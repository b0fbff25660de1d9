// SPDX-License-Identifier: Apache-2.0
// The columns of a chunk to CTAs.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "traces/format/codec.hpp"

namespace warpfold::trace::codec {

using container::get_u32;
using container::kMaxCtaRecords;

namespace {

constexpr std::uint32_t unzigzag(std::uint32_t code) {
  return (code >> 1U) ^ (0U - (code & 1U));
}

constexpr std::uint64_t unzigzag_wide(std::uint64_t code) {
  return (code >> 1U) ^ (0U - (code & 1U));
}

constexpr std::uint32_t unfold_mask(std::uint32_t code, std::uint32_t above) {
  const std::uint32_t upper = (code & 0xffffU) ^ above;
  return upper | ((upper ^ (code >> 16U)) << 16U);
}

// A cursor takes 8 bytes for each path: with many, they are kept for a part of the CTAs alone.
constexpr std::size_t kPathsOfCursor = 256;
constexpr std::size_t kNowhere = SIZE_MAX;

}  // namespace

Decoder::Decoder(const Header& header, Bytes raw, std::uint64_t first_cta, std::uint64_t cta_count)
    : shape_(header),
      raw_(std::move(raw)),
      known_every_(1 + shape_.paths / kPathsOfCursor),
      cta_count_(cta_count) {
  const std::size_t columns = shape_.columns();
  const std::size_t directory = 4 + 4 * columns;
  if (raw_.size() < directory || get_u32(raw_.data()) != columns) {
    throw TraceError(fmt::format("does not have the {} columns that the header implies", columns));
  }
  std::size_t at = directory;
  for (std::size_t c = 0; c < columns; ++c) {
    const std::size_t bytes = get_u32(raw_.data() + 4 + 4 * c);
    if (bytes > raw_.size() - at) {
      throw TraceError(fmt::format("column {} runs past the end of the chunk", c));
    }
    if (is_planes(c) && bytes % 4 != 0) {
      throw TraceError(fmt::format("column {} does not consist of four planes", c));
    }
    begin_.push_back(at);
    at += bytes;
    end_.push_back(at);
  }
  if (at != raw_.size()) {
    throw TraceError(fmt::format("{} bytes behind its last column", raw_.size() - at));
  }
  Cursor start;
  start.at = begin_;
  // For planes: the index of the next word.
  for (std::size_t c = 0; c < columns; ++c) {
    start.at[c] = is_planes(c) ? 0 : start.at[c];
  }
  start.previous_cta = first_cta;
  next_ = start;
  known_.push_back(std::move(start));
}

// Numbers are mostly below 128: one byte.
inline std::uint64_t Decoder::varint(Cursor& cursor, std::size_t column) const {
  const std::size_t at = cursor.at[column];
  if (at < end_[column] && raw_[at] < 0x80) [[likely]] {
    ++cursor.at[column];
    return raw_[at];
  }
  return long_varint(cursor, column);
}

std::uint64_t Decoder::long_varint(Cursor& cursor, std::size_t column) const {
  std::size_t& at = cursor.at[column];
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    if (at == end_[column]) {
      throw TraceError(fmt::format("column {} ends too early", column));
    }
    const std::uint8_t byte = raw_[at++];
    value |= static_cast<std::uint64_t>(byte & 0x7fU) << shift;
    if (byte < 0x80) {
      return value;
    }
  }
  throw TraceError(fmt::format("column {} holds a number that is too long", column));
}

inline std::uint32_t Decoder::plane_word(std::size_t column, std::size_t i) const {
  const std::size_t words = (end_[column] - begin_[column]) / 4;
  if (i >= words) [[unlikely]] {
    throw TraceError(fmt::format("column {} ends too early", column));
  }
  const std::uint8_t* plane = raw_.data() + begin_[column] + i;
  return static_cast<std::uint32_t>(plane[0]) | static_cast<std::uint32_t>(plane[words]) << 8U |
         static_cast<std::uint32_t>(plane[2 * words]) << 16U |
         static_cast<std::uint32_t>(plane[3 * words]) << 24U;
}

CtaTrace Decoder::read(std::size_t k) {
  if (k < next_cta_ || next_cta_ == kNowhere) {
    const std::size_t from = std::min(k / known_every_, known_.size() - 1);
    next_ = known_[from];
    next_cta_ = from * known_every_;
  }
  while (true) {
    // Until it is through, the place is that of no CTA.
    const std::size_t at = std::exchange(next_cta_, kNowhere);
    CtaTrace cta = decode(next_);
    next_cta_ = at + 1;
    if (next_cta_ == known_.size() * known_every_) {
      known_.push_back(next_);
    }
    if (at == k) {
      return cta;
    }
  }
}

CtaTrace Decoder::decode(Cursor& cursor) {
  CtaTrace cta;
  cta.cta = cursor.previous_cta + varint(cursor, kCtas);
  cursor.previous_cta = cta.cta;
  const std::uint64_t size = varint(cursor, kCtas);
  if (size > (end_[kDictionary] - begin_[kDictionary]) / 4 - cursor.at[kDictionary]) {
    throw TraceError(
        fmt::format("CTA {}: a dictionary of {} primitives is not there", cta.cta, size));
  }
  dictionary_.resize(size);
  last_row_.assign(size, 0);
  std::uint32_t primitive = 0;
  for (std::uint32_t& entry : dictionary_) {
    primitive += unzigzag(plane_word(kDictionary, cursor.at[kDictionary]++));
    if (primitive >= shape_.primitives) {
      throw TraceError(fmt::format("CTA {}: primitive {}, the header has {}", cta.cta, primitive,
                                   shape_.primitives));
    }
    entry = primitive;
  }
  last_access_.assign(shape_.memory, {});
  sectors_ = 0;
  cta.warps.resize(shape_.warps);
  std::uint64_t records = 0;
  for (std::uint32_t w = 0; w < shape_.warps; ++w) {
    const std::uint64_t count = varint(cursor, kWarps);
    records += count;
    // Each record takes a byte of kOps or more.
    if (count > end_[kOps] - cursor.at[kOps] || records > kMaxCtaRecords) {
      throw TraceError(fmt::format("CTA {}, warp {}: {} records are not there", cta.cta, w, count));
    }
    try {
      decode_warp(cursor, shape_.lanes_of(w), count, cta.warps[w]);
    } catch (const TraceError& error) {
      throw TraceError(fmt::format("CTA {}, warp {}: {}", cta.cta, w, error.what()));
    }
  }
  cursor.totals.records += records;
  return cta;
}

void Decoder::decode_warp(Cursor& cursor, std::uint32_t lanes, std::uint64_t count,
                          WarpTrace& warp) {
  warp.records.resize(count);
  previous_index_ = UINT32_MAX;
  for (Record& record : warp.records) {
    const std::uint64_t op = varint(cursor, kOps);
    if (op < shape_.op_barrier) {
      decode_event(cursor, op, warp, record);
      if (record.mask == 0 || (record.mask & ~lanes) != 0) {
        throw TraceError(fmt::format("event with mask {:#010x}", record.mask));
      }
      if (shape_.values) {
        decode_values(
            cursor,
            static_cast<std::size_t>(std::popcount(record.mask)) * shape_.sites[record.site].words,
            warp, record);
      }
      continue;
    }
    if (op == shape_.op_barrier) {
      record.kind = RecordKind::kBarrier;
      continue;
    }
    if (op >= shape_.op_access && op - shape_.op_access < 3 * std::uint64_t{shape_.memory}) {
      decode_access(cursor, op - shape_.op_access, warp, record);
      if ((record.mask & ~lanes) != 0) {
        throw TraceError(fmt::format("access with mask {:#010x}", record.mask));
      }
      continue;
    }
    const std::uint64_t path = op - shape_.op_work;
    if (path >= shape_.paths) {
      throw TraceError(fmt::format("path {}, the header has {}", path, shape_.paths));
    }
    const std::uint64_t passes = varint(cursor, kCounts + path);
    if (passes == 0 || passes > UINT32_MAX) {
      throw TraceError(fmt::format("work record of {} passes", passes));
    }
    record.kind = RecordKind::kWork;
    record.path = static_cast<std::uint16_t>(path);
    record.count = static_cast<std::uint32_t>(passes);
  }
}

void Decoder::decode_event(Cursor& cursor, std::uint64_t op, WarpTrace& warp, Record& record) {
  record.kind = RecordKind::kEvent;
  record.site = static_cast<std::uint16_t>(op / 2);
  ++cursor.totals.events;
  const std::uint64_t primitives = shape_.sites[record.site].primitives;
  const std::uint32_t code = plane_word(kMasks, cursor.at[kMasks]++);
  const auto next_index = [&](std::size_t column, std::uint32_t offset) {
    const std::uint64_t step = varint(cursor, column);
    previous_index_ += offset + unzigzag(static_cast<std::uint32_t>(step));
    if (step > UINT32_MAX || previous_index_ >= dictionary_.size()) {
      throw TraceError("an event's primitive lies outside the dictionary");
    }
    if (dictionary_[previous_index_] >= primitives) {
      throw TraceError(fmt::format("primitive {}, site {} has {}", dictionary_[previous_index_],
                                   record.site, primitives));
    }
    return previous_index_;
  };
  if (op % 2 == 0) {
    const std::uint32_t at = next_index(kSteps, 1);
    record.primitive = dictionary_[at];
    record.mask = unfold_mask(code, last_row_[at]);
    last_row_[at] = record.mask >> 16U;
    return;
  }
  record.mask = unfold_mask(code, 0);
  record.lane_primitives = static_cast<std::uint32_t>(warp.lane_primitives.size());
  warp.lane_primitives.resize(warp.lane_primitives.size() + kWarpLanes);
  for (std::uint32_t rest = record.mask; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<std::size_t>(std::countr_zero(rest));
    warp.lane_primitives[record.lane_primitives + lane] = dictionary_[next_index(kLaneSteps, 0)];
  }
}

void Decoder::decode_values(Cursor& cursor, std::size_t words, WarpTrace& warp, Record& record) {
  record.values = warp.values.size();
  std::size_t& at = cursor.at[kValues];
  if (words > (end_[kValues] - begin_[kValues]) / 4 - at) {
    throw TraceError(fmt::format("column {} ends too early", std::size_t{kValues}));
  }
  for (std::size_t i = 0; i < words; ++i) {
    warp.values.push_back(plane_word(kValues, at++));
  }
}

void Decoder::decode_shape(Cursor& cursor, LastAccess& last) {
  const std::uint64_t before = last.sectors.empty() ? 0 : last.sectors[0];
  const std::size_t masks = shape_.column(kAccessMasks);
  last.mask = plane_word(masks, cursor.at[masks]++);
  const std::size_t shapes = shape_.column(kShapes);
  const std::uint64_t count = varint(cursor, shapes);
  if (count == 0 || count > static_cast<std::uint64_t>(std::popcount(last.mask))) {
    throw TraceError(
        fmt::format("access of {} sectors by {} lanes", count, std::popcount(last.mask)));
  }
  last.sectors.assign(count, before);
  for (std::size_t i = 1; i < count; ++i) {
    last.sectors[i] = last.sectors[i - 1] + unzigzag_wide(varint(cursor, shapes));
  }
}

void Decoder::decode_access(Cursor& cursor, std::uint64_t code, WarpTrace& warp, Record& record) {
  record.site = static_cast<std::uint16_t>(code / 3);
  if (code % 3 == 2) {
    record.kind = RecordKind::kWait;
    return;
  }
  record.kind = RecordKind::kAccess;
  LastAccess& last = last_access_[record.site];
  if (code % 3 == 1) {
    decode_shape(cursor, last);
  } else if (last.mask == 0) {
    throw TraceError("an access of the shape of one that is not there");
  }
  const std::uint64_t step = unzigzag_wide(varint(cursor, shape_.column(kFirstSectors)));
  for (std::uint64_t& sector : last.sectors) {
    sector += step;
  }
  check_sectors(last.sectors);
  record.mask = last.mask;
  record.count = static_cast<std::uint32_t>(last.sectors.size());
  record.values = warp.sectors.size();
  sectors_ += record.count;
  if (sectors_ > container::kMaxCtaSectors) {
    throw TraceError(fmt::format("more than {} sectors", container::kMaxCtaSectors));
  }
  warp.sectors.insert(warp.sectors.end(), last.sectors.begin(), last.sectors.end());
}

Decoder::Totals Decoder::finish() {
  if (cta_count_ > 0 && next_cta_ != cta_count_) {
    static_cast<void>(read(cta_count_ - 1));
  }
  const Cursor& last = next_;
  for (std::size_t c = 0; c < begin_.size(); ++c) {
    const bool planes = is_planes(c);
    const std::size_t end = planes ? (end_[c] - begin_[c]) / 4 : end_[c];
    if (last.at[c] != end) {
      throw TraceError(fmt::format("column {} holds more than its records need", c));
    }
  }
  return last.totals;
}

}  // namespace warpfold::trace::codec
