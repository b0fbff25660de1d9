// SPDX-License-Identifier: Apache-2.0
// clang-format off
#include <tlm>
#include <tlm_utils/tlm_quantumkeeper.h>
// clang-format on
#include "model/systemc/gpu_module.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <exception>
#include <limits>
#include <optional>
#include <stdexcept>

#include "model/gpu/noc/slice_map.hpp"
#include "model/gpu/run/gpu.hpp"
#include "model/gpu/run/launch.hpp"
#include "model/gpu/run/reference_sums.hpp"
#include "model/kernel/clock_driver.hpp"
#include "model/systemc/gpu_registers.hpp"
#include "model/systemc/tlm_exchange.hpp"

namespace warpfold::systemc {

using sc_core::sc_time;
using sc_core::sc_time_stamp;

namespace {

// What cannot be, at elaboration: reported, whatever is done with reports.
[[noreturn]] void refuse(const char* id, const std::string& text) {
  SC_REPORT_ERROR(id, text.c_str());
  throw std::runtime_error(text);
}

sc_time period_of(const std::string& name, const GpuConfig& gpu) {
  constexpr double kAllowed = 1.0 / 512;  // of a cycle
  const double wanted = 1e-9 / gpu.sm.clock_ghz;
  const sc_time period = ClockDriver::period_of(1.0 / gpu.sm.clock_ghz);
  if (!(std::abs(period.to_seconds() - wanted) <= kAllowed * wanted)) {
    refuse(
        "/warpfold/gpu/resolution",
        fmt::format("{}: SystemC's resolution of {} cannot hold the {:.6g} ns of a cycle of {}: "
                    "sc_set_time_resolution(1, SC_PS), or SC_FS for all digits",
                    name, sc_core::sc_get_time_resolution().to_string(), 1e9 * wanted, gpu.name));
  }
  return period;
}

GpuConfig machine_of(const std::string& name, const GpuOptions& options) {
  const auto check = [&](bool holds, const char* what) {
    if (!holds) {
      refuse("/warpfold/gpu/options", name + ": " + what);
    }
  };
  check(!options.memory || !options.l2, "an L2 that lies outside has no memory behind it to bind");
  check(std::has_single_bit(options.bytes) && options.bytes >= kLineBytes,
        "the bytes of its memory are no power of two, or less than a line");
  check(options.base % kLineBytes == 0, "the base of its memory is inside a line");
  try {
    static_cast<void>(parse_unit_model(options.unit));
    static_cast<void>(parse_unit_kind(options.unit_kind));
    return load_gpu(options.machine, options.overrides);
  } catch (const std::exception& error) {
    refuse("/warpfold/gpu/options", name + ": " + error.what());
  }
}

GpuResult summary_of(const RunResult& run) {
  GpuResult result;
  result.trace = run.trace;
  result.policy = run.policy;
  result.machine = run.gpu;
  result.cycles = run.cycles;
  result.sums_match = run.sums_match;
  result.failure = run.failure;
  result.counters = {{"events", run.events},
                     {"warp_atomics", run.warp_atomics},
                     {"lane_atomics", run.lane_atomics},
                     {"rop_ops", run.rop_ops},
                     {"noc_packets", run.noc_packets},
                     {"noc_bytes", run.noc_bytes}};
  for (const Counters* counters : {&run.activity, &run.subcore_cycles, &run.warp_cycles}) {
    result.counters.insert(result.counters.end(), counters->begin(), counters->end());
  }
  return result;
}

SimOptions options_of(const trace::Reader& trace, const GpuConfig& machine,
                      const std::string& policy, const GpuOptions& of_module) {
  SimOptions options;
  const std::uint32_t part = trace.header().sample_every;
  options.gpu = part > 1 ? part_of_gpu(machine, part) : machine;
  options.policy = parse_policy(policy);
  options.unit.model = parse_unit_model(of_module.unit);
  options.unit.kind = parse_unit_kind(of_module.unit_kind);
  return options;
}

// Throws where two arrays of the trace would lie at the same addresses of the platform.
void check_window(const trace::Header& header, std::uint64_t bytes) {
  struct Range {
    Address first, last;
    const std::string* name;
  };
  std::vector<Range> ranges;
  for (const trace::Site& site : header.sites) {
    for (const trace::Parameter& array : site.parameters) {
      const Address last = array.base + (site.primitive_count - 1) * array.stride_bytes;
      ranges.push_back({array.base / kLineBytes, last / kLineBytes, &array.name});
    }
  }
  const std::uint64_t lines = bytes / kLineBytes;
  for (const Range& a : ranges) {
    for (const Range& b : ranges) {
      // From the first line of a: where b begins in the window, if it is not where it is in a.
      const std::uint64_t between = (b.first - a.first) % lines;
      const bool same = b.first >= a.first && b.first - a.first == between;
      if (a.last - a.first >= lines || (between <= a.last - a.first && !same)) {
        throw std::runtime_error(
            fmt::format("{} and {} of the trace lie at the same addresses of a memory of {} bytes",
                        *a.name, *b.name, bytes));
      }
    }
  }
}

// A launch, with all that it refers to.
struct Run {
  const trace::Reader trace;
  const SimOptions options;
  const ReferenceSums reference;
  const Launch launch;
  Gpu gpu;

  Run(const std::string& path, const std::string& policy, const GpuConfig& machine,
      const GpuOptions& of_module, const Outside& outside)
      : trace(path),
        options(options_of(trace, machine, policy, of_module)),
        reference(ReferenceSums::compute(trace)),
        launch(prepare_launch(options, trace, reference)),
        gpu(options, launch, outside) {
    if (!outside.l2.empty() && launch.merge == MergePlace::kL2Port) {
      throw std::runtime_error(fmt::format(
          "policy {} merges in the ports of the L2, which lies outside", options.policy.name()));
    }
    if (outside.any() && !launch.header.memory.empty()) {
      throw std::runtime_error("the trace says what loads touch, and they do not leave the GPU");
    }
    if (outside.any()) {
      check_window(launch.header, of_module.bytes);
    }
  }
};

}  // namespace

struct GpuModule::Body final : sc_core::sc_module, GpuDevice {
  SC_HAS_PROCESS(Body);
  Body(const sc_core::sc_module_name& name, GpuModule& gpu, const GpuOptions& of_module);

  void launch(const std::string& trace, const std::string& policy, const sc_time& after) override;
  void reset() override;
  [[nodiscard]] GpuStatus status() const override { return status_; }
  [[nodiscard]] std::uint64_t cycles() const override;
  [[nodiscard]] std::uint64_t launches() const override { return launches_; }
  std::uint32_t peek(Address address, std::span<std::uint8_t> data) override;
  std::uint32_t poke(Address address, std::span<const std::uint8_t> data) override;
  bool dmi(Address address, tlm::tlm_command command, tlm::tlm_dmi& region) override;

  const GpuOptions options;
  const GpuConfig machine;
  const std::unique_ptr<SliceMap> map;
  ClockDriver driver;
  TlmExchange exchange;
  sc_core::sc_signal<bool> running{"running"}, done{"done"};
  std::optional<RunResult> run_result;
  std::optional<GpuResult> result;

  // These are the sockets of that kind, one for each port.
  void connect(sc_core::sc_vector<tlm::tlm_initiator_socket<>>& sockets,
               std::vector<WayOut*> Outside::*kind);

 private:
  void set(GpuStatus status);
  void show();
  void begin();
  void ended(std::exception_ptr failure);
  void close();
  void over();
  [[nodiscard]] TlmLink& link_of(Address address) const {
    return *exchange.links()[map->place(address).port];
  }
  // Calls each(address, part) for the parts of `data` that lie in a line each, as long as they are
  // done: how many bytes were.
  template <typename Data, typename Each>
  std::uint32_t by_line(Address address, std::span<Data> data, Each&& each);

  GpuRegisters registers_;
  Outside outside_;
  std::unique_ptr<Run> run_;
  GpuStatus status_ = GpuStatus::kIdle;
  std::uint64_t launches_ = 0;
  sc_time end_;  // of the launch
  sc_core::sc_event changed_, begins_, ends_;
};

GpuModule::Body::Body(const sc_core::sc_module_name& name, GpuModule& gpu,
                      const GpuOptions& of_module)
    : sc_core::sc_module(name),
      options(of_module),
      machine(machine_of(gpu.name(), of_module)),
      map(make_slice_map(machine)),
      driver("clock", period_of(gpu.name(), machine),
             of_module.style == CodingStyle::kLooselyTimed ? Pace::kLoose : Pace::kInStep,
             std::make_unique<tlm_utils::tlm_quantumkeeper>()),
      exchange("sockets",
               of_module.style == CodingStyle::kLooselyTimed ? Pace::kLoose : Pace::kInStep,
               driver),
      registers_(*this, gpu.host) {
  SC_METHOD(show);
  sensitive << changed_;
  dont_initialize();
  SC_METHOD(begin);
  sensitive << begins_;
  dont_initialize();
  SC_METHOD(over);
  sensitive << ends_;
  dont_initialize();
}

void GpuModule::Body::set(GpuStatus status) {
  status_ = status;
  changed_.notify(sc_core::SC_ZERO_TIME);
}

void GpuModule::Body::show() {
  running.write(status_ == GpuStatus::kRunning);
  done.write(status_ >= GpuStatus::kDone);
}

void GpuModule::Body::launch(const std::string& trace, const std::string& policy,
                             const sc_time& after) {
  const std::string who = get_parent_object()->name();
  if (status_ == GpuStatus::kRunning) {
    throw std::runtime_error(who + ": a launch is running");
  }
  reset();
  try {
    run_ = std::make_unique<Run>(trace, policy, machine, options, outside_);
  } catch (const std::exception& error) {
    set(GpuStatus::kFailed);
    throw std::runtime_error(who + ": " + error.what());
  }
  registers_.tell_failure("");
  set(GpuStatus::kRunning);
  begins_.notify(after);
}

// Not before what an earlier launch has asked for has come back.
void GpuModule::Body::begin() {
  if (exchange.busy()) {
    next_trigger(exchange.drained());
    return;
  }
  driver.run(run_->gpu.clock(), outside_.any() ? &exchange : nullptr,
             [this](std::exception_ptr failure) { ended(std::move(failure)); });
}

void GpuModule::Body::reset() {
  driver.stop();
  exchange.abandon();
  begins_.cancel();
  ends_.cancel();
  run_.reset();
  run_result.reset();
  result.reset();
  set(GpuStatus::kIdle);
}

// All blocks are at rest. What the L2 holds goes to the memory behind, which takes no cycles of the
// launch.
void GpuModule::Body::ended(std::exception_ptr failure) {
  if (failure) {
    run_result.emplace();
    try {
      std::rethrow_exception(failure);
    } catch (const std::exception& error) {
      run_result->failure = error.what();
    }
    run_result->trace = run_->trace.path().string();
    run_result->policy = run_->options.policy.name();
    run_result->gpu = machine.name;
    run_result->cycles = driver.cycle_at(sc_time_stamp());
    exchange.abandon();
    end_ = sc_time_stamp();
    close();
    return;
  }
  run_result = run_->gpu.collect(run_->reference);
  end_ = driver.begin() + sc_time::from_value(driver.period().value() * run_result->cycles);
  if (run_->gpu.flush()) {
    driver.go_on(run_->gpu.clock(), &exchange, [this](std::exception_ptr failed) {
      if (failed) {
        ended(std::move(failed));
      } else {
        close();
      }
    });
  } else {
    close();
  }
}

void GpuModule::Body::close() {
  ends_.notify(end_ - std::min(end_, sc_time_stamp()));
}

void GpuModule::Body::over() {
  ++launches_;
  result = summary_of(*run_result);
  registers_.tell_failure(result->failure);
  set(result->failure.empty() ? GpuStatus::kDone : GpuStatus::kFailed);
  if (!result->failure.empty()) {
    SC_REPORT_ERROR("/warpfold/gpu/launch",
                    fmt::format("{}: {} under {}: {}", get_parent_object()->name(), result->trace,
                                result->policy, result->failure)
                        .c_str());
  }
}

std::uint64_t GpuModule::Body::cycles() const {
  return result ? result->cycles
         : status_ == GpuStatus::kRunning && driver.running()
             ? driver.cycle_at(sc_time_stamp() + driver.local_time())
             : 0;
}

template <typename Data, typename Each>
std::uint32_t GpuModule::Body::by_line(Address address, std::span<Data> data, Each&& each) {
  std::uint32_t all = 0;
  while (all < data.size()) {
    const auto left = static_cast<std::uint32_t>(kLineBytes - (address + all) % kLineBytes);
    const std::span<Data> part = data.subspan(all, std::min<std::size_t>(left, data.size() - all));
    const std::uint32_t bytes = each(address + all, part);
    all += bytes;
    if (bytes < part.size()) {
      break;
    }
  }
  return all;
}

// What the L2 holds of a line is newer than the memory behind.
std::uint32_t GpuModule::Body::peek(Address address, std::span<std::uint8_t> data) {
  return by_line(address, data, [this](Address at, std::span<std::uint8_t> part) {
    if (!outside_.any()) {
      if (run_ == nullptr) {
        return std::uint32_t{0};
      }
      run_->gpu.read(at, part);
      return static_cast<std::uint32_t>(part.size());
    }
    if (run_ != nullptr && run_->gpu.peek(at, part)) {
      return static_cast<std::uint32_t>(part.size());
    }
    return link_of(at).peek(at, part);
  });
}

std::uint32_t GpuModule::Body::poke(Address address, std::span<const std::uint8_t> data) {
  if (!outside_.any() || status_ == GpuStatus::kRunning) {
    return 0;
  }
  return by_line(address, data, [this](Address at, std::span<const std::uint8_t> part) {
    return link_of(at).poke(at, part);
  });
}

// Neighbouring lines lie behind other sockets: a region is more than a line only where all sockets
// give the same.
bool GpuModule::Body::dmi(Address address, tlm::tlm_command command, tlm::tlm_dmi& region) {
  if (!outside_.any() || !link_of(address).dmi(address, command, region)) {
    return false;
  }
  const AddressWindow window{.base = options.base, .bytes = options.bytes};
  // What would lie at address 0.
  const auto origin = [](const tlm::tlm_dmi& of) {
    return reinterpret_cast<std::uintptr_t>(of.get_dmi_ptr()) - of.get_start_address();
  };
  sc_dt::uint64 first = std::max<sc_dt::uint64>(region.get_start_address(), window.base);
  sc_dt::uint64 last =
      std::min<sc_dt::uint64>(region.get_end_address(), window.base + (window.bytes - 1));
  const sc_dt::uint64 line = window.at(address / kLineBytes * kLineBytes);
  for (const auto& link : exchange.links()) {
    tlm::tlm_dmi other;
    if (link->dmi(address, command, other) && origin(other) == origin(region)) {
      first = std::max<sc_dt::uint64>(first, other.get_start_address());
      last = std::min<sc_dt::uint64>(last, other.get_end_address());
    } else {
      first = std::max(first, line);
      last = std::min(last, line + kLineBytes - 1);
    }
  }
  region.set_dmi_ptr(region.get_dmi_ptr() + (first - region.get_start_address()));
  const Address to_gpu = address - window.at(address);
  region.set_start_address(first + to_gpu);
  region.set_end_address(last + to_gpu);
  return true;
}

void GpuModule::Body::connect(sc_core::sc_vector<tlm::tlm_initiator_socket<>>& sockets,
                              std::vector<WayOut*> Outside::*kind) {
  for (auto& socket : sockets) {
    TlmLink& link = exchange.add(socket, {.base = options.base, .bytes = options.bytes});
    link.tell_of_invalidation([this](auto, auto) { registers_.invalidate(); });
    (outside_.*kind).push_back(&link);
  }
  outside_.way_back = options.way_back != 0 ? options.way_back : machine.noc.latency;
}

GpuModule::GpuModule(const sc_core::sc_module_name& name, const GpuOptions& options)
    : sc_core::sc_module(name),
      memory("memory"),
      l2("l2"),
      body_(std::make_unique<Body>("control", *this, options)) {
  running.bind(body_->running);
  done.bind(body_->done);
  const std::size_t ports = body_->machine.l2.ports();
  memory.init(options.memory ? ports : 0);
  l2.init(options.l2 ? ports : 0);
  body_->connect(memory, &Outside::memory);
  body_->connect(l2, &Outside::l2);
}

GpuModule::~GpuModule() = default;

void GpuModule::launch(const std::string& trace, const std::string& policy, const sc_time& after) {
  body_->launch(trace, policy, after);
}

void GpuModule::reset() {
  body_->reset();
}

GpuStatus GpuModule::status() const {
  return body_->status();
}

const GpuResult& GpuModule::result() const {
  if (!body_->result) {
    throw std::logic_error(std::string(name()) + ": there is no result before a launch is over");
  }
  return *body_->result;
}

const RunResult& GpuModule::run_result() const {
  static_cast<void>(result());
  return *body_->run_result;
}

const sc_time& GpuModule::period() const {
  return body_->driver.period();
}

sc_time GpuModule::local_time() const {
  return body_->driver.local_time();
}

const std::uint32_t& GpuModule::under_way(std::size_t port) const {
  return body_->exchange.links().at(port)->under_way();
}

void sc_trace(sc_core::sc_trace_file* file, const GpuModule& gpu, const std::string& prefix) {
  const auto signal = [](const auto& of) {
    return dynamic_cast<const sc_core::sc_signal<bool>*>(of.get_interface());
  };
  sc_core::sc_trace(file, *signal(gpu.running), prefix + ".running");
  sc_core::sc_trace(file, *signal(gpu.done), prefix + ".done");
  for (std::size_t i = 0; i < std::max(gpu.memory.size(), gpu.l2.size()); ++i) {
    sc_core::sc_trace(file, gpu.under_way(i), fmt::format("{}.under_way_{}", prefix, i));
  }
}

}  // namespace warpfold::systemc
