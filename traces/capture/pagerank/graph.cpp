// SPDX-License-Identifier: Apache-2.0
#include "traces/capture/pagerank/graph.hpp"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <limits>
#include <utility>

#include "traces/capture/common/input.hpp"

namespace warpfold::capture::pagerank {
namespace {

constexpr std::uint32_t kMaxVertex = std::numeric_limits<std::int32_t>::max() - 1;
// Of vertices for each edge, beyond the first so many: memory is for what the file holds.
constexpr std::uint64_t kMaxSparse = 64;
constexpr std::uint64_t kMaxFirst = 1U << 16U;

// The next number of a line; false if there is none.
bool take_number(const char*& at, const char* end, std::uint32_t& number) {
  while (at != end && (*at == ' ' || *at == '\t' || *at == '\r')) {
    ++at;
  }
  const auto result = std::from_chars(at, end, number);
  at = result.ptr;
  return result.ec == std::errc{} && number <= kMaxVertex;
}

}  // namespace

Graph read_edges(std::istream& in, const std::string& name) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> edges;
  std::uint32_t vertices = 0;
  std::string line;
  for (std::size_t number = 1; std::getline(in, line); ++number) {
    if (line.empty() || line[0] == '#' || line == "\r") {
      continue;
    }
    const char* at = line.data();
    const char* end = at + line.size();
    std::uint32_t from = 0;
    std::uint32_t to = 0;
    if (!take_number(at, end, from) || !take_number(at, end, to)) {
      throw InputError(name + ": line " + std::to_string(number) + " is no edge");
    }
    edges.emplace_back(from, to);
    vertices = std::max({vertices, from + 1, to + 1});
  }
  if (edges.empty()) {
    throw InputError(name + ": has no edge");
  }
  if (edges.size() > std::numeric_limits<std::int32_t>::max()) {
    throw InputError(name + ": has too many edges");
  }
  if (vertices > kMaxFirst + kMaxSparse * edges.size()) {
    throw InputError(name + ": has " + std::to_string(edges.size()) +
                     " edges, too few for vertices up to " + std::to_string(vertices - 1));
  }
  Graph graph;
  graph.begin.assign(std::size_t{vertices} + 1, 0);
  for (const auto& edge : edges) {
    ++graph.begin[edge.first + 1];
  }
  for (std::size_t v = 0; v < vertices; ++v) {
    graph.begin[v + 1] += graph.begin[v];
  }
  std::vector<std::uint32_t> next(graph.begin.begin(), graph.begin.end() - 1);
  graph.target.resize(edges.size());
  for (const auto& edge : edges) {
    graph.target[next[edge.first]++] = edge.second;
  }
  return graph;
}

Graph load_edges(const std::filesystem::path& path) {
  std::ifstream file(path);
  if (!file) {
    throw InputError(path.string() + ": cannot be read");
  }
  return read_edges(file, path.string());
}

std::vector<double> ranks(const Graph& graph, int iterations) {
  const auto count = static_cast<double>(graph.vertices());
  std::vector<double> rank(graph.vertices(), 1.0 / count);
  for (int i = 0; i < iterations; ++i) {
    rank = push<double>(graph, rank);
    for (double& r : rank) {
      r = (1.0 - kDamping) / count + kDamping * r;
    }
  }
  return rank;
}

}  // namespace warpfold::capture::pagerank
