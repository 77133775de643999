#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace callslip::tracker {

// A correlation id in 24 bytes, instead of 50 characters of text. As text it is
//
//   corr-<unix_ms>-<32 hex>   a command that a machine executes
//   ann_<unix_ms>_<32 hex>    one that a person finishes, such as annotations
//
// The first two hex digits are the partition that holds the command, so that any process can route
// by the id alone. The other 120 bits are random, because any caller that knows an id can request
// its result.
class CommandId {
 public:
  // Longest text of an id.
  static constexpr size_t kMaxBytes = 53;

  // The id of no command.
  CommandId() = default;

  static CommandId New(absl::Time now, bool annotation, uint8_t partition);
  // Nullopt for any text that ToString() does not produce.
  static std::optional<CommandId> Parse(absl::string_view text);

  std::string ToString() const;
  // Distinguishes it from others in a table with near certainty: 64 of its random bits.
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

  // The partition and the random bits, in the order of the text.
  uint64_t high_ = 0;
  uint64_t low_ = 0;
  int64_t time_and_kind_ = 0;  // Milliseconds since 1970, times two; odd for annotations.
};

// Whether a worker's reports must quote their leases. A worker whose protocol has no leases can't.
enum class LeaseProofs { kRequired, kOptional };

// Identifies one delivery of a command to a worker, and proves it in each report: `lease-<16 hex>`.
// It is always used with the command's id, so 63 bits are beyond guessing.
class LeaseToken {
 public:
  // The token of no delivery.
  LeaseToken() = default;

  static LeaseToken New(LeaseProofs proofs = LeaseProofs::kRequired);
  static std::optional<LeaseToken> Parse(absl::string_view text);

  std::string ToString() const;

  // Whether reports about the delivery may omit it. Part of the token, so that it is kept wherever
  // the token is; ignored in comparisons.
  bool MayBeLeftOut() const { return random_ % 2 != 0; }

  friend bool operator==(const LeaseToken& a, const LeaseToken& b) {
    return a.random_ / 2 == b.random_ / 2;
  }

 private:
  explicit LeaseToken(uint64_t random) : random_(random) {}

  uint64_t random_ = 0;
};

}  // namespace callslip::tracker
