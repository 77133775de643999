#include "common/address.h"

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace callslip {
namespace {

absl::Status BadAddress(absl::string_view text) {
  return absl::InvalidArgumentError(
      absl::StrCat("\"", text, "\" is not an address; write HOST:PORT, [IPV6]:PORT or unix:PATH"));
}

}  // namespace

bool Address::IsLoopback() const {
  return is_unix() || host == "localhost" || host == "::1" ||
         (absl::StartsWith(host, "127.") &&
          absl::c_all_of(host, [](char c) { return absl::ascii_isdigit(c) || c == '.'; }));
}

std::string Address::ToString() const {
  if (is_unix()) return absl::StrCat("unix:", unix_path);
  if (absl::StrContains(host, ':')) return absl::StrCat("[", host, "]:", port);
  return absl::StrCat(host, ":", port);
}

absl::StatusOr<Address> ParseAddress(absl::string_view text) {
  Address address;
  absl::string_view rest = text;
  if (absl::ConsumePrefix(&rest, "unix:")) {
    if (rest.empty()) return BadAddress(text);
    address.unix_path = std::string(rest);
    return address;
  }
  const size_t colon = rest.rfind(':');
  if (colon == absl::string_view::npos) return BadAddress(text);
  absl::string_view host = rest.substr(0, colon);
  const bool bracketed = absl::ConsumePrefix(&host, "[") && absl::ConsumeSuffix(&host, "]");
  const bool stray_bracket = absl::StrContains(host, '[') || absl::StrContains(host, ']') ||
                             (!bracketed && absl::StartsWith(rest, "["));
  if (host.empty() || stray_bracket || absl::StrContains(host, ':') != bracketed) {
    return BadAddress(text);
  }
  int port = 0;
  if (!absl::SimpleAtoi(rest.substr(colon + 1), &port) || port < 0 || port > 65535) {
    return BadAddress(text);
  }
  address.host = std::string(host);
  address.port = static_cast<uint16_t>(port);
  return address;
}

}  // namespace callslip
