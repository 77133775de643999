// The gateway and the tracker together, from the outside: an agent on one side, an extension on the
// other, and misbehaving peers.
#include <sys/socket.h>
#include <unistd.h>

#include <arpa/inet.h>

#include <string>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "support/mcp_client.h"
#include "support/test_services.h"

namespace callslip {
namespace {

using nlohmann::json;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;

class GatewayTest : public testing::Test {
 protected:
  std::string Interact() {
    const json answer =
        services_.ToolAnswer("interact", {{"action", "execute_js"}, {"script", "document.title"}});
    EXPECT_EQ(answer["status"], "queued");
    return answer["correlation_id"];
  }

  json Observe(const std::string& id, int wait_ms = 0) {
    return services_.ToolAnswer(
        "observe", {{"what", "command_result"}, {"correlation_id", id}, {"wait_ms", wait_ms}});
  }

  json Poll(const std::string& query = "") {
    return services_.Get("/pending-queries" + query).body;
  }

  TestServices::Answer Report(const json& report) {
    return services_.Post("/query-result", report.dump());
  }

  // A bare connection, for requests that an HTTP client would not make.
  int Connect() {
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_port = htons(services_.gateway_address().port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
    return fd;
  }

  void Send(int fd, const std::string& bytes) {
    ASSERT_EQ(send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(bytes.size()));
  }

  // Everything until the peer closes.
  std::string ReadAll(int fd) {
    std::string all;
    char buffer[4096];
    for (ssize_t n; (n = recv(fd, buffer, sizeof(buffer), 0)) > 0;) all.append(buffer, n);
    close(fd);
    return all;
  }

  std::string Host() { return "Host: " + services_.gateway_address().ToString() + "\r\n"; }

  TestServices services_;
};

// The way of a command.

TEST_F(GatewayTest, CommandTravelsFromAgentToExtensionAndBack) {
  const std::string id = Interact();
  EXPECT_THAT(id, MatchesRegex("corr-[0-9]+-[0-9a-f]{32}"));

  const json queries = Poll();
  ASSERT_EQ(queries.size(), 1u);
  EXPECT_EQ(queries[0]["correlation_id"], id);
  EXPECT_EQ(queries[0]["type"], "browser_action");
  EXPECT_EQ(queries[0]["params"], (json{{"action", "execute_js"}, {"script", "document.title"}}));
  EXPECT_EQ(queries[0]["timeout_ms"], 10000);

  const json place = {
      {"id", queries[0]["id"]}, {"correlation_id", id}, {"tab_id", 7}, {"url", "http://page/"}};
  json report = place;
  report["status"] = "pending";
  EXPECT_EQ(Report(report).body["accepted"], true);
  json answer = Observe(id);
  EXPECT_EQ(answer["status"], "pending");
  EXPECT_EQ(answer["stage"], "running");
  EXPECT_EQ(answer["final"], false);

  report["status"] = "complete";
  report["result"] = {{"success", true}, {"data", "Title"}};
  EXPECT_EQ(Report(report).body["accepted"], true);
  answer = Observe(id);
  EXPECT_EQ(answer["status"], "complete");
  EXPECT_EQ(answer["final"], true);
  EXPECT_EQ(answer["result"], "Title");
  EXPECT_EQ(answer["tab_id"], 7);
  EXPECT_EQ(answer["url"], "http://page/");
}

TEST_F(GatewayTest, ProgressReachesObserver) {
  const std::string id = Interact();
  const json queries = Poll();
  Report({{"id", queries[0]["id"]},
          {"correlation_id", id},
          {"status", "pending"},
          {"progress", {{"message", "Page 1 of 4"}, {"fraction", 0.25}}}});
  EXPECT_EQ(Observe(id)["progress"], (json{{"message", "Page 1 of 4"}, {"fraction", 0.25}}));
}

TEST_F(GatewayTest, CancelWakesHeldPollThatSupportsCancels) {
  const std::string id = Interact();
  const json queries = Poll("?cancels=1");
  json news;
  std::thread extension([&] { news = Poll("?wait=5&cancels=1"); });
  services_.AwaitWaits(1);
  services_.ToolAnswer("interact", {{"action", "cancel"}, {"correlation_id", id}});
  extension.join();
  EXPECT_EQ(news, (json{{{"type", "cancel"}, {"correlation_id", id}, {"id", queries[0]["id"]}}}));
  EXPECT_EQ(Poll("?cancels=1"), json::array()) << "it is told once";
}

TEST_F(GatewayTest, CancelIsNotSentToPollsThatDoNotAskForIt) {
  const std::string id = Interact();
  Poll();
  services_.ToolAnswer("interact", {{"action", "cancel"}, {"correlation_id", id}});
  EXPECT_EQ(Poll(), json::array());
}

TEST_F(GatewayTest, InteractWithWaitReturnsResult) {
  std::thread extension([&] {
    const json queries = Poll("?wait=5");
    ASSERT_EQ(queries.size(), 1u);
    Report(
        {{"correlation_id", queries[0]["correlation_id"]}, {"status", "complete"}, {"result", 42}});
  });
  services_.AwaitWaits(1);
  const json answer =
      services_.ToolAnswer("interact", {{"action", "get_page"}, {"wait_ms", 30000}});
  extension.join();
  EXPECT_EQ(answer["status"], "complete");
  EXPECT_EQ(answer["result"], 42);
}

TEST_F(GatewayTest, ObserveWaitsForEndOfCommand) {
  const std::string id = Interact();
  const json queries = Poll();
  json answer;
  std::thread agent([&] { answer = Observe(id, 30000); });
  services_.AwaitWaits(1);
  Report({{"correlation_id", id}, {"status", "complete"}, {"result", "late but there"}});
  agent.join();
  EXPECT_EQ(answer["result"], "late but there");
}

TEST_F(GatewayTest, ExpiredWaitAnswersPending) {
  const std::string id = Interact();
  json answer;
  std::thread agent([&] { answer = Observe(id, 8000); });
  services_.AwaitWaits(1);
  services_.clock().Advance(absl::Seconds(8));
  agent.join();
  EXPECT_EQ(answer["status"], "pending");
  EXPECT_EQ(answer["stage"], "queued");
  EXPECT_EQ(answer["final"], false);
}

TEST_F(GatewayTest, FailuresReportWhatHappened) {
  const std::string id = Interact();
  Poll();
  Report({{"correlation_id", id},
          {"status", "error"},
          {"tab_id", 7},
          {"error",
           {{"code", "element_not_found"},
            {"message", "No such element."},
            {"hint", "Look."},
            {"may_have_executed", false}}}});
  const json result =
      services_.CallTool("observe", {{"what", "command_result"}, {"correlation_id", id}});
  EXPECT_EQ(result["isError"], true);
  const json& answer = result["structuredContent"];
  EXPECT_EQ(answer["status"], "error");
  EXPECT_EQ(answer["final"], true);
  EXPECT_EQ(answer["error"], "element_not_found");
  EXPECT_EQ(answer["hint"], "Look.");
  EXPECT_EQ(answer["may_have_executed"], false);
  EXPECT_EQ(answer["tab_id"], 7);
  EXPECT_THAT(result["content"][0]["text"].get<std::string>(),
              HasSubstr("error element_not_found: No such element. Look. Nothing was executed."));
}

TEST_F(GatewayTest, CommandOfSilentExtensionExpiresAndRefusesLateResult) {
  const std::string id = Interact();
  const json queries = Poll();
  services_.clock().Advance(absl::Seconds(3));
  json answer = Observe(id, 30000);
  EXPECT_EQ(answer["status"], "expired");
  EXPECT_EQ(answer["error"], "extension_no_response");
  EXPECT_EQ(answer["may_have_executed"], true);
  const auto late = Report(
      {{"id", queries[0]["id"]}, {"correlation_id", id}, {"status", "complete"}, {"result", 1}});
  EXPECT_EQ(late.status, 200);
  EXPECT_EQ(late.body, (json{{"accepted", false}, {"command_status", "expired"}}));
  EXPECT_EQ(Observe(id)["late_result"], 1);

  const json failed = services_.ToolAnswer("observe", {{"what", "failed_commands"}});
  ASSERT_EQ(failed["commands"].size(), 1u);
  EXPECT_EQ(failed["commands"][0]["correlation_id"], id);
  EXPECT_EQ(failed["commands"][0]["error"], "extension_no_response");
}

TEST_F(GatewayTest, PendingCommandsListsEachKind) {
  const std::string done = Interact();
  Poll();
  Report({{"correlation_id", done}, {"status", "complete"}});
  const std::string waiting = Interact();
  const json answer = services_.ToolAnswer("observe", {{"what", "pending_commands"}});
  EXPECT_EQ(answer["pending"][0]["correlation_id"], waiting);
  EXPECT_EQ(answer["pending"][0]["command"], "execute_js");
  EXPECT_EQ(answer["completed"][0]["correlation_id"], done);
  EXPECT_EQ(answer["failed"].size(), 0u);
}

TEST_F(GatewayTest, RepeatedRequestIdReturnsOutcomeOfCommand) {
  const json arguments = {{"action", "click"}, {"selector", "#buy"}, {"request_id", "r1"}};
  const json first = services_.ToolAnswer("interact", arguments);
  Poll();
  Report({{"correlation_id", first["correlation_id"]}, {"status", "complete"}, {"result", 1}});
  const json again = services_.ToolAnswer("interact", arguments);
  EXPECT_EQ(again["status"], "complete");
  EXPECT_EQ(again["result"], 1);
}

TEST_F(GatewayTest, RemovedCommandIsReportedAsPossiblyExecuted) {
  const std::string id = Interact();
  Poll();
  Report({{"correlation_id", id}, {"status", "complete"}});
  Observe(id);
  // The receipt comes when the answer has left the tracker, which may be after the answer was read.
  const auto kept = *services_.table().Get(tracker::ClientScope::All(), id, /*peek=*/true);
  while (!kept->spec->is_read()) std::this_thread::yield();
  services_.clock().Advance(absl::Seconds(60));
  json answer;
  do {
    answer = Observe(id);
  } while (answer["status"] == "complete");  // Until the deadline thread has run.
  EXPECT_EQ(answer["error"], "command_removed");
  EXPECT_EQ(answer["may_have_executed"], true);
  EXPECT_EQ(Observe("corr-1-00000000000000000000000000000000")["may_have_executed"], true);
}

TEST_F(GatewayTest, SameRequestIdIsTheSameCommand) {
  const json arguments = {{"action", "click"}, {"selector", "#buy"}, {"request_id", "r1"}};
  const json first = services_.ToolAnswer("interact", arguments);
  EXPECT_EQ(services_.ToolAnswer("interact", arguments)["correlation_id"], first["correlation_id"]);
  EXPECT_EQ(Poll().size(), 1u);
}

// Peers that disconnect.

TEST_F(GatewayTest, HeldPollOfDisconnectedExtensionTakesNoCommand) {
  const int fd = Connect();
  Send(fd, "GET /pending-queries?wait=5 HTTP/1.1\r\n" + Host() + "\r\n");
  services_.AwaitWaits(1);
  close(fd);
  services_.AwaitWaits(0);
  const std::string id = Interact();
  EXPECT_EQ(Observe(id)["stage"], "queued");
  EXPECT_EQ(Poll().size(), 1u);
}

TEST_F(GatewayTest, LostPollAnswerIsSentAgain) {
  const std::string id = Interact();
  const std::string poll = "?worker=w1&known_for=60&known=";
  const json lost = Poll(poll);
  ASSERT_EQ(lost[0]["correlation_id"], id);
  services_.clock().Advance(absl::Seconds(1));
  const json again = Poll(poll);
  ASSERT_EQ(again[0]["correlation_id"], id);
  EXPECT_NE(again[0]["id"], lost[0]["id"]);
  const std::string token = again[0]["id"];
  EXPECT_EQ(Poll(poll + token), json::array()) << "it is known";
  EXPECT_EQ(services_.Get("/pending-queries?known=&known_for=61").body["error"],
            "invalid_known_for");
}

TEST_F(GatewayTest, WaitOfDisconnectedAgentIsReleased) {
  const std::string id = Interact();
  const std::string body =
      R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"observe","arguments":)"
      R"({"what":"command_result","wait_ms":30000,"correlation_id":")" +
      id + R"("}}})";
  const int fd = Connect();
  Send(fd, "POST /mcp HTTP/1.1\r\n" + Host() + "Mcp-Session-Id: " + services_.session_id() +
               "\r\nContent-Type: application/json\r\nContent-Length: " +
               std::to_string(body.size()) + "\r\n\r\n" + body);
  services_.AwaitWaits(1);
  close(fd);
  services_.AwaitWaits(0);
  EXPECT_EQ(Observe(id)["stage"], "queued");
}

TEST_F(GatewayTest, PipelinedPollOfDisconnectedPeerTakesNoCommand) {
  const int fd = Connect();
  const std::string poll = "GET /pending-queries?wait=5 HTTP/1.1\r\n" + Host() + "\r\n";
  Send(fd, poll + poll);
  services_.AwaitWaits(1);
  close(fd);
  services_.AwaitWaits(0);
  Interact();
  EXPECT_EQ(Poll().size(), 1u);
}

TEST_F(GatewayTest, ResultIsAcceptedThoughPeerDisconnectsAtOnce) {
  for (int i = 0; i < 20; ++i) {
    const std::string id = Interact();
    Poll();
    const std::string body = json{{"correlation_id", id}, {"status", "complete"}}.dump();
    const int fd = Connect();
    Send(fd, "POST /query-result HTTP/1.1\r\n" + Host() +
                 "Content-Type: application/json\r\nContent-Length: " +
                 std::to_string(body.size()) + "\r\n\r\n" + body);
    close(fd);
    ASSERT_EQ(Observe(id, 30000)["status"], "complete");
  }
}

// Payloads of pages and other services.

TEST_F(GatewayTest, HugeResultsAndNestedParamsPassThrough) {
  const std::string large = Interact();
  Poll();
  json object = json::object();
  for (int i = 0; i < 50000; ++i) object["member " + std::to_string(i)] = i;
  Report({{"correlation_id", large}, {"status", "complete"}, {"result", object}});
  const json result =
      services_.CallTool("observe", {{"what", "command_result"}, {"correlation_id", large}});
  EXPECT_LT(result.dump().size(), 1000u);
  const std::string uri = result["structuredContent"]["resource"];
  EXPECT_EQ(result["content"][1]["uri"], uri);
  const json read = {
      {"jsonrpc", "2.0"}, {"id", "read"}, {"method", "resources/read"}, {"params", {{"uri", uri}}}};
  const json contents = services_.Post("/mcp", read.dump()).body["result"]["contents"][0];
  EXPECT_EQ(json::parse(contents["text"].get<std::string>()), object);

  // A command of another service, which the gateway did not check at its submission.
  tracker::CommandRequest request;
  request.type = "execute_js";
  request.params = std::make_shared<const std::string>("{\"a\":" + std::string(100000, '['));
  ASSERT_TRUE(services_.table().Register(std::move(request), services_.clock().Now()).ok());
  const json queries = Poll();
  ASSERT_EQ(queries.size(), 1u);
  EXPECT_TRUE(queries[0]["params"].is_string());
}

// Bad input: each case is answered, and changes nothing.

struct BadCall {
  const char* name;
  json arguments;
  const char* tool;
  const char* complaint;
};

TEST_F(GatewayTest, BadArgumentsErrorNamesFieldAndChangesNothing) {
  const std::string other = Interact();
  const std::vector<BadCall> calls = {
      {"no action", json::object(), "interact", "\"action\""},
      {"unknown action", {{"action", "fly"}}, "interact", "execute_js"},
      {"no script", {{"action", "execute_js"}}, "interact", "\"script\""},
      {"empty script", {{"action", "execute_js"}, {"script", ""}}, "interact", "\"script\""},
      {"script is a number", {{"action", "execute_js"}, {"script", 1}}, "interact", "\"script\""},
      {"foreign field", {{"action", "get_page"}, {"url", "x"}}, "interact", "\"url\""},
      {"wait too long", {{"action", "get_page"}, {"wait_ms", 30001}}, "interact", "\"wait_ms\""},
      {"timeout too short",
       {{"action", "get_page"}, {"timeout_ms", 99}},
       "interact",
       "\"timeout_ms\""},
      {"no object", json::array(), "interact", "object"},
      {"no what", json::object(), "observe", "\"what\""},
      {"no id", {{"what", "command_result"}}, "observe", "\"correlation_id\""},
      {"unknown what", {{"what", "stars"}}, "analyze", "\"what\""},
  };
  for (const BadCall& call : calls) {
    const json result = services_.CallTool(call.tool, call.arguments);
    EXPECT_EQ(result["isError"], true) << call.name;
    const json& answer = result["structuredContent"];
    EXPECT_EQ(answer["error"], "invalid_arguments") << call.name;
    EXPECT_THAT(std::string(answer["message"]), HasSubstr(call.complaint)) << call.name;
    EXPECT_EQ(answer["may_have_executed"], false) << call.name;
  }
  EXPECT_EQ(Observe(other)["stage"], "queued");
  EXPECT_EQ(Poll().size(), 1u);
}

TEST_F(GatewayTest, UnknownIdsAreReportedAsUnknown) {
  const json answer = Observe("corr-1738012345678-00000000000000000000000000000000");
  EXPECT_EQ(answer["status"], "error");
  EXPECT_EQ(answer["error"], "unknown_command");
  EXPECT_EQ(answer["final"], true);
  EXPECT_EQ(Observe("anything")["error"], "unknown_command");

  const auto report = Report(
      {{"correlation_id", "corr-1-00000000000000000000000000000000"}, {"status", "complete"}});
  EXPECT_EQ(report.status, 404);
  EXPECT_EQ(report.body["error"], "unknown_command");
}

TEST_F(GatewayTest, InvalidReportsAreRefused) {
  const std::string id = Interact();
  Poll();
  EXPECT_EQ(Report({{"id", "query-1"}, {"status", "complete"}}).body["error"],
            "missing_correlation_id");
  EXPECT_EQ(Report({{"correlation_id", id}, {"status", "done"}}).status, 400);
  EXPECT_EQ(Report({{"correlation_id", id}, {"id", "lease-0"}, {"status", "complete"}}).status,
            403);
  EXPECT_EQ(services_.Post("/query-result", "{").body["error"], "malformed_json");
  EXPECT_EQ(
      Report(
          {{"correlation_id", id}, {"status", "complete"}, {"result", std::string(11 << 20, 'x')}})
          .status,
      413);
  EXPECT_EQ(Observe(id)["stage"], "delivered");
  EXPECT_EQ(Report({{"correlation_id", id}, {"status", "complete"}}).body["accepted"], true);
}

TEST_F(GatewayTest, FullQueueIsReported) {
  for (int i = 0; i < 100; ++i) Interact();
  const json answer = services_.ToolAnswer("interact", {{"action", "get_page"}});
  EXPECT_EQ(answer["error"], "queue_full");
  EXPECT_EQ(answer["may_have_executed"], false);
  EXPECT_EQ(answer["retry_after_ms"], 1000);
}

TEST_F(GatewayTest, ProtocolErrorsHaveTheirCodes) {
  const auto call = [&](const json& request) { return services_.Post("/mcp", request.dump()); };
  auto answer = call({{"jsonrpc", "2.0"}, {"id", 0}, {"method", "no/such"}});
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.body["error"]["code"], -32601);
  EXPECT_EQ(answer.body["id"], 0);
  answer =
      call({{"jsonrpc", "2.0"}, {"id", ""}, {"method", "tools/call"}, {"params", {{"name", "x"}}}});
  EXPECT_EQ(answer.body["error"]["code"], -32602);
  answer =
      call({{"jsonrpc", "2.0"}, {"id", 1}, {"method", "tools/call"}, {"params", json::object()}});
  EXPECT_EQ(answer.body["error"]["code"], -32602);
  answer = call({{"jsonrpc", "2.0"}, {"method", "notifications/initialized"}});
  EXPECT_EQ(answer.status, 202);
  EXPECT_TRUE(answer.body.is_null());
  answer = services_.Post("/mcp", "{");
  EXPECT_EQ(answer.status, 400);
  EXPECT_EQ(answer.body["error"]["code"], -32700);
}

TEST_F(GatewayTest, WrongMethodsPathsAndQueriesAreRefused) {
  EXPECT_EQ(services_.Get("/mcp").status, 405);
  EXPECT_EQ(services_.Get("/mcp").header_allow, "DELETE, POST");
  EXPECT_EQ(services_.Post("/pending-queries", "{}").status, 405);
  EXPECT_EQ(services_.Get("/nothing").status, 404);
  EXPECT_EQ(services_.Get("/pending-queries?wait=6").body["error"], "invalid_wait");
  EXPECT_EQ(services_.Get("/pending-queries?wait=nan").status, 400);
  EXPECT_EQ(services_.Get("/pending-queries?wait=-1").status, 400);
  EXPECT_EQ(services_.Get("/pending-queries?back_within=61").body["error"], "invalid_back_within");
  EXPECT_EQ(services_.Get("/pending-queries?back_within=nan").status, 400);
  EXPECT_EQ(services_.Get("/pending-queries?back_within=60").status, 200);
}

TEST_F(GatewayTest, OversizedAndBrokenHttpIsAnswered) {
  EXPECT_EQ(services_.Post("/mcp", std::string(13 << 20, ' ')).status, 413);

  int fd = Connect();
  Send(fd, "nonsense\r\n\r\n");
  EXPECT_THAT(ReadAll(fd), HasSubstr("400 Bad Request"));

  fd = Connect();
  Send(fd, "GET /healthz HTTP/1.1\r\n" + Host() + "X: " + std::string(33 << 10, 'x') + "\r\n\r\n");
  EXPECT_THAT(ReadAll(fd), HasSubstr("431"));

  fd = Connect();
  Send(fd, "GET /%zz HTTP/1.1\r\n" + Host() + "Connection: close\r\n\r\n");
  EXPECT_THAT(ReadAll(fd), HasSubstr("bad_target"));
}

TEST_F(GatewayTest, PipelinedRequestsAreAnsweredInTurn) {
  const int fd = Connect();
  Send(fd, "GET /healthz HTTP/1.1\r\n" + Host() + "\r\nGET /nothing HTTP/1.1\r\n" + Host() +
               "Connection: close\r\n\r\n");
  const std::string answers = ReadAll(fd);
  EXPECT_THAT(answers, ContainsRegex("200 OK.*404 Not Found"));
}

TEST_F(GatewayTest, HeadRequestIsAnsweredWithoutBody) {
  const int fd = Connect();
  Send(fd, "HEAD /healthz HTTP/1.1\r\n" + Host() + "\r\nGET /healthz HTTP/1.1\r\n" + Host() +
               "Connection: close\r\n\r\n");
  EXPECT_THAT(ReadAll(fd), ContainsRegex("^HTTP/1.1 405[^{]*HTTP/1.1 200"));
}

TEST_F(GatewayTest, TwoHostHeadersAndEndlessChunkExtensionsAreRefused) {
  int fd = Connect();
  Send(fd,
       "GET /healthz HTTP/1.1\r\n" + Host() + "Host: evil.example\r\nConnection: close\r\n\r\n");
  EXPECT_THAT(ReadAll(fd), HasSubstr("400 Bad Request"));

  fd = Connect();
  Send(fd, "POST /mcp HTTP/1.1\r\n" + Host() +
               "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n2;" +
               std::string(200 << 10, 'x'));
  EXPECT_THAT(ReadAll(fd), HasSubstr("400 Bad Request"));
}

TEST_F(GatewayTest, ExpectContinueIsHonoured) {
  const int fd = Connect();
  Send(fd, "POST /mcp HTTP/1.1\r\n" + Host() +
               "Content-Type: application/json\r\nExpect: 100-Continue\r\nContent-Length: 2\r\n"
               "Connection: close\r\n\r\n");
  char buffer[64] = {};
  ASSERT_GT(recv(fd, buffer, sizeof(buffer) - 1, 0), 0);
  EXPECT_THAT(buffer, HasSubstr("100 Continue"));
  Send(fd, "{}");
  EXPECT_THAT(ReadAll(fd), HasSubstr("-32600"));
}

// A stopping gateway.

TEST_F(GatewayTest, DrainEndsHeldPollsAndWaits) {
  const std::string id = Interact();
  json answer;
  std::thread agent([&] { answer = Observe(id, 30000); });
  TestServices::Answer poll;
  std::thread extension([&] { poll = services_.Get("/pending-queries?wait=5&target=other"); });
  services_.AwaitWaits(2);
  services_.StopGateway();
  agent.join();
  extension.join();
  EXPECT_EQ(answer["status"], "pending");
  EXPECT_EQ(answer["correlation_id"], id);
  EXPECT_EQ(poll.status, 503);
}

// An unreachable tracker.

TEST_F(GatewayTest, HealthDistinguishesGatewayFromTracker) {
  EXPECT_EQ(services_.Get("/healthz").status, 200);
  EXPECT_EQ(services_.Get("/readyz").status, 200);
  services_.StopTracker();
  EXPECT_EQ(services_.Get("/healthz").status, 200);
  const auto answer = services_.Get("/readyz");
  EXPECT_EQ(answer.status, 503);
  EXPECT_EQ(answer.body["error"], "tracker_unreachable");
  services_.StartTracker();
  EXPECT_EQ(services_.Get("/readyz").status, 200);
}

TEST_F(GatewayTest, WaitContinuesAfterTrackerDrain) {
  const std::string id = Interact();
  json answer;
  std::thread agent([&] { answer = Observe(id, 30000); });
  services_.AwaitWaits(1);
  services_.StopTracker();
  services_.StartTracker();
  agent.join();
  // The new tracker was asked: it does not know the old commands.
  EXPECT_EQ(answer["error"], "unknown_command");
  EXPECT_EQ(answer["status"], "error");
  EXPECT_EQ(answer["final"], true);
}

TEST_F(GatewayTest, WaitThatExpiresWithoutTrackerIsPending) {
  const std::string id = Interact();
  services_.StopTracker();
  const json answer = Observe(id, 1);
  EXPECT_EQ(answer["error"], "tracker_unreachable");
  EXPECT_EQ(answer["status"], "pending");
  EXPECT_EQ(answer["final"], false);
}

TEST_F(GatewayTest, LostSubmissionReportsRequestIdForRetry) {
  services_.StopTracker();
  const json answer = services_.ToolAnswer("interact", {{"action", "get_page"}});
  EXPECT_EQ(answer["error"], "tracker_unreachable");
  EXPECT_EQ(answer["final"], false);
  EXPECT_EQ(answer["may_have_executed"], true);
  const std::string request_id = answer["request_id"];
  EXPECT_EQ(request_id.size(), 32u);
  EXPECT_THAT(answer["hint"].get<std::string>(), HasSubstr(request_id));
}

TEST_F(GatewayTest, TooLongIdsAreRefusedByGateway) {
  const std::string endless(129, 'x');
  EXPECT_EQ(Observe("ann_" + endless, 0)["error"], "invalid_arguments");
  EXPECT_EQ(services_.ToolAnswer("interact",
                                 {{"action", "cancel"}, {"correlation_id", endless}})["error"],
            "invalid_arguments");
  McpClient client(services_.gateway_address(), "2025-11-25");
  for (const char* method : {"tasks/get", "tasks/result", "tasks/cancel"}) {
    EXPECT_EQ(client.ErrorCode(method, {{"taskId", endless}}), -32602) << method;
  }
  EXPECT_EQ(client.ErrorCode("resources/read", {{"uri", "callslip://result/" + endless}}), -32002);
}

TEST_F(GatewayTest, CallsContinueAcrossTrackerRestart) {
  services_.StopTracker();
  json answer;
  std::thread agent([&] { answer = services_.ToolAnswer("interact", {{"action", "get_page"}}); });
  services_.StartTracker();
  agent.join();
  EXPECT_EQ(answer["status"], "queued");
}

}  // namespace
}  // namespace callslip
