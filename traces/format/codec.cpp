// SPDX-License-Identifier: Apache-2.0
#include "traces/format/codec.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <functional>
#include <iterator>
#include <queue>
#include <utility>

namespace warpfold::trace::codec {

using container::get_u32;
using container::kMaxCtaRecords;
using container::put_u32;

namespace {

constexpr std::uint32_t zigzag(std::uint32_t difference) {
  return (difference << 1U) ^ (0U - (difference >> 31U));
}

constexpr std::uint32_t unzigzag(std::uint32_t code) {
  return (code >> 1U) ^ (0U - (code & 1U));
}

void put_varint(Bytes& out, std::uint64_t value) {
  while (value >= 0x80) {
    out.push_back(static_cast<std::uint8_t>(value | 0x80U));
    value >>= 7U;
  }
  out.push_back(static_cast<std::uint8_t>(value));
}

void put_planes(Bytes& out, const std::vector<std::uint32_t>& words) {
  for (unsigned shift = 0; shift < 32; shift += 8) {
    for (const std::uint32_t word : words) {
      out.push_back(static_cast<std::uint8_t>(word >> shift));
    }
  }
}

// A warp is often two rows of 16 pixels, and a primitive a blob that spans several rows: each row
// is stored as its difference from the row above. `above` is the row above the warp, 0 if not
// known.
constexpr std::uint32_t fold_mask(std::uint32_t mask, std::uint32_t above) {
  const std::uint32_t upper = mask & 0xffffU;
  const std::uint32_t lower = mask >> 16U;
  return (upper ^ above) | ((lower ^ upper) << 16U);
}

constexpr std::uint32_t unfold_mask(std::uint32_t code, std::uint32_t above) {
  const std::uint32_t upper = (code & 0xffffU) ^ above;
  return upper | ((upper ^ (code >> 16U)) << 16U);
}

}  // namespace

Shape::Shape(const Header& header)
    : warps(header.warps_per_cta()),
      primitives(header.primitive_count),
      parameters(static_cast<std::uint32_t>(header.parameters.size())),
      paths(static_cast<std::uint32_t>(header.paths.size())),
      values(header.values == ValueMode::kFp32) {
  const std::uint32_t rest = header.block[0] * header.block[1] * header.block[2] % kWarpLanes;
  last_warp_lanes = rest == 0 ? 0xffffffffU : (1U << rest) - 1U;
}

std::vector<std::uint32_t> order_primitives(const CtaTrace& cta) {
  // Node: a primitive of a uniform event. Edge: two that follow each other in a warp.
  std::vector<std::uint32_t> nodes, others;
  for (const WarpTrace& warp : cta.warps) {
    for (const Record& record : warp.records) {
      if (record.kind != RecordKind::kEvent) {
        continue;
      }
      if (record.lane_primitives == Record::kUniform) {
        nodes.push_back(record.primitive);
        continue;
      }
      for (std::uint32_t lanes = record.mask; lanes != 0; lanes &= lanes - 1) {
        const auto lane = static_cast<std::size_t>(std::countr_zero(lanes));
        others.push_back(warp.lane_primitives[record.lane_primitives + lane]);
      }
    }
  }
  const auto sort_unique = [](std::vector<std::uint32_t>& list) {
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
  };
  sort_unique(nodes);
  sort_unique(others);

  struct Node {
    std::uint32_t waits_for = 0;
    std::uint32_t place = UINT32_MAX;  // earliest place in any warp: breaks ties
    bool listed = false;
    std::vector<std::uint32_t> next;
  };
  std::vector<Node> graph(nodes.size());
  for (const WarpTrace& warp : cta.warps) {
    std::uint32_t place = 0;
    std::uint32_t previous = UINT32_MAX;
    for (const Record& record : warp.records) {
      if (record.kind != RecordKind::kEvent || record.lane_primitives != Record::kUniform) {
        continue;
      }
      const auto node = static_cast<std::uint32_t>(
          std::lower_bound(nodes.begin(), nodes.end(), record.primitive) - nodes.begin());
      graph[node].place = std::min(graph[node].place, place++);
      if (previous != UINT32_MAX && previous != node) {
        graph[previous].next.push_back(node);
        ++graph[node].waits_for;
      }
      previous = node;
    }
  }

  // Topological order. A warp that comes back to a primitive makes a cycle: then the earliest node
  // that still waits is taken.
  using Entry = std::pair<std::uint32_t, std::uint32_t>;  // (place, node), least first
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> ready;
  std::vector<Entry> all;
  for (std::uint32_t i = 0; i < graph.size(); ++i) {
    all.emplace_back(graph[i].place, i);
    if (graph[i].waits_for == 0) {
      ready.emplace(graph[i].place, i);
    }
  }
  std::sort(all.begin(), all.end());
  std::vector<std::uint32_t> order;
  order.reserve(nodes.size() + others.size());
  std::size_t stuck = 0;
  while (order.size() < nodes.size()) {
    std::uint32_t node = 0;
    if (!ready.empty()) {
      node = ready.top().second;
      ready.pop();
    } else {
      while (graph[all[stuck].second].listed) {
        ++stuck;
      }
      node = all[stuck].second;
    }
    if (graph[node].listed) {
      continue;
    }
    graph[node].listed = true;
    order.push_back(nodes[node]);
    for (const std::uint32_t next : graph[node].next) {
      if (--graph[next].waits_for == 0 && !graph[next].listed) {
        ready.emplace(graph[next].place, next);
      }
    }
  }
  std::set_difference(others.begin(), others.end(), nodes.begin(), nodes.end(),
                      std::back_inserter(order));
  return order;
}

Encoder::Encoder(const Header& header) : shape_(header), columns_(kCounts + shape_.paths) {}

std::uint32_t Encoder::index_of(std::uint32_t primitive) const {
  return std::lower_bound(lookup_.begin(), lookup_.end(), std::pair{primitive, 0U})->second;
}

void Encoder::add(const CtaTrace& cta) {
  // Everything that order_primitives and add_warp rely on is checked first.
  if (cta.warps.size() != shape_.warps) {
    throw TraceError(fmt::format("CTA {}: {} warps, the header's block has {}", cta.cta,
                                 cta.warps.size(), shape_.warps));
  }
  std::uint64_t cta_records = 0;
  for (std::uint32_t w = 0; w < shape_.warps; ++w) {
    const WarpTrace& warp = cta.warps[w];
    cta_records += warp.records.size();
    for (std::size_t r = 0; r < warp.records.size(); ++r) {
      const Record& record = warp.records[r];
      const auto refuse = [&](std::string_view why) {
        throw TraceError(fmt::format("CTA {}, warp {}, record {}: {}", cta.cta, w, r, why));
      };
      switch (record.kind) {
        case RecordKind::kBarrier:
          break;
        case RecordKind::kWork:
          if (record.path >= shape_.paths) {
            refuse(fmt::format("path {}, the header has {}", record.path, shape_.paths));
          }
          break;
        case RecordKind::kEvent: {
          if (record.mask == 0) {
            refuse("event with mask 0");
          }
          if ((record.mask & ~shape_.lanes_of(w)) != 0) {
            refuse(
                fmt::format("mask {:#010x} has lanes that the block does not have", record.mask));
          }
          const auto check_primitive = [&](std::uint32_t primitive) {
            if (primitive >= shape_.primitives) {
              refuse(fmt::format("primitive {}, the header has {}", primitive, shape_.primitives));
            }
          };
          if (record.lane_primitives == Record::kUniform) {
            check_primitive(record.primitive);
          } else {
            if (std::uint64_t{record.lane_primitives} + kWarpLanes > warp.lane_primitives.size()) {
              refuse("lane_primitives lies outside the list of its warp");
            }
            for (std::uint32_t lanes = record.mask; lanes != 0; lanes &= lanes - 1) {
              const auto lane = static_cast<std::size_t>(std::countr_zero(lanes));
              check_primitive(warp.lane_primitives[record.lane_primitives + lane]);
            }
          }
          if (shape_.values) {
            const auto need =
                static_cast<std::uint64_t>(std::popcount(record.mask)) * shape_.parameters;
            if (record.values > warp.values.size() || need > warp.values.size() - record.values) {
              refuse(fmt::format("its {} values lie outside the list of its warp", need));
            }
          }
          break;
        }
        default:
          refuse(fmt::format("unknown kind {}", static_cast<unsigned>(record.kind)));
      }
    }
    if (!shape_.values && !warp.values.empty()) {
      throw TraceError(
          fmt::format("CTA {}, warp {}: values, but the header says none", cta.cta, w));
    }
  }
  if (cta_records > kMaxCtaRecords) {
    throw TraceError(
        fmt::format("CTA {}: {} records, at most {}", cta.cta, cta_records, kMaxCtaRecords));
  }

  const std::vector<std::uint32_t> order = order_primitives(cta);
  lookup_.clear();
  std::uint32_t previous = 0;
  for (std::uint32_t i = 0; i < order.size(); ++i) {
    dictionary_.push_back(zigzag(order[i] - previous));
    previous = order[i];
    lookup_.emplace_back(order[i], i);
  }
  std::sort(lookup_.begin(), lookup_.end());
  last_row_.assign(order.size(), 0);

  put_varint(columns_[kCtas], ctas_ == 0 ? 0 : cta.cta - last_cta_);
  put_varint(columns_[kCtas], order.size());
  if (ctas_ == 0) {
    first_cta_ = cta.cta;
  }
  last_cta_ = cta.cta;
  ++ctas_;
  for (const WarpTrace& warp : cta.warps) {
    add_warp(warp);
  }
}

void Encoder::add_warp(const WarpTrace& warp) {
  std::uint64_t count = 0;
  previous_index_ = UINT32_MAX;
  for (std::size_t r = 0; r < warp.records.size();) {
    const Record& record = warp.records[r];
    if (record.kind == RecordKind::kWork) {
      std::uint64_t passes = 0;
      while (r < warp.records.size() && warp.records[r].kind == RecordKind::kWork &&
             (warp.records[r].path == record.path || warp.records[r].count == 0) &&
             passes + warp.records[r].count <= UINT32_MAX) {
        passes += warp.records[r].count;
        ++r;
      }
      if (passes == 0) {
        continue;
      }
      put_varint(columns_[kOps], kOpWork + record.path);
      put_varint(columns_[kCounts + record.path], passes);
    } else {
      ++r;
      if (record.kind == RecordKind::kBarrier) {
        put_varint(columns_[kOps], kOpBarrier);
      } else {
        add_event(warp, record);
      }
    }
    ++count;
  }
  put_varint(columns_[kWarps], count);
  records_ += count;
}

void Encoder::add_event(const WarpTrace& warp, const Record& record) {
  ++events_;
  if (record.lane_primitives == Record::kUniform) {
    const std::uint32_t index = index_of(record.primitive);
    put_varint(columns_[kOps], kOpEvent);
    put_varint(columns_[kSteps], zigzag(index - previous_index_ - 1));
    masks_.push_back(fold_mask(record.mask, last_row_[index]));
    last_row_[index] = record.mask >> 16U;
    previous_index_ = index;
  } else {
    put_varint(columns_[kOps], kOpLaneEvent);
    masks_.push_back(fold_mask(record.mask, 0));
    for (std::uint32_t rest = record.mask; rest != 0; rest &= rest - 1) {
      const auto lane = static_cast<std::size_t>(std::countr_zero(rest));
      const std::uint32_t index = index_of(warp.lane_primitives[record.lane_primitives + lane]);
      put_varint(columns_[kLaneSteps], zigzag(index - previous_index_));
      previous_index_ = index;
    }
  }
  if (shape_.values) {
    const auto from = warp.values.begin() + static_cast<std::ptrdiff_t>(record.values);
    values_.insert(values_.end(), from,
                   from + static_cast<std::ptrdiff_t>(std::popcount(record.mask)) *
                              static_cast<std::ptrdiff_t>(shape_.parameters));
  }
}

std::size_t Encoder::raw_bytes() const {
  std::size_t total = 4 + 4 * columns_.size();
  for (const Bytes& column : columns_) {
    total += column.size();
  }
  return total + 4 * (dictionary_.size() + masks_.size() + values_.size());
}

Bytes Encoder::take() {
  put_planes(columns_[kDictionary], dictionary_);
  put_planes(columns_[kMasks], masks_);
  put_planes(columns_[kValues], values_);
  Bytes raw;
  put_u32(raw, static_cast<std::uint32_t>(columns_.size()));
  for (const Bytes& column : columns_) {
    put_u32(raw, static_cast<std::uint32_t>(column.size()));
  }
  for (Bytes& column : columns_) {
    raw.insert(raw.end(), column.begin(), column.end());
    column.clear();
  }
  dictionary_.clear();
  masks_.clear();
  values_.clear();
  ctas_ = records_ = events_ = first_cta_ = last_cta_ = 0;
  return raw;
}

Decoder::Decoder(const Header& header, Bytes raw, std::uint64_t first_cta, std::uint64_t cta_count)
    : shape_(header), raw_(std::move(raw)), cta_count_(cta_count) {
  const std::size_t columns = kCounts + shape_.paths;
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
    if ((c == kDictionary || c == kMasks || c == kValues) && bytes % 4 != 0) {
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
  start.at[kDictionary] = start.at[kMasks] = start.at[kValues] = 0;
  start.previous_cta = first_cta;
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
  while (true) {
    const std::size_t from = std::min(k, known_.size() - 1);
    Cursor cursor = known_[from];
    CtaTrace cta = decode(cursor);
    if (from + 1 == known_.size()) {
      known_.push_back(std::move(cursor));
    }
    if (from == k) {
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
  std::uint32_t index = UINT32_MAX;
  const std::uint32_t size = static_cast<std::uint32_t>(dictionary_.size());
  for (Record& record : warp.records) {
    const std::uint64_t op = varint(cursor, kOps);
    if (op == kOpBarrier) {
      record.kind = RecordKind::kBarrier;
      continue;
    }
    if (op >= kOpWork) {
      if (op - kOpWork >= shape_.paths) {
        throw TraceError(fmt::format("path {}, the header has {}", op - kOpWork, shape_.paths));
      }
      const std::uint64_t passes = varint(cursor, kCounts + (op - kOpWork));
      if (passes == 0 || passes > UINT32_MAX) {
        throw TraceError(fmt::format("work record of {} passes", passes));
      }
      record.kind = RecordKind::kWork;
      record.path = static_cast<std::uint16_t>(op - kOpWork);
      record.count = static_cast<std::uint32_t>(passes);
      continue;
    }
    record.kind = RecordKind::kEvent;
    ++cursor.totals.events;
    const std::uint32_t code = plane_word(kMasks, cursor.at[kMasks]++);
    const auto next_index = [&](std::size_t column, std::uint32_t offset) {
      const std::uint64_t step = varint(cursor, column);
      index += offset + unzigzag(static_cast<std::uint32_t>(step));
      if (step > UINT32_MAX || index >= size) {
        throw TraceError("an event's primitive lies outside the dictionary");
      }
      return index;
    };
    if (op == kOpEvent) {
      const std::uint32_t at = next_index(kSteps, 1);
      record.primitive = dictionary_[at];
      record.mask = unfold_mask(code, last_row_[at]);
      last_row_[at] = record.mask >> 16U;
    } else {
      record.mask = unfold_mask(code, 0);
      record.lane_primitives = static_cast<std::uint32_t>(warp.lane_primitives.size());
      warp.lane_primitives.resize(warp.lane_primitives.size() + kWarpLanes);
      for (std::uint32_t rest = record.mask; rest != 0; rest &= rest - 1) {
        const auto lane = static_cast<std::size_t>(std::countr_zero(rest));
        warp.lane_primitives[record.lane_primitives + lane] =
            dictionary_[next_index(kLaneSteps, 0)];
      }
    }
    if (record.mask == 0 || (record.mask & ~lanes) != 0) {
      throw TraceError(fmt::format("event with mask {:#010x}", record.mask));
    }
    if (shape_.values) {
      record.values = warp.values.size();
      const auto words = static_cast<std::size_t>(std::popcount(record.mask)) * shape_.parameters;
      std::size_t& at = cursor.at[kValues];
      if (words > (end_[kValues] - begin_[kValues]) / 4 - at) {
        throw TraceError(fmt::format("column {} ends too early", std::size_t{kValues}));
      }
      for (std::size_t i = 0; i < words; ++i) {
        warp.values.push_back(plane_word(kValues, at++));
      }
    }
  }
}

Decoder::Totals Decoder::finish() {
  while (known_.size() <= cta_count_) {
    static_cast<void>(read(known_.size() - 1));
  }
  const Cursor& last = known_[cta_count_];
  for (std::size_t c = 0; c < begin_.size(); ++c) {
    const bool planes = c == kDictionary || c == kMasks || c == kValues;
    const std::size_t end = planes ? (end_[c] - begin_[c]) / 4 : end_[c];
    if (last.at[c] != end) {
      throw TraceError(fmt::format("column {} holds more than its records need", c));
    }
  }
  return last.totals;
}

}  // namespace warpfold::trace::codec
