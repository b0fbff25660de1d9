// SPDX-License-Identifier: Apache-2.0
// Inputs of the workloads: pictures (PPM, Radiance), meshes (OBJ), edges of a graph; and the
// disassembly that the microbenchmarks look at.
#include <sstream>

#include "tb/fuzz/fuzz.hpp"
#include "traces/capture/common/input.hpp"
#include "traces/capture/envmap/scene.hpp"
#include "traces/capture/image_fit/picture.hpp"
#include "traces/capture/microbench/sass.hpp"
#include "traces/capture/pagerank/graph.hpp"

namespace warpfold::fuzz {

namespace {

using namespace warpfold::capture;

void check_graph(const pagerank::Graph& graph) {
  for (const std::uint32_t target : graph.target) {
    if (target >= graph.vertices()) {
      finding("an edge to no vertex");
    }
  }
}

}  // namespace

void run(std::string_view input) {
  Front front(input);
  const std::uint64_t kind = front.number(1) % 5;
  std::istringstream text{std::string(front.rest())};
  const std::string name = "input";
  const auto read = [&] {
    switch (kind) {
      case 0:
        static_cast<void>(image_fit::read_ppm(text, name));
        break;
      case 1: {
        const envmap::Panorama panorama = envmap::read_hdr(text, name);
        static_cast<void>(envmap::to_cubemap(panorama, 4, 100.0F));
        break;
      }
      case 2:
        static_cast<void>(envmap::read_obj(text, name));
        break;
      case 3:
        check_graph(pagerank::read_edges(text, name));
        break;
      default:
        for (const std::string& line :
             microbench::check_sass(microbench::read_sass(text), microbench::sass_expectations())) {
          check_line(line);
        }
    }
  };
  takes<InputError>(read, name);
}

std::vector<std::string> seeds() {
  std::string hdr = "\1#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n-Y 2 +X 8\n";
  for (int row = 0; row < 2; ++row) {
    hdr += std::string("\2\2\0\10", 4);
    for (int channel = 0; channel < 4; ++channel) {
      hdr += row == 0 ? "\x88\x40"
                      : "\x08"
                        "abcdefgh";
    }
  }
  const std::string none(1, '\0');
  return {
      none + "P6\n# made\n3 2\n255\n" + std::string(18, 'x'),
      hdr,
      "\1#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n-Y 1 +X 8\n" + std::string(32, 'x'),
      "\2# made\nv 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1.5e0\nvn 0 0 1\nf 1 2 3\nf 1/1/1 3//2 -1 2\n",
      "\3# made\n0\t1\n1 2\r\n2\t0\n",
      "\4" + repository_file("tb/capture/sass/sm_86_sw_s.sass").substr(0, 3000)};
}

}  // namespace warpfold::fuzz
