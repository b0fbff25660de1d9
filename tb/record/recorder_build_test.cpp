// SPDX-License-Identifier: Apache-2.0
// The recorder is built once by the toolkit that is there, and who lacks something is told what.
// The toolkit here is made of shell scripts.
#include "traces/record/host/recorder_build.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include "traces/format/trace.hpp"

namespace warpfold::record::test {
namespace {

namespace fs = std::filesystem;

class RecorderBuild : public testing::Test {
 protected:
  void SetUp() override {
    fs::remove_all(folder_);
    for (const char* file :
         {"compute-sanitizer/include/sanitizer.h", "compute-sanitizer/libsanitizer-public.so",
          "compute-sanitizer/include/sanitizer_patching.h", "include/cuda.h",
          "extras/CUPTI/include/cupti.h", "extras/CUPTI/lib64/libcupti.so"}) {
      write(root_ / file, "");
    }
    for (const char* file : {"protocol.hpp", "device/patches.cu", "inject/record.cpp"}) {
      write(sources_ / "traces/record" / file, "// as it is\n");
    }
    fs::create_directories(scratch_);
    script("nvcc",
           "case $1 in --version) echo 'release 13.0, V13.0.88';; --list-gpu-arch) echo "
           "compute_60; echo compute_90;; *) " +
               kCompile + ";; esac");
    script("cuobjdump", "echo '/*0040*/ @P2 IADD3 R1, R2, R3, RZ ; /* 0x1 */'");
    script("cxx", kCompile);
    setenv("CUDA_HOME", root_.c_str(), 1);
    setenv("CXX", (root_ / "bin/cxx").c_str(), 1);
  }
  void TearDown() override { fs::remove_all(folder_); }

  static void write(const fs::path& path, const std::string& text) {
    fs::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  void script(const std::string& name, const std::string& lines) const {
    write(root_ / "bin" / name, "#!/bin/sh\n" + lines + "\n");
    fs::permissions(root_ / "bin" / name, fs::perms::owner_all);
  }
  Recorder build() {
    said_.clear();
    return recorder_for(find_toolkit(scratch_), sources_, folder_ / "cache", scratch_,
                        [this](const std::string& line) { said_ += line + "\n"; });
  }
  std::string refusal() {
    try {
      build();
    } catch (const trace::TraceError& error) {
      return error.what();
    }
    return "";
  }
  [[nodiscard]] std::size_t compiled() const {
    std::ifstream file(folder_ / "compiled");
    std::size_t lines = 0;
    for (std::string line; std::getline(file, line);) {
      ++lines;
    }
    return lines;
  }

  const fs::path folder_ =
      fs::temp_directory_path() / ("recorder-build-" + std::to_string(getpid()));
  const fs::path root_ = folder_ / "cuda", sources_ = folder_ / "sources",
                 scratch_ = folder_ / "scratch";
  // Notes the command and makes the file behind -o.
  const std::string kCompile = "echo \"$@\" >> " + (folder_ / "compiled").string() +
                               "; while [ \"$1\" != -o ]; do shift; done; echo made > \"$2\"";
  std::string said_;
};

TEST_F(RecorderBuild, ItIsBuiltOnce) {
  const Recorder first = build();
  EXPECT_NE(said_.find("building the recorder for CUDA 13.0.88, once: "), std::string::npos);
  EXPECT_EQ(compiled(), 3U);
  for (const fs::path& file : {first.record_library, first.time_library, first.patches}) {
    EXPECT_TRUE(fs::exists(file)) << file;
  }
  EXPECT_EQ(build().patches, first.patches);
  EXPECT_EQ(said_, "");
  EXPECT_EQ(compiled(), 3U);
  // Nothing else is left.
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_ / "cache"), fs::directory_iterator()), 1);
}

TEST_F(RecorderBuild, AnotherToolkitOrOtherSourcesMakeAnother) {
  const Recorder first = build();
  write(sources_ / "traces/record/inject/record.cpp", "// changed\n");
  const Recorder second = build();
  EXPECT_NE(second.patches, first.patches);
  write(root_ / "compute-sanitizer/include/sanitizer_patching.h",
        "SANITIZER_INSTRUCTION_BULK_REDUCTION_SHARED_TO_GLOBAL");
  const Recorder third = build();
  EXPECT_NE(third.patches, second.patches);
  EXPECT_FALSE(second.reports_rows);
  EXPECT_TRUE(third.reports_rows);
  std::ifstream file(folder_ / "compiled");
  std::ostringstream commands;
  commands << file.rdbuf();
  EXPECT_NE(commands.str().find("-DWARPFOLD_BULK"), std::string::npos);
  EXPECT_NE(commands.str().find("arch=compute_90,code=sm_90"), std::string::npos);
  EXPECT_EQ(commands.str().find("compute_60"), std::string::npos);
}

TEST_F(RecorderBuild, WhatIsMissingIsNamed) {
  const auto without = [&](const fs::path& file) {
    fs::rename(root_ / file, folder_ / "away");
    const std::string why = refusal();
    fs::rename(folder_ / "away", root_ / file);
    return why;
  };
  EXPECT_NE(without("compute-sanitizer/include/sanitizer.h").find("the Compute Sanitizer"),
            std::string::npos);
  EXPECT_NE(without("extras/CUPTI/lib64/libcupti.so").find("CUPTI"), std::string::npos);
  EXPECT_NE(without("bin/nvcc").find("no CUDA toolkit"), std::string::npos);
  EXPECT_NE(without("bin/cxx").find("no C++ compiler"), std::string::npos);
  EXPECT_EQ(compiled(), 0U);
  EXPECT_EQ(refusal(), "");
}

TEST_F(RecorderBuild, WhatACompilerRefusesIsSaidAndNothingIsKept) {
  script("cxx",
         "echo 'In file included' >&2; echo 'record.cpp:3: error: no such thing' >&2; exit 1");
  EXPECT_EQ(refusal(),
            "the C++ compiler cannot compile the recorder: record.cpp:3: error: no such thing");
  EXPECT_TRUE(fs::is_empty(folder_ / "cache"));
}

TEST_F(RecorderBuild, CodeThatSpoilsAPredicateIsNotUsed) {
  script("cuobjdump", "echo '/*0040*/ @P3 IADD3 R1, R2, R3, RZ ; /* 0x1 */'");
  EXPECT_NE(refusal().find("would spoil a predicate"), std::string::npos);
  EXPECT_TRUE(fs::is_empty(folder_ / "cache"));
}

TEST_F(RecorderBuild, TheCacheIsWhereItCanBeWritten) {
  setenv("WARPFOLD_CACHE", (folder_ / "mine").c_str(), 1);
  EXPECT_EQ(cache_folder(), folder_ / "mine");
  setenv("TMPDIR", folder_.c_str(), 1);
  setenv("WARPFOLD_CACHE", "/proc/nowhere", 1);
  EXPECT_EQ(cache_folder(), folder_ / ("warpfold-" + std::to_string(getuid())));
  unsetenv("WARPFOLD_CACHE");
  setenv("XDG_CACHE_HOME", (folder_ / "common").c_str(), 1);
  EXPECT_EQ(cache_folder(), folder_ / "common/warpfold");
  unsetenv("XDG_CACHE_HOME");
  setenv("HOME", (folder_ / "home").c_str(), 1);
  EXPECT_EQ(cache_folder(), folder_ / "home/.cache/warpfold");
}

}  // namespace
}  // namespace warpfold::record::test
