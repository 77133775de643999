#include "bridge/gateway_answer.h"

#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "bridge/json_scan.h"
#include "bridge/limits.h"
#include "nlohmann/json.hpp"

namespace callslip::bridge {
namespace {

// Members of a shortened answer that are longer than this are left out, too.
constexpr size_t kMaxKeptMember = size_t{64} * 1024;

std::string Quoted(const std::string& text) { return nlohmann::json(text).dump(); }

// The members but those of `without` and the long ones, each followed by a comma.
std::string Kept(const std::vector<JsonMember>& members,
                 const std::vector<absl::string_view>& without) {
  std::string kept;
  for (const JsonMember& member : members) {
    if (member.value.size() > kMaxKeptMember || absl::c_linear_search(without, member.key)) {
      continue;
    }
    absl::StrAppend(&kept, Quoted(member.key), ":", member.value, ",");
  }
  return kept;
}

// The answer about a command without the command's result; nullopt where it is no such answer.
std::optional<std::string> Shortened(const Message& request, const Message& answer) {
  const auto result = FindMember(ObjectMembers(answer.line), "result");
  if (!result || !request.tool_call) return std::nullopt;
  const std::vector<JsonMember> members = ObjectMembers(*result);
  const std::vector<JsonMember> command =
      ObjectMembers(FindMember(members, "structuredContent").value_or(""));
  const auto correlation_id = DecodeJsonString(FindMember(command, "correlation_id").value_or(""));
  if (!correlation_id) return std::nullopt;
  const std::string uri = absl::StrCat("callslip://result/", *correlation_id);
  const size_t bytes = FindMember(command, "result").value_or("").size();
  const std::string text = absl::StrCat(
      "The answer about ", *correlation_id, " has ", answer.line.size(),
      " bytes, more than the 10 MiB that fit through the pipe. Its result is resource ", uri,
      ", for a minute; ask for less at a time where that is too large, too.");
  return absl::StrCat("{\"jsonrpc\":\"2.0\",\"id\":", request.id, ",\"result\":{",
                      Kept(members, {"content", "structuredContent"}),
                      "\"content\":[{\"type\":\"text\",\"text\":", Quoted(text),
                      "},{\"type\":\"resource_link\",\"name\":\"result\",\"uri\":", Quoted(uri),
                      "}],\"structuredContent\":{",
                      Kept(command, {"result", "result_bytes", "resource", "late_result"}),
                      "\"result_bytes\":", bytes, ",\"resource\":", Quoted(uri), "}}}");
}

}  // namespace

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
  if (line.size() < kMaxLineBytes) return line;
  return Shortened(request, answer).value_or(FailureLine(request, AnswerTooLarge()));
}

int ErrorCodeOf(const Message& answer) {
  int code = 0;
  const auto error = FindMember(ObjectMembers(answer.line), "error");
  if (answer.kind != Message::Kind::kResponse || !error ||
      !absl::SimpleAtoi(FindMember(ObjectMembers(*error), "code").value_or(""), &code)) {
    return 0;
  }
  return code;
}

std::optional<std::string> NegotiatedVersion(const Message& answer) {
  const auto result = FindMember(ObjectMembers(answer.line), "result");
  if (!result) return std::nullopt;
  const std::vector<JsonMember> members = ObjectMembers(*result);
  return DecodeJsonString(FindMember(members, "protocolVersion").value_or("")).value_or("");
}

}  // namespace callslip::bridge
