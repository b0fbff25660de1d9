// SPDX-License-Identifier: Apache-2.0
// Files that a program writes with <warpfold/record.cuh>, and the ring that the injected library
// sends: words of 32 bits, the end, and a text.
#include <nlohmann/json.hpp>

#include "tb/fuzz/fuzz.hpp"
#include "tb/record/ring_words.hpp"
#include "traces/format/reader.hpp"
#include "traces/record/header/warpfold/record_log.cuh"
#include "traces/record/host/header_log.hpp"
#include "traces/record/host/launch_tracker.hpp"

namespace warpfold::fuzz {

namespace {

using namespace warpfold::record;
using record::test::kAll;
using record::test::RingWords;

void read_log(std::string_view bytes) {
  const std::filesystem::path path = file("log.wfrec", bytes);
  const std::filesystem::path made = folder() / "log.wft";
  const bool taken = takes<trace::TraceError>(
      [&] {
        traces_of_logs({.files = {path}, .out = folder(), .workload = {}, .scene = {}},
                       nlohmann::json::object(), [](const std::string& line) { check_line(line); });
      },
      path);
  if (taken != std::filesystem::exists(made)) {
    finding(taken ? "no trace was made" : "a trace was made of what is refused");
  }
  if (taken) {
    try {
      trace::Reader(made).verify();
    } catch (const trace::TraceError& error) {
      finding(std::string("the trace that was made is refused: ") + error.what());
    }
    std::filesystem::remove(made);
  }
}

void follow(std::string_view bytes) {
  KernelCode code = record::test::straight_code(20);
  for (const std::size_t at : {5U, 6U, 8U}) {
    record::test::make_red(code, at);
  }
  record::test::make_red(code, 9, trace::ValueType::kF64, 2);
  code.instructions[8].block = 1;
  std::vector<std::uint32_t> words;
  for (Front front(bytes); !front.rest().empty();) {
    words.push_back(static_cast<std::uint32_t>(front.number(4)));
  }
  takes<trace::TraceError>([&] {
    LaunchTracker tracker(code, {.ctas = 4, .warps_per_cta = 2, .every = 2});
    tracker.add(words);
    tracker.finish();
  });
}

std::string log_of(const RingWords& ring, const nlohmann::json& text) {
  std::string bytes = layout::kMagic;
  bytes.resize(layout::kMagicBytes, '\n');
  for (const std::uint32_t word : ring.words()) {
    put_number(bytes, word, 4);
  }
  put_number(bytes, 0, 4);
  put_number(bytes, text.dump().size(), 4);
  put_number(bytes, ring.words().size(), 8);
  return bytes + text.dump();
}

}  // namespace

void run(std::string_view input) {
  Front front(input);
  if (front.number(1) % 2 == 0) {
    read_log(front.rest());
  } else {
    follow(front.rest());
  }
}

std::vector<std::string> seeds() {
  const nlohmann::json text = {{"kernel", "ns::adds<float>"},
                               {"launch", 3},
                               {"grid", {2, 1, 1}},
                               {"block", {20, 2, 1}},
                               {"registers", 24},
                               {"shared", 512},
                               {"arch", "sm_90"},
                               {"gpu", "a GPU"},
                               {"driver", "a driver"},
                               {"cuda", "13.0"},
                               {"every", 1},
                               {"sites", {{7, "colour"}}},
                               {"arrays", {{"sums", 0x1000, 0x100}}},
                               {"milliseconds", {3.0, 1.0, 2.0}}};
  RingWords log;
  for (std::uint32_t cta = 0; cta < 2; ++cta) {
    log.enter(kAll, cta).enter(0xffU, cta, 1);
    log.red(7U << 8U, kAll, {0x1000}, cta).red(7U << 8U, 0x5U, {0x1004, 0x101c}, cta);
    log.marker(Marker::kBarrier, 0, kAll, cta, 0, kWholeBarrier);
    log.marker(Marker::kBarrier, 0, 0xffU, cta, 1, kWholeBarrier);
    log.exit(0, kAll, cta).exit(0, 0xffU, cta, 1);
  }
  RingWords ring;
  ring.enter(kAll, 1).marker(Marker::kShared, 4, kAll, 1).red(5, 0xffU, {0x1000}, 1);
  ring.marker(Marker::kShared, 4, 0xff00U, 1).red(8, 0x3U, {0x2000, 0x2008}, 1);
  ring.marker(Marker::kBarrier, 12, kAll, 1, 0, kWholeBarrier).exit(13, kAll, 1);
  std::string words(1, '\1');
  for (const std::uint32_t word : ring.words()) {
    put_number(words, word, 4);
  }
  const std::string none(1, '\0');
  return {none + log_of(log, text), none + log_of(RingWords().enter().exit(0), text), words};
}

}  // namespace warpfold::fuzz
