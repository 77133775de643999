#include "gateway/http/trusted_proxies.h"

#include <optional>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "boost/asio/ip/address.hpp"
#include "gateway/http/address_quota.h"

namespace callslip::gateway {
namespace {

// The address in "192.0.2.1:80" and "[2001:db8::1]:80", as some proxies write it.
absl::string_view WithoutPort(absl::string_view address) {
  if (absl::ConsumePrefix(&address, "[")) return address.substr(0, address.find(']'));
  const size_t colon = address.find(':');
  return colon == address.rfind(':') ? address.substr(0, colon) : address;
}

// Nullopt if `text` is not an address.
std::optional<std::string> KeyOf(absl::string_view text) {
  boost::system::error_code error;
  boost::asio::ip::make_address(std::string(text), error);
  if (error) return std::nullopt;
  return AddressKeyOfText(text);
}

bool SameBits(absl::string_view a, absl::string_view b, int bits) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size() && bits > 0; ++i, bits -= 8) {
    const int mask = bits >= 8 ? 0xff : 0xff << (8 - bits) & 0xff;
    if (((a[i] ^ b[i]) & mask) != 0) return false;
  }
  return true;
}

}  // namespace

absl::StatusOr<TrustedProxies> TrustedProxies::Of(const std::vector<std::string>& proxies) {
  TrustedProxies trusted;
  for (const std::string& text : proxies) {
    if (text == "unix") {
      trusted.networks_.push_back({});
      continue;
    }
    const std::pair<absl::string_view, absl::string_view> parts =
        absl::StrSplit(text, absl::MaxSplits('/', 1));
    const std::optional<std::string> key = KeyOf(parts.first);
    int bits = 0;
    const bool has_bits = text.find('/') != std::string::npos;
    // A network of IPv4-mapped IPv6 addresses must be written as an IPv4 network.
    const bool is_mapped = key.has_value() && key->size() == 4 && absl::StrContains(text, ':');
    const bool fits =
        key.has_value() && (!has_bits || (absl::SimpleAtoi(parts.second, &bits) && bits >= 0 &&
                                          !is_mapped && bits <= static_cast<int>(key->size()) * 8));
    if (!fits) {
      return absl::InvalidArgumentError(
          absl::StrCat("\"", text,
                       "\" in --trusted-proxies is not an address: write one such as 10.0.0.7, a "
                       "network such as "
                       "10.0.0.0/8 or 2001:db8::/64 (of IPv6 a /64 is the smallest), or unix"));
    }
    const int all = static_cast<int>(key->size()) * 8;
    trusted.networks_.push_back({*key, has_bits ? bits : all});
  }
  return trusted;
}

std::string TrustedProxies::ClientOf(const std::string& peer,
                                     absl::string_view forwarded_for) const {
  std::string client = peer;
  while (!forwarded_for.empty() && IsTrusted(client)) {
    const size_t comma = forwarded_for.rfind(',');
    const bool is_first = comma == absl::string_view::npos;
    const absl::string_view last = is_first ? forwarded_for : forwarded_for.substr(comma + 1);
    const std::optional<std::string> told = KeyOf(WithoutPort(absl::StripAsciiWhitespace(last)));
    if (!told.has_value()) break;
    client = *told;
    forwarded_for = is_first ? "" : forwarded_for.substr(0, comma);
  }
  return client;
}

bool TrustedProxies::IsTrusted(const std::string& key) const {
  return absl::c_any_of(
      networks_, [&](const Network& network) { return SameBits(network.key, key, network.bits); });
}

}  // namespace callslip::gateway
