#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/name_lookup.h"
#include "gateway/oauth/document_source.h"

namespace callslip::gateway {

// Limits for a document server.
struct DocumentLimits {
  // For a whole request: name, connection, TLS, response. Its callers do not wait longer.
  absl::Duration time = absl::Seconds(5);
  // Larger than a hundred keys, each with its certificate chain.
  uint64_t body_bytes = 1 << 20;
  uint32_t header_bytes = 16 << 10;
};

// Makes a source over HTTP, and HTTPS with TLS 1.2 or newer. It follows no redirects and keeps no
// connections.
//
// `ca_file` has the certificates of the trusted authorities, in PEM; empty: this machine's.
// INVALID_ARGUMENT if it cannot be read. `resolve` looks up host names.
absl::StatusOr<std::unique_ptr<DocumentSource>> MakeHttpsSource(
    const std::string& ca_file, const DocumentLimits& limits = {},
    NameLookup::Resolver resolve = &ResolveName);

}  // namespace callslip::gateway
