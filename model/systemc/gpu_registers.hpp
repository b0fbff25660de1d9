// SPDX-License-Identifier: Apache-2.0
// What lies behind the GPU's `host` socket: registers, text, and the GPU's memory for debugging
// (gpu_module.hpp lists them). Owned by the module.
#pragma once

#include <tlm_utils/simple_target_socket.h>

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <systemc>
#include <tlm>

#include "model/systemc/gpu_module.hpp"
#include "model/types.hpp"

namespace warpfold::systemc {

// What the registers are of.
class GpuDevice {
 public:
  virtual ~GpuDevice() = default;
  // Throws std::runtime_error where that cannot be run.
  virtual void launch(const std::string& trace, const std::string& policy,
                      const sc_core::sc_time& after) = 0;
  virtual void reset() = 0;
  [[nodiscard]] virtual GpuStatus status() const = 0;
  [[nodiscard]] virtual std::uint64_t cycles() const = 0;
  [[nodiscard]] virtual std::uint64_t launches() const = 0;
  // Of its memory, how many bytes have been read or written; whether there is DMI to it.
  virtual std::uint32_t peek(Address address, std::span<std::uint8_t> data) = 0;
  virtual std::uint32_t poke(Address address, std::span<const std::uint8_t> data) = 0;
  // `region` is in addresses of its memory.
  virtual bool dmi(Address address, tlm::tlm_command command, tlm::tlm_dmi& region) = 0;
};

class GpuRegisters {
 public:
  using Socket = tlm_utils::simple_target_socket_optional<GpuRegisters>;
  GpuRegisters(GpuDevice& device, Socket& socket);

  // Why a launch has failed, for who reads the text; empty: it has not.
  void tell_failure(const std::string& text);
  // DMI to the GPU's memory is not there any more.
  void invalidate();

 private:
  void transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
  std::uint32_t debug(tlm::tlm_generic_payload& payload);
  bool dmi(tlm::tlm_generic_payload& payload, tlm::tlm_dmi& region);

  tlm::tlm_response_status access(tlm::tlm_generic_payload& payload, const sc_core::sc_time& delay);
  tlm::tlm_response_status access_register(tlm::tlm_generic_payload& payload,
                                           const sc_core::sc_time& delay);
  [[nodiscard]] std::uint64_t read(std::uint32_t offset) const;
  tlm::tlm_response_status write(std::uint32_t offset, std::uint64_t value,
                                 const sc_core::sc_time& delay);
  tlm::tlm_response_status control(std::uint64_t value, const sc_core::sc_time& delay);
  [[nodiscard]] std::string text_at(std::uint64_t address, const char* what) const;

  GpuDevice& device_;
  Socket& socket_;
  std::uint64_t trace_ = 0, policy_ = 0;
  std::array<std::uint8_t, kGpuTextBytes> text_{};
};

}  // namespace warpfold::systemc
