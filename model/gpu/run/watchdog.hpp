// SPDX-License-Identifier: Apache-2.0
// Ends a run in which nothing advances any more, and says who waits for what. Owned by the GPU.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "model/gpu/memory/l2_link.hpp"
#include "model/gpu/memory/l2_port.hpp"
#include "model/gpu/run/dispatcher.hpp"
#include "model/gpu/sm/sm.hpp"

namespace warpfold {

class Watchdog {
 public:
  static constexpr Cycle kInterval = Cycle{1} << 22U;  // in which something must happen

  Watchdog(const Dispatcher& dispatcher, const std::vector<std::unique_ptr<Sm>>& sms,
           const std::vector<std::unique_ptr<L2Port>>& ports,
           const std::vector<std::unique_ptr<L2Link>>& links)
      : dispatcher_(dispatcher), sms_(sms), ports_(ports), links_(links) {}

  // Before that cycle, every kInterval cycles. Throws CheckError where neither has anything been
  // done since the last call nor will be after a time that is known: warps that only look again and
  // again whether they may go on.
  void look(Cycle cycle);
  // Of each kind of block, the first that waits for something, and for what: ": sm0.lsu ...".
  [[nodiscard]] std::string who_waits() const;

 private:
  const Dispatcher& dispatcher_;
  const std::vector<std::unique_ptr<Sm>>& sms_;
  const std::vector<std::unique_ptr<L2Port>>& ports_;
  const std::vector<std::unique_ptr<L2Link>>& links_;
  std::uint64_t seen_ = ~std::uint64_t{0};  // what had been done when it was last looked at
};

}  // namespace warpfold
