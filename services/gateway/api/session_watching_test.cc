// Sessions over WebSockets and event streams.
#include <exception>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gateway/api/session_api_fixture.h"
#include "gmock/gmock.h"
#include "support/fake_body_writer.h"

namespace callslip::gateway {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

TEST_F(SessionApiTest, SocketOfUnknownSessionIsClosedWithError) {
  const auto socket = Connect("/api/sessions/nope/ws");
  EXPECT_THAT(socket->Types(), ElementsAre("request_failed"));
  EXPECT_EQ(socket->Message(0)["data"]["error"], "unknown_session");
  EXPECT_EQ(socket->code, 4404);
}

TEST_F(SessionApiTest, SocketLoadsStoredEventsAndSendsNewOnes) {
  max_seq_ = 3;
  const auto socket = Connect("/api/sessions/s-1/ws");
  EXPECT_EQ(socket->Message(0)["type"], "connected");
  EXPECT_EQ(socket->Message(0)["data"]["agent"], Json::parse(R"({"status":"none"})"));
  EXPECT_EQ(socket->Message(0)["data"]["max_seq"], 3);
  ASSERT_THAT(client_.watches, SizeIs(1));
  EXPECT_EQ(client_.watches[0].first.after_seq(), 3);

  // Another event is recorded before the peer loads: it is sent live and not loaded.
  max_seq_ = 4;
  client_.watches[0].second->Push(EventUpdate(4));
  socket->Say(R"({"type":"load_events","data":{"after_seq":0,"limit":2}})");
  socket->Say(R"({"type":"load_events","data":{"after_seq":2,"limit":2}})");
  socket->Say(R"({"type":"keepalive","data":{"last_seen_seq":4}})");
  Run();
  std::vector<int64_t> live;
  std::vector<Json> pages;
  for (size_t i = 1; i < socket->sent.size(); ++i) {
    const Json message = socket->Message(i);
    if (message.contains("seq")) live.push_back(message["seq"]);
    if (message["type"] == "events_loaded") pages.push_back(message["data"]);
  }
  EXPECT_THAT(live, ElementsAre(4));
  ASSERT_THAT(pages, SizeIs(2));
  EXPECT_EQ(pages[0]["last_seq"], 2);
  EXPECT_EQ(pages[0]["has_more"], true);
  EXPECT_EQ(pages[1]["first_seq"], 3);
  EXPECT_EQ(pages[1]["last_seq"], 3);
  EXPECT_EQ(pages[1]["has_more"], false);
  EXPECT_EQ(pages[1]["max_seq"], 4);
  EXPECT_EQ(socket->Message(socket->sent.size() - 1)["data"]["max_seq"], 4);
  socket->Leave();
  Run();
  EXPECT_TRUE(client_.watches[0].second->left);
}

TEST_F(SessionApiTest, ResponseHasIdOfItsRequest) {
  max_seq_ = 3;
  const auto socket = Connect("/api/sessions/s-1/ws");
  socket->Say(R"({"type":"load_events","data":{"after_seq":0,"request_id":"newer"}})");
  socket->Say(R"({"type":"load_events","data":{"after_seq":"x","request_id":"wrong"}})");
  socket->Say(R"({"type":"keepalive","data":{"request_id":"alive"}})");
  socket->Say(R"({"type":"dance","data":{"request_id":"unknown"}})");
  socket->Say(R"({"type":"keepalive","data":{"request_id":7}})");
  const std::string too_long(65, 'x');
  socket->Say(Dump({{"type", "keepalive"}, {"data", {{"request_id", too_long}}}}));
  Run();
  std::vector<std::string> answers;
  for (size_t i = 1; i < socket->sent.size(); ++i) {
    const Json message = socket->Message(i);
    answers.push_back(absl::StrCat(std::string(message["type"]), " ",
                                   message["data"].value("request_id", "none")));
  }
  EXPECT_THAT(answers, UnorderedElementsAre("events_loaded newer", "request_failed wrong",
                                            "keepalive_ack alive", "request_failed unknown",
                                            "request_failed none", "request_failed none"));
  socket->Leave();
  Run();
}

TEST_F(SessionApiTest, LoadsNothingForPeerThatHasAllEarlierEvents) {
  max_seq_ = 3;
  const auto socket = Connect("/api/sessions/s-1/ws");
  // Two events are recorded later and come live. A page has them only if the peer asks for events
  // after the first three, which existed when it connected.
  max_seq_ = 5;
  socket->Say(R"({"type":"load_events","data":{"after_seq":3}})");
  socket->Say(R"({"type":"load_events","data":{"after_seq":4}})");
  Run();
  ASSERT_THAT(socket->sent, SizeIs(3));
  EXPECT_THAT(socket->Message(1)["data"]["events"], IsEmpty());
  EXPECT_EQ(socket->Message(1)["data"]["has_more"], false);
  EXPECT_THAT(socket->Message(2)["data"]["events"], SizeIs(1));
  socket->Leave();
  Run();
}

TEST_F(SessionApiTest, ObserversShareOneTrackerCallAndOneEncoding) {
  const auto first = Connect("/api/sessions/s-1/ws");
  const auto second = Connect("/api/sessions/s-1/ws");
  ASSERT_THAT(client_.watches, SizeIs(1));
  client_.watches[0].second->Push(EventUpdate(1));
  Run();
  ASSERT_THAT(first->sent, SizeIs(2));
  ASSERT_THAT(second->sent, SizeIs(2));
  EXPECT_EQ(first->sent[1], second->sent[1]);
  first->Leave();
  Run();
  EXPECT_FALSE(client_.watches[0].second->left);
  second->Leave();
  Run();
  EXPECT_TRUE(client_.watches[0].second->left);
  // A later observer opens a new watch.
  const auto third = Connect("/api/sessions/s-1/ws");
  EXPECT_THAT(client_.watches, SizeIs(2));
  third->Leave();
  Run();
}

TEST_F(SessionApiTest, WatchContinuesAfterTrackerCallFails) {
  const auto socket = Connect("/api/sessions/s-1/ws");
  client_.watches[0].second->Push(EventUpdate(1));
  client_.watches[0].second->End(absl::UnavailableError("gone"));
  while (client_.watches.size() < 2) {
    io_.restart();
    io_.run_one();
  }
  EXPECT_EQ(client_.watches[1].first.after_seq(), 1);
  client_.watches[1].second->Push(EventUpdate(2));
  Run();
  EXPECT_THAT(socket->Types(),
              ElementsAre("connected", "agent_message", "notices_missed", "agent_message"));
  socket->Leave();
  Run();
}

TEST_F(SessionApiTest, SocketIsClosedWhenSessionIsDeleted) {
  const auto socket = Connect("/api/sessions/s-1/ws");
  client_.watches[0].second->End(Failure(absl::StatusCode::kNotFound, "unknown_session"));
  Run();
  EXPECT_EQ(socket->code, 4404);
}

TEST_F(SessionApiTest, SocketTakesPermissionAnswers) {
  client_.On<v1::AnswerPermissionRequest>(
      [](const auto& request) -> absl::StatusOr<v1::Permission> {
        EXPECT_EQ(request.session_id(), "s-1");
        EXPECT_EQ(request.permission_id(), "p-1");
        EXPECT_EQ(request.option_id(), "yes");
        return Failure(absl::StatusCode::kFailedPrecondition, "permission_answered");
      });
  const auto socket = Connect("/api/sessions/s-1/ws");
  socket->Say(R"({"type":"permission_answer","data":{"permission_id":"p-1","option_id":"yes"}})");
  socket->Say("no JSON");
  Run();
  ASSERT_THAT(socket->sent, SizeIs(3));
  EXPECT_EQ(socket->Message(1)["data"]["error"], "permission_answered");
  EXPECT_EQ(socket->Message(1)["data"]["request"], "permission_answer");
  EXPECT_EQ(socket->Message(2)["data"]["error"], "invalid_field");
  socket->Leave();
  Run();
}

class ViewedSessionApiTest : public SessionApiTest {
 protected:
  static constexpr char kToken[] = "0123456789abcdef0123456789abcdef";

  ViewedSessionApiTest()
      : SessionApiTest(std::make_shared<Credentials>(
            std::vector<TokenFile::Entry>{{{"viewer", Role::kViewer}, kToken}})) {}
};

TEST_F(ViewedSessionApiTest, ViewersCanWatchAndLoadButNotAnswer) {
  max_seq_ = 2;
  const auto socket = Connect("/api/sessions/s-1/ws", kToken);
  socket->Say(R"({"type":"load_events","data":{"after_seq":0}})");
  socket->Say(R"({"type":"permission_answer","data":{"permission_id":"p-1","option_id":"yes"}})");
  Run();
  EXPECT_THAT(socket->Types(), ElementsAre("connected", "events_loaded", "request_failed"));
  EXPECT_EQ(socket->Message(2)["data"]["error"], "role_not_allowed");
  socket->Leave();
  Run();
}

TEST_F(SessionApiTest, NewObserverGetsOpenPermissions) {
  const auto first = Connect("/api/sessions/s-1/ws");
  EXPECT_EQ(first->Message(0)["data"]["permissions"], Json::array());
  for (const char* id : {"p-1", "p-2", "p-3"}) {
    v1::SessionUpdate update;
    update.mutable_permission()->set_permission_id(id);
    client_.watches[0].second->Push(update);
  }
  v1::SessionUpdate answered;
  answered.mutable_permission()->set_permission_id("p-1");
  answered.mutable_permission()->set_answered(true);
  client_.watches[0].second->Push(answered);
  Run();
  const auto second = Connect("/api/sessions/s-1/ws");
  const Json open = second->Message(0)["data"]["permissions"];
  ASSERT_THAT(open, SizeIs(2));
  EXPECT_EQ(open[0]["permission_id"], "p-2");
  EXPECT_EQ(open[0]["status"], "open");
  EXPECT_EQ(open[1]["permission_id"], "p-3");
  EXPECT_THAT(second->sent, SizeIs(1));
  for (const auto& socket : {first, second}) socket->Leave();
  Run();
}

TEST_F(SessionApiTest, GlobalSocketReportsAllSessions) {
  const auto socket = Connect("/api/events/ws");
  // The peer gets `connected` only once no notice can be missed.
  EXPECT_THAT(socket->sent, IsEmpty());
  ASSERT_THAT(client_.global_watches, SizeIs(1));
  v1::SessionNotice notice;
  notice.set_action("started");
  client_.global_watches[0]->Push(notice);
  notice.set_action("queue");
  notice.mutable_session()->set_session_id("s-1");
  notice.mutable_queue()->set_action("added");
  client_.global_watches[0]->Push(notice);
  notice.set_action("deleted");
  client_.global_watches[0]->Push(notice);
  Run();
  EXPECT_THAT(socket->Types(), ElementsAre("connected", "queue_updated", "session_deleted"));
  EXPECT_EQ(socket->Message(1)["data"]["session_id"], "s-1");
  EXPECT_EQ(socket->Message(2)["data"], Json({{"session_id", "s-1"}}));
  socket->Leave();
  Run();
}

TEST_F(SessionApiTest, StreamsStoredAndNewEvents) {
  max_seq_ = 3;
  const HttpResponse response = Ask("GET", "/api/sessions/s-1/events", "",
                                    {{"accept", "text/event-stream"}, {"last-event-id", "1"}});
  EXPECT_EQ(response.content_type, "text/event-stream");
  FakeBodyWriter writer(io_);
  bool ended = false;
  boost::asio::co_spawn(io_, response.stream(writer),
                        [&](const std::exception_ptr& error) { ended = error == nullptr; });
  client_.watches.at(0).second->Push(EventUpdate(4));
  Run();
  std::vector<int> ids;
  for (size_t at = writer.written.find("id: "); at != std::string::npos;
       at = writer.written.find("id: ", at + 1)) {
    ids.push_back(std::stoi(writer.written.substr(at + 4)));
  }
  EXPECT_THAT(ids, ElementsAre(2, 3, 4));
  hub_->End();
  Run();
  EXPECT_TRUE(ended);
  EXPECT_THAT(writer.written, HasSubstr("draining"));
}

TEST_F(SessionApiTest, StreamsOnlyIfAcceptHeaderAsksForIt) {
  for (const char* accept : {"Text/Event-Stream", "application/json, text/event-stream;q=0.5"}) {
    const HttpResponse response = Ask("GET", "/api/sessions/s-1/events", "", {{"accept", accept}});
    EXPECT_EQ(response.content_type, "text/event-stream") << accept;
  }
  for (const char* accept : {"", "*/*", "text/*", "text/event-stream;q=0",
                             "application/json;note=\"text/event-stream\""}) {
    const HttpResponse response = Ask("GET", "/api/sessions/s-1/events", "", {{"accept", accept}});
    EXPECT_EQ(response.content_type, "application/json") << accept;
  }
}

TEST_F(SessionApiTest, EndsStreamThatIsNotRead) {
  const HttpResponse response =
      Ask("GET", "/api/sessions/s-1/events", "", {{"accept", "text/event-stream"}});
  FakeBodyWriter writer(io_);
  writer.blocked = true;
  bool ended = false;
  boost::asio::co_spawn(io_, response.stream(writer),
                        [&](const std::exception_ptr& error) { ended = error == nullptr; });
  const auto other = Connect("/api/sessions/s-1/ws");
  const std::string text(300 << 10, 'x');
  for (int seq = 1; seq <= 30; ++seq) {
    client_.watches.at(0).second->Push(EventUpdate(seq, text));
    Run();
  }
  // A peer that does not read must not delay another peer.
  EXPECT_THAT(other->sent, SizeIs(31));
  writer.Unblock();
  Run();
  EXPECT_TRUE(ended);
  EXPECT_THAT(writer.written, HasSubstr("too_slow"));
  EXPECT_THAT(writer.written, HasSubstr("id: 1\n"));
  EXPECT_EQ(writer.written.find("id: 30\n"), std::string::npos);
  other->Leave();
  Run();
}

TEST_F(SessionApiTest, StreamsMessagesToRunner) {
  client_.On<v1::GetQueueStatusRequest>(
      [](const auto&) -> absl::StatusOr<v1::QueueStatus> { return v1::QueueStatus(); });
  const HttpResponse response = Ask("GET", "/api/sessions/s-1/messages");
  FakeBodyWriter writer(io_);
  bool ended = false;
  boost::asio::co_spawn(io_, response.stream(writer),
                        [&](const std::exception_ptr& error) { ended = error == nullptr; });
  Run();
  ASSERT_THAT(client_.receivers, SizeIs(1));
  v1::ReceivedMessage received;
  received.set_turn_id("turn-1");
  client_.receivers[0]->Push(received);
  client_.receivers[0]->End(Failure(absl::StatusCode::kAborted, "receiver_replaced"));
  Run();
  EXPECT_TRUE(ended);
  EXPECT_THAT(writer.written, HasSubstr("\"turn_id\":\"turn-1\""));
  EXPECT_THAT(writer.written, HasSubstr("receiver_replaced"));
}

}  // namespace
}  // namespace callslip::gateway
