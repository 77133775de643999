#ifndef CALLSLIP_TRACKER_DOMAIN_CLIENT_SCOPE_H_
#define CALLSLIP_TRACKER_DOMAIN_CLIENT_SCOPE_H_

#include <string>
#include <utility>

#include "absl/strings/string_view.h"

namespace callslip::tracker {

// The client of whoever does not say who it is.
inline constexpr char kDefaultClient[] = "local";

// Whose that is of which nobody knows whose it is: no client's, since none has this name.
inline constexpr char kNobody[] = "*";

// Whose commands or sessions somebody may see: those of one client, or of all. To whom sees one
// client's, those of others do not exist.
class ClientScope {
 public:
  static ClientScope All() { return ClientScope(AllClients()); }

  // Implicit, as a name alone is a scope. An empty one means `local`.
  ClientScope(std::string client_id = "")
      : client_id_(client_id.empty() ? kDefaultClient : std::move(client_id)) {}
  ClientScope(const char* client_id) : ClientScope(std::string(client_id)) {}

  bool is_all() const { return client_id_.empty(); }
  // Empty where it is all.
  const std::string& client_id() const { return client_id_; }

  friend bool operator==(const ClientScope&, const ClientScope&) = default;

  // An empty owner is `local` as well.
  bool Covers(absl::string_view owner) const {
    return is_all() || client_id_ == (owner.empty() ? kDefaultClient : owner);
  }

 private:
  struct AllClients {};
  explicit ClientScope(AllClients) {}

  std::string client_id_;
};

}  // namespace callslip::tracker

#endif  // CALLSLIP_TRACKER_DOMAIN_CLIENT_SCOPE_H_
