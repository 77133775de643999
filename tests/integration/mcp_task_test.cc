// Commands as MCP tasks, in both forms of the protocol.
#include <set>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "support/mcp_client.h"
#include "support/test_services.h"

namespace callslip {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::MatchesRegex;

constexpr char kTasksExtension[] = "io.modelcontextprotocol/tasks";
constexpr char kUnknown[] = "corr-1-00000000000000000000000000000000";

class McpTaskTest : public testing::Test {
 protected:
  void Deliver() { services_.Get("/pending-queries"); }
  void Report(const std::string& id, json report) {
    report["correlation_id"] = id;
    EXPECT_EQ(services_.Post("/query-result", report.dump()).body["accepted"], true);
  }
  void Complete(const std::string& id, const json& result) {
    Deliver();
    Report(id, {{"status", "complete"}, {"result", result}});
  }
  void Fail(const std::string& id) {
    Deliver();
    Report(id, {{"status", "error"}, {"error", {{"code", "no_such_tab"}, {"message", "Gone."}}}});
  }

  TestServices services_;
};

// 2025-11-25.

class LegacyTaskTest : public McpTaskTest {
 protected:
  json CallAsTask(json arguments = {{"action", "get_page"}}, const std::string& tool = "interact") {
    return client_.Result(
        "tools/call",
        {{"name", tool}, {"arguments", std::move(arguments)}, {"task", {{"ttl", 60000}}}});
  }
  std::string NewTask() { return CallAsTask()["task"]["taskId"]; }

  McpClient client_{services_.gateway_address(), "2025-11-25"};
};

TEST_F(LegacyTaskTest, CallBecomesTask) {
  const json result = CallAsTask();
  const json& task = result["task"];
  EXPECT_EQ(result.size(), 1u);
  EXPECT_THAT(task["taskId"].get<std::string>(), MatchesRegex("corr-[0-9]+-[0-9a-f]{32}"));
  EXPECT_EQ(task["status"], "working");
  EXPECT_EQ(task["statusMessage"], "queued");
  EXPECT_EQ(task["pollInterval"], 1000);
  EXPECT_TRUE(task["ttl"].is_number_integer()) << task;
  EXPECT_EQ(task["createdAt"], task["lastUpdatedAt"]);
  EXPECT_EQ(client_.Result("tasks/get", {{"taskId", task["taskId"]}}), task);
}

TEST_F(LegacyTaskTest, TaskFollowsItsCommand) {
  const std::string id = NewTask();
  const auto task = [&] { return client_.Result("tasks/get", {{"taskId", id}}); };
  Deliver();
  EXPECT_EQ(task()["statusMessage"], "delivered");
  Report(id, {{"status", "pending"}});
  EXPECT_EQ(task()["statusMessage"], "running");
  EXPECT_EQ(task()["status"], "working");
  Report(id, {{"status", "complete"}, {"result", 1}});
  EXPECT_EQ(task()["status"], "completed");

  const std::string failed = NewTask();
  Fail(failed);
  const json end = client_.Result("tasks/get", {{"taskId", failed}});
  EXPECT_EQ(end["status"], "failed");
  EXPECT_EQ(end["statusMessage"], "no_such_tab: Gone.");
}

TEST_F(LegacyTaskTest, ResultCallWaitsForEnd) {
  const std::string id = NewTask();
  HttpStream result = client_.Open(client_.Request("tasks/result", {{"taskId", id}}));
  services_.AwaitWaits(1);
  Complete(id, "there");
  EXPECT_EQ(result.Header("content-type"), "application/json");
  const json answer = json::parse(result.Body())["result"];
  EXPECT_EQ(answer["structuredContent"]["result"], "there");
  EXPECT_EQ(answer["_meta"]["io.modelcontextprotocol/related-task"]["taskId"], id);
  // It can be read again.
  EXPECT_EQ(client_.Result("tasks/result", {{"taskId", id}}), answer);
}

TEST_F(LegacyTaskTest, ResultCallStreamsProgressAndStatus) {
  const std::string id = NewTask();
  HttpStream result = client_.Open(
      client_.Request("tasks/result", {{"taskId", id}, {"_meta", {{"progressToken", "p"}}}}));
  EXPECT_EQ(result.Event()["params"]["message"], "queued");
  json status = result.Event();
  EXPECT_EQ(status["method"], "notifications/tasks/status");
  EXPECT_EQ(status["params"]["taskId"], id);
  EXPECT_EQ(status["params"]["status"], "working");
  Fail(id);
  json answer;
  while (!(answer = result.Event()).contains("id")) {
    const bool progress = answer["method"] == "notifications/progress";
    EXPECT_EQ(answer["params"][progress ? "progressToken" : "taskId"], progress ? "p" : id);
  }
  EXPECT_EQ(answer["result"]["isError"], true);
  EXPECT_EQ(answer["result"]["structuredContent"]["error"], "no_such_tab");
}

TEST_F(LegacyTaskTest, TaskCanBeCancelledOnlyOnce) {
  const std::string id = NewTask();
  EXPECT_EQ(client_.Result("tasks/cancel", {{"taskId", id}})["status"], "cancelled");
  EXPECT_EQ(client_.ErrorCode("tasks/cancel", {{"taskId", id}}), -32602);
  EXPECT_EQ(client_.Result("tasks/get", {{"taskId", id}})["status"], "cancelled");
  EXPECT_EQ(client_.Result("tasks/result", {{"taskId", id}})["isError"], true);
  const std::string done = NewTask();
  Complete(done, 1);
  EXPECT_EQ(client_.ErrorCode("tasks/cancel", {{"taskId", done}}), -32602);
}

TEST_F(LegacyTaskTest, UnknownTasksAreInvalidParams) {
  for (const char* method : {"tasks/get", "tasks/result", "tasks/cancel"}) {
    EXPECT_EQ(client_.ErrorCode(method, {{"taskId", kUnknown}}), -32602) << method;
    EXPECT_EQ(client_.ErrorCode(method, {{"taskId", ""}}), -32602) << method;
    EXPECT_EQ(client_.ErrorCode(method, {{"taskId", 7}}), -32602) << method;
    EXPECT_EQ(client_.ErrorCode(method), -32602) << method;
  }
}

TEST_F(LegacyTaskTest, TasksAreListedInPages) {
  std::set<std::string> made;
  for (int i = 0; i < 60; ++i) {
    made.insert(NewTask());
    Deliver();
  }
  std::set<std::string> listed;
  json params = json::object();
  int pages = 0;
  for (bool more = true; more; ++pages) {
    const json page = client_.Result("tasks/list", params);
    for (const json& task : page["tasks"]) listed.insert(task["taskId"]);
    EXPECT_LE(page["tasks"].size(), 50u);
    more = page.contains("nextCursor");
    if (more) params["cursor"] = page["nextCursor"];
  }
  EXPECT_EQ(pages, 2);
  EXPECT_EQ(listed, made);
  EXPECT_EQ(client_.ErrorCode("tasks/list", {{"cursor", "no cursor"}}), -32602);
}

// A client that asks for a task expects one.
TEST_F(LegacyTaskTest, CallThatEndsAtOnceIsStillTask) {
  HttpStream call = client_.Open(
      client_.Request("tools/call", {{"name", "interact"},
                                     {"arguments", {{"action", "get_page"}, {"wait_ms", 30000}}},
                                     {"task", json::object()}}));
  services_.AwaitWaits(1);
  const json queries = services_.Get("/pending-queries").body;
  Report(queries[0]["correlation_id"], {{"status", "complete"}, {"result", 1}});
  EXPECT_EQ(json::parse(call.Body())["result"]["task"]["status"], "completed");
}

TEST_F(LegacyTaskTest, RefusedTaskCallIsProtocolError) {
  const json error = CallAsTask({{"action", "fly"}})["error"];
  EXPECT_EQ(error["code"], -32602);
  EXPECT_EQ(error["data"]["error"], "invalid_arguments");
  EXPECT_EQ(error["message"], error["data"]["message"]);
}

TEST_F(LegacyTaskTest, TaskOfUnsupportedToolIsRefused) {
  EXPECT_EQ(CallAsTask({{"what", "pending_commands"}}, "observe")["error"]["code"], -32601);
}

TEST_F(LegacyTaskTest, OlderVersionsHaveNoTasks) {
  McpClient older(services_.gateway_address(), "2025-06-18");
  const json result = older.Result(
      "tools/call",
      {{"name", "interact"}, {"arguments", {{"action", "get_page"}}}, {"task", json::object()}});
  EXPECT_EQ(result["structuredContent"]["status"], "queued");
}

// 2026-07-28.

class ModernTaskTest : public McpTaskTest {
 protected:
  ModernTaskTest() { client_.capabilities["extensions"][kTasksExtension] = json::object(); }

  std::string NewTask() { return client_.CallTool("interact", {{"action", "get_page"}})["taskId"]; }
  HttpStream Listen(const json& notifications) {
    return client_.Open(
        client_.Request("subscriptions/listen", {{"notifications", notifications}}));
  }

  McpClient client_{services_.gateway_address(), "2026-07-28"};
};

TEST_F(ModernTaskTest, OnlyClientsWithExtensionGetTasks) {
  const json task = client_.CallTool("interact", {{"action", "get_page"}});
  EXPECT_EQ(task["resultType"], "task");
  EXPECT_EQ(task["status"], "working");
  EXPECT_EQ(task["pollIntervalMs"], 1000);
  EXPECT_TRUE(task["ttlMs"].is_number_integer()) << task;
  EXPECT_TRUE(task["createdAt"].is_string() && task["lastUpdatedAt"].is_string());
  EXPECT_FALSE(task.contains("content") || task.contains("task"));
  EXPECT_TRUE(task["_meta"].contains("io.modelcontextprotocol/serverInfo"));

  McpClient plain(services_.gateway_address(), "2026-07-28");
  const json result = plain.CallTool("interact", {{"action", "get_page"}});
  EXPECT_EQ(result["resultType"], "complete");
  EXPECT_EQ(result["structuredContent"]["status"], "queued");
}

TEST_F(ModernTaskTest, TaskIncludesItsResult) {
  const std::string id = NewTask();
  json task = client_.Result("tasks/get", {{"taskId", id}});
  EXPECT_EQ(task["resultType"], "complete");
  EXPECT_EQ(task["taskId"], id);
  EXPECT_EQ(task["status"], "working");
  EXPECT_FALSE(task.contains("result"));
  Complete(id, "there");
  task = client_.Result("tasks/get", {{"taskId", id}});
  EXPECT_EQ(task["status"], "completed");
  EXPECT_EQ(task["result"]["resultType"], "complete");
  EXPECT_EQ(task["result"]["structuredContent"]["result"], "there");

  // A tool's error is a result, too.
  const std::string failed = NewTask();
  Fail(failed);
  task = client_.Result("tasks/get", {{"taskId", failed}});
  EXPECT_EQ(task["status"], "completed");
  EXPECT_EQ(task["result"]["isError"], true);
}

TEST_F(ModernTaskTest, CancelAndUpdateCanBeRepeated) {
  const std::string id = NewTask();
  for (const char* method : {"tasks/cancel", "tasks/cancel", "tasks/update", "tasks/update"}) {
    const json result =
        client_.Result(method, {{"taskId", id}, {"inputResponses", json::object()}});
    EXPECT_EQ(result["resultType"], "complete") << method << result;
  }
  EXPECT_EQ(client_.Result("tasks/get", {{"taskId", id}})["status"], "cancelled");
  EXPECT_EQ(client_.ErrorCode("tasks/update", {{"taskId", id}}), -32602);
}

TEST_F(ModernTaskTest, UnknownTasksAreInvalidParams) {
  for (const char* method : {"tasks/get", "tasks/cancel", "tasks/update"}) {
    EXPECT_EQ(client_.ErrorCode(method, {{"taskId", kUnknown}, {"inputResponses", json::object()}}),
              -32602)
        << method;
    EXPECT_EQ(client_.ErrorCode(method), -32602) << method;
  }
}

TEST_F(ModernTaskTest, TaskMethodsRequireExtension) {
  const std::string id = NewTask();
  McpClient plain(services_.gateway_address(), "2026-07-28");
  const auto refused = [&](const std::string& method, const json& params) {
    const auto answer = plain.Send(plain.Request(method, params));
    EXPECT_EQ(answer.status, 400) << method;
    EXPECT_EQ(answer.body["error"]["code"], -32021) << method;
    EXPECT_TRUE(answer.body["error"]["data"]["requiredCapabilities"]["extensions"].contains(
        kTasksExtension));
  };
  for (const char* method : {"tasks/get", "tasks/cancel", "tasks/update"}) {
    refused(method, {{"taskId", id}});
  }
  refused("subscriptions/listen", {{"notifications", {{"taskIds", {id}}}}});
}

TEST_F(ModernTaskTest, HeaderMustNameTask) {
  const json get = client_.Request("tasks/get", {{"taskId", NewTask()}});
  client_.headers["Mcp-Name"] = kUnknown;
  const auto answer = client_.Send(get);
  EXPECT_EQ(answer.status, 400);
  EXPECT_EQ(answer.body["error"]["code"], -32020);
}

// Subscriptions.

TEST_F(ModernTaskTest, StreamReportsTasksAndTheirResults) {
  const std::string id = NewTask();
  const std::string uri = "callslip://result/" + id;
  const json listen =
      client_.Request("subscriptions/listen",
                      {{"notifications",
                        {{"taskIds", {id, kUnknown, 7}},
                         {"resourceSubscriptions", {uri, "callslip://result/x", "file:///x"}},
                         {"toolsListChanged", true}}}});
  HttpStream stream = client_.Open(listen);
  EXPECT_EQ(stream.Header("content-type"), "text/event-stream");
  std::vector<json> events;
  const auto next = [&]() -> const json& {
    events.push_back(stream.Event());
    EXPECT_EQ(events.back()["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"],
              listen["id"]);
    return events.back();
  };
  // Only available notifications are acknowledged.
  const json acknowledged = next();
  EXPECT_EQ(acknowledged["method"], "notifications/subscriptions/acknowledged");
  EXPECT_EQ(acknowledged["params"]["notifications"],
            (json{{"taskIds", {id}}, {"resourceSubscriptions", {uri}}}));
  services_.AwaitWaits(2);
  Deliver();
  const json delivered = next();
  EXPECT_EQ(delivered["method"], "notifications/tasks");
  EXPECT_EQ(delivered["params"]["taskId"], id);
  EXPECT_EQ(delivered["params"]["status"], "working");
  // The next change is the end; both waits have to be back for it.
  services_.AwaitWaits(2);
  Report(id, {{"status", "complete"}, {"result", 1}});
  std::set<std::string> methods = {next()["method"], next()["method"]};
  EXPECT_THAT(methods, ElementsAre("notifications/resources/updated", "notifications/tasks"));
  for (const json& event : events) {
    if (event["method"] == "notifications/resources/updated") {
      EXPECT_EQ(event["params"]["uri"], uri);
    } else if (event["params"].value("status", "") == "completed") {
      EXPECT_EQ(event["params"]["result"]["structuredContent"]["result"], 1);
    }
  }
  services_.StopGateway();
  const json answer = stream.Event();
  EXPECT_EQ(answer["id"], listen["id"]);
  EXPECT_EQ(answer["result"]["resultType"], "complete");
  EXPECT_EQ(stream.Event(), nullptr);
}

TEST_F(ModernTaskTest, EndedTaskIsReportedAtOnce) {
  const std::string id = NewTask();
  Complete(id, 1);
  HttpStream stream = Listen({{"taskIds", {id}}});
  EXPECT_EQ(stream.Event()["method"], "notifications/subscriptions/acknowledged");
  EXPECT_EQ(stream.Event()["params"]["status"], "completed");
}

TEST_F(ModernTaskTest, LargeResultIsReportedInFull) {
  const std::string id = NewTask();
  HttpStream stream = Listen({{"taskIds", {id}}});
  stream.Event();
  services_.AwaitWaits(1);
  Deliver();
  EXPECT_EQ(stream.Event()["params"]["status"], "working");
  services_.AwaitWaits(1);
  Report(id, {{"status", "complete"},
              {"result", {{"mime_type", "image/png"}, {"base64", std::string(3 << 20, 'A')}}}});
  const json end = stream.Event();
  EXPECT_EQ(end["params"]["status"], "completed");
  EXPECT_EQ(end["params"]["result"]["content"][1]["data"].get<std::string>().size(),
            size_t{3} << 20);
}

TEST_F(ModernTaskTest, StreamSurvivesTrackerRestart) {
  const std::string id = NewTask();
  HttpStream stream = Listen({{"taskIds", {id}}});
  EXPECT_EQ(stream.Event()["method"], "notifications/subscriptions/acknowledged");
  services_.AwaitWaits(1);
  services_.StopTracker();
  services_.StartTracker();
  // The new tracker does not know the old commands, which is a change.
  const json told = stream.Event();
  EXPECT_EQ(told["method"], "notifications/tasks");
  EXPECT_EQ(told["params"]["taskId"], id);
  EXPECT_EQ(told["params"]["status"], "completed");
  EXPECT_EQ(told["params"]["result"]["isError"], true);
  EXPECT_EQ(told["params"]["result"]["structuredContent"]["error"], "unknown_command");
}

TEST_F(ModernTaskTest, StreamThatCannotStartGetsError) {
  const std::string id = NewTask();
  services_.StopTracker();
  const json params = {{"notifications", {{"taskIds", {id}}}}};
  const json error = client_.Result("subscriptions/listen", params)["error"];
  EXPECT_EQ(error["code"], -32603) << error;
  EXPECT_EQ(error["data"]["error"], "tracker_unreachable");
  EXPECT_EQ(error["data"]["final"], false);
}

TEST_F(ModernTaskTest, ClosingStreamEndsItsWaits) {
  const std::string id = NewTask();
  HttpStream stream = Listen({{"taskIds", {id}}, {"resourceSubscriptions", {"x"}}});
  stream.Event();
  services_.AwaitWaits(1);
  stream.Close();
  services_.AwaitWaits(0);
}

TEST_F(ModernTaskTest, InvalidOrTooLargeSubscriptionIsRefused) {
  EXPECT_EQ(client_.ErrorCode("subscriptions/listen"), -32602);
  EXPECT_EQ(client_.ErrorCode("subscriptions/listen", {{"notifications", 7}}), -32602);
  EXPECT_EQ(client_.ErrorCode("subscriptions/listen",
                              {{"notifications", {{"taskIds", json(101, kUnknown)}}}}),
            -32602);
}

}  // namespace
}  // namespace callslip
