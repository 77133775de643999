#include "tracker/server/authenticator.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/certificate_name.h"
#include "common/error_details.h"
#include "common/log.h"
#include "common/text_scan.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/message.h"
#include "grpc/grpc_security_constants.h"
#include "grpcpp/grpcpp.h"
#include "tracker/domain/command/command_limits.h"

namespace callslip::tracker {
namespace {

constexpr absl::string_view kUnixPeer = "unix:";

// A process that can open the socket. If it names no client, it acts as `local`.
const Principal& PeerOfUnixSocket() {
  static const Principal peer{kLocalName, Role::kGateway, {}};
  return peer;
}

absl::Status Unauthenticated(Refusal refusal, absl::string_view message, absl::string_view hint) {
  return ErrorWithDetails(absl::StatusCode::kUnauthenticated, message,
                          {.reason = std::string(RefusalName(refusal)), .hint = std::string(hint)});
}

absl::Status TokenUnknown() {
  return Unauthenticated(Refusal::kTokenUnknown,
                         "the tracker does not know this token, or not any more",
                         "Take one from the tracker's --token-file.");
}

absl::Status RoleNotAllowed(const CallContext& call, const RpcAccess& access) {
  std::string roles;
  for (const Role role : kTokenRoles) {
    if (access.Allows(role)) absl::StrAppend(&roles, roles.empty() ? "" : ", ", RoleName(role));
  }
  return ErrorWithDetails(absl::StatusCode::kPermissionDenied,
                          absl::StrCat(call.principal->name, " has the role ", RoleName(call.role),
                                       ", which may not call ", access.method),
                          {.reason = std::string(RefusalName(Refusal::kRoleNotAllowed)),
                           .hint = absl::StrCat("Use a token with one of the roles ", roles, ".")});
}

// The alternative names of the peer's verified certificate.
std::vector<std::string> CertificateNamesOf(const grpc::AuthContext& shown) {
  constexpr std::pair<const char*, CertificateNameKind> kKinds[] = {
      {GRPC_PEER_DNS_PROPERTY_NAME, CertificateNameKind::kDns},
      {GRPC_PEER_URI_PROPERTY_NAME, CertificateNameKind::kUri},
      {GRPC_PEER_EMAIL_PROPERTY_NAME, CertificateNameKind::kEmail},
      {GRPC_PEER_IP_PROPERTY_NAME, CertificateNameKind::kIp},
  };
  std::vector<std::string> names;
  for (const auto& [property, kind] : kKinds) {
    for (const grpc::string_ref& value : shown.FindPropertyValues(property)) {
      std::string name(value.data(), value.size());
      if (LooksLike(kind, name)) names.push_back(std::move(name));
    }
  }
  return names;
}

std::optional<absl::string_view> MetadataOf(const grpc::ServerContext& context, const char* key) {
  const auto& metadata = context.client_metadata();
  const auto found = metadata.find(key);
  if (found == metadata.end()) return std::nullopt;
  return absl::string_view(found->second.data(), found->second.size());
}

// The string field `name` of a message; null if it has none.
const std::string* TextOf(const google::protobuf::Message* message, const char* name) {
  if (message == nullptr) return nullptr;
  const auto* field = message->GetDescriptor()->FindFieldByName(name);
  if (field == nullptr || field->is_repeated() ||
      field->type() != google::protobuf::FieldDescriptor::TYPE_STRING) {
    return nullptr;
  }
  static const std::string unused;
  return &message->GetReflection()->GetStringReference(*message, field,
                                                       const_cast<std::string*>(&unused));
}

// The command or session that a request concerns; empty if none.
std::string ObjectOf(const google::protobuf::Message* request) {
  for (const char* name : {"command_id", "session_id"}) {
    const std::string* id = TextOf(request, name);
    if (id != nullptr) return std::string(CutText(*id, kMaxNameBytes));
  }
  return "";
}

absl::Time DeadlineOf(const grpc::ServerContext& context) {
  const std::chrono::system_clock::time_point deadline = context.deadline();
  return deadline == std::chrono::system_clock::time_point::max() ? absl::InfiniteFuture()
                                                                  : absl::FromChrono(deadline);
}

}  // namespace

absl::string_view RefusalName(Refusal refusal) {
  switch (refusal) {
    case Refusal::kTokenMissing: return "token_missing";
    case Refusal::kTokenUnknown: return "token_unknown";
    case Refusal::kCertificateUnknown: return "certificate_unknown";
    case Refusal::kRoleNotAllowed: return "role_not_allowed";
    case Refusal::kNotYourClient: return "not_your_client";
  }
  return "unknown";
}

CallContext LocalCallOf(const grpc::ServerContext& context) {
  CallContext call = LocalCall();
  call.peer = context.peer();
  call.deadline = DeadlineOf(context);
  call.trace = std::string(MetadataOf(context, "traceparent").value_or(""));
  return call;
}

absl::StatusOr<CallContext> Authenticator::Identify(const grpc::ServerContext& context,
                                                    const RpcAccess& access) {
  CallContext call = LocalCallOf(context);
  absl::Status found = FindCaller(context, call);
  if (access.kind == RpcAccess::Kind::kOpen) return call;
  if (found.ok() && !access.Allows(call.role)) found = RoleNotAllowed(call, access);
  if (!found.ok()) return Refuse(found, call, access, "");
  return call;
}

absl::StatusOr<CallContext> Authenticator::Admit(CallContext caller,
                                                 const grpc::ServerContext& context,
                                                 const RpcAccess& access,
                                                 const google::protobuf::Message* request) {
  if (TextOf(request, "baggage") != nullptr) {
    caller.companions = {.tracestate = std::string(MetadataOf(context, "tracestate").value_or("")),
                         .baggage = std::string(MetadataOf(context, "baggage").value_or(""))};
  }
  if (access.kind == RpcAccess::Kind::kOpen) return caller;
  // The credential may have been revoked while the request was in transit.
  if (caller.credential != nullptr && caller.credential->IsRevoked()) {
    return Refuse(TokenUnknown(), caller, access, "");
  }
  const std::string* client = TextOf(request, "client_id");
  const absl::string_view named = client == nullptr ? absl::string_view() : *client;
  absl::StatusOr<CallContext> acting = caller.OnBehalfOf(named);
  // A gateway can name a client's role, to which the method's access rule also applies.
  if (acting.ok() && absl::StrContains(named, '@') && !access.Allows(acting->role)) {
    acting = RoleNotAllowed(*acting, access);
  }
  if (!acting.ok()) return Refuse(acting.status(), caller, access, named);
  if (acting->role == Role::kAdmin && access.kind == RpcAccess::Kind::kActs) {
    audit_.Allowed(*acting, access, request);
  }
  return acting;
}

absl::Status Authenticator::Refuse(const absl::Status& why, const CallContext& call,
                                   const RpcAccess& access, absl::string_view named) {
  const std::string reason = DetailsOf(why).reason;
  for (int i = 0; i < kRefusalCount; ++i) {
    if (reason == RefusalName(static_cast<Refusal>(i))) ++refused_[static_cast<size_t>(i)];
  }
  audit_.Refused(call, access, named, reason);
  return why;
}

absl::Status Authenticator::FindCaller(const grpc::ServerContext& context,
                                       CallContext& call) const {
  const auto is = [&call](const Principal& principal, CredentialPtr credential = nullptr) {
    call.principal = &principal;
    call.credential = std::move(credential);
    call.client_id = principal.name;
    call.role = principal.role;
    call.scope = ScopeOfRole(principal.role, principal.name);
    return absl::OkStatus();
  };
  if (const auto authorization = MetadataOf(context, "authorization")) {
    const std::optional<absl::string_view> token = BearerTokenOf(*authorization);
    CredentialPtr known =
        token.has_value() && credentials_ != nullptr ? credentials_->FindToken(*token) : nullptr;
    if (known != nullptr) return is(known->principal(), known);
    return TokenUnknown();
  }
  const std::vector<std::string> names = CertificateNamesOf(*context.auth_context());
  for (const std::string& name : names) {
    CredentialPtr known = credentials_ == nullptr ? nullptr : credentials_->FindCertificate(name);
    if (known != nullptr) return is(known->principal(), known);
  }
  if (absl::StartsWith(call.peer, kUnixPeer)) return is(PeerOfUnixSocket());
  if (credentials_ == nullptr) return absl::OkStatus();
  if (!names.empty()) {
    return Unauthenticated(Refusal::kCertificateUnknown,
                           "the tracker has no entry for a name of this certificate",
                           "Add a line `ROLE NAME cert:SAN` to the tracker's --token-file.");
  }
  return Unauthenticated(Refusal::kTokenMissing, "the call carries no token",
                         "Send the metadata `authorization: Bearer TOKEN` with a token of the "
                         "tracker's --token-file, or connect over its unix socket.");
}

void Authenticator::Audit::Refused(const CallContext& call, const RpcAccess& access,
                                   absl::string_view named, absl::string_view reason) {
  const std::optional<int64_t> left_out = refused_.Admit();
  if (!left_out.has_value()) return;
  Log(LogLevel::kWarning, "audit",
      {{"verdict", "refused"},
       {"reason", std::string(reason)},
       {"method", std::string(access.method)},
       {"role", std::string(RoleName(call.role))},
       {"principal", call.principal->name},
       {"on_behalf_of", std::string(CutText(named, kMaxNameBytes))},
       {"peer", call.peer},
       {"left_out", absl::StrCat(*left_out)}});
}

void Authenticator::Audit::Allowed(const CallContext& call, const RpcAccess& access,
                                   const google::protobuf::Message* request) {
  if (!IsLogged(LogLevel::kInfo)) return;
  const std::optional<int64_t> left_out = allowed_.Admit();
  if (!left_out.has_value()) return;
  const std::string object = ObjectOf(request);
  Log(LogLevel::kInfo, "audit",
      {{"verdict", "allowed"},
       {"method", std::string(access.method)},
       {"role", std::string(RoleName(call.role))},
       {"principal", call.principal->name},
       {"on_behalf_of", call.client_id},
       {"object", object},
       {"owner", object.empty() ? "" : owner_of_(object)},
       {"peer", call.peer},
       {"left_out", absl::StrCat(*left_out)}});
}

}  // namespace callslip::tracker
