#include "bridge/http/sse_parser.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace callslip::bridge {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class SseParserTest : public testing::Test {
 protected:
  SseParser::Result Feed(absl::string_view bytes) {
    return parser_.Feed(bytes, [this](absl::string_view data) {
      events_.emplace_back(data);
      return events_.size() < 3;
    });
  }

  SseParser parser_{20};
  std::vector<std::string> events_;
};

TEST_F(SseParserTest, DataIsDeliveredAtEmptyLine) {
  EXPECT_EQ(Feed("event: message\nid: 7\ndata: {\"a\":1}\n"), SseParser::Result::kMore);
  EXPECT_THAT(events_, IsEmpty());
  Feed("\n");
  EXPECT_THAT(events_, ElementsAre("{\"a\":1}"));
}

TEST_F(SseParserTest, ByteByByteInputGivesSameEvents) {
  for (const char c : std::string(": hello\r\ndata:1\r\ndata: 2\r\n\r\ndata:3\r\r")) {
    Feed(std::string(1, c));
  }
  EXPECT_THAT(events_, ElementsAre("1\n2", "3"));
}

TEST_F(SseParserTest, EventsWithoutDataAreSkipped) {
  Feed("event: ping\n\nid: 3\ndata:\n\nretry: 5\n\n: comment\n\ndatabase: x\n\n");
  EXPECT_THAT(events_, IsEmpty());
}

TEST_F(SseParserTest, StopsWhenSinkHasEnough) {
  EXPECT_EQ(Feed("data: 1\n\ndata: 2\n\ndata: 3\n\ndata: 4\n\n"), SseParser::Result::kDone);
  EXPECT_THAT(events_, ElementsAre("1", "2", "3"));
}

TEST_F(SseParserTest, LimitsSizeOfEventNotOfStream) {
  EXPECT_EQ(Feed("data: 12345678\n\ndata: 12345678\n\n"), SseParser::Result::kMore);
  EXPECT_EQ(Feed("data: 12345678\ndata: 12345678\n\n"), SseParser::Result::kTooLarge);
}

}  // namespace
}  // namespace callslip::bridge
