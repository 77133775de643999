#ifndef CALLSLIP_GATEWAY_OAUTH_HTTPS_SOURCE_H_
#define CALLSLIP_GATEWAY_OAUTH_HTTPS_SOURCE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/name_lookup.h"
#include "gateway/oauth/document_source.h"

namespace callslip::gateway {

// What a server of documents may cost.
struct DocumentLimits {
  // For all of one: name, connection, TLS, answer. Its callers wait no longer.
  absl::Duration time = absl::Seconds(5);
  // A hundred keys, each with its chain of certificates, take less.
  uint64_t body_bytes = 1 << 20;
  uint32_t header_bytes = 16 << 10;
};

// Over HTTP, and HTTPS with TLS 1.2 or newer. Follows no redirects and keeps no connections.
//
// `ca_file` has the certificates of the authorities that are believed, in PEM; empty: those of this
// machine. INVALID_ARGUMENT where it can't be read. `resolve` finds hosts.
absl::StatusOr<std::unique_ptr<DocumentSource>> MakeHttpsSource(
    const std::string& ca_file, const DocumentLimits& limits = {},
    NameLookup::Resolver resolve = &ResolveName);

}  // namespace callslip::gateway

#endif  // CALLSLIP_GATEWAY_OAUTH_HTTPS_SOURCE_H_
