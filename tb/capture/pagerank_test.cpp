// SPDX-License-Identifier: Apache-2.0
// The CPU reference of PageRank against what can be worked out by hand.
#include <gtest/gtest.h>

#include <numeric>
#include <sstream>

#include "traces/capture/common/input.hpp"
#include "traces/capture/pagerank/graph.hpp"

namespace warpfold::capture::pagerank {
namespace {

Graph graph_of(const std::string& text) {
  std::istringstream in(text);
  return read_edges(in, "edges");
}

TEST(Edges, KeepTheirOrder) {
  const Graph graph = graph_of("# FROM TO\n2 0\n0 3\r\n\n0 1\n2\t2\n");
  EXPECT_EQ(graph.begin, (std::vector<std::uint32_t>{0, 2, 2, 4, 4}));
  EXPECT_EQ(graph.target, (std::vector<std::uint32_t>{3, 1, 0, 2}));
}

TEST(Edges, BadLinesAreRefused) {
  for (const char* bad :
       {"", "# nothing\n", "1\n", "a b\n", "0 -1\n", "0 4294967295\n", "0 2147483646\n"}) {
    EXPECT_THROW((void)graph_of(bad), InputError) << bad;
  }
}

TEST(Ranks, OfARingAreEqual) {
  const Graph graph = graph_of("0 1\n1 2\n2 3\n3 0\n");
  for (const double rank : ranks(graph, 7)) {
    EXPECT_DOUBLE_EQ(rank, 0.25);
  }
}

TEST(Ranks, OfAStarAfterOneIteration) {
  // 0 pushes a third to each of the others; they push all they have to 0.
  const Graph graph = graph_of("0 1\n0 2\n0 3\n1 0\n2 0\n3 0\n");
  const auto rank = ranks(graph, 1);
  EXPECT_DOUBLE_EQ(rank[0], 0.15 / 4 + 0.85 * 0.75);
  EXPECT_DOUBLE_EQ(rank[1], 0.15 / 4 + 0.85 * 0.25 / 3);
}

TEST(Ranks, StayOneInAllWithoutDeadEnds) {
  const Graph graph = graph_of("0 1\n1 2\n2 0\n2 1\n3 0\n4 3\n0 4\n");
  const auto rank = ranks(graph, 20);
  EXPECT_NEAR(std::accumulate(rank.begin(), rank.end(), 0.0), 1.0, 1e-12);
  // And they solve the equation of PageRank in the end.
  const auto last = ranks(graph, 400);
  const auto sums = push<double>(graph, last);
  for (std::size_t v = 0; v < last.size(); ++v) {
    EXPECT_NEAR(last[v], (1 - kDamping) / 5 + kDamping * sums[v], 1e-12);
  }
}

}  // namespace
}  // namespace warpfold::capture::pagerank
