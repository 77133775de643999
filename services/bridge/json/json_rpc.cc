#include "bridge/json/json_rpc.h"

#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "bridge/json/batch.h"
#include "common/json_members.h"
#include "common/json_scan.h"
#include "common/json_string.h"
#include "common/text_scan.h"
#include "nlohmann/json.hpp"

namespace callslip::bridge {
namespace {

std::string Quoted(absl::string_view text) { return Dump(nlohmann::json(std::string(text))); }

std::string StringMember(JsonMembers members, absl::string_view key) {
  const auto value = FindMember(members, key);
  return value ? DecodeJsonString(*value).value_or("") : "";
}

std::optional<absl::Duration> WaitOf(JsonMembers arguments) {
  double milliseconds = 0;
  const auto value = FindMember(arguments, "wait_ms");
  if (!value || !absl::SimpleAtod(*value, &milliseconds)) return std::nullopt;
  return absl::Milliseconds(milliseconds);
}

// Whether a call submits a command that can have a request_id.
bool HandsInCommand(const ToolCall& call) {
  if (call.tool == "interact") return call.action != "cancel";
  if (call.tool != "analyze" || call.what.empty()) return false;
  return call.what != "annotations" || call.asks_person;
}

// Sets a member of a call's arguments. Arguments that are not an object stay unchanged: the gateway
// refuses them.
void SetArgument(Message& message, absl::string_view name, absl::string_view value) {
  const JsonScan scan = ScanJson(message.line, /*into=*/"params");
  const JsonMembers params = InnerMembers(scan.members, "params");
  const auto arguments = FindMember(params, "arguments");
  const JsonMembers inner = InnerMembers(params, "arguments");
  const auto place = [&](absl::string_view part) { return part.data() - message.line.data(); };
  if (arguments && arguments->front() != '{') return;
  if (const auto present = FindMember(inner, name)) {
    message.line.replace(place(*present), present->size(), std::string(value));
    return;
  }
  const std::string member = absl::StrCat("\"", name, "\":", value);
  const absl::string_view object = arguments ? *arguments : *FindMember(scan.members, "params");
  const bool is_empty = arguments && inner.empty();
  message.line.insert(
      place(object) + 1,
      absl::StrCat(arguments ? member : absl::StrCat("\"arguments\":{", member, "}"),
                   is_empty ? "" : ","));
}

// The position in the line of a member of the message's `_meta`.
std::optional<absl::string_view> MetaIn(const JsonScan& scan, absl::string_view name) {
  return FindMember(InnerMembers(InnerMembers(scan.members, "params"), "_meta"), name);
}

ToolCall ParseToolCall(JsonMembers params) {
  const JsonMembers arguments = InnerMembers(params, "arguments");
  return {.tool = StringMember(params, "name"),
          .action = StringMember(arguments, "action"),
          .what = StringMember(arguments, "what"),
          .correlation_id = StringMember(arguments, "correlation_id"),
          .request_id = StringMember(arguments, "request_id"),
          .wait = WaitOf(arguments),
          .asks_person = FindMember(arguments, "wait") == "true",
          .as_task = FindMember(params, "task").has_value()};
}

// The member of `params` that the Mcp-Name header repeats; empty if it repeats none.
absl::string_view NamedMember(absl::string_view method) {
  if (method == "tools/call" || method == "prompts/get") return "name";
  if (method == "resources/read") return "uri";
  if (method == "tasks/get" || method == "tasks/update" || method == "tasks/cancel") {
    return "taskId";
  }
  return "";
}

void ReadEra(Message& message, JsonMembers params) {
  const auto version =
      FindMember(InnerMembers(params, "_meta"), "io.modelcontextprotocol/protocolVersion");
  message.is_modern = version && *version != "null";
  if (!message.is_modern) return;
  message.protocol_version = DecodeJsonString(*version).value_or("");
  if (const auto name = FindMember(params, NamedMember(message.method))) {
    message.name = DecodeJsonString(*name);
  }
}

void SetInvalid(Message& message, int code, absl::string_view error) {
  message.kind = Message::Kind::kInvalid;
  message.error_code = code;
  message.error = std::string(error);
}

// A request or a notification.
void ReadCall(Message& message, JsonMembers members, absl::string_view method) {
  if (!IsJsonString(method)) {
    return SetInvalid(message, kInvalidRequest, "method must be a string");
  }
  message.method = DecodeJsonString(method).value_or("");
  const JsonMembers params = InnerMembers(members, "params");
  ReadEra(message, params);
  if (const auto id = FindMember(members, "id")) {
    message.id_key = IdKey(*id);
    if (message.id_key.empty()) {
      return SetInvalid(message, kInvalidRequest, "id must be a string or an integer");
    }
    message.id = std::string(*id);
    message.kind = Message::Kind::kRequest;
    if (message.IsMethod("tools/call")) message.tool_call = ParseToolCall(params);
    return;
  }
  message.kind = Message::Kind::kNotification;
  if (message.IsMethod("notifications/cancelled")) {
    message.cancelled_key = IdKey(FindMember(params, "requestId").value_or(""));
  }
}

void ReadResponse(Message& message, JsonMembers members) {
  const bool has_result = FindMember(members, "result").has_value();
  const bool has_error = FindMember(members, "error").has_value();
  if (has_result == has_error) {
    return SetInvalid(message, kInvalidRequest,
                      "a message needs a method, or one of result and error");
  }
  const absl::string_view id = FindMember(members, "id").value_or("null");
  message.id_key = IdKey(id);
  if (!message.id_key.empty()) {
    message.id = std::string(id);
  } else if (has_result || id != "null") {
    return SetInvalid(message, kInvalidRequest, "a response needs the id of its request");
  }
  message.kind = Message::Kind::kResponse;
}

void ReadLine(Message& message) {
  const JsonScan scan = ScanJson(message.line, /*into=*/"params");
  if (!scan.error.empty()) return SetInvalid(message, kParseError, scan.error);
  if (absl::StripLeadingAsciiWhitespace(message.line).front() == '[') {
    return SetInvalid(message, kInvalidRequest,
                      absl::StrCat("a batch has 1 to ", kMaxBatch, " messages"));
  }
  if (HasDuplicates(scan.members)) {
    return SetInvalid(message, kInvalidRequest, "the message has a member twice");
  }
  if (!StandsFor(FindMember(scan.members, "jsonrpc").value_or(""), "2.0")) {
    return SetInvalid(message, kInvalidRequest, "a message is an object with \"jsonrpc\":\"2.0\"");
  }
  if (const auto method = FindMember(scan.members, "method")) {
    return ReadCall(message, scan.members, *method);
  }
  ReadResponse(message, scan.members);
}

}  // namespace

std::string IdKey(absl::string_view id) {
  if (const auto text = DecodeJsonString(id)) return absl::StrCat("string:", *text);
  if (IsJsonInteger(id)) return absl::StrCat("integer:", id == "-0" ? "0" : id);
  double number = 0;
  if (!absl::SimpleAtod(id, &number)) return "";
  const std::optional<int64_t> integer = IntegerIn(number);
  return integer ? absl::StrCat("integer:", *integer) : "";
}

Message ParseMessage(std::string line) {
  std::string mended;
  const absl::string_view clean = MendJson(line, mended);
  Message message;
  message.line = clean.data() == line.data() ? std::move(line) : std::string(clean);
  EscapeLineSeparators(message.line);
  ReadLine(message);
  return message;
}

void AddRequestId(Message& message, const std::function<std::string()>& make) {
  if (!message.tool_call || !HandsInCommand(*message.tool_call)) return;
  const JsonScan scan = ScanJson(message.line, /*into=*/"params");
  const JsonMembers params = InnerMembers(scan.members, "params");
  const auto arguments = FindMember(params, "arguments");
  if (arguments &&
      (arguments->front() != '{' || FindMember(InnerMembers(params, "arguments"), "request_id"))) {
    return;  // It has one, or the gateway will refuse it.
  }
  message.tool_call->request_id = make();
  SetArgument(message, "request_id", absl::StrCat("\"", message.tool_call->request_id, "\""));
}

void SetWait(Message& message, absl::Duration wait) {
  SetArgument(message, "wait_ms", absl::StrCat(absl::ToInt64Milliseconds(wait)));
  message.tool_call->wait = wait;
}

std::string MetaText(const Message& message, absl::string_view name) {
  const auto value = MetaIn(ScanJson(message.line, /*into=*/"params"), name);
  return value ? DecodeJsonString(*value).value_or("") : "";
}

void ReplaceMetaText(Message& message, absl::string_view name, absl::string_view text) {
  const auto value = MetaIn(ScanJson(message.line, /*into=*/"params"), name);
  if (!value) return;
  const auto place = static_cast<size_t>(value->data() - message.line.data());
  message.line.replace(place, value->size(), Quoted(text));
}

std::vector<std::string> FilesOf(const Message& message) {
  if (!message.tool_call || message.tool_call->tool != "interact" ||
      message.tool_call->action != "upload") {
    return {};
  }
  const JsonScan scan = ScanJson(message.line, /*into=*/"params");
  const JsonMembers params = InnerMembers(scan.members, "params");
  const auto value = FindMember(InnerMembers(params, "arguments"), "files");
  if (!value) return {};
  const auto list = nlohmann::json::parse(*value, nullptr, /*allow_exceptions=*/false);
  std::vector<std::string> files;
  if (!list.is_array()) return {};
  for (const auto& each : list) {
    if (!each.is_string()) return {};
    files.push_back(each.get<std::string>());
  }
  return files;
}

void SetFiles(Message& message, const std::vector<std::string>& files) {
  SetArgument(message, "files", nlohmann::json(files).dump());
}

std::string WithId(absl::string_view message, absl::string_view id) {
  const auto present = FindMember(ScanJson(message).members, "id");
  const size_t begin = present ? present->data() - message.data() : message.find('{') + 1;
  const size_t end = present ? begin + present->size() : begin;
  const absl::string_view head = message.substr(0, begin);
  const absl::string_view tail = message.substr(end);
  if (present) return absl::StrCat(head, id, tail);
  return absl::StrCat(head, "\"id\":", id, ",", tail);
}

std::string ErrorLine(absl::string_view id, int code, absl::string_view text,
                      absl::string_view data) {
  return absl::StrCat("{\"jsonrpc\":\"2.0\",", id.empty() ? "" : absl::StrCat("\"id\":", id, ","),
                      "\"error\":{\"code\":", code, ",\"message\":", Quoted(text),
                      data.empty() ? "" : absl::StrCat(",\"data\":", data), "}}");
}

}  // namespace callslip::bridge
