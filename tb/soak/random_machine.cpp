// SPDX-License-Identifier: Apache-2.0
#include "tb/soak/random_machine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <type_traits>

#include "model/machine/config_fields.hpp"

namespace warpfold::soak {

namespace {

// Ends of the range now and then, else of any size between them.
double between(Random& random, double low, double high) {
  switch (random.below(12)) {
    case 0:
      return low;
    case 1:
      return high;
    default: {
      const double from = std::max(low, high * 1e-9);
      return std::clamp(from * std::pow(high / from, random.fraction()), low, high);
    }
  }
}

// Machines on which the runs of a soak take hours.
double most_of(const std::string& key, double high) {
  if (key == "sm.count") {
    return 12;
  }
  return key == "lsu.sleep_cycles" ? 5000 : high;
}

// On which few traces fit.
double least_of(const std::string& key, double low) {
  return key == "sm.registers" || key == "sm.shared_bytes" ? 1U << 15U : low;
}

struct Draw {
  Random& random;
  std::vector<std::string>& values;

  template <typename T>
  void operator()(const char* section, const char* key, const T& /*member*/,
                  const Range<T>& range) const {
    const std::string name = std::string(section) + "." + key;
    const double high = most_of(name, static_cast<double>(range.max));
    const double value = between(random, least_of(name, static_cast<double>(range.min)), high);
    if constexpr (std::is_integral_v<T>) {
      auto whole = static_cast<std::uint64_t>(std::llround(value));
      if (random.below(2) == 0) {
        // Sizes are often these.
        whole = std::max<std::uint64_t>(std::bit_floor(whole), range.min);
      }
      values.push_back(fmt::format("{}={}", name, whole));
    } else {
      values.push_back(fmt::format("{}={:.6g}", name, std::clamp(value, range.min, range.max)));
    }
  }
  void operator()(const char* section, const char* key, const IssueOrder& /*member*/) const {
    values.push_back(fmt::format("{}.{}={}", section, key, random.below(2) == 0 ? "lrr" : "gto"));
  }
  void operator()(const char* section, const char* key, const RuleName& /*member*/) const {
    // The other rules: of the scheduler the RTL has one alone, and of the rest there is one.
    const auto one_of = [&](const char* first, const char* second) {
      values.push_back(
          fmt::format("{}.{}={}", section, key, random.below(2) == 0 ? first : second));
    };
    if (std::string(key) == "admission") {
      one_of("sleepers", "round-robin");
    } else if (std::string(key) == "red_wait") {
      one_of("own-reds", "go-on");
    } else if (std::string(key) == "packets") {
      one_of("flit-a-sector", "head-and-sectors");
    }
  }
  void operator()(const char* /*section*/, const char* /*key*/,
                  const std::string& /*member*/) const {}
};

}  // namespace

Overrides random_overrides(const std::string& gpu, Random& random) {
  GpuConfig base = load_gpu(gpu);
  std::vector<std::string> drawn;
  visit_config(base, Draw{random, drawn});
  std::shuffle(drawn.begin(), drawn.end(), random.engine());
  // Few, some or many of them; what does not go with the others is left out.
  const std::uint64_t share = std::uint64_t{1} << random.below(5);
  Overrides overrides{fmt::format("sm.count={}", 1 + random.below(6))};
  for (const std::string& value : drawn) {
    if (random.below(share) != 0) {
      continue;
    }
    overrides.push_back(value);
    try {
      load_gpu(gpu, overrides);
    } catch (const ConfigError&) {
      overrides.pop_back();
    }
  }
  if (load_gpu(gpu, overrides).lsu.sleep_cycles == 0) {
    overrides.emplace_back("rules.admission=round-robin");  // there is nothing to sleep for
  }
  return overrides;
}

}  // namespace warpfold::soak
