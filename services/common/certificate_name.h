#pragma once

#include "absl/strings/string_view.h"

namespace callslip {

// The kinds of a certificate's subject alternative names (RFC 5280, section 4.2.1.6).
enum class CertificateNameKind { kDns, kUri, kEmail, kIp };

// Whether `name`, which a certificate lists as being of `kind`, looks like that kind. No text looks
// like two kinds, so an authority that lets its clients choose their URIs, but not their DNS names,
// cannot vouch for a DNS name through a URI with the same text.
bool LooksLike(CertificateNameKind kind, absl::string_view name);

}  // namespace callslip
