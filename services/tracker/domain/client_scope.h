#pragma once

#include <string>
#include <utility>

#include "absl/strings/string_view.h"

namespace callslip::tracker {

// Client of a caller that does not identify itself.
inline constexpr char kDefaultClient[] = "local";

// Owner of objects whose owner is unknown. No client can have this name.
inline constexpr char kNobody[] = "*";

// The clients whose commands or sessions a caller can see: one client, or all. To a caller that
// sees one client, the objects of others do not exist.
class ClientScope {
 public:
  static ClientScope All() { return ClientScope(AllClients()); }

  // Implicit, because a client's name is a scope. An empty name means `local`.
  ClientScope(std::string client_id = "")
      : client_id_(client_id.empty() ? kDefaultClient : std::move(client_id)) {}
  ClientScope(const char* client_id) : ClientScope(std::string(client_id)) {}

  bool is_all() const { return client_id_.empty(); }
  // Empty if is_all().
  const std::string& client_id() const { return client_id_; }

  friend bool operator==(const ClientScope&, const ClientScope&) = default;

  // An empty owner also means `local`.
  bool Covers(absl::string_view owner) const {
    return is_all() || client_id_ == (owner.empty() ? kDefaultClient : owner);
  }

 private:
  struct AllClients {};
  explicit ClientScope(AllClients) {}

  std::string client_id_;
};

}  // namespace callslip::tracker
