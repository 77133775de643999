#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace callslip::bridge {

inline constexpr size_t kMaxBatch = 100;

// A batch, as defined by 2025-03-26: each message is answered separately, since one answer for all
// would wait for the slowest, and each has its own timeout.
struct Batch {
  // In order. They are not checked: one that is broken does not affect the others.
  std::vector<std::string> messages;
  // From the first message on whose brackets do not match: where each begins is a guess, so these
  // can be refused, but not handled.
  std::vector<std::string> unclear;
};

// Splits a line that is an array; nullopt if it is none, an empty one, or one of more than
// kMaxBatch messages.
std::optional<Batch> BatchIn(absl::string_view line);

}  // namespace callslip::bridge
