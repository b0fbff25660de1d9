// SPDX-License-Identifier: Apache-2.0
// What can be summed is, whatever the memory path does; so what leaves does not depend on time.
#include "model/unit/arc_scheduler.hpp"

namespace warpfold {

namespace {
bool is_group(const SchedulerOffer& offer) {
  return lane_count(offer.lanes) > 1;
}
bool passes_on(const SchedulerOffer& offer) {
  return offer.scattered ? offer.all_lone : !is_group(offer);
}
}  // namespace

extern const SchedulerRule reduce_groups_scheduler;
const SchedulerRule reduce_groups_scheduler{
    .name = "reduce-groups",
    .source = "rtl/README.md",
    .description =
        "Lanes that share an address go to the reduction unit and wait for it; lanes that are "
        "alone on theirs go on together as plain REDs. That of the unit kind vector.",
    .passes_on = passes_on,
    .reduces = is_group};

}  // namespace warpfold
