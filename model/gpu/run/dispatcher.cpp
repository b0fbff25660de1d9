// SPDX-License-Identifier: Apache-2.0
#include "model/gpu/run/dispatcher.hpp"

#include <bit>
#include <utility>

namespace warpfold {

Dispatcher::Dispatcher(std::string name, Partition& partition, const trace::Reader& trace,
                       CtaStore& ctas, std::uint32_t ctas_per_sm,
                       std::function<void(double)> progress)
    : Block(std::move(name), partition),
      partition_(partition),
      trace_(trace),
      ctas_(ctas),
      ctas_per_sm_(ctas_per_sm),
      progress_(std::move(progress)) {
  finished.bind(*this);
}

void Dispatcher::connect(std::vector<Residency*> sms) {
  sms_ = std::move(sms);
  for (Residency* sm : sms_) {
    sm->connect(partition_, finished);
  }
  resident_.assign(sms_.size(), 0);
  wake_at(1);
}

void Dispatcher::tick() {
  const bool was_done = done();
  finished.take([this](std::uint32_t sm) {
    --resident_[sm];
    ++completed_;
    last_end_ = now();
    if (progress_) {
      progress_(static_cast<double>(completed_) / static_cast<double>(trace_.cta_count()));
    }
  });
  if (done() && !was_done) {
    for (Residency* sm : sms_) {
      partition_.tell(sm->partition(), *sm, 0,
                      [](Residency& residency, std::uint64_t) { residency.flush(); });
    }
    for (const auto& listener : of_end_) {
      listener();
    }
  }
  if (now() == 0 || next_cta_ == trace_.cta_count()) {
    return;
  }
  for (std::size_t i = 0; i < sms_.size(); ++i) {
    const std::size_t sm = (next_sm_ + i) % sms_.size();
    if (resident_[sm] < ctas_per_sm_) {
      CtaHold cta = ctas_.add(trace_.read_cta(next_cta_));
      cta->sm = static_cast<std::uint32_t>(sm);
      cta->sequence = next_cta_;
      ++next_cta_;
      ++resident_[sm];
      next_sm_ = sm + 1;
      partition_.tell(sms_[sm]->partition(), *sms_[sm], std::bit_cast<std::uint64_t>(cta.detach()),
                      [](Residency& residency, std::uint64_t launched) {
                        residency.launch(CtaHold::adopt(std::bit_cast<CtaContext*>(launched)));
                      });
      wake_next();
      break;
    }
  }
  if (next_cta_ == trace_.cta_count()) {
    for (Residency* sm : sms_) {
      partition_.tell(sm->partition(), *sm, 0,
                      [](Residency& residency, std::uint64_t) { residency.close(); });
    }
  }
}

}  // namespace warpfold
