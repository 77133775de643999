#include "common/certificate_name.h"

#include <arpa/inet.h>

#include <string>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"

namespace callslip {
namespace {

bool IsAddress(absl::string_view text) {
  in6_addr address;
  const std::string name(text);
  return inet_pton(AF_INET, name.c_str(), &address) == 1 ||
         inet_pton(AF_INET6, name.c_str(), &address) == 1;
}

bool HasScheme(absl::string_view text) {
  const absl::string_view scheme = text.substr(0, text.find(':'));
  return scheme.size() < text.size() && !scheme.empty() && absl::ascii_isalpha(scheme[0]) &&
         absl::c_all_of(scheme, [](char c) {
           return absl::ascii_isalnum(c) || c == '+' || c == '-' || c == '.';
         });
}

}  // namespace

bool LooksLike(CertificateNameKind kind, absl::string_view name) {
  // A name with a zero byte is made to be mistaken for another name.
  if (name.empty() || !absl::c_all_of(name, absl::ascii_isgraph)) return false;
  if (IsAddress(name)) return kind == CertificateNameKind::kIp;
  if (absl::StrContains(name, ':')) return kind == CertificateNameKind::kUri && HasScheme(name);
  if (absl::StrContains(name, '@')) return kind == CertificateNameKind::kEmail;
  return kind == CertificateNameKind::kDns && !absl::StrContains(name, '/');
}

}  // namespace callslip
