#include "bridge/json_scan.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "bridge/limits.h"
#include "common/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace callslip::bridge {
namespace {

using ::testing::HasSubstr;

std::string Nested(int depth) { return std::string(depth, '[') + std::string(depth, ']'); }

TEST(CheckJsonTest, TakesValidTextOnly) {
  EXPECT_OK(CheckJson(R"( {"a":[1,"]",null]} )"));
  for (const char* text : {"", "{", "{} {}", "{'a':1}", "[1,]", "nul", "\"\xff\"", "\"\\ud800\""}) {
    EXPECT_FALSE(CheckJson(text).ok()) << text;
  }
}

TEST(CheckJsonTest, LimitsTheDepth) {
  EXPECT_OK(CheckJson(Nested(kMaxJsonDepth)));
  EXPECT_THAT(std::string(CheckJson(Nested(kMaxJsonDepth + 1)).message()), HasSubstr("deep"));
  EXPECT_FALSE(CheckJson(Nested(1'000'000)).ok());
  EXPECT_OK(CheckJson(absl::StrCat("\"", std::string(1000, '['), "\"")));
}

TEST(ObjectMembersTest, KeepsTheBytesOfValues) {
  const auto members = ObjectMembers(
      "\n{ \"a\" : 1.50 , \"b\":{\"x\":[\"}\\\"\"]},\"\\u0063\":\"\\u0041\" ,\"d\":true}");
  ASSERT_EQ(members.size(), 4u);
  EXPECT_EQ(FindMember(members, "a"), "1.50");
  EXPECT_EQ(FindMember(members, "b"), "{\"x\":[\"}\\\"\"]}");
  EXPECT_EQ(FindMember(members, "c"), "\"\\u0041\"");
  EXPECT_EQ(FindMember(members, "d"), "true");
  EXPECT_EQ(FindMember(members, "e"), std::nullopt);
}

TEST(ObjectMembersTest, OtherValuesHaveNone) {
  for (const char* text : {"", "{}", " { } ", "[1]", "\"{\"", "7"}) {
    EXPECT_TRUE(ObjectMembers(text).empty()) << text;
  }
}

TEST(JsonIntegerTest, HasNoFractionAndNoExponent) {
  for (const char* value :
       {"0", "-0", "-12", "9007199254740993", "123456789012345678901234567890"}) {
    EXPECT_TRUE(IsJsonInteger(value)) << value;
  }
  for (const char* value : {"", "-", "1.0", "1e3", "\"1\"", "true", "null"}) {
    EXPECT_FALSE(IsJsonInteger(value)) << value;
  }
}

TEST(DecodeJsonStringTest, ReadsEscapes) {
  EXPECT_EQ(DecodeJsonString(R"("")"), "");
  EXPECT_EQ(DecodeJsonString(R"("a\u0041\n\"")"), "aA\n\"");
  EXPECT_EQ(DecodeJsonString("7"), std::nullopt);
}

TEST(OnOneLineTest, DropsSpaceOutsideOfStringsOnly) {
  EXPECT_EQ(OnOneLine("{\n  \"a b\": [1,\r\n 2]\n}\n"), "{\"a b\":[1,2]}");
  EXPECT_EQ(OnOneLine("{\"a\": 1}\n"), "{\"a\": 1}");
}

}  // namespace
}  // namespace callslip::bridge
