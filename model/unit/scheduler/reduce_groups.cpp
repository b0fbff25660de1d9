// SPDX-License-Identifier: Apache-2.0
// While the memory path is congested, what can be summed is, even if there is room for it; else
// greedy. A unit that promises to send the same for the same request takes the path for congested
// at all times, and holds lanes back until no group can be among them.
#include "model/unit/arc_scheduler.hpp"

namespace warpfold {

namespace {
bool is_group(const SchedulerOffer& offer) {
  return lane_count(offer.lanes) > 1;
}
bool passes_on(const SchedulerOffer& offer) {
  if (offer.by_request) {
    return offer.scattered ? offer.all_lone : !is_group(offer);
  }
  return offer.scattered || !offer.congested || !is_group(offer);
}
bool reduces(const SchedulerOffer& offer) {
  return is_group(offer) || !(offer.congested || offer.by_request);
}
}  // namespace

extern const SchedulerRule reduce_groups_scheduler;
const SchedulerRule reduce_groups_scheduler{
    .name = "reduce-groups",
    .source = "rtl/README.md",
    .description =
        "Greedy, but while the memory path is congested, lanes that share an address go to the "
        "reduction unit and wait for it. The unit kind vector has this one and takes the path for "
        "congested at all times.",
    .passes_on = passes_on,
    .reduces = reduces,
    .watches_path = true};

}  // namespace warpfold
