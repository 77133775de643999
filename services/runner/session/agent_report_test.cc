#include "runner/session/agent_report.h"

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "boost/asio/io_context.hpp"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runner/fake_timers.h"
#include "runner/session/fake_tracker.h"

namespace callslip::runner {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class AgentReportTest : public testing::Test {
 protected:
  void Run() {
    context_.restart();
    context_.poll();
  }
  void Pass(absl::Duration time) {
    Run();
    timers_.Advance(time);
    Run();
  }
  // Status, reason and details of each report.
  std::vector<std::string> Told() const {
    std::vector<std::string> told;
    for (const v1::SetAgentStateRequest& state : tracker_.states) {
      told.push_back(absl::StrCat(state.status(), " ", state.reason(), " ", state.details()));
    }
    return told;
  }
  // The answers to controls: id and reason.
  std::vector<std::string> Answers() const {
    std::vector<std::string> answers;
    for (const v1::AnswerControlRequest& answer : tracker_.controls) {
      answers.push_back(absl::StrCat(answer.control_id(), " ", answer.error_reason()));
    }
    return answers;
  }

  boost::asio::io_context context_;
  FakeTimers timers_;
  FakeTracker tracker_;
  std::string details_ = "a";
  int told_ = 0;
  const std::shared_ptr<AgentReport> report_ = std::make_shared<AgentReport>(
      context_.get_executor(), &tracker_, &timers_, SessionName{"client", "session", 7},
      [this](v1::SetAgentStateRequest& state) { state.set_details(details_); },
      [this] { ++told_; });
};

TEST_F(AgentReportTest, ReportsOnlyNewestStateWhenTrackerIsSlow) {
  tracker_.is_away = true;
  report_->ReportStatus(v1::AGENT_STATUS_STARTING);
  EXPECT_TRUE(report_->is_telling());
  Run();
  report_->ReportStatus(v1::AGENT_STATUS_IDLE);
  details_ = "b";
  report_->ReportStatus(v1::AGENT_STATUS_STOPPED, {"agent_crashed", "it has ended"});
  tracker_.is_away = false;
  Pass(absl::Seconds(1));
  EXPECT_THAT(Told(), ElementsAre(absl::StrCat(v1::AGENT_STATUS_STARTING, "  a"),
                                  absl::StrCat(v1::AGENT_STATUS_STARTING, "  a"),
                                  absl::StrCat(v1::AGENT_STATUS_STOPPED, " agent_crashed b")));
  EXPECT_EQ(tracker_.states.back().lease(), 7);
  EXPECT_FALSE(report_->is_telling());
  EXPECT_EQ(told_, 1);
}

TEST_F(AgentReportTest, SayAgainRepeatsLastReport) {
  report_->SayAgain();
  Run();
  EXPECT_THAT(Told(), IsEmpty());
  report_->ReportStatus(v1::AGENT_STATUS_IDLE, {"agent_silent", "nothing"});
  Run();
  details_ = "b";
  report_->SayAgain();
  Pass(AgentReport::kEvery);
  EXPECT_EQ(Told().back(), absl::StrCat(v1::AGENT_STATUS_IDLE, " agent_silent b"));
}

TEST_F(AgentReportTest, FrequentlyChangingDetailsAreReportedAtIntervals) {
  report_->ReportStatus(v1::AGENT_STATUS_IDLE);
  for (int i = 0; i < 1'000; ++i) {
    details_ = absl::StrCat(i);
    report_->SayAgain();
    Pass(absl::Milliseconds(1));
  }
  EXPECT_THAT(Told(), testing::SizeIs(testing::AllOf(testing::Ge(4), testing::Le(5))));
  // The newest is not lost.
  Pass(AgentReport::kEvery);
  EXPECT_EQ(Told().back(), absl::StrCat(v1::AGENT_STATUS_IDLE, "  999"));
  EXPECT_FALSE(report_->is_telling());
  Pass(absl::Hours(1));
  const size_t told = Told().size();
  EXPECT_LE(told, 6);
  // Important changes are reported at once, even during a pause.
  report_->SayAgain();
  Run();
  report_->SayAgain();
  Run();
  EXPECT_EQ(Told().size(), told + 1);
  report_->ReportStatus(v1::AGENT_STATUS_IDLE, {"agent_silent", "nothing"});
  Run();
  EXPECT_EQ(Told().size(), told + 2);
  report_->ReportStatus(v1::AGENT_STATUS_STOPPING);
  Run();
  EXPECT_EQ(Told().size(), told + 3);
  report_->SayAgainAtOnce();
  Run();
  EXPECT_EQ(Told().size(), told + 4);
  report_->SayAgain();
  report_->Release();
  Run();
  EXPECT_FALSE(report_->is_telling());
  EXPECT_EQ(Told().size(), told + 4);
}

TEST_F(AgentReportTest, AnswersWaitingControlsTogetherOrAfterTimeout) {
  report_->AnswerLater("one");
  report_->AnswerLater("two");
  Pass(AgentReport::kControlTime - absl::Seconds(1));
  EXPECT_THAT(Answers(), IsEmpty());
  report_->AnswerWaiting({"agent_crashed", "it has ended"});
  Run();
  EXPECT_THAT(Answers(), ElementsAre("one agent_crashed", "two agent_crashed"));
  report_->AnswerLater("three");
  report_->Answer("four");
  Pass(AgentReport::kControlTime - absl::Seconds(1));
  EXPECT_THAT(Answers(), ElementsAre("one agent_crashed", "two agent_crashed", "four "));
  Pass(absl::Seconds(1));
  EXPECT_EQ(Answers().back(), "three ");
}

TEST_F(AgentReportTest, ReportsNothingAfterRelease) {
  tracker_.is_away = true;
  report_->ReportStatus(v1::AGENT_STATUS_STARTING);
  Run();
  report_->Release();
  report_->ReportStatus(v1::AGENT_STATUS_STOPPING);
  Pass(absl::Seconds(10));
  EXPECT_THAT(Told(), ElementsAre(absl::StrCat(v1::AGENT_STATUS_STARTING, "  a"),
                                  absl::StrCat(v1::AGENT_STATUS_STARTING, "  a")));
  EXPECT_FALSE(report_->is_telling());
}

}  // namespace
}  // namespace callslip::runner
