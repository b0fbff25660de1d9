// SPDX-License-Identifier: Apache-2.0
#include "traces/import/accelsim/spill.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>
#include <zstd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <utility>

#include "traces/format/trace.hpp"

namespace warpfold::accelsim {

namespace {

constexpr std::size_t kBytes = std::size_t{1} << 20U;
constexpr int kLevel = 1;

// What follows the mask of an event.
constexpr std::uint64_t kUniform = 1;  // each instruction has one address for all lanes
constexpr std::uint64_t kAlike = 2;    // the lanes of all instructions lie as those of the first

std::uint64_t zigzag(std::uint64_t step) {
  return step << 1U ^ static_cast<std::uint64_t>(static_cast<std::int64_t>(step) >> 63U);
}
std::uint64_t unzigzag(std::uint64_t number) {
  return number >> 1U ^ (~(number & 1U) + 1);
}

bool lanes_alike(const RunEvent& event, std::size_t lanes) {
  for (std::size_t i = lanes; i < event.addresses.size(); ++i) {
    const std::size_t lane = i % lanes;
    if (lane != 0 && event.addresses[i] - event.addresses[i - 1] !=
                         event.addresses[lane] - event.addresses[lane - 1]) {
      return false;
    }
  }
  return true;
}

}  // namespace

struct Spill::Codec {
  ZSTD_CCtx* packing = ZSTD_createCCtx();
  ZSTD_DCtx* unpacking = ZSTD_createDCtx();
  std::string packed = std::string(kBytes, '\0');
  ZSTD_inBuffer input = {nullptr, 0, 0};
  Codec() = default;
  Codec(const Codec&) = delete;
  Codec& operator=(const Codec&) = delete;
  ~Codec() {
    ZSTD_freeCCtx(packing);
    ZSTD_freeDCtx(unpacking);
  }
};

Spill::Spill(const std::filesystem::path& folder)
    : folder_(folder), codec_(std::make_unique<Codec>()) {
  std::string name = (folder / ".warpfold-import-XXXXXX").string();
  fd_ = ::mkostemp(name.data(), O_CLOEXEC);
  if (fd_ < 0) {
    fail("a temporary file cannot be made");
  }
  ::unlink(name.c_str());
  ZSTD_CCtx_setParameter(codec_->packing, ZSTD_c_compressionLevel, kLevel);
  bytes_.reserve(kBytes + 64);
}

Spill::~Spill() {
  ::close(fd_);
}

void Spill::fail(const char* what) const {
  throw trace::TraceError(fmt::format("{}: {}: {}", folder_.string(), what, std::strerror(errno)));
}

void Spill::put_number(std::uint64_t number) {
  while (number >= 0x80) {
    bytes_ += static_cast<char>(number | 0x80U);
    number >>= 7U;
  }
  bytes_ += static_cast<char>(number);
  if (bytes_.size() >= kBytes) {
    flush(false);
  }
}

void Spill::put_step(std::uint64_t from, std::uint64_t to) {
  put_number(zigzag(to - from));
}

std::uint64_t Spill::take_number() {
  std::uint64_t number = 0;
  for (unsigned shift = 0;; shift += 7) {
    if (at_ == bytes_.size()) {
      refill();
    }
    const auto byte = static_cast<unsigned char>(bytes_[at_++]);
    number |= std::uint64_t{byte & 0x7fU} << shift;
    if (byte < 0x80) {
      return number;
    }
  }
}

std::uint64_t Spill::take_step(std::uint64_t from) {
  return from + unzigzag(take_number());
}

void Spill::put(SpillKind kind, std::uint64_t number) {
  flush_work();
  put_number(static_cast<std::uint64_t>(kind));
  put_number(number);
}

void Spill::barrier() {
  flush_work();
  put_number(static_cast<std::uint64_t>(SpillKind::kBarrier));
}

void Spill::work(PathPasses passes) {
  const bool joins = pending_.path == passes.path && pending_.count <= UINT32_MAX - passes.count;
  if (pending_.count > 0 && joins) {
    pending_.count += passes.count;
    return;
  }
  flush_work();
  pending_ = passes;
}

void Spill::flush_work() {
  if (pending_.count > 0) {
    put_number(static_cast<std::uint64_t>(SpillKind::kWork));
    put_number(pending_.path);
    put_number(pending_.count);
    pending_.count = 0;
  }
}

std::vector<std::uint64_t>& Spill::last_addresses(RunIndex run, std::size_t length) {
  if (last_.size() <= run) {
    last_.resize(run + std::size_t{1});
  }
  last_[run].resize(length, 0);
  return last_[run];
}

void Spill::event(RunIndex run, const RunEvent& event) {
  const auto lanes = static_cast<std::size_t>(std::popcount(event.mask));
  const std::size_t length = event.addresses.size() / lanes;
  put(SpillKind::kEvent, run);
  put_number(event.mask);
  const std::uint64_t shape = event.is_uniform()          ? kUniform
                              : lanes_alike(event, lanes) ? kAlike
                                                          : 0;
  put_number(shape);
  std::vector<std::uint64_t>& last = last_addresses(run, length);
  for (std::size_t member = 0; member < length; ++member) {
    const std::uint64_t first = event.addresses[member * lanes];
    put_step(last[member], first);
    last[member] = first;
    if (shape == 0 || (shape == kAlike && member == 0)) {
      put_lanes(event, member, lanes);
    }
  }
}

void Spill::access(std::uint16_t site, const SpilledAccess& access) {
  put(SpillKind::kAccess, site);
  put_number(access.mask);
  put_number(access.sectors.size());
  for (const std::uint64_t sector : access.sectors) {
    put_step(std::exchange(last_sector_, sector), sector);
  }
}

void Spill::put_lanes(const RunEvent& event, std::size_t member, std::size_t lanes) {
  const std::uint64_t* const addresses = &event.addresses[member * lanes];
  for (std::size_t lane = 1; lane < lanes; ++lane) {
    put_step(addresses[lane - 1], addresses[lane]);
  }
}

void Spill::take_lanes(RunEvent& event, std::size_t member, std::size_t lanes) {
  std::uint64_t* const addresses = &event.addresses[member * lanes];
  for (std::size_t lane = 1; lane < lanes; ++lane) {
    addresses[lane] = take_step(addresses[lane - 1]);
  }
}

void Spill::rewind() {
  flush_work();
  put_number(static_cast<std::uint64_t>(SpillKind::kEnd));
  flush(true);
  if (::lseek(fd_, 0, SEEK_SET) != 0) {
    fail("a temporary file cannot be read");
  }
  last_.clear();
  last_sector_ = 0;
  bytes_.clear();
  at_ = 0;
}

void Spill::next(SpillItem& item, const Runs& runs) {
  item.kind = static_cast<SpillKind>(take_number());
  if (item.kind == SpillKind::kEnd || item.kind == SpillKind::kBarrier) {
    return;
  }
  item.number = take_number();
  if (item.kind == SpillKind::kWork) {
    item.count = static_cast<std::uint32_t>(take_number());
  }
  if (item.kind == SpillKind::kAccess) {
    item.access.mask = static_cast<std::uint32_t>(take_number());
    item.access.sectors.resize(take_number());
    for (std::uint64_t& sector : item.access.sectors) {
      sector = last_sector_ = take_step(last_sector_);
    }
    return;
  }
  if (item.kind != SpillKind::kEvent) {
    return;
  }
  const auto run = static_cast<RunIndex>(item.number);
  const std::size_t length = runs.length(run);
  RunEvent& event = item.event;
  event.mask = static_cast<std::uint32_t>(take_number());
  const auto lanes = static_cast<std::size_t>(std::popcount(event.mask));
  event.addresses.resize(length * lanes);
  const std::uint64_t shape = take_number();
  std::vector<std::uint64_t>& last = last_addresses(run, length);
  for (std::size_t member = 0; member < length; ++member) {
    std::uint64_t* const addresses = &event.addresses[member * lanes];
    addresses[0] = last[member] = take_step(last[member]);
    if (shape == 0 || (shape == kAlike && member == 0)) {
      take_lanes(event, member, lanes);
      continue;
    }
    for (std::size_t lane = 1; lane < lanes; ++lane) {
      addresses[lane] =
          addresses[0] + (shape == kUniform ? 0 : event.addresses[lane] - event.addresses[0]);
    }
  }
}

double Spill::done() const {
  return stored_ == 0 ? 0.0 : static_cast<double>(read_) / static_cast<double>(stored_);
}

void Spill::flush(bool last) {
  ZSTD_inBuffer input = {bytes_.data(), bytes_.size(), 0};
  std::size_t left = 0;
  do {
    ZSTD_outBuffer output = {codec_->packed.data(), codec_->packed.size(), 0};
    left =
        ZSTD_compressStream2(codec_->packing, &output, &input, last ? ZSTD_e_end : ZSTD_e_continue);
    if (ZSTD_isError(left) != 0U) {
      throw trace::TraceError(fmt::format("zstd: {}", ZSTD_getErrorName(left)));
    }
    for (std::size_t written = 0; written < output.pos;) {
      const ssize_t count = ::write(fd_, codec_->packed.data() + written, output.pos - written);
      if (count < 0 && errno != EINTR) {
        fail("a temporary file cannot be written");
      }
      written += count < 0 ? 0 : static_cast<std::size_t>(count);
    }
    stored_ += output.pos;
  } while (input.pos < input.size || (last && left > 0));
  bytes_.clear();
}

void Spill::refill() {
  ZSTD_inBuffer& input = codec_->input;
  bytes_.resize(kBytes);
  ZSTD_outBuffer output = {bytes_.data(), bytes_.size(), 0};
  for (;;) {
    const std::size_t result = ZSTD_decompressStream(codec_->unpacking, &output, &input);
    if (ZSTD_isError(result) != 0U) {
      throw trace::TraceError(fmt::format("zstd: {}", ZSTD_getErrorName(result)));
    }
    if (output.pos > 0) {
      break;
    }
    ssize_t count = -1;
    do {
      count = ::read(fd_, codec_->packed.data(), codec_->packed.size());
    } while (count < 0 && errno == EINTR);
    if (count <= 0) {
      fail("a temporary file cannot be read");
    }
    read_ += static_cast<std::uint64_t>(count);
    input = {codec_->packed.data(), static_cast<std::size_t>(count), 0};
  }
  bytes_.resize(output.pos);
  at_ = 0;
}

}  // namespace warpfold::accelsim
