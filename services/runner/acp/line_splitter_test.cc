#include "runner/acp/line_splitter.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace callslip::runner {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class LineSplitterTest : public testing::Test {
 protected:
  bool Feed(absl::string_view bytes) {
    return splitter_.Feed(bytes, [this](absl::string_view line) { lines_.emplace_back(line); });
  }

  LineSplitter splitter_{10};
  std::vector<std::string> lines_;
};

TEST_F(LineSplitterTest, LinesAreSplitWhateverTheChunkSize) {
  const std::string all = "one\n\ntwo\r\n\r\nthree three\r four\n";
  LineSplitter splitter(20);
  for (size_t step = 1; step <= all.size(); ++step) {
    std::vector<std::string> lines;
    for (size_t at = 0; at < all.size(); at += step) {
      EXPECT_TRUE(splitter.Feed(absl::string_view(all).substr(at, step),
                                [&](absl::string_view line) { lines.emplace_back(line); }));
    }
    EXPECT_THAT(lines, ElementsAre("one", "two", "three three\r four")) << step;
  }
}

TEST_F(LineSplitterTest, LineCanBeAsLongAsTheLimit) {
  EXPECT_TRUE(Feed("0123456789\n012345"));
  EXPECT_TRUE(Feed("6789\n"));
  EXPECT_THAT(lines_, ElementsAre("0123456789", "0123456789"));
}

TEST_F(LineSplitterTest, NothingIsAcceptedAfterTooLongLine) {
  EXPECT_FALSE(Feed("one\n0123456789a"));
  EXPECT_FALSE(Feed("\ntwo\n"));
  EXPECT_THAT(lines_, ElementsAre("one"));
}

TEST_F(LineSplitterTest, TooLongLineIsRejectedBeforeItsEndArrives) {
  EXPECT_TRUE(Feed("0123456789"));
  EXPECT_FALSE(Feed("a"));
  EXPECT_THAT(lines_, IsEmpty());
}

}  // namespace
}  // namespace callslip::runner
