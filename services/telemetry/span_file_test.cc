#include "telemetry/span_file.h"

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <string>

#include "common/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "support/temporary_folder.h"

namespace callslip {
namespace {

using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

class SpanFileTest : public ::testing::Test {
 protected:
  std::unique_ptr<SpanFile> Open(const std::string& program = "p") {
    auto file = SpanFile::Open(folder_.path(), program);
    EXPECT_OK(file.status());
    return *std::move(file);
  }
  size_t Files() const {
    return std::distance(std::filesystem::directory_iterator(folder_.path()), {});
  }
  // Does `work` in a process that is killed then.
  template <typename Work>
  void InKilledProcess(Work work) {
    const pid_t child = fork();
    if (child == 0) {
      const auto file = Open();
      work(*file);
      raise(SIGKILL);
    }
    ASSERT_EQ(waitpid(child, nullptr, 0), child);
  }

  const TemporaryFolder folder_;
};

TEST_F(SpanFileTest, SpansOfKilledProcessAreAdoptedOnce) {
  InKilledProcess([](SpanFile& file) {
    file.Put("one");
    file.Free(file.Put("sent"));
    file.Put("two");
  });
  const auto file = Open();
  EXPECT_THAT(file->TakeLost(),
              UnorderedElementsAre(Pair(::testing::_, "one"), Pair(::testing::_, "two")));
  EXPECT_EQ(Files(), 1);
  EXPECT_THAT(Open()->TakeLost(), IsEmpty());
}

TEST_F(SpanFileTest, AdoptedSpansSurviveNextKill) {
  InKilledProcess([](SpanFile& file) { file.Put("one"); });
  InKilledProcess([](SpanFile&) {});
  EXPECT_THAT(Open()->TakeLost(), UnorderedElementsAre(Pair(::testing::_, "one")));
}

TEST_F(SpanFileTest, FileInUseIsLeftAlone) {
  const auto mine = Open();
  mine->Put("mine");
  EXPECT_THAT(Open()->TakeLost(), IsEmpty());
  EXPECT_EQ(Files(), 1);
}

TEST_F(SpanFileTest, OtherProgramsHaveTheirOwnFiles) {
  InKilledProcess([](SpanFile& file) { file.Put("one"); });
  EXPECT_THAT(Open("q")->TakeLost(), IsEmpty());
  EXPECT_EQ(Files(), 1);
}

TEST_F(SpanFileTest, EmptyFileIsRemoved) {
  {
    const auto file = Open();
    file->Free(file->Put("one"));
    file->Free(SpanFile::kNowhere);
  }
  EXPECT_EQ(Files(), 0);
}

TEST_F(SpanFileTest, LimitsNumberAndSizeOfSpans) {
  const auto file = Open();
  EXPECT_EQ(file->Put(std::string(SpanFile::kMaxBytes + 1, 'a')), SpanFile::kNowhere);
  for (size_t i = 0; i < SpanFile::kPlaces; ++i) {
    ASSERT_NE(file->Put(std::string(SpanFile::kMaxBytes, 'a')), SpanFile::kNowhere);
  }
  EXPECT_EQ(file->Put("a"), SpanFile::kNowhere);
  file->Free(17);
  EXPECT_EQ(file->Put("a"), 17);
}

TEST(SpanFile, ErrorNamesDirectoryVariable) {
  const absl::Status status = SpanFile::Open("/proc/nowhere", "p").status();
  EXPECT_THAT(std::string(status.message()), ::testing::HasSubstr("CALLSLIP_SPAN_DIR"));
}

}  // namespace
}  // namespace callslip
