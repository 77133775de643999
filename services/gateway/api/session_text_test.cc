// Answers while they stream in, and truncated events.
#include <exception>
#include <string>

#include "absl/strings/str_cat.h"
#include "gateway/api/session_api_fixture.h"
#include "gateway/api/streamed_text.h"
#include "gmock/gmock.h"
#include "support/fake_body_writer.h"

namespace callslip::gateway {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

v1::SessionUpdate Piece(int64_t iteration, int64_t offset, const std::string& text) {
  v1::SessionUpdate update;
  update.mutable_agent_text()->set_iteration(iteration);
  update.mutable_agent_text()->set_offset(offset);
  update.mutable_agent_text()->set_text(text);
  return update;
}

v1::SessionUpdate Said(int64_t seq, int64_t iteration, const std::string& text) {
  v1::SessionUpdate update = EventUpdate(seq, text);
  update.mutable_event()->set_data(Dump({{"text", text}, {"iteration", iteration}}));
  return update;
}

Json TextJson(int64_t iteration, int64_t offset, const std::string& text) {
  return {{"iteration", iteration}, {"offset", offset}, {"text", text}};
}

TEST(StreamedTextTest, PieceExtendsOrReplacesText) {
  StreamedText text;
  EXPECT_TRUE(text.ToJson().is_null());
  text.Note(Piece(0, 0, "Hello"));
  text.Note(Piece(0, 5, " w"));
  EXPECT_EQ(text.ToJson(), TextJson(0, 0, "Hello w"));
  text.Note(Piece(0, 4, "!"));
  EXPECT_EQ(text.ToJson(), TextJson(0, 0, "Hell!"));
  // A piece that does not follow the text replaces it.
  text.Note(Piece(0, 9, "later"));
  EXPECT_EQ(text.ToJson(), TextJson(0, 9, "later"));
  text.Note(Piece(2, 0, "next"));
  EXPECT_EQ(text.ToJson(), TextJson(2, 0, "next"));
}

TEST(StreamedTextTest, TextIsClearedByItsEventAndBySessionEnd) {
  StreamedText text;
  text.Note(Piece(2, 0, "a"));
  text.Note(Said(1, 1, "one before"));
  text.Note(EventUpdate(2, "of no answer"));
  EXPECT_FALSE(text.ToJson().is_null());
  text.Note(Said(3, 2, "a"));
  EXPECT_TRUE(text.ToJson().is_null());
  text.Note(Piece(3, 0, "b"));
  v1::SessionUpdate end;
  end.mutable_event()->set_type("session_end");
  text.Note(end);
  EXPECT_TRUE(text.ToJson().is_null());
  text.Note(Piece(4, 0, "c"));
  v1::SessionUpdate snapshot;
  snapshot.mutable_snapshot();
  text.Note(snapshot);
  EXPECT_TRUE(text.ToJson().is_null());
}

TEST(StreamedTextTest, RetainsEndOfLongAnswer) {
  StreamedText text;
  std::string whole;
  for (int i = 0; i < 400; ++i) {
    std::string piece;
    while (piece.size() < 1001) piece += "\u20ac";
    text.Note(Piece(0, static_cast<int64_t>(whole.size()), piece));
    whole += piece;
  }
  const Json kept = text.ToJson();
  const auto end = kept["text"].get<std::string>();
  EXPECT_LE(end.size(), StreamedText::kMaxBytes);
  EXPECT_GT(end.size(), StreamedText::kMaxBytes - 3);
  EXPECT_EQ(whole.substr(kept["offset"].get<size_t>()), end);
  EXPECT_EQ(end.substr(0, 3), "\u20ac");
}

TEST_F(SessionApiTest, SendsAgentTextBeforeAnswerIsComplete) {
  const auto first = Connect("/api/sessions/s-1/ws");
  EXPECT_FALSE(first->Message(0)["data"].contains("agent_text"));
  client_.watches[0].second->Push(Piece(0, 0, "Hel"));
  Run();
  const auto second = Connect("/api/sessions/s-1/ws");
  EXPECT_EQ(second->Message(0)["data"]["agent_text"], TextJson(0, 0, "Hel"));
  client_.watches[0].second->Push(Piece(0, 3, "lo"));
  client_.watches[0].second->Push(Said(1, 0, "Hello"));
  Run();
  EXPECT_THAT(first->Types(),
              ElementsAre("connected", "agent_text", "agent_text", "agent_message"));
  EXPECT_THAT(second->Types(), ElementsAre("connected", "agent_text", "agent_message"));
  EXPECT_EQ(second->Message(1)["data"], TextJson(0, 3, "lo"));
  EXPECT_EQ(second->Message(2)["data"]["iteration"], 0);
  const auto third = Connect("/api/sessions/s-1/ws");
  EXPECT_FALSE(third->Message(0)["data"].contains("agent_text"));
  for (const auto& socket : {first, second, third}) socket->Leave();
  Run();
}

TEST_F(SessionApiTest, ResendsAgentTextAfterTrackerCallFails) {
  const auto socket = Connect("/api/sessions/s-1/ws");
  client_.watches[0].second->Push(Piece(0, 0, "Hel"));
  *client_.snapshot.mutable_snapshot()->mutable_agent_text() = Piece(0, 0, "Hello").agent_text();
  client_.watches[0].second->End(absl::UnavailableError("gone"));
  while (client_.watches.size() < 2) {
    io_.restart();
    io_.run_one();
  }
  Run();
  EXPECT_THAT(socket->Types(),
              ElementsAre("connected", "agent_text", "notices_missed", "agent_text"));
  EXPECT_EQ(socket->Message(3)["data"], TextJson(0, 0, "Hello"));
  socket->Leave();
  Run();
}

TEST_F(SessionApiTest, StreamStartsWithAgentTextSoFar) {
  const auto socket = Connect("/api/sessions/s-1/ws");
  client_.watches[0].second->Push(Piece(0, 0, "Hel"));
  Run();
  const HttpResponse response = Ask("GET", "/api/sessions/s-1/events", "",
                                    {{"accept", "text/event-stream"}, {"last-event-id", "0"}});
  FakeBodyWriter writer(io_);
  bool ended = false;
  boost::asio::co_spawn(io_, response.stream(writer),
                        [&](const std::exception_ptr& error) { ended = error == nullptr; });
  client_.watches.at(0).second->Push(Piece(0, 3, "lo"));
  Run();
  const size_t known = writer.written.find(R"({"data":{"iteration":0,"offset":0,"text":"Hel"})");
  const size_t live = writer.written.find(R"({"data":{"iteration":0,"offset":3,"text":"lo"})");
  EXPECT_NE(known, std::string::npos) << writer.written;
  EXPECT_NE(live, std::string::npos) << writer.written;
  EXPECT_LT(known, live);
  socket->Leave();
  hub_->End();
  Run();
  EXPECT_TRUE(ended);
}

class CutEventsTest : public SessionApiTest {
 protected:
  // Events of 100 KB each.
  CutEventsTest() {
    max_seq_ = 10;
    client_.On<v1::ReadEventsRequest>(
        [this](const auto& request) -> absl::StatusOr<v1::ReadEventsResponse> {
          v1::ReadEventsResponse page = Page(request);
          for (v1::SessionEvent& event : *page.mutable_events()) {
            event.set_data(Dump({{"text", std::string(100'000, 'x')}}));
          }
          return page;
        });
  }
};

TEST_F(CutEventsTest, EventsOfPageAreTruncatedToRequestedSize) {
  const Json whole = BodyOf(Ask("GET", "/api/sessions/s-1/events?after_seq=6&limit=1"));
  EXPECT_EQ(whole["events"][0]["data"]["text"].get<std::string>().size(), 100'000u);
  EXPECT_FALSE(whole["events"][0].contains("omitted_bytes"));
  const Json cut = BodyOf(Ask("GET", "/api/sessions/s-1/events?max_event_bytes=2048"));
  ASSERT_THAT(cut["events"], SizeIs(10));
  for (const Json& event : cut["events"]) {
    EXPECT_LE(Dump(event).size(), 2048u);
    EXPECT_GT(event["omitted_bytes"], 98'000);
  }
  EXPECT_EQ(cut["last_seq"], 10);
}

TEST_F(CutEventsTest, BoundOutOfRangeIsRefused) {
  for (const char* bad : {"1023", "4194305", "x"}) {
    const HttpResponse response =
        Ask("GET", absl::StrCat("/api/sessions/s-1/events?max_event_bytes=", bad));
    EXPECT_EQ(response.status, 400);
    EXPECT_EQ(BodyOf(response)["error"], "invalid_field");
    EXPECT_THAT(BodyOf(response)["message"].get<std::string>(), HasSubstr("1024 to 4194304"));
  }
}

TEST_F(CutEventsTest, SocketPageHoldsMoreTruncatedEventsThanWholeOnes) {
  const auto socket = Connect("/api/sessions/s-1/ws");
  socket->Say(R"({"type":"load_events","data":{"before_seq":11}})");
  socket->Say(R"({"type":"load_events","data":{"before_seq":11,"max_event_bytes":4096}})");
  socket->Say(R"({"type":"load_events","data":{"before_seq":11,"max_event_bytes":1}})");
  Run();
  ASSERT_THAT(socket->Types(),
              ElementsAre("connected", "events_loaded", "events_loaded", "request_failed"));
  const Json whole = socket->Message(1)["data"];
  EXPECT_THAT(whole["events"], SizeIs(2));  // Within 256 KiB.
  EXPECT_EQ(whole["first_seq"], 9);
  EXPECT_EQ(whole["has_more"], true);
  const Json cut = socket->Message(2)["data"];
  EXPECT_THAT(cut["events"], SizeIs(10));
  EXPECT_EQ(cut["has_more"], false);
  for (const Json& event : cut["events"]) EXPECT_LE(Dump(event).size(), 4096u);
  EXPECT_EQ(socket->Message(3)["data"]["error"], "invalid_field");
  socket->Leave();
  Run();
}

}  // namespace
}  // namespace callslip::gateway
