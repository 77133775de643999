// Drawings on pages, from the browser to the agents that ask for them: agents on one side over MCP,
// the extension on the other over HTTP.
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "support/json_schema.h"
#include "support/mcp_client.h"
#include "support/test_services.h"

namespace callslip {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;
using ::testing::UnorderedElementsAre;

constexpr char kTasksExtension[] = "io.modelcontextprotocol/tasks";

class AnnotationTest : public testing::Test {
 protected:
  explicit AnnotationTest(const std::optional<TokenFile>& tokens = std::nullopt)
      : services_({}, tokens) {}

  json Analyze(json arguments = json::object()) {
    arguments["what"] = "annotations";
    return services_.ToolAnswer("analyze", arguments);
  }
  json Wait(json arguments = json::object()) {
    arguments["wait"] = true;
    return Analyze(std::move(arguments));
  }
  // The id of a request that has to wait for the user.
  std::string WaitingId(json arguments = json::object()) {
    const json answer = Wait(std::move(arguments));
    EXPECT_EQ(answer["status"], "waiting_for_user") << answer;
    return answer["correlation_id"];
  }
  json Observe(const std::string& id) {
    return services_.ToolAnswer("observe", {{"what", "command_result"}, {"correlation_id", id}});
  }
  json Peek(const std::string& id) {
    return services_.ToolAnswer(
        "observe", {{"what", "command_result"}, {"correlation_id", id}, {"wait_ms", 0}});
  }

  // The commands for the browser.
  std::vector<json> Commands() {
    std::vector<json> commands;
    for (const json& query : services_.Get("/pending-queries").body) {
      commands.push_back(query["params"]);
    }
    return commands;
  }

  static json Drawing(const std::string& note, json more = json::object()) {
    json drawing = {{"tab_id", 7},
                    {"url", "http://page/"},
                    {"title", "A page"},
                    {"annotations", json::array({{{"id", "a1"},
                                                  {"kind", "rectangle"},
                                                  {"note", note},
                                                  {"element", {{"selector", "#save"}}}}})}};
    drawing.update(more);
    return drawing;
  }
  // The user presses Done.
  TestServices::Answer Done(const json& drawing) {
    return services_.Post("/draw-mode/complete", drawing.dump());
  }
  std::vector<std::string> Completed(const json& drawing) {
    const TestServices::Answer answer = Done(drawing);
    EXPECT_EQ(answer.status, 200) << answer.body;
    EXPECT_EQ(answer.body["status"], "ok");
    EXPECT_EQ(answer.body["stored"], true);
    return answer.body["completed"];
  }
  static std::string NoteOf(const json& answer) {
    EXPECT_EQ(answer["status"], "complete") << answer;
    return answer["result"]["annotations"][0]["note"];
  }

  TestServices services_;
};

TEST_F(AnnotationTest, AgentGetsDrawingThatItAskedFor) {
  const json asked = Wait({{"tab_id", 7}, {"session", "review"}, {"message", "What is wrong?"}});
  EXPECT_EQ(asked["status"], "waiting_for_user");
  EXPECT_EQ(asked["final"], false);
  const std::string id = asked["correlation_id"];
  EXPECT_THAT(id, MatchesRegex("ann_[0-9]+_[0-9a-f]{32}"));
  EXPECT_THAT(asked["message"].get<std::string>(),
              HasSubstr("observe {what: 'command_result', correlation_id: '" + id + "'}"));
  EXPECT_THAT(Commands(), ElementsAre(json{{"action", "draw_mode"},
                                           {"tab_id", 7},
                                           {"session", "review"},
                                           {"message", "What is wrong?"},
                                           {"correlation_ids", {id}}}));

  json told;
  std::thread observer([&] { told = Observe(id); });
  services_.AwaitWaits(1);
  EXPECT_THAT(Completed(Drawing("Make it green.", {{"session", "review"}, {"correlation_id", id}})),
              ElementsAre(id));
  observer.join();
  EXPECT_EQ(told["status"], "complete");
  EXPECT_EQ(told["final"], true);
  EXPECT_EQ(told["correlation_id"], id);
  EXPECT_EQ(told["result"]["session"], "review");
  EXPECT_EQ(told["result"]["drawings"][0]["annotations"][0]["note"], "Make it green.");
}

TEST_F(AnnotationTest, ExistingDrawingIsReturnedAtOnce) {
  EXPECT_THAT(Completed(Drawing("Make it green.")), ElementsAre());
  const json answer = Wait();
  EXPECT_EQ(answer["final"], true);
  EXPECT_EQ(NoteOf(answer), "Make it green.");
  EXPECT_EQ(answer["result"]["tab_id"], 7);
  EXPECT_EQ(answer["result"]["url"], "http://page/");
  // The browser got no command for it, and gets one for the next request.
  EXPECT_THAT(Commands(), ElementsAre());
  WaitingId();
  EXPECT_EQ(Commands().size(), 1u);
}

TEST_F(AnnotationTest, CallWithoutWaitReturnsExistingDrawing) {
  const json nothing = Analyze();
  EXPECT_EQ(nothing["status"], "complete");
  EXPECT_EQ(nothing["final"], true);
  EXPECT_EQ(nothing["result"], (json{{"annotations", json::array()}}));
  EXPECT_THAT(nothing["message"].get<std::string>(), HasSubstr("wait"));
  EXPECT_THAT(Commands(), ElementsAre());

  Completed(Drawing("Make it green."));
  Completed(Drawing("Make it red.", {{"tab_id", 8}}));
  EXPECT_EQ(NoteOf(Analyze()), "Make it red.");
  EXPECT_EQ(NoteOf(Analyze({{"tab_id", 7}})), "Make it green.");
  // It can be read again; the user need not draw a second time.
  EXPECT_EQ(NoteOf(Analyze({{"tab_id", 7}})), "Make it green.");
  EXPECT_EQ(Analyze({{"tab_id", 9}})["result"]["annotations"], json::array());
}

TEST_F(AnnotationTest, RepeatedCallIsTheSameRequest) {
  const json call = {{"request_id", "once"}};
  const std::string id = WaitingId(call);
  const json again = Wait(call);
  EXPECT_EQ(again["status"], "pending");
  EXPECT_EQ(again["correlation_id"], id);
  EXPECT_EQ(Commands().size(), 1u);
  Completed(Drawing("Make it green."));
  EXPECT_EQ(NoteOf(Wait(call)), "Make it green.");
  EXPECT_EQ(Wait({{"request_id", "once"}, {"tab_id", 7}})["error"], "request_id_reused");
}

TEST_F(AnnotationTest, CallCanWaitForDrawing) {
  json answer;
  std::thread agent([&] { answer = Wait({{"wait_ms", 30'000}}); });
  services_.AwaitWaits(1);
  Completed(Drawing("Make it green."));
  agent.join();
  EXPECT_EQ(NoteOf(answer), "Make it green.");
}

TEST_F(AnnotationTest, FullBrowserQueueDoesNotFailRequest) {
  for (int i = 0; i < 100; ++i) services_.ToolAnswer("interact", {{"action", "get_page"}});
  const json answer = Wait();
  EXPECT_EQ(answer["status"], "waiting_for_user");
  EXPECT_THAT(answer["hint"].get<std::string>(), HasSubstr("queue_full"));
  EXPECT_THAT(Completed(Drawing("Make it green.")), ElementsAre(answer["correlation_id"]));
}

TEST_F(AnnotationTest, ScreenshotIsImageAndDrawingIsResource) {
  const json picture = {{"mime_type", "image/png"}, {"base64", "iVBORw0KGgo="}};
  const std::string id = WaitingId();
  json drawing = Drawing("Make it green.", {{"screenshot", picture}});
  drawing["annotations"][0]["crop"] = picture;
  Completed(drawing);
  for (const std::string version : {"2025-03-26", "2025-11-25", "2026-07-28"}) {
    McpClient client(services_.gateway_address(), version);
    const json answer =
        client.CallTool("observe", {{"what", "command_result"}, {"correlation_id", id}});
    EXPECT_THAT(answer["structuredContent"].dump(), Not(HasSubstr("iVBORw0KGgo=")));
    EXPECT_THAT(answer["content"][0].dump(), Not(HasSubstr("iVBORw0KGgo=")));
    EXPECT_THAT(answer["content"][0]["text"].get<std::string>(), HasSubstr("Make it green."));
    EXPECT_EQ(answer["content"][1]["type"], "image");
    EXPECT_EQ(answer["content"][1]["data"], "iVBORw0KGgo=");
    const std::string uri = answer["structuredContent"]["resource"];
    const json contents = client.Result("resources/read", {{"uri", uri}})["contents"];
    EXPECT_EQ(json::parse(contents[0]["text"].get<std::string>()), drawing);
  }
}

TEST_F(AnnotationTest, InteractStartsDrawModeWithoutRequest) {
  const json queued = services_.ToolAnswer(
      "interact", {{"action", "draw_mode"}, {"session", "review"}, {"message", "Look."}});
  EXPECT_EQ(queued["status"], "queued");
  EXPECT_THAT(
      Commands(),
      ElementsAre(json{{"action", "draw_mode"}, {"session", "review"}, {"message", "Look."}}));
}

TEST_F(AnnotationTest, RequestsCanBeTasks) {
  McpClient client(services_.gateway_address(), "2025-11-25");
  const json task =
      client.Result("tools/call", {{"name", "analyze"},
                                   {"arguments", {{"what", "annotations"}, {"wait", true}}},
                                   {"task", json::object()}})["task"];
  const std::string id = task["taskId"];
  EXPECT_THAT(id, HasSubstr("ann_"));
  EXPECT_EQ(task["status"], "working");
  EXPECT_EQ(task["statusMessage"], "waiting for the user");
  Completed(Drawing("Make it green."));
  EXPECT_EQ(NoteOf(client.Result("tasks/result", {{"taskId", id}})["structuredContent"]),
            "Make it green.");

  McpClient modern(services_.gateway_address(), "2026-07-28");
  modern.capabilities["extensions"][kTasksExtension] = json::object();
  const json call = {{"name", "analyze"}, {"arguments", {{"what", "annotations"}, {"wait", true}}}};
  const json waiting = modern.Result("tools/call", call);
  EXPECT_EQ(waiting["resultType"], "task");
  Completed(Drawing("Make it red."));
  const json ended = modern.Result("tasks/get", {{"taskId", waiting["taskId"]}});
  EXPECT_EQ(ended["status"], "completed");
  EXPECT_EQ(NoteOf(ended["result"]["structuredContent"]), "Make it red.");
  // For a finished drawing there is no task.
  Completed(Drawing("Make it blue."));
  EXPECT_EQ(NoteOf(modern.Result("tools/call", call)["structuredContent"]), "Make it blue.");
}

TEST_F(AnnotationTest, AnswersFitSchemaAndStaySmall) {
  McpClient client(services_.gateway_address(), "2025-11-25");
  // Analyze has the same output schema as interact.
  const json schema = client.Result("tools/list")["tools"][0]["outputSchema"];
  const auto check = [&](json arguments) {
    arguments["what"] = "annotations";
    const json answer = client.CallTool("analyze", arguments);
    ExpectValid(answer["structuredContent"], schema, arguments.dump());
    EXPECT_LE(answer.dump().size(), 300u * 4) << answer;
    return answer["structuredContent"];
  };
  EXPECT_EQ(check({})["status"], "complete");
  EXPECT_EQ(check({{"wait", true}})["status"], "waiting_for_user");
  EXPECT_EQ(check({{"wait", true}, {"wait_ms", 0}, {"message", "m"}})["status"],
            "waiting_for_user");
  Completed(Drawing("Make it green."));
  EXPECT_EQ(check({})["status"], "complete");
  for (const json& wrong : std::vector<json>{{{"wait", "yes"}},
                                             {{"message", "m"}},
                                             {{"wait_ms", 1}},
                                             {{"request_id", "r"}},
                                             {{"timeout_ms", 1000}},
                                             {{"wait", true}, {"wait_ms", 30'001}},
                                             {{"tab_id", -1}}}) {
    EXPECT_EQ(check(wrong)["error"], "invalid_arguments") << wrong;
  }
}

TEST_F(AnnotationTest, InvalidDrawingsAreRefused) {
  EXPECT_EQ(Done({{"tab_id", 7}}).body["error"], "invalid_field");
  EXPECT_EQ(Done({{"tab_id", 7}}).status, 400);
  EXPECT_EQ(Done(Drawing("", {{"session", std::string(200, 'x')}})).body["error"],
            "invalid_argument");
  EXPECT_EQ(Done(Drawing("", {{"drawing_id", std::string(129, 'd')}})).body["error"],
            "invalid_argument");
  const TestServices::Answer large = Done(Drawing("", {{"title", std::string(8 << 20, 'x')}}));
  EXPECT_EQ(large.status, 413);
  EXPECT_EQ(large.body["error"], "drawing_too_large");
  services_.StopTracker();
  const TestServices::Answer lost = Done(Drawing(""));
  EXPECT_EQ(lost.status, 503);
  EXPECT_EQ(lost.body["error"], "tracker_unreachable");
}

TEST_F(AnnotationTest, UnreachableTrackerIsReported) {
  services_.StopTracker();
  EXPECT_EQ(Wait()["error"], "tracker_unreachable");
  EXPECT_EQ(Wait()["may_have_executed"], true);
  EXPECT_EQ(Analyze()["error"], "tracker_unreachable");
}

std::string TokenOf(const std::string& name) { return name + "-" + std::string(40, '0'); }

TokenFile TwoAgentsAndAWorker() {
  TokenFile file;
  file.session_key = std::string(32, 'k');
  file.entries = {{{"one", Role::kClient}, TokenOf("one")},
                  {{"two", Role::kClient}, TokenOf("two")},
                  {{"browser", Role::kWorker}, TokenOf("browser")}};
  return file;
}

class AnnotationsOfTwoAgentsTest : public AnnotationTest {
 protected:
  AnnotationsOfTwoAgentsTest() : AnnotationTest(TwoAgentsAndAWorker()) {}

  McpClient Agent(const std::string& name) {
    return {services_.gateway_address(), "2025-11-25", TokenOf(name)};
  }
  TestServices::Answer DoneAs(const std::string& name, const json& drawing) {
    return services_.Post("/draw-mode/complete", drawing.dump(),
                          {{"Authorization", "Bearer " + TokenOf(name)}});
  }
};

TEST_F(AnnotationsOfTwoAgentsTest, RequestsArePrivateAndDrawingsAreShared) {
  McpClient one = Agent("one");
  McpClient two = Agent("two");
  const json call = {{"what", "annotations"}, {"wait", true}};
  const std::string id = one.CallTool("analyze", call)["structuredContent"]["correlation_id"];
  const json question = {{"what", "command_result"}, {"correlation_id", id}, {"wait_ms", 0}};
  EXPECT_EQ(two.CallTool("observe", question)["structuredContent"]["error"], "unknown_command");
  EXPECT_EQ(DoneAs("one", Drawing("Make it green.")).body["error"], "role_not_allowed");
  EXPECT_EQ(DoneAs("browser", Drawing("Make it green.")).body["completed"], json::array({id}));
  EXPECT_EQ(two.CallTool("observe", question)["structuredContent"]["error"], "unknown_command");
  EXPECT_EQ(NoteOf(one.CallTool("observe", question)["structuredContent"]), "Make it green.");
  // The other client asks now, and gets the user's drawing.
  EXPECT_EQ(NoteOf(two.CallTool("analyze", call)["structuredContent"]), "Make it green.");
  EXPECT_EQ(one.CallTool("analyze", call)["structuredContent"]["status"], "waiting_for_user");
}

}  // namespace
}  // namespace callslip
