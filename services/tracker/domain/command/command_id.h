#ifndef CALLSLIP_TRACKER_DOMAIN_COMMAND_COMMAND_ID_H_
#define CALLSLIP_TRACKER_DOMAIN_COMMAND_COMMAND_ID_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace callslip::tracker {

// A correlation id, 24 bytes instead of its 50 letters. As text it is
//
//   corr-<unix_ms>-<32 hex>   a command that a machine executes
//   ann_<unix_ms>_<32 hex>    one that a person finishes, such as annotations
//
// The first two hex digits name the partition that holds the command, so that any process can route
// by the id alone; the other 120 bits are random, since whoever knows an id can ask for its result.
class CommandId {
 public:
  // Of an id as text.
  static constexpr size_t kMaxBytes = 53;

  // No command's.
  CommandId() = default;

  static CommandId New(absl::Time now, bool annotation, uint8_t partition);
  // nullopt for any text that ToString() does not make.
  static std::optional<CommandId> Parse(absl::string_view text);

  std::string ToString() const;
  // Tells it from others in a table, as good as surely: 64 of its random bits.
  using Key = uint64_t;
  Key key() const { return low_; }
  uint8_t partition() const { return static_cast<uint8_t>(high_ >> 56); }
  // Whether a person finishes the command.
  bool is_annotation() const { return time_and_kind_ % 2 != 0; }

  friend bool operator==(const CommandId& a, const CommandId& b) = default;
  template <typename H>
  friend H AbslHashValue(H state, const CommandId& id) {
    return H::combine(std::move(state), id.low_);
  }

 private:
  CommandId(int64_t unix_ms, bool annotation, uint64_t high, uint64_t low)
      : high_(high), low_(low), time_and_kind_(unix_ms * 2 + (annotation ? 1 : 0)) {}

  // The partition and the random bits, as they stand in the text.
  uint64_t high_ = 0;
  uint64_t low_ = 0;
  int64_t time_and_kind_ = 0;  // Milliseconds since 1970, times two; odd for annotations.
};

// Whether the reports of a worker have to quote their leases. Those that speak a protocol without
// leases can't.
enum class LeaseProofs { kRequired, kOptional };

// Names one delivery of a command to a worker, and proves it on each report: `lease-<16 hex>`. It
// only ever stands beside the command's id, so that 63 bits are beyond guessing.
class LeaseToken {
 public:
  // No delivery's.
  LeaseToken() = default;

  static LeaseToken New(LeaseProofs proofs = LeaseProofs::kRequired);
  static std::optional<LeaseToken> Parse(absl::string_view text);

  std::string ToString() const;

  // Whether reports about the delivery may come without it. Part of the token, so that it is kept
  // wherever the token is; not of what it is compared by.
  bool MayBeLeftOut() const { return random_ % 2 != 0; }

  friend bool operator==(const LeaseToken& a, const LeaseToken& b) {
    return a.random_ / 2 == b.random_ / 2;
  }

 private:
  explicit LeaseToken(uint64_t random) : random_(random) {}

  uint64_t random_ = 0;
};

}  // namespace callslip::tracker

#endif  // CALLSLIP_TRACKER_DOMAIN_COMMAND_COMMAND_ID_H_
