#pragma once

#include "absl/strings/string_view.h"

namespace callslip::gateway {

// Whether the Accept header (RFC 9110, section 12.5.1) allows a response of `type`, such as
// "application/json". The most specific matching range decides. True if `accept` is empty.
bool Accepts(absl::string_view accept, absl::string_view type);

// Whether the header names `type` itself, and allows it.
bool AsksFor(absl::string_view accept, absl::string_view type);

}  // namespace callslip::gateway
