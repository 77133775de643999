#include "bridge/http/mcp_headers.h"

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace callslip::bridge {
namespace {

constexpr size_t kUsualMcpHeadersBytes = 128;

constexpr absl::string_view kEncodedPrefix = "=?base64?";
constexpr absl::string_view kEncodedSuffix = "?=";

bool IsPlain(absl::string_view value) {
  if (value.empty()) return true;
  const bool looks_encoded =
      absl::StartsWith(value, kEncodedPrefix) && absl::EndsWith(value, kEncodedSuffix);
  return !looks_encoded && value.front() != ' ' && value.back() != ' ' &&
         absl::c_all_of(value, [](unsigned char c) { return absl::ascii_isprint(c); });
}

}  // namespace

std::string EncodeHeaderValue(absl::string_view value) {
  if (IsPlain(value)) return std::string(value);
  return absl::StrCat(kEncodedPrefix, absl::Base64Escape(value), kEncodedSuffix);
}

void AddHeader(std::string& head, absl::string_view name, absl::string_view value) {
  head.append(name.data(), name.size()).append(": ");
  head.append(value.data(), value.size()).append("\r\n");
}

std::string MirroredHeaders(const Message& message) {
  std::string headers;
  headers.reserve(kUsualMcpHeadersBytes);
  AddHeader(headers, "MCP-Protocol-Version", EncodeHeaderValue(message.protocol_version));
  AddHeader(headers, "Mcp-Method", EncodeHeaderValue(message.method));
  if (message.name) AddHeader(headers, "Mcp-Name", EncodeHeaderValue(*message.name));
  return headers;
}

}  // namespace callslip::bridge
