// SPDX-License-Identifier: Apache-2.0
// Lists of launches, packed files, and a stream that is larger than the memory it may take.
#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "tb/import/launch_text.hpp"
#include "traces/format/reader.hpp"

namespace warpfold::accelsim::test {
namespace {

namespace fs = std::filesystem;
using Names = std::vector<std::string>;

Launch small_launch(const std::string& kernel, bool adds = true) {
  Launch launch =
      launch_of({plain(0x10, "FMUL"), adds ? red(0x20, at(kArray)) : plain(0x20, "EXIT")});
  launch.kernel = kernel;
  return launch;
}

TEST(Files, PackedOnesGiveTheSameTrace) {
  // Longer than the pieces that files are read in.
  WarpLines lines;
  for (std::uint64_t i = 0; i < 50'000; ++i) {
    lines.push_back(red(0x10, at(kArray + i * i % 4096 * 4)));
  }
  const std::string text = launch_of(lines).text();
  const Imported plain_text = imported(text);
  EXPECT_EQ(events_of(plain_text.ctas.at(0).warps.at(0)).size(), lines.size());
  for (const auto& [name, packed] : std::vector<std::pair<std::string, std::string>>{
           {"kernel-1.traceg.xz", xz_of(text)},
           {"kernel-1.traceg.zst", zstd_of(text)},
           {"kernel-1.traceg", xz_of(text)},  // the bytes say it, not the name
           {"kernel-1.traceg.xz", xz_of(text.substr(0, 5000)) + xz_of(text.substr(5000))},
           {"kernel-1.traceg.zst", zstd_of(text.substr(0, 5000)) + zstd_of(text.substr(5000))}}) {
    EXPECT_EQ(imported(packed, name).ctas, plain_text.ctas) << name;
  }
}

// As Accel-Sim 2.0 writes them, with and without a dictionary, whatever the name.
TEST(Files, TracezGivesTheSameTrace) {
  Launch launch = small_launch("_Z1aPf");
  launch.version = 6;
  launch.grid[0] = 2;
  launch.block[0] = 64;
  const WarpLines lines = launch.blocks[0].second[0];
  WarpLines longer(10, red(0x10, at(kArray)));
  launch.blocks = {{"0,0,0", {lines, longer}}, {"1,0,0", {longer, {}}}};
  const Imported text = imported(launch);
  ASSERT_EQ(text.ctas.size(), 2U);
  for (const std::size_t frame : {1U, 3U, 2048U}) {
    for (const bool dictionary : {false, true}) {
      for (const char* name : {"kernel-1.tracez", "kernel-1.traceg"}) {
        const Imported packed = imported(tracez_of(launch, frame, dictionary), name);
        EXPECT_EQ(packed.complaints, "");
        EXPECT_EQ(packed.ctas, text.ctas) << frame << dictionary << name;
        EXPECT_EQ(packed.header.paths, text.header.paths);
      }
    }
  }
  // A line that is wrong is that of the text.
  launch.blocks[0].second[0][0].sources = {"Q1"};
  const std::string why = refusal(launch.text());
  EXPECT_EQ(refusal(tracez_of(launch), "kernel-1.tracez"),
            "kernel-1.tracez:27: 'Q1' is not a register");
  EXPECT_EQ(why, "kernel-1.traceg:24: 'Q1' is not a register");
}

TEST(Files, DamagedTracezIsRefused) {
  Launch launch = small_launch("_Z1aPf");
  launch.version = 6;
  const std::string good = tracez_of(launch, 1, false);
  const auto damaged = [&](std::size_t from_end, std::uint32_t number) {
    std::string file = good;
    for (std::size_t i = 0; i < 4; ++i) {
      file[file.size() - from_end + i] = static_cast<char>(number >> (8 * i));
    }
    return refusal(file, "kernel-1.tracez");
  };
  const std::string is = "kernel-1.tracez: is a .tracez that is damaged or cut off: ";
  // From the end: where the index is; two sizes of frames; place, frames, instructions of a warp;
  // warps.
  EXPECT_EQ(damaged(8, 7), is + "an index at byte 7");
  EXPECT_EQ(damaged(8, 1U << 30U), is + "an index at byte 1073741824");
  EXPECT_EQ(damaged(24, 1U << 30U), is + "a warp at byte 1073741824");
  EXPECT_EQ(damaged(28, 3), is + "no room for the sizes of frames");
  EXPECT_TRUE(damaged(32, 3).ends_with(" is not as the index says"));
  EXPECT_EQ(damaged(36, 33), is + "a thread block of 33 warps");
  EXPECT_EQ(refusal(good.substr(0, good.find('\0') + 3), "kernel-1.tracez"),
            is + "no room for its dictionary");
  const TempFolder folder;
  write_text(folder / "kernelslist.g", "kernel-1.tracez\n");
  ASSERT_EQ(::mkfifo((folder / "kernel-1.tracez").c_str(), 0600), 0);
  std::thread writer([&] { write_text(folder / "kernel-1.tracez", good); });
  std::string why;
  std::ostringstream printed;
  import_accelsim({.list = folder / "kernelslist.g",
                   .out = folder / "out",
                   .complain = [&](const std::string& line) { why = line; }},
                  printed);
  writer.join();
  EXPECT_TRUE(
      why.ends_with("kernel-1.tracez: is a .tracez, whose index stands at its end: it "
                    "cannot be a pipe (Accel-Sim's traceDsm prints it as text)"))
      << why;
}

TEST(Files, CutOffAndDamagedPackingIsRefused) {
  const std::string text = small_launch("_Z1aPf").text();
  for (const bool is_xz : {true, false}) {
    const std::string packed = is_xz ? xz_of(text) : zstd_of(text);
    const std::string name = is_xz ? "xz" : "zstd";
    for (std::size_t end = 6; end < packed.size(); end += 3) {
      EXPECT_EQ(refusal(packed.substr(0, end)),
                fmt::format("kernel-1.traceg: its {} stream is cut off", name))
          << end;
    }
    std::string damaged = packed;
    damaged[packed.size() / 2] = static_cast<char>(~damaged[packed.size() / 2]);
    refusal(damaged);
    EXPECT_TRUE(refusal(packed + "more")
                    .starts_with(fmt::format("kernel-1.traceg: its {} stream is", name)));
  }
}

// A folder with launches and a list, imported with these options.
struct Folder {
  TempFolder folder;
  ImportOutcome outcome;
  std::string printed;
  std::string complaints;

  void write(const std::string& name, const std::string& text) const {
    write_text(folder / name, text);
  }
  Names import(ImportOptions options) {
    options.list = folder / "kernelslist.g";
    options.out = folder / "out";
    fs::remove_all(options.out);
    complaints.clear();
    options.complain = [this](const std::string& line) {
      EXPECT_TRUE(line.starts_with(folder.path().string() + "/")) << line;
      complaints += line.substr(folder.path().string().size() + 1) + "\n";
    };
    std::ostringstream out;
    outcome = import_accelsim(options, out);
    printed = out.str();
    Names names;
    for (const auto& entry : fs::directory_iterator(options.out)) {
      names.push_back(entry.path().filename().string());
    }
    std::sort(names.begin(), names.end());
    return names;
  }
  std::string refusal(const ImportOptions& options = {}) {
    try {
      import(options);
    } catch (const trace::TraceError& error) {
      const std::string why = error.what();
      EXPECT_TRUE(why.starts_with(folder.path().string() + "/")) << why;
      return why.substr(folder.path().string().size() + 1);
    }
    return "";
  }
};

TEST(Files, ListsNameLaunchesAndCopies) {
  Folder all;
  all.write("kernelslist.g",
            "MemcpyHtoD,0x00007f2ab4a00000,4096\nkernel-1.traceg\nkernel-2.trace.xz\n\n"
            "MemcpyDtoH,0x00007f2ab4a00000,4096\nkernel-3.traceg\nkernel-4.traceg.zst");
  all.write("kernel-1.traceg", small_launch("_Z1aPf").text());
  all.write("kernel-2.traceg.xz", xz_of(small_launch("_Z5scalePf").text()));
  all.write("kernel-3.traceg", small_launch("_Z1aPf").text());
  all.write("kernel-4.traceg.zst", zstd_of(small_launch("_Z4copyPf", false).text()));
  EXPECT_EQ(all.import({}), (Names{"kernel-1.wft", "kernel-2.wft"}));
  EXPECT_EQ(all.outcome.launches, 3U);
  EXPECT_NE(all.printed.find("kernel-4.traceg.zst: _Z4copyPf: 1 CTAs, 2 warp instructions, none of "
                             "its REDs or ATOMs adds floats: no trace\n"),
            std::string::npos)
      << all.printed;
  EXPECT_EQ(all.import({.launch = 0}), (Names{"kernel-1.wft", "kernel-2.wft", "kernel-3.wft"}));
  EXPECT_EQ(all.import({.launch = 2}), Names{"kernel-3.wft"});
  EXPECT_EQ(all.import({.launch = 3}), Names{});
  EXPECT_EQ(all.outcome.launches, 0U);
  EXPECT_EQ(all.import({.kernel = "scale"}), Names{"kernel-2.wft"});
  EXPECT_EQ(all.import({.kernel = "a\\(float"}), Names{"kernel-1.wft"});  // as it is written in C++
  EXPECT_EQ(all.import({.kernel = "copy"}), Names{});
  EXPECT_EQ(all.outcome.launches, 1U);
}

// A regular expression goes through a name with a frame of the stack for each character.
TEST(Files, NamesOfAnyLengthAreLookedAt) {
  Folder one;
  one.write("kernelslist.g", "kernel-1.traceg\n");
  one.write("kernel-1.traceg", small_launch("adds" + std::string(60000, 'a')).text());
  EXPECT_EQ(one.import({.kernel = "^adds(a|b)*c"}), Names{});
  EXPECT_EQ(one.import({.kernel = "^adds.*a"}), Names{"kernel-1.wft"});
}

TEST(Files, WorkloadAndSceneAreTheUsers) {
  Folder one;
  one.write("kernelslist.g", "kernel-1.traceg\n");
  one.write("kernel-1.traceg", small_launch("_Z1aPf").text());
  one.import({.workload = "3D-TK", .scene = "truck"});
  Imported trace;
  read_back(one.folder / "out/kernel-1.wft", trace);
  EXPECT_EQ(trace.header.workload, "3D-TK");
  EXPECT_EQ(trace.header.scene, "truck");
}

TEST(Files, WrongListsAreRefused) {
  Folder wrong;
  EXPECT_EQ(wrong.refusal(), "kernelslist.g: No such file or directory");
  wrong.write("kernelslist.g", "\n\n");
  EXPECT_EQ(wrong.refusal(), "kernelslist.g: lists no kernel");
  wrong.write("kernelslist.g", "MemcpyHtoD,0x0,4\nlaunch-1.traceg\n");
  EXPECT_EQ(wrong.refusal(), "kernelslist.g:2: neither the file of a kernel nor a copy of memory");
  wrong.write("kernelslist.g", small_launch("_Z1aPf").text());
  EXPECT_EQ(wrong.refusal(),
            "kernelslist.g:1: is the trace of a launch; what is wanted is the list beside it, "
            "kernelslist.g");
}

// Each is told of, and the good ones are imported.
TEST(Files, LaunchesThatCannotBeReadAreLeftOut) {
  Folder some;
  some.write("kernelslist.g",
             "\xef\xbb\xbfkernel-1.traceg\r\nkernel-1/../../x.traceg\nSync,3\nkernel-2.traceg\n"
             "kernel-3.traceg\nkernel-4.traceg\nkernel-5.traceg\nkernel-6.traceg\n");
  some.write("kernel-1.traceg", "\xef\xbb\xbf" + small_launch("_Z1aPf").text());
  fs::create_directory(some.folder / "kernel-3.traceg");
  some.write("kernel-4.traceg", "");
  some.write("kernel-5.traceg", std::string(2'000'000, '-'));
  some.write("kernel-6.traceg", small_launch("_Z1bPf").text());
  EXPECT_EQ(some.import({}), (Names{"kernel-1.wft", "kernel-6.wft"}));
  EXPECT_EQ(some.complaints,
            "kernelslist.g:3: neither the file of a kernel nor a copy of memory\n"
            "kernelslist.g:2: the file of a kernel lies beside the list\n"
            "kernel-2.traceg: No such file or directory\n"
            "kernel-3.traceg: is a folder\n"
            "kernel-4.traceg:0: is empty\n"
            "kernel-5.traceg:1: a line of more than 1048576 bytes\n");
  EXPECT_EQ(some.outcome.launches, 2U);
  EXPECT_EQ(some.outcome.refused, 5U);
}

// One that is not asked for may be as it likes, if its name can be read.
TEST(Files, OtherLaunchesMayBeWrong) {
  Folder some;
  some.write("kernelslist.g", "kernel-1.traceg\nkernel-2.traceg\nkernel-3.traceg\n");
  std::string wrong = small_launch("_Z5scalePf").text();
  wrong.replace(wrong.find("-nregs = 24"), 11, "-nregs = 0");
  some.write("kernel-1.traceg", wrong);
  some.write("kernel-2.traceg", small_launch("_Z5scalePf").text());
  some.write("kernel-3.traceg", small_launch("_Z1aPf").text());
  EXPECT_EQ(some.import({.kernel = "_Z1aPf"}), Names{"kernel-3.wft"});
  EXPECT_EQ(some.outcome.refused, 0U);
  EXPECT_EQ(some.import({.kernel = "scale"}), Names{});  // the first launch is the wrong one
  EXPECT_EQ(some.complaints, "kernel-1.traceg:6: -nregs: 0 is not in 1..255\n");
  EXPECT_EQ(some.import({.kernel = "scale", .launch = 2}), Names{"kernel-2.wft"});
  EXPECT_EQ(some.outcome.refused, 0U);
}

// What the tracer wrote stands for what the tool that groups it made of it.
TEST(Files, NamesOfUngroupedFilesStandForGroupedOnes) {
  Folder some;
  Launch launch = small_launch("_Z1aPf");
  launch.version = 6;
  some.write("kernelslist.g", "kernel-1-ctx_0x55.trace.xz\nkernel-2-ctx_0x55.trace\n");
  some.write("kernel-1-ctx_0x55.tracez", tracez_of(launch));
  some.write("kernel-2-ctx_0x55.traceg", launch.text());
  EXPECT_EQ(some.import({.launch = 0}), (Names{"kernel-1-ctx_0x55.wft", "kernel-2-ctx_0x55.wft"}));
  EXPECT_EQ(some.complaints, "");
}

// A name of a file need not be UTF-8, a text of a trace must.
TEST(Files, NamesOfFilesMayBeAnyBytes) {
  Folder some;
  some.write("kernelslist.g", "kernel-\xff.traceg\n");
  some.write("kernel-\xff.traceg", small_launch("_Z1aPf").text());
  EXPECT_EQ(some.import({}).size(), 1U) << some.complaints;
}

// A step that says no ends it, with nothing left of the launch that it was at.
TEST(Files, WorkThatIsGivenUpLeavesNothing) {
  const TempFolder folder;
  write_text(folder / "kernelslist.g", "kernel-1.traceg\n");
  write_text(folder / "kernel-1.traceg", small_launch("_Z1aPf").text());
  for (int allowed = 0;; ++allowed) {
    int steps = 0;
    std::ostringstream printed;
    try {
      import_accelsim({.list = folder / "kernelslist.g", .out = folder / "out"}, printed,
                      [&](double) { return ++steps > allowed; });
      EXPECT_GT(allowed, 2);
      break;
    } catch (const trace::TraceError&) {
      EXPECT_TRUE(fs::is_empty(folder / "out"));
    }
  }
}

// --- a stream ---

constexpr std::uint64_t kBlocks = 64;  // different ones

// Blocks of a stream of so many bytes: eight warps that add in a loop.
struct Stream {
  explicit Stream(std::uint64_t bytes) {
    Launch launch;
    launch.block[0] = 256;
    for (std::uint64_t block = 0; block < kBlocks; ++block) {
      launch.blocks = {{"0,0,0", std::vector<WarpLines>(8, warp(block))}};
      const std::string text = launch.text();
      const std::size_t begin = text.find("\nwarp = 0");
      if (block == 0) {
        head = text.substr(0, text.find("#BEGIN_TB"));
      }
      bodies.push_back(text.substr(begin));
    }
    count = bytes / bodies[0].size() + 1;
    const std::string grid = "(1,1,1)";
    head.replace(head.find(grid), grid.size(), fmt::format("({},1,1)", count));
  }

  static WarpLines warp(std::uint64_t block) {
    WarpLines lines = {plain(0x00, "S2R", "R0"), plain(0x10, "IMAD.WIDE", "R2", {"R0", "R255"})};
    for (std::uint64_t turn = 0; turn < 40; ++turn) {
      std::vector<std::uint64_t> addresses;
      for (std::uint64_t lane = 0; lane < 32; ++lane) {
        addresses.push_back(kArray + 4 * (turn % 4 == 0 ? block * 999 + turn
                                                        : (lane * lane * 7 + turn * block) % 9000));
      }
      lines.push_back(plain(0x20, "LDG.E", "R4", {"R2"}));
      lines.back().addresses = at(kArray);
      lines.back().form = Form::kStride;
      lines.push_back(plain(0x30, "FMUL", "R4", {"R4", "R4"}));
      lines.push_back(red(0x40, addresses));
      lines.back().form = Form::kSteps;
      lines.push_back(plain(0x50, "ISETP.GE.AND", "", {"R2"}));
      lines.push_back(plain(0x60, "BRA"));
    }
    return lines;
  }

  // To a pipe; ends early where nobody reads any more.
  void write(const fs::path& pipe) const {
    const int fd = ::open(pipe.c_str(), O_WRONLY);
    bool good = put(fd, head);
    for (std::uint64_t block = 0; good && block < count; ++block) {
      good = put(fd, fmt::format("\n#BEGIN_TB\n\nthread block = {},0,0\n", block)) &&
             put(fd, bodies[block % kBlocks]);
    }
    ::close(fd);
  }
  static bool put(int fd, std::string_view text) {
    while (!text.empty()) {
      const ssize_t written = ::write(fd, text.data(), text.size());
      if (written < 0) {
        return false;
      }
      text.remove_prefix(static_cast<std::size_t>(written));
    }
    return true;
  }

  std::string head;
  std::vector<std::string> bodies;
  std::uint64_t count = 0;
};

struct Ended {
  int code = -1;
  long peak_kib = 0;
};

Ended run_command(const std::vector<std::string>& words, const fs::path& log) {
  const pid_t child = ::fork();
  if (child == 0) {
    const int fd = ::open(log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    ::dup2(fd, STDOUT_FILENO);
    ::dup2(fd, STDERR_FILENO);
    std::vector<char*> argv;
    for (const std::string& word : words) {
      argv.push_back(const_cast<char*>(word.c_str()));
    }
    argv.push_back(nullptr);
    ::execv(argv[0], argv.data());
    ::_exit(127);
  }
  int status = 0;
  struct rusage usage {};
  ::wait4(child, &status, 0, &usage);
  return {.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1, .peak_kib = usage.ru_maxrss};
}

TEST(Files, TheExitCodeSaysThatALaunchWasNotImported) {
  const TempFolder folder;
  write_text(folder / "kernelslist.g", "kernel-1.traceg\nkernel-2.traceg\n");
  write_text(folder / "kernel-2.traceg", small_launch("_Z1aPf").text());
  const auto run = [&] {
    return run_command({WARPFOLD_COMMAND, "trace", "import-accelsim",
                        (folder / "kernelslist.g").string(), "--out", (folder / "out").string()},
                       folder / "log")
        .code;
  };
  EXPECT_EQ(run(), 2);
  EXPECT_TRUE(fs::exists(folder / "out/kernel-2.wft"));
  std::ostringstream log;
  log << std::ifstream(folder / "log").rdbuf();
  EXPECT_NE(log.str().find("kernelslist.g: 1 of 2 launches cannot be read\n"), std::string::npos)
      << log.str();
  write_text(folder / "kernel-1.traceg", small_launch("_Z1cPf", false).text());
  EXPECT_EQ(run(), 0);
  write_text(folder / "kernel-2.traceg", small_launch("_Z1bPf", false).text());
  EXPECT_EQ(run(), 1);
}

// WARPFOLD_IMPORT_STREAM_MB makes it longer, up to the 10 GB that must pass.
TEST(Files, AStreamPassesThroughALittleMemory) {
  ::signal(SIGPIPE, SIG_IGN);
  const char* const asked = std::getenv("WARPFOLD_IMPORT_STREAM_MB");
  const std::uint64_t megabytes = asked != nullptr ? std::strtoull(asked, nullptr, 10) : 400;
  const Stream stream(megabytes * 1'000'000);
  const TempFolder folder;
  write_text(folder / "kernelslist.g", "kernel-1.traceg\n");
  ASSERT_EQ(::mkfifo((folder / "kernel-1.traceg").c_str(), 0600), 0);
  std::thread writer([&] { stream.write(folder / "kernel-1.traceg"); });
  const Ended ended =
      run_command({WARPFOLD_COMMAND, "trace", "import-accelsim",
                   (folder / "kernelslist.g").string(), "--out", (folder / "out").string()},
                  folder / "log");
  writer.join();
  ASSERT_EQ(ended.code, 0);
#if !defined(__SANITIZE_ADDRESS__)        // which keeps what is freed
  constexpr long kMostKib = 256L << 10U;  // less than the stream, and a quarter of what is allowed
  EXPECT_LT(ended.peak_kib, kMostKib);
#endif
  const trace::Reader reader(folder / "out/kernel-1.wft");
  EXPECT_EQ(reader.cta_count(), stream.count);
  EXPECT_EQ(reader.event_count(), stream.count * 8 * 40);
  RecordProperty("megabytes", static_cast<int>(megabytes));
  RecordProperty("peak_kib", static_cast<int>(ended.peak_kib));
}

// What the code of policies costs in any kernel stands beside the baseline, whatever the GPU.
TEST(Files, TheCommandAddsPoliciesInSoftware) {
  const TempFolder folder;
  write_text(folder / "kernelslist.g", "kernel-1.traceg\n");
  std::string text = small_launch("_Z1aPf").text();
  const std::string version = "-binary version = 86";
  text.replace(text.find(version), version.size(), "-binary version = 70");
  write_text(folder / "kernel-1.traceg", text);
  const Ended ended =
      run_command({WARPFOLD_COMMAND, "trace", "import-accelsim",
                   (folder / "kernelslist.g").string(), "--out", (folder / "out").string()},
                  folder / "log");
  ASSERT_EQ(ended.code, 0);
  Imported trace;
  read_back(folder / "out/kernel-1.wft", trace);
  const auto& variants = trace.header.costs.at("sm_70");
  ASSERT_EQ(variants.size(), 4U);
  for (const std::string name : {"sw-s", "sw-b", "skip"}) {
    const trace::VariantCost& variant = variants.at(name);
    EXPECT_EQ(variant.paths, variants.at("baseline").paths);
    EXPECT_GT(variant.registers, variants.at("baseline").registers);
    ASSERT_EQ(variant.reduce.size(), 1U);
    const trace::InstructionCost& leader = variant.reduce[0].at("leader");
    EXPECT_GT(leader.issue_slots(), 0U);
    EXPECT_TRUE(leader.estimated);
  }
}

TEST(Files, TheCommandSaysWhatIsWrongInOneLine) {
  const TempFolder folder;
  const auto log_of = [&](std::vector<std::string> words, int code) {
    words.insert(words.begin(), {WARPFOLD_COMMAND, "trace", "import-accelsim"});
    EXPECT_EQ(run_command(words, folder / "log").code, code);
    const trace::test::Bytes bytes = trace::test::read_bytes(folder / "log");
    return std::string(bytes.begin(), bytes.end());
  };
  const std::string list = (folder / "kernelslist.g").string();
  const std::string out = (folder / "out").string();
  EXPECT_EQ(log_of({list, "--out", out}, 2),
            fmt::format("warpfold: {}: No such file or directory\n", list));
  write_text(list, "kernel-1.traceg\n");
  write_text(folder / "kernel-1.traceg", small_launch("_Z1aPf", false).text());
  EXPECT_NE(log_of({list, "--out", out}, 1)
                .find("kernelslist.g: no RED or ATOM of a launch that was asked for adds floats\n"),
            std::string::npos);
  EXPECT_EQ(log_of({list, "--out", out, "--kernel", "other"}, 1),
            fmt::format("warpfold: {}: no launch was asked for that is there\n", list));
  const std::string launch = log_of({list, "--out", out, "--launch", "0"}, 2);
  EXPECT_NE(launch.find("'0' is neither a number from 1 on nor all"), std::string::npos) << launch;
  const std::string kernel = log_of({list, "--out", out, "--kernel", "("}, 2);
  EXPECT_NE(kernel.find("'(' is no regular expression"), std::string::npos) << kernel;
  EXPECT_EQ(std::count(kernel.begin(), kernel.end(), '\n'), 1) << kernel;
  write_text(folder / "file", "");
  EXPECT_NE(log_of({list, "--out", (folder / "file").string()}, 2).find("/file: "),
            std::string::npos);
}

// The command alone, and with data that are none.
TEST(Files, AnInstallationWithoutItsDataSaysWhatIsMissing) {
  const TempFolder folder;
  fs::create_directories(folder / "bin");
  fs::create_directories(folder / "lib/warpfold");
  fs::copy_file(WARPFOLD_COMMAND, folder / "bin/warpfold");
  write_text(folder / "kernelslist.g", "kernel-1.traceg\n");
  const auto log = [&] {
    EXPECT_EQ(run_command({(folder / "bin/warpfold").string(), "trace", "import-accelsim",
                           (folder / "kernelslist.g").string(), "--out", folder.path().string()},
                          folder / "log")
                  .code,
              2);
    const trace::test::Bytes bytes = trace::test::read_bytes(folder / "log");
    return std::string(bytes.begin(), bytes.end());
  };
  const std::string table = (folder / "lib/warpfold/reduction_costs.json").string();
  EXPECT_EQ(log(), fmt::format("warpfold: {}: is not there: the data of warpfold are not installed "
                               "with it\n",
                               table));
  write_text(table, "no JSON");
  EXPECT_EQ(log(), fmt::format("warpfold: {}: is no table of costs\n", table));
}

}  // namespace
}  // namespace warpfold::accelsim::test
