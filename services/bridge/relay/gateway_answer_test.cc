#include "bridge/relay/gateway_answer.h"
#include "bridge/json/json_rpc.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace callslip::bridge {
namespace {

using ::testing::HasSubstr;

constexpr char kUrl[] = "http://127.0.0.1:7890/mcp";

Message Request(const std::string& id, const std::string& method = "ping",
                const std::string& params = "{}") {
  return ParseMessage(absl::StrCat(R"({"jsonrpc":"2.0","id":)", id, R"(,"method":")", method,
                                   R"(","params":)", params, "}"));
}

std::string LineFor(const Message& request, int status, std::string body,
                    std::string content_type = "application/json") {
  const ResponseHead head = {
      .status = status, .content_type = std::move(content_type), .session_id = ""};
  auto found = FindAnswer(head, std::move(body), request, kUrl);
  if (const Failure* failure = std::get_if<Failure>(&found)) return FailureLine(request, *failure);
  return AnswerLine(request, std::get<Message>(std::move(found)));
}

TEST(FindAnswerTest, PassesBytesOnUnchanged) {
  const std::string body = R"({"jsonrpc": "2.0", "id":7, "result":{"x":1.50,"y":"\u0041"}})";
  EXPECT_EQ(LineFor(Request("7"), 200, body), body);
}

TEST(FindAnswerTest, PutsHttpErrorTextOnOneLine) {
  EXPECT_THAT(LineFor(Request("7"), 503, R"({"error":"busy","message":"a\u2028b\u2029c"})"),
              HasSubstr(R"(answered: a\u2028b\u2029c)"));
}

TEST(FindAnswerTest, PutsAnswerOnOneLine) {
  EXPECT_EQ(
      LineFor(Request("7"), 200, "{\n \"jsonrpc\": \"2.0\",\n \"id\": 7, \"result\": {}\n}\n"),
      R"({"jsonrpc":"2.0","id":7,"result":{}})");
}

TEST(FindAnswerTest, RestoresIdAsAgentWroteIt) {
  EXPECT_EQ(LineFor(Request(R"("\u0041")"), 200, R"({"jsonrpc":"2.0","id":"A","result":{}})"),
            R"({"jsonrpc":"2.0","id":"\u0041","result":{}})");
}

TEST(FindAnswerTest, GatewayReasonsArePassedOn) {
  const auto details = [](int status, const std::string& body, const char* type) {
    const auto line = LineFor(Request("7", "logging/setLevel"), status, body, type);
    return nlohmann::json::parse(line)["error"]["data"];
  };
  const struct {
    int status;
    const char* body;
    const char* reason;
    const char* error;
    const char* hint;
  } kCases[] = {
      {403, R"({"error":"host_not_allowed","message":"Not ours.","hint":"Add it."})",
       "host_not_allowed", "answered: Not ours.", "Nothing was executed. Add it."},
      {503, R"({"error":"draining","message":"It stops.","hint":"Use another."})", "draining",
       "answered: It stops.", "Use another."},
      {401, R"({"error":"token_missing","message":"None."})", "not_authorized",
       "asks for a token that this bridge does not have", "--token-file FILE"},
      {401, R"({"error":"token_unknown","message":"No."})", "token_unknown",
       "does not know the token of this bridge", "--token-file"},
      {401, R"({"error":"token_expired","message":"Over."})", "token_expired", "answered: Over.",
       "Nothing was executed."},
      // Bodies that are not errors of a gateway.
      {403, R"({"error":"Not a word","message":"x"})", "http_error", "HTTP 403", "Is this the"},
      {403, R"({"error":{"code":1},"message":"x"})", "http_error", "HTTP 403", "Is this the"},
      {403, R"({"error":"no_message"})", "http_error", "HTTP 403", "Is this the"},
  };
  for (const auto& c : kCases) {
    const nlohmann::json found = details(c.status, c.body, "application/json");
    EXPECT_EQ(found["reason"], c.reason) << found;
    EXPECT_THAT(found["error"].get<std::string>(), HasSubstr(c.error));
    EXPECT_THAT(found["hint"].get<std::string>(), HasSubstr(c.hint));
    EXPECT_EQ(found["may_have_executed"], c.status >= 500);
  }
  EXPECT_EQ(details(403, R"({"error":"a","message":"b"})", "text/html")["reason"], "http_error");
}

TEST(FindAnswerTest, ErrorsAreAcceptedWithAnyStatusAndWithoutId) {
  for (const int status : {200, 400, 404, 500, 503}) {
    EXPECT_EQ(LineFor(Request("7"), status, R"({"jsonrpc":"2.0","error":{"code":-32600}})"),
              R"({"id":7,"jsonrpc":"2.0","error":{"code":-32600}})");
    EXPECT_EQ(LineFor(Request("7"), status, R"({"jsonrpc":"2.0","id":null,"error":{}})"),
              R"({"jsonrpc":"2.0","id":7,"error":{}})");
  }
}

TEST(FindAnswerTest, InvalidAnswerBecomesError) {
  const struct {
    int status;
    const char* content_type;
    const char* body;
    const char* text;
  } kCases[] = {
      {200, "application/json", "<html>", "not valid JSON"},
      {200, "application/json", "", "HTTP 200 without an answer"},
      {202, "", "", "HTTP 202 without an answer"},
      {200, "text/plain", R"({"jsonrpc":"2.0","id":7,"result":{}})", "\\\"text/plain\\\" instead"},
      {200, "application/json", R"({"jsonrpc":"2.0","id":8,"result":{}})", "does not answer this"},
      {200, "application/json", R"({"jsonrpc":"2.0","id":"7","result":{}})",
       "does not answer this"},
      {200, "application/json", R"({"id":7,"result":{}})", "does not answer this"},
      {200, "application/json", R"([{"jsonrpc":"2.0","id":7,"result":{}}])",
       "does not answer this"},
      {404, "text/html", "<html>", "HTTP 404"},
      {500, "application/json", "{}", "HTTP 500"},
      {502, "text/html", "", "HTTP 502"},
  };
  for (const auto& c : kCases) {
    const std::string line = LineFor(Request("7"), c.status, c.body, c.content_type);
    const auto answer = nlohmann::json::parse(line);
    EXPECT_EQ(answer["id"], 7) << line;
    EXPECT_EQ(answer["error"]["code"], kInternalError) << line;
    EXPECT_THAT(line, HasSubstr(c.text));
  }
}

TEST(FindAnswerTest, FailedToolCallsGetToolResult) {
  const Message request = Request("7", "tools/call", R"({"name":"interact","arguments":{}})");
  const auto answer = nlohmann::json::parse(LineFor(request, 500, "oops", "text/plain"));
  EXPECT_EQ(answer["id"], 7);
  EXPECT_EQ(answer["result"]["isError"], true);
  EXPECT_EQ(answer["result"]["structuredContent"]["may_have_executed"], true);
  EXPECT_EQ(answer["result"]["structuredContent"]["final"], false);
  EXPECT_THAT(answer["result"]["content"][0]["text"].get<std::string>(),
              HasSubstr(R"(observe {"what":"pending_commands"})"));
}

TEST(FailureLineTest, TextOfReadOnlyCallMakesNoClaimAboutExecution) {
  const Message observe = Request(
      "7", "tools/call",
      R"({"name":"observe","arguments":{"what":"command_result","correlation_id":"corr-1"}})");
  const Message list = Request("8", "tools/list");
  for (const Failure& failure :
       {GatewayUnreachable(kUrl, absl::Seconds(5), ""), ConnectionBroke(kUrl),
        DeadlinePassed(observe, absl::Seconds(10), /*sent=*/true)}) {
    const auto result = nlohmann::json::parse(FailureLine(observe, failure))["result"];
    const auto& asked = result["structuredContent"];
    EXPECT_EQ(asked["status"], "pending") << asked;
    EXPECT_EQ(asked["final"], false) << asked;
    EXPECT_EQ(asked["may_have_executed"], true) << asked;
    EXPECT_THAT(result["content"][0]["text"].get<std::string>(),
                testing::Not(HasSubstr("executed")));
    const auto listed = nlohmann::json::parse(FailureLine(list, failure))["error"]["data"];
    EXPECT_EQ(listed["final"], false) << listed;
    EXPECT_EQ(listed["may_have_executed"], false) << listed;
  }
}

TEST(FindAnswerTest, RejectedToolCallIsReportedAsNotExecuted) {
  const Message request = Request("7", "tools/call", R"({"name":"interact","arguments":{}})");
  const auto answer = nlohmann::json::parse(LineFor(request, 403, "", ""));
  EXPECT_EQ(answer["result"]["structuredContent"]["may_have_executed"], false);
  EXPECT_EQ(answer["result"]["structuredContent"]["final"], true);
}

TEST(FindAnswerTest, FailedTaskCallsGetJsonRpcError) {
  const Message request = Request("7", "tools/call", R"({"name":"interact","task":{}})");
  EXPECT_TRUE(nlohmann::json::parse(LineFor(request, 500, "")).contains("error"));
}

TEST(AnswerLineTest, TooLargeAnswersAreReplaced) {
  const Message request = Request("7", "tools/call", R"({"name":"observe","arguments":{}})");
  const std::string frame = R"({"jsonrpc":"2.0","id":7,"result":""})";
  std::string answer = frame;
  answer.insert(frame.size() - 2, kMaxLineBytes - 1 - frame.size(), 'x');
  EXPECT_EQ(LineFor(request, 200, answer).size(), kMaxLineBytes - 1);
  answer.insert(frame.size() - 2, "x");
  EXPECT_THAT(LineFor(request, 200, answer), HasSubstr("answer_too_large"));
}

TEST(AnswerLineTest, TooLargeResultIsReplacedByItsResource) {
  const Message request = Request("\"a\"", "tools/call", R"({"name":"interact","arguments":{}})");
  const std::string big(kMaxLineBytes, 'x');
  const std::string line = LineFor(
      request, 200,
      absl::StrCat(R"({"jsonrpc":"2.0","id":"a","result":{"resultType":"complete","content":[],)",
                   R"("structuredContent":{"status":"complete","final":true,"tab_id":7,)",
                   R"("correlation_id":"corr-1-a","result":")", big, "\"}}}"));
  const auto answer = nlohmann::json::parse(line);
  EXPECT_EQ(answer["id"], "a");
  EXPECT_EQ(answer["result"]["resultType"], "complete");
  EXPECT_FALSE(answer["result"].contains("isError"));
  EXPECT_EQ(answer["result"]["structuredContent"],
            nlohmann::json({{"status", "complete"},
                            {"final", true},
                            {"tab_id", 7},
                            {"correlation_id", "corr-1-a"},
                            {"result_bytes", kMaxLineBytes + 2},
                            {"resource", "callslip://result/corr-1-a"}}));
  EXPECT_THAT(answer["result"]["content"][0]["text"].get<std::string>(),
              HasSubstr("callslip://result/corr-1-a"));
}

TEST(AnswerLineTest, TooLargeResourceIsReportedAsTooLarge) {
  const Message request = Request("7", "resources/read", R"({"uri":"callslip://result/c"})");
  const auto answer = nlohmann::json::parse(
      LineFor(request, 200,
              absl::StrCat(R"({"jsonrpc":"2.0","id":7,"result":{"contents":[{"text":")",
                           std::string(kMaxLineBytes, 'x'), "\"}]}}")));
  EXPECT_EQ(answer["error"]["data"]["reason"], "answer_too_large");
  EXPECT_THAT(answer["error"]["message"].get<std::string>(), HasSubstr("10 MiB"));
}

TEST(NegotiatedVersionTest, ComesFromTheResult) {
  EXPECT_EQ(NegotiatedVersion(ParseMessage(
                R"({"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25"}})")),
            "2025-11-25");
  EXPECT_EQ(NegotiatedVersion(ParseMessage(R"({"jsonrpc":"2.0","id":0,"result":{}})")), "");
  EXPECT_EQ(NegotiatedVersion(ParseMessage(R"({"jsonrpc":"2.0","id":0,"error":{}})")),
            std::nullopt);
}

}  // namespace
}  // namespace callslip::bridge
