#ifndef CALLSLIP_BRIDGE_RELAY_GATEWAY_ANSWER_H_
#define CALLSLIP_BRIDGE_RELAY_GATEWAY_ANSWER_H_

#include <optional>
#include <string>
#include <variant>

#include "absl/strings/string_view.h"
#include "bridge/json/json_rpc.h"
#include "bridge/relay/answers.h"
#include "http_client/http_answer.h"

namespace callslip::bridge {

// Judges what the gateway sent: whether it answers the request, and what the agent gets to read.

// The answer to `request` that an exchange without an event stream brought, or why there is none.
// Whatever the HTTP status, a JSON-RPC answer in the body counts. `url` is named in failures.
std::variant<Message, Failure> FindAnswer(const ResponseHead& head, std::string body,
                                          const Message& request, absl::string_view url);

// True when `message`, from the gateway, is the answer to `request`: a response with the same id,
// or an error without one.
bool IsAnswerTo(const Message& request, const Message& message);

// The line that passes on `answer`: the same JSON on one line, under the id as the agent wrote it.
// Where that would have kMaxLineBytes or more, the result of a command is left out, and the line
// says where it can be read; every other answer is replaced by a failure that says so.
std::string AnswerLine(const Message& request, Message answer);

// The code of an error answer; 0 for all other messages.
int ErrorCodeOf(const Message& answer);

// The protocol version that an answer to `initialize` agrees on, or nullopt for an error.
std::optional<std::string> NegotiatedVersion(const Message& answer);

}  // namespace callslip::bridge

#endif  // CALLSLIP_BRIDGE_RELAY_GATEWAY_ANSWER_H_
