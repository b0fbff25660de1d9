// SPDX-License-Identifier: Apache-2.0
#include "traces/capture/microbench/vector_cases.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace warpfold::microbench {
namespace {

constexpr std::uint32_t kRegion = 2U << 20U;  // bytes of an array that primitives begin in
constexpr double kCycles = 240'000;           // about as many a launch takes on an SM

struct FormName {
  VectorForm form;
  const char* name;
  int words;
  int instructions;
};
constexpr FormName kForms[] = {
    {VectorForm::kScalar1, "scalar", 1, 1}, {VectorForm::kScalar2, "scalar", 2, 2},
    {VectorForm::kScalar4, "scalar", 4, 4}, {VectorForm::kScalar9, "scalar", 9, 9},
    {VectorForm::kV2, "v2", 2, 1},          {VectorForm::kV4, "v4", 4, 1},
    {VectorForm::kV4x9, "v4", 9, 3},        {VectorForm::kHalf2, "half2", 1, 1},
};

const FormName& name_of(VectorForm form) {
  return *std::find_if(std::begin(kForms), std::end(kForms),
                       [form](const FormName& one) { return one.form == form; });
}

std::uint32_t low_lanes(int lanes) {
  return lanes == 32 ? 0xffffffffU : (1U << lanes) - 1U;
}

// Primitives of `scale` bytes, each warp and iteration at others, which lie `apart` primitives
// from their neighbours or a multiple of that.
template <class Place>
VectorPattern spread(std::uint32_t scale, std::uint32_t apart, int lanes, const Place& place) {
  VectorPattern p;
  p.active = low_lanes(lanes);
  p.warp_step = 37 * apart;
  p.step = 1031 * apart;
  p.mask = std::bit_floor(kRegion / scale) - 1;
  p.scale = scale;
  p.array = 2 * kRegion + 37 * 128;
  for (std::uint32_t l = 0; l < 32; ++l) {
    p.lane[l] = place(l);
  }
  return p;
}

std::string where(int lanes, int warps, bool whole_gpu) {
  return "/lanes=" + std::to_string(lanes) + "/warps=" + std::to_string(warps) +
         (whole_gpu ? "/gpu" : "/sm");
}

class VectorCases {
 public:
  explicit VectorCases(int sms) : sms_(sms) {}

  std::vector<VectorCase> all() {
    patterns();
    structs();
    hot();
    return std::move(cases_);
  }

 private:
  void add(const std::string& pattern, VectorForm form, const VectorPattern& lanes_at, int lanes,
           int warps, bool whole_gpu) {
    const FormName& form_name = name_of(form);
    VectorCase one;
    one.name = "vector/" + pattern + "/words=" + std::to_string(form_name.words) + "/" +
               form_name.name + where(lanes, warps, whole_gpu);
    one.form = form;
    one.pattern = lanes_at;
    one.lanes = lanes;
    one.warps = warps;
    one.whole_gpu = whole_gpu;
    const double cost =
        std::max(2.0, 1.25 * lanes) * (form_name.words + 1) / 2.0 * (whole_gpu ? 2.6 : 1.0);
    one.iterations =
        std::clamp(static_cast<int>(kCycles / (cost * warps * kVectorArrays)), 6, 1000);
    const bool vector = form == VectorForm::kV2 || form == VectorForm::kV4;
    one.checked = whole_gpu && ((vector && lanes == 8 && (pattern == "packed" || warps < 32)) ||
                                (form == VectorForm::kV4x9 && lanes == 32));
    one.parameters = {{"pattern", pattern},     {"words", form_name.words},
                      {"form", form_name.name}, {"instructions", form_name.instructions},
                      {"lanes", lanes},         {"warps_per_sm", warps},
                      {"whole_gpu", whole_gpu}};
    cases_.push_back(std::move(one));
  }

  // Vectors of the lanes of a warp, and as many REDs of floats to the same words.
  void patterns() {
    for (const VectorForm form : {VectorForm::kHalf2, VectorForm::kScalar2, VectorForm::kV2,
                                  VectorForm::kScalar4, VectorForm::kV4}) {
      const auto bytes = static_cast<std::uint32_t>(4 * words_of(form));
      const auto random = [](std::uint32_t l) {
        return ((l * 2654435761U + 12345U) >> 7U & (kRegion / 128 - 1)) * 128;
      };
      for (const int lanes : {1, 2, 4, 8, 16, 32}) {
        for (const bool gpu : {false, true}) {
          const auto one = [&](const char* name, const VectorPattern& pattern) {
            add(name, form, pattern, lanes, 32, gpu);
          };
          one("same", spread(128, 1, lanes, [](std::uint32_t) { return 0U; }));
          one("packed", spread(bytes, 32, lanes, [&](std::uint32_t l) { return l * bytes; }));
          one("sectors", spread(32, 32, lanes, [](std::uint32_t l) { return l * 32; }));
          one("lines", spread(128, 32, lanes, [](std::uint32_t l) { return l * 128; }));
          one("random", spread(128, 1, lanes, random));
          one("struct_48", spread(48, 1, lanes, [](std::uint32_t l) { return l * 48; }));
          one("struct_64", spread(64, 1, lanes, [](std::uint32_t l) { return l * 64; }));
        }
      }
      for (const int warps : {1, 4, 8, 16}) {
        for (const int lanes : {1, 8, 32}) {
          add("same", form, spread(128, 1, lanes, [](std::uint32_t) { return 0U; }), lanes, warps,
              false);
          add("packed", form, spread(bytes, 32, lanes, [&](std::uint32_t l) { return l * bytes; }),
              lanes, warps, false);
        }
      }
    }
  }

  // Nine floats of a struct: by one lane, by nine, by three of four each (the struct padded), and
  // by each of 32 lanes to a struct of its own, beside each other and anywhere.
  void structs() {
    for (const std::uint32_t bytes : {36U, 48U, 64U}) {
      const std::string name = "struct_" + std::to_string(bytes);
      const auto consecutive = [&](std::uint32_t l) { return l * bytes; };
      const auto anywhere = [&](std::uint32_t l) { return l * 977 % (kRegion / bytes) * bytes; };
      for (const bool gpu : {false, true}) {
        const auto each = [&](VectorForm form) {
          add(name, form, spread(bytes, 1, 1, consecutive), 1, 32, gpu);
          add(name, form, spread(bytes, 1, 32, consecutive), 32, 32, gpu);
          add(name + "_anywhere", form, spread(bytes, 1, 32, anywhere), 32, 32, gpu);
        };
        each(VectorForm::kScalar9);
        const auto by_lanes = [&](VectorForm form, int lanes, std::uint32_t step) {
          add(name + "_by_lanes", form,
              spread(bytes, 1, lanes, [step](std::uint32_t l) { return l * step; }), lanes, 32,
              gpu);
        };
        by_lanes(VectorForm::kScalar1, 9, 4);
        if (bytes % 16 == 0) {
          each(VectorForm::kV4x9);
          by_lanes(VectorForm::kV4, 3, 16);
        }
      }
    }
  }

  // All warps of the GPU at one place: a vector of some lanes, and some vectors of each of some
  // sectors of one line, or of two by turns.
  void hot() {
    for (const VectorForm form : {VectorForm::kHalf2, VectorForm::kScalar1, VectorForm::kScalar2,
                                  VectorForm::kV2, VectorForm::kScalar4, VectorForm::kV4}) {
      const int words = words_of(form);
      for (const int lanes : {1, 2, 8, 32}) {
        VectorPattern p;
        p.active = low_lanes(lanes);
        add_hot("hot_address", form, p, lanes);
      }
      for (const std::uint32_t lines : {1U, 2U}) {
        for (const std::uint32_t sectors : {1U, 2U, 4U}) {
          for (std::uint32_t of_sector = 1; of_sector * static_cast<std::uint32_t>(words) <= 8;
               of_sector *= 2) {
            VectorPattern p;
            const std::uint32_t lanes = sectors * of_sector;
            p.active = low_lanes(static_cast<int>(lanes));
            p.warp_step = 1;
            p.mask = lines - 1;
            p.scale = 512;
            for (std::uint32_t l = 0; l < lanes; ++l) {
              p.lane[l] =
                  l / of_sector * 32 + l % of_sector * 4 * static_cast<std::uint32_t>(words);
            }
            add_hot("hot_block/sectors=" + std::to_string(sectors) +
                        "/vectors=" + std::to_string(of_sector) + "/lines=" + std::to_string(lines),
                    form, p, static_cast<int>(lanes));
          }
        }
      }
    }
  }
  void add_hot(const std::string& pattern, VectorForm form, const VectorPattern& p, int lanes) {
    constexpr int kWarps = 16;
    add(pattern, form, p, lanes, kWarps, true);
    VectorCase& one = cases_.back();
    one.name.resize(one.name.size() - std::string("/warps=16/gpu").size());
    // A slice takes some four cycles for an addition.
    const double adds = static_cast<double>(sms_) * kWarps * kVectorArrays * lanes * words_of(form);
    one.iterations = std::clamp(static_cast<int>(400'000 * 0.28 / adds), 2, 400);
    one.launches = pattern == "hot_address" ? 1 : 3;
  }

  int sms_;
  std::vector<VectorCase> cases_;
};

}  // namespace

int words_of(VectorForm form) {
  return name_of(form).words;
}

std::vector<VectorCase> vector_cases(int sms) {
  return VectorCases(sms).all();
}

std::vector<BulkCase> bulk_cases() {
  std::vector<BulkCase> all;
  const auto add = [&](const std::string& pattern, int bytes, int lanes, int warps, bool gpu) {
    BulkCase one;
    one.name = "bulk/" + pattern + "/bytes=" + std::to_string(bytes) + where(lanes, warps, gpu);
    const auto size = static_cast<std::uint32_t>(std::max(bytes, 128));
    if (pattern == "hot") {
      one.pattern.active = low_lanes(lanes);
    } else if (pattern == "struct") {
      one.pattern = spread(static_cast<std::uint32_t>(bytes), 1, lanes,
                           [&](std::uint32_t l) { return l * static_cast<std::uint32_t>(bytes); });
    } else {
      one.pattern = spread(size, 1, lanes,
                           [&](std::uint32_t l) { return l * 977 % (kRegion / size) * size; });
    }
    one.bytes = bytes;
    one.lanes = lanes;
    one.warps = warps;
    one.whole_gpu = gpu;
    one.one_by_one = pattern == "latency";
    // One place of the whole GPU: long beside what waits on its way there.
    const bool hot = pattern == "hot" && gpu;
    const double cost =
        hot ? (150 + 2.2 * bytes) / 4
            : (8 + bytes / 8.0) * lanes * (gpu ? 2.6 : 1.0) + (one.one_by_one ? 1000.0 : 0.0);
    one.iterations = std::clamp(static_cast<int>(kCycles / (cost * warps * kVectorArrays)), 2, 500);
    one.checked = pattern == "hot" || (bytes == 512 && lanes == 1 && warps == 4);
    one.parameters = {{"pattern", pattern},
                      {"bytes", bytes},
                      {"lanes", lanes},
                      {"warps_per_sm", warps},
                      {"whole_gpu", gpu}};
    all.push_back(std::move(one));
  };
  for (const int bytes : {16, 32, 48, 64, 128, 256, 512, 1024}) {
    for (const bool gpu : {false, true}) {
      for (const int warps : {1, 4, 32}) {
        add("lines", bytes, 1, warps, gpu);
      }
      for (const int lanes : {4, 32}) {
        add("lines", bytes, lanes, 32, gpu);
      }
    }
    add("latency", bytes, 1, 1, false);
    add("hot", bytes, 1, 16, true);
    add("hot", bytes, 1, 16, false);
  }
  for (const bool gpu : {false, true}) {
    for (const int lanes : {1, 32}) {
      add("struct", 48, lanes, 32, gpu);
    }
  }
  return all;
}

std::vector<SharedCase> shared_cases() {
  std::vector<SharedCase> all;
  const auto add = [&](const std::string& name, int lanes, int warps, std::uint32_t warp_words,
                       auto place) {
    SharedCase one;
    one.name = "shared_add/" + name + "/lanes=" + std::to_string(lanes) +
               "/warps=" + std::to_string(warps);
    one.pattern.active = low_lanes(lanes);
    one.pattern.warp_words = warp_words;
    for (std::uint32_t l = 0; l < 32; ++l) {
      one.pattern.lane[l] = place(l);
    }
    one.lanes = lanes;
    one.warps = warps;
    one.iterations =
        std::clamp(static_cast<int>(kCycles / (40.0 * lanes * warps * kSharedAdds)), 4, 200);
    one.parameters = {{"pattern", name}, {"lanes", lanes}, {"warps_per_sm", warps}};
    all.push_back(std::move(one));
  };
  for (const int lanes : {1, 2, 4, 8, 16, 32}) {
    for (const int warps : {1, 4, 32}) {
      add("same", lanes, warps, 32, [](std::uint32_t) { return 0U; });
      add("same_of_all_warps", lanes, warps, 0, [](std::uint32_t) { return 0U; });
      add("banks", lanes, warps, 32, [](std::uint32_t l) { return l; });
      add("banks_of_all_warps", lanes, warps, 0, [](std::uint32_t l) { return l; });
      add("pairs", lanes, warps, 32, [](std::uint32_t l) { return l / 2; });
      add("one_bank", lanes, warps, 32, [](std::uint32_t l) { return l * 32; });
    }
  }
  return all;
}

}  // namespace warpfold::microbench
