#include "bridge/http/request_auth.h"

#include <cstdint>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "common/json_scan.h"
#include "common/random.h"

namespace callslip::bridge {

RequestAuth RequestAuth::WithBearer(absl::string_view token) {
  RequestAuth auth;
  auth.header_ = absl::StrCat("Bearer ", token);
  return auth;
}

RequestAuth RequestAuth::WithSignature(std::string token, const RequestToSign& request,
                                       absl::Time now) {
  RequestAuth auth;
  auth.nonce_ = RandomHex128();
  auth.header_ = FormatSignature(SignRequest(token, request, absl::ToUnixMillis(now), auth.nonce_));
  auth.token_ = std::move(token);
  return auth;
}

bool RequestAuth::Believes(const ResponseHead& head, std::optional<absl::string_view> body) const {
  return !asks_for_proof() || IsProofOf(token_, nonce_, head.status, body, head.proof);
}

std::optional<absl::Time> ServerTimeIn(const ResponseHead& head, absl::string_view body) {
  if (head.status != 401) return std::nullopt;
  const JsonScan scan = ScanJson(body);
  const auto error = FindMember(scan.members, "error");
  const auto time = FindMember(scan.members, "server_time_ms");
  int64_t time_ms = 0;
  if (!error || !StandsFor(*error, "signature_stale") || !time ||
      !absl::SimpleAtoi(*time, &time_ms)) {
    return std::nullopt;
  }
  return absl::FromUnixMillis(time_ms);
}

}  // namespace callslip::bridge
