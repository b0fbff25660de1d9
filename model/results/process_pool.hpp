// SPDX-License-Identifier: Apache-2.0
// Runs tasks in child processes, a few at once. A simulation needs a process of its own because
// SystemC has one simulation context a process. Results come back in the order of the tasks,
// whatever the order in which they finish. Owned by the runner; all in one thread.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "model/outcome/run_result.hpp"
#include "traces/format/printable.hpp"

namespace warpfold {

// What one child process does. `work` runs in the child: it returns a result, throws BadInputError
// for input that it cannot work with, or any other exception for a failed check.
struct PoolTask {
  std::string name;  // "truck.wft rtx4090 arc-hw"
  // Called with a function that takes the share done so far, 0..1.
  std::function<RunResult(const std::function<void(double)>& progress)> work;
  // Called in the parent just before the child is forked; may be empty. What it makes ready is
  // shared with the child and with those after it.
  std::function<void()> prepare;
};

class BadInputError : public std::runtime_error {
 public:
  explicit BadInputError(std::string_view what) : std::runtime_error(trace::printable(what)) {}
};

struct PoolOutcome {
  std::optional<RunResult> result;  // all but config and measured_*, which the parent knows
  std::string error;                // one line, where there is no result
};

struct PoolProgress {
  std::size_t tasks = 0;
  std::size_t finished = 0;
  double done = 0;      // share of all tasks, 0..1
  std::string running;  // names of the running ones
};

struct PoolOptions {
  std::size_t jobs = 1;  // children at once
  // Called in the parent whenever a child starts, reports or ends; may be empty.
  std::function<void(const PoolProgress&)> progress;
  // Asked now and then whether to give up; may be empty. Tasks that have not ended then have an
  // outcome with an error.
  std::function<bool()> stopped = nullptr;
};

// One outcome for each task. Throws BadInputError if a task does, after ending the other children.
// A child that dies gives an outcome with an error. When this process dies, so do the children.
std::vector<PoolOutcome> run_pool(const std::vector<PoolTask>& tasks, const PoolOptions& options);

}  // namespace warpfold
