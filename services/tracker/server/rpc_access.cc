#include "tracker/server/rpc_access.h"

#include "absl/strings/ascii.h"
#include "callslip/tracker/v1/access.pb.h"

namespace callslip::tracker {
namespace {

RoleSet RolesOf(const v1::MethodAccess& access) {
  RoleSet roles;
  for (const int number : access.roles()) {
    const auto role = static_cast<v1::MethodAccess::Role>(number);
    if (role == v1::MethodAccess::READ_ONLY) roles = roles | kReadOnlyRoles;
    const std::optional<Role> known =
        ParseRole(absl::AsciiStrToLower(v1::MethodAccess::Role_Name(role)));
    if (known.has_value()) roles.Add(*known);
  }
  return roles;
}

}  // namespace

bool RpcAccess::Allows(Role role) const {
  constexpr RoleSet kEverything = {Role::kGateway, Role::kAdmin, Role::kLocal};
  return kind == Kind::kOpen || kEverything.Has(role) || roles.Has(role);
}

std::optional<RpcAccess> AccessOf(const google::protobuf::MethodDescriptor& method) {
  RpcAccess access{.method = method.full_name(), .kind = RpcAccess::Kind::kOpen, .roles = {}};
  // The standard health checks have a foreign proto without the option.
  if (method.file()->package() == "grpc.health.v1") return access;
  const v1::MethodAccess& option = method.options().GetExtension(v1::access);
  if (option.kind() == v1::MethodAccess::KIND_UNSPECIFIED) return std::nullopt;
  access.kind =
      option.kind() == v1::MethodAccess::READS ? RpcAccess::Kind::kReads : RpcAccess::Kind::kActs;
  access.roles = RolesOf(option);
  return access;
}

}  // namespace callslip::tracker
