// SPDX-License-Identifier: Apache-2.0
// Prints, cycle by cycle, what stands at the ports of the RTL unit of one kind while it reduces
// three requests against a full memory queue: the input of draw_waves.py.
//
//   unit_waves KIND

#include <cstdio>
#include <deque>
#include <stdexcept>
#include <string>

#include "model/unit/arc_unit.hpp"
#include "model/unit/lockstep.hpp"

namespace warpfold {
namespace {

constexpr int kQueueFullUntil = 14;  // cycles in which the memory queue has no room
constexpr std::size_t kWords = 3;    // of a request, where the unit takes several

void print_waves(UnitKind kind) {
  const auto unit = make_unit(UnitModel::kRtl, kind);
  std::deque<AtomredRequest> requests;
  for (const LaneMask mask : {0x000000ffU, 0x00000fffU, 0x00000005U}) {
    AtomredRequest request{.mask = mask, .addresses = {}, .values = {}, .more_words = {}};
    request.addresses.fill(0x1000 + 0x40 * requests.size());
    request.values.fill(0x3f800000);
    request.more_words.assign(unit->ports().max_words > 1 ? kWords - 1 : 0, request.values);
    requests.push_back(request);
  }
  const std::deque<AtomredRequest> operands = requests;

  std::puts(
      "cycle,request,req_ready,rf_valid,rf_lanes,rf_tag,lsu_room,lsu_valid,lsu_reduced,lsu_tag,"
      "busy,rf_word,lsu_word");
  UnitInputs in;
  in.rf_ready = true;
  for (int cycle = 0; cycle < 200; ++cycle) {
    in.req_valid = !requests.empty();
    if (in.req_valid) {
      in.req_mask = requests.front().mask;
      in.req_addr = requests.front().addresses;
      in.req_words = requests.front().words();
      in.req_tag = static_cast<Tag>(operands.size() - requests.size());
    }
    in.lsu_room = cycle >= kQueueFullUntil;
    const UnitOutputs out = unit->tick(in);
    std::printf("%d,%s,%d,%d,%08x,%d,%d,%d,%d,%d,%d,%u,%u\n", cycle,
                in.req_valid ? std::to_string(in.req_tag).c_str() : "", out.req_ready, out.rf_valid,
                out.rf_mask, out.rf_tag, in.lsu_room, out.lsu_valid, out.lsu_reduced, out.lsu_tag,
                out.busy, out.rf_word, out.lsu_word);
    if (out.rf_valid) {
      answer_read(in, kind, out.rf_mask, operands[out.rf_tag].operand(out.rf_word));
    }
    if (in.req_valid && out.req_ready) {
      requests.pop_front();
    }
    if (requests.empty() && !unit->busy()) {
      return;
    }
  }
  throw std::runtime_error("the unit does not come to an end");
}

}  // namespace
}  // namespace warpfold

int main(int argc, char** argv) {
  try {
    warpfold::print_waves(warpfold::parse_unit_kind(argc == 2 ? argv[1] : ""));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "unit_waves: %s\n", error.what());
    return 2;
  }
}
