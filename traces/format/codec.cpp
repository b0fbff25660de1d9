// SPDX-License-Identifier: Apache-2.0
#include "traces/format/codec.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <functional>
#include <iterator>
#include <queue>
#include <span>
#include <utility>

namespace warpfold::trace::codec {

using container::kMaxCtaRecords;
using container::kMaxCtaSectors;
using container::put_u32;

namespace {

constexpr std::uint32_t zigzag(std::uint32_t difference) {
  return (difference << 1U) ^ (0U - (difference >> 31U));
}

// The same of 64 bits.
constexpr std::uint64_t zigzag_wide(std::uint64_t difference) {
  return (difference << 1U) ^ (0U - (difference >> 63U));
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

}  // namespace

void check_sectors(std::span<const std::uint64_t> sectors) {
  for (std::size_t i = 0; i < sectors.size(); ++i) {
    if (sectors[i] > UINT64_MAX / kSectorBytes) {
      throw TraceError(fmt::format("sector {:#x} lies beyond 64 bits", sectors[i]));
    }
    if (std::find(sectors.begin(), sectors.begin() + static_cast<std::ptrdiff_t>(i), sectors[i]) !=
        sectors.begin() + static_cast<std::ptrdiff_t>(i)) {
      throw TraceError(fmt::format("an access names sector {:#x} twice", sectors[i]));
    }
  }
}

Shape::Shape(const Header& header)
    : warps(header.warps_per_cta()),
      paths(static_cast<std::uint32_t>(header.paths.size())),
      values(header.values == ValueMode::kOperands),
      op_barrier(2 * header.sites.size()),
      op_work(op_barrier + 1),
      op_access(op_work + paths),
      memory(static_cast<std::uint32_t>(header.memory.size())) {
  const std::uint32_t rest = header.block[0] * header.block[1] * header.block[2] % kWarpLanes;
  last_warp_lanes = rest == 0 ? 0xffffffffU : (1U << rest) - 1U;
  for (const Site& site : header.sites) {
    const auto words = static_cast<std::uint32_t>(site.parameters.size()) * words_of(site.type);
    sites.push_back({.primitives = site.primitive_count, .words = values ? words : 0});
    primitives = std::max(primitives, site.primitive_count);
  }
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

Encoder::Encoder(const Header& header) : shape_(header), columns_(shape_.columns()) {}

std::uint32_t Encoder::index_of(std::uint32_t primitive) const {
  return std::lower_bound(lookup_.begin(), lookup_.end(), std::pair{primitive, 0U})->second;
}

// Everything that order_primitives and add_warp rely on.
void Encoder::check(const CtaTrace& cta) const {
  if (cta.warps.size() != shape_.warps) {
    throw TraceError(fmt::format("CTA {}: {} warps, the header's block has {}", cta.cta,
                                 cta.warps.size(), shape_.warps));
  }
  std::uint64_t cta_records = 0;
  std::uint64_t cta_sectors = 0;
  for (std::uint32_t w = 0; w < shape_.warps; ++w) {
    const WarpTrace& warp = cta.warps[w];
    cta_records += warp.records.size();
    for (std::size_t r = 0; r < warp.records.size(); ++r) {
      const Record& record = warp.records[r];
      try {
        if (record.kind == RecordKind::kEvent) {
          check_event(warp, record);
          if ((record.mask & ~shape_.lanes_of(w)) != 0) {
            throw TraceError(
                fmt::format("mask {:#010x} has lanes that the block does not have", record.mask));
          }
        } else if (record.kind == RecordKind::kAccess || record.kind == RecordKind::kWait) {
          check_access(warp, record);
          cta_sectors += record.kind == RecordKind::kAccess ? record.count : 0;
          if ((record.mask & ~shape_.lanes_of(w)) != 0) {
            throw TraceError(
                fmt::format("mask {:#010x} has lanes that the block does not have", record.mask));
          }
        } else if (record.kind == RecordKind::kWork) {
          if (record.path >= shape_.paths) {
            throw TraceError(fmt::format("path {}, the header has {}", record.path, shape_.paths));
          }
        } else if (record.kind != RecordKind::kBarrier) {
          throw TraceError(fmt::format("unknown kind {}", static_cast<unsigned>(record.kind)));
        }
      } catch (const TraceError& error) {
        throw TraceError(
            fmt::format("CTA {}, warp {}, record {}: {}", cta.cta, w, r, error.what()));
      }
    }
    if (!shape_.values && !warp.values.empty()) {
      throw TraceError(
          fmt::format("CTA {}, warp {}: values, but the header says none", cta.cta, w));
    }
  }
  if (cta_sectors > kMaxCtaSectors) {
    throw TraceError(
        fmt::format("CTA {}: {} sectors, at most {}", cta.cta, cta_sectors, kMaxCtaSectors));
  }
  if (cta_records > kMaxCtaRecords) {
    throw TraceError(
        fmt::format("CTA {}: {} records, at most {}", cta.cta, cta_records, kMaxCtaRecords));
  }
}

void Encoder::check_access(const WarpTrace& warp, const Record& record) const {
  if (record.site >= shape_.memory) {
    throw TraceError(
        fmt::format("memory instruction {}, the header has {}", record.site, shape_.memory));
  }
  if (record.kind == RecordKind::kWait) {
    return;
  }
  const auto lanes = static_cast<std::uint32_t>(std::popcount(record.mask));
  if (record.count == 0 || record.count > lanes) {
    throw TraceError(fmt::format("access of {} sectors by {} lanes", record.count, lanes));
  }
  if (record.values > warp.sectors.size() || record.count > warp.sectors.size() - record.values) {
    throw TraceError(fmt::format("its {} sectors lie outside the list of its warp", record.count));
  }
  check_sectors(std::span(warp.sectors).subspan(record.values, record.count));
}

void Encoder::check_event(const WarpTrace& warp, const Record& record) const {
  if (record.site >= shape_.sites.size()) {
    throw TraceError(fmt::format("site {}, the header has {}", record.site, shape_.sites.size()));
  }
  if (record.mask == 0) {
    throw TraceError("event with mask 0");
  }
  const Shape::OfSite& site = shape_.sites[record.site];
  const auto check_primitive = [&](std::uint32_t primitive) {
    if (primitive >= site.primitives) {
      throw TraceError(fmt::format("primitive {}, the header has {}", primitive, site.primitives));
    }
  };
  if (record.lane_primitives == Record::kUniform) {
    check_primitive(record.primitive);
  } else {
    if (std::uint64_t{record.lane_primitives} + kWarpLanes > warp.lane_primitives.size()) {
      throw TraceError("lane_primitives lies outside the list of its warp");
    }
    for (std::uint32_t lanes = record.mask; lanes != 0; lanes &= lanes - 1) {
      const auto lane = static_cast<std::size_t>(std::countr_zero(lanes));
      check_primitive(warp.lane_primitives[record.lane_primitives + lane]);
    }
  }
  if (shape_.values) {
    const auto need = static_cast<std::uint64_t>(std::popcount(record.mask)) * site.words;
    if (record.values > warp.values.size() || need > warp.values.size() - record.values) {
      throw TraceError(fmt::format("its {} values lie outside the list of its warp", need));
    }
  }
}

void Encoder::add(const CtaTrace& cta) {
  check(cta);
  last_access_.assign(shape_.memory, {});
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
      put_varint(columns_[kOps], shape_.op_work + record.path);
      put_varint(columns_[kCounts + record.path], passes);
    } else {
      ++r;
      if (record.kind == RecordKind::kBarrier) {
        put_varint(columns_[kOps], shape_.op_barrier);
      } else if (record.kind == RecordKind::kAccess) {
        add_access(warp, record);
      } else if (record.kind == RecordKind::kWait) {
        put_varint(columns_[kOps], shape_.op_access + 3 * std::uint64_t{record.site} + 2);
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
    put_varint(columns_[kOps], 2 * std::uint64_t{record.site});
    put_varint(columns_[kSteps], zigzag(index - previous_index_ - 1));
    masks_.push_back(fold_mask(record.mask, last_row_[index]));
    last_row_[index] = record.mask >> 16U;
    previous_index_ = index;
  } else {
    put_varint(columns_[kOps], 2 * std::uint64_t{record.site} + 1);
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
                              static_cast<std::ptrdiff_t>(shape_.sites[record.site].words));
  }
}

// Of the last one's shape where its lanes and the steps between its sectors are the same.
void Encoder::add_access(const WarpTrace& warp, const Record& record) {
  const std::span sectors = std::span(warp.sectors).subspan(record.values, record.count);
  LastAccess& last = last_access_[record.site];
  bool same = record.mask == last.mask && sectors.size() == last.sectors.size();
  for (std::size_t i = 1; same && i < sectors.size(); ++i) {
    same = sectors[i] - sectors[i - 1] == last.sectors[i] - last.sectors[i - 1];
  }
  put_varint(columns_[kOps], shape_.op_access + 3 * std::uint64_t{record.site} + (same ? 0 : 1));
  put_varint(columns_[shape_.column(kFirstSectors)],
             zigzag_wide(sectors[0] - (last.sectors.empty() ? 0 : last.sectors[0])));
  if (!same) {
    access_masks_.push_back(record.mask);
    Bytes& shapes = columns_[shape_.column(kShapes)];
    put_varint(shapes, sectors.size());
    for (std::size_t i = 1; i < sectors.size(); ++i) {
      put_varint(shapes, zigzag_wide(sectors[i] - sectors[i - 1]));
    }
  }
  last.mask = record.mask;
  last.sectors.assign(sectors.begin(), sectors.end());
}

std::size_t Encoder::raw_bytes() const {
  std::size_t total = 4 + 4 * columns_.size();
  for (const Bytes& column : columns_) {
    total += column.size();
  }
  return total + 4 * (dictionary_.size() + masks_.size() + values_.size() + access_masks_.size());
}

Bytes Encoder::take() {
  put_planes(columns_[kDictionary], dictionary_);
  put_planes(columns_[kMasks], masks_);
  put_planes(columns_[kValues], values_);
  if (shape_.memory > 0) {
    put_planes(columns_[shape_.column(kAccessMasks)], access_masks_);
  }
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
  access_masks_.clear();
  ctas_ = records_ = events_ = first_cta_ = last_cta_ = 0;
  return raw;
}

}  // namespace warpfold::trace::codec
