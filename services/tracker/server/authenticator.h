#ifndef CALLSLIP_TRACKER_SERVER_AUTHENTICATOR_H_
#define CALLSLIP_TRACKER_SERVER_AUTHENTICATOR_H_

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

// Why a call was refused before its handler saw it.
enum class Refusal {
  kTokenMissing,        // Nothing was shown.
  kTokenUnknown,        // Or not known any more.
  kCertificateUnknown,  // A good one, but of nobody in the token file.
  kRoleNotAllowed,
  kNotYourClient,
};
inline constexpr int kRefusalCount = 5;

// "token_missing", …: the reason that the caller is told.
absl::string_view RefusalName(Refusal refusal);

// The tracker's admission: finds out who makes a call, whether the method is for its role, and for
// whom it speaks. A caller is, in this order,
//   whom its bearer token names       authorization: Bearer TOKEN in the metadata;
//   whom its certificate names        where the listener has asked for one (mTLS);
//   a gateway                         over the unix socket, whose folder and mode let in nobody
//   else; `local`, which speaks for itself  where the tracker has no tokens.
// Everybody else is refused. Thread-safe.
class Authenticator {
 public:
  // Whose command or session has an id; empty where it is unknown.
  using OwnerOf = std::function<std::string(const std::string& id)>;

  // Without `credentials` whoever comes over TCP is `local`.
  Authenticator(Clock* clock, std::shared_ptr<const Credentials> credentials, OwnerOf owner_of)
      : credentials_(std::move(credentials)), audit_(clock, std::move(owner_of)) {}

  // Who makes a call, by its head alone, and whether it may call the method. UNAUTHENTICATED or
  // PERMISSION_DENIED, with a Refusal as its reason.
  absl::StatusOr<CallContext> Identify(const grpc::ServerContext& context, const RpcAccess& access);

  // For whom the same caller speaks. PERMISSION_DENIED as before. `request` is null where the
  // caller streams: it then says with each message for whom it speaks (CallContext::OnBehalfOf).
  absl::StatusOr<CallContext> Admit(CallContext caller, const grpc::ServerContext& context,
                                    const RpcAccess& access,
                                    const google::protobuf::Message* request);

  // How many calls were refused for that.
  int64_t refused(Refusal refusal) const { return refused_[static_cast<size_t>(refusal)]; }

 private:
  // What has become of one call, in the log: who did what to whose command or session. Refusals,
  // and what administrators do; up to 20 lines of each a second.
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

  // Sets who calls, as far as that is known.
  absl::Status FindCaller(const grpc::ServerContext& context, CallContext& call) const;
  // Counts a refusal, and logs it. Returns it.
  absl::Status Refuse(const absl::Status& why, const CallContext& call, const RpcAccess& access,
                      absl::string_view named);

  const std::shared_ptr<const Credentials> credentials_;
  Audit audit_;
  std::array<std::atomic<int64_t>, kRefusalCount> refused_{};
};

}  // namespace callslip::tracker

#endif  // CALLSLIP_TRACKER_SERVER_AUTHENTICATOR_H_
