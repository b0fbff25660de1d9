// SPDX-License-Identifier: Apache-2.0
// Somebody's shared library around the GPU and the unit, of which it has both bodies. C++17.
#include "model/systemc/arc_subcore.hpp"
#include "model/systemc/gpu_module.hpp"

using namespace warpfold::systemc;

unsigned long long cycles_of(const char* trace, const char* machine) {
  GpuOptions options;
  options.machine = machine;
  GpuModule gpu("gpu", options);
  gpu.launch(trace, "arc-hw");
  sc_core::sc_start();
  return gpu.result().cycles;
}

unsigned lanes_of(const char* body) {
  SubcoreOptions options;
  options.unit = body;
  options.unit_kind = "fused";
  return arc_subcore("unit", options).read_lanes();
}
