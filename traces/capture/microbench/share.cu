// SPDX-License-Identifier: Apache-2.0
// How a slice of the L2 is shared by the SMs that add to it: operations that each gets through in
// the same time, whether warps that begin in step stay so, what additions to sectors at random
// take, in which order SMs get their turns, for how long a warp's RED sleeps, what loads between
// REDs wait for, and which SMs have one clock.
#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "traces/capture/microbench/benches.hpp"
#include "traces/capture/microbench/kernels_red.cuh"

namespace warpfold::microbench {
namespace {

constexpr int kRedsBetweenLooks = 6;

struct ShareCase {
  const char* name;
  std::uint32_t words;
  std::uint32_t apart;
  std::uint32_t lanes;
  int warps;  // of an SM
  std::uint64_t nanoseconds;
};
// 42 words lie in one slice; a dynibar warp adds to as many, with all its lanes.
constexpr ShareCase kCases[] = {{"share/address", 1, 0, 1, 32, 2'000'000},
                                {"share/words_in_step", 42, 0, 1, 32, 2'000'000},
                                {"share/words_apart", 42, 5, 1, 32, 2'000'000},
                                {"share/all_slices", 1U << 20U, 4099, 1, 32, 2'000'000},
                                {"share/words_in_step/lanes=32/warps=1", 42, 0, 32, 1, 8'000'000},
                                {"share/words_in_step/lanes=32/warps=4", 42, 0, 32, 4, 8'000'000},
                                {"share/words_in_step/lanes=32/warps=32", 42, 0, 32, 32, 8'000'000},
                                {"share/words_apart/lanes=32/warps=32", 42, 5, 32, 32, 8'000'000}};

// The first lanes of each warp add to one word after the other, of those in a row, from word
// warp * apart on, until the time is over. REDs of an SM are counted by quarters of the time;
// in the first the queues fill.
constexpr std::size_t kQuarters = 4;
__global__ void red_share(Probe probe, float* base, ShareCase one, float value,
                          unsigned long long* operations, int sms) {
  const int warp = enter(probe);
  if (warp < 0) {
    return;
  }
  Stopwatch watch;
  watch.start();
  const std::uint64_t begin = global_time();
  std::uint32_t word = static_cast<std::uint32_t>(warp) * one.apart % one.words;
  unsigned long long done = 0;
  for (std::size_t quarter = 0; quarter < kQuarters;) {
    const std::uint64_t now = __shfl_sync(~0U, global_time() - begin, 0);
    if (now * kQuarters >= one.nanoseconds * (quarter + 1)) {
      if (lane_id() == 0) {
        atomicAdd(operations + quarter * static_cast<std::size_t>(sms) + sm_id(), done);
      }
      done = 0;
      ++quarter;
      continue;
    }
#pragma unroll
    for (int i = 0; i < kRedsBetweenLooks; ++i) {
      if (lane_id() < one.lanes) {
        red_add(base + word, value);
      }
      word = word + 1 < one.words ? word + 1 : 0;
    }
    done += kRedsBetweenLooks;
  }
  watch.stop(probe, warp, false);
}

constexpr int kRandomReds = 4096;     // of an SM
constexpr std::uint32_t kPiece = 64;  // words in a row of a slice; of four pieces the first and
                                      // third are of one slice

// The first lane of each warp adds to one of so many sectors of a slice, another at random each
// time.
__global__ void red_random(Probe probe, float* base, std::uint32_t sectors, int reds, float value) {
  const int warp = enter(probe);
  if (warp < 0) {
    return;
  }
  Stopwatch watch;
  watch.start();
  std::uint32_t drawn = static_cast<std::uint32_t>(warp) * 104729U + 1;
  for (int i = 0; i < reds; ++i) {
    drawn = drawn * 1664525U + 1013904223U;
    const std::uint32_t word = (drawn >> 16U) % sectors * 8;
    if (lane_id() == 0) {
      red_add(base + word / kPiece * 2 * kPiece + word % kPiece, value);
    }
  }
  watch.stop(probe, warp, true);
}

constexpr int kFrames = 7;
constexpr int kWordsOfFrame = 6;

// Each warp goes through 42 words in a row once, with a look at nothing in between: what the motion
// trajectories of DynIBaR do to the L2, without their work.
__global__ void red_walk(float* base, float value) {
  if (lane_id() != 0) {
    return;
  }
#pragma unroll
  for (int frame = 0; frame < kFrames; ++frame) {
#pragma unroll
    for (int i = 0; i < kWordsOfFrame; ++i) {
      red_add(base + frame * kWordsOfFrame + i, value);
    }
  }
}

// The same walk; what lies between a warp's first two REDs, in SM cycles.
__global__ void red_sleep(float* base, float value, std::uint32_t* gaps) {
  if (lane_id() != 0) {
    return;
  }
  red_add(base, value);
  const std::uint64_t first = clock_now();
  red_add(base + 1, value);
  const std::uint64_t second = clock_now();
#pragma unroll
  for (int i = 2; i < kFrames * kWordsOfFrame; ++i) {
    red_add(base + i, value);
  }
  gaps[blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32] =
      static_cast<std::uint32_t>(second - first);
}

constexpr int kStampsOfFrame = 4;  // load issued, results there, first RED issued, last RED issued
constexpr int kStamps = kFrames * kStampsOfFrame;
constexpr int kBegin = kStamps;  // behind them: when the warp began, and its SM
constexpr int kSm = kBegin + 1;
constexpr int kStampsOfWarp = 32;

// The same walk, but before the REDs of each frame a warp loads a word for each lane, which comes
// from the L2 or DRAM, if `kLoads` is more than 1 also the words of its frame, which all warps
// load, and sums what it has by a butterfly of so many shuffles, one behind the other. What its
// lanes leave: lane n the clock at stamp n, then when the warp began, and its SM.
template <int kLoads, int kShuffles>
__global__ void red_frames(float* base, const float* own, const float* of_frame,
                           std::uint32_t* stamps) {
  const std::uint32_t thread = blockIdx.x * blockDim.x + threadIdx.x;
  const std::uint32_t threads = gridDim.x * blockDim.x;
  std::uint32_t mine = lane_id() == kBegin ? clock_low() : sm_id();
  std::uint32_t stamp = 0;
  const auto keep = [&](std::uint32_t clock) {
    mine = lane_id() == stamp ? clock : mine;
    ++stamp;
  };
#pragma unroll
  for (int frame = 0; frame < kFrames; ++frame) {
    const float loaded = __ldcg(own + std::size_t{threads} * frame + thread);
    const std::uint32_t issued = clock_low();
    keep(issued);
    // All that is loaded is 0. It is not waited for before that clock has been read.
    float sum = issued == 1 ? 1.0F : 0.0F;
    sum += loaded;
#pragma unroll
    for (int i = 1; i < kLoads; ++i) {
      sum += __ldca(of_frame + frame * kWordsOfFrame + i - 1);
    }
#pragma unroll
    for (int i = 0; i < kShuffles; ++i) {
      sum += __shfl_xor_sync(~0U, sum, 16 >> i);
    }
    keep(static_cast<std::uint32_t>(clock_after(__float_as_uint(sum))));
#pragma unroll
    for (int i = 0; i < kWordsOfFrame; ++i) {
      if (lane_id() == 0) {
        red_add(base + frame * kWordsOfFrame + i, sum);
      }
      if (i == 0 || i == kWordsOfFrame - 1) {
        keep(clock_low());
      }
    }
    __syncwarp();
  }
  stamps[std::size_t{thread / 32} * kStampsOfWarp + lane_id()] = mine;
}

// The clock of each SM, one CTA on each.
__global__ void sm_clocks(std::uint64_t* clocks) {
  if (threadIdx.x == 0) {
    clocks[sm_id()] = clock_now();
  }
}

constexpr int kAtomsOfWarp = 128;
constexpr int kAtomsAtOnce = 8;

// Every warp adds one to a counter; at what it found there it leaves the number of its SM. Integers
// are added in half the time of floats.
__global__ void atom_order(Probe probe, std::uint32_t* counter, std::uint8_t* sm_of_turn) {
  const int warp = enter(probe);
  if (warp < 0) {
    return;
  }
  Stopwatch watch;
  watch.start();
  if (lane_id() == 0) {
    for (int i = 0; i < kAtomsOfWarp; i += kAtomsAtOnce) {
      std::uint32_t turns[kAtomsAtOnce];
#pragma unroll
      for (std::uint32_t& turn : turns) {
        asm volatile("atom.global.add.u32 %0, [%1], 1;" : "=r"(turn) : "l"(counter) : "memory");
      }
#pragma unroll
      for (const std::uint32_t turn : turns) {
        sm_of_turn[turn] = static_cast<std::uint8_t>(sm_id());
      }
    }
  }
  watch.stop(probe, warp, true);
}

void random_sectors(Harness& harness, float* words) {
  constexpr int kWarps = 32;
  const Placement placement = harness.place(kWarps, true);
  for (const std::uint32_t sectors : {1U, 2U, 3U, 4U, 6U, 8U, 16U}) {
    const auto samples = harness.run(placement, [&](const Probe& probe, int grid, int block) {
      red_random<<<grid, block>>>(probe, words, sectors, kRandomReds / kWarps, 1.0F);
    });
    const double additions = static_cast<double>(harness.device().sms) * kRandomReds;
    Result result;
    result.group = "share";
    result.name = "share/random/sectors=" + std::to_string(sectors);
    result.parameters = {{"sectors", sectors}, {"warps", kWarps}};
    result.unit = "SM cycles/addition of the slice";
    result.value = summarize_member(samples, &Sample::drained_window, additions);
    result.grid = placement.grid;
    result.block = placement.block;
    harness.report().add(result);
  }
}

// Head of a result of `waves` times so many CTAs of `warps` on each SM.
Result head_of_crew(const char* name, int ctas, int warps, int waves, int grid) {
  Result result;
  result.group = "share";
  result.name = std::string("share/") + name + "/ctas=" + std::to_string(ctas) +
                "/warps=" + std::to_string(warps);
  result.parameters = {{"ctas_of_sm", ctas}, {"warps_of_cta", warps}, {"waves", waves}};
  result.grid = grid;
  result.block = warps * 32;
  return result;
}

// CTAs of `warps`, so many on an SM beside each other and 16 times as many in all.
void walk(Harness& harness, float* words, int ctas, int warps) {
  constexpr int kWaves = 16;
  const int grid = harness.device().sms * ctas * kWaves;
  const int each = shared_for_ctas(reinterpret_cast<const void*>(red_walk), ctas);
  const double additions = static_cast<double>(grid) * warps * kFrames * kWordsOfFrame;
  Events events;
  std::vector<double> nanoseconds;
  for (int i = -1; i < harness.repetitions(); ++i) {
    const double ms = events.time([&] { red_walk<<<grid, warps * 32, each>>>(words, 1.0F); });
    check_launch("red_walk");
    if (i >= 0) {
      nanoseconds.push_back(ms * 1e6 / additions);
    }
  }
  Result result = head_of_crew("walk", ctas, warps, kWaves, grid);
  result.unit = "ns/addition of the slice";
  result.value = summarize(nanoseconds);
  harness.report().add(result);
}

// Of the warps of all CTAs but the first of each place, which come where others' REDs fill the way.
void sleep(Harness& harness, float* words, int ctas, int warps) {
  constexpr int kWaves = 5;
  const int first = harness.device().sms * ctas;
  const int grid = first * kWaves;
  const int each = shared_for_ctas(reinterpret_cast<const void*>(red_sleep), ctas);
  const DeviceBuffer<std::uint32_t> gaps(static_cast<std::size_t>(grid) *
                                         static_cast<std::size_t>(warps));
  std::vector<double> medians;
  std::vector<double> last;
  for (int i = 0; i < harness.repetitions(); ++i) {
    red_sleep<<<grid, warps * 32, each>>>(words, 1.0F, gaps.data());
    check_launch("red_sleep");
    const auto cycles = gaps.to_host();
    last.assign(cycles.begin() + first * warps, cycles.end());
    std::sort(last.begin(), last.end());
    medians.push_back(last[last.size() / 2]);
  }
  Result result = head_of_crew("sleep", ctas, warps, kWaves, grid);
  result.unit = "SM cycles between the first two REDs of the median warp";
  result.value = summarize(medians);
  result.extra = {{"tenth", last[last.size() / 10]}, {"nine_tenths", last[last.size() / 10 * 9]}};
  harness.report().add(result);
}

// What lies between two clocks, in SM cycles, over all warps and frames that are looked at.
class Waits {
 public:
  void add(std::uint32_t begin, std::uint32_t end) {
    constexpr std::uint32_t kTick = 16384;
    waits_.push_back(end - begin);
    // The clock's high half does not matter to its multiples of a power of two.
    const std::uint32_t ticks = (begin % kTick + (end - begin)) / kTick;
    two_ticks_ += ticks == 2 ? 1 : 0;
    more_ticks_ += ticks > 2 ? 1 : 0;
    just_after_ += ticks == 2 && end % kTick < kTick / 4 ? 1 : 0;
  }
  // Five parts of them, and how many passed two multiples of 16,384 cycles or more; of the former,
  // how many ended in the quarter behind the second.
  [[nodiscard]] Json summary() {
    std::sort(waits_.begin(), waits_.end());
    const auto all = static_cast<double>(waits_.size());
    std::vector<double> parts;
    for (const double part : {0.05, 0.25, 0.5, 0.75, 0.95}) {
      parts.push_back(waits_[static_cast<std::size_t>(part * all)]);
    }
    return {{"cycles", parts},
            {"mean", std::accumulate(waits_.begin(), waits_.end(), 0.0) / all},
            {"two_ticks", two_ticks_ / all},
            {"more_ticks", more_ticks_ / all},
            {"just_after_second", two_ticks_ > 0 ? just_after_ / two_ticks_ : 0}};
  }

 private:
  std::vector<std::uint32_t> waits_;
  double two_ticks_ = 0;
  double more_ticks_ = 0;
  double just_after_ = 0;
};

// At times in the middle half of the launch: of the warps of an SM that are between their first and
// last frame, the part that are in the frame that most are in, on average.
double most_common_frame(const std::vector<std::uint32_t>& stamps, std::size_t sms) {
  constexpr std::uint32_t kTimes = 64;
  std::vector<std::vector<const std::uint32_t*>> warps_of(sms);
  for (std::size_t at = 0; at < stamps.size(); at += kStampsOfWarp) {
    warps_of[stamps[at + kSm]].push_back(&stamps[at]);
  }
  double parts = 0;
  double looks = 0;
  for (const auto& warps : warps_of) {
    // Clocks of one SM, from its first on.
    std::uint32_t first = warps.front()[kBegin];
    for (const std::uint32_t* warp : warps) {
      first = static_cast<std::int32_t>(warp[kBegin] - first) < 0 ? warp[kBegin] : first;
    }
    std::uint32_t span = 0;
    for (const std::uint32_t* warp : warps) {
      span = std::max(span, warp[kStamps - 1] - first);
    }
    for (std::uint32_t look = 0; look < kTimes; ++look) {
      const std::uint32_t time = span / 4 + span / 2 / kTimes * look;
      std::array<double, kFrames> in_frame{};
      double all = 0;
      for (const std::uint32_t* warp : warps) {
        int done = 0;
        while (done < kFrames && warp[(done + 1) * kStampsOfFrame - 1] - first < time) {
          ++done;
        }
        if (done > 0 && done < kFrames) {
          in_frame[static_cast<std::size_t>(done)] += 1;
          all += 1;
        }
      }
      if (all > 0) {
        parts += *std::max_element(in_frame.begin(), in_frame.end()) / all;
        looks += 1;
      }
    }
  }
  return parts / looks;
}

template <int kLoads, int kShuffles>
void frames(Harness& harness, float* words, int ctas, int warps) {
  constexpr int kWaves = 5;
  const auto kernel = red_frames<kLoads, kShuffles>;
  const int first = harness.device().sms * ctas;
  const int grid = first * kWaves;
  const int each = shared_for_ctas(reinterpret_cast<const void*>(kernel), ctas);
  const auto all_warps = static_cast<std::size_t>(grid) * static_cast<std::size_t>(warps);
  DeviceBuffer<float> own(all_warps * 32 * kFrames);
  DeviceBuffer<float> of_frame(kFrames * kWordsOfFrame);
  own.clear_async();
  of_frame.clear_async();
  const DeviceBuffer<std::uint32_t> stamps(all_warps * kStampsOfWarp);
  Events events;
  std::vector<double> nanoseconds;
  for (int i = -1; i < harness.repetitions(); ++i) {
    const double ms = events.time([&] {
      kernel<<<grid, warps * 32, each>>>(words, own.data(), of_frame.data(), stamps.data());
    });
    check_launch("red_frames");
    if (i >= 0) {
      nanoseconds.push_back(ms * 1e6 / static_cast<double>(all_warps * kFrames * kWordsOfFrame));
    }
  }
  // Of the last launch; of the first frame of a warp, and of the CTAs that find the way empty,
  // nothing.
  const auto clocks = stamps.to_host();
  Waits issue;
  Waits answer;
  Waits first_red;
  Waits reds;
  for (std::size_t warp = static_cast<std::size_t>(first) * static_cast<std::size_t>(warps);
       warp < all_warps; ++warp) {
    const std::uint32_t* const of_warp = &clocks[warp * kStampsOfWarp];
    for (int at = kStampsOfFrame; at < kStamps; at += kStampsOfFrame) {
      issue.add(of_warp[at - 1], of_warp[at]);
      answer.add(of_warp[at], of_warp[at + 1]);
      first_red.add(of_warp[at + 1], of_warp[at + 2]);
      reds.add(of_warp[at + 2], of_warp[at + 3]);
    }
  }
  Result result = head_of_crew("frames", ctas, warps, kWaves, grid);
  result.name += "/loads=" + std::to_string(kLoads) + "/shuffles=" + std::to_string(kShuffles);
  result.parameters["loads"] = kLoads;
  result.parameters["shuffles"] = kShuffles;
  result.unit = "ns/addition of the slice";
  result.value = summarize(nanoseconds);
  result.extra = {{"load_issued", issue.summary()},
                  {"results", answer.summary()},
                  {"first_red", first_red.summary()},
                  {"other_reds", reds.summary()},
                  {"most_common_frame",
                   most_common_frame(clocks, static_cast<std::size_t>(harness.device().sms))}};
  harness.report().add(result);
}

// SMs whose clocks are less than some microseconds apart; between the groups lie up to
// milliseconds.
void clocks(Harness& harness) {
  constexpr std::uint64_t kApart = 8192;
  const int sms = harness.device().sms;
  const DeviceBuffer<std::uint64_t> clocks(static_cast<std::size_t>(sms));
  const int each = shared_for_ctas(reinterpret_cast<const void*>(sm_clocks), 1);
  std::vector<double> groups;
  std::vector<double> starts;
  for (int i = 0; i < harness.repetitions(); ++i) {
    sm_clocks<<<sms, 32, each>>>(clocks.data());
    check_launch("sm_clocks");
    auto sorted = clocks.to_host();
    std::sort(sorted.begin(), sorted.end());
    starts.assign(1, 0);
    for (std::size_t sm = 1; sm < sorted.size(); ++sm) {
      if (sorted[sm] - sorted[sm - 1] > kApart) {
        starts.push_back(static_cast<double>(sorted[sm] - sorted[0]));
      }
    }
    groups.push_back(static_cast<double>(starts.size()));
  }
  Result result;
  result.group = "share";
  result.name = "share/clocks";
  result.unit = "groups of SMs with one clock";
  result.value = summarize(groups);
  result.grid = sms;
  result.block = 32;
  result.extra = {{"sms", sms}, {"cycles_after_first", starts}};
  harness.report().add(result);
}

// In the middle half of the turns at one counter: what lies between two of an SM.
void order(Harness& harness) {
  constexpr int kWarps = 32;
  const Placement placement = harness.place(kWarps, true);
  const auto sms = static_cast<std::size_t>(harness.device().sms);
  const std::size_t turns = sms * kWarps * kAtomsOfWarp;
  const DeviceBuffer<std::uint32_t> counter(1);
  const DeviceBuffer<std::uint8_t> sm_of_turn(turns);
  std::vector<double> deviations;
  double mean_gap = 0;
  for (int i = 0; i < harness.repetitions(); ++i) {
    // One launch in each run, the last of which is looked at.
    (void)harness.run(placement, 1, [&](const Probe& probe, int grid, int block) {
      counter.clear_async();
      atom_order<<<grid, block>>>(probe, counter.data(), sm_of_turn.data());
    });
    const auto order = sm_of_turn.to_host();
    std::vector<std::size_t> last(256, 0);
    double number = 0;
    double sum = 0;
    double squares = 0;
    for (std::size_t turn = turns / 4; turn < turns / 4 * 3; ++turn) {
      std::size_t& before = last[order[turn]];
      if (before != 0) {
        const auto gap = static_cast<double>(turn - before);
        number += 1;
        sum += gap;
        squares += gap * gap;
      }
      before = turn;
    }
    mean_gap = sum / number;
    deviations.push_back(std::sqrt(squares / number - mean_gap * mean_gap) / mean_gap);
  }
  Result result;
  result.group = "share";
  result.name = "share/order";
  result.parameters = {{"warps", kWarps}};
  result.unit = "standard deviation of the turns between two of an SM, over their mean";
  result.value = summarize(deviations);
  result.grid = placement.grid;
  result.block = placement.block;
  result.extra = {{"mean_gap", mean_gap}, {"sms", sms}};
  harness.report().add(result);
}

}  // namespace

void bench_share(Harness& harness) {
  DeviceBuffer<float> words(1U << 20U);
  words.clear_async();
  const auto sms = static_cast<std::size_t>(harness.device().sms);
  DeviceBuffer<unsigned long long> operations(kQuarters * sms);
  for (const ShareCase& one : kCases) {
    const Placement placement = harness.place(one.warps, true);
    std::vector<double> most;
    std::vector<double> nanoseconds;
    std::array<std::vector<double>, kQuarters> quarters;
    std::vector<double> by_sm;
    double mhz = 0;
    for (int i = 0; i < harness.repetitions(); ++i) {
      const auto samples = harness.run(placement, 1, [&](const Probe& probe, int grid, int block) {
        operations.clear_async();
        red_share<<<grid, block>>>(probe, words.data(), one, 1.0F, operations.data(),
                                   harness.device().sms);
      });
      mhz = samples.front().mhz;
      const auto counts = operations.to_host();
      by_sm.assign(sms, 0);
      const double time = static_cast<double>(one.nanoseconds) / one.lanes;
      for (std::size_t quarter = 0; quarter < kQuarters; ++quarter) {
        double in_quarter = 0;
        for (std::size_t sm = 0; sm < sms; ++sm) {
          const auto count = static_cast<double>(counts[quarter * sms + sm]);
          by_sm[sm] += count;
          in_quarter += count;
        }
        quarters[quarter].push_back(time / kQuarters / in_quarter);
      }
      const double all = std::accumulate(by_sm.begin(), by_sm.end(), 0.0);
      most.push_back(*std::max_element(by_sm.begin(), by_sm.end()) / summarize(by_sm).median);
      nanoseconds.push_back(time / all);
      for (double& count : by_sm) {
        count *= static_cast<double>(sms) / all;
      }
    }
    Result result;
    result.group = "share";
    result.name = one.name;
    result.parameters = {{"words", one.words},
                         {"warps_apart", one.apart},
                         {"lanes", one.lanes},
                         {"warps", one.warps}};
    result.unit = "REDs of the SM that issues most over those of the median SM";
    result.value = summarize(most);
    result.grid = placement.grid;
    result.block = placement.block;
    result.mhz = mhz;
    result.extra = {{"sms", sms},
                    {"nanoseconds_each", summarize(nanoseconds).median},
                    {"nanoseconds_each_by_quarter",
                     {summarize(quarters[0]).median, summarize(quarters[1]).median,
                      summarize(quarters[2]).median, summarize(quarters[3]).median}},
                    {"over_mean_by_sm", by_sm}};
    harness.report().add(result);
  }
  random_sectors(harness, words.data());
  for (const auto& [ctas, warps] : {std::pair(1, 4), std::pair(1, 12), std::pair(1, 32),
                                    std::pair(2, 12), std::pair(4, 12), std::pair(5, 12)}) {
    walk(harness, words.data(), ctas, warps);
  }
  for (const auto& [ctas, warps] : {std::pair(2, 12), std::pair(4, 12), std::pair(5, 12)}) {
    sleep(harness, words.data(), ctas, warps);
  }
  for (const int ctas : {1, 4, 5}) {
    frames<7, 0>(harness, words.data(), ctas, 12);
  }
  frames<1, 0>(harness, words.data(), 5, 12);
  frames<1, 5>(harness, words.data(), 5, 12);
  frames<7, 5>(harness, words.data(), 5, 12);
  clocks(harness);
  order(harness);
}

}  // namespace warpfold::microbench
