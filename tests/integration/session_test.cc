// Sessions and their queues through gateway and tracker, with third-party HTTP clients.
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "httplib.h"
#include "support/http_stream.h"
#include "support/test_services.h"

namespace callslip {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::MatchesRegex;

class SessionTest : public testing::Test {
 protected:
  struct Answer {
    int status = 0;
    json body;
  };

  SessionTest() { Call("POST", "", {{"session_id", "s-1"}}); }

  // `path` below /api/sessions, or an absolute path that begins with "/api".
  Answer Call(const std::string& method, const std::string& path,
              const json& body = json::object()) {
    httplib::Client client(services_.gateway_address().host, services_.gateway_address().port);
    httplib::Request request;
    request.method = method;
    request.path = path.rfind("/api", 0) == 0 ? path : "/api/sessions" + path;
    if (method != "GET" && method != "DELETE") {
      request.body = body.dump();
      request.set_header("Content-Type", "application/json");
    }
    const httplib::Result result = client.send(request);
    if (!result) return {};
    const bool has_body = !result->body.empty();
    return {result->status, has_body ? json::parse(result->body) : json()};
  }

  Answer Append(const std::vector<std::string>& texts) {
    json events = json::array();
    for (const std::string& text : texts) {
      events.push_back({{"type", "agent_message"}, {"data", {{"text", text}}}});
    }
    return Call("POST", "/s-1/events", {{"events", events}});
  }

  HttpStream Open(const std::string& path, HttpStream::Headers headers = {}) {
    headers["Accept"] = "text/event-stream";
    return {services_.gateway_address(), "GET", "/api/sessions" + path, headers, ""};
  }

  TestServices services_;
};

TEST_F(SessionTest, CanBeEndedResumedAndDeleted) {
  EXPECT_EQ(Call("GET", "/s-1").body["status"], "active");
  EXPECT_EQ(Call("POST", "", {{"session_id", "s-1"}}).status, 409);
  EXPECT_EQ(Call("PATCH", "/s-1", {{"name", "mine"}}).body["name"], "mine");
  EXPECT_EQ(Call("POST", "/s-1/resume").body["error"], "session_not_ended");
  const json ended = Call("POST", "/s-1/end", {{"reason", "done"}}).body;
  EXPECT_EQ(ended["status"], "completed");
  EXPECT_EQ(ended["end_reason"], "done");
  const Answer late = Append({"late"});
  EXPECT_EQ(late.status, 409);
  EXPECT_EQ(late.body["error"], "session_ended");
  EXPECT_EQ(Call("POST", "/s-1/resume").body["status"], "active");
  EXPECT_EQ(Call("GET", "?limit=1").body["sessions"][0]["session_id"], "s-1");
  EXPECT_EQ(Call("DELETE", "/s-1").status, 204);
  const Answer gone = Call("GET", "/s-1");
  EXPECT_EQ(gone.status, 404);
  EXPECT_EQ(gone.body["error"], "unknown_session");
}

TEST_F(SessionTest, StoresEveryTypeOfEvent) {
  const json events = json::parse(R"json([
    {"type": "user_prompt", "data": {"message": "hi", "prompt_id": "p"}},
    {"type": "agent_message", "data": {"text": "ä"}},
    {"type": "agent_thought", "data": {"text": ""}},
    {"type": "tool_call", "data": {"tool_call_id": "t", "title": "T", "status": "pending",
                                   "raw_input": {"a": [1, null]}}},
    {"type": "tool_call_update", "data": {"tool_call_id": "t", "status": "completed"}},
    {"type": "plan", "data": {"entries": [{"content": "c", "priority": "high", "status": "s"}]}},
    {"type": "permission", "data": {"title": "t", "selected_option": "o", "outcome": "selected"}},
    {"type": "file_read", "data": {"path": "/a", "size": 1}},
    {"type": "file_write", "data": {"path": "/a", "size": 2}},
    {"type": "error", "data": {"message": "m"}},
    {"type": "of_tomorrow", "data": {"x": {"y": 1.5}}},
    {"type": "agent_message", "data": {"text": "x", "html": true}}
  ])json");
  const Answer appended = Call("POST", "/s-1/events", {{"events", events}});
  ASSERT_EQ(appended.status, 201) << appended.body;
  const int first = appended.body["first_seq"];
  const json page =
      Call("GET", "/s-1/events?after_seq=" + std::to_string(first - 1)).body["events"];
  ASSERT_EQ(page.size(), events.size());
  for (size_t i = 0; i < events.size(); ++i) {
    EXPECT_EQ(page[i]["seq"], first + static_cast<int>(i));
    EXPECT_EQ(page[i]["type"], events[i]["type"]);
    EXPECT_EQ(page[i]["data"], events[i]["data"]);
  }
  EXPECT_EQ(Call("GET", "/s-1/events?after_seq=0&type=file_write").body["events"].size(), 1u);
  const json last = Call("GET", "/s-1/events?before_seq=1000&limit=2").body;
  EXPECT_EQ(last["has_more"], true);
  EXPECT_EQ(last["last_seq"], last["max_seq"]);
}

TEST_F(SessionTest, QueueFollowsContract) {
  const Answer added = Call("POST", "/s-1/queue", {{"message", "one"}, {"image_ids", {"i"}}});
  EXPECT_EQ(added.status, 201);
  EXPECT_EQ(added.body.size(), 3u);
  EXPECT_THAT(added.body["id"].get<std::string>(), MatchesRegex("q-[0-9]+-[0-9a-f]{8}"));
  EXPECT_EQ(added.body["message"], "one");
  const std::string one = added.body["id"];
  const std::string two = Call("POST", "/s-1/queue", {{"message", "two"}}).body["id"];
  const json listed = Call("GET", "/s-1/queue").body;
  EXPECT_EQ(listed["count"], 2);
  EXPECT_EQ(listed["messages"][0]["id"], one);
  EXPECT_EQ(listed["messages"][0]["image_ids"], json({"i"}));

  const json moved = Call("POST", "/s-1/queue/" + two + "/move", {{"position", 0}}).body;
  EXPECT_EQ(moved["messages"][0]["id"], two);
  EXPECT_EQ(Call("PATCH", "/s-1/queue/" + two, {{"message", "2"}}).body["message"], "2");
  EXPECT_EQ(Call("GET", "/s-1/queue/" + two).body["message"], "2");
  EXPECT_EQ(Call("POST", "/s-1/queue/pop").body["id"], two);
  EXPECT_EQ(Call("DELETE", "/s-1/queue/" + one).status, 204);
  const Answer gone = Call("DELETE", "/s-1/queue/" + one);
  EXPECT_EQ(gone.status, 404);
  EXPECT_EQ(gone.body["error"], "unknown_message");
  EXPECT_EQ(Call("POST", "/s-1/queue/pop").body["error"], "queue_empty");

  const Answer empty = Call("POST", "/s-1/queue", {{"message", ""}});
  EXPECT_EQ(empty.status, 400);
  EXPECT_EQ(empty.body["error"], "empty_message");
  for (int i = 0; i < 100; ++i) Call("POST", "/s-1/queue", {{"message", "m"}});
  const Answer full = Call("POST", "/s-1/queue", {{"message", "m"}});
  EXPECT_EQ(full.status, 409);
  EXPECT_EQ(full.body["error"], "queue_full");
  EXPECT_EQ(Call("DELETE", "/s-1/queue").status, 204);
  EXPECT_EQ(Call("GET", "/s-1/queue").body["count"], 0);
  EXPECT_EQ(Call("POST", "/nowhere/queue", {{"message", "m"}}).status, 404);
}

TEST_F(SessionTest, QueueCanBeConfiguredAndPaused) {
  const json configured =
      Call("PUT", "/s-1/queue-settings", {{"enabled", false}, {"delay_seconds", 2.5}}).body;
  EXPECT_EQ(configured["enabled"], false);
  EXPECT_EQ(configured["settings"]["delay_seconds"], 2.5);
  EXPECT_EQ(Call("PUT", "/s-1/queue-settings", json::object()).body["enabled"], true);
  const json paused =
      Call("POST", "/s-1/queue-control", {{"action", "pause"}, {"reason", "lunch"}}).body;
  EXPECT_EQ(paused["paused"], true);
  EXPECT_EQ(paused["pause_reason"], "lunch");
  EXPECT_EQ(Call("POST", "/s-1/queue-control", {{"action", "retry"}}).status, 409);
  EXPECT_EQ(Call("POST", "/s-1/queue-control", {{"action", "resume"}}).body["paused"], false);
}

TEST_F(SessionTest, RunnerReceivesMessageAndRunsTurn) {
  HttpStream runner = Open("/s-1/messages");
  ASSERT_EQ(runner.Status(), 200);
  const std::string id = Call("POST", "/s-1/queue", {{"message", "go"}}).body["id"];
  const json received = runner.Event();
  EXPECT_EQ(received["message"]["id"], id);
  const Answer sending = Call("DELETE", "/s-1/queue/" + id);
  EXPECT_EQ(sending.status, 409);
  EXPECT_EQ(sending.body["error"], "message_sending");
  const std::string turn = "/s-1/turns/" + received["turn_id"].get<std::string>();
  const Answer started = Call("POST", turn, {{"action", "start"}});
  EXPECT_EQ(started.status, 200) << started.body;
  EXPECT_EQ(services_.ToolAnswer(
                "session", {{"what", "wait"}, {"session_id", "s-1"}, {"wait_ms", 0}})["status"],
            "pending");
  const Answer finished = Call("POST", turn, {{"action", "finish"}, {"outcome", "completed"}});
  EXPECT_EQ(finished.status, 200) << finished.body;
  EXPECT_EQ(finished.body["length"], 0);
  EXPECT_EQ(services_.ToolAnswer("session", {{"what", "wait"}, {"session_id", "s-1"}})["status"],
            "complete");
  EXPECT_EQ(Call("POST", "/s-1/turns/turn-0", {{"action", "start"}}).body["error"], "stale_turn");

  HttpStream successor = Open("/s-1/messages");
  ASSERT_EQ(successor.Status(), 200);
  const json replaced = runner.Event();
  EXPECT_EQ(replaced["type"], "request_failed");
  EXPECT_EQ(replaced["data"]["error"], "receiver_replaced");
}

TEST_F(SessionTest, StreamContinuesAfterTrackerRestart) {
  Append({"one", "two"});
  HttpStream stream = Open("/s-1/events?after_seq=0");
  ASSERT_EQ(stream.Status(), 200);
  std::vector<std::string> texts;
  const auto read = [&](size_t count) {
    while (texts.size() < count) {
      const json message = stream.Event();
      ASSERT_FALSE(message.is_null());
      if (message["type"] == "agent_message") texts.push_back(message["data"]["text"]);
    }
  };
  read(2);
  Append({"three"});
  read(3);
  services_.StopTracker();
  services_.StartTracker();
  Append({"four"});
  read(4);
  EXPECT_THAT(texts, ElementsAre("one", "two", "three", "four"));
  HttpStream resumed = Open("/s-1/events", {{"Last-Event-ID", "0"}});
  EXPECT_EQ(resumed.Event()["seq"], 1);
  Call("DELETE", "/s-1");
  while (true) {
    const json message = resumed.Event();
    ASSERT_FALSE(message.is_null());
    if (message["type"] != "request_failed") continue;
    EXPECT_EQ(message["data"]["error"], "unknown_session");
    break;
  }
  EXPECT_TRUE(resumed.Event().is_null());
}

TEST_F(SessionTest, PlayersMoveAndPlay) {
  Append({"one", "two", "three"});
  const Answer opened = Call("POST", "/s-1/players");
  ASSERT_EQ(opened.status, 201) << opened.body;
  const std::string path = "/api/players/" + opened.body["player_id"].get<std::string>();
  const int length = opened.body["length"];
  EXPECT_EQ(Call("POST", path + "/peek").body["position"], 0);
  EXPECT_EQ(Call("POST", path + "/next", {{"count", 2}}).body["position"], 2);
  EXPECT_EQ(Call("GET", path).body["position"], 2);
  EXPECT_EQ(Call("POST", path + "/seek", {{"position", length + 1}}).body["error"],
            "invalid_position");
  EXPECT_EQ(Call("POST", path + "/reset").body["position"], 0);
  HttpStream play(services_.gateway_address(), "GET", path + "/play?speed=1000", {}, "");
  int last_seq = 0;
  for (json event = play.Event(); !event.is_null(); event = play.Event()) last_seq = event["seq"];
  EXPECT_EQ(last_seq, Call("GET", "/s-1").body["max_seq"]);
  EXPECT_EQ(Call("DELETE", path).status, 204);
  EXPECT_EQ(Call("GET", path).body["error"], "unknown_player");
}

TEST_F(SessionTest, PermissionsAreRequestedAndAnswered) {
  const json question = {{"title", "May I?"},
                         {"options", {{{"option_id", "yes"}, {"name", "Yes"}, {"kind", "x"}}}},
                         {"wait_ms", 0}};
  const json asked = Call("POST", "/s-1/permissions", question).body;
  EXPECT_EQ(asked["status"], "open");
  const std::string path = "/s-1/permissions/" + asked["permission_id"].get<std::string>();
  EXPECT_EQ(Call("GET", "/s-1/permissions").body["permissions"].size(), 1u);
  EXPECT_EQ(Call("POST", path, {{"option_id", "yes"}}).body["selected_option"], "yes");
  const Answer again = Call("POST", path, {{"option_id", "yes"}});
  EXPECT_EQ(again.status, 409);
  EXPECT_EQ(again.body["error"], "permission_answered");
  EXPECT_EQ(Call("POST", "/s-1/permissions/nobody", {{"option_id", "yes"}}).status, 404);
  Call("POST", "/s-1/permissions", question);
  EXPECT_EQ(Call("DELETE", "/s-1/permissions").body["permissions"][0]["status"], "cancelled");
}

TEST_F(SessionTest, SessionToolListsEnqueuesAndReads) {
  const json listed = services_.ToolAnswer("session", {{"what", "list"}});
  EXPECT_EQ(listed["result"]["sessions"][0]["session_id"], "s-1");
  const json queued = services_.ToolAnswer(
      "session", {{"what", "enqueue"}, {"session_id", "s-1"}, {"message", "hi"}});
  EXPECT_EQ(queued["result"]["message"], "hi");
  Append({"one", "two"});
  const json read =
      services_.ToolAnswer("session", {{"what", "read"}, {"session_id", "s-1"}, {"limit", 1}});
  EXPECT_EQ(read["result"]["events"][0]["data"]["text"], "two");
}

}  // namespace
}  // namespace callslip
