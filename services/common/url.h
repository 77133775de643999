#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "common/address.h"

namespace callslip {

// An absolute http or https URL without a fragment, split into the parts that a client needs.
struct Url {
  bool is_https = false;
  std::string authority;  // As written, for the Host header.
  Address address;        // The same, with its port or the default one.
  std::string path;       // As written, with the query. Starts with '/' or '?', or is empty.

  // SCHEME://AUTHORITY
  std::string Origin() const;
  // Whether no third party can eavesdrop or impersonate the peer: over https, or on this machine.
  bool IsTrustworthy() const { return is_https || address.IsLoopback(); }
};

// INVALID_ARGUMENT for anything else, such as a URL with a user name, a fragment or a space.
absl::StatusOr<Url> ParseUrl(absl::string_view text);

}  // namespace callslip
