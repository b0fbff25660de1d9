// SPDX-License-Identifier: Apache-2.0
// warpfold_microbench: measures what the GPU model's parameters stand for, on any CUDA GPU.
#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <exception>
#include <fstream>
#include <functional>
#include <regex>
#include <sstream>

#include "traces/capture/common/gpu_info.hpp"
#include "traces/capture/microbench/benches.hpp"
#include "traces/capture/microbench/sass.hpp"

namespace {

using namespace warpfold::microbench;
namespace fs = std::filesystem;

constexpr int kBadInput = 2;

struct Options {
  fs::path json;
  fs::path vectors;
  fs::path sass;
  fs::path check;
  std::vector<std::string> only;
  std::string match;
  int repetitions = 11;
  bool list = false;
  bool check_sass = false;
  bool verbose = false;
};

struct Group {
  const char* name;
  const char* about;
  std::function<void(Harness&, const Options&)> run;
};

const std::vector<Group>& groups() {
  static const std::vector<Group> kGroups = {
      {"arithmetic", "red.global.add.f32 on all operand pairs",
       [](Harness& h, const Options& o) { bench_arithmetic(h, o.vectors); }},
      {"halves", "red.f16x2 and red.bf16x2 on all pairs of numbers",
       [](Harness& h, const Options&) { bench_halves(h); }},
      {"red", "RED throughput by lanes, addresses and warps; hot addresses",
       [](Harness& h, const Options&) { bench_red(h); }},
      {"vector", "REDs of vectors, and of as many floats",
       [](Harness& h, const Options&) { bench_vector(h); }},
      {"bulk", "bulk reductions from shared to global memory",
       [](Harness& h, const Options&) { bench_bulk(h); }},
      {"shared_add", "atomicAdd(float) in shared memory",
       [](Harness& h, const Options&) { bench_shared_add(h); }},
      {"slices", "which addresses share a ROP, and which ROPs a port",
       [](Harness& h, const Options&) {
         bench_slices(h);
         bench_slice_classes(h);
       }},
      {"share", "how SMs share a slice of the L2",
       [](Harness& h, const Options&) { bench_share(h); }},
      {"burst", "REDs that wait ahead of a blocked warp",
       [](Harness& h, const Options&) { bench_burst(h); }},
      {"latency", "RED, atomic, fence, loads of L1, L2, DRAM",
       [](Harness& h, const Options&) { bench_latency(h); }},
      {"ops", "latency and rate of each class of instructions",
       [](Harness& h, const Options&) { bench_ops(h); }},
      {"memory", "shared and global loads, bandwidths",
       [](Harness& h, const Options&) { bench_memory(h); }},
      {"loads", "loads and stores that miss the L1, by lines and sectors",
       [](Harness& h, const Options&) { bench_loads(h); }},
      {"mixed", "which classes share a pipe", [](Harness& h, const Options&) { bench_mixed(h); }},
      {"control", "barriers, branches, issue order, CTAs, launches",
       [](Harness& h, const Options&) { bench_control(h); }},
      {"energy", "joules of each class, 2.4 s each",
       [](Harness& h, const Options&) { bench_energy(h); }}};
  return kGroups;
}

// Problems of the text that `cuobjdump -sass` made of a program.
std::vector<std::string> sass_problems(std::istream& text) {
  return check_sass(read_sass(text), sass_expectations());
}

// The machine code of this very program; empty where there is no cuobjdump.
std::string own_sass() {
  const std::string self = fs::read_symlink("/proc/self/exe").string();
  std::string text;
  for (const char* tool : {"cuobjdump", "/usr/local/cuda/bin/cuobjdump"}) {
    FILE* pipe = popen((std::string(tool) + " -sass '" + self + "' 2>/dev/null").c_str(), "r");
    if (pipe == nullptr) {
      continue;
    }
    text.clear();
    char part[65536];
    for (std::size_t n = 0; (n = std::fread(part, 1, sizeof part, pipe)) > 0;) {
      text.append(part, n);
    }
    if (pclose(pipe) == 0 && !text.empty()) {
      return text;
    }
  }
  return {};
}

Json sass_json(const Options& options) {
  std::vector<std::string> problems;
  std::string source;
  if (!options.sass.empty()) {
    std::ifstream file(options.sass);
    if (!file) {
      throw std::runtime_error(options.sass.string() + ": cannot be read");
    }
    problems = sass_problems(file);
    source = "a file";
  } else {
    std::istringstream text(own_sass());
    if (text.str().empty()) {
      return {{"checked", false}, {"why", "no cuobjdump"}};
    }
    problems = sass_problems(text);
    source = "cuobjdump of the program";
  }
  return {{"checked", true},
          {"source", source},
          {"loops", sass_expectations().size()},
          {"problems", problems}};
}

int print_problems(const std::vector<std::string>& problems) {
  for (const std::string& problem : problems) {
    std::printf("%s\n", problem.c_str());
  }
  std::printf("%zu problems\n", problems.size());
  return problems.empty() ? 0 : 1;
}

int measure(const Options& options) {
  const auto gpu = warpfold::capture::gpu_info();
  Report report(options.verbose);
  Harness harness(report, options.repetitions, options.match);
  const Device& device = harness.device();
  std::printf("%s, %d SMs, compute capability %d.%d\n", gpu.name.c_str(), gpu.sms,
              gpu.compute_capability / 10, gpu.compute_capability % 10);
  report.set("gpu", {{"name", gpu.name},
                     {"driver", gpu.driver},
                     {"cuda", gpu.cuda},
                     {"sms", gpu.sms},
                     {"compute_capability", gpu.compute_capability},
                     {"max_warps_of_sm", device.max_warps},
                     {"l2_bytes", device.l2_bytes},
                     {"max_ctas_of_sm", device.max_ctas},
                     {"registers_of_sm", device.registers},
                     {"shared_bytes_of_sm", device.shared_bytes},
                     {"sm_clock_khz", device.clock_khz},
                     {"memory_clock_khz", device.memory_clock_khz},
                     {"memory_bus_bits", device.memory_bus_bits}});
  const Json sass = sass_json(options);
  report.set("sass", sass);
  int failed = 0;
  if (sass["checked"] && !sass["problems"].empty()) {
    failed = print_problems(sass["problems"].get<std::vector<std::string>>());
  }
  Json seconds = Json::object();
  Json errors = Json::array();
  for (const Group& group : groups()) {
    if (!options.only.empty() &&
        std::find(options.only.begin(), options.only.end(), group.name) == options.only.end()) {
      continue;
    }
    std::printf("%-12s %s\n", group.name, group.about);
    std::fflush(stdout);
    const auto begin = std::chrono::steady_clock::now();
    const std::size_t before = report.size();
    try {
      group.run(harness, options);
    } catch (const std::exception& error) {
      std::printf("  FAILED: %s\n", error.what());
      errors.push_back(std::string(group.name) + ": " + error.what());
      failed = 1;
    }
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    seconds[group.name] = took.count();
    std::printf("  %zu results in %.1f s\n", report.size() - before, took.count());
    std::fflush(stdout);
    report.set("seconds", seconds);
    report.set("errors", errors);
    // After each group, so that what was measured is not lost with what comes.
    if (!options.json.empty()) {
      report.write(options.json);
    }
  }
  const auto problems = check_report(report.json());
  if (!problems.empty()) {
    print_problems(problems);
    failed = 1;
  }
  return failed;
}

int run(int argc, char** argv) {
  Options options;
  CLI::App app("Measures what the parameters of Warpfold's GPU model stand for");
  app.add_option("--json", options.json, "write the results there");
  app.add_option("--vectors", options.vectors,
                 "write operands and results of red.global.add.f32 there, as text");
  app.add_option("--only", options.only, "these groups, such as red,ops")->delimiter(',');
  app.add_option(
      "--match", options.match,
      "of the groups red, vector and ops the cases whose name has this regular expression "
      "in it");
  app.add_option("--repetitions", options.repetitions, "launches of each case")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  app.add_flag("--verbose", options.verbose, "print each result");
  app.add_flag("--list", options.list, "print the groups and end");
  app.add_option("--sass", options.sass,
                 "check this output of cuobjdump -sass instead of running cuobjdump");
  app.add_flag("--check-sass", options.check_sass, "check the machine code and end; needs no GPU");
  app.add_option("--check", options.check, "check this results file and end; needs no GPU");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kBadInput;
  }
  for (const std::string& name : options.only) {
    const auto known = [&](const Group& g) { return g.name == name; };
    if (std::none_of(groups().begin(), groups().end(), known)) {
      throw std::runtime_error("no group " + name + " (--list prints them)");
    }
  }
  try {
    const std::regex pattern(options.match);
  } catch (const std::regex_error&) {
    throw std::runtime_error("--match " + options.match + ": is no regular expression");
  }
  if (options.list) {
    for (const Group& group : groups()) {
      std::printf("%-12s %s\n", group.name, group.about);
    }
    return 0;
  }
  if (!options.check.empty()) {
    std::ifstream file(options.check);
    return print_problems(check_report(Json::parse(file)));
  }
  if (options.check_sass) {
    const Json sass = sass_json(options);
    if (!sass["checked"]) {
      throw std::runtime_error("no cuobjdump");
    }
    return print_problems(sass["problems"].get<std::vector<std::string>>());
  }
  return measure(options);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "warpfold_microbench: %s\n", error.what());
    return kBadInput;
  }
}
