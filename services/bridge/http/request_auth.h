#pragma once

#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "auth/request_signature.h"
#include "http_client/http_answer.h"

namespace callslip::bridge {

// Authenticates one request, and verifies the sender of its answer.
class RequestAuth {
 public:
  // Sends no authentication, and trusts every answer.
  RequestAuth() = default;

  // Sends the token itself; for peers that have already proven their identity. Trusts every answer.
  static RequestAuth WithBearer(absl::string_view token);

  // Signs the request, and trusts only a server that knows the token: any program may listen at an
  // `http://` address. `now` is the gateway's time.
  static RequestAuth WithSignature(std::string token, const RequestToSign& request, absl::Time now);

  // The value of the Authorization header; empty if there is none.
  const std::string& header() const { return header_; }

  // True if an answer must be proven.
  bool asks_for_proof() const { return !nonce_.empty(); }

  // Whether the sender of an answer can be trusted. Without `body`: for an event stream, which its
  // head vouches for as a whole.
  bool Believes(const ResponseHead& head, std::optional<absl::string_view> body) const;

 private:
  std::string header_;
  std::string token_;  // Empty, like the nonce, if no proof is required.
  std::string nonce_;
};

// The gateway's time, if the answer says that the request was refused because of its signing time.
// Call it only for trusted answers.
std::optional<absl::Time> ServerTimeIn(const ResponseHead& head, absl::string_view body);

}  // namespace callslip::bridge
