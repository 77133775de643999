#include "bridge/json/batch.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace callslip::bridge {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST(BatchTest, MessagesAreElementsVerbatim) {
  EXPECT_THAT(BatchIn(R"([{"a":1}])")->messages, ElementsAre(R"({"a":1})"));
  const auto batch = BatchIn(" [ {\"a\":[1,2,{}]} ,\t7,\"x,]\\\"[\" , [3,4]\r\n]  ");
  EXPECT_THAT(batch->messages, ElementsAre(R"({"a":[1,2,{}]})", "7", R"("x,]\"[")", "[3,4]"));
  EXPECT_THAT(batch->unclear, IsEmpty());
}

TEST(BatchTest, NumberOfMessagesIsLimited) {
  std::string most = "[1";
  for (size_t i = 1; i < kMaxBatch; ++i) most += ",1";
  EXPECT_THAT(BatchIn(most + "]")->messages, SizeIs(kMaxBatch));
  for (const std::string& none :
       {std::string(), std::string("[]"), std::string("[ ]"), std::string("{\"a\":[1]}"),
        std::string("\"[1]\""), most + ",1]", "[" + std::string(size_t{1} << 20, ',')}) {
    EXPECT_FALSE(BatchIn(none).has_value()) << none.substr(0, 80);
  }
}

TEST(BatchTest, BrokenMessageDoesNotAffectOthers) {
  for (const std::string& broken :
       {std::string("\"\xFF\""), std::string(R"({"a":1e999})"), std::string(R"({"a":1 2})"),
        std::string(R"({"a":1,})"), std::string(R"({"a"})"), std::string(R"("\x")"),
        std::string()}) {
    const auto batch = BatchIn("[{},\r" + broken + ",[2]]");
    EXPECT_THAT(batch->messages, ElementsAre("{}", broken, "[2]"));
    EXPECT_THAT(batch->unclear, IsEmpty());
  }
}

TEST(BatchTest, ByteOrderMarkAndLoneSurrogateAreRepaired) {
  EXPECT_THAT(BatchIn("\xEF\xBB\xBF[\"\\ud83d\",1]")->messages, ElementsAre(R"("\ufffd")", "1"));
}

TEST(BatchTest, IsUnclearFromFirstUnmatchedBracketOn) {
  const auto unclear = [](const std::string& rest) {
    const auto batch = BatchIn("[{},7," + rest);
    EXPECT_THAT(batch->messages, ElementsAre("{}", "7"));
    return batch->unclear;
  };
  // Brackets that are missing,
  EXPECT_THAT(unclear(R"({"a":{"b":1}, {"c":1},{"d":2}])"),
              ElementsAre(R"({"a":{"b":1})", R"({"c":1})", R"({"d":2})"));
  EXPECT_THAT(unclear(R"({"a":[1},{"c":[1]}])"), ElementsAre(R"({"a":[1})", R"({"c":[1]})"));
  EXPECT_THAT(unclear(R"({"a":1])"), ElementsAre(R"({"a":1)"));
  EXPECT_THAT(unclear("[2]"), ElementsAre("[2]"));
  EXPECT_THAT(unclear(R"({"a":"]})"), ElementsAre(R"({"a":"]})"));
  EXPECT_THAT(unclear(R"({"a":"\)"), ElementsAre(R"({"a":"\)"));
  // and surplus ones.
  EXPECT_THAT(unclear(R"({"a":1}},{"b":2}])"), ElementsAre(R"({"a":1}})", R"({"b":2})"));
  EXPECT_THAT(unclear(R"({"a":1]},[2]])"), ElementsAre(R"({"a":1]})", "[2]"));
  EXPECT_THAT(unclear("1] 2"), ElementsAre("1] 2"));
  EXPECT_THAT(unclear("1][{}]"), ElementsAre("1][{}]"));
}

}  // namespace
}  // namespace callslip::bridge
