// SPDX-License-Identifier: Apache-2.0
#include "tb/soak/soak_case.hpp"

#include <fmt/format.h>

#include "model/policy/policy.hpp"
#include "model/policy/rules.hpp"
#include "model/unit/arc_unit.hpp"
#include "tb/soak/random_machine.hpp"
#include "tb/soak/random_trace.hpp"
#include "traces/format/writer.hpp"

namespace warpfold::soak {

std::uint64_t Case::events() const {
  std::uint64_t events = 0;
  for (const trace::CtaTrace& cta : ctas) {
    for (const trace::WarpTrace& warp : cta.warps) {
      for (const trace::Record& record : warp.records) {
        events += record.kind == trace::RecordKind::kEvent ? 1 : 0;
      }
    }
  }
  return events;
}

void Case::write_trace(const std::filesystem::path& path) const {
  trace::Writer writer(path, header, {.zstd_level = 1});
  for (const trace::CtaTrace& cta : ctas) {
    writer.add(cta);
  }
  writer.finish();
}

Case random_case(std::uint64_t seed) {
  Random random(seed);
  Case one;
  const std::vector<std::string> gpus = gpu_names();
  one.gpu = random.of(gpus);
  const std::vector<PolicyInfo> policies = policy_infos();
  std::string policy = random.of(policies).pattern;
  if (const std::size_t colon = policy.find(':'); colon != std::string::npos) {
    policy = policy.substr(0, colon + 1) + std::to_string(random.below(33));
  }
  one.policy = policy;
  one.kind = random.of(unit_kinds());
  one.unit_divider = random.below(4) == 0 ? 1 + static_cast<std::uint32_t>(random.below(5)) : 1;
  RandomTrace made = random_trace(random);
  one.header = std::move(made.header);
  one.ctas = std::move(made.ctas);
  one.overrides = random_overrides(one.gpu, random);
  return one;
}

std::string command_of(const Case& one, const std::string& trace, const std::string& unit) {
  std::string command = fmt::format("warpfold sim {} --gpu {} --policy {} --unit {} --unit-kind {}",
                                    trace, one.gpu, one.policy, unit, unit_kind_name(one.kind));
  if (one.unit_divider != 1) {
    command += fmt::format(" --unit-divider {}", one.unit_divider);
  }
  for (const std::string& value : one.overrides) {
    command += " --set " + value;
  }
  return command;
}

}  // namespace warpfold::soak
