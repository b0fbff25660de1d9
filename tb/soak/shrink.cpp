// SPDX-License-Identifier: Apache-2.0
#include "tb/soak/shrink.hpp"

#include <algorithm>

namespace warpfold::soak {

namespace {

class Shrinking {
 public:
  Shrinking(Case& one, const std::function<bool(const Case&)>& fails, unsigned tries)
      : case_(one), fails_(fails), tries_(tries) {}

  void run() {
    for (bool smaller = true; smaller && tries_ > 0;) {
      smaller = ctas();
      smaller = parts(case_.overrides.size(),
                      [](Case& c, std::size_t begin, std::size_t end) {
                        c.overrides.erase(c.overrides.begin() + static_cast<std::ptrdiff_t>(begin),
                                          c.overrides.begin() + static_cast<std::ptrdiff_t>(end));
                        return true;
                      }) ||
                smaller;
      smaller = warps() || smaller;
      smaller = codes() || smaller;
    }
  }

 private:
  bool keeps(const Case& smaller) {
    if (tries_ == 0) {
      return false;
    }
    --tries_;
    if (!fails_(smaller)) {
      return false;
    }
    case_ = smaller;
    return true;
  }

  // Leaves out halves, quarters and so on of a list with so many entries. `erase` returns whether
  // it has changed anything.
  template <typename Erase>
  bool parts(std::size_t count, Erase erase) {
    bool smaller = false;
    for (std::size_t piece = std::max<std::size_t>(count / 2, 1); piece > 0 && count > 0;
         piece /= 2) {
      for (std::size_t begin = 0; begin < count;) {
        const std::size_t end = std::min(begin + piece, count);
        Case next = case_;
        if (erase(next, begin, end) && keeps(next)) {
          count -= end - begin;
          smaller = true;
        } else {
          begin = end;
        }
        if (tries_ == 0) {
          return smaller;
        }
      }
    }
    return smaller;
  }

  // The launch has all its CTAs, so they move up.
  bool ctas() {
    return parts(case_.ctas.size(), [](Case& c, std::size_t begin, std::size_t end) {
      if (c.ctas.size() == end - begin) {
        return false;
      }
      c.ctas.erase(c.ctas.begin() + static_cast<std::ptrdiff_t>(begin),
                   c.ctas.begin() + static_cast<std::ptrdiff_t>(end));
      for (std::size_t i = 0; i < c.ctas.size(); ++i) {
        c.ctas[i].cta = i;
      }
      c.header.grid[0] = static_cast<std::uint32_t>(c.ctas.size());
      c.header.total_ctas = c.ctas.size();
      return true;
    });
  }

  // Records but barriers, of which a CTA's warps have the same number; those too if all go.
  bool warps() {
    bool smaller = false;
    for (std::size_t c = 0; c < case_.ctas.size(); ++c) {
      for (std::size_t w = 0; w < case_.ctas[c].warps.size(); ++w) {
        smaller = parts(case_.ctas[c].warps[w].records.size(),
                        [c, w](Case& one, std::size_t begin, std::size_t end) {
                          return without(one.ctas[c].warps[w], begin, end);
                        }) ||
                  smaller;
      }
      Case next = case_;
      for (trace::WarpTrace& warp : next.ctas[c].warps) {
        std::erase_if(warp.records, [](const trace::Record& record) {
          return record.kind == trace::RecordKind::kBarrier;
        });
        merge(warp);
      }
      smaller = (next.ctas != case_.ctas && keeps(next)) || smaller;
    }
    return smaller;
  }

  static bool without(trace::WarpTrace& warp, std::size_t begin, std::size_t end) {
    std::vector<trace::Record> kept;
    for (std::size_t i = 0; i < warp.records.size(); ++i) {
      if (i < begin || i >= end || warp.records[i].kind == trace::RecordKind::kBarrier) {
        kept.push_back(warp.records[i]);
      }
    }
    const bool changed = kept.size() != warp.records.size();
    warp.records = kept;
    merge(warp);
    return changed;
  }

  // Work on one path twice in a row is one record; lane primitives and values lie without gaps.
  static void merge(trace::WarpTrace& warp) {
    trace::WarpTrace out;
    for (trace::Record record : warp.records) {
      if (record.kind == trace::RecordKind::kWork && !out.records.empty() &&
          out.records.back().kind == trace::RecordKind::kWork &&
          out.records.back().path == record.path) {
        continue;
      }
      if (record.lane_primitives != trace::Record::kUniform) {
        const auto from = warp.lane_primitives.begin() + record.lane_primitives;
        record.lane_primitives = static_cast<std::uint32_t>(out.lane_primitives.size());
        out.lane_primitives.insert(out.lane_primitives.end(), from, from + trace::kWarpLanes);
      }
      out.records.push_back(record);
    }
    out.values = warp.values;
    warp = out;
  }

  // No operands, no costs.
  bool codes() {
    bool smaller = false;
    Case next = case_;
    next.header.values = trace::ValueMode::kNone;
    for (trace::CtaTrace& cta : next.ctas) {
      for (trace::WarpTrace& warp : cta.warps) {
        warp.values.clear();
        for (trace::Record& record : warp.records) {
          record.values = 0;
        }
      }
    }
    smaller = next.header.values != case_.header.values && keeps(next);
    next = case_;
    for (auto& [arch, variants] : next.header.costs) {
      for (auto& [name, variant] : variants) {
        std::fill(variant.paths.begin(), variant.paths.end(), trace::InstructionCost{});
        for (auto& site : variant.reduce) {
          for (auto& [segment, cost] : site) {
            cost = {};
          }
        }
      }
    }
    return (next.header.costs != case_.header.costs && keeps(next)) || smaller;
  }

  Case& case_;
  const std::function<bool(const Case&)>& fails_;
  unsigned tries_;
};

}  // namespace

Case shrunk(Case one, const std::function<bool(const Case&)>& fails, unsigned tries) {
  Shrinking(one, fails, tries).run();
  return one;
}

}  // namespace warpfold::soak
