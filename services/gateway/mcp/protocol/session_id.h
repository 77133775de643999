#ifndef CALLSLIP_GATEWAY_MCP_PROTOCOL_SESSION_ID_H_
#define CALLSLIP_GATEWAY_MCP_PROTOCOL_SESSION_ID_H_

#include <optional>
#include <string>

#include "absl/strings/string_view.h"

namespace callslip::gateway {

// What a gateway needs to know of an MCP session. None of its members but the last holds a space.
struct SessionInfo {
  std::string protocol_version;  // As negotiated, such as 2025-06-18; at most 32 characters.
  std::string principal;         // The name of whom it was issued to; at most 64 characters.
  std::string id;                // RandomHex128(): tells the sessions of a principal apart.
  std::string client;            // ClientNameOf() whoever opened it.

  // What the session's commands are labelled with: enough of the id to tell them from those of the
  // principal's other sessions, and few tokens for a model to read.
  std::string Label() const { return id.substr(0, 8); }
};

// Issues and checks the values of Mcp-Session-Id. A session id carries its SessionInfo, signed:
// the gateway keeps no table of sessions, and an id stays valid over a restart and at every gateway
// with the same key. Thread-safe.
class SessionIds {
 public:
  // Whoever has `key` can issue ids.
  explicit SessionIds(std::string key);

  // At most 256 characters, all of them letters, digits, '-', '_' or '.'.
  std::string Issue(const SessionInfo& session) const;

  // Nullopt for anything that was not issued with this key. Takes any text; how long it takes
  // tells nothing about the key. The caller compares the principal with the one who presents it.
  std::optional<SessionInfo> Verify(absl::string_view text) const;

 private:
  // The signature of `payload` as text.
  std::string Sign(absl::string_view payload) const;

  std::string key_;
};

}  // namespace callslip::gateway

#endif  // CALLSLIP_GATEWAY_MCP_PROTOCOL_SESSION_ID_H_
