#include "bridge/relay/skipped_line.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace callslip::bridge {
namespace {

// The id in `line`, which must not depend on how the line is cut into pieces.
std::string IdIn(const std::string& line) {
  SkippedLine whole;
  whole.Add(line);
  SkippedLine in_bytes;
  for (const char& c : line) in_bytes.Add({&c, 1});
  EXPECT_EQ(in_bytes.RequestId(), whole.RequestId());
  return whole.RequestId();
}

const std::string kLong(100'000, 'x');

TEST(SkippedLineTest, IdIsFoundBeforeAndAfterLongMembers) {
  const std::string params = absl::StrCat(R"("params":{"id":1,"list":[{"id":2}],"text":")", kLong,
                                          R"(\",\"id\":3,\\","method":"no"})");
  EXPECT_EQ(IdIn(absl::StrCat(R"({"id":7,"method":"tools/call",)", params, "}")), "7");
  EXPECT_EQ(IdIn(absl::StrCat(R"({"method":"tools/call",)", params, R"(, "id" : 7 })")), "7");
  EXPECT_EQ(IdIn(absl::StrCat("{", params, R"(,"\u0069d":"a,\"}]b","method":"x"})")),
            R"("a,\"}]b")");
}

TEST(SkippedLineTest, LineWithoutValidRequestHasNoId) {
  const std::string text = absl::StrCat(R"("text":")", kLong, "\"");
  for (const std::string& line :
       {absl::StrCat(R"({"method":"x",)", text, "}"),
        absl::StrCat(R"({"id":7,"result":{)", text, "}}"),
        absl::StrCat(R"({"id":7,"id":8,"method":"x",)", text, "}"),
        absl::StrCat(R"({"id":null,"method":"x",)", text, "}"),
        absl::StrCat(R"({"id":{"a":1},"method":"x",)", text, "}"),
        absl::StrCat(R"({"id":1.5,"method":"x",)", text, "}"),
        absl::StrCat(R"({"id":")", kLong, R"(","method":"x"})"),
        absl::StrCat(R"([{"id":7,"method":"x",)", text, "}]"), kLong, std::string()}) {
    EXPECT_EQ(IdIn(line), "") << line.substr(0, 60);
  }
}

}  // namespace
}  // namespace callslip::bridge
