// Sessions over REST.
#include "gateway/api/session_api.h"

#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "gateway/api/session_api_fixture.h"
#include "gmock/gmock.h"

namespace callslip::gateway {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST_F(SessionApiTest, CreatesSession) {
  client_.On<v1::CreateSessionRequest>([](const auto& request) -> absl::StatusOr<v1::Session> {
    EXPECT_EQ(request.client_id(), "local");
    EXPECT_EQ(request.session_id(), "");
    EXPECT_EQ(request.name(), "n");
    v1::Session session;
    session.set_session_id("s-9");
    session.set_name(request.name());
    session.set_state(v1::SESSION_STATE_ACTIVE);
    return session;
  });
  const HttpResponse response = Ask("POST", "/api/sessions", R"({"name":"n"})");
  EXPECT_EQ(response.status, 201);
  EXPECT_EQ(BodyOf(response)["session_id"], "s-9");
  EXPECT_EQ(BodyOf(response)["status"], "active");
}

TEST_F(SessionApiTest, SessionIncludesStateOfItsAgent) {
  client_.On<v1::GetSessionRequest>([](const auto&) -> absl::StatusOr<v1::Session> {
    v1::Session session;
    session.mutable_agent()->set_status(v1::AGENT_STATUS_NEEDS_PERMISSION);
    session.mutable_agent()->set_reason("r");
    session.mutable_agent()->set_runner_id("runner");
    session.mutable_agent()->set_details(R"({"modes":[]})");
    session.set_queue_length(2);
    session.set_turn_id("turn-1");
    session.set_parent_session_id("s-0");
    return session;
  });
  const Json session = BodyOf(Ask("GET", "/api/sessions/s-1"));
  EXPECT_EQ(session["agent"],
            Json::parse(R"({"status":"needs_permission","reason":"r","runner_id":"runner",
                            "details":{"modes":[]}})"));
  EXPECT_EQ(session["queue_length"], 2);
  EXPECT_EQ(session["turn_id"], "turn-1");
  EXPECT_EQ(session["parent_session_id"], "s-0");
  EXPECT_EQ(session["detached"], false);
}

TEST_F(SessionApiTest, ForwardsParentSessionAndConditionalRename) {
  client_.On<v1::CreateSessionRequest>([](const auto& request) -> absl::StatusOr<v1::Session> {
    EXPECT_EQ(request.parent_session_id(), "s-1");
    EXPECT_TRUE(request.detached());
    return v1::Session();
  });
  const Json child =
      BodyOf(Ask("POST", "/api/sessions", R"({"parent_session_id":"s-1","detached":true})"));
  EXPECT_EQ(child["agent"], Json::parse(R"({"status":"none"})"));
  EXPECT_FALSE(child.contains("parent_session_id"));
  client_.On<v1::UpdateSessionRequest>([](const auto& request) -> absl::StatusOr<v1::Session> {
    EXPECT_TRUE(request.if_unnamed());
    EXPECT_EQ(request.name(), "title");
    return v1::Session();
  });
  EXPECT_EQ(Ask("PATCH", "/api/sessions/s-1", R"({"name":"title","if_unnamed":true})").status, 200);
}

TEST_F(SessionApiTest, ImagesAreStoredAndReturnedUnchanged) {
  const std::string bytes("GIF89a\0\xff", 8);
  client_.On<v1::PutImageRequest>([&](const auto& request) -> absl::StatusOr<v1::ImageRef> {
    EXPECT_EQ(request.client_id(), "local");
    EXPECT_EQ(request.session_id(), "s-1");
    EXPECT_EQ(request.name(), "a cat");
    EXPECT_EQ(request.data(), bytes);
    v1::ImageRef image;
    image.set_id("img-0123456789abcdef");
    image.set_mime_type("image/gif");
    return image;
  });
  const HttpResponse put =
      Ask("POST", "/api/sessions/s-1/images?name=a%20cat", bytes, {{"content-type", "image/gif"}});
  EXPECT_EQ(put.status, 201);
  EXPECT_EQ(BodyOf(put), Json::parse(R"({"id":"img-0123456789abcdef","mime_type":"image/gif"})"));
  client_.On<v1::GetImageRequest>([&](const auto& request) -> absl::StatusOr<v1::GetImageResponse> {
    if (request.image_id() != "img-0123456789abcdef") {
      return Failure(absl::StatusCode::kNotFound, "unknown_image");
    }
    v1::GetImageResponse image;
    image.mutable_image()->set_mime_type("image/gif");
    image.set_data(bytes);
    return image;
  });
  const HttpResponse got = Ask("GET", "/api/sessions/s-1/images/img-0123456789abcdef");
  EXPECT_EQ(got.status, 200);
  EXPECT_EQ(got.body, bytes);
  EXPECT_EQ(got.content_type, "image/gif");
  const std::vector<std::pair<std::string, std::string>> headers = {
      {"X-Content-Type-Options", "nosniff"}, {"Cache-Control", "private"}};
  for (const auto& header : headers) EXPECT_THAT(got.headers, testing::Contains(header));
  EXPECT_EQ(Ask("GET", "/api/sessions/s-1/images/img-0").status, 404);
}

TEST_F(SessionApiTest, ImagesPassFilterOnlyOnTheirRoute) {
  EXPECT_EQ(Ask("POST", "/api/sessions", "{}", {{"content-type", "image/png"}}).status, 415);
  EXPECT_EQ(
      Ask("POST", "/api/sessions/s-1/images", "GIF89a", {{"content-type", "text/plain"}}).status,
      415);
}

TEST_F(SessionApiTest, RefusesInvalidRequests) {
  for (const auto& [method, target, body] :
       std::vector<std::tuple<std::string, std::string, std::string>>{
           {"POST", "/api/sessions", R"({"name":1})"},
           {"GET", "/api/sessions?limit=x", ""},
           {"GET", "/api/sessions/s-1/events?after_seq=-1", ""},
           {"GET", "/api/sessions/s-1/events?after_seq=1&before_seq=2", ""},
           {"POST", "/api/sessions/s-1/events", R"({"events":[]})"},
           {"POST", "/api/sessions/s-1/events", R"({"events":[{"data":{}}]})"},
           {"POST", "/api/sessions/s-1/queue-control", R"({"action":"stop"})"},
           {"POST", "/api/sessions/s-1/turns/t-1", R"({"action":"finish","outcome":"?"})"},
           {"PUT", "/api/sessions/s-1/queue-settings", R"({"delay_seconds":-1})"},
           {"POST", "/api/players/p-1/jump", ""},
           {"POST", "/api/players/p-1/seek", ""}}) {
    const HttpResponse response = Ask(method, target, body);
    EXPECT_EQ(response.status, 400) << target << body << response.body;
    EXPECT_EQ(BodyOf(response)["error"], "invalid_field") << target << body;
  }
  EXPECT_EQ(BodyOf(Ask("POST", "/api/sessions", "{"))["error"], "malformed_json");
  EXPECT_EQ(BodyOf(Ask("POST", "/api/sessions", "[]"))["error"], "invalid_body");
}

TEST_F(SessionApiTest, QueuesMessageOrReportsError) {
  client_.On<v1::AddMessageRequest>([](const auto& request) -> absl::StatusOr<v1::QueuedMessage> {
    if (request.message().empty()) {
      return Failure(absl::StatusCode::kInvalidArgument, "empty_message");
    }
    if (request.message() == "one too many") {
      return Failure(absl::StatusCode::kResourceExhausted, "queue_full");
    }
    v1::QueuedMessage message;
    message.set_message_id("q-1738396800-abc12345");
    message.set_message(request.message());
    return message;
  });
  const HttpResponse added = Ask("POST", "/api/sessions/s-1/queue", R"({"message":"hi"})");
  EXPECT_EQ(added.status, 201);
  EXPECT_THAT(BodyOf(added), SizeIs(3));
  EXPECT_EQ(BodyOf(added)["id"], "q-1738396800-abc12345");
  const HttpResponse empty = Ask("POST", "/api/sessions/s-1/queue", "{}");
  EXPECT_EQ(empty.status, 400);
  EXPECT_EQ(BodyOf(empty)["error"], "empty_message");
  const HttpResponse full = Ask("POST", "/api/sessions/s-1/queue", R"({"message":"one too many"})");
  EXPECT_EQ(full.status, 409);
  EXPECT_EQ(BodyOf(full)["error"], "queue_full");
}

TEST_F(SessionApiTest, DeletesMessageOrReportsError) {
  client_.On<v1::DeleteMessageRequest>(
      [](const auto& request) -> absl::StatusOr<v1::DeleteMessageResponse> {
        EXPECT_EQ(request.session_id(), "s-1");
        if (request.message_id() == "q-2") {
          return Failure(absl::StatusCode::kFailedPrecondition, "message_sending");
        }
        if (request.message_id() == "q-3") {
          return Failure(absl::StatusCode::kNotFound, "unknown_message");
        }
        return v1::DeleteMessageResponse();
      });
  const HttpResponse deleted = Ask("DELETE", "/api/sessions/s-1/queue/q-1");
  EXPECT_EQ(deleted.status, 204);
  EXPECT_THAT(deleted.body, IsEmpty());
  EXPECT_EQ(Ask("DELETE", "/api/sessions/s-1/queue/q-2").status, 409);
  EXPECT_EQ(Ask("DELETE", "/api/sessions/s-1/queue/q-3").status, 404);
}

TEST_F(SessionApiTest, MovesPlayerAccordingToPath) {
  std::vector<std::string> moves;
  client_.On<v1::MovePlayerRequest>(
      [&](const auto& request) -> absl::StatusOr<v1::MovePlayerResponse> {
        moves.push_back(request.player_id() + " " + std::to_string(request.move_case()) + " " +
                        std::to_string(request.next() + request.peek() + request.seek()));
        v1::MovePlayerResponse moved;
        moved.mutable_player()->set_position(3);
        return moved;
      });
  EXPECT_THAT(BodyOf(Ask("GET", "/api/players/p-1")).contains("events"), false);
  EXPECT_EQ(BodyOf(Ask("POST", "/api/players/p-1/next", R"({"count":5})"))["position"], 3);
  Ask("POST", "/api/players/p-1/peek");
  Ask("POST", "/api/players/p-1/seek", R"({"position":9})");
  Ask("POST", "/api/players/p-1/reset");
  EXPECT_THAT(moves, ElementsAre("p-1 4 1", "p-1 3 5", "p-1 4 1", "p-1 5 9", "p-1 6 0"));
}

TEST_F(SessionApiTest, ControlsQueueAndTurns) {
  client_.On<v1::ResumeQueueRequest>([](const auto& request) -> absl::StatusOr<v1::QueueStatus> {
    EXPECT_EQ(request.how(), v1::ResumeQueueRequest::HOW_RETRY);
    return Failure(absl::StatusCode::kFailedPrecondition, "nothing_to_retry");
  });
  client_.On<v1::PauseQueueRequest>([](const auto& request) -> absl::StatusOr<v1::QueueStatus> {
    v1::QueueStatus status;
    status.set_pause_reason(request.reason());
    return status;
  });
  client_.On<v1::FinishTurnRequest>([](const auto& request) -> absl::StatusOr<v1::QueueStatus> {
    EXPECT_EQ(request.turn_id(), "t-1");
    EXPECT_EQ(request.outcome(), v1::FinishTurnRequest::OUTCOME_FAILED);
    return v1::QueueStatus();
  });
  const std::string session = "/api/sessions/s-1";
  EXPECT_EQ(Ask("POST", session + "/queue-control", R"({"action":"retry"})").status, 409);
  const HttpResponse paused =
      Ask("POST", session + "/queue-control", R"({"action":"pause","reason":"user"})");
  EXPECT_EQ(BodyOf(paused)["paused"], true);
  EXPECT_EQ(Ask("POST", session + "/turns/t-1", R"({"action":"finish","outcome":"failed"})").status,
            200);
}

TEST_F(SessionApiTest, ReadsEvents) {
  max_seq_ = 5;
  const Json page = BodyOf(Ask("GET", "/api/sessions/s-1/events?after_seq=1&limit=2"));
  EXPECT_EQ(page["first_seq"], 2);
  EXPECT_EQ(page["last_seq"], 3);
  EXPECT_EQ(page["has_more"], true);
  EXPECT_EQ(page["events"][0]["type"], "agent_message");
}

}  // namespace
}  // namespace callslip::gateway
