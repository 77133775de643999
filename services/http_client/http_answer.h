#ifndef CALLSLIP_HTTP_CLIENT_HTTP_ANSWER_H_
#define CALLSLIP_HTTP_CLIENT_HTTP_ANSWER_H_

#include <functional>
#include <string>

#include "absl/strings/string_view.h"
#include "http_client/http_connection.h"

namespace callslip {

// The headers of an answer, as far as they matter here.
struct ResponseHead {
  int status = 0;
  std::string content_type;  // In lower case, without parameters.
  std::string session_id;    // Empty when the gateway issued none.
  std::string proof;         // The same; see RequestAuth.
};

// How the reading of an answer has ended.
enum class HttpAnswerEnd {
  kWhole,    // The connection can carry another exchange.
  kLast,     // The answer is whole, and the last one of its connection.
  kStopped,  // The sink has said so.
  kBroken,   // The connection ended or fell silent before, or what came is no HTTP.
};

// Gets the bytes of the body as they come; `head` is complete. False stops the reading.
using BodySink = std::function<bool(const ResponseHead& head, absl::string_view bytes)>;

// Reads one answer of HTTP/1.1 and sets `head`. Answers that only announce another one are skipped;
// a 202 that does not say where its body ends has none.
HttpAnswerEnd ReadHttpAnswer(HttpConnection& connection, ResponseHead& head,
                             const BodySink& on_body);

}  // namespace callslip

#endif  // CALLSLIP_HTTP_CLIENT_HTTP_ANSWER_H_
