#pragma once

#include <functional>
#include <string>

#include "absl/strings/string_view.h"
#include "http_client/http_connection.h"

namespace callslip {

// The headers of a response that matter here.
struct ResponseHead {
  int status = 0;
  std::string content_type;     // In lower case, without parameters.
  std::string session_id;       // Empty if the gateway issued none.
  std::string proof;            // Empty if there is none; see RequestAuth.
  int retry_after_seconds = 0;  // 0 if there is none, or a date.
};

// How reading a response ended.
enum class HttpAnswerEnd {
  kWhole,    // The connection can carry another exchange.
  kLast,     // The response is complete, and the last one on its connection.
  kStopped,  // The sink stopped it.
  kBroken,   // The connection ended or timed out early, or sent invalid HTTP.
};

// Receives the bytes of the body as they arrive; `head` is complete. Return false to stop reading.
using BodySink = std::function<bool(const ResponseHead& head, absl::string_view bytes)>;

// Reads one HTTP/1.1 response and sets `head`. Skips interim responses; a 202 that does not state
// the end of its body has none.
HttpAnswerEnd ReadHttpAnswer(HttpConnection& connection, ResponseHead& head,
                             const BodySink& on_body);

}  // namespace callslip
