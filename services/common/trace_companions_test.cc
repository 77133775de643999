#include "common/trace_companions.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace callslip {
namespace {

std::string Times(size_t count, char c) { return std::string(count, c); }

// `count` members that are `k<number>=<value>`.
std::string Numbered(int count, const std::string& value) {
  std::vector<std::string> members;
  for (int i = 0; i < count; ++i) members.push_back(absl::StrCat("k", i, "=", value));
  return absl::StrJoin(members, ",");
}

TEST(TracestateTest, IsForwardedUnchanged) {
  for (const std::string& text : std::vector<std::string>{
           "rojo=00f067aa0ba902b7",
           "rojo=00f067aa0ba902b7,congo=t61rcWkgMzE",
           "foo=1 , bar=2",
           "foo=1,,bar=2,",
           "a=1,a=1",
           "t@v=1",
           "0tenant-1_*/@v-1_*/=x y z",
           "a=!\"#$%&'()*+-./:;<>?@[]^_`{|}~",
           Times(256, 'z') + "=1",
           Times(241, 't') + "@" + Times(14, 'v') + "=1",
           "a=" + Times(256, 'v'),
           Numbered(32, "v"),
       }) {
    EXPECT_EQ(TracestateOf(text), text);
  }
  EXPECT_EQ(TracestateOf("  foo=1\t"), "foo=1");
}

TEST(TracestateTest, TabsAreReplacedBySpaces) {
  EXPECT_EQ(TracestateOf("foo=1 \t , \t bar=2"), "foo=1   ,   bar=2");
  EXPECT_EQ(BaggageOf("a=1\t;\tp=2\t,\tb = 3"), "a=1 ; p=2 , b = 3");
}

TEST(TracestateTest, IsDroppedWhenMalformed) {
  for (const std::string& text : std::vector<std::string>{"",
                                                          " ",
                                                          ",",
                                                          "foo",
                                                          "=1",
                                                          "foo=",
                                                          "foo =1",
                                                          "FOO=1",
                                                          "foo.bar=1",
                                                          "1foo=1",
                                                          "foo=1=2",
                                                          "foo@=1",
                                                          "@foo=1",
                                                          "foo@@bar=1",
                                                          "foo@bar@baz=1",
                                                          "foo@1=1",
                                                          "foo=b\u00e4r",
                                                          "foo=1\r\nx: y",
                                                          std::string("foo=\0", 5),
                                                          "foo=1,bar",
                                                          "foo=1;bar=2=3",
                                                          Times(257, 'z') + "=1",
                                                          Times(242, 't') + "@v=1",
                                                          "t@" + Times(15, 'v') + "=1",
                                                          "a=" + Times(257, 'v'),
                                                          Numbered(33, "v")}) {
    EXPECT_EQ(TracestateOf(text), "") << text;
  }
}

TEST(TracestateTest, TooLongTextKeepsWholeMembers) {
  const std::string longest = "l=" + Times(200, 'l');
  // Long members are removed first, then the last ones.
  const std::string short_ones = Numbered(10, Times(40, 's'));
  EXPECT_EQ(TracestateOf(absl::StrCat(longest, ",", short_ones)), short_ones);
  EXPECT_EQ(TracestateOf(Numbered(20, Times(40, 's'))), Numbered(11, Times(40, 's')));
  // No more members are removed than necessary.
  EXPECT_EQ(TracestateOf(absl::StrCat(longest, ",m=", Times(200, 'm'), ",n=", Times(200, 'n'))),
            absl::StrCat(longest, ",m=", Times(200, 'm')));
}

TEST(BaggageTest, IsForwardedUnchanged) {
  for (const std::string& text : std::vector<std::string>{
           "userId=alice",
           "key1=value1;property1;property2, key2 = value2, key3=value3; propertyKey=propertyValue",
           "a=", "a=1,a=1", "A.!#$%&'*+-^_`|~=1", "serverNode=DF%2028;x=1", "a=b=c/d:{}[]()",
           Numbered(180, "v"), "a=" + Times(kMaxBaggageBytes - 2, 'v')}) {
    EXPECT_EQ(BaggageOf(text), text);
  }
  EXPECT_EQ(BaggageOf("\t a=1 "), "a=1");
}

TEST(BaggageTest, IsDroppedWhenMalformed) {
  for (const std::string& text : std::vector<std::string>{
           "", " ", ",", "a", "=1", "a=1,", "a=1,,b=2", "a=\"1\"", "a=1 2", "a=1\\", "a b=1",
           "a=1;", "a=1;b c", "a=\u00e4", "a=1\r\nx: y", "(a)=1", std::string("a=\0", 3)}) {
    EXPECT_EQ(BaggageOf(text), "") << text;
  }
}

TEST(BaggageTest, TooLargeTextKeepsFirstMembers) {
  EXPECT_EQ(BaggageOf(Numbered(200, "v")), Numbered(180, "v"));
  const std::string kept = "a=" + Times(4000, 'a') + ",b=" + Times(4000, 'b');
  EXPECT_EQ(BaggageOf(kept + ",c=" + Times(400, 'c')), kept);
  EXPECT_EQ(BaggageOf("a=" + Times(kMaxBaggageBytes, 'v')), "");
  EXPECT_EQ(BaggageOf(Numbered(200, "v") + ",b a d"), "") << "also beyond what is kept";
}

}  // namespace
}  // namespace callslip
