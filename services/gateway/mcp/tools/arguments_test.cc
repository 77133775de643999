#include "gateway/mcp/tools/arguments.h"

#include <string>

#include "common/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace callslip::gateway {
namespace {

using ::testing::HasSubstr;

std::string Problem(const Arguments& arguments) {
  return std::string(arguments.status().message());
}

TEST(ArgumentsTest, ReadsArguments) {
  const Json json = {{"a", "text"}, {"b", 7}, {"c", true}, {"d", nullptr}};
  Arguments arguments(json);
  EXPECT_EQ(arguments.RequiredText("a"), "text");
  EXPECT_EQ(arguments.Integer("b", 0, 7), 7);
  EXPECT_EQ(arguments.Boolean("c"), true);
  EXPECT_EQ(arguments.Text("d"), std::nullopt);
  EXPECT_EQ(arguments.Integer("e", 0, 1), std::nullopt);
  EXPECT_OK(arguments.status());
}

TEST(ArgumentsTest, NamesFirstProblem) {
  const Json json = {{"n", 8}, {"t", 1}, {"b", "x"}, {"f", 1.5}, {"big", 18446744073709551615u}};
  const auto problem = [&](auto read) {
    Arguments arguments(json);
    read(arguments);
    return Problem(arguments);
  };
  EXPECT_THAT(problem([](auto& a) { a.Integer("n", 0, 7); }), HasSubstr("\"n\""));
  EXPECT_THAT(problem([](auto& a) { a.Integer("big", 0, 7); }), HasSubstr("from 0 to 7"));
  EXPECT_THAT(problem([](auto& a) { a.Integer("f", 0, 7); }), HasSubstr("\"f\""));
  EXPECT_THAT(problem([](auto& a) { a.Text("t"); }), HasSubstr("must be a string"));
  EXPECT_THAT(problem([](auto& a) { a.Boolean("b"); }), HasSubstr("true or false"));
  EXPECT_THAT(problem([](auto& a) { a.RequiredText("absent"); }),
              HasSubstr("\"absent\" is required"));
  EXPECT_THAT(problem([](auto& a) { a.Choice("absent", {"x", "y"}); }), HasSubstr("x, y"));
}

TEST(ArgumentsTest, RefusesUnknownArguments) {
  const Json json = {{"known", "x"}, {"knwon", "y"}};
  Arguments arguments(json);
  arguments.Text("known");
  EXPECT_THAT(arguments.status(),
              FailsWith(absl::StatusCode::kInvalidArgument, "invalid_arguments"));
  EXPECT_THAT(Problem(arguments), HasSubstr("\"knwon\""));
}

TEST(ArgumentsTest, RefusesNonObjects) {
  EXPECT_FALSE(Arguments(Json::array()).status().ok());
  EXPECT_FALSE(Arguments(Json("x")).status().ok());
}

TEST(ArgumentsTest, ReadsOptionalArguments) {
  const Json json = {{"empty", ""}, {"size", "large"}};
  Arguments arguments(json);
  EXPECT_EQ(arguments.OptionalChoice("colour", {"red"}), std::nullopt);
  EXPECT_EQ(arguments.OptionalChoice("size", {"small", "large"}), "large");
  EXPECT_OK(Arguments(Json()).status());
  const auto problem = [&](auto read) {
    Arguments each(json);
    read(each);
    return Problem(each);
  };
  EXPECT_THAT(problem([](auto& a) { a.NonEmptyText("empty"); }), HasSubstr("must not be empty"));
  EXPECT_THAT(problem([](auto& a) { a.OptionalChoice("size", {"small"}); }), HasSubstr("small"));
  EXPECT_THAT(problem([](auto& a) { a.RequiredInteger("n", 0, 7); }), HasSubstr("is required"));
  EXPECT_THAT(problem([](auto& a) { a.NeedOneOf({"x", "y"}); }), HasSubstr("\"x\", \"y\""));
}

}  // namespace
}  // namespace callslip::gateway
