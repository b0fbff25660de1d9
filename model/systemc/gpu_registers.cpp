// SPDX-License-Identifier: Apache-2.0
#include "model/systemc/gpu_registers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>

namespace warpfold::systemc {

namespace {

constexpr std::uint64_t kId = 0x444c4657;
constexpr std::uint64_t kRegisterBytes = sizeof(std::uint64_t);
constexpr std::uint64_t kRegistersEnd =
    static_cast<std::uint64_t>(GpuRegister::kLaunches) + kRegisterBytes;
constexpr std::uint64_t kLaunch = 1;
constexpr std::uint64_t kReset = 2;

constexpr GpuRegister register_at(std::uint64_t offset) {
  return static_cast<GpuRegister>(offset / kRegisterBytes * kRegisterBytes);
}

}  // namespace

GpuRegisters::GpuRegisters(GpuDevice& device, Socket& socket) : device_(device), socket_(socket) {
  socket.register_b_transport(this, &GpuRegisters::transport);
  socket.register_transport_dbg(this, &GpuRegisters::debug);
  socket.register_get_direct_mem_ptr(this, &GpuRegisters::dmi);
}

void GpuRegisters::tell_failure(const std::string& text) {
  constexpr std::size_t kBegin = kGpuFailureText - kGpuText;
  std::fill(text_.begin() + kBegin, text_.end(), std::uint8_t{0});
  std::copy_n(text.begin(), std::min(text.size(), text_.size() - kBegin - 1),
              text_.begin() + kBegin);
}

void GpuRegisters::invalidate() {
  if (socket_.get_base_port().size() > 0) {
    socket_->invalidate_direct_mem_ptr(kGpuMemory, ~sc_dt::uint64{0});
  }
}

void GpuRegisters::transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
  payload.set_response_status(access(payload, delay));
}

tlm::tlm_response_status GpuRegisters::access(tlm::tlm_generic_payload& payload,
                                              const sc_core::sc_time& delay) {
  const std::uint64_t address = payload.get_address();
  const std::uint64_t bytes = payload.get_data_length();
  if (payload.get_byte_enable_ptr() != nullptr) {
    return tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE;
  }
  if (payload.get_streaming_width() < bytes) {
    return tlm::TLM_BURST_ERROR_RESPONSE;
  }
  if (!payload.is_read() && !payload.is_write()) {
    return tlm::TLM_COMMAND_ERROR_RESPONSE;
  }
  if (address < kRegistersEnd) {
    return access_register(payload, delay);
  }
  if (address < kGpuText || address >= kGpuText + kGpuTextBytes ||
      bytes > kGpuText + kGpuTextBytes - address) {
    return tlm::TLM_ADDRESS_ERROR_RESPONSE;
  }
  std::uint8_t* const text = &text_[address - kGpuText];
  if (payload.is_read()) {
    std::memcpy(payload.get_data_ptr(), text, bytes);
  } else {
    std::memcpy(text, payload.get_data_ptr(), bytes);
  }
  return tlm::TLM_OK_RESPONSE;
}

// One, or half of one.
tlm::tlm_response_status GpuRegisters::access_register(tlm::tlm_generic_payload& payload,
                                                       const sc_core::sc_time& delay) {
  const std::uint64_t address = payload.get_address();
  const std::size_t bytes = payload.get_data_length();
  if ((bytes != kRegisterBytes && bytes != kRegisterBytes / 2) || address % bytes != 0) {
    return tlm::TLM_BURST_ERROR_RESPONSE;
  }
  const auto offset = static_cast<std::uint32_t>(register_at(address));
  const std::uint64_t shift = 8 * (address - offset);
  const std::uint64_t mask = bytes == kRegisterBytes ? ~std::uint64_t{0} : 0xffffffffU;
  if (payload.is_read()) {
    const std::uint64_t value = read(offset) >> shift & mask;
    std::memcpy(payload.get_data_ptr(), &value, bytes);
    return tlm::TLM_OK_RESPONSE;
  }
  std::uint64_t value = 0;
  std::memcpy(&value, payload.get_data_ptr(), bytes);
  return write(offset, (read(offset) & ~(mask << shift)) | value << shift, delay);
}

std::uint64_t GpuRegisters::read(std::uint32_t offset) const {
  switch (static_cast<GpuRegister>(offset)) {
    case GpuRegister::kId:
      return kId;
    case GpuRegister::kControl:
      return 0;
    case GpuRegister::kStatus:
      return static_cast<std::uint64_t>(device_.status());
    case GpuRegister::kTrace:
      return trace_;
    case GpuRegister::kPolicy:
      return policy_;
    case GpuRegister::kCycles:
      return device_.cycles();
    case GpuRegister::kLaunches:
      return device_.launches();
  }
  return 0;
}

tlm::tlm_response_status GpuRegisters::write(std::uint32_t offset, std::uint64_t value,
                                             const sc_core::sc_time& delay) {
  switch (static_cast<GpuRegister>(offset)) {
    case GpuRegister::kTrace:
      trace_ = value;
      return tlm::TLM_OK_RESPONSE;
    case GpuRegister::kPolicy:
      policy_ = value;
      return tlm::TLM_OK_RESPONSE;
    case GpuRegister::kControl:
      return control(value, delay);
    default:
      return tlm::TLM_COMMAND_ERROR_RESPONSE;
  }
}

// A launch that cannot be run has failed, as one that comes to a bad end.
tlm::tlm_response_status GpuRegisters::control(std::uint64_t value, const sc_core::sc_time& delay) {
  if (value == kReset) {
    device_.reset();
    return tlm::TLM_OK_RESPONSE;
  }
  if (value != kLaunch || device_.status() == GpuStatus::kRunning) {
    return tlm::TLM_GENERIC_ERROR_RESPONSE;
  }
  try {
    device_.launch(text_at(trace_, "trace"), text_at(policy_, "policy"), delay);
  } catch (const std::runtime_error& error) {
    tell_failure(error.what());
  }
  return tlm::TLM_OK_RESPONSE;
}

std::string GpuRegisters::text_at(std::uint64_t address, const char* what) const {
  if (address >= kGpuText && address < kGpuText + kGpuTextBytes) {
    const auto begin = text_.begin() + static_cast<std::ptrdiff_t>(address - kGpuText);
    const auto end = std::find(begin, text_.end(), std::uint8_t{0});
    if (end != text_.end() && end != begin) {
      return {begin, end};
    }
  }
  throw std::runtime_error(
      fmt::format("the {} register holds {:#x}, where no text is", what, address));
}

std::uint32_t GpuRegisters::debug(tlm::tlm_generic_payload& payload) {
  const std::uint64_t address = payload.get_address();
  const std::uint32_t bytes = payload.get_data_length();
  if (address >= kGpuMemory) {
    const std::span<std::uint8_t> data(payload.get_data_ptr(), bytes);
    const std::uint32_t done = payload.is_read()    ? device_.peek(address - kGpuMemory, data)
                               : payload.is_write() ? device_.poke(address - kGpuMemory, data)
                                                    : 0;
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
    return done;
  }
  // Nothing is launched by looking.
  const bool writes_register = payload.is_write() && address < kGpuText;
  const tlm::tlm_response_status status =
      writes_register ? tlm::TLM_COMMAND_ERROR_RESPONSE : access(payload, sc_core::SC_ZERO_TIME);
  payload.set_response_status(status);
  return status == tlm::TLM_OK_RESPONSE ? bytes : 0;
}

bool GpuRegisters::dmi(tlm::tlm_generic_payload& payload, tlm::tlm_dmi& region) {
  const std::uint64_t address = payload.get_address();
  if (address >= kGpuMemory && device_.dmi(address - kGpuMemory, payload.get_command(), region)) {
    region.set_start_address(kGpuMemory + region.get_start_address());
    region.set_end_address(kGpuMemory + region.get_end_address());
    return true;
  }
  // Of registers and text nothing is given.
  region.allow_read_write();
  region.set_start_address(address < kGpuMemory ? 0 : address);
  region.set_end_address(address < kGpuMemory ? kGpuMemory - 1 : address);
  return false;
}

}  // namespace warpfold::systemc
