// SPDX-License-Identifier: Apache-2.0
// CTAs to the columns of a chunk and back. A column holds one kind of number for all CTAs of the
// chunk, so that zstd sees like beside like; FORMAT.md has the columns. Not for use outside this
// folder.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "traces/format/container.hpp"
#include "traces/format/trace.hpp"

namespace warpfold::trace::codec {

using container::Bytes;

enum Column : std::size_t {
  kCtas,        // for each CTA: step of the linear block index, size of its dictionary
  kWarps,       // for each warp: number of records
  kOps,         // for each record: see Shape
  kDictionary,  // 4 planes: step from one primitive of the dictionary to the next
  kSteps,       // for each uniform event: step of the dictionary index
  kMasks,       // 4 planes: for each event the two halves of its mask
  kLaneSteps,   // for each active lane of the other events: step of the dictionary index
  kValues,      // 4 planes: words of operands
  kCounts,      // this one and those behind it, one for each path: count of each work record
};
// Columns behind those of the paths, where the header has memory instructions.
enum AccessColumn : std::size_t {
  kFirstSectors,  // for each access: step from the first sector of its site's last one
  kAccessMasks,   // 4 planes: for each access of another shape than its site's last one
  kShapes,        // for each of those: number of sectors, and the steps from one to the next
  kAccessColumns,
};

// What the codec needs of the header. Ops are numbered by site: 2 s for an event of site s with all
// lanes on one primitive, 2 s + 1 for one with a primitive for each active lane, then a barrier,
// then work by path, then by memory instruction an access of the last one's shape, one of another,
// and a wait.
struct Shape {
  explicit Shape(const Header& header);
  struct OfSite {
    std::uint64_t primitives = 0;
    std::uint32_t words = 0;  // of values, for each active lane of an event; 0 without values
  };
  std::uint32_t warps = 0;
  std::uint32_t last_warp_lanes = 0;  // mask of the lanes that the last warp of a CTA has
  std::vector<OfSite> sites;
  std::uint64_t primitives = 0;  // the most of any site
  std::uint32_t paths = 0;
  bool values = false;
  std::uint64_t op_barrier = 0;
  std::uint64_t op_work = 0;  // on path 0
  std::uint64_t op_access = 0;
  std::uint32_t memory = 0;  // instructions

  [[nodiscard]] std::size_t columns() const {
    return kCounts + paths + (memory > 0 ? std::size_t{kAccessColumns} : 0);
  }
  [[nodiscard]] std::size_t column(AccessColumn which) const { return kCounts + paths + which; }

  [[nodiscard]] std::uint32_t lanes_of(std::uint32_t warp) const {
    return warp + 1 == warps ? last_warp_lanes : 0xffffffffU;
  }
};

// Throws TraceError unless they are all different and in 64 bits of bytes.
void check_sectors(std::span<const std::uint64_t> sectors);

// Lists the distinct primitives of a CTA so that each warp, as far as possible, walks the list
// forward in short steps.
[[nodiscard]] std::vector<std::uint32_t> order_primitives(const CtaTrace& cta);

// An access as the next one of its site is coded against it.
struct LastAccess {
  std::uint32_t mask = 0;  // 0: there is none
  std::vector<std::uint64_t> sectors;
};

class Encoder {
 public:
  explicit Encoder(const Header& header);

  // Throws TraceError without a path if the CTA cannot be stored.
  void add(const CtaTrace& cta);

  [[nodiscard]] std::uint64_t ctas() const { return ctas_; }
  [[nodiscard]] std::uint64_t records() const { return records_; }
  [[nodiscard]] std::uint64_t events() const { return events_; }
  [[nodiscard]] std::uint64_t first_cta() const { return first_cta_; }
  [[nodiscard]] std::uint64_t last_cta() const { return last_cta_; }
  [[nodiscard]] std::size_t raw_bytes() const;

  // The payload of the chunk, before compression; the encoder is empty afterwards.
  [[nodiscard]] Bytes take();

 private:
  void check(const CtaTrace& cta) const;
  void check_event(const WarpTrace& warp, const Record& record) const;
  void add_warp(const WarpTrace& warp);
  void add_event(const WarpTrace& warp, const Record& record);
  void check_access(const WarpTrace& warp, const Record& record) const;
  void add_access(const WarpTrace& warp, const Record& record);
  [[nodiscard]] std::uint32_t index_of(std::uint32_t primitive) const;

  Shape shape_;
  std::vector<Bytes> columns_;
  // The planes of a column are put behind each other when the chunk is taken.
  std::vector<std::uint32_t> dictionary_, masks_, values_, access_masks_;
  std::uint64_t ctas_ = 0, records_ = 0, events_ = 0, first_cta_ = 0, last_cta_ = 0;

  // Of the CTA at hand: (primitive, index in its dictionary) in order of primitives, and the lower
  // row of the last mask at each index.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> lookup_;
  std::vector<std::uint32_t> last_row_;
  std::uint32_t previous_index_ = 0;
  std::vector<LastAccess> last_access_;  // by site, of the CTA at hand
};

class Decoder {
 public:
  // Takes the decompressed payload of a chunk. Throws TraceError without a path, as all methods.
  Decoder(const Header& header, Bytes raw, std::uint64_t first_cta, std::uint64_t cta_count);

  // The k-th CTA of the chunk. It starts from the nearest CTA before it whose place is known, which
  // for increasing k without gaps is the CTA itself.
  [[nodiscard]] CtaTrace read(std::size_t k);

  // After the last CTA: throws unless every column is used up. Returns the records and events.
  struct Totals {
    std::uint64_t records = 0;
    std::uint64_t events = 0;
  };
  [[nodiscard]] Totals finish();

 private:
  // Where each column stands before a CTA. Planes advance together.
  struct Cursor {
    std::vector<std::size_t> at;
    std::uint64_t previous_cta = 0;
    Totals totals;
  };
  [[nodiscard]] CtaTrace decode(Cursor& cursor);
  void decode_event(Cursor& cursor, std::uint64_t op, WarpTrace& warp, Record& record);
  void decode_values(Cursor& cursor, std::size_t words, WarpTrace& warp, Record& record);
  void decode_access(Cursor& cursor, std::uint64_t code, WarpTrace& warp, Record& record);
  void decode_shape(Cursor& cursor, LastAccess& last);
  [[nodiscard]] bool is_planes(std::size_t column) const {
    return column == kDictionary || column == kMasks || column == kValues ||
           (shape_.memory > 0 && column == shape_.column(kAccessMasks));
  }
  void decode_warp(Cursor& cursor, std::uint32_t lanes, std::uint64_t count, WarpTrace& warp);
  [[nodiscard]] std::uint64_t varint(Cursor& cursor, std::size_t column) const;
  [[nodiscard]] std::uint64_t long_varint(Cursor& cursor, std::size_t column) const;
  [[nodiscard]] std::uint32_t plane_word(std::size_t column, std::size_t i) const;

  Shape shape_;
  Bytes raw_;
  std::vector<std::size_t> begin_, end_;  // of each column in raw_
  std::vector<Cursor> known_;             // known_[k]: before CTA k * known_every_
  std::size_t known_every_;
  Cursor next_;  // before CTA next_cta_
  std::size_t next_cta_ = 0;
  std::size_t cta_count_;
  std::vector<std::uint32_t> dictionary_, last_row_;  // of the CTA at hand
  std::uint32_t previous_index_ = 0;                  // of its warp at hand
  std::vector<LastAccess> last_access_;               // by site
  std::uint64_t sectors_ = 0;                         // of the CTA at hand
};

}  // namespace warpfold::trace::codec
