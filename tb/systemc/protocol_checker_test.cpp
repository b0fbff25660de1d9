// SPDX-License-Identifier: Apache-2.0
// The checker itself: it says nothing of what keeps the rules, and one thing of each rule that is
// broken, by an initiator or by a target.
#include "tb/systemc/protocol_checker.hpp"

#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tb/systemc/platform.hpp"

namespace warpfold::systemc {
namespace {

using sc_core::sc_time;
using Payload = tlm::tlm_generic_payload;

// A payload that keeps the rules, with a memory manager that keeps it.
struct Good : Payload, tlm::tlm_mm_interface {
  std::array<unsigned char, 64> data{};
  explicit Good(tlm::tlm_command command = tlm::TLM_READ_COMMAND) : Payload(this) {
    set_command(command);
    set_address(0x1000);
    set_data_ptr(data.data());
    set_data_length(64);
    set_streaming_width(64);
    acquire();
  }
  void free(Payload* /*payload*/) override {}
};

// Both ends, with the checker between them. A case says what they do.
struct Ends : sc_core::sc_module {
  SC_HAS_PROCESS(Ends);
  tlm_utils::simple_initiator_socket<Ends> initiator{"initiator"};
  tlm_utils::simple_target_socket<Ends> target{"target"};
  ProtocolChecker checker{"checker", 128};
  std::function<void(Ends&)> program;
  // What the target does with a call; ends all well at once if nothing is said.
  std::function<tlm::tlm_sync_enum(Payload&, tlm::tlm_phase&, sc_time&)> answer;

  Ends(const sc_core::sc_module_name& name, std::function<void(Ends&)> what)
      : sc_module(name), program(std::move(what)) {
    initiator.bind(checker.in);
    checker.out.bind(target);
    initiator.register_nb_transport_bw(this, &Ends::backward);
    target.register_nb_transport_fw(this, &Ends::forward);
    target.register_b_transport(this, &Ends::transport);
    SC_THREAD(run);
  }
  void run() { program(*this); }
  tlm::tlm_sync_enum forward(Payload& payload, tlm::tlm_phase& phase, sc_time& delay) {
    if (answer) {
      return answer(payload, phase, delay);
    }
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
    return tlm::TLM_COMPLETED;
  }
  tlm::tlm_sync_enum backward(Payload& /*payload*/, tlm::tlm_phase& /*phase*/, sc_time& /*delay*/) {
    return tlm::TLM_ACCEPTED;
  }
  void transport(Payload& payload, sc_time& delay) {
    tlm::tlm_phase phase = tlm::BEGIN_REQ;
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
    if (answer) {
      answer(payload, phase, delay);
    }
  }

  void request(Payload& payload, tlm::tlm_phase phase = tlm::BEGIN_REQ,
               sc_time delay = sc_core::SC_ZERO_TIME) {
    initiator->nb_transport_fw(payload, phase, delay);
  }
  void respond(Payload& payload, tlm::tlm_phase phase, sc_time delay = sc_core::SC_ZERO_TIME) {
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
    target->nb_transport_bw(payload, phase, delay);
  }
  void accept() {
    answer = [](Payload&, tlm::tlm_phase&, sc_time&) { return tlm::TLM_ACCEPTED; };
  }
};

// All that the checker says of a case.
std::vector<std::string> faults_of(std::function<void(Ends&)> program) {
  std::string all;
  const RunResult result = in_a_process([&] {
    Ends ends("ends", std::move(program));
    sc_core::sc_start();
    RunResult told;
    for (const std::string& fault : ends.checker.faults()) {
      told.subcore_cycles.emplace_back(fault, 1);
    }
    return told;
  });
  std::vector<std::string> faults;
  for (const auto& [fault, count] : result.subcore_cycles) {
    faults.push_back(fault);
  }
  return faults;
}

void expect(const std::string& wanted, std::function<void(Ends&)> program) {
  const std::vector<std::string> faults = faults_of(std::move(program));
  if (wanted.empty()) {
    EXPECT_TRUE(faults.empty()) << faults.front();
    return;
  }
  ASSERT_EQ(faults.size(), 1U) << wanted;
  EXPECT_NE(faults.front().find(wanted), std::string::npos) << faults.front();
}

TEST(ProtocolChecker, SaysNothingOfWhatKeepsTheRules) {
  expect("", [](Ends& ends) {
    Good blocking;
    sc_time delay;
    ends.initiator->b_transport(blocking, delay);
    Good at_once;
    ends.request(at_once);
    ends.accept();
    Good first;
    Good second(tlm::TLM_WRITE_COMMAND);
    ends.request(first);
    ends.respond(first, tlm::END_REQ);
    ends.request(second);
    ends.respond(first, tlm::BEGIN_RESP);
    ends.request(first, tlm::END_RESP);
    ends.respond(second, tlm::BEGIN_RESP);
    ends.request(second, tlm::END_RESP);
  });
}

TEST(ProtocolChecker, FindsWhatIsWrongWithAPayload) {
  const auto with = [](const std::string& wanted, const std::function<void(Good&)>& change) {
    expect(wanted, [change](Ends& ends) {
      Good payload;
      change(payload);
      ends.request(payload);
    });
  };
  with("neither a READ nor a WRITE", [](Good& p) { p.set_command(tlm::TLM_IGNORE_COMMAND); });
  with("no data", [](Good& p) { p.set_data_ptr(nullptr); });
  with("a streaming width", [](Good& p) { p.set_streaming_width(32); });
  with("a DMI hint", [](Good& p) { p.set_dmi_allowed(true); });
  with("no memory manager", [](Good& p) { p.set_mm(nullptr); });
  with("no whole sectors", [](Good& p) { p.set_address(0x1010); });
  with("reaches beyond a line", [](Good& p) { p.set_address(0x1060); });
}

TEST(ProtocolChecker, FindsWhatChangesMeanwhile) {
  const auto with = [](const std::string& wanted, const std::function<void(Payload&)>& change) {
    expect(wanted, [change](Ends& ends) {
      ends.answer = [change](Payload& payload, tlm::tlm_phase&, sc_time&) {
        change(payload);
        payload.set_response_status(tlm::TLM_OK_RESPONSE);
        return tlm::TLM_COMPLETED;
      };
      Good payload(tlm::TLM_WRITE_COMMAND);
      ends.request(payload);
    });
  };
  with("its attributes have changed", [](Payload& p) { p.set_address(0); });
  with("its attributes have changed", [](Payload& p) { p.set_data_length(32); });
  with("the data that it writes have changed", [](Payload& p) { p.get_data_ptr()[3] = 1; });
}

TEST(ProtocolChecker, FindsPhasesThatAreOutOfOrder) {
  expect("BEGIN_REQ while another is in its request phase", [](Ends& ends) {
    ends.accept();
    Good first;
    Good second;
    ends.request(first);
    ends.request(second);
    ends.respond(second, tlm::END_REQ);
  });
  expect("BEGIN_RESP while another is in its response phase", [](Ends& ends) {
    ends.accept();
    Good first;
    Good second;
    ends.request(first);
    ends.respond(first, tlm::BEGIN_RESP);
    ends.request(second);
    ends.respond(second, tlm::BEGIN_RESP);
  });
  expect("END_REQ behind END_REQ", [](Ends& ends) {
    ends.accept();
    Good payload;
    ends.request(payload);
    ends.respond(payload, tlm::END_REQ);
    ends.respond(payload, tlm::END_REQ);
  });
  expect("END_RESP behind BEGIN_REQ", [](Ends& ends) {
    ends.accept();
    Good payload;
    ends.request(payload);
    ends.request(payload, tlm::END_RESP);
  });
  expect("BEGIN_RESP from an initiator", [](Ends& ends) {
    ends.accept();
    Good payload;
    ends.request(payload);
    ends.request(payload, tlm::BEGIN_RESP);
  });
  expect("goes on without having begun", [](Ends& ends) {
    Good payload;
    ends.respond(payload, tlm::END_REQ);
  });
  expect("begins while it is under way", [](Ends& ends) {
    ends.accept();
    Good payload;
    ends.request(payload);
    ends.respond(payload, tlm::END_REQ);
    payload.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
    ends.request(payload);
  });
}

TEST(ProtocolChecker, FindsTimesThatDecrease) {
  expect("an annotated time before the last one", [](Ends& ends) {
    ends.accept();
    Good payload;
    ends.request(payload, tlm::BEGIN_REQ, sc_time(5, sc_core::SC_NS));
    ends.respond(payload, tlm::END_REQ, sc_time(4, sc_core::SC_NS));
  });
}

TEST(ProtocolChecker, FindsThatThereIsNoResponse) {
  expect("no response", [](Ends& ends) {
    ends.answer = [](Payload&, tlm::tlm_phase&, sc_time&) { return tlm::TLM_COMPLETED; };
    Good payload;
    ends.request(payload);
  });
  expect("no response", [](Ends& ends) {
    ends.answer = [](Payload& payload, tlm::tlm_phase&, sc_time&) {
      payload.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
      return tlm::TLM_COMPLETED;
    };
    Good payload;
    sc_time delay;
    ends.initiator->b_transport(payload, delay);
  });
}

}  // namespace
}  // namespace warpfold::systemc
