// SPDX-License-Identifier: Apache-2.0
// The writer leaves a whole trace or nothing, and refuses records that do not fit the header.
#include "traces/format/writer.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <functional>
#include <random>
#include <string>
#include <utility>

#include "tb/trace/synthetic.hpp"
#include "tb/trace/trace_files.hpp"
#include "traces/format/reader.hpp"

namespace warpfold::trace::test {
namespace {

// The one line of the TraceError that `action` throws, without the path in front.
std::string failure(const std::filesystem::path& path, const std::function<void()>& action) {
  try {
    action();
  } catch (const TraceError& error) {
    const std::string what = error.what();
    EXPECT_EQ(what.find('\n'), std::string::npos) << what;
    EXPECT_EQ(what.rfind(path.string() + ": ", 0), 0U) << what;
    return what.substr(std::min(what.size(), path.string().size() + 2));
  }
  return "";
}

// Files end at `bytes` while it lives, as on a full disk, for any user.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{.rlim_cur = bytes, .rlim_max = before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;

 private:
  rlimit before_{};
  void (*handler_)(int);
};

TEST(Writer, AFullDiskLeavesNothing) {
  const TempFolder folder;
  const auto path = folder / "t.wft";
  write_random(path, small_header(20, 256), 1, 2);
  const Bytes whole = read_bytes(path);
  for (rlim_t limit = 0; limit < whole.size(); limit += 97) {
    std::string why;
    {
      const FileSizeLimit full(limit);
      why = failure(path, [&] { write_random(path, small_header(20, 256), 1, 2); });
    }
    EXPECT_EQ(why, "cannot write: File too large") << limit;
    EXPECT_EQ(folder.names(), std::vector<std::string>{"t.wft"}) << limit;
  }
  EXPECT_EQ(read_bytes(path), whole);  // what was there stays
}

TEST(Writer, FoldersThatCannotBeWrittenAreRefused) {
  const TempFolder folder;
  const Header header = small_header(1, 32);
  const auto missing = folder / "none/t.wft";
  EXPECT_EQ(failure(missing, [&] { Writer(missing, header); }),
            "cannot write: No such file or directory");
  write_bytes(folder / "file", {1});
  const auto below = folder / "file/t.wft";
  EXPECT_EQ(failure(below, [&] { Writer(below, header); }), "cannot write: Not a directory");
  EXPECT_EQ(failure(folder.path(), [&] { Writer(folder.path(), header); }),
            "cannot write: it is a directory");
  const std::filesystem::path device = "/dev/full";
  EXPECT_EQ(failure(device, [&] { Writer(device, header); }),
            "cannot write: it is not a regular file");
  if (::geteuid() != 0) {  // root may write anywhere
    std::filesystem::create_directory(folder / "closed");
    std::filesystem::permissions(
        folder / "closed", std::filesystem::perms::owner_read | std::filesystem::perms::owner_exec);
    const auto closed = folder / "closed/t.wft";
    EXPECT_EQ(failure(closed, [&] { Writer(closed, header); }), "cannot write: Permission denied");
  }
}

TEST(Writer, WithoutFinishNothingIsLeft) {
  const TempFolder folder;
  const Header header = small_header(3, 32);
  {
    Writer writer(folder / "t.wft", header);
    writer.add({.cta = 0, .warps = std::vector<WarpTrace>(1)});
  }
  EXPECT_TRUE(folder.names().empty());
}

// So that nothing is left of a process that is killed.
TEST(Writer, AFileHasNoNameBeforeItIsWhole) {
  const TempFolder folder;
  const int nameless = ::open(folder.path().c_str(), O_TMPFILE | O_WRONLY, 0600);
  if (nameless < 0) {
    GTEST_SKIP() << "this file system has no files without a name";
  }
  ::close(nameless);
  const Header header = small_header(1, 32);
  Writer writer(folder / "t.wft", header);
  EXPECT_EQ(folder.names(), std::vector<std::string>{});
  writer.add({.cta = 0, .warps = std::vector<WarpTrace>(1)});
  EXPECT_EQ(folder.names(), std::vector<std::string>{});
  writer.finish();
  EXPECT_EQ(folder.names(), std::vector<std::string>{"t.wft"});
}

TEST(Writer, ALinkStaysALink) {
  const TempFolder folder;
  write_random(folder / "real.wft", small_header(3, 32), 1);
  std::filesystem::create_symlink("real.wft", folder / "link.wft");
  write_random(folder / "link.wft", small_header(5, 32), 2);
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "link.wft"));
  EXPECT_EQ(Reader(folder / "real.wft").cta_count(), 5U);
}

TEST(Writer, ALinkToNothingIsRefused) {
  const TempFolder folder;
  std::filesystem::create_symlink("none.wft", folder / "link.wft");
  EXPECT_THROW(Writer(folder / "link.wft", small_header(1, 32)), TraceError);
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "link.wft"));
}

TEST(Writer, TwoWritersOfOneTargetDoNotMix) {
  const TempFolder folder;
  const Header header = small_header(1, 32);
  Writer first(folder / "t.wft", header);
  Writer second(folder / "t.wft", header);
  first.add({.cta = 0, .warps = std::vector<WarpTrace>(1)});
  second.add({.cta = 0, .warps = std::vector<WarpTrace>(1)});
  first.finish();
  second.finish();
  EXPECT_EQ(refusal(folder / "t.wft", true), "");
  EXPECT_EQ(folder.names().size(), 1U);
}

// Every CTA here is refused, with this in the line.
TEST(Writer, RecordsThatDoNotFitTheHeaderAreRefused) {
  const TempFolder folder;
  const auto path = folder / "t.wft";
  Header header = small_header(4, 40);  // the second warp has 8 lanes
  const auto refused = [&](const CtaTrace& cta) {
    return failure(path, [&] { Writer(path, header).add(cta); });
  };
  const auto with = [](const Record& record, std::size_t warp = 0) {
    CtaTrace cta{.cta = 0, .warps = std::vector<WarpTrace>(2)};
    cta.warps[warp].records = {record};
    return cta;
  };
  const Record event{.kind = RecordKind::kEvent, .mask = 1, .primitive = 999};
  EXPECT_EQ(refused(with(event)), "");

  Record bad = event;
  bad.mask = 0;
  EXPECT_EQ(refused(with(bad)), "CTA 0, warp 0, record 0: event with mask 0");
  bad.mask = 0x100;
  EXPECT_EQ(refused(with(bad)), "");
  EXPECT_EQ(refused(with(bad, 1)),
            "CTA 0, warp 1, record 0: mask 0x00000100 has lanes that the block does not have");
  bad = event;
  bad.primitive = 1000;
  EXPECT_EQ(refused(with(bad)), "CTA 0, warp 0, record 0: primitive 1000, the header has 1000");
  EXPECT_EQ(refused(with({.kind = RecordKind::kWork, .path = 3, .count = 1})),
            "CTA 0, warp 0, record 0: path 3, the header has 3");
  EXPECT_EQ(refused(with({.kind = static_cast<RecordKind>(9)})),
            "CTA 0, warp 0, record 0: unknown kind 9");

  CtaTrace cta = with(event);
  cta.warps[0].records[0].lane_primitives = 1;
  cta.warps[0].lane_primitives.assign(32, 0);
  EXPECT_EQ(refused(cta),
            "CTA 0, warp 0, record 0: lane_primitives lies outside the list of its warp");
  cta.warps[0].records[0].lane_primitives = 0;
  EXPECT_EQ(refused(cta), "");
  cta.warps[0].lane_primitives[0] = 1000;
  EXPECT_EQ(refused(cta), "CTA 0, warp 0, record 0: primitive 1000, the header has 1000");

  cta = with(event);
  cta.warps[0].values = {1, 2};
  EXPECT_EQ(refused(cta), "CTA 0, warp 0: values, but the header says none");
  header.values = ValueMode::kOperands;
  EXPECT_EQ(refused(cta), "");
  cta.warps[0].records[0].values = 1;
  EXPECT_EQ(refused(cta), "CTA 0, warp 0, record 0: its 2 values lie outside the list of its warp");
  cta.warps[0].records[0].values = UINT64_MAX;
  EXPECT_NE(refused(cta), "");
  header.values = ValueMode::kNone;

  cta = with(event);
  cta.warps.resize(1);
  EXPECT_EQ(refused(cta), "CTA 0: 1 warps, the header's block has 2");
  cta = with(event);
  cta.cta = 4;
  EXPECT_EQ(refused(cta), "CTA 4: the launch has 4");
  EXPECT_TRUE(folder.names().empty());
}

TEST(Writer, OrderAndNumberOfCtasAreChecked) {
  const TempFolder folder;
  const auto path = folder / "t.wft";
  const Header header = small_header(3, 32);
  const auto cta = [](std::uint64_t id) {
    return CtaTrace{.cta = id, .warps = std::vector<WarpTrace>(1)};
  };
  EXPECT_EQ(failure(path,
                    [&] {
                      Writer writer(path, header);
                      writer.add(cta(1));
                      writer.add(cta(1));
                    }),
            "CTA 1 comes behind CTA 1");
  EXPECT_EQ(failure(path, [&] { Writer(path, header).finish(); }), "a trace of 0 CTAs");
  EXPECT_EQ(failure(path,
                    [&] {
                      Writer writer(path, header);
                      writer.add(cta(1));
                      writer.finish();
                    }),
            "1 of 3 CTAs, but the header names no sampling");
  Header sample = header;
  sample.sampling = "1 of every 2";
  sample.sample_every = 2;
  EXPECT_EQ(failure(path,
                    [&] {
                      Writer writer(path, sample);
                      writer.add(cta(1));
                      writer.add(cta(2));
                      writer.finish();
                    }),
            "2 of 3 CTAs, a sample of 1 in 2 has 1");
  EXPECT_TRUE(folder.names().empty());

  Writer writer(path, header);
  EXPECT_NE(failure(path, [&] { writer.add(cta(3)); }), "");
  EXPECT_TRUE(folder.names().empty());
  EXPECT_EQ(failure(path, [&] { writer.add(cta(0)); }),
            "cannot write: it is finished or has failed");
  EXPECT_EQ(failure(path, [&] { writer.finish(); }), "cannot write: it is finished or has failed");
}

TEST(Writer, BadOptionsAndHeadersAreRefused) {
  const TempFolder folder;
  const auto path = folder / "t.wft";
  Header header = small_header(1, 32);
  EXPECT_NE(failure(path, [&] { Writer(path, header, {.zstd_level = 23}); }), "");
  EXPECT_NE(failure(path, [&] { Writer(path, header, {.ctas_per_chunk = 0}); }), "");
  header.sites[0].parameters[1].stride_bytes = 0;
  EXPECT_EQ(failure(path, [&] { Writer(path, header); }),
            "header: sites[0].parameters[1].stride_bytes: 0 is not a multiple of 4 above 0");
  header = small_header(1, 32);
  header.scene = "\xff";
  EXPECT_EQ(failure(path, [&] { Writer(path, header); }), "header: a text is not UTF-8");
  EXPECT_TRUE(folder.names().empty());
}

}  // namespace
}  // namespace warpfold::trace::test
