#ifndef CALLSLIP_TRACKER_SERVER_RPC_ACCESS_H_
#define CALLSLIP_TRACKER_SERVER_RPC_ACCESS_H_

#include <optional>

#include "absl/strings/string_view.h"
#include "auth/principal.h"
#include "google/protobuf/descriptor.h"

namespace callslip::tracker {

// Who may call a method, as its option `access` says (access.proto).
struct RpcAccess {
  enum class Kind {
    kOpen,   // Everybody, without a token: health checks.
    kReads,  // Changes nothing.
    kActs,
  };

  absl::string_view method;  // In full, as in `package.Service.Method`.
  Kind kind;
  RoleSet roles;  // In addition to gateway, admin and local, who may call all methods.

  bool Allows(Role role) const;
};

// Nullopt for a method without the option.
std::optional<RpcAccess> AccessOf(const google::protobuf::MethodDescriptor& method);

}  // namespace callslip::tracker

#endif  // CALLSLIP_TRACKER_SERVER_RPC_ACCESS_H_
