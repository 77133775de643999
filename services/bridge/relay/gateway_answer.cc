#include "bridge/relay/gateway_answer.h"
#include "bridge/json/json_rpc.h"

#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "common/json_members.h"
#include "common/json_scan.h"
#include "common/json_string.h"
#include "nlohmann/json.hpp"

namespace callslip::bridge {
namespace {

// Longer members of a shortened answer are omitted too.
constexpr size_t kMaxKeptMember = size_t{64} * 1024;

std::string Quoted(const std::string& text) { return Dump(nlohmann::json(text)); }

// The members except those of `without` and the long ones, each followed by a comma.
std::string Kept(JsonMembers members, const std::vector<std::string>& without) {
  std::string kept;
  for (const JsonMember& member : members) {
    if (member.value.size() > kMaxKeptMember ||
        absl::c_linear_search(without, DecodeJsonString(member.key))) {
      continue;
    }
    absl::StrAppend(&kept, member.key, ":", member.value, ",");
  }
  return kept;
}

// The answer about a command without the command's result; nullopt if it is not such an answer.
std::optional<std::string> Shortened(const Message& request, absl::string_view answer) {
  const auto result = FindMember(ScanJson(answer).members, "result");
  if (!result || !request.tool_call) return std::nullopt;
  const auto members = ScanJson(*result).members;
  const auto command = ScanJson(FindMember(members, "structuredContent").value_or("")).members;
  const auto correlation_id = DecodeJsonString(FindMember(command, "correlation_id").value_or(""));
  if (!correlation_id) return std::nullopt;
  const std::string uri = absl::StrCat("callslip://result/", *correlation_id);
  const size_t bytes = FindMember(command, "result").value_or("").size();
  const std::string text = absl::StrCat(
      "The answer about ", *correlation_id, " has ", answer.size(),
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

std::variant<Message, Failure> FindAnswer(const ResponseHead& head, std::string body,
                                          const Message& request, absl::string_view url) {
  const bool is_empty = absl::StripAsciiWhitespace(body).empty();
  const bool is_json = head.content_type == "application/json";
  bool is_valid = true;
  if (is_json && !is_empty) {
    Message message = ParseMessage(std::move(body));
    if (IsAnswerTo(request, message)) return message;
    is_valid = message.error_code != kParseError;
    body = std::move(message.line);
  }
  if (head.status >= 400) return HttpError(url, head.status, is_json ? body : "");
  if (is_empty) return NotAnAnswer(url, absl::StrCat("HTTP ", head.status, " without an answer"));
  if (!is_json) {
    return NotAnAnswer(url, absl::StrCat("\"", head.content_type, "\" instead of JSON"));
  }
  if (!is_valid) return NotAnAnswer(url, "text that is not valid JSON");
  return NotAnAnswer(url, "JSON that does not answer this request");
}

bool IsAnswerTo(const Message& request, const Message& message) {
  if (message.kind != Message::Kind::kResponse) return false;
  return message.id.empty() || message.id_key == request.id_key;
}

std::string AnswerLine(const Message& request, Message answer) {
  std::string line = OnOneLine(std::move(answer.line));
  if (answer.id != request.id) line = WithId(line, request.id);
  // The line feed counts too.
  if (line.size() < kMaxLineBytes) return line;
  return Shortened(request, line).value_or(FailureLine(request, AnswerTooLarge()));
}

int ErrorCodeOf(const Message& answer) {
  int code = 0;
  if (answer.kind != Message::Kind::kResponse) return code;
  const JsonScan scan = ScanJson(answer.line, /*into=*/"error");
  const auto text = FindMember(InnerMembers(scan.members, "error"), "code");
  if (!text || !absl::SimpleAtoi(*text, &code)) return 0;
  return code;
}

std::optional<std::string> NegotiatedVersion(const Message& answer) {
  const JsonScan scan = ScanJson(answer.line, /*into=*/"result");
  if (!FindMember(scan.members, "result")) return std::nullopt;
  const auto version = FindMember(InnerMembers(scan.members, "result"), "protocolVersion");
  return DecodeJsonString(version.value_or("")).value_or("");
}

}  // namespace callslip::bridge
