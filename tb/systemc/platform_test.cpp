// SPDX-License-Identifier: Apache-2.0
// The GPU as one component among others: launches at any time and one after the other, beside other
// modules, other GPUs and what goes wrong; its registers; and what it leaves alone.
#include "tb/systemc/platform.hpp"

#include <cstring>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "tb/lockstep/test_seed.hpp"
#include "tb/systemc/moody_memory.hpp"

namespace warpfold::systemc {
namespace {

using sc_core::sc_time;
constexpr auto kLoose = CodingStyle::kLooselyTimed;
constexpr auto kInStep = CodingStyle::kApproximatelyTimed;
const std::string kTrace = trace_path("lego-ballot-values");

GpuOptions small(CodingStyle style = kInStep) {
  GpuOptions options;
  options.machine = "rtx3060";
  options.style = style;
  return options;
}
GpuOptions with_l2(CodingStyle style = kInStep) {
  GpuOptions options = small(style);
  options.l2 = true;
  return options;
}

MemoryTiming fast() {
  MemoryTiming timing;
  timing.take = sc_time(100, sc_core::SC_PS);
  timing.latency = sc_time(40, sc_core::SC_NS);
  return timing;
}

// All sockets of GPUs behind checkers, a bus and one memory.
struct Platform {
  Memory memory;
  std::vector<std::unique_ptr<Checkers>> checkers;
  std::unique_ptr<Bus> bus;
  std::unique_ptr<ProtocolChecker> at_memory;

  Platform(const std::vector<GpuModule*>& gpus, const MemoryTiming& timing,
           const sc_time& hold = sc_time(100, sc_core::SC_PS))
      : memory("memory", timing) {
    std::vector<ProtocolChecker*> all;
    for (std::size_t g = 0; g < gpus.size(); ++g) {
      Sockets& sockets = gpus[g]->l2.size() > 0 ? gpus[g]->l2 : gpus[g]->memory;
      checkers.push_back(
          std::make_unique<Checkers>(("checker" + std::to_string(g)).c_str(), sockets, 128));
      for (std::size_t i = 0; i < sockets.size(); ++i) {
        all.push_back(&(*checkers.back())[i]);
      }
    }
    bus = std::make_unique<Bus>("bus", all.size(), hold);
    for (std::size_t i = 0; i < all.size(); ++i) {
      all[i]->out.bind(bus->in[i]);
    }
    at_memory = std::make_unique<ProtocolChecker>("at_memory");
    bus->out.bind(at_memory->in);
    at_memory->out.bind(memory.socket);
  }
  void check(bool used = true) const {
    for (const auto& each : checkers) {
      each->check(false);
    }
    ARC_CHECK(!used || at_memory->transactions() > 0, "nothing came by");
    ARC_CHECK(at_memory->faults().empty(), at_memory->faults().front());
    ARC_CHECK(at_memory->under_way() == 0, "not all ended at the memory");
  }
};

// Something else in the platform that has work to do.
struct Ticker : sc_core::sc_module {
  SC_HAS_PROCESS(Ticker);
  std::uint64_t ticks = 0;
  explicit Ticker(const sc_core::sc_module_name& name) : sc_module(name) { SC_THREAD(run); }
  void run() {
    for (; ticks < 1000; ++ticks) {
      wait(1, sc_core::SC_US);
    }
  }
};

RunResult alone() {
  return in_a_process([] {
    GpuModule gpu("gpu", small());
    gpu.launch(kTrace, "arc-hw");
    sc_core::sc_start();
    return gpu.run_result();
  });
}

TEST(Platform, GoesOnWhenALaunchIsOver) {
  run_in_a_process([] {
    GpuModule gpu("gpu", small());
    Ticker ticker("ticker");
    gpu.launch(kTrace, "arc-hw");
    sc_core::sc_start();
    ARC_CHECK(ticker.ticks == 1000, "the GPU has stopped others");
    ARC_CHECK(sc_core::sc_time_stamp() == sc_time(1, sc_core::SC_MS), "another time");
    ARC_CHECK(gpu.finished() && gpu.done->read() && !gpu.running->read(), "not done");
    ARC_CHECK(gpu.result().failure.empty() && gpu.result().sums_match, gpu.result().failure);
  });
}

TEST(Platform, HasAResultWhenALaunchIsOverAndNotBefore) {
  const RunResult own = alone();
  const RunResult looked_at = in_a_process([] {
    GpuModule gpu("gpu", small());
    gpu.launch(kTrace, "arc-hw");
    for (bool refused = false; !gpu.finished(); refused = false) {
      sc_core::sc_start(20, sc_core::SC_US);
      try {
        static_cast<void>(gpu.result());
      } catch (const std::logic_error&) {
        refused = true;
      }
      ARC_CHECK(refused != gpu.finished(), "a result at another time");
    }
    return gpu.run_result();
  });
  EXPECT_EQ(text(own), text(looked_at));
}

TEST(Platform, LaunchesAtAnyTimeAndOneAfterTheOther) {
  const RunResult own = alone();
  const RunResult third = in_a_process([&] {
    GpuModule gpu("gpu", small(kLoose));
    sc_core::sc_start(12345, sc_core::SC_PS);
    for (const char* policy : {"baseline", "lab", "arc-hw"}) {
      const sc_time begin = sc_core::sc_time_stamp();
      gpu.launch(kTrace, policy);
      sc_core::sc_start();
      ARC_CHECK(gpu.finished(), "not done");
      ARC_CHECK(sc_core::sc_time_stamp() - begin ==
                    gpu.period() * static_cast<double>(gpu.result().cycles),
                "done at another time than its cycles say");
    }
    return gpu.run_result();
  });
  EXPECT_EQ(text(own), text(third));
}

TEST(Platform, AddsToWhatAMemoryHolds) {
  for (const bool as_l2 : {false, true}) {
    run_in_a_process([&] {
      GpuOptions options = small();
      (as_l2 ? options.l2 : options.memory) = true;
      GpuModule gpu("gpu", options);
      Platform platform({&gpu}, fast());
      std::uint64_t cycles = 0;
      for (int i = 0; i < 2; ++i) {
        gpu.launch(kTrace, "baseline");
        sc_core::sc_start();
        ARC_CHECK(cycles == 0 || as_l2 || gpu.result().cycles == cycles, "another number");
        cycles = gpu.result().cycles;
      }
      platform.check(as_l2);
      check_memory(
          kTrace, [&](Address address) { return platform.memory.word(address); }, 2.0F);
    });
  }
}

TEST(Platform, LaunchesAgainAfterAReset) {
  const RunResult own = alone();
  const RunResult after_reset = in_a_process([] {
    GpuModule gpu("gpu", small());
    gpu.launch(kTrace, "baseline");
    sc_core::sc_start(7, sc_core::SC_US);
    try {
      gpu.launch(kTrace, "arc-hw");
      ARC_CHECK(false, "launched beside another");
    } catch (const std::runtime_error&) {
    }
    gpu.reset();
    sc_core::sc_start();
    ARC_CHECK(sc_core::sc_time_stamp() == sc_time(7, sc_core::SC_US), "it goes on");
    ARC_CHECK(gpu.status() == GpuStatus::kIdle && !gpu.running->read() && !gpu.done->read(),
              "not idle");
    gpu.launch(kTrace, "arc-hw");
    sc_core::sc_start();
    return gpu.run_result();
  });
  EXPECT_EQ(text(own), text(after_reset));
}

TEST(Platform, AResetEndsWhatIsUnderWayByTheProtocol) {
  for (const CodingStyle style : {kLoose, kInStep}) {
    run_in_a_process([&] {
      GpuModule gpu("gpu", with_l2(style));
      MemoryTiming timing = fast();
      timing.waits = true;
      const Platform platform({&gpu}, timing);
      gpu.launch(kTrace, "baseline");
      std::uint32_t under_way = 0;
      while (under_way == 0) {
        sc_core::sc_start(10, sc_core::SC_NS);
        under_way = gpu.under_way(0);
      }
      gpu.reset();
      gpu.launch(kTrace, "baseline");
      sc_core::sc_start();
      platform.check();
      ARC_CHECK(gpu.finished() && gpu.under_way(0) == 0, "not done");
    });
  }
}

RunResult of_two(const std::string& first, const std::string& second, double take_ns,
                 std::uint64_t* cycles_of_first) {
  std::uint64_t cycles = 0;
  const RunResult result = in_a_process([&] {
    GpuOptions options = small();
    options.memory = true;
    // So that lines are missed.
    options.overrides = {"l2.bytes=98304"};
    GpuModule a("a", options);
    options.base = std::uint64_t{1} << 50U;
    GpuModule b("b", options);
    MemoryTiming timing = fast();
    timing.take = sc_time(take_ns, sc_core::SC_NS);
    const Platform platform({&a, &b}, timing, sc_time(take_ns, sc_core::SC_NS));
    if (!first.empty()) {
      a.launch(kTrace, first);
    }
    if (!second.empty()) {
      b.launch(kTrace, second);
    }
    sc_core::sc_start();
    platform.check();
    if (!first.empty()) {
      check_memory(kTrace, [&](Address address) {
        return const_cast<Memory&>(platform.memory).word(address);
      });
    }
    if (second.empty()) {
      return a.run_result();
    }
    RunResult of_b = b.run_result();
    of_b.wall_seconds = static_cast<double>(first.empty() ? 0 : a.result().cycles);
    return of_b;
  });
  cycles = static_cast<std::uint64_t>(result.wall_seconds);
  if (cycles_of_first != nullptr) {
    *cycles_of_first = cycles;
  }
  return result;
}

TEST(Platform, TwoGpusAtOneMemoryTakeWhatEachTakesAloneWhereItIsFast) {
  const std::uint64_t a = of_two("baseline", "", 0, nullptr).cycles;
  const std::uint64_t b = of_two("", "arc-hw", 0, nullptr).cycles;
  std::uint64_t a_beside_b = 0;
  EXPECT_EQ(of_two("baseline", "arc-hw", 0, &a_beside_b).cycles, b);
  EXPECT_EQ(a_beside_b, a);
  const std::uint64_t slow_a = of_two("baseline", "", 40, nullptr).cycles;
  const std::uint64_t slow_b = of_two("", "arc-hw", 40, nullptr).cycles;
  EXPECT_GT(of_two("baseline", "arc-hw", 40, &a_beside_b).cycles, slow_b);
  EXPECT_GT(a_beside_b, slow_a);
  EXPECT_GT(slow_a, a);
  EXPECT_GT(slow_b, b);
}

TEST(Platform, TakesEveryWayOfAnsweringOfTheBaseProtocol) {
  const std::uint64_t seed = test_seed();
  {
    SCOPED_TRACE("seed " + std::to_string(seed));
    run_in_a_process([&] {
      GpuModule gpu("gpu", with_l2());
      Checkers checkers("checker", gpu.l2, 128);
      sc_core::sc_vector<MoodyMemory> memories(
          "memory", gpu.l2.size(), [&](const char* name, std::size_t i) {
            auto* const memory = new MoodyMemory(name, seed + i);
            checkers[i].out.bind(memory->socket);
            return memory;
          });
      gpu.launch(kTrace, "baseline");
      sc_core::sc_start();
      checkers.check();
      check_memory(kTrace, [&](Address address) {
        std::uint32_t word = 0;
        for (MoodyMemory& memory : memories) {
          word |= memory.word(address);
        }
        return word;
      });
      for (const std::uint64_t way : memories[0].ways) {
        ARC_CHECK(way > 0, "a way that was not tried");
      }
      ARC_CHECK(gpu.result().failure.empty(), gpu.result().failure);
    });
  }
}

TEST(Platform, LeavesTheQuantumAndReportsAlone) {
  run_in_a_process([] {
    const sc_time quantum(100, sc_core::SC_NS);
    tlm::tlm_global_quantum::instance().set(quantum);
    const auto actions = sc_core::sc_report_handler::set_actions("/OSCI/SystemC");
    GpuModule gpu("gpu", small(kLoose));
    gpu.launch(kTrace, "baseline");
    sc_time most;
    for (int i = 0; i < 1000; ++i) {
      sc_core::sc_start(37, sc_core::SC_NS);
      most = std::max(most, gpu.local_time());
      ARC_CHECK(gpu.local_time() <= quantum, "ahead of the quantum");
    }
    ARC_CHECK(most > sc_core::SC_ZERO_TIME, "never ahead");
    // One that is set later counts from then on.
    tlm::tlm_global_quantum::instance().set(sc_core::SC_ZERO_TIME);
    sc_core::sc_start(200, sc_core::SC_NS);
    for (int i = 0; i < 100; ++i) {
      sc_core::sc_start(37, sc_core::SC_NS);
      ARC_CHECK(gpu.local_time() < gpu.period(), "ahead without a quantum");
    }
    ARC_CHECK(sc_core::sc_report_handler::set_actions("/OSCI/SystemC") == actions,
              "other report actions");
  });
}

std::string refusal_of(const std::function<void()>& run) {
  const PoolOutcome outcome = outcome_of([&] {
    run();
    return RunResult{};
  });
  EXPECT_FALSE(outcome.result);
  return outcome.error;
}

TEST(Platform, RefusesAResolutionThatCannotHoldTheClock) {
  for (const double picoseconds : {1000, 10000, 10}) {
    const std::string error = refusal_of([&] {
      sc_core::sc_set_time_resolution(picoseconds, sc_core::SC_PS);
      const GpuModule gpu("gpu", small());
    });
    EXPECT_NE(error.find("/warpfold/gpu/resolution: gpu: SystemC's resolution of"),
              std::string::npos)
        << error;
  }
}

TEST(Platform, RefusesWhatCannotBe) {
  const auto find = [](const std::string& error, const char* text) {
    EXPECT_NE(error.find(text), std::string::npos) << error;
  };
  find(refusal_of([] {
         GpuOptions options = with_l2();
         options.memory = true;
         const GpuModule gpu("gpu", options);
       }),
       "/warpfold/gpu/options: gpu: an L2 that lies outside has no memory behind it to bind");
  find(refusal_of([] {
         GpuOptions options = small();
         options.machine = "gtx1080";
         const GpuModule gpu("gpu", options);
       }),
       "gtx1080");
  find(refusal_of([] {
         GpuOptions options = with_l2();
         options.bytes = 1U << 12U;
         GpuModule gpu("gpu", options);
         gpu.launch(kTrace, "baseline");
       }),
       "of the trace lie at the same addresses of a memory of 4096 bytes");
  find(refusal_of([] {
         GpuModule gpu("gpu", with_l2());
         gpu.launch(kTrace, "arc-merge-l2");
       }),
       "policy arc-merge-l2 merges in the ports of the L2, which lies outside");
  find(refusal_of([] {
         GpuModule gpu("gpu", small());
         gpu.launch("nowhere.wft", "baseline");
       }),
       "gpu: nowhere.wft: cannot open");
  find(refusal_of([] {
         GpuModule gpu("gpu", with_l2());
         gpu.launch(kTrace, "baseline");
         sc_core::sc_start();
       }),
       "port not bound: port 'gpu.l2_");
}

TEST(Platform, KeepsToItsWindowOfAddresses) {
  run_in_a_process([] {
    GpuOptions options = with_l2();
    options.base = std::uint64_t{1} << 40U;
    options.bytes = 1U << 30U;
    GpuModule gpu("gpu", options);
    Platform platform({&gpu}, fast());
    gpu.launch(kTrace, "baseline");
    sc_core::sc_start();
    ARC_CHECK(platform.memory.highest >= options.base &&
                  platform.memory.highest < options.base + options.bytes,
              "outside of its window");
    check_memory(kTrace, [&](Address address) {
      return platform.memory.word(options.base + address % options.bytes);
    });
  });
}

// Answers as it is told, from the hundredth transaction on.
struct Broken : sc_core::sc_module {
  tlm_utils::simple_target_socket<Broken> socket{"socket"};
  enum class How { kResponse, kNone, kThrow, kReport } how;
  int count = 0;
  Broken(const sc_core::sc_module_name& name, How what) : sc_module(name), how(what) {
    socket.register_b_transport(this, &Broken::transport);
    socket.register_nb_transport_fw(this, &Broken::forward);
  }
  void transport(tlm::tlm_generic_payload& payload, sc_time&) {
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
    if (++count < 100) {
      return;
    }
    switch (how) {
      case How::kResponse:
        payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
        break;
      case How::kNone:
        payload.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
        break;
      case How::kThrow:
        throw std::runtime_error("the target is broken");
      case How::kReport:
        SC_REPORT_ERROR("/somebody/else", "the target is broken");
    }
  }
  tlm::tlm_sync_enum forward(tlm::tlm_generic_payload& payload, tlm::tlm_phase&, sc_time& delay) {
    transport(payload, delay);
    return tlm::TLM_COMPLETED;
  }
};

TEST(Platform, SaysWhatATargetHasDoneWrong) {
  for (const CodingStyle style : {kLoose, kInStep}) {
    for (const auto& [how, wanted] :
         {std::pair(Broken::How::kResponse, "gpu.l2_0: TLM_ADDRESS_ERROR_RESPONSE to a "),
          std::pair(Broken::How::kNone, "gpu.l2_0: TLM_INCOMPLETE_RESPONSE to a "),
          std::pair(Broken::How::kThrow, "the target is broken"),
          std::pair(Broken::How::kReport, "/somebody/else: the target is broken")}) {
      const std::string error = refusal_of([&] {
        GpuModule gpu("gpu", with_l2(style));
        Broken broken("broken", how);
        sc_core::sc_vector<Memory> memories("memory", gpu.l2.size() - 1,
                                            [&](const char* name, std::size_t i) {
                                              auto* const memory = new Memory(name, fast());
                                              gpu.l2[i + 1].bind(memory->socket);
                                              return memory;
                                            });
        gpu.l2[0].bind(broken.socket);
        gpu.launch(kTrace, "baseline");
        sc_core::sc_start();
      });
      EXPECT_NE(error.find(wanted), std::string::npos) << error;
    }
  }
}

// A host by the registers alone.
struct Host : sc_core::sc_module {
  SC_HAS_PROCESS(Host);
  tlm_utils::simple_initiator_socket<Host> socket{"socket"};
  std::function<void(Host&)> program;
  Host(const sc_core::sc_module_name& name, std::function<void(Host&)> what)
      : sc_module(name), program(std::move(what)) {
    SC_THREAD(run);
  }
  void run() { program(*this); }
  tlm::tlm_response_status access(tlm::tlm_command command, std::uint64_t address, void* data,
                                  unsigned bytes, bool debug = false) {
    tlm::tlm_generic_payload payload;
    payload.set_command(command);
    payload.set_address(address);
    payload.set_data_ptr(static_cast<unsigned char*>(data));
    payload.set_data_length(bytes);
    payload.set_streaming_width(bytes);
    sc_time delay;
    if (debug) {
      return socket->transport_dbg(payload) == bytes ? tlm::TLM_OK_RESPONSE
                                                     : tlm::TLM_GENERIC_ERROR_RESPONSE;
    }
    socket->b_transport(payload, delay);
    wait(delay);
    return payload.get_response_status();
  }
  std::uint64_t read(GpuRegister which) {
    std::uint64_t value = 0;
    ARC_CHECK(access(tlm::TLM_READ_COMMAND, static_cast<std::uint64_t>(which), &value, 8) ==
                  tlm::TLM_OK_RESPONSE,
              "a register that cannot be read");
    return value;
  }
  tlm::tlm_response_status write(GpuRegister which, std::uint64_t value) {
    return access(tlm::TLM_WRITE_COMMAND, static_cast<std::uint64_t>(which), &value, 8);
  }
  void write_text(std::uint64_t address, std::string text) {
    ARC_CHECK(access(tlm::TLM_WRITE_COMMAND, address, text.data(),
                     static_cast<unsigned>(text.size() + 1)) == tlm::TLM_OK_RESPONSE,
              "text that cannot be written");
  }
  void launch(const std::string& trace, const std::string& policy) {
    write_text(kGpuText, trace);
    write_text(kGpuText + 1024, policy);
    write(GpuRegister::kTrace, kGpuText);
    write(GpuRegister::kPolicy, kGpuText + 1024);
    ARC_CHECK(write(GpuRegister::kControl, 1) == tlm::TLM_OK_RESPONSE, "no launch");
  }
};

TEST(Registers, LaunchTwiceAndReadWhatHasBeenAdded) {
  const RunResult own = alone();
  for (const bool outside : {false, true}) {
    run_in_a_process([&] {
      GpuOptions options = small(kLoose);
      options.memory = outside;
      GpuModule gpu("gpu", options);
      std::unique_ptr<Platform> platform;
      if (outside) {
        platform = std::make_unique<Platform>(std::vector<GpuModule*>{&gpu}, fast());
      }
      bool ended = false;
      Host host("host", [&](Host& h) {
        ARC_CHECK(h.read(GpuRegister::kId) == 0x444c4657, "another device");
        for (const char* policy : {"baseline", "arc-hw"}) {
          sc_core::wait(1, sc_core::SC_US);
          h.launch(kTrace, policy);
          ARC_CHECK(h.read(GpuRegister::kStatus) == 1, "not running");
          ARC_CHECK(h.write(GpuRegister::kControl, 1) == tlm::TLM_GENERIC_ERROR_RESPONSE,
                    "launched beside another");
          sc_core::wait(5, sc_core::SC_US);
          ARC_CHECK(h.read(GpuRegister::kCycles) > 1000, "no cycles");
          sc_core::wait(gpu.done->posedge_event());
          ARC_CHECK(h.read(GpuRegister::kStatus) == 2, "not done");
        }
        ARC_CHECK(h.read(GpuRegister::kLaunches) == 2, "another number of launches");
        ARC_CHECK(outside || h.read(GpuRegister::kCycles) == own.cycles, "another number");
        check_memory(
            kTrace,
            [&](Address address) {
              std::uint32_t word = 0;
              ARC_CHECK(h.access(tlm::TLM_READ_COMMAND, kGpuMemory + address, &word, 4, true) ==
                            tlm::TLM_OK_RESPONSE,
                        "memory that cannot be read");
              return word;
            },
            outside ? 2.0F : 1.0F);
        ended = true;
      });
      host.socket.bind(gpu.host);
      sc_core::sc_start();
      ARC_CHECK(ended, "the host has not come to its end");
    });
  }
}

TEST(Registers, SayWhatIsWrong) {
  run_in_a_process([] {
    GpuModule gpu("gpu", small());
    bool ended = false;
    Host host("host", [&](Host& h) {
      const auto read = tlm::TLM_READ_COMMAND;
      std::array<char, 64> text{};
      h.launch("nowhere.wft", "baseline");
      ARC_CHECK(h.read(GpuRegister::kStatus) == 3, "not failed");
      h.access(read, kGpuFailureText, text.data(), text.size());
      ARC_CHECK(std::strstr(text.data(), "nowhere.wft: cannot open") != nullptr, text.data());
      h.write(GpuRegister::kTrace, 16);
      h.write(GpuRegister::kControl, 1);
      h.access(read, kGpuFailureText, text.data(), text.size());
      ARC_CHECK(std::strstr(text.data(), "the trace register holds 0x10") != nullptr, text.data());
      ARC_CHECK(h.write(GpuRegister::kControl, 2) == tlm::TLM_OK_RESPONSE, "no reset");
      ARC_CHECK(h.read(GpuRegister::kStatus) == 0, "not idle");
      // Half a register, and what is none.
      std::uint64_t value = 0;
      ARC_CHECK(h.access(read, 4, &value, 4) == tlm::TLM_OK_RESPONSE && value == 0, "upper half");
      ARC_CHECK(h.access(read, 0, &value, 2) == tlm::TLM_BURST_ERROR_RESPONSE, "two bytes");
      ARC_CHECK(h.access(read, 2, &value, 4) == tlm::TLM_BURST_ERROR_RESPONSE, "across");
      ARC_CHECK(h.access(read, 0x38, &value, 8) == tlm::TLM_ADDRESS_ERROR_RESPONSE, "behind");
      ARC_CHECK(h.access(read, kGpuText + kGpuTextBytes - 4, &value, 8) ==
                    tlm::TLM_ADDRESS_ERROR_RESPONSE,
                "beyond the text");
      ARC_CHECK(h.access(read, kGpuMemory, &value, 8) == tlm::TLM_ADDRESS_ERROR_RESPONSE,
                "memory in time");
      ARC_CHECK(h.write(GpuRegister::kStatus, 0) == tlm::TLM_COMMAND_ERROR_RESPONSE, "read only");
      ARC_CHECK(h.write(GpuRegister::kControl, 7) == tlm::TLM_GENERIC_ERROR_RESPONSE, "no such");
      ended = true;
    });
    host.socket.bind(gpu.host);
    sc_core::sc_start();
    ARC_CHECK(ended, "the host has not come to its end");
  });
}

TEST(Registers, GiveDirectAccessToMemoryThatDoes) {
  run_in_a_process([] {
    GpuOptions options = small();
    options.memory = true;
    options.base = 1U << 20U;
    GpuModule gpu("gpu", options);
    const Platform platform({&gpu}, fast());
    bool ended = false;
    Host host("host", [&](Host& h) {
      h.launch(kTrace, "baseline");
      sc_core::wait(gpu.done->posedge_event());
      const trace::Reader trace(kTrace);
      const Address address = trace.header().sites.at(0).parameters.at(0).base;
      tlm::tlm_generic_payload payload;
      payload.set_address(kGpuMemory + address);
      payload.set_read();
      tlm::tlm_dmi region;
      ARC_CHECK(h.socket->get_direct_mem_ptr(payload, region), "no DMI");
      ARC_CHECK(region.get_start_address() <= kGpuMemory + address &&
                    region.get_end_address() >= kGpuMemory + address + 3,
                "another region");
      // One memory behind all sockets: more than a line.
      ARC_CHECK(region.get_end_address() - region.get_start_address() > 1000, "a line alone");
      std::uint32_t direct = 0;
      std::memcpy(&direct,
                  region.get_dmi_ptr() + (kGpuMemory + address - region.get_start_address()), 4);
      std::uint32_t word = 0;
      h.access(tlm::TLM_READ_COMMAND, kGpuMemory + address, &word, 4, true);
      ARC_CHECK(direct == word, "another word");
      payload.set_address(0);
      tlm::tlm_dmi none;
      ARC_CHECK(!h.socket->get_direct_mem_ptr(payload, none), "DMI to registers");
      ended = true;
    });
    host.socket.bind(gpu.host);
    sc_core::sc_start();
    ARC_CHECK(ended, "the host has not come to its end");
  });
}

}  // namespace
}  // namespace warpfold::systemc
