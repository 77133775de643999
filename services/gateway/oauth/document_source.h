#ifndef CALLSLIP_GATEWAY_OAUTH_DOCUMENT_SOURCE_H_
#define CALLSLIP_GATEWAY_OAUTH_DOCUMENT_SOURCE_H_

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "gateway/oauth/url.h"

namespace callslip::gateway {

// A document of the authorization server.
struct Document {
  std::string body;
  std::optional<absl::Duration> max_age;  // Of Cache-Control.
};

// What the authorization server answers to a form.
struct FormAnswer {
  int status = 0;
  std::string body;
};

// Where documents come from. Used by one thread, but for Stop().
class DocumentSource {
 public:
  virtual ~DocumentSource() = default;

  // Blocks. NOT_FOUND where the server answers with another status than 200 or with what may not be
  // used, or closes the connection without an answer; UNAVAILABLE where it cannot be reached, or
  // takes too long.
  virtual absl::StatusOr<Document> Get(const Url& url) = 0;

  // Posts a form (application/x-www-form-urlencoded). Blocks. UNAVAILABLE where there is no answer.
  virtual absl::StatusOr<FormAnswer> Post(const Url& url, const std::string& form) = 0;

  // Ends what is under way, and all that comes later at once. Thread-safe.
  virtual void Stop() = 0;
};

}  // namespace callslip::gateway

#endif  // CALLSLIP_GATEWAY_OAUTH_DOCUMENT_SOURCE_H_
