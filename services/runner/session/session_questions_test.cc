#include "runner/session/session_questions.h"

#include <malloc.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "boost/asio/io_context.hpp"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runner/fake_timers.h"
#include "runner/session/fake_tracker.h"
#include "support/session_events.h"
#include "telemetry/testing/fake_span_sink.h"

namespace callslip::runner {
namespace {

using testing::AllOf;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class SessionQuestionsTest : public testing::Test {
 protected:
  static PermissionQuestion Question(int64_t number, int options = 1) {
    PermissionQuestion question{.number = number};
    question.tool_call.id = "call";
    question.tool_call.title = "Write it";
    for (int i = 0; i < options; ++i) {
      question.options.push_back(
          {.id = absl::StrCat("allow", i), .name = "yes", .kind = "allow_once"});
    }
    question.options.push_back({.id = "reject", .name = "no", .kind = "reject_once"});
    return question;
  }
  static v1::Permission Answer(const std::string& option) {
    v1::Permission permission;
    permission.set_answered(true);
    permission.set_selected_option(option);
    return permission;
  }
  void Ask(PermissionQuestion question, ActiveSpan span = {}) {
    const std::string id = absl::StrCat("acp-", question.number);
    questions_->Ask(std::move(question), id, /*parent_may_allow=*/true, std::move(span),
                    [this](PermissionChoice choice) {
                      EXPECT_TRUE(questions_->empty());
                      chosen_.push_back(choice.value_or("cancelled"));
                    });
  }
  void Run() {
    for (int i = 0; i < 100; ++i) {
      context_.restart();
      context_.poll();
      timers_.Advance(absl::Milliseconds(100));
    }
  }

  boost::asio::io_context context_;
  FakeTimers timers_;
  FakeTracker log_;
  std::shared_ptr<Recorder> recorder_ = std::make_shared<Recorder>(
      context_.get_executor(), &log_, &timers_, SessionName{"client", "s", 7}, 0);
  std::shared_ptr<SessionQuestions> questions_ = std::make_shared<SessionQuestions>(
      context_.get_executor(), &log_, &timers_, SessionName{"client", "s", 7}, recorder_);
  std::vector<std::string> chosen_;
};

TEST_F(SessionQuestionsTest, QuestionIsAskedUntilAnswered) {
  log_.answers = {v1::Permission(), absl::UnavailableError("away"), Answer("allow0")};
  Ask(Question(1));
  EXPECT_FALSE(questions_->empty());
  Run();
  EXPECT_THAT(chosen_, ElementsAre("allow0"));
  ASSERT_THAT(log_.asked, SizeIs(3));
  EXPECT_EQ(log_.asked[0].permission_id(), "acp-1");
  EXPECT_EQ(log_.asked[0].session_id(), "s");
  EXPECT_EQ(log_.asked[0].lease(), 7);
  EXPECT_EQ(log_.asked[0].title(), "Write it");
  EXPECT_TRUE(log_.asked[0].parent_may_allow());
  EXPECT_THAT(log_.withdrawn, IsEmpty());
}

TEST_F(SessionQuestionsTest, TrackerIsAskedWithinSpanOfQuestion) {
  FakeSpanSink sink;
  TraceContext trace =
      *TraceContext::Parse("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01");
  log_.answers = {Answer("allow0")};
  Ask(Question(1), ActiveSpan::Start(SpanKind::kInternal, "permission", trace));
  Run();
  EXPECT_EQ(log_.traces["AskPermission"], trace);
  const std::vector<Span> spans = sink.Take();
  ASSERT_THAT(spans, SizeIs(1));
  EXPECT_EQ(spans.front().context, trace);
}

TEST_F(SessionQuestionsTest, QuestionThatTrackerRefusesIsRejected) {
  log_.answers = {absl::InvalidArgumentError("too odd")};
  Ask(Question(1));
  Run();
  EXPECT_THAT(chosen_, ElementsAre("reject"));
  ASSERT_THAT(log_.log, SizeIs(1));
  EXPECT_THAT(MemberOf(log_.log[0], "message"),
              HasSubstr("\"Write it\", so it was not given: too odd"));
}

TEST_F(SessionQuestionsTest, TruncatedOptionsIncludeRejection) {
  log_.answers = {Answer("reject")};
  Ask(Question(1, /*options=*/40));
  Run();
  EXPECT_THAT(log_.asked[0].options(), SizeIs(16));
  EXPECT_EQ(log_.asked[0].options(15).option_id(), "reject");
  EXPECT_THAT(chosen_, ElementsAre("reject"));
}

// The agent may read such an id as an allowance.
TEST_F(SessionQuestionsTest, RejectionWithoutUniqueIdLosesItsKind) {
  for (const char* id : {"same", ""}) {
    SCOPED_TRACE(id);
    log_.asked.clear();
    log_.answers = {Answer("allow0")};
    PermissionQuestion question = Question(1, /*options=*/20);
    question.options[0] = {.id = id, .name = "no", .kind = "reject_once"};
    question.options[1] = {.id = id, .name = "yes", .kind = "allow_once"};
    Ask(question);
    Run();
    ASSERT_THAT(log_.asked, SizeIs(1));
    const auto& options = log_.asked[0].options();
    ASSERT_THAT(options, SizeIs(16));
    EXPECT_EQ(options[0].name(), "no");
    EXPECT_EQ(options[0].kind(), "");
    EXPECT_NE(options[0].option_id(), options[1].option_id());
    EXPECT_EQ(options[1].kind(), "allow_once");
    // A rejection with an id of its own is among the shown options.
    EXPECT_EQ(options[15].option_id(), "reject");
    EXPECT_EQ(options[15].kind(), "reject_once");
  }
}

TEST_F(SessionQuestionsTest, RefusedQuestionIsCancelledIfRejectionIsAmbiguous) {
  PermissionQuestion question = Question(1);
  question.options.push_back({.id = "reject", .name = "yes", .kind = "allow_always"});
  log_.answers = {absl::InvalidArgumentError("too odd"), absl::InvalidArgumentError("too odd")};
  Ask(question);
  Run();
  question.options.push_back({.id = "never", .name = "never", .kind = "reject_always"});
  Ask(question);
  Run();
  EXPECT_THAT(chosen_, ElementsAre("cancelled", "never"));
}

// Even if the questions are large.
TEST_F(SessionQuestionsTest, ManyOpenQuestionsNeedLittleMemory) {
  const auto in_use = [] { return mallinfo2().uordblks + mallinfo2().hblkhd; };
  const size_t before = in_use();
  for (int i = 1; i <= 60; ++i) {
    PermissionQuestion question = Question(i);
    const std::string much(size_t{1} << 20, 'x');
    question.details = {{"title", much}, {"rawInput", much}};
    question.tool_call.title = much;
    question.tool_call.raw_input = much;
    question.options.front().name = much;
    question.options.push_back({.id = much, .name = much, .kind = "allow_always"});
    questions_->Ask(question, absl::StrCat("acp-", i), /*parent_may_allow=*/false, {},
                    [this](const PermissionChoice& choice) {
                      chosen_.push_back(choice.value_or("cancelled"));
                    });
  }
  EXPECT_LT(in_use() - before, size_t{8} << 20);
  // The questions above the limit.
  EXPECT_THAT(chosen_, AllOf(SizeIs(60 - SessionQuestions::kMaxOpenQuestions), Each("reject")));
  log_.answers.assign(SessionQuestions::kMaxOpenQuestions, Answer("allow0"));
  Run();
  EXPECT_THAT(log_.asked, SizeIs(SessionQuestions::kMaxOpenQuestions));
  EXPECT_THAT(log_.asked[0].options(), SizeIs(2));
  EXPECT_THAT(chosen_, SizeIs(60));
  EXPECT_EQ(chosen_.back(), "allow0");
  EXPECT_TRUE(questions_->empty());
  ASSERT_FALSE(log_.log.empty());
  EXPECT_THAT(MemberOf(log_.log[0], "message"), HasSubstr("32 questions of the agent are open"));
  // There is room again.
  log_.answers = {Answer("reject")};
  Ask(Question(61));
  Run();
  EXPECT_EQ(chosen_.back(), "reject");
}

TEST_F(SessionQuestionsTest, WithdrawnQuestionIsNotAnswered) {
  log_.answers.assign(1'000, v1::Permission());
  Ask(Question(1));
  Ask(Question(2));
  questions_->Withdraw(1);
  questions_->Withdraw(1);
  EXPECT_FALSE(questions_->empty());
  questions_->WithdrawAll();
  EXPECT_TRUE(questions_->empty());
  log_.answers = {Answer("allow0"), Answer("allow0")};
  Run();
  EXPECT_THAT(log_.withdrawn, ElementsAre("acp-1", "acp-2"));
  EXPECT_THAT(chosen_, IsEmpty());
}

TEST_F(SessionQuestionsTest, NothingIsWithdrawnAfterRelease) {
  log_.answers = {Answer("allow0")};
  Ask(Question(1));
  questions_->Release();
  questions_->WithdrawAll();
  Run();
  EXPECT_THAT(log_.withdrawn, IsEmpty());
  EXPECT_THAT(chosen_, IsEmpty());
}

}  // namespace
}  // namespace callslip::runner
