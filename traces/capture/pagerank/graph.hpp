// SPDX-License-Identifier: Apache-2.0
// A directed graph and PageRank on it in double precision: what the CUDA kernel is checked against.
// Host only.
#pragma once

#include <cstdint>
#include <filesystem>
#include <istream>
#include <span>
#include <string>
#include <vector>

namespace warpfold::capture::pagerank {

inline constexpr double kDamping = 0.85;

// Out-neighbours of vertex v: target[begin[v]] .. target[begin[v + 1] - 1].
struct Graph {
  std::vector<std::uint32_t> begin = {0};
  std::vector<std::uint32_t> target;

  [[nodiscard]] std::size_t vertices() const { return begin.size() - 1; }
  [[nodiscard]] std::size_t edges() const { return target.size(); }
};

// An edge list as SNAP has it: "FROM TO" on each line, lines that start with # are comments. The
// vertices are 0 to the largest number named; the order of a vertex's edges is that of the file.
// `name` is for messages. Throws InputError.
[[nodiscard]] Graph read_edges(std::istream& in, const std::string& name);
[[nodiscard]] Graph load_edges(const std::filesystem::path& path);

// What one push adds up to: for each vertex the sum of rank / out-degree over its in-neighbours.
template <class Rank>
[[nodiscard]] std::vector<double> push(const Graph& graph, std::span<const Rank> rank) {
  std::vector<double> sums(graph.vertices(), 0.0);
  for (std::size_t v = 0; v < graph.vertices(); ++v) {
    const std::uint32_t degree = graph.begin[v + 1] - graph.begin[v];
    for (std::uint32_t e = graph.begin[v]; e < graph.begin[v + 1]; ++e) {
      sums[graph.target[e]] += static_cast<double>(rank[v]) / static_cast<double>(degree);
    }
  }
  return sums;
}

// Ranks after so many iterations from 1 / vertices: (1 - damping) / vertices + damping * sum. The
// rank of a vertex without edges is lost, as in Pannotia's PageRank.
[[nodiscard]] std::vector<double> ranks(const Graph& graph, int iterations);

}  // namespace warpfold::capture::pagerank
