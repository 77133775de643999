#include "bridge/json_scan.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "bridge/limits.h"
#include "common/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

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

// Each text with each of its bytes left out, doubled or replaced; not by NUL, which ends the text
// for the other parser.
TEST(CheckJsonTest, AgreesWithAnotherParser) {
  const std::string texts[] = {
      R"({"a":[1,-0.5e+1,true,false,null,{}],"b":{"c":[]}, "d" : "e\u00e4\ud83d\ude00\n"})",
      "[\"\xc2\x80\xe0\xa0\x80\xed\x9f\xbf\xee\x80\x80\xf0\x90\x80\x80\xf4\x8f\xbf\xbf\"]", " -0 ",
      "\t12.75E-3\r\n", "[[],[[]],{\"\":\"\\\"\\\\/\"}]"};
  const auto compare = [](const std::string& text) {
    EXPECT_EQ(CheckJson(text).ok(), nlohmann::json::accept(text)) << text;
  };
  for (const std::string& text : texts) {
    EXPECT_OK(CheckJson(text));
    for (size_t at = 0; at < text.size(); ++at) {
      compare(text.substr(0, at));
      compare(text.substr(0, at) + text.substr(at + 1));
      compare(text.substr(0, at) + text[at] + text.substr(at));
      for (int byte = 1; byte < 256; ++byte) {
        std::string changed = text;
        changed[at] = static_cast<char>(byte);
        compare(changed);
      }
    }
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
