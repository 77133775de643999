// Agents' answers as observers get them before their end.
#include <memory>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tracker/domain/session/session_table_fixture.h"

namespace callslip::tracker {
namespace {

class StreamedTextTest : public SessionTableTest {
 protected:
  StreamedTextTest() { EXPECT_OK(Create("s1")); }

  absl::Status Say(AgentText piece) {
    return With<AddedAgentText>(
               [&](Session& session, absl::Time now) { return session.AddAgentText(piece, now); })
        .status();
  }

  // The text that a new observer gets.
  std::optional<StreamedText> Shown() {
    const auto feed = Subscribe(0);
    std::optional<StreamedText> text = feed->NextOf<SessionSnapshot>().text;
    Unsubscribe(feed);
    return text;
  }
};

TEST_F(StreamedTextTest, PiecesAreShownOnceInOrderAndEndRecordsEvent) {
  const auto feed = Subscribe(1);
  EXPECT_FALSE(feed->NextOf<SessionSnapshot>().text.has_value());
  ASSERT_OK(Say({.text = "Hell"}));
  // The same piece again, with more text.
  ASSERT_OK(Say({.offset = 0, .text = "Hello "}));
  ASSERT_OK(Say({.offset = 0, .text = "Hell"}));
  ASSERT_OK(Say({.text = "w\u00f6rld"}));
  EXPECT_EQ(feed->NextOf<StreamedText>(), (StreamedText{0, 0, "Hell"}));
  EXPECT_EQ(feed->NextOf<StreamedText>(), (StreamedText{0, 4, "o "}));
  EXPECT_EQ(feed->NextOf<StreamedText>(), (StreamedText{0, 6, "w\u00f6rld"}));
  EXPECT_EQ(Shown(), (StreamedText{0, 0, "Hello w\u00f6rld"}));
  EXPECT_EQ(ReadAll().size(), 1u) << "nothing of it is stored";

  ASSERT_OK(Say({.text = "!", .end = true}));
  const SessionUpdate end = feed->Next();
  EXPECT_EQ(TextOf(std::get<EventPtr>(end.what)),
            "agent_message {\"text\":\"Hello w\u00f6rld!\",\"iteration\":0}");
  EXPECT_EQ(Shown(), std::nullopt);
  ASSERT_OK(Say({.iteration = 1, .text = "next"}));
  EXPECT_EQ(feed->NextOf<StreamedText>(), (StreamedText{1, 0, "next"}));
}

TEST_F(StreamedTextTest, LaterAnswerEndsPreviousAnswer) {
  ASSERT_OK(Say({.iteration = 3, .text = "cut off"}));
  const auto feed = Subscribe(1);
  EXPECT_EQ(feed->NextOf<SessionSnapshot>().text, (StreamedText{3, 0, "cut off"}));
  ASSERT_OK(Say({.iteration = 4, .text = "new"}));
  EXPECT_EQ(TextOf(std::get<EventPtr>(feed->Next().what)),
            R"(agent_message {"text":"cut off","iteration":3})");
  EXPECT_EQ(std::get<StreamedText>(feed->Next().what), (StreamedText{4, 0, "new"}));
  EXPECT_EQ(Shown(), (StreamedText{4, 0, "new"}));
}

TEST_F(StreamedTextTest, OnlyEndOfLongAnswerIsShown) {
  // Two bytes each, so that a cut by bytes would fall into one of them.
  std::string text = "x";
  while (text.size() < kMaxStreamedBytes + 1000) text += "\u00f6";
  ASSERT_OK(Say({.text = text}));
  const std::optional<StreamedText> shown = Shown();
  ASSERT_TRUE(shown.has_value());
  EXPECT_EQ(shown->text, text.substr(static_cast<size_t>(shown->offset)));
  EXPECT_LE(shown->text.size(), kMaxStreamedBytes);
  EXPECT_GE(shown->text.size(), kMaxStreamedBytes - 1);
  EXPECT_EQ(shown->text.substr(0, 2), "\u00f6");
}

TEST_F(StreamedTextTest, NothingIsShownAfterSessionEnds) {
  ASSERT_OK(Say({.text = "cut off"}));
  ASSERT_OK(Run([](Session& s, absl::Time now) { return s.End("done", now); }));
  EXPECT_EQ(Shown(), std::nullopt);
}

TEST_F(StreamedTextTest, PieceThatSplitsCharacterIsRefusedAndChangesNothing) {
  ASSERT_OK(Say({.text = "a"}));
  EXPECT_THAT(Say({.offset = 0, .text = "\u00f6b"}), kInvalid);
  EXPECT_EQ(Shown(), (StreamedText{0, 0, "a"}));
  EXPECT_OK(Say({.offset = 0, .text = "a\u00f6b"}));
  EXPECT_EQ(Shown(), (StreamedText{0, 0, "a\u00f6b"}));
}

TEST_F(StreamedTextTest, CountsTowardsBufferLimitOfSlowObserver) {
  limits_.observer_bytes = size_t{64} << 10;
  Reopen();
  const auto slow = Subscribe(1);
  const std::string piece(10 << 10, 'x');
  for (int i = 0; i < 10; ++i) ASSERT_OK(Say({.text = piece}));
  int pieces = 0;
  while (true) {
    const SessionUpdate update = slow->Next();
    if (const auto* end = std::get_if<FeedEnd>(&update.what)) {
      EXPECT_THAT(end->status, FailsWith(absl::StatusCode::kResourceExhausted, "too_slow"));
      break;
    }
    pieces += std::holds_alternative<StreamedText>(update.what) ? 1 : 0;
  }
  EXPECT_EQ(pieces, 6);
}

}  // namespace
}  // namespace callslip::tracker
