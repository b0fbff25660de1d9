// SPDX-License-Identifier: Apache-2.0
// Parts of what is loaded into CUDA programs that need none: JSON, the look at machine code, and
// who waits for what.
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <thread>

#include "traces/record/inject/code_scan.hpp"
#include "traces/record/inject/json_text.hpp"
#include "traces/record/inject/process.hpp"
#include "traces/record/inject/watchdog.hpp"

namespace warpfold::record::test {
namespace {

using nlohmann::json;

TEST(JsonText, IsJson) {
  const std::string name = "void a<\"b\\c\">(int)\n\x01é";
  const std::string text = JsonText::object()
                               .text("name", name)
                               .number("most", ~std::uint64_t{0})
                               .raw("grid", JsonText::array().item_number(1).item("true").dump())
                               .raw("none", JsonText::array().dump())
                               .dump();
  const json parsed = json::parse(text);
  EXPECT_EQ(parsed["name"], name);
  EXPECT_EQ(parsed["most"], ~std::uint64_t{0});
  EXPECT_EQ(parsed["grid"], json::parse("[1, true]"));
  EXPECT_TRUE(parsed["none"].empty());
}

TEST(Process, SaysWhoItIs) {
  const json parsed = json::parse(hello("record"));
  EXPECT_EQ(parsed["library"], "record");
  EXPECT_EQ(parsed["pid"], getpid());
  EXPECT_GT(parsed["started"].get<std::uint64_t>(), 0U);
}

// A cubin of these functions, each some instructions of which bits 0 to 8 are given, and which of
// them are kernels.
using Sections = std::vector<std::pair<std::string, std::vector<std::uint16_t>>>;
std::string cubin(std::uint32_t flags, const Sections& functions,
                  const std::vector<std::string>& kernels = {}) {
  std::string file("\177ELF\2\1\1\x33\x08", 9);
  file.resize(64, '\0');
  const auto put = [&](std::size_t at, std::uint64_t value, std::size_t bytes) {
    std::memcpy(file.data() + at, &value, bytes);
  };
  struct Section {
    std::uint64_t name, offset, bytes;
  };
  std::vector<Section> sections = {{0, 0, 0}};
  std::string names(1, '\0');
  for (const auto& [function, code] : functions) {
    sections.push_back({names.size(), file.size(), 16 * code.size()});
    names += ".text." + function + '\0';
    for (const std::uint16_t bits : code) {
      std::string instruction(16, '\0');
      std::memcpy(instruction.data(), &bits, sizeof bits);
      file += instruction;
    }
  }
  for (const std::string& kernel : kernels) {
    sections.push_back({names.size(), file.size(), 0});
    names += ".nv.constant0." + kernel + '\0';
  }
  sections.push_back({0, file.size(), names.size()});
  file += names;
  const std::size_t headers = file.size();
  file.resize(headers + 64 * sections.size(), '\0');
  for (std::size_t i = 0; i < sections.size(); ++i) {
    put(headers + 64 * i, sections[i].name, 4);
    put(headers + 64 * i + 24, sections[i].offset, 8);
    put(headers + 64 * i + 32, sections[i].bytes, 8);
  }
  put(40, headers, 8);
  put(48, flags, 4);
  put(58, 64, 2);
  put(60, sections.size(), 2);
  put(62, sections.size() - 1, 2);
  return file;
}

constexpr std::uint32_t kSm90 = 0x06005a04;

TEST(CodeScan, FindsTheFunctionsThatHaveAtomics) {
  const std::string file =
      cubin(kSm90, {{"adds", {0x210, 0x9a6}}, {"loads", {0x981}}, {"swaps", {0x9a9, 0x94d}}});
  const CodeScan scan(file);
  EXPECT_TRUE(scan.any());
  EXPECT_TRUE(scan.has("adds"));
  EXPECT_TRUE(scan.has("swaps"));
  EXPECT_FALSE(scan.has("loads"));
  EXPECT_FALSE(CodeScan(cubin(kSm90, {{"loads", {0x981}}})).any());
}

TEST(CodeScan, FindsKernelsWhoseFunctionsHaveAtomics) {
  const Sections code{{"calls", {0x7943}}, {"adds", {0x9a6}}, {"loads", {0x981}}};
  EXPECT_TRUE(CodeScan(cubin(kSm90, code, {"calls", "loads"})).has_elsewhere("calls"));
  EXPECT_FALSE(CodeScan(cubin(kSm90, code, {"calls", "loads"})).has_elsewhere("loads"));
  EXPECT_FALSE(CodeScan(cubin(kSm90, code, {"calls", "loads"})).has_elsewhere("adds"));
  // What adds is another kernel.
  EXPECT_FALSE(CodeScan(cubin(kSm90, code, {"calls", "adds"})).has_elsewhere("calls"));
}

TEST(CodeScan, InDoubtAFunctionHas) {
  EXPECT_TRUE(CodeScan("no cubin at all").has("f"));
  EXPECT_TRUE(CodeScan("").any());
  EXPECT_TRUE(CodeScan(cubin(0x0600ff04, {{"loads", {0x981}}})).has("loads"));  // sm_255
  // Cut off anywhere it is read without harm.
  const std::string file = cubin(kSm90, {{"adds", {0x9a6}}});
  for (std::size_t bytes = 0; bytes < file.size(); ++bytes) {
    const CodeScan scan(std::string_view(file).substr(0, bytes));
    static_cast<void>(scan.any());
  }
}

// A socket that one connection is made to, and what comes over it.
class Listener {
 public:
  Listener() {
    path_ = std::filesystem::temp_directory_path() / ("inject-" + std::to_string(getpid()));
    std::filesystem::remove(path_);
    sockaddr_un name{};
    name.sun_family = AF_UNIX;
    std::strcpy(name.sun_path, path_.c_str());
    socket_ = socket(AF_UNIX, SOCK_STREAM, 0);
    EXPECT_EQ(bind(socket_, reinterpret_cast<const sockaddr*>(&name), sizeof name), 0);
    EXPECT_EQ(listen(socket_, 1), 0);
    setenv(kSocketVariable, path_.c_str(), 1);
    EXPECT_TRUE(connection.open());
    peer_ = accept(socket_, nullptr, nullptr);
  }
  ~Listener() {
    close(peer_);
    close(socket_);
    std::filesystem::remove(path_);
  }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;
  // Within that time; null where nothing comes.
  json next(std::chrono::milliseconds patience) const {
    timeval time{.tv_sec = patience.count() / 1000, .tv_usec = patience.count() % 1000 * 1000};
    setsockopt(peer_, SOL_SOCKET, SO_RCVTIMEO, &time, sizeof time);
    MessageHead head{};
    if (recv(peer_, &head, sizeof head, MSG_WAITALL) != sizeof head) {
      return nullptr;
    }
    std::string text(head.bytes, '\0');
    recv(peer_, text.data(), text.size(), MSG_WAITALL);
    json parsed = json::parse(text);
    parsed["kind"] = head.kind;
    return parsed;
  }
  Connection connection;

 private:
  std::filesystem::path path_;
  int socket_ = -1, peer_ = -1;
};

TEST(Watchdog, SaysWhatIsWaitedForOnce) {
  Listener listener;
  Watchdog dog(listener.connection, std::chrono::milliseconds(80), [] { return std::uint64_t{0}; });
  const Watchdog::Wait wait(dog, "the driver");
  const json told = listener.next(std::chrono::seconds(20));
  EXPECT_EQ(told["kind"], Message::kStuck);
  EXPECT_EQ(told["what"], "the driver");
  EXPECT_TRUE(listener.next(std::chrono::milliseconds(300)).is_null());
}

TEST(Watchdog, ProgressAndWaitsThatEndAreNoReason) {
  Listener listener;
  std::atomic<std::uint64_t> moves = 0;
  Watchdog dog(listener.connection, std::chrono::milliseconds(400), [&] { return moves.load(); });
  { const Watchdog::Wait wait(dog, "an answer"); }
  const Watchdog::Wait wait(dog, "the GPU");
  for (int i = 0; i < 100; ++i) {
    ++moves;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_TRUE(listener.next(std::chrono::milliseconds(1)).is_null());
}

}  // namespace
}  // namespace warpfold::record::test
