#include "common/json_scan.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "common/json_string.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace callslip {
namespace {

using ::testing::HasSubstr;

bool IsValid(const std::string& text) { return ScanJson(text).error.empty(); }

std::string Nested(int depth) { return std::string(depth, '[') + std::string(depth, ']'); }

TEST(ScanJsonTest, AcceptsValidTextOnly) {
  EXPECT_TRUE(IsValid(R"( {"a":[1,"]",null]} )"));
  for (const char* text : {"", "{", "{} {}", "{'a':1}", "[1,]", "nul", "\"\xff\"", "\"\\ud800\""}) {
    EXPECT_FALSE(IsValid(text)) << text;
  }
}

// Each text with each of its bytes omitted, doubled or replaced; not by NUL, which ends the text
// for the other parser.
TEST(ScanJsonTest, AgreesWithAnotherParser) {
  const std::string texts[] = {
      R"({"a":[1,-0.5e+1,true,false,null,{}],"b":{"c":[]}, "d" : "e\u00e4\ud83d\ude00\n"})",
      "[\"\xc2\x80\xe0\xa0\x80\xed\x9f\xbf\xee\x80\x80\xf0\x90\x80\x80\xf4\x8f\xbf\xbf\"]",
      " -0 ",
      "[1e308,-1.5E+307,1e-400]",
      "-1" + std::string(205, '0') + ".5e99",
      "\t12.75E-3\r\n",
      R"({"b":{"long":"0123456789abcdefghijklm","c":[1,{}]}})",
      "[[],[[]],{\"\":\"\\\"\\\\/\"}]"};
  const auto compare = [](const std::string& text) {
    const bool is_valid = nlohmann::json::accept(text);
    EXPECT_EQ(IsValid(text), is_valid) << text;
    EXPECT_EQ(ScanJson(text, /*into=*/"b").error.empty(), is_valid) << text;
  };
  for (const std::string& text : texts) {
    EXPECT_TRUE(IsValid(text));
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

TEST(ScanJsonTest, LimitsDepth) {
  EXPECT_TRUE(IsValid(Nested(kMaxScannedDepth)));
  EXPECT_THAT(std::string(ScanJson(Nested(kMaxScannedDepth + 1)).error), HasSubstr("deep"));
  EXPECT_TRUE(ScanJson(Nested(3), {}, /*max_depth=*/3).error.empty());
  EXPECT_FALSE(ScanJson(Nested(4), {}, /*max_depth=*/3).error.empty());
  EXPECT_FALSE(IsValid(Nested(1'000'000)));
  EXPECT_TRUE(IsValid(absl::StrCat("\"", std::string(1000, '['), "\"")));
}

TEST(ScanJsonTest, KeepsBytesOfValues) {
  const std::string text =
      "\n{ \"a\" : 1.50 , \"b\":{\"x\":[\"}\\\"\"]},\"\\u0063\":\"\\u0041\" ,\"d\":true}";
  const auto members = ScanJson(text).members;
  ASSERT_EQ(members.size(), 4u);
  EXPECT_EQ(members[2].key, "\"\\u0063\"");
  EXPECT_EQ(FindMember(members, "a"), "1.50");
  EXPECT_EQ(FindMember(members, "b"), "{\"x\":[\"}\\\"\"]}");
  EXPECT_EQ(FindMember(members, "c"), "\"\\u0041\"");
  EXPECT_EQ(FindMember(members, "d"), "true");
  EXPECT_EQ(FindMember(members, "e"), std::nullopt);
}

TEST(ScanJsonTest, EmptyObjectsAndOtherValuesHaveNoMembers) {
  for (const char* text : {"", "{}", " { } ", "[1]", "[{\"a\":1}]", "\"{\"", "7"}) {
    EXPECT_TRUE(ScanJson(text).members.empty()) << text;
  }
}

TEST(ScanJsonTest, ScansIntoObjectsOfOneMember) {
  const std::string text =
      R"({"x":{"a":0},"p\u0061rams":{"a":1,"b":{"c":{"d":2},"e":[{"f":3}]},"g":[{"a":4}],"h":{}},)"
      R"("a":5})";
  const JsonScan scan = ScanJson(text, /*into=*/"params");
  EXPECT_EQ(FindMember(scan.members, "a"), "5");
  EXPECT_TRUE(InnerMembers(scan.members, "x").empty());
  EXPECT_TRUE(InnerMembers(scan.members, "a").empty());
  EXPECT_TRUE(InnerMembers(scan.members, "y").empty());
  const JsonMembers params = InnerMembers(scan.members, "params");
  EXPECT_EQ(FindMember(params, "a"), "1");
  EXPECT_EQ(FindMember(params, "c"), std::nullopt);
  EXPECT_EQ(FindMember(params, "h"), "{}");
  EXPECT_TRUE(InnerMembers(params, "g").empty());
  EXPECT_TRUE(InnerMembers(params, "h").empty());
  const JsonMembers b = InnerMembers(params, "b");
  ASSERT_EQ(b.size(), 2u);
  EXPECT_EQ(FindMember(b, "c"), "{\"d\":2}");
  EXPECT_EQ(FindMember(b, "e"), "[{\"f\":3}]");
}

TEST(ScanJsonTest, DoesNotScanIntoArrays) {
  const JsonScan scan = ScanJson(R"({"params":[{"a":1}]})", /*into=*/"params");
  EXPECT_EQ(scan.members.size(), 1u);
}

TEST(HasDuplicatesTest, ComparesDecodedNames) {
  EXPECT_TRUE(HasDuplicates(ScanJson(R"({"a":1,"b":2,"\u0061":3})").members));
  EXPECT_TRUE(HasDuplicates(ScanJson(R"({"\u0061":1,"\u0061":3})").members));
  EXPECT_FALSE(HasDuplicates(ScanJson(R"({"a":1,"b":{"a":2},"\u0063":3})", "b").members));
}

TEST(JsonIntegerTest, HasNoFractionOrExponent) {
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

TEST(OnOneLineTest, DropsWhitespaceOutsideStringsOnly) {
  EXPECT_EQ(OnOneLine("{\n  \"a b\": [1,\r\n 2]\n}\n"), "{\"a b\":[1,2]}");
  EXPECT_EQ(OnOneLine("{\"a\": 1}\n"), "{\"a\": 1}");
}

}  // namespace
}  // namespace callslip
