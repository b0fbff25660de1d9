// SPDX-License-Identifier: Apache-2.0
// Machine files, and parameters given beside them.
#include "model/machine/config.hpp"
#include "tb/fuzz/fuzz.hpp"

namespace warpfold::fuzz {

namespace {

// The first byte: 0 for a file, else so many overrides of a built-in machine, a line each.
Overrides lines_of(std::string_view text) {
  Overrides lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

void use(const GpuConfig& gpu) {
  for (const std::uint32_t part : {2U, 3U, gpu.sm.count}) {
    takes<ConfigError>([&] { static_cast<void>(part_of_gpu(gpu, part)); });
  }
}

}  // namespace

void run(std::string_view input) {
  Front front(input);
  if (front.number(1) == 0) {
    const std::filesystem::path path = file("machine.toml", front.rest());
    takes<ConfigError>([&] { use(load_gpu(path.string())); }, path);
    return;
  }
  const Overrides overrides = lines_of(front.rest());
  takes<ConfigError>([&] { use(load_gpu("h200", overrides)); });
}

std::vector<std::string> seeds() {
  const std::string none(1, '\0');
  std::vector<std::string> all;
  for (const std::string name : {"rtx4090", "h200"}) {
    all.push_back(none + repository_file("model/gpus/" + name + ".toml"));
  }
  for (const std::string text :
       {"lab.bytes=65536\nsm.issue_order=gto", "l2.slices=4\nl2.slices_per_port=1",
        "noc.flit_cycles=0.5\nrules.admission=sleepers", "l1.ways=4\nl1.ways=8",
        "energy.rop_pj=1e3"}) {
    all.push_back("\x01" + text);
  }
  return all;
}

}  // namespace warpfold::fuzz
