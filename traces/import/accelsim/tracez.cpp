// SPDX-License-Identifier: Apache-2.0
#include "traces/import/accelsim/tracez.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <string>
#include <utility>

namespace warpfold::accelsim {

namespace {

constexpr std::uint64_t kMostFrontBytes = std::uint64_t{1} << 20U;
constexpr std::uint64_t kMostDictionaryBytes = std::uint64_t{16} << 20U;
constexpr std::uint64_t kMostFrameBytes = std::uint64_t{64} << 20U;  // packed, and as text
constexpr std::uint32_t kMostWarps = 32;
constexpr std::uint64_t kIndexAhead = std::uint64_t{64} << 10U;

[[noreturn]] void damaged(std::string_view why) {
  throw std::runtime_error(fmt::format("is a .tracez that is damaged or cut off: {}", why));
}

// A stretch of the file, read from its front on. All that is asked of it must lie inside.
class Stretch {
 public:
  // Numbers are read `ahead` bytes at a time.
  Stretch(int fd, std::uint64_t begin, std::uint64_t end, std::uint64_t ahead = 64)
      : fd_(fd), at_(begin), end_(end), ahead_(ahead) {}

  [[nodiscard]] std::uint64_t at() const { return at_; }
  [[nodiscard]] std::uint64_t left() const { return end_ - at_; }

  std::string_view bytes(std::uint64_t count, std::string& into, const char* what) {
    if (count > left()) {
      damaged(fmt::format("no room for {}", what));
    }
    into.resize(static_cast<std::size_t>(count));
    std::size_t have = 0;
    while (have < into.size()) {
      const ssize_t got =
          ::pread(fd_, into.data() + have, into.size() - have, static_cast<off_t>(at_ + have));
      if (got < 0 && errno == EINTR) {
        continue;
      }
      if (got <= 0) {
        damaged(got == 0 ? "it has become shorter" : std::strerror(errno));
      }
      have += static_cast<std::size_t>(got);
    }
    at_ += count;
    return into;
  }

  // Little-endian, through a buffer.
  std::uint32_t u32(const char* what) { return number<std::uint32_t>(what); }
  std::uint64_t u64(const char* what) { return number<std::uint64_t>(what); }
  void skip(std::uint64_t count, const char* what) {
    if (count > left()) {
      damaged(fmt::format("no room for {}", what));
    }
    at_ += count;
  }

 private:
  template <typename Number>
  Number number(const char* what) {
    if (sizeof(Number) > left()) {
      damaged(fmt::format("no room for {}", what));
    }
    if (at_ < buffer_at_ || at_ + sizeof(Number) > buffer_at_ + buffer_.size()) {
      const std::uint64_t begin = at_;
      bytes(std::min(ahead_, left()), buffer_, what);
      buffer_at_ = at_ = begin;
    }
    Number result = 0;
    for (std::size_t i = 0; i < sizeof(Number); ++i) {
      const auto byte = static_cast<unsigned char>(buffer_[at_ - buffer_at_ + i]);
      result |= static_cast<Number>(Number{byte} << (8 * i));
    }
    at_ += sizeof(Number);
    return result;
  }

  int fd_;
  std::uint64_t at_;
  std::uint64_t end_;
  std::uint64_t ahead_;
  std::string buffer_;
  std::uint64_t buffer_at_ = 0;
};

std::uint64_t size_of(int fd) {
  struct stat status {};
  if (::fstat(fd, &status) != 0 || !S_ISREG(status.st_mode)) {
    throw std::runtime_error(
        "is a .tracez, whose index stands at its end: it cannot be a pipe (Accel-Sim's traceDsm "
        "prints it as text)");
  }
  return static_cast<std::uint64_t>(status.st_size);
}

class Tracez : public Unpacker {
 public:
  Tracez(int fd, std::function<void(std::uint64_t)> progress)
      : fd_(fd), size_(size_of(fd)), progress_(std::move(progress)), index_(fd, 0, 0) {
    Stretch front(fd_, read_header(), size_);
    const std::uint32_t dictionary_bytes = front.u32("its dictionary");
    front.u32("the size of its frames");
    if (dictionary_bytes > kMostDictionaryBytes) {
      damaged(fmt::format("a dictionary of {} bytes", dictionary_bytes));
    }
    std::string dictionary;
    front.bytes(dictionary_bytes, dictionary, "its dictionary");
    data_begin_ = front.at();
    if (dictionary_bytes > 0) {
      dictionary_ = ZSTD_createDDict(dictionary.data(), dictionary.size());
    }
    context_ = ZSTD_createDCtx();
    try {
      if (context_ == nullptr || (dictionary_bytes > 0 && dictionary_ == nullptr)) {
        damaged("its dictionary");
      }
      find_index();
    } catch (...) {
      release();
      throw;
    }
  }
  ~Tracez() override { release(); }
  Tracez(const Tracez&) = delete;
  Tracez& operator=(const Tracez&) = delete;

  std::size_t unpack(std::string_view& /*in*/, char* out, std::size_t room,
                     bool /*last*/) override {
    while (given_ == text_.size()) {
      text_.clear();
      given_ = 0;
      if (!write_more()) {
        return 0;
      }
    }
    const std::size_t count = std::min(room, text_.size() - given_);
    std::memcpy(out, text_.data() + given_, count);
    given_ += count;
    return count;
  }

 private:
  void release() {
    ZSTD_freeDCtx(context_);
    ZSTD_freeDDict(dictionary_);
  }

  // Puts the header into the text; where what follows it begins.
  std::uint64_t read_header() {
    Stretch file(fd_, 0, size_);
    file.bytes(std::min(size_, kMostFrontBytes), text_, "its header");
    const std::size_t end = text_.find('\0');
    if (end == std::string::npos) {
      damaged("its header does not end");
    }
    text_.resize(end);
    return end + 1;
  }

  void find_index() {
    if (size_ - data_begin_ < sizeof(std::uint64_t)) {
      damaged("no room for its index");
    }
    const std::uint64_t index_end = size_ - sizeof(std::uint64_t);
    index_begin_ = Stretch(fd_, index_end, size_).u64("its index");
    if (index_begin_ < data_begin_ || index_begin_ > index_end) {
      damaged(fmt::format("an index at byte {}", index_begin_));
    }
    index_ = Stretch(fd_, index_begin_, index_end, kIndexAhead);
    blocks_left_ = index_.u32("the number of thread blocks");
  }

  // Appends to the text; false where there is nothing more.
  bool write_more() {
    if (frames_left_ > 0) {
      write_frame();
    } else if (warps_left_ > 0) {
      begin_warp();
    } else if (in_block_) {
      text_ += "\n#END_TB\n";
      in_block_ = false;
    } else if (blocks_left_ > 0) {
      begin_block();
    } else {
      return false;
    }
    return true;
  }

  std::array<std::uint32_t, 3> three(const char* what) {
    std::array<std::uint32_t, 3> numbers{};
    for (std::uint32_t& number : numbers) {
      number = index_.u32(what);
    }
    return numbers;
  }

  void begin_block() {
    const auto block = three("a thread block");
    const auto cluster = three("a cluster");
    const auto place = three("a place in a cluster");
    const std::uint32_t rank = index_.u32("a rank in a cluster");
    text_ += fmt::format("\n#BEGIN_TB\n\nthread block = {},{},{}\n", block[0], block[1], block[2]);
    text_ += fmt::format("cluster id = {},{},{}\n", cluster[0], cluster[1], cluster[2]);
    text_ += fmt::format("cluster cta = {},{},{}\ncluster rank = {}\n", place[0], place[1],
                         place[2], rank);
    warps_left_ = index_.u32("the number of warps");
    if (warps_left_ > kMostWarps) {
      damaged(fmt::format("a thread block of {} warps", warps_left_));
    }
    warp_ = 0;
    --blocks_left_;
    in_block_ = true;
  }

  void begin_warp() {
    const std::uint32_t instructions = index_.u32("a number of instructions");
    const std::uint32_t frames = index_.u32("a number of frames");
    const std::uint64_t offset = index_.u64("the place of a warp");
    index_.skip(std::uint64_t{frames} * sizeof(std::uint32_t), "the sizes of frames");
    if (offset < data_begin_ || offset > index_begin_) {
      damaged(fmt::format("a warp at byte {}", offset));
    }
    frames_ = Stretch(fd_, offset, index_begin_);
    if (frames_.u32("a warp") != instructions || frames_.u32("a warp") != frames) {
      damaged(fmt::format("the warp at byte {} is not as the index says", offset));
    }
    frames_left_ = frames;
    text_ += fmt::format("\nwarp = {}\ninsts = {}\n", warp_, instructions);
    ++warp_;
    --warps_left_;
  }

  void write_frame() {
    const std::uint32_t bytes = frames_.u32("a frame");
    if (bytes > kMostFrameBytes) {
      damaged(fmt::format("a frame of {} bytes", bytes));
    }
    frames_.bytes(bytes, packed_, "a frame");
    progress_(frames_.at());
    const unsigned long long whole = ZSTD_getFrameContentSize(packed_.data(), packed_.size());
    if (whole == ZSTD_CONTENTSIZE_ERROR || whole == ZSTD_CONTENTSIZE_UNKNOWN ||
        whole > kMostFrameBytes) {
      damaged("a frame without its size, or of more than 64 MiB");
    }
    text_.resize(static_cast<std::size_t>(whole));
    const std::size_t count = ZSTD_decompress_usingDDict(
        context_, text_.data(), text_.size(), packed_.data(), packed_.size(), dictionary_);
    if (ZSTD_isError(count) != 0U) {
      damaged(ZSTD_getErrorName(count));
    }
    text_.resize(count);
    if (!text_.ends_with('\n')) {
      text_ += '\n';
    }
    --frames_left_;
  }

  int fd_;
  std::uint64_t size_;
  std::function<void(std::uint64_t)> progress_;
  ZSTD_DCtx* context_ = nullptr;
  ZSTD_DDict* dictionary_ = nullptr;
  std::uint64_t data_begin_ = 0;
  std::uint64_t index_begin_ = 0;
  Stretch index_;
  Stretch frames_ = Stretch(-1, 0, 0);
  std::uint32_t blocks_left_ = 0;
  std::uint32_t warps_left_ = 0;   // of the thread block
  std::uint32_t frames_left_ = 0;  // of the warp
  std::uint32_t warp_ = 0;
  bool in_block_ = false;
  std::string packed_;
  std::string text_;  // that has not been given out from given_ on
  std::size_t given_ = 0;
};

}  // namespace

bool is_tracez(std::string_view first_bytes) {
  return first_bytes.starts_with('-') && first_bytes.find('\0') != std::string_view::npos;
}

std::unique_ptr<Unpacker> open_tracez(int fd, std::function<void(std::uint64_t)> progress) {
  return std::make_unique<Tracez>(fd, std::move(progress));
}

}  // namespace warpfold::accelsim
