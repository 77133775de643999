#include "runner/commands/prompt.h"

#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <deque>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "boost/asio/as_tuple.hpp"
#include "boost/asio/post.hpp"
#include "boost/asio/steady_timer.hpp"
#include "boost/asio/use_awaitable.hpp"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "support/call_answers.h"

namespace callslip::runner {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

// The updates of a watch, set by the test.
struct Updates {
  explicit Updates(boost::asio::io_context& context)
      : changed(context, boost::asio::steady_timer::time_point::max()) {}

  void Push(v1::SessionUpdate update) {
    waiting.push_back(std::move(update));
    changed.cancel();
  }

  std::deque<v1::SessionUpdate> waiting;
  boost::asio::steady_timer changed;
};

class UpdateStream final : public MessageSource {
 public:
  explicit UpdateStream(Updates* updates) : updates_(updates) {}

  boost::asio::awaitable<absl::StatusOr<bool>> Next(google::protobuf::Message* message) override {
    while (updates_->waiting.empty()) {
      co_await updates_->changed.async_wait(boost::asio::as_tuple(boost::asio::use_awaitable));
    }
    message->CopyFrom(updates_->waiting.front());
    updates_->waiting.pop_front();
    co_return true;
  }

 private:
  Updates* const updates_;
};

// A tracker that accepts all requests, except the answers in `refusals`.
class FakeCalls final : public TrackerCalls, private CallAnswers {
 public:
  explicit FakeCalls(boost::asio::io_context& context) : updates(context) {
    On<v1::CreateSessionRequest>([](const v1::CreateSessionRequest& request) {
      v1::Session session;
      session.set_session_id(request.session_id());
      return session;
    });
    On<v1::EndSessionRequest>([](const auto&) { return v1::Session(); });
    On<v1::AddMessageRequest>([](const auto&) { return v1::QueuedMessage(); });
    On<v1::AnswerPermissionRequest>(
        [this](const v1::AnswerPermissionRequest& request) -> absl::StatusOr<v1::Permission> {
          answers.push_back(absl::StrCat(request.permission_id(), " ", request.option_id()));
          if (refusals.empty()) return v1::Permission();
          absl::Status refusal = std::move(refusals.front());
          refusals.pop_front();
          if (while_refused != nullptr) while_refused();
          return refusal;
        });
    On<v1::StopTurnRequest>([this](const auto&) {
      ++stops;
      return v1::QueueStatus();
    });
  }

  void EndCalls() override {}

  Updates updates;
  std::vector<std::string> answers;
  std::deque<absl::Status> refusals;  // Of the next answers.
  std::function<void()> while_refused;
  int stops = 0;

 protected:
  boost::asio::awaitable<absl::Status> Send(const google::protobuf::MethodDescriptor&,
                                            const google::protobuf::Message& request,
                                            CallOptions options,
                                            google::protobuf::Message* response) override {
    const absl::Status answered = Answer(request, options, response);
    if (!answered.ok()) {
      const auto executor = co_await boost::asio::this_coro::executor;
      co_await boost::asio::post(executor, boost::asio::use_awaitable);
    }
    co_return answered;
  }
  std::unique_ptr<MessageSource> Begin(const google::protobuf::MethodDescriptor&,
                                       const google::protobuf::Message&) override {
    return std::make_unique<UpdateStream>(&updates);
  }
};

class PromptTest : public testing::Test {
 protected:
  PromptTest() {
    EXPECT_EQ(pipe(input_), 0);
    prompt_ = std::make_shared<Prompt>(context_, &calls_, out_, err_, input_[0]);
    prompt_->Start({"s", "agent", "/web", "go"}, [this](int code) { code_ = code; });
    calls_.updates.Push(Turn(""));
    Run();
  }
  ~PromptTest() override {
    // The coroutine that waits for a line keeps the prompt alive.
    prompt_ = nullptr;
    CloseInput();
    context_.poll();
    close(input_[0]);
    std::fclose(out_);
    std::fclose(err_);
    free(said_);
    free(shown_);
  }

  static v1::SessionUpdate Turn(const std::string& outcome) {
    v1::SessionUpdate update;
    update.mutable_turn()->set_outcome(outcome);
    return update;
  }
  static v1::SessionUpdate Question(const std::string& id) {
    v1::SessionUpdate update;
    v1::Permission& permission = *update.mutable_permission();
    permission.set_permission_id(id);
    permission.set_title(absl::StrCat("May I ", id));
    for (const char* option : {"yes", "no"}) {
      auto& to = *permission.add_options();
      to.set_option_id(option);
      to.set_name(option);
    }
    return update;
  }
  void Tell(v1::SessionUpdate update) {
    calls_.updates.Push(std::move(update));
    Run();
  }
  void Type(const std::string& text) {
    ASSERT_EQ(write(input_[1], text.data(), text.size()), static_cast<ssize_t>(text.size()));
    Run();
  }
  void CloseInput() {
    if (input_[1] >= 0) close(std::exchange(input_[1], -1));
  }
  // Until nothing is ready any more.
  void Run() {
    while (context_.poll() > 0) {
    }
  }
  std::string Said() {
    std::fflush(err_);
    return {said_, said_bytes_};
  }

  boost::asio::io_context context_{1};
  FakeCalls calls_{context_};
  char* said_ = nullptr;
  size_t said_bytes_ = 0;
  char* shown_ = nullptr;
  size_t shown_bytes_ = 0;
  std::FILE* out_ = open_memstream(&shown_, &shown_bytes_);
  std::FILE* err_ = open_memstream(&said_, &said_bytes_);
  int input_[2] = {-1, -1};
  std::shared_ptr<Prompt> prompt_;
  int code_ = -1;
};

TEST_F(PromptTest, QuestionsAreAskedOneAfterAnother) {
  Tell(Question("one"));
  Tell(Question("two"));
  EXPECT_THAT(Said(), Not(HasSubstr("May I two")));
  Type("2\n");
  EXPECT_THAT(calls_.answers, ElementsAre("one no"));
  EXPECT_THAT(Said(), HasSubstr("? May I two\n  1 yes\n  2 no\n1 to 2?\n"));
  Type("3\nperhaps\n1\n");
  EXPECT_THAT(calls_.answers, ElementsAre("one no", "two yes"));
  Tell(Turn("completed"));
  EXPECT_EQ(code_, 0);
}

TEST_F(PromptTest, InputNeverAnswersQuestionThatIsOver) {
  for (const bool is_answered : {true, false}) {
    v1::SessionUpdate over = Question("one");
    Tell(over);
    Tell(Question("two"));
    over.mutable_permission()->set_answered(is_answered);
    over.mutable_permission()->set_cancelled(!is_answered);
    Tell(over);
    EXPECT_THAT(Said(), HasSubstr(is_answered ? "answered elsewhere: May I one"
                                              : "no answer is wanted any more: May I one"));
    EXPECT_THAT(Said(), HasSubstr("? May I two\n"));
    Type("1\n");
    EXPECT_THAT(calls_.answers, ElementsAre("two yes"));
    calls_.answers.clear();
  }
}

TEST_F(PromptTest, QuestionThatIsOverBeforeItsTurnIsNotAsked) {
  Tell(Question("one"));
  v1::SessionUpdate over = Question("two");
  Tell(over);
  over.mutable_permission()->set_cancelled(true);
  Tell(over);
  Type("1\n");
  EXPECT_THAT(calls_.answers, ElementsAre("one yes"));
  EXPECT_THAT(Said(), Not(HasSubstr("two")));
}

TEST_F(PromptTest, LastLineNeedsNoLineBreak) {
  Tell(Question("one"));
  Type(std::string(3'000, 'x') + "\n1");
  EXPECT_THAT(calls_.answers, IsEmpty());
  CloseInput();
  Run();
  EXPECT_THAT(calls_.answers, ElementsAre("one yes"));
}

TEST_F(PromptTest, NoPartOfLongLineIsAnAnswer) {
  Tell(Question("one"));
  Type(std::string(2'048, 'x') + "1\n");
  EXPECT_THAT(calls_.answers, IsEmpty());
  // Nor if the question changes in the middle of the line.
  Type(std::string(2'048, 'x'));
  v1::SessionUpdate over = Question("one");
  over.mutable_permission()->set_cancelled(true);
  Tell(over);
  Tell(Question("two"));
  Type("1\n");
  EXPECT_THAT(calls_.answers, IsEmpty());
  Type("1\n");
  EXPECT_THAT(calls_.answers, ElementsAre("two yes"));
}

TEST_F(PromptTest, QuestionIsAskedAgainWhenAnswerIsRefused) {
  calls_.refusals = {absl::ResourceExhaustedError("the disk is behind"),
                     absl::UnavailableError("connection lost")};
  Tell(Question("one"));
  Tell(Question("two"));
  Type("1\n2\n");
  EXPECT_THAT(Said(), HasSubstr("the disk is behind\n1 to 2?\n"));
  EXPECT_THAT(Said(), HasSubstr("connection lost\n1 to 2?\n"));
  EXPECT_THAT(Said(), Not(HasSubstr("May I two")));
  Type("1\n");
  EXPECT_THAT(calls_.answers, ElementsAre("one yes", "one no", "one yes"));
  EXPECT_THAT(Said(), HasSubstr("May I two"));
}

TEST_F(PromptTest, QuestionThatIsOverIsNotAskedAgain) {
  for (const absl::Status& refusal :
       {absl::NotFoundError("no such permission"), absl::FailedPreconditionError("answered before"),
        absl::UnavailableError("was recorded")}) {
    calls_.refusals = {refusal};
    calls_.while_refused = [&] {
      if (!absl::IsUnavailable(refusal)) return;
      v1::SessionUpdate over = Question("one");
      over.mutable_permission()->set_answered(true);
      calls_.updates.Push(std::move(over));
    };
    calls_.answers.clear();
    Tell(Question("one"));
    Tell(Question("two"));
    Type("1\n");
    EXPECT_THAT(Said(), HasSubstr("May I two"));
    Type("2\n");
    EXPECT_THAT(calls_.answers, ElementsAre("one yes", "two no"));
  }
}

TEST_F(PromptTest, AgentTextDoesNotControlTheTerminal) {
  v1::SessionUpdate question = Question("one");
  question.mutable_permission()->set_title("rm -rf ~ #\r\x1b[2K? list-files\n  1 no");
  question.mutable_permission()->mutable_options(0)->set_name("no\x1b[1A");
  Tell(question);
  EXPECT_THAT(Said(),
              HasSubstr("? rm -rf ~ #\\x0d\\x1b[2K? list-files\\x0a  1 no\n  1 no\\x1b[1A\n"));
  v1::SessionUpdate text;
  text.mutable_event()->set_type("agent_message");
  text.mutable_event()->set_data(R"({"text": "\u001b]0;x\u0007two\n\tlines\n"})");
  Tell(text);
  std::fflush(out_);
  EXPECT_EQ(std::string(shown_, shown_bytes_), "\\x1b]0;x\\x07two\n\tlines\n");
  v1::SessionUpdate error;
  error.mutable_event()->set_type("error");
  error.mutable_event()->set_data(R"({"message": "gone \u009bm"})");
  Tell(error);
  v1::SessionUpdate call;
  call.mutable_event()->set_type("tool_call");
  call.mutable_event()->set_data(R"({"title": "ls\n? yes"})");
  Tell(call);
  EXPECT_THAT(Said(), HasSubstr("gone \\x9bm\n* ls\\x0a? yes\n"));
  question.mutable_permission()->set_cancelled(true);
  Tell(question);
  EXPECT_THAT(Said(), HasSubstr("wanted any more: rm -rf ~ #\\x0d"));
}

TEST_F(PromptTest, TurnIsStoppedWhenNoUserCanAnswer) {
  CloseInput();
  Tell(Question("one"));
  EXPECT_THAT(Said(), HasSubstr("no user can answer here"));
  EXPECT_THAT(calls_.answers, IsEmpty());
  EXPECT_EQ(calls_.stops, 1);
  Tell(Turn("cancelled"));
  EXPECT_EQ(code_, 1);
}

}  // namespace
}  // namespace callslip::runner
