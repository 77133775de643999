#pragma once

#include <optional>
#include <string>
#include <utility>

#include "absl/strings/string_view.h"

namespace callslip::gateway {

// The properties of an MCP session that a gateway needs. No member except the last contains a
// space.
struct SessionInfo {
  std::string protocol_version;  // As negotiated, such as 2025-06-18; at most 32 characters.
  std::string principal;         // The name of its principal; at most 64 characters.
  std::string id;                // RandomHex128(): distinguishes the sessions of a principal.
  std::string client;            // The opening client's ClientNameOf().

  // The label of the session's commands: enough of the id to distinguish them from those of the
  // principal's other sessions, and few tokens for a model to read.
  std::string Label() const { return id.substr(0, 8); }
};

// Issues and verifies the values of Mcp-Session-Id. A session id carries its SessionInfo, signed:
// the gateway keeps no table of sessions, and an id stays valid across restarts and at every
// gateway with the same key. Thread-safe.
class SessionIds {
 public:
  // Anyone who has `key` can issue ids.
  explicit SessionIds(std::string key) : key_(std::move(key)) {}

  // At most 256 characters: letters, digits, '-', '_' or '.'.
  std::string Issue(const SessionInfo& session) const;

  // Nullopt for any text that was not issued with this key. Accepts any text; its timing reveals
  // nothing about the key. The caller must compare the principal with the one that presents the id.
  std::optional<SessionInfo> Verify(absl::string_view text) const;

 private:
  // The signature of `payload` as text.
  std::string Sign(absl::string_view payload) const;

  std::string key_;
};

}  // namespace callslip::gateway
