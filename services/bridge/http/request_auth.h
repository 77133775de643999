#ifndef CALLSLIP_BRIDGE_HTTP_REQUEST_AUTH_H_
#define CALLSLIP_BRIDGE_HTTP_REQUEST_AUTH_H_

#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "auth/request_signature.h"
#include "http_client/http_answer.h"

namespace callslip::bridge {

// How one request shows who makes it, and what its answer is then held against.
class RequestAuth {
 public:
  // Shows nothing, and believes every answer.
  RequestAuth() = default;

  // Shows the token itself; for peers who have proven who they are before. Believes every answer.
  static RequestAuth WithBearer(absl::string_view token);

  // Signs the request, and believes only whoever knows the token: whoever listens at an address of
  // `http://` may be anybody. `now` is the gateway's time.
  static RequestAuth WithSignature(std::string token, const RequestToSign& request, absl::Time now);

  // The value of the Authorization header; empty: there is none.
  const std::string& header() const { return header_; }

  // True where an answer has to be proven.
  bool asks_for_proof() const { return !nonce_.empty(); }

  // Whether the sender of an answer may be believed. Without `body`: of an event stream, all of
  // which its head answers for.
  bool Believes(const ResponseHead& head, std::optional<absl::string_view> body) const;

 private:
  std::string header_;
  std::string token_;  // Empty, as the nonce, where no proof is asked for.
  std::string nonce_;
};

// The gateway's time, where the answer says that the request was refused for the time that it was
// signed at. To be asked of answers that are believed.
std::optional<absl::Time> ServerTimeIn(const ResponseHead& head, absl::string_view body);

}  // namespace callslip::bridge

#endif  // CALLSLIP_BRIDGE_HTTP_REQUEST_AUTH_H_
