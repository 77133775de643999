#include "tracker/storage/event_log.h"

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "tracker/domain/session/player.h"
#include "tracker/domain/session/session_limits.h"
#include "tracker/domain/session/session_table_fixture.h"

namespace callslip::tracker {
namespace {

using ::testing::ElementsAre;
using From = EventQuery::From;

class EventLogTest : public testing::Test {
 protected:
  EventLogTest() { Open(); }

  void Open() {
    seen_.clear();
    auto log = EventLog::Open(
        &disk_, folder_.path(),
        [&](const EventHead& head, absl::string_view) { seen_.push_back(head.seq); });
    ASSERT_OK(log);
    log_ = *std::move(log);
  }
  EventPtr Append(NewEvent event) {
    absl::StatusOr<AppendedEvent> appended = log_->Append(std::move(event), clock_.Now());
    EXPECT_OK(appended);
    clock_.Advance(absl::Milliseconds(1500));
    return appended.ok() ? appended->event : nullptr;
  }
  EventFacts FactsOf(const std::string& type, const std::string& data) {
    absl::StatusOr<AppendedEvent> appended = log_->Append(ClientEvent{type, data}, clock_.Now());
    EXPECT_OK(appended);
    return appended.ok() ? appended->facts : EventFacts();
  }
  void AppendTexts(int count) {
    for (int i = 0; i < count; ++i) Append(AgentMessage{absl::StrCat("text ", i)});
    ASSERT_OK(log_->Sync());
  }
  std::vector<int64_t> Seqs(const EventQuery& query) {
    absl::StatusOr<EventPage> page = log_->Read(query);
    EXPECT_OK(page);
    std::vector<int64_t> seqs;
    for (const EventPtr& event : page->events) seqs.push_back(event->seq);
    return seqs;
  }
  std::string path() const { return folder_.path() + "/events.jsonl"; }
  std::string Contents() {
    std::ifstream in(path(), std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  FakeClock clock_;
  Disk disk_;
  TemporaryFolder folder_;
  std::vector<int64_t> seen_;
  std::unique_ptr<EventLog> log_;
};

TEST_F(EventLogTest, LinesHaveDocumentedFormat) {
  Append(SessionStart{"s1", "claude", "/src", ""});
  Append(UserPrompt{"hi \"you\"", {{"i1", "a.png", "image/png"}}, "p1", "q-1-abc"});
  Append(ToolCall{"c1", "run", "pending", "execute"});
  Append(ClientEvent{"usage", R"( {"tokens": 12, "a": [1.50, 1e300, {"b":1,"b":2}]} )"});
  ASSERT_OK(log_->Sync());
  EXPECT_EQ(
      Contents(),
      R"({"seq":1,"type":"session_start","timestamp":"2026-02-01T12:00:00Z","data":{"session_id":"s1","acp_server":"claude","working_dir":"/src"}})"
      "\n"
      R"({"seq":2,"type":"user_prompt","timestamp":"2026-02-01T12:00:01.5Z","data":{"message":"hi \"you\"","images":[{"id":"i1","name":"a.png","mime_type":"image/png"}],"prompt_id":"p1","queue_id":"q-1-abc"}})"
      "\n"
      R"({"seq":3,"type":"tool_call","timestamp":"2026-02-01T12:00:03Z","data":{"tool_call_id":"c1","title":"run","status":"pending","kind":"execute"}})"
      "\n"
      R"({"seq":4,"type":"usage","timestamp":"2026-02-01T12:00:04.5Z","data":{"tokens": 12, "a": [1.50, 1e300, {"b":1,"b":2}]}})"
      "\n");
}

TEST_F(EventLogTest, EventsAreReadBackAsAppended) {
  const std::vector<NewEvent> events = {
      SessionStart{"s1", "claude", "/src", "ann"},
      SessionEnd{"user", 7},
      UserPrompt{"hello", {{"i1", "", ""}}, "", ""},
      AgentMessage{"tab\tnewline\n\x01 quote\" \u00e9"},
      AgentMessage{.text = "a", .iteration = 3},
      ToolCall{"c1", "t", "pending", ""},
      ToolCallUpdate{"c1", "completed"},
      ToolCallUpdate{"c1", "failed", "renamed"},
      PermissionRecord{"write?", "", "cancelled", "p1", "c1", "agent"},
      ErrorEvent{"boom", "E1"},
      EndedTurn{"turn-1", {.end = TurnEnd::kFailed, .reason = "r", .usage = R"({"tokens":1})"}},
      ClientEvent{"strange \"type\"", R"({"":null})"},
      ClientEvent{"agent_thought", "{}"}};
  std::vector<EventPtr> written;
  for (const NewEvent& event : events) written.push_back(Append(event));
  ASSERT_OK(log_->Sync());
  Open();
  ASSERT_OK_AND_ASSIGN(const EventPage page, log_->Read({}));
  ASSERT_EQ(page.events.size(), events.size());
  for (size_t i = 0; i < events.size(); ++i) EXPECT_EQ(*page.events[i], *written[i]) << i;
}

// Except for characters that would break the line or its reader.
TEST_F(EventLogTest, ClientDataKeepsItsText) {
  const auto kept = [&](const std::string& data) {
    return Append(ClientEvent{"usage", data})->data;
  };
  for (const char* data : {R"({"b":1,"a":2})", R"({"n":1.0,"m":18446744073709551616})",
                           R"({"e":"\u00e9","s": "two  spaces"})", R"({"deep":[[[{}]]]})"}) {
    EXPECT_EQ(kept(data), data);
  }
  EXPECT_EQ(kept("{\n  \"a\": [1,\r\n 2]\n}"), R"({"a":[1,2]})");
  EXPECT_EQ(kept("\xEF\xBB\xBF{}"), "{}");
  EXPECT_EQ(kept("{\"a\":\"\u2028\"}"), R"({"a":"\u2028"})");
  EXPECT_EQ(kept(R"({"a":"\ud83d"})"), R"({"a":"\ufffd"})");
  ASSERT_OK_AND_ASSIGN(const EventPage page, log_->Read({}));
  EXPECT_EQ(page.events.size(), 8u);
}

TEST_F(EventLogTest, RefusesInvalidEvents) {
  for (const std::string data :
       {"", "{", "null", "[]", "\"x\"", "{} {}", "{\"a\":1,}", "{\"a\":\"\xff\"}",
        "{\"a\":1,\"a\":2}", "{\"a\":1,\"\\u0061\":2}"}) {
    EXPECT_THAT(log_->Append(ClientEvent{"usage", data}, clock_.Now()), kInvalid) << data;
  }
  const std::string deep(100'000, '[');
  EXPECT_THAT(log_->Append(ClientEvent{"usage", "{\"a\":" + deep}, clock_.Now()), kInvalid);
  EXPECT_THAT(log_->Append(ClientEvent{"", "{}"}, clock_.Now()), kInvalid);
  EXPECT_THAT(log_->Append(ClientEvent{std::string(65, 't'), "{}"}, clock_.Now()), kInvalid);
  EXPECT_THAT(log_->Append(
                  ClientEvent{"user_prompt", R"({"prompt_id":")" + std::string(129, 'p') + R"("})"},
                  clock_.Now()),
              kInvalid);
  const std::string long_id(kMaxToolCallIdBytes + 1, 'x');
  for (const char* type : {"tool_call", "tool_call_update"}) {
    const ClientEvent event{type, "{\"tool_call_id\":\"" + long_id + "\"}"};
    EXPECT_THAT(log_->Append(event, clock_.Now()), kInvalid);
  }
  EXPECT_THAT(log_->Append(AgentMessage{std::string(kMaxEventBytes, 'x')}, clock_.Now()),
              FailsWith(absl::StatusCode::kInvalidArgument, "event_too_large"));
  EXPECT_EQ(Append(AgentMessage{"x"})->seq, 1);
}

TEST_F(EventLogTest, FactsDependOnEventType) {
  const auto prompt =
      FactsOf("user_prompt", R"({"prompt_id":"p","images":["i",{"id":"j"}],"message":"a\nb"})");
  ASSERT_TRUE(prompt.prompt.has_value());
  EXPECT_EQ(prompt.prompt->prompt_id, "p");
  EXPECT_EQ(prompt.prompt->content, ContentOf("a\nb", {"i", "j"}));
  EXPECT_EQ(FactsOf("agent_message", R"({"iteration":7,"text":""})").iteration, 7);
  EXPECT_EQ(FactsOf("agent_message", R"({"iteration":"7"})").iteration, std::nullopt);
  const auto call = FactsOf("tool_call", R"({"status":"pending","tool_call_id":"c"})").tool_call;
  ASSERT_TRUE(call.has_value());
  EXPECT_EQ(call->id, "c");
  EXPECT_EQ(call->status, "pending");
  EXPECT_TRUE(call->begins);
  EXPECT_FALSE(FactsOf("tool_call_update", R"({"tool_call_id":"c"})").tool_call->begins);
  EXPECT_FALSE(FactsOf("tool_call", R"({"tool_call_id":7})").tool_call.has_value());
  const EventFacts none = FactsOf("usage", R"({"tool_call_id":"c","iteration":1,"message":"m"})");
  EXPECT_FALSE(none.prompt.has_value() || none.iteration.has_value() || none.tool_call.has_value());
}

TEST_F(EventLogTest, LiveEventEqualsStoredEvent) {
  const EventPtr broken = Append(AgentMessage{"not \xff UTF-8"});
  const EventPtr client = Append(ClientEvent{"usage", R"({"b":1,  "a":2})"});
  ASSERT_OK_AND_ASSIGN(const EventPage page, log_->Read({}));
  EXPECT_EQ(*page.events[0], *broken);
  EXPECT_EQ(*page.events[1], *client);
}

// The line begins like one of the tracker. Its data must not break the page that contains it.
TEST_F(EventLogTest, DamagedDataBecomesEmptyObject) {
  AppendTexts(1);
  const auto add = [&](const char* type, const char* data) {
    std::ofstream(path(), std::ios::app)
        << R"({"seq":)" << Contents().size() << R"(,"type":")" << type << R"(","timestamp":")"
        << R"(2026-02-01T12:00:00Z","data":)" << data << "}\n";
  };
  for (const char* data : {"{\"a\":", "null", "{\"a\":\"\xff\"}"}) add("usage", data);
  add("us\xff", "{\"a\":\r1}");
  Open();
  ASSERT_OK_AND_ASSIGN(const EventPage page, log_->Read({}));
  ASSERT_EQ(page.events.size(), 5u);
  for (size_t i = 1; i < 4; ++i) EXPECT_EQ(TextOf(page.events[i]), "usage {}");
  EXPECT_EQ(page.events[4]->type, "us\uFFFD");
}

// Lines of other programs must not break a stream of events.
TEST_F(EventLogTest, DataIsReadAsOneLine) {
  std::ofstream(path()) << R"({"seq":1,"type":"usage","timestamp":"2026-02-01T12:00:00Z","data":)"
                        << "{\"a\":\r1,\"b\":\"\u2028\"}}\n";
  Open();
  ASSERT_OK_AND_ASSIGN(const EventPage page, log_->Read({}));
  ASSERT_EQ(page.events.size(), 1u);
  EXPECT_EQ(page.events[0]->data, R"({"a":1,"b":"\u2028"})");
}

TEST_F(EventLogTest, PagesContinueAfterSeq) {
  AppendTexts(7);
  EXPECT_THAT(Seqs({From::kAfterSeq, 0, 3}), ElementsAre(1, 2, 3));
  EXPECT_THAT(Seqs({From::kAfterSeq, 3, 3}), ElementsAre(4, 5, 6));
  ASSERT_OK_AND_ASSIGN(const EventPage last, log_->Read({From::kAfterSeq, 6, 3}));
  EXPECT_FALSE(last.has_more);
  EXPECT_EQ(last.first_seq(), 7);
  EXPECT_EQ(last.last_seq(), 7);
  EXPECT_EQ(last.max_seq, 7);
  ASSERT_OK_AND_ASSIGN(const EventPage none, log_->Read({From::kAfterSeq, 7, 3}));
  EXPECT_TRUE(none.events.empty());
  EXPECT_FALSE(none.has_more);
  EXPECT_THAT(Seqs({From::kAfterSeq, 99, 3}), ElementsAre());
}

TEST_F(EventLogTest, PagesGoBackFromSeq) {
  AppendTexts(7);
  ASSERT_OK_AND_ASSIGN(const EventPage page, log_->Read({From::kBeforeSeq, 6, 3}));
  EXPECT_EQ(page.first_seq(), 3);
  EXPECT_EQ(page.last_seq(), 5);
  EXPECT_TRUE(page.has_more);
  EXPECT_THAT(Seqs({From::kBeforeSeq, 3, 3}), ElementsAre(1, 2));
  EXPECT_THAT(Seqs({From::kBeforeSeq, 1000, 2}), ElementsAre(6, 7));
  EXPECT_THAT(Seqs({From::kBeforeSeq, 1, 2}), ElementsAre());
}

TEST_F(EventLogTest, EveryPageOfLongLogIsCorrect) {
  const std::string padding(300, 'x');
  for (int i = 0; i < 3000; ++i) Append(AgentMessage{padding});
  ASSERT_OK(log_->Sync());
  for (int64_t seq = 0; seq <= 3001; seq += 97) {
    std::vector<int64_t> after;
    for (int64_t s = seq + 1; s <= std::min<int64_t>(seq + 10, 3000); ++s) after.push_back(s);
    EXPECT_EQ(Seqs({From::kAfterSeq, seq, 10}), after);
    EXPECT_EQ(Seqs({From::kPosition, seq, 10}), after);
    std::vector<int64_t> before;
    for (int64_t s = std::max<int64_t>(1, seq - 10); s < std::min<int64_t>(seq, 3001); ++s) {
      before.push_back(s);
    }
    EXPECT_EQ(Seqs({From::kBeforeSeq, seq, 10}), before);
  }
}

TEST_F(EventLogTest, HugeEventGetsItsOwnPage) {
  Append(AgentMessage{"small"});
  Append(AgentMessage{std::string(kMaxEventBytes - 200, 'x')});
  Append(AgentMessage{"small"});
  EXPECT_THAT(Seqs({From::kAfterSeq, 0, 10}), ElementsAre(1));
  EXPECT_THAT(Seqs({From::kAfterSeq, 1, 10}), ElementsAre(2));
  EXPECT_THAT(Seqs({From::kAfterSeq, 2, 10}), ElementsAre(3));
  EXPECT_THAT(Seqs({From::kBeforeSeq, 4, 10}), ElementsAre(3));
  EXPECT_THAT(Seqs({From::kBeforeSeq, 3, 10}), ElementsAre(2));
}

TEST_F(EventLogTest, FindsEventsByType) {
  for (int i = 0; i < 10; ++i) Append(i % 3 == 0 ? NewEvent(ErrorEvent{"e", ""}) : AgentMessage{});
  EventQuery query{.limit = 2, .type = "error"};
  ASSERT_OK_AND_ASSIGN(EventPage page, log_->Read(query));
  EXPECT_EQ(page.first_seq(), 1);
  EXPECT_EQ(page.last_seq(), 4);
  EXPECT_TRUE(page.has_more);
  EXPECT_THAT(Seqs({.value = 4, .type = "error"}), ElementsAre(7, 10));
  EXPECT_THAT(log_->Read({.from = From::kBeforeSeq, .value = 5, .type = "error"}),
              FailsWith(absl::StatusCode::kInvalidArgument, "invalid_argument"));
}

TEST_F(EventLogTest, SeqsContinueAfterReopening) {
  AppendTexts(3);
  Open();
  EXPECT_THAT(seen_, ElementsAre(1, 2, 3));
  EXPECT_EQ(Append(AgentMessage{})->seq, 4);
  log_->CloseFile();
  EXPECT_THAT(Seqs({}), ElementsAre(1, 2, 3, 4));
}

TEST_F(EventLogTest, PruningKeepsFirstAndNewestAndReusesNoSeq) {
  AppendTexts(20);
  ASSERT_OK_AND_ASSIGN(const int64_t removed, log_->Prune({.max_events = 5}));
  EXPECT_EQ(removed, 15);
  EXPECT_THAT(Seqs({}), ElementsAre(1, 17, 18, 19, 20));
  EXPECT_EQ(Append(AgentMessage{})->seq, 21);
  EXPECT_THAT(Seqs({From::kAfterSeq, 5, 2}), ElementsAre(17, 18));
  EXPECT_THAT(Seqs({From::kBeforeSeq, 18, 2}), ElementsAre(1, 17));
  EXPECT_THAT(Seqs({From::kPosition, 1, 2}), ElementsAre(17, 18));
  Open();
  EXPECT_THAT(seen_, ElementsAre(1, 17, 18, 19, 20, 21));

  ASSERT_OK(log_->Prune({.max_bytes = 300}));
  EXPECT_LE(log_->bytes(), 300);
  ASSERT_OK(log_->Prune({.max_bytes = 1}));
  EXPECT_THAT(Seqs({}), ElementsAre(1, 21));
  ASSERT_OK_AND_ASSIGN(const int64_t none, log_->Prune({.max_events = 100, .max_bytes = 10'000}));
  EXPECT_EQ(none, 0);
  EXPECT_EQ(Append(AgentMessage{})->seq, 22);
}

TEST_F(EventLogTest, LinesThatAreNotEventsAreLeftAlone) {
  AppendTexts(2);
  std::ofstream(path(), std::ios::app)
      << "no event\n{\"seq\":2,\"type\":\"again\",\"timestamp\":\"2026-02-01T12:00:00Z\"}\n\n"
      << " {\"type\": \"error\", \"seq\": 9, \"timestamp\": \"2026-02-01T13:00:00.25+01:00\","
      << " \"data\": {\"message\": \"m\"}}\n";
  std::ofstream(path(), std::ios::app) << std::string(9 << 20, 'x') << "\n{\"torn";
  Open();
  EXPECT_THAT(seen_, ElementsAre(1, 2, 9));
  const EventPtr added = Append(AgentMessage{"next"});
  EXPECT_EQ(added->seq, 10);
  EXPECT_THAT(Seqs({}), ElementsAre(1, 2, 9, 10));
  EXPECT_THAT(Seqs({From::kBeforeSeq, 10, 2}), ElementsAre(2, 9));
  EXPECT_EQ(Contents().find("torn"), std::string::npos);
  EXPECT_NE(Contents().find("no event\n"), std::string::npos);
}

TEST_F(EventLogTest, RefusesInvalidQueries) {
  const auto invalid = FailsWith(absl::StatusCode::kInvalidArgument, "invalid_argument");
  EXPECT_THAT(log_->Read({From::kAfterSeq, -1}), invalid);
  EXPECT_THAT(log_->Read({From::kAfterSeq, 0, -1}), invalid);
}

class LogSource final : public EventSource {
 public:
  explicit LogSource(EventLog* log) : log_(log) {}
  absl::StatusOr<EventPage> Read(const EventQuery& query) override { return log_->Read(query); }

 private:
  EventLog* const log_;
};

using PlayerTest = EventLogTest;

TEST_F(PlayerTest, StepsThroughTheEvents) {
  AppendTexts(250);
  LogSource source(log_.get());
  ASSERT_OK_AND_ASSIGN(Player player, Player::Open(&source));
  EXPECT_EQ(player.length(), 250);
  for (int64_t i = 0; i < 250; ++i) {
    ASSERT_OK_AND_ASSIGN(const EventPtr peeked, player.Peek());
    EXPECT_EQ(player.position(), i);
    ASSERT_OK_AND_ASSIGN(const EventPtr event, player.Next());
    EXPECT_EQ(event->seq, i + 1);
    EXPECT_EQ(event, peeked);
  }
  EXPECT_EQ(*player.Next(), nullptr);
  EXPECT_EQ(*player.Peek(), nullptr);
  EXPECT_EQ(player.position(), 250);
  ASSERT_OK(player.Seek(0));
  EXPECT_EQ((*player.Next())->seq, 1);
}

TEST_F(PlayerTest, SeeksOnlyWithinItsLength) {
  AppendTexts(5);
  LogSource source(log_.get());
  ASSERT_OK_AND_ASSIGN(Player player, Player::Open(&source));
  AppendTexts(5);  // Not played.
  EXPECT_OK(player.Seek(5));
  EXPECT_EQ(*player.Next(), nullptr);
  EXPECT_OK(player.Seek(3));
  EXPECT_EQ((*player.Next())->seq, 4);
  EXPECT_OK(player.Seek(0));
  const auto invalid = FailsWith(absl::StatusCode::kInvalidArgument, "invalid_argument");
  EXPECT_THAT(player.Seek(-1), invalid);
  EXPECT_THAT(player.Seek(6), invalid);
  EXPECT_EQ(player.position(), 0);
}

TEST_F(PlayerTest, GapsFollowTheRecordedPace) {
  const EventPtr first = Append(AgentMessage{});
  const EventPtr second = Append(AgentMessage{});
  EXPECT_EQ(Player::Gap(*first, *second, 1), absl::Milliseconds(1500));
  EXPECT_EQ(Player::Gap(*first, *second, 3), absl::Milliseconds(500));
  EXPECT_EQ(Player::Gap(*first, *second, 0), absl::ZeroDuration());
  EXPECT_EQ(Player::Gap(*second, *first, 1), absl::ZeroDuration());
}

}  // namespace
}  // namespace callslip::tracker
