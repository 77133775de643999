#include "common/log.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace callslip {
namespace {

using ::testing::HasSubstr;

class LogTest : public testing::Test {
 protected:
  LogTest() { InitLogging("test", "info"); }
  ~LogTest() override { InitLogging("test", "error"); }

  // The line of an event with this text.
  static std::string LineWith(const std::string& text) {
    testing::internal::CaptureStderr();
    Log(LogLevel::kInfo, "event", {{"text", text}});
    return testing::internal::GetCapturedStderr();
  }
};

TEST_F(LogTest, LineSeparatorsAreEscaped) {
  EXPECT_THAT(LineWith("a\xE2\x80\xA8"
                       "b\xE2\x80\xA9"
                       "c\nd\"\\"),
              HasSubstr(R"("text":"a\u2028b\u2029c\u000ad\"\\"})"));
  EXPECT_THAT(LineWith("\xE2\x80\x9E"), HasSubstr("\"text\":\"\xE2\x80\x9E\"}"));
}

TEST_F(LogTest, LineIsUtf8) {
  EXPECT_THAT(LineWith("a\xFF"
                       "b\xE2\x80"),
              HasSubstr("\"text\":\"a\xEF\xBF\xBD"
                        "b\xEF\xBF\xBD\"}"));
}

}  // namespace
}  // namespace callslip
