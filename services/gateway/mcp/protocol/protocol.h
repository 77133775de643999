#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "gateway/http/http_message.h"
#include "gateway/json/parse.h"
#include "gateway/mcp/protocol/json_rpc.h"

// The revisions of the Model Context Protocol, and how to determine the revision of a request.
namespace callslip::gateway {

// Legacy revisions open a session with `initialize`. Modern ones (2026-07-28) carry version and
// capabilities in every request and have no sessions.
enum class Era { kLegacy, kModern };

inline constexpr char kModernVersion[] = "2026-07-28";
// The newest legacy revision, offered to a client that requests an unknown one.
inline constexpr char kLatestLegacyVersion[] = "2025-11-25";
// The only revision with batches; also assumed for a client that names no version.
inline constexpr char kBatchVersion[] = "2025-03-26";

// Newest first.
const std::vector<std::string>& SupportedVersions();
bool IsLegacyVersion(absl::string_view version);

// Members of `_meta` that the protocol reserves.
inline constexpr char kMetaProtocolVersion[] = "io.modelcontextprotocol/protocolVersion";
inline constexpr char kMetaClientInfo[] = "io.modelcontextprotocol/clientInfo";
inline constexpr char kMetaClientCapabilities[] = "io.modelcontextprotocol/clientCapabilities";
inline constexpr char kMetaLogLevel[] = "io.modelcontextprotocol/logLevel";
inline constexpr char kMetaServerInfo[] = "io.modelcontextprotocol/serverInfo";
inline constexpr char kMetaSubscriptionId[] = "io.modelcontextprotocol/subscriptionId";
inline constexpr char kMetaRelatedTask[] = "io.modelcontextprotocol/related-task";
// The tasks extension of 2026-07-28.
inline constexpr char kTasksExtension[] = "io.modelcontextprotocol/tasks";

// The member `name` of params._meta; null if it is absent.
const Json& MetaMember(const JsonRpcMessage& message, const char* name);

// Modern iff the message carries its protocol version, or the MCP-Protocol-Version header names
// one that is not legacy.
Era EraOf(const HttpRequest& request, const JsonRpcMessage& message);

// The error (answered with status 400) that names the missing or contradictory part of a modern
// request; nullopt if it is valid.
std::optional<RpcError> CheckModernRequest(const HttpRequest& request,
                                           const JsonRpcMessage& message);

// The value of a header that may be wrapped as `=?base64?…?=`; nullopt if the wrapping is invalid.
std::optional<std::string> DecodeHeaderValue(const std::string& value);

// The display name of a client from its `clientInfo`: its title, else its name. Empty if it has
// neither; at most 40 bytes, without control characters.
std::string ClientNameOf(const Json& client_info);

// The severity of log messages with this name; the least severe one is 0. Nullopt if there is none.
std::optional<int> LogLevelOf(const Json& name);

// { "name": "callslip", … }
const Json& ServerInfo();

}  // namespace callslip::gateway
