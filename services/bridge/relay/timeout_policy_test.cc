#include "bridge/relay/timeout_policy.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "common/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace callslip::bridge {
namespace {

using ::testing::HasSubstr;

absl::Duration TimeoutOf(const std::string& method, const std::string& params) {
  const TimeoutPolicy policy{CallTimes()};
  return policy.TimeoutOf(policy.ClassOf(ParseMessage(absl::StrCat(
      R"({"jsonrpc":"2.0","id":1,"method":")", method, R"(","params":)", params, "}"))));
}

absl::Duration TimeoutOfTool(const std::string& tool, const std::string& arguments) {
  return TimeoutOf("tools/call",
                   absl::StrCat(R"({"name":")", tool, R"(","arguments":)", arguments, "}"));
}

TEST(TimeoutPolicyTest, AnnotationResultsAreBlocking) {
  EXPECT_EQ(TimeoutOfTool("observe", R"({"what":"command_result","correlation_id":"ann_1_a"})"),
            absl::Seconds(65));
}

TEST(TimeoutPolicyTest, TaskResultsAreBlocking) {
  EXPECT_EQ(TimeoutOf("tasks/result", R"({"taskId":"corr-1-a"})"), absl::Seconds(65));
}

TEST(TimeoutPolicyTest, OtherObservationsAreFast) {
  for (const char* arguments :
       {R"({"what":"command_result","correlation_id":"corr-1-a"})",
        R"({"what":"command_result","correlation_id":"xann_1"})", R"({"what":"command_result"})",
        R"({"what":"pending_commands","correlation_id":"ann_1_a"})",
        R"({"correlation_id":"ann_1_a"})", "{}"}) {
    EXPECT_EQ(TimeoutOfTool("observe", arguments), absl::Seconds(10)) << arguments;
  }
}

TEST(TimeoutPolicyTest, InteractIsSlow) {
  EXPECT_EQ(TimeoutOfTool("interact", R"({"action":"click"})"), absl::Seconds(35));
  EXPECT_EQ(TimeoutOfTool("interact", R"({"what":"command_result","correlation_id":"ann_1"})"),
            absl::Seconds(35));
}

TEST(TimeoutPolicyTest, AnalyzeIsSlow) {
  EXPECT_EQ(TimeoutOfTool("analyze", R"({"what":"annotations","wait":true})"), absl::Seconds(35));
}

TEST(TimeoutPolicyTest, CallWithLongWaitIsSlow) {
  EXPECT_EQ(TimeoutOfTool("observe", R"({"what":"command_result","wait_ms":8001})"),
            absl::Seconds(35));
  EXPECT_EQ(TimeoutOfTool("anything", R"({"wait_ms":60000})"), absl::Seconds(35));
}

TEST(TimeoutPolicyTest, CallWithShortWaitIsFast) {
  EXPECT_EQ(TimeoutOfTool("observe", R"({"what":"command_result","wait_ms":8000})"),
            absl::Seconds(10));
}

TEST(TimeoutPolicyTest, SessionWaitIsSlow) {
  EXPECT_EQ(TimeoutOfTool("session", R"({"what":"wait","session_id":"s"})"), absl::Seconds(35));
  EXPECT_EQ(TimeoutOfTool("session", R"({"what":"read","session_id":"s"})"), absl::Seconds(10));
  for (const char* what : {"new", "answer"}) {
    const std::string call = absl::StrCat(R"({"what":")", what, R"(")");
    EXPECT_EQ(TimeoutOfTool("session", call + "}"), absl::Seconds(10)) << what;
    EXPECT_EQ(TimeoutOfTool("session", call + R"(,"wait_ms":30000})"), absl::Seconds(35)) << what;
  }
}

Message ToolCallOf(const std::string& tool, const std::string& arguments) {
  return ParseMessage(
      absl::StrCat(R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":")", tool,
                   R"(","arguments":)", arguments, "}}"));
}

TEST(TimeoutPolicyTest, CallsHeldByGatewayCountAsWaits) {
  const TimeoutPolicy policy{CallTimes()};
  const auto may_wait = [&](const std::string& tool, const std::string& arguments) {
    return policy.MayWait(ToolCallOf(tool, arguments));
  };
  EXPECT_TRUE(may_wait("session", R"({"what":"wait"})"));
  EXPECT_TRUE(may_wait("observe", R"({"what":"command_result","correlation_id":"ann_1"})"));
  EXPECT_TRUE(may_wait("interact", R"({"wait_ms":1})"));
  EXPECT_FALSE(may_wait("interact", R"({"wait_ms":0})"));
  EXPECT_FALSE(may_wait("interact", "{}"));
  EXPECT_FALSE(may_wait("session", R"({"what":"list"})"));
  EXPECT_FALSE(may_wait("observe", R"({"what":"command_result","correlation_id":"corr-1"})"));
}

TEST(TimeoutPolicyTest, ShorterUserTimesShortenGatewayWaits) {
  const TimeoutPolicy shorter({.fast = {absl::Seconds(5), absl::Seconds(2)},
                               .slow = {absl::Seconds(8), absl::Seconds(5)},
                               .blocking = {absl::Seconds(12), absl::Seconds(8)}});
  const auto wait = [&](const TimeoutPolicy& policy, const std::string& tool,
                        const std::string& arguments) {
    return policy.ShorterWaitFor(ToolCallOf(tool, arguments)).value_or(absl::ZeroDuration());
  };
  EXPECT_EQ(wait(shorter, "interact", R"({"wait_ms":30000})"), absl::Seconds(5));
  EXPECT_EQ(wait(shorter, "session", R"({"what":"wait"})"), absl::Seconds(5));
  EXPECT_EQ(wait(shorter, "observe", R"({"what":"command_result","correlation_id":"ann_1"})"),
            absl::Seconds(8));
  EXPECT_EQ(wait(shorter, "observe", R"({"what":"command_result","wait_ms":9000})"),
            absl::Seconds(5));
  // These waits are not too long.
  EXPECT_EQ(wait(shorter, "interact", R"({"wait_ms":5000})"), absl::ZeroDuration());
  EXPECT_EQ(wait(shorter, "interact", "{}"), absl::ZeroDuration());
  // This wait is too long for the gateway too, which reports the error itself.
  const TimeoutPolicy usual{CallTimes()};
  EXPECT_EQ(wait(usual, "interact", R"({"wait_ms":60000})"), absl::ZeroDuration());
  EXPECT_EQ(wait(usual, "session", R"({"what":"wait"})"), absl::ZeroDuration());
}

TEST(TimeoutPolicyTest, EverythingElseIsFast) {
  EXPECT_EQ(TimeoutOfTool("configure", "{}"), absl::Seconds(10));
  for (const char* method : {"initialize", "ping", "tools/list", "interact", "tasks/get"}) {
    EXPECT_EQ(TimeoutOf(method, R"({"name":"interact","arguments":{"wait_ms":60000}})"),
              absl::Seconds(10))
        << method;
  }
}

TEST(CheckNestingTest, DefaultsNest) { EXPECT_OK(CheckNesting(CallTimes())); }

TEST(CheckNestingTest, TimeoutsMustIncrease) {
  CallTimes times;
  times.slow.timeout = times.blocking.timeout;
  EXPECT_THAT(std::string(CheckNesting(times).message()), HasSubstr("--timeout-slow <"));
}

TEST(CheckNestingTest, EachTimeoutMustExceedServerWait) {
  CallTimes times;
  times.blocking.timeout = absl::Seconds(56);
  EXPECT_EQ(CheckNesting(times).message(),
            "--timeout-blocking (56s) must exceed --server-wait-blocking (55s) by at least 2s");
  times.blocking.timeout = absl::Seconds(57);
  EXPECT_OK(CheckNesting(times));
  times.fast.server_wait = absl::Seconds(9);
  EXPECT_FALSE(CheckNesting(times).ok());
}

TEST(CheckNestingTest, NoMarginIsNeededWithoutServerWaits) {
  const absl::Duration none = absl::ZeroDuration();
  EXPECT_OK(CheckNesting({.fast = {absl::Milliseconds(200), none},
                          .slow = {absl::Milliseconds(300), none},
                          .blocking = {absl::Milliseconds(400), none}}));
}

}  // namespace
}  // namespace callslip::bridge
