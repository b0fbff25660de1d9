// SPDX-License-Identifier: Apache-2.0
#include "model/unit/trace_requests.hpp"

#include <algorithm>
#include <span>

namespace warpfold {
namespace {

// Turns events into requests, with checks of what indexes into the trace.
class EventRequests {
 public:
  EventRequests(const trace::Header& header, WordType type, const trace::CtaTrace& cta,
                std::uint32_t warp)
      : header_(header), type_(type), cta_(cta), warp_index_(warp), warp_(cta.warps[warp]) {}

  // Of `words` parameters from that one on, at its addresses.
  AtomredRequest make(const trace::Record& event, std::uint64_t event_index,
                      std::uint32_t parameter_index, std::uint32_t words) const {
    AtomredRequest request = make(event, event_index, parameter_index);
    for (std::uint32_t word = 1; word < words; ++word) {
      request.more_words.push_back(make(event, event_index, parameter_index + word).values);
    }
    return request;
  }

 private:
  AtomredRequest make(const trace::Record& event, std::uint64_t event_index,
                      std::uint32_t parameter_index) const {
    const trace::Parameter& parameter = header_.sites[event.site].parameters[parameter_index];
    AtomredRequest request;
    request.mask = event.mask;
    const bool uniform = event.lane_primitives == trace::Record::kUniform;
    std::span<const std::uint32_t> primitives;
    if (!uniform) {
      primitives = part(std::span(warp_.lane_primitives), event.lane_primitives, kLanes);
    }
    std::span<const std::uint32_t> values;
    if (header_.values == trace::ValueMode::kOperands) {
      const auto active = static_cast<std::uint64_t>(lane_count(event.mask));
      values = part(std::span(warp_.values), event.values + parameter_index * active, active);
    }
    std::size_t next_value = 0;
    for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
      // Lanes that are not active get an address too: it must not draw them into a transaction.
      const std::uint64_t primitive = uniform ? event.primitive : primitives[lane];
      request.addresses[lane] = (parameter.base + primitive * parameter.stride_bytes) & kAddrMask;
      if ((event.mask >> lane & 1) == 0) {
        continue;
      }
      request.values[lane] =
          values.empty() ? made_up(event_index, parameter_index, lane) : values[next_value++];
    }
    return request;
  }

  Fp32Bits made_up(std::uint64_t event, std::uint32_t parameter, std::uint32_t lane) const {
    const auto value = [&](std::uint32_t of_lane) {
      return synthetic_value(cta_.cta, warp_index_, event, parameter, of_lane);
    };
    return type_ == WordType::kHalves ? halves_after(value(lane), value(lane + kLanes))
                                      : value(lane);
  }

  static std::span<const std::uint32_t> part(std::span<const std::uint32_t> all,
                                             std::uint64_t first, std::uint64_t count) {
    if (first > all.size() || count > all.size() - first) {
      throw trace::TraceError("an event points outside its warp's lane primitives or values");
    }
    return all.subspan(first, count);
  }

  const trace::Header& header_;
  WordType type_;
  const trace::CtaTrace& cta_;
  std::uint32_t warp_index_;
  const trace::WarpTrace& warp_;
};

// One walk over a trace.
class Walk {
 public:
  Walk(const trace::Header& header, const RequestLimits& limits, const RequestVisitor& visitor)
      : header_(header), limits_(limits), visitor_(visitor) {}

  [[nodiscard]] bool ended() const { return ended_; }
  void cta(const trace::CtaTrace& cta) {
    for (std::uint32_t warp = 0; warp < cta.warps.size() && !stopped_; ++warp) {
      walk_warp(cta, warp);
    }
    if (visitor_.cta_done) {
      visitor_.cta_done();
    }
    ended_ = stopped_ || (limits_.events != 0 && events_ == limits_.events);
  }

 private:
  void walk_warp(const trace::CtaTrace& cta, std::uint32_t warp) {
    const EventRequests requests(header_, limits_.type, cta, warp);
    const trace::ValueType type =
        limits_.type == WordType::kHalves ? trace::ValueType::kF16x2 : trace::ValueType::kF32;
    std::uint64_t index = 0;
    for (const trace::Record& record : cta.warps[warp].records) {
      if (record.kind != trace::RecordKind::kEvent || header_.sites[record.site].type != type ||
          header_.sites[record.site].kind != trace::SiteKind::kRed) {
        continue;
      }
      const auto parameters =
          static_cast<std::uint32_t>(header_.sites[record.site].parameters.size());
      if (limits_.events != 0 && events_ == limits_.events) {
        return;
      }
      for (std::uint32_t parameter = 0; parameter < parameters; parameter += limits_.words) {
        const std::uint32_t words = std::min(limits_.words, parameters - parameter);
        if (!visitor_.request(
                requests.make(record, index, parameter, words),
                {.cta = cta.cta, .warp = warp, .event = index, .parameter = parameter})) {
          stopped_ = true;
          return;
        }
      }
      ++index;
      ++events_;
      if (visitor_.event_done) {
        visitor_.event_done();
      }
    }
  }

  const trace::Header& header_;
  const RequestLimits limits_;
  const RequestVisitor& visitor_;
  std::uint64_t events_ = 0;
  bool stopped_ = false;
  bool ended_ = false;
};

}  // namespace

void visit_requests(const trace::Reader& reader, const RequestLimits& limits,
                    const RequestVisitor& visitor) {
  Walk walk(reader.header(), limits, visitor);
  for (std::size_t i = 0; i < reader.cta_count() && !walk.ended(); ++i) {
    walk.cta(reader.read_cta(i));
  }
}

}  // namespace warpfold
