// SPDX-License-Identifier: Apache-2.0
// The cases of the groups `vector`, `bulk` and `shared_add`: who adds how many words where, how
// often. Host only.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "traces/capture/microbench/vector.hpp"

namespace warpfold::microbench {

// How a lane adds its words.
enum class VectorForm {
  kScalar1,  // one RED of a float
  kScalar2,  // two REDs
  kScalar4,
  kScalar9,
  kV2,    // one RED of two floats
  kV4,    // one RED of four
  kV4x9,  // nine floats as 4 + 4 + 1
  kHalf2  // one RED of two halves
};

struct VectorCase {
  std::string name;
  VectorForm form = VectorForm::kScalar1;
  VectorPattern pattern;
  int lanes = 0;  // active ones
  int warps = 0;  // of an SM
  bool whole_gpu = false;
  int iterations = 0;    // of kVectorArrays each
  int launches = 1;      // times as many as of others, where they differ
  bool checked = false;  // also: does memory hold the sums?
  nlohmann::ordered_json parameters;
};

[[nodiscard]] int words_of(VectorForm form);  // 32-bit words that a lane adds to at once

// All cases, for a GPU with so many SMs.
[[nodiscard]] std::vector<VectorCase> vector_cases(int sms);

struct BulkCase {
  std::string name;
  VectorPattern pattern;
  int bytes = 0;
  int lanes = 0;
  int warps = 0;
  bool whole_gpu = false;
  bool one_by_one = false;  // each waits for the one before it
  bool checked = false;
  int iterations = 0;  // of kVectorArrays each
  nlohmann::ordered_json parameters;
};
[[nodiscard]] std::vector<BulkCase> bulk_cases();

// Lane l of warp w adds to word w * warp_words + lane[l] of shared memory.
struct SharedPattern {
  std::uint32_t active = 1;
  std::uint32_t warp_words = 0;
  std::uint32_t lane[32] = {};
};
inline constexpr std::uint32_t kSharedWords = 2048;

struct SharedCase {
  std::string name;
  SharedPattern pattern;
  int lanes = 0;
  int warps = 0;
  int iterations = 0;  // of kSharedAdds each
  nlohmann::ordered_json parameters;
};
inline constexpr int kSharedAdds = 8;
[[nodiscard]] std::vector<SharedCase> shared_cases();

}  // namespace warpfold::microbench
