// SPDX-License-Identifier: Apache-2.0
// The rules of one kind that a GPU may have, by name. A rule is a plain struct with at least
// `name`, `source` and `description`, and how to make what follows it.
#pragma once

#include <algorithm>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace warpfold {

template <typename Rule>
class RuleList {
 public:
  // `kind`: what they are rules of, as a machine file calls it: "rules.admission".
  RuleList(std::string_view kind, std::vector<const Rule*> rules)
      : kind_(kind), rules_(std::move(rules)) {}

  // Throws std::invalid_argument with one line that lists the known ones.
  [[nodiscard]] const Rule& find(std::string_view name) const {
    const auto found = std::find_if(rules_.begin(), rules_.end(),
                                    [name](const Rule* rule) { return rule->name == name; });
    if (found == rules_.end()) {
      std::string known;
      for (const Rule* rule : rules_) {
        known += (known.empty() ? "" : ", ") + std::string(rule->name);
      }
      throw std::invalid_argument("unknown " + kind_ + " '" + std::string(name) + "': known are " +
                                  known);
    }
    return **found;
  }
  [[nodiscard]] const std::string& kind() const { return kind_; }
  [[nodiscard]] const std::vector<const Rule*>& all() const { return rules_; }

 private:
  std::string kind_;
  std::vector<const Rule*> rules_;
};

}  // namespace warpfold
