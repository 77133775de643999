#include "common/url.h"

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace callslip {
namespace {

bool MayStandInUrl(char c) {
  return absl::ascii_isgraph(c) && absl::string_view("\"<>\\^`{|}#").find(c) == std::string::npos;
}

}  // namespace

std::string Url::Origin() const {
  return absl::StrCat(is_https ? "https://" : "http://", authority);
}

absl::StatusOr<Url> ParseUrl(absl::string_view text) {
  const absl::Status bad = absl::InvalidArgumentError(
      "it is not a URL of the form https://HOST, https://HOST:PORT or either with a path");
  Url url;
  absl::string_view rest = text;
  url.is_https = absl::ConsumePrefix(&rest, "https://");
  if (!url.is_https && !absl::ConsumePrefix(&rest, "http://")) return bad;
  if (!absl::c_all_of(rest, MayStandInUrl)) return bad;
  const size_t end = rest.find_first_of("/?");
  const absl::string_view authority = rest.substr(0, end);
  url.authority = std::string(authority);
  if (end != absl::string_view::npos) url.path = std::string(rest.substr(end));
  const size_t bracket = authority.find(']');
  const bool has_port =
      authority.find(':', bracket == absl::string_view::npos ? 0 : bracket) != std::string::npos;
  const absl::StatusOr<Address> address = ParseAddress(
      has_port ? url.authority : absl::StrCat(authority, url.is_https ? ":443" : ":80"));
  if (!address.ok() || address->is_unix() || address->port == 0) return bad;
  if (authority.find('@') != absl::string_view::npos) return bad;
  url.address = *address;
  return url;
}

}  // namespace callslip
