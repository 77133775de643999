#pragma once

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/url.h"

namespace callslip::gateway {

struct Document {
  std::string body;
  std::optional<absl::Duration> max_age;  // From Cache-Control.
};

// The response of the authorization server to a form.
struct FormAnswer {
  int status = 0;
  std::string body;
};

// Fetches documents. Use on one thread, except for Stop().
class DocumentSource {
 public:
  virtual ~DocumentSource() = default;

  // Blocks. NOT_FOUND if the server responds with a status other than 200 or with unusable data, or
  // closes the connection without a response; UNAVAILABLE if it cannot be reached or takes too
  // long.
  virtual absl::StatusOr<Document> Get(const Url& url) = 0;

  // Posts a form (application/x-www-form-urlencoded). Blocks. UNAVAILABLE if there is no response.
  virtual absl::StatusOr<FormAnswer> Post(const Url& url, const std::string& form) = 0;

  // Ends calls in progress, and later ones at once. Thread-safe.
  virtual void Stop() = 0;
};

}  // namespace callslip::gateway
