// SPDX-License-Identifier: Apache-2.0
// What may go on does; the reduction unit gets what would stall.
#include "model/unit/arc_scheduler.hpp"

namespace warpfold {

namespace {
bool always_passes_on(const SchedulerOffer& /*offer*/) {
  return true;
}
}  // namespace

extern const SchedulerRule greedy_scheduler;
const SchedulerRule greedy_scheduler{
    .name = "greedy",
    .source = "ARC 5.1",
    .description =
        "While the memory path has room, transactions go on as plain REDs; while it is "
        "stalled they go to the reduction unit.",
    .passes_on = always_passes_on};

}  // namespace warpfold
