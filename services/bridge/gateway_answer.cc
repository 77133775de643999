#include "bridge/gateway_answer.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "bridge/json_scan.h"
#include "bridge/limits.h"

namespace callslip::bridge {

std::variant<Message, Failure> FindAnswer(Exchange exchange, const Message& request,
                                          absl::string_view url) {
  const ResponseHead& head = exchange.head;
  const bool is_empty = absl::StripAsciiWhitespace(exchange.body).empty();
  const bool is_json = head.content_type == "application/json";
  Message message;
  if (is_json && !is_empty) {
    message = ParseMessage(std::move(exchange.body));
    if (IsAnswerTo(request, message)) return message;
  }
  if (head.status >= 400) return HttpError(url, head.status);
  if (is_empty) return NotAnAnswer(url, absl::StrCat("HTTP ", head.status, " without an answer"));
  if (!is_json) {
    return NotAnAnswer(url, absl::StrCat("\"", head.content_type, "\" instead of JSON"));
  }
  if (message.error_code == kParseError) return NotAnAnswer(url, "text that is no valid JSON");
  return NotAnAnswer(url, "JSON that is no answer to this request");
}

bool IsAnswerTo(const Message& request, const Message& message) {
  if (message.kind != Message::Kind::kResponse) return false;
  return message.id.empty() || message.id_key == request.id_key;
}

std::string AnswerLine(const Message& request, const Message& answer) {
  std::string line = OnOneLine(answer.line);
  if (answer.id != request.id) line = WithId(line, request.id);
  // The line feed counts, too.
  if (line.size() >= kMaxLineBytes) return FailureLine(request, AnswerTooLarge());
  return line;
}

std::optional<std::string> NegotiatedVersion(const Message& answer) {
  const auto result = FindMember(ObjectMembers(answer.line), "result");
  if (!result) return std::nullopt;
  const std::vector<JsonMember> members = ObjectMembers(*result);
  return DecodeJsonString(FindMember(members, "protocolVersion").value_or("")).value_or("");
}

}  // namespace callslip::bridge
