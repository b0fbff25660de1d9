// SPDX-License-Identifier: Apache-2.0
#include "model/gpu/run/timeline.hpp"

#include <fmt/format.h>

#include <utility>

namespace warpfold {

TimelineRecorder::TimelineRecorder(std::uint64_t interval, const TimelineDetail& detail,
                                   const GpuConfig& config,
                                   const std::vector<std::unique_ptr<Sm>>& sms,
                                   const std::vector<std::unique_ptr<L2Port>>& ports)
    : interval_(interval), window_(detail.window), config_(config), sms_(sms), ports_(ports) {
  for (const std::uint32_t index : detail.sms) {
    watch(*sms_.at(index), index);
  }
  for (const std::uint32_t index : detail.l2_ports) {
    watch(*ports_.at(index), index);
  }
}

SliceRecorder* TimelineRecorder::slices(std::string name, std::vector<std::string> what, bool merge,
                                        std::string count) {
  slices_.push_back({.place = static_cast<std::uint32_t>(places_.size() - 1),
                     .name = std::move(name),
                     .what = std::move(what),
                     .count = std::move(count),
                     .recorder = SliceRecorder(window_, merge)});
  return &slices_.back().recorder;
}

LevelRecorder* TimelineRecorder::levels(std::string name, std::uint32_t parts) {
  levels_.push_back({.place = static_cast<std::uint32_t>(places_.size() - 1),
                     .name = std::move(name),
                     .parts = parts,
                     .recorder = LevelRecorder(window_)});
  return &levels_.back().recorder;
}

void TimelineRecorder::watch(Sm& sm, std::uint32_t index) {
  places_.push_back(fmt::format("SM {}", index));
  watched_.push_back(&sm);
  Sm::Recorders recorders;
  for (std::size_t i = 0; i < sm.subcores().size(); ++i) {
    if (sm.subcores()[i]->arc_port().has_unit()) {
      recorders.of_units.push_back(
          slices(fmt::format("reduction unit {}", i),
                 {"reads lanes", "sum waits for memory queue", "sends", "holds work"}, true));
    }
    recorders.of_subcores.push_back(
        slices(fmt::format("sub-core {}", i),
               {"issues", "waits for memory queue", "waits for reduction unit",
                "waits for shuffles", "waits for own instructions", "waits at barrier", "no warp"},
               true));
    recorders.memory_queues.push_back(levels(fmt::format("memory queue {}, entries", i)));
  }
  recorders.pipe =
      slices("LSU", {"RED", "reduced RED", "shuffle", "shared memory", "load", "accesses of runs"},
             false, "packets");
  recorders.lsu_blocked = slices("LSU blocked", {"waits for injection queue"}, true);
  recorders.port =
      slices("injection port", {"sends", "sends a load", "waits for the L2"}, false, "flits");
  recorders.outlet = levels("injection queue, entries");
  sm.record(recorders);
}

void TimelineRecorder::watch(L2Port& port, std::uint32_t index) {
  places_.push_back(fmt::format("L2 port {}", index));
  std::vector<SliceRecorder*> of_slices;
  for (std::uint32_t i = 0; i < config_.l2.slices_per_port; ++i) {
    of_slices.push_back(slices(fmt::format("slice {}", i), {"adds"}, true));
  }
  port.record(of_slices);
  port.ingress.record(levels("buffer, flits", SliceIngress::kRoomOfFlit));
}

void TimelineRecorder::sample(Cycle cycle) {
  if (cycle % interval_ != 0) {
    return;  // too seldom for these by now
  }
  samples_.push_back(sample_before(cycle));
  if (samples_.size() == kMostSamples) {
    interval_ *= 2;
    for (std::size_t i = 0; i < samples_.size() / 2; ++i) {
      samples_[i] = samples_[2 * i + 1];
    }
    samples_.resize(samples_.size() / 2);
  }
}

TimelineRecorder::Sample TimelineRecorder::sample_before(Cycle cycle) const {
  Sample sample;
  for (const auto& sm : sms_) {
    for (const auto& subcore : sm->subcores()) {
      sample.issue += at_cycle(subcore->issued_before(cycle));
      sample.unit += at_cycle(subcore->arc_port().stats().read_cycles);
      sample.memory_queue += subcore->memory_queue.size();
    }
    sample.lsu += sm->pipe().busy_before(cycle);
    sample.adder += sm->buffer() != nullptr ? sm->buffer()->adder_busy_before(cycle) : 0;
    sample.port += sm->port().busy_before(cycle);
    sample.injection_queue += sm->outlet().waiting();
  }
  for (const auto& port : ports_) {
    sample.rop += port->rop_busy_before(cycle);
    sample.adder += port->buffer_stats() != nullptr ? port->buffer_stats()->adder_busy : 0;
    sample.l2_buffer += port->ingress.taken();
  }
  return sample;
}

// At the end, when all queues are empty.
TimelineRecorder::Sample TimelineRecorder::total() const {
  Sample sample;
  for (const auto& sm : sms_) {
    for (const auto& subcore : sm->subcores()) {
      sample.issue += at_cycle(subcore->stats().issued);
      sample.unit += at_cycle(subcore->arc_port().stats().read_cycles);
    }
    sample.lsu += sm->pipe().busy();
    sample.adder += sm->buffer() != nullptr ? sm->buffer()->stats().adder_busy : 0;
    sample.port += sm->port().busy();
  }
  for (const auto& port : ports_) {
    sample.rop += port->stats().rop_busy;
    sample.adder += port->buffer_stats() != nullptr ? port->buffer_stats()->adder_busy : 0;
  }
  return sample;
}

// The differences of the samples; what is done after the last of them is the last interval's.
void TimelineRecorder::add_samples(Cycle end, Timeline& out) const {
  std::vector<Sample> all;
  for (std::size_t i = 0; i < samples_.size() && (i + 1) * interval_ < end; ++i) {
    all.push_back(samples_[i]);
  }
  all.push_back(total());
  const std::uint64_t sms = config_.sm.count;
  const std::uint64_t subcores = sms * config_.sm.subcores;
  const bool merges_at_l2 = !ports_.empty() && ports_.front()->buffer_stats() != nullptr;
  struct Kind {
    const char* name;
    std::uint64_t units;
    Ticks Sample::*busy;
  };
  for (const Kind& kind : {Kind{"issue", subcores, &Sample::issue},
                           {"arc_unit", subcores, &Sample::unit},
                           {"lsu", sms, &Sample::lsu},
                           {"buffer", merges_at_l2 ? ports_.size() : sms, &Sample::adder},
                           {"noc", sms, &Sample::port},
                           {"rop", config_.l2.slices, &Sample::rop}}) {
    out.units.emplace_back(kind.name, kind.units);
    std::vector<double> differences;
    Ticks before = 0;
    for (const Sample& sample : all) {
      const Ticks now = sample.*kind.busy;
      differences.push_back(static_cast<double>(now - before) /
                            static_cast<double>(kTicksPerCycle));
      before = now;
    }
    out.busy.emplace_back(kind.name, std::move(differences));
  }
  struct Queue {
    const char* name;
    std::uint64_t room;
    std::uint64_t Sample::*held;
    std::uint32_t parts;
  };
  for (const Queue& queue :
       {Queue{"memory_queue", subcores * config_.lsu.queue_depth, &Sample::memory_queue, 1},
        {"injection_queue", sms * config_.noc.injection_depth, &Sample::injection_queue, 1},
        {"l2_buffer", std::uint64_t{config_.l2.ports()} * config_.l2.ingress_flits,
         &Sample::l2_buffer, SliceIngress::kRoomOfFlit}}) {
    out.room.emplace_back(queue.name, queue.room);
    std::vector<double> held;
    for (const Sample& sample : all) {
      held.push_back(static_cast<double>(sample.*queue.held) / queue.parts);
    }
    out.held.emplace_back(queue.name, std::move(held));
  }
}

Timeline TimelineRecorder::finish(Cycle end) {
  Timeline out;
  out.interval = interval_;
  add_samples(end, out);
  if (places_.empty()) {
    return out;
  }
  for (Sm* const sm : watched_) {
    sm->record_rest();
  }
  out.window_begin = window_.begin;
  out.window_end = window_.end;
  out.places = places_;
  for (Slices& slices : slices_) {
    out.tracks.push_back({.place = slices.place,
                          .name = slices.name,
                          .what = slices.what,
                          .count = slices.count,
                          .slices = slices.recorder.take()});
  }
  for (Levels& levels : levels_) {
    out.levels.push_back({.place = levels.place,
                          .name = levels.name,
                          .parts = levels.parts,
                          .levels = levels.recorder.take()});
  }
  return out;
}

}  // namespace warpfold
