#ifndef CALLSLIP_TRACKER_RPC_RPC_ACCESS_H_
#define CALLSLIP_TRACKER_RPC_RPC_ACCESS_H_

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "auth/principal.h"

namespace callslip::tracker {

// Who may call a method.
struct RpcAccess {
  enum class Kind {
    kOpen,   // Everybody, without showing anything.
    kReads,  // Changes nothing.
    kActs,
  };

  const char* method;  // In full, as in `package.Service.Method`.
  Kind kind;
  RoleSet roles;  // Besides gateway, admin and local, who may call all methods.

  bool Allows(Role role) const;
};

// The rows of all methods. docs/access.md shows them; a method without one can't be served.
absl::Span<const RpcAccess> RpcAccessTable();

// Null where there is none.
const RpcAccess* FindRpcAccess(absl::string_view method);

}  // namespace callslip::tracker

#endif  // CALLSLIP_TRACKER_RPC_RPC_ACCESS_H_
