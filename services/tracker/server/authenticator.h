#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "auth/credentials.h"
#include "auth/principal.h"
#include "common/clock.h"
#include "common/log_limit.h"
#include "tracker/server/call_context.h"
#include "tracker/server/rpc_access.h"

namespace google::protobuf {
class Message;
}
namespace grpc {
class ServerContext;
}

namespace callslip::tracker {

// The reasons for refusing a call before its handler sees it.
enum class Refusal {
  kTokenMissing,        // No credential was sent.
  kTokenUnknown,        // Or was revoked.
  kCertificateUnknown,  // A valid one that the token file does not list.
  kRoleNotAllowed,
  kNotYourClient,
};
inline constexpr int kRefusalCount = 5;

// "token_missing", …: the reason sent to the caller.
absl::string_view RefusalName(Refusal refusal);

// A call of `local`, with what the head of the call says about it.
CallContext LocalCallOf(const grpc::ServerContext& context);

// The tracker's request filter: determines the caller, whether its role allows the method, and on
// whose behalf it calls. A caller is, in this order,
//   the owner of its bearer token         authorization: Bearer TOKEN in the metadata;
//   the owner of its certificate          if the listener has requested one (mTLS);
//   a gateway                             over the unix socket, which its folder and mode protect;
//   `local`, which acts for itself        if the tracker has no tokens.
// All other callers are refused. Thread-safe.
class Authenticator {
 public:
  // The owner of the command or session with an id; empty if unknown.
  using OwnerOf = std::function<std::string(const std::string& id)>;

  // Without `credentials` a caller over TCP that sends no token is `local`.
  Authenticator(Clock* clock, std::shared_ptr<const Credentials> credentials, OwnerOf owner_of)
      : credentials_(std::move(credentials)), audit_(clock, std::move(owner_of)) {}

  // Identifies the caller by the head of the call alone, and checks that it may call the method.
  // UNAUTHENTICATED or PERMISSION_DENIED, with a Refusal as the reason.
  absl::StatusOr<CallContext> Identify(const grpc::ServerContext& context, const RpcAccess& access);

  // Adds the client on whose behalf the caller calls. Errors as in Identify(). `request` is null if
  // the caller streams: each message then names the client (CallContext::OnBehalfOf).
  absl::StatusOr<CallContext> Admit(CallContext caller, const grpc::ServerContext& context,
                                    const RpcAccess& access,
                                    const google::protobuf::Message* request);

  // The number of calls refused for that reason.
  int64_t refused(Refusal refusal) const { return refused_[static_cast<size_t>(refusal)]; }

 private:
  // Logs calls: the caller, the method, and the owner of the command or session concerned. Covers
  // refusals and actions of administrators, up to 20 lines of each per second.
  class Audit {
   public:
    Audit(Clock* clock, OwnerOf owner_of)
        : owner_of_(std::move(owner_of)), refused_(clock, kLines), allowed_(clock, kLines) {}

    void Refused(const CallContext& call, const RpcAccess& access, absl::string_view named,
                 absl::string_view reason);
    void Allowed(const CallContext& call, const RpcAccess& access,
                 const google::protobuf::Message* request);

   private:
    static constexpr int kLines = 20;

    const OwnerOf owner_of_;
    LogLimit refused_;
    LogLimit allowed_;
  };

  // Sets the caller in `call`, as far as it is known.
  absl::Status FindCaller(const grpc::ServerContext& context, CallContext& call) const;
  // Counts and logs a refusal, and returns it.
  absl::Status Refuse(const absl::Status& why, const CallContext& call, const RpcAccess& access,
                      absl::string_view named);

  const std::shared_ptr<const Credentials> credentials_;
  Audit audit_;
  std::array<std::atomic<int64_t>, kRefusalCount> refused_{};
};

}  // namespace callslip::tracker
