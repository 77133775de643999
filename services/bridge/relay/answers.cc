#include "bridge/relay/answers.h"

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "bridge/relay/timeout_policy.h"
#include "common/call_verdict.h"
#include "common/json_members.h"
#include "common/json_scan.h"
#include "common/json_string.h"
#include "common/text_scan.h"
#include "nlohmann/json.hpp"

namespace callslip::bridge {
namespace {

// A correlation id has some 50 bytes; a hint does not repeat longer text.
constexpr size_t kMaxCorrelationId = 256;

// The start of a hint when the call can safely be repeated.
constexpr char kNothingExecuted[] = "Nothing was executed. ";

// The gateway's own messages have some hundred characters; another program may send more.
constexpr size_t kMaxErrorText = 2000;

std::string CorrelationId(const Message& request) {
  if (!request.tool_call || request.tool_call->correlation_id.size() > kMaxCorrelationId) return "";
  return request.tool_call->correlation_id;
}

std::string CallObserve(const nlohmann::json& arguments) {
  return absl::StrCat("observe ", Dump(arguments));
}

// How to find the outcome of a call that may have been executed.
std::string LookHint(const Message& request) {
  const std::string correlation_id = CorrelationId(request);
  if (!correlation_id.empty()) {
    return absl::StrCat(
        "Collect the result with ",
        CallObserve({{"what", "command_result"}, {"correlation_id", correlation_id}}), ".");
  }
  if (request.tool_call && !request.tool_call->request_id.empty()) {
    return absl::StrCat("Repeat the call with the request_id ",
                        Dump(nlohmann::json(request.tool_call->request_id)),
                        ": it is the same command then, and the answer has its state.");
  }
  if (OnlyReads(request)) return "Repeat the call.";
  if (request.tool_call) {
    return absl::StrCat("Look for it with ", CallObserve({{"what", "pending_commands"}}),
                        " before you repeat the call.");
  }
  return "Repeat the request.";
}

// True for a request about one command: its failure says nothing about the command's outcome.
bool AsksAboutCommand(const Message& request) {
  if (!OnlyReads(request)) return false;
  if (request.tool_call) return !request.tool_call->correlation_id.empty();
  return request.IsMethod("tasks/get") || request.IsMethod("tasks/result") ||
         request.IsMethod("resources/read");
}

CallVerdict VerdictOn(const Message& request, const Failure& failure) {
  Executed executed = failure.may_have_executed ? Executed::kPerhaps : Executed::kNo;
  if (OnlyReads(request)) executed = AsksAboutCommand(request) ? Executed::kAsked : Executed::kNo;
  return VerdictOf(executed, failure.repeatable);
}

nlohmann::json Details(const Message& request, const Failure& failure, const std::string& hint) {
  const CallVerdict verdict = VerdictOn(request, failure);
  const bool is_pending = AsksAboutCommand(request) && !verdict.final;
  nlohmann::json details = {{"status", is_pending ? "pending" : failure.status},
                            {"reason", failure.reason},
                            {"error", failure.message},
                            {"hint", hint},
                            {"final", verdict.final},
                            {"may_have_executed", verdict.may_have_executed}};
  if (const std::string id = CorrelationId(request); !id.empty()) details["correlation_id"] = id;
  if (request.tool_call && !request.tool_call->request_id.empty()) {
    details["request_id"] = request.tool_call->request_id;
  }
  return details;
}

// An error in a gateway's HTTP response.
struct GatewayError {
  std::string code;  // Empty if there is no error.
  std::string message;
  std::string hint;
};

GatewayError GatewayErrorIn(absl::string_view body) {
  const JsonScan scan = ScanJson(body);
  const auto text = [&](absl::string_view member) {
    const auto value = DecodeJsonString(FindMember(scan.members, member).value_or(""));
    return std::string(CutText(value.value_or(""), kMaxErrorText));
  };
  GatewayError error = {.code = text("error"), .message = text("message"), .hint = text("hint")};
  const bool is_word = absl::c_all_of(error.code, [](char c) {
    return absl::ascii_islower(c) || absl::ascii_isdigit(c) || c == '_';
  });
  if (!is_word || error.message.empty()) return {};
  return error;
}

// The hints for a bridge are its own.
Failure NotAuthorized(absl::string_view url, const GatewayError& error) {
  if (error.code.empty() || error.code == "token_missing") {
    return {.reason = "not_authorized",
            .message = absl::StrCat(url, " asks for a token that this bridge does not have."),
            .hint =
                "Nothing was executed. Start the bridge with --token-file FILE, which holds the "
                "token of a client of the gateway.",
            .repeatable = false};
  }
  if (error.code == "token_unknown") {
    return {
        .reason = error.code,
        .message = absl::StrCat("The gateway at ", url,
                                " does not know the token of this bridge, or not any more."),
        .hint =
            "Nothing was executed. Take the token of a client out of the gateway's --token-file "
            "into the file, or CALLSLIP_TOKEN, that this bridge was started with.",
        .repeatable = false};
  }
  return {.reason = error.code,
          .message = absl::StrCat("The gateway at ", url, " answered: ", error.message),
          .hint = absl::StrCat("Nothing was executed. ", error.hint),
          .repeatable = false};
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
          .hint = sent ? LookHint(request) : "Nothing was executed. Repeat the call.",
          .status = OnlyReads(request) ? "pending" : "timeout",
          .may_have_executed = sent,
          .code = kRequestTimeout};
}

Failure BridgeClosing(const Message& request, bool sent) {
  return {.reason = "bridge_closing",
          .message = "The bridge is exiting and waits no longer for the answer.",
          .hint = sent ? LookHint(request) : "Nothing was executed. Repeat the call later.",
          .status = sent ? "pending" : "error",
          .may_have_executed = sent,
          .code = kConnectionError};
}

Failure TooManyCalls() {
  return {.reason = "too_many_calls",
          .message = "Too many calls are waiting for their answers.",
          .hint = "Nothing was executed. Wait for some of the answers and repeat the call.",
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

Failure HttpError(absl::string_view url, int status, absl::string_view body) {
  const GatewayError error = GatewayErrorIn(body);
  if (status == 401) return NotAuthorized(url, error);
  Failure failure = {.reason = "http_error",
                     .message = absl::StrCat(url, " answered with HTTP ", status, ".")};
  failure.may_have_executed = status >= 500;
  failure.repeatable = status >= 500 || status == 429;
  if (!error.code.empty()) {
    failure.reason = error.code;
    failure.message = absl::StrCat("The gateway at ", url, " answered: ", error.message);
    const char* executed = failure.may_have_executed ? "" : "Nothing was executed. ";
    failure.hint = absl::StrCat(executed, error.hint);
    return failure;
  }
  if (!failure.may_have_executed) {
    failure.hint = absl::StrCat("Nothing was executed. Is this the gateway? ", ToStart(url));
  }
  return failure;
}

Failure UnprovenAnswer(absl::string_view url) {
  return {.reason = "unproven_answer",
          .message = absl::StrCat("Something else answers at ", url,
                                  "; it does not know the token of this bridge."),
          .hint = absl::StrCat(
              "Nothing of what it said is believed, and it did not get the token. See what listens "
              "there. If that is your gateway, give the bridge a token that is in the gateway's "
              "--token-file now, and see that ",
              url, " is an address of its --listen or --allowed-hosts."),
          .may_have_executed = true,
          .code = kConnectionError};
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
          .may_have_executed = true,
          .repeatable = false};
}

std::string LineTooLong(const std::string& id) {
  const Failure failure = {.reason = "line_too_long",
                           .message = "a line must be shorter than 10 MiB",
                           .hint = "Nothing was executed. Send less at a time.",
                           .repeatable = false,
                           .code = kInvalidRequest};
  const Message nobody;
  return ErrorLine(id, failure.code, failure.message, Dump(Details(nobody, failure, failure.hint)));
}

std::string FailureLine(const Message& request, const Failure& failure) {
  std::string hint = failure.hint.empty() ? LookHint(request) : failure.hint;
  // This is true of the call, but not of the command that it asked about.
  if (AsksAboutCommand(request)) hint = std::string(absl::StripPrefix(hint, kNothingExecuted));
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
