#include "bridge/http/token.h"

#include <string>

#include "common/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace callslip::bridge {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(FindTokenTest, AcceptsSingleWord) {
  for (const char* text : {"secret", "secret\n", " \n secret\r\n"}) {
    ASSERT_OK_AND_ASSIGN(const std::string token, FindToken(text));
    EXPECT_EQ(token, "secret");
  }
}

TEST(FindTokenTest, TakesFirstClientInGatewayTokenFile) {
  ASSERT_OK_AND_ASSIGN(const std::string token,
                       FindToken("# client comment here\nadmin root secret-0\nclient a secret-1\r\n"
                                 "client b secret-2\nsession-key - secret-3\n"));
  EXPECT_EQ(token, "secret-1");
}

TEST(FindTokenTest, RefusesTextWithoutTokenAndDoesNotQuoteIt) {
  for (const std::string& text : {std::string(), std::string(" \n"), std::string("two secrets"),
                                  std::string("worker extension secret\n"),
                                  std::string("client secret\n"), std::string("secret\x01"),
                                  std::string("s\xC3\xA4"
                                              "cret"),
                                  std::string(2000, 's')}) {
    EXPECT_THAT(
        std::string(FindToken(text).status().message()),
        AllOf(HasSubstr("client NAME TOKEN"), Not(HasSubstr("secret")), Not(HasSubstr("sss"))))
        << text;
  }
}

TEST(ReadTokenFileTest, ErrorNamesMissingFile) {
  EXPECT_THAT(std::string(ReadTokenFile("/nonexistent/tokens").status().message()),
              HasSubstr("/nonexistent/tokens"));
}

}  // namespace
}  // namespace callslip::bridge
