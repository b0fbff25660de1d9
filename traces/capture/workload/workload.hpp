// SPDX-License-Identifier: Apache-2.0
// A program whose gradient kernel is captured: what the driver (commands.hpp) needs to check, time
// and record it. One folder beside this one for each; README.md tells how to add one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "traces/capture/common/verdict.hpp"
#include "traces/capture/workload/variant.hpp"
#include "traces/format/trace.hpp"

namespace CLI {
class App;
}

namespace warpfold::capture::workload {

class FixedSums;

// Device memory that the kernel adds to: floats, or pairs of halves in the place of each.
struct Array {
  std::string name;
  float* data = nullptr;
  std::size_t floats = 0;
  bool halves = false;

  [[nodiscard]] std::size_t values() const { return halves ? 2 * floats : floats; }
  [[nodiscard]] std::size_t value_bytes() const { return halves ? 2 : sizeof(float); }
};

class Workload {
 public:
  Workload() = default;
  virtual ~Workload() = default;
  Workload(const Workload&) = delete;
  Workload& operator=(const Workload&) = delete;

  // Fixed.
  [[nodiscard]] virtual std::string name() const = 0;    // of the kernels: warpfold_NAME_VARIANT
  [[nodiscard]] virtual std::string kernel() const = 0;  // what it does, for the header
  [[nodiscard]] virtual std::vector<std::string> paths() const = 0;
  [[nodiscard]] virtual std::string taken_path() const { return "taken"; }
  [[nodiscard]] virtual Kernels kernels() const = 0;
  virtual void add_options(CLI::App& app) = 0;

  // Reads the input and runs the program up to the launch that is captured. Called once, before
  // what follows.
  virtual void load() = 0;
  struct Launch {
    std::uint32_t grid[3] = {1, 1, 1};
    std::uint32_t block[3] = {1, 1, 1};
    const void* arguments = nullptr;  // the kernels' first parameter, Body::Args
  };
  [[nodiscard]] virtual Launch launch() const = 0;
  [[nodiscard]] virtual std::uint64_t primitive_count() const = 0;
  // What a reduce call adds to, in the order of its values; bases are device addresses.
  [[nodiscard]] virtual std::vector<trace::Parameter> parameters() const = 0;
  // Together they hold all that the parameters name. Zeroed before each launch.
  [[nodiscard]] virtual std::vector<Array> arrays() const = 0;
  // What a launch adds up to, in double precision on the CPU: the arrays one behind the other.
  [[nodiscard]] virtual std::vector<double> reference() const = 0;
  // Norm of the difference over norm, by array, that single precision may have.
  [[nodiscard]] virtual double tolerance() const { return 1e-3; }
  // The words of the variant `fixed`, of the loaded workload; null where there is none.
  [[nodiscard]] virtual FixedSums* fixed() const { return nullptr; }
  // The loads of a pass that may add are of words that each lane reads one behind the other.
  [[nodiscard]] virtual bool lanes_read_on() const { return false; }
  // Checks of its own: forward pass, falling loss and the like.
  virtual void check(Verdict& /*verdict*/) {}
  // For the header: input, iteration, loss.
  [[nodiscard]] virtual std::map<std::string, std::string> provenance() const { return {}; }
};

// All there are: all.cpp.
[[nodiscard]] std::vector<std::unique_ptr<Workload>> all_workloads();

}  // namespace warpfold::capture::workload
