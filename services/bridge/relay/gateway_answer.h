#pragma once

#include <optional>
#include <string>
#include <variant>

#include "absl/strings/string_view.h"
#include "bridge/json/json_rpc.h"
#include "bridge/relay/answers.h"
#include "http_client/http_answer.h"

namespace callslip::bridge {

// Judges the gateway's responses: whether they answer the request, and which text the agent
// receives.

// The answer to `request` from an exchange without an event stream, or the reason why there is
// none. A JSON-RPC answer in the body counts regardless of the HTTP status. `url` is named in
// failures.
std::variant<Message, Failure> FindAnswer(const ResponseHead& head, std::string body,
                                          const Message& request, absl::string_view url);

// True when `message`, from the gateway, is the answer to `request`: a response with the same id,
// or an error without one.
bool IsAnswerTo(const Message& request, const Message& message);

// The line that passes on `answer`: the same JSON on one line, with the id as the agent wrote it.
// If that would have kMaxLineBytes or more, the result of a command is omitted, and the line says
// where to read it; any other answer is replaced by a failure that says so.
std::string AnswerLine(const Message& request, Message answer);

// The code of an error answer; 0 for all other messages.
int ErrorCodeOf(const Message& answer);

// The protocol version that an answer to `initialize` agrees on, or nullopt for an error.
std::optional<std::string> NegotiatedVersion(const Message& answer);

}  // namespace callslip::bridge
