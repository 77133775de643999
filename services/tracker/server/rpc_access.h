#pragma once

#include <optional>

#include "absl/strings/string_view.h"
#include "auth/principal.h"
#include "google/protobuf/descriptor.h"

namespace callslip::tracker {

// The access rule of a method, from its option `access` (access.proto).
struct RpcAccess {
  enum class Kind {
    kOpen,   // All callers, without a token: health checks.
    kReads,  // At most marks a result as read, or moves a player.
    kActs,   // Changes something.
  };

  absl::string_view method;  // The full name, as in `package.Service.Method`.
  Kind kind;
  RoleSet roles;  // In addition to gateway, admin and local, which can call all methods.

  bool Allows(Role role) const;
};

// Nullopt if the method lacks the option.
std::optional<RpcAccess> AccessOf(const google::protobuf::MethodDescriptor& method);

}  // namespace callslip::tracker
