#ifndef CALLSLIP_COMMON_CERTIFICATE_NAME_H_
#define CALLSLIP_COMMON_CERTIFICATE_NAME_H_

#include "absl/strings/string_view.h"

namespace callslip {

// The kinds of a certificate's alternative names (RFC 5280, section 4.2.1.6) that say who it is
// for.
enum class CertificateNameKind { kDns, kUri, kEmail, kIp };

// Whether `name`, which a certificate has as one of `kind`, looks like one. No text looks like two
// kinds: an authority that lets its clients choose their URIs, say, but not their DNS names,
// vouches for no DNS name by a URI that reads the same.
bool LooksLike(CertificateNameKind kind, absl::string_view name);

}  // namespace callslip

#endif  // CALLSLIP_COMMON_CERTIFICATE_NAME_H_
