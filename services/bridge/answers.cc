#include "bridge/answers.h"

#include "absl/strings/str_cat.h"
#include "nlohmann/json.hpp"

namespace callslip::bridge {
namespace {

// A correlation id is some 50 bytes; longer text is not worth repeating in a hint.
constexpr size_t kMaxCorrelationId = 256;

std::string Dump(const nlohmann::json& value) {
  return value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string CorrelationId(const Message& request) {
  if (!request.tool_call || request.tool_call->correlation_id.size() > kMaxCorrelationId) return "";
  return request.tool_call->correlation_id;
}

std::string CallObserve(const nlohmann::json& arguments) {
  return absl::StrCat("observe ", Dump(arguments));
}

// Where to look for what became of a call that may have been executed.
std::string LookHint(const Message& request) {
  const std::string correlation_id = CorrelationId(request);
  if (!correlation_id.empty()) {
    return absl::StrCat(
        "Collect the result with ",
        CallObserve({{"what", "command_result"}, {"correlation_id", correlation_id}}), ".");
  }
  if (request.tool_call && !request.tool_call->request_id.empty()) {
    return absl::StrCat("Repeat the call with the request_id ", Dump(request.tool_call->request_id),
                        ": it is the same command then, and the answer tells what became of it.");
  }
  if (request.tool_call) {
    return absl::StrCat("Look for it with ", CallObserve({{"what", "pending_commands"}}),
                        " before you repeat the call.");
  }
  return "Repeat the request.";
}

// A call that only reads the state of a command says nothing about how that command ends.
bool IsAboutAnotherCommand(const Message& request) {
  return request.tool_call && request.tool_call->tool == "observe";
}

nlohmann::json Details(const Message& request, const Failure& failure, const std::string& hint) {
  nlohmann::json details = {
      {"status", failure.status},
      {"reason", failure.reason},
      {"error", failure.message},
      {"hint", hint},
      {"final", !failure.may_have_executed && !IsAboutAnotherCommand(request)},
      {"may_have_executed", failure.may_have_executed}};
  if (const std::string id = CorrelationId(request); !id.empty()) details["correlation_id"] = id;
  if (request.tool_call && !request.tool_call->request_id.empty()) {
    details["request_id"] = request.tool_call->request_id;
  }
  return details;
}

std::string ToStart(absl::string_view url) {
  return absl::StrCat(
      "Start it with `./dev up` or `callslip-gateway`, or name the right address "
      "with --gateway (now ",
      url, ").");
}

}  // namespace

Failure DeadlinePassed(const Message& request, absl::Duration timeout, bool sent) {
  return {.reason = "deadline_exceeded",
          .message = absl::StrCat("No answer within ", absl::FormatDuration(timeout), "."),
          .hint = sent ? LookHint(request) : "Nothing was executed: repeat the call.",
          .status = IsAboutAnotherCommand(request) ? "pending" : "timeout",
          .may_have_executed = sent,
          .code = kRequestTimeout};
}

Failure BridgeClosing(const Message& request, bool sent) {
  return {.reason = "bridge_closing",
          .message = "The bridge is exiting and waits no longer for the answer.",
          .hint = sent ? LookHint(request) : "Nothing was executed: repeat the call later.",
          .status = sent ? "pending" : "error",
          .may_have_executed = sent,
          .code = kConnectionError};
}

Failure TooManyCalls() {
  return {.reason = "too_many_calls",
          .message = "Too many calls are waiting for their answers.",
          .hint = "Nothing was executed: wait for some of the answers and repeat the call.",
          .code = kConnectionError};
}

Failure GatewayUnreachable(absl::string_view url, absl::Duration waited, absl::string_view why) {
  return {
      .reason = "gateway_unreachable",
      .message = absl::StrCat("The Callslip gateway at ", url, " cannot be reached (tried for ",
                              absl::FormatDuration(waited), ")", why.empty() ? "" : ": ", why, "."),
      .hint = absl::StrCat("Nothing was executed. ", ToStart(url)),
      .code = kConnectionError};
}

Failure ConnectionBroke(absl::string_view url) {
  return {.reason = "connection_broke",
          .message = absl::StrCat("The connection to the gateway at ", url,
                                  " broke after the call was sent."),
          .may_have_executed = true,
          .code = kConnectionError};
}

Failure StreamEndedEarly() {
  return {.reason = "stream_ended_early",
          .message = "The gateway ended its event stream without an answer.",
          .may_have_executed = true,
          .code = kConnectionError};
}

Failure SubscriptionLost(absl::string_view url) {
  return {
      .reason = "subscription_lost",
      .message = absl::StrCat("The event stream of the gateway at ", url, " broke."),
      .hint = "Listen again, and read anew what you listened for: changes may have been missed.",
      .code = kConnectionError};
}

Failure HttpError(absl::string_view url, int status) {
  if (status == 401) {
    return {.reason = "not_authorized",
            .message = absl::StrCat(url, " asks for a token that this bridge does not have."),
            .hint =
                "Nothing was executed. Start the bridge with --token-file FILE, which holds the "
                "token of a client of the gateway."};
  }
  Failure failure = {.reason = "http_error",
                     .message = absl::StrCat(url, " answered with HTTP ", status, ".")};
  failure.may_have_executed = status >= 500;
  if (!failure.may_have_executed) {
    failure.hint = absl::StrCat("Nothing was executed. Is this the gateway? ", ToStart(url));
  }
  return failure;
}

Failure NotAnAnswer(absl::string_view url, absl::string_view what) {
  return {.reason = "bad_answer",
          .message = absl::StrCat("The gateway at ", url, " sent ", what, "."),
          .may_have_executed = true};
}

Failure AnswerTooLarge() {
  return {.reason = "answer_too_large",
          .message = "The answer is larger than the 10 MiB that fit through the pipe.",
          .hint = "The call was executed. Ask for less at a time, or read it over HTTP.",
          .may_have_executed = true};
}

std::string FailureLine(const Message& request, const Failure& failure) {
  const std::string hint = failure.hint.empty() ? LookHint(request) : failure.hint;
  const std::string text = absl::StrCat(failure.message, " ", hint);
  nlohmann::json details = Details(request, failure, hint);
  if (request.IsMethod("server/discover")) {
    details["supported"] = {kModernVersion};
    details["requested"] = request.protocol_version;
    return ErrorLine(request.id, kUnsupportedVersion, text, Dump(details));
  }
  if (!request.tool_call || request.tool_call->as_task) {
    return ErrorLine(request.id, failure.code, text, Dump(details));
  }
  const nlohmann::json result = {
      {"content", nlohmann::json::array({{{"type", "text"}, {"text", text}}})},
      {"structuredContent", details},
      {"isError", true}};
  return absl::StrCat("{\"jsonrpc\":\"2.0\",\"id\":", request.id, ",\"result\":", Dump(result),
                      "}");
}

}  // namespace callslip::bridge
