// SPDX-License-Identifier: Apache-2.0
#include "model/unit/wave_file.hpp"

#include <fcntl.h>
#include <fstapi.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <utility>

#include "traces/format/signals_held.hpp"

namespace warpfold {
namespace {

constexpr std::uint64_t kUnitsPerCycle = 10;  // of time, 100 ps each
constexpr signed char kTimescale = -10;
constexpr std::uint32_t kBinBits = 5;  // arc_pkg::BinWidth

[[noreturn]] void fail(const std::string& what, int error) {
  throw std::runtime_error("waves: " + what + ": " + std::strerror(error));
}

// The bits of one port, most significant first, as FST takes them.
class Bits {
 public:
  void clear() { text_.clear(); }
  // In front of what is there come the `width` low bits of `value`: lane 0 first.
  void prepend(std::uint64_t value, std::uint32_t width) {
    for (std::uint32_t bit = 0; bit < width; ++bit) {
      text_.push_back((value >> bit & 1U) != 0 ? '1' : '0');
    }
  }
  [[nodiscard]] std::string text() const { return {text_.rbegin(), text_.rend()}; }

 private:
  std::string text_;  // least significant first
};

using UnitPorts = ArcUnit::Ports;

struct Port {
  const char* name;
  bool is_input;
  std::uint32_t (*width)(const UnitPorts&);
  void (*put)(const PortValues&, const UnitPorts&, Bits&);
};

template <std::uint32_t kWidth>
std::uint32_t fixed(const UnitPorts& /*ports*/) {
  return kWidth;
}

constexpr std::uint32_t kMaskBits = kLanes;
constexpr std::uint32_t kDataBits = 32;
constexpr std::uint32_t kWordBits = 4;  // arc_pkg::WordWidth

// In the order of rtl/arc_subcore.sv, but for clk_i and rst_ni in front of them.
constexpr std::array kPorts = {
    Port{"req_valid_i", true, fixed<1>,
         [](const PortValues& p, const UnitPorts&, Bits& b) { b.prepend(p.inputs.req_valid, 1); }},
    Port{"req_ready_o", false, fixed<1>,
         [](const PortValues& p, const UnitPorts&, Bits& b) { b.prepend(p.outputs.req_ready, 1); }},
    Port{"req_mask_i", true, fixed<kMaskBits>,
         [](const PortValues& p, const UnitPorts&, Bits& b) {
           b.prepend(p.inputs.req_mask, kMaskBits);
         }},
    Port{"req_addr_i", true, fixed<kLanes * kAddrWidth>,
         [](const PortValues& p, const UnitPorts&, Bits& b) {
           for (const Address address : p.inputs.req_addr) {
             b.prepend(address, kAddrWidth);
           }
         }},
    Port{"req_tag_i", true, fixed<kTagWidth>,
         [](const PortValues& p, const UnitPorts&, Bits& b) {
           b.prepend(p.inputs.req_tag, kTagWidth);
         }},
    Port{"req_words_i", true, fixed<kWordBits>,
         [](const PortValues& p, const UnitPorts&, Bits& b) {
           b.prepend(p.inputs.req_words - 1, kWordBits);
         }},
    Port{"lsu_valid_o", false, fixed<1>,
         [](const PortValues& p, const UnitPorts&, Bits& b) { b.prepend(p.outputs.lsu_valid, 1); }},
    Port{"lsu_room_i", true, fixed<1>,
         [](const PortValues& p, const UnitPorts&, Bits& b) { b.prepend(p.inputs.lsu_room, 1); }},
    Port{"lsu_addr_o", false, fixed<kAddrWidth>,
         [](const PortValues& p, const UnitPorts&, Bits& b) {
           b.prepend(p.outputs.lsu_addr, kAddrWidth);
         }},
    Port{"lsu_mask_o", false, fixed<kMaskBits>,
         [](const PortValues& p, const UnitPorts&, Bits& b) {
           b.prepend(p.outputs.lsu_mask, kMaskBits);
         }},
    Port{"lsu_reduced_o", false, fixed<1>,
         [](const PortValues& p, const UnitPorts&, Bits& b) {
           b.prepend(p.outputs.lsu_reduced, 1);
         }},
    Port{"lsu_data_o", false, fixed<kDataBits>,
         [](const PortValues& p, const UnitPorts&, Bits& b) {
           b.prepend(p.outputs.lsu_data, kDataBits);
         }},
    Port{"lsu_tag_o", false, fixed<kTagWidth>,
         [](const PortValues& p, const UnitPorts&, Bits& b) {
           b.prepend(p.outputs.lsu_tag, kTagWidth);
         }},
    Port{"lsu_word_o", false, fixed<kWordBits>,
         [](const PortValues& p, const UnitPorts&, Bits& b) {
           b.prepend(p.outputs.lsu_word, kWordBits);
         }},
    Port{"lsu_last_o", false, fixed<1>,
         [](const PortValues& p, const UnitPorts&, Bits& b) { b.prepend(p.outputs.lsu_last, 1); }},
    Port{"rf_valid_o", false, fixed<1>,
         [](const PortValues& p, const UnitPorts&, Bits& b) { b.prepend(p.outputs.rf_valid, 1); }},
    Port{"rf_ready_i", true, fixed<1>,
         [](const PortValues& p, const UnitPorts&, Bits& b) { b.prepend(p.inputs.rf_ready, 1); }},
    Port{"rf_mask_o", false, fixed<kMaskBits>,
         [](const PortValues& p, const UnitPorts&,
            Bits& b) { b.prepend(p.outputs.rf_mask, kMaskBits); }},
    Port{"rf_tag_o", false, fixed<kTagWidth>,
         [](const PortValues& p, const UnitPorts&,
            Bits& b) { b.prepend(p.outputs.rf_tag, kTagWidth); }},
    Port{"rf_word_o", false, fixed<kWordBits>,
         [](const PortValues& p, const UnitPorts&,
            Bits& b) { b.prepend(p.outputs.rf_word, kWordBits); }},
    Port{"rf_data_i", true, [](const UnitPorts& ports) { return ports.read_lanes * kDataBits; },
         [](const PortValues& p, const UnitPorts& ports, Bits& b) {
           for (std::uint32_t lane = 0; lane < ports.read_lanes; ++lane) {
             b.prepend(p.inputs.rf_data[lane], kDataBits);
           }
         }},
    Port{"rf_bin_i", true, fixed<kLanes * kBinBits>,
         [](const PortValues& p, const UnitPorts&, Bits& b) {
           for (const std::uint8_t bin : p.inputs.rf_bins) {
             b.prepend(bin, kBinBits);
           }
         }},
    Port{"busy_o", false, fixed<1>,
         [](const PortValues& p, const UnitPorts&, Bits& b) { b.prepend(p.outputs.busy, 1); }},
};

}  // namespace

class WaveFile::Writer {
 public:
  Writer(const UnitPorts& ports, const std::vector<std::string>& scopes) : ports_(ports) {
    create();
    ::fstWriterSetTimescale(context_, kTimescale);
    ::fstWriterSetVersion(context_, "warpfold");
    ::fstWriterSetDate(context_,
                       "1 ns is one clock cycle");  // nothing that changes from day to day
    ::fstWriterSetScope(context_, FST_ST_VCD_MODULE, "top", nullptr);
    for (const std::string& scope : scopes) {
      ::fstWriterSetScope(context_, FST_ST_VCD_MODULE, scope.c_str(), "arc_subcore");
      Scope added;
      added.clock = variable("clk_i", true, 1);
      added.reset = variable("rst_ni", true, 1);
      for (std::size_t i = 0; i < kPorts.size(); ++i) {
        added.ports[i] = variable(kPorts[i].name, kPorts[i].is_input, kPorts[i].width(ports_));
      }
      ::fstWriterSetUpscope(context_);
      scopes_.push_back(std::move(added));
    }
    ::fstWriterSetUpscope(context_);
  }
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;
  ~Writer() {
    close();
    if (fd_ >= 0) {
      ::close(fd_);
    }
  }

  void add(Cycle cycle, const std::vector<const PortValues*>& ports) {
    if (last_ && cycle != *last_ + 1) {
      unknown(*last_ + 1);
    }
    ::fstWriterEmitTimeChange(context_, cycle * kUnitsPerCycle);
    for (std::size_t i = 0; i < scopes_.size(); ++i) {
      Scope& scope = scopes_[i];
      ::fstWriterEmitValueChange(context_, scope.clock, "1");
      if (!scope.shown) {
        ::fstWriterEmitValueChange(context_, scope.reset, "1");
      }
      show(scope, *ports.at(i));
    }
    ::fstWriterEmitTimeChange(context_, cycle * kUnitsPerCycle + kUnitsPerCycle / 2);
    for (const Scope& scope : scopes_) {
      ::fstWriterEmitValueChange(context_, scope.clock, "0");
    }
    last_ = cycle;
    ++cycles_;
  }

  [[nodiscard]] std::uint64_t cycles() const { return cycles_; }

  std::string finish() {
    if (last_) {
      ::fstWriterEmitTimeChange(context_, (*last_ + 1) * kUnitsPerCycle);
    }
    close();
    std::string text;
    std::array<char, 1 << 16> piece;
    for (;;) {
      const ssize_t got = ::read(fd_, piece.data(), piece.size());
      if (got < 0 && errno == EINTR) {
        continue;
      }
      if (got < 0) {
        fail("scratch file", errno);
      }
      if (got == 0) {
        return text;
      }
      text.append(piece.data(), static_cast<std::size_t>(got));
    }
  }

 private:
  struct Scope {
    fstHandle clock = 0;
    fstHandle reset = 0;
    std::array<fstHandle, kPorts.size()> ports{};
    std::optional<PortValues> shown;
  };

  // The library makes its files by name; they lose that at once, so that nothing of them is left
  // however the process ends.
  void create() {
    std::error_code error;
    std::filesystem::path folder = std::filesystem::temp_directory_path(error);
    if (error) {
      fail("folder for temporary files", error.value());
    }
    const trace::SignalsHeld held;
    std::string scratch = (folder / "warpfold-wave-XXXXXX").string();
    if (::mkdtemp(scratch.data()) == nullptr) {
      fail(scratch, errno);
    }
    const std::string name = scratch + "/wave.fst";
    context_ = ::fstWriterCreate(name.c_str(), 1);
    const int failure = errno;
    fd_ = context_ == nullptr ? -1 : ::open(name.c_str(), O_RDONLY | O_CLOEXEC);
    std::filesystem::remove_all(scratch, error);
    if (fd_ < 0) {
      close();
      fail(scratch, failure);
    }
  }

  void close() {
    if (void* const context = std::exchange(context_, nullptr); context != nullptr) {
      ::fstWriterClose(context);
    }
  }

  fstHandle variable(const char* name, bool is_input, std::uint32_t width) {
    std::string label = name;
    if (width > 1) {
      label += " [" + std::to_string(width - 1) + ":0]";
    }
    return ::fstWriterCreateVar(context_, FST_VT_VCD_WIRE, is_input ? FST_VD_INPUT : FST_VD_OUTPUT,
                                width, label.c_str(), 0);
  }

  void show(Scope& scope, const PortValues& values) {
    if (scope.shown && scope.shown->inputs == values.inputs &&
        scope.shown->outputs == values.outputs) {
      return;
    }
    for (std::size_t i = 0; i < kPorts.size(); ++i) {
      new_bits_.clear();
      kPorts[i].put(values, ports_, new_bits_);
      std::string text = new_bits_.text();
      if (scope.shown) {
        old_bits_.clear();
        kPorts[i].put(*scope.shown, ports_, old_bits_);
        if (old_bits_.text() == text) {
          continue;
        }
      }
      ::fstWriterEmitValueChange(context_, scope.ports[i], text.c_str());
    }
    scope.shown = values;
  }

  void unknown(Cycle cycle) {
    ::fstWriterEmitTimeChange(context_, cycle * kUnitsPerCycle);
    for (Scope& scope : scopes_) {
      for (std::size_t i = 0; i < kPorts.size(); ++i) {
        const std::string text(kPorts[i].width(ports_), 'x');
        ::fstWriterEmitValueChange(context_, scope.ports[i], text.c_str());
      }
      scope.shown.reset();
    }
  }

  const UnitPorts ports_;
  void* context_ = nullptr;
  int fd_ = -1;
  std::vector<Scope> scopes_;
  std::optional<Cycle> last_;
  std::uint64_t cycles_ = 0;
  Bits new_bits_, old_bits_;
};

WaveFile::WaveFile(const ArcUnit::Ports& ports, const std::vector<std::string>& scopes)
    : writer_(std::make_unique<Writer>(ports, scopes)) {}
WaveFile::~WaveFile() = default;

void WaveFile::add(Cycle cycle, const std::vector<const PortValues*>& ports) {
  writer_->add(cycle, ports);
}

std::uint64_t WaveFile::cycles() const {
  return writer_->cycles();
}

std::string WaveFile::finish() {
  return writer_->finish();
}

}  // namespace warpfold
