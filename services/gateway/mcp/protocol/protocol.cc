#include "gateway/mcp/protocol/protocol.h"

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "common/json_members.h"
#include "common/text_scan.h"
#include "common/version.h"

namespace callslip::gateway {
namespace {

// The member of params that the Mcp-Name header repeats, by method; null if it repeats none.
const char* NamedMember(const std::string& method) {
  if (method == "tools/call" || method == "prompts/get") return "name";
  if (method == "resources/read") return "uri";
  if (method == "tasks/get" || method == "tasks/update" || method == "tasks/cancel") {
    return "taskId";
  }
  return nullptr;
}

RpcError Mismatch(absl::string_view header, absl::string_view problem) {
  return {JsonRpcCode::kHeaderMismatch, absl::StrCat("Header mismatch: ", header, " ", problem)};
}

std::optional<RpcError> CheckMirroredHeader(const HttpRequest& request, const char* header,
                                            absl::string_view lower_case_header,
                                            const std::string& body_value) {
  const auto it = request.headers.find(lower_case_header);
  if (it == request.headers.end()) {
    return Mismatch(header, absl::StrCat("is missing; send \"", body_value, "\"."));
  }
  const std::optional<std::string> value = DecodeHeaderValue(it->second);
  if (!value.has_value()) return Mismatch(header, "is not valid Base64 between its markers.");
  if (*value == body_value) return std::nullopt;
  return Mismatch(header,
                  absl::StrCat("is \"", *value, "\", and the body says \"", body_value, "\"."));
}

}  // namespace

const std::vector<std::string>& SupportedVersions() {
  static const auto& versions = *new std::vector<std::string>{kModernVersion, kLatestLegacyVersion,
                                                              "2025-06-18", kBatchVersion};
  return versions;
}

bool IsLegacyVersion(absl::string_view version) {
  return version != kModernVersion &&
         absl::c_any_of(SupportedVersions(),
                        [&](const std::string& known) { return version == known; });
}

const Json& MetaMember(const JsonRpcMessage& message, const char* name) {
  return MemberOf(MemberOf(message.params, "_meta"), name);
}

Era EraOf(const HttpRequest& request, const JsonRpcMessage& message) {
  if (!MetaMember(message, kMetaProtocolVersion).is_null()) return Era::kModern;
  const std::string& version = request.Header("mcp-protocol-version");
  return version.empty() || IsLegacyVersion(version) ? Era::kLegacy : Era::kModern;
}

std::optional<RpcError> CheckModernRequest(const HttpRequest& request,
                                           const JsonRpcMessage& message) {
  const Json& version = MetaMember(message, kMetaProtocolVersion);
  const std::string& header = request.Header("mcp-protocol-version");
  // Checked first, also for clients that send only the header: their next request will use another
  // version.
  const std::string requested = version.is_string() ? version.get<std::string>() : header;
  if (requested != kModernVersion && (header.empty() || header == requested)) {
    return RpcError{JsonRpcCode::kUnsupportedProtocolVersion,
                    absl::StrCat("Protocol version \"", requested, "\" is not supported."),
                    Json{{"supported", SupportedVersions()}, {"requested", requested}}};
  }
  if (!version.is_string()) {
    return RpcError{JsonRpcCode::kInvalidParams,
                    absl::StrCat("params._meta[\"", kMetaProtocolVersion, "\"] is missing: send \"",
                                 kModernVersion, "\", or use initialize for an older version.")};
  }
  if (!MetaMember(message, kMetaClientCapabilities).is_object()) {
    return RpcError{JsonRpcCode::kInvalidParams,
                    absl::StrCat("params._meta[\"", kMetaClientCapabilities,
                                 "\"] is missing: send an object, {} for none.")};
  }
  if (auto error =
          CheckMirroredHeader(request, "MCP-Protocol-Version", "mcp-protocol-version", requested)) {
    return error;
  }
  if (auto error = CheckMirroredHeader(request, "Mcp-Method", "mcp-method", message.method)) {
    return error;
  }
  const char* named = NamedMember(message.method);
  if (named == nullptr) return std::nullopt;
  const auto name = message.params.find(named);
  // The method itself reports a missing name.
  if (name == message.params.end() || !name->is_string()) return std::nullopt;
  return CheckMirroredHeader(request, "Mcp-Name", "mcp-name", name->get<std::string>());
}

std::optional<std::string> DecodeHeaderValue(const std::string& value) {
  absl::string_view encoded = value;
  const bool wrapped =
      absl::ConsumePrefix(&encoded, "=?base64?") && absl::ConsumeSuffix(&encoded, "?=");
  if (!wrapped) return value;
  std::string decoded;
  // Abseil accepts missing padding.
  if (!absl::Base64Unescape(encoded, &decoded) || absl::Base64Escape(decoded) != encoded) {
    return std::nullopt;
  }
  return decoded;
}

std::string ClientNameOf(const Json& client_info) {
  constexpr size_t kMaxBytes = 40;
  for (const char* member : {"title", "name"}) {
    std::string name(CutText(TextOf(client_info, member), kMaxBytes));
    absl::c_replace_if(name, absl::ascii_iscntrl, ' ');
    absl::StripAsciiWhitespace(&name);
    if (!name.empty()) return name;
  }
  return "";
}

std::optional<int> LogLevelOf(const Json& name) {
  static constexpr absl::string_view kLevels[] = {"debug", "info",     "notice", "warning",
                                                  "error", "critical", "alert",  "emergency"};
  const auto* level = name.is_string() ? absl::c_find(kLevels, name.get_ref<const std::string&>())
                                       : std::end(kLevels);
  if (level == std::end(kLevels)) return std::nullopt;
  return static_cast<int>(level - kLevels);
}

const Json& ServerInfo() {
  static const auto& info =
      *new Json{{"name", "callslip"}, {"title", "Callslip"}, {"version", kVersion}};
  return info;
}

}  // namespace callslip::gateway
