#include "bridge/relay/stdio.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <csignal>
#include <string>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace callslip::bridge {
namespace {

using Event = LineReader::Event;

class StdioTest : public testing::Test {
 protected:
  StdioTest() {
    std::signal(SIGPIPE, SIG_IGN);
    EXPECT_EQ(pipe(fds_), 0);
  }
  ~StdioTest() override {
    CloseReadEnd();
    CloseWriteEnd();
  }

  void CloseReadEnd() { Close(fds_[0]); }
  void CloseWriteEnd() { Close(fds_[1]); }

  // Writes raw bytes, which must fit into the pipe.
  void Put(const std::string& bytes) {
    ASSERT_EQ(write(fds_[1], bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  }

  static void Close(int& fd) {
    if (fd >= 0) close(fd);
    fd = -1;
  }

  int fds_[2] = {-1, -1};
};

TEST_F(StdioTest, ReaderSplitsLines) {
  Put("one\ntwo\r\n\nrest");
  CloseWriteEnd();
  LineReader reader(fds_[0], 100);
  std::string line;
  for (const char* expected : {"one", "two", "", "rest"}) {
    EXPECT_EQ(reader.Next(line), Event::kLine);
    EXPECT_EQ(line, expected);
  }
  EXPECT_EQ(reader.Next(line), Event::kEnd);
}

TEST_F(StdioTest, ReaderKnowsWhetherLineIsBuffered) {
  Put("one\ntwo\nhalf");
  LineReader reader(fds_[0], 100);
  std::string line;
  EXPECT_FALSE(reader.HasLine());  // It has not looked yet.
  EXPECT_EQ(reader.Next(line), Event::kLine);
  EXPECT_TRUE(reader.HasLine());
  EXPECT_EQ(reader.Next(line), Event::kLine);
  EXPECT_FALSE(reader.HasLine());
}

TEST_F(StdioTest, ReaderReportsIdOfTooLongLine) {
  Put(R"({"method":"x","params":"long","id":7})"
      "\n"
      R"({"id":8})"
      "\n");
  LineReader reader(fds_[0], 10);
  std::string line;
  EXPECT_EQ(reader.Next(line), Event::kTooLong);
  EXPECT_EQ(line, "7");
  EXPECT_EQ(reader.Next(line), Event::kLine);
  EXPECT_EQ(line, R"({"id":8})");
}

TEST_F(StdioTest, ReaderSkipsTooLongLine) {
  Put("12345\n123456\nnext\n1234567");
  CloseWriteEnd();
  LineReader reader(fds_[0], 5);
  std::string line;
  EXPECT_EQ(reader.Next(line), Event::kLine);
  EXPECT_EQ(line, "12345");
  EXPECT_EQ(reader.Next(line), Event::kTooLong);
  EXPECT_EQ(reader.Next(line), Event::kLine);
  EXPECT_EQ(line, "next");
  EXPECT_EQ(reader.Next(line), Event::kTooLong);
  EXPECT_EQ(reader.Next(line), Event::kEnd);
}

TEST_F(StdioTest, LinesLongerThanPipeBufferStayIntact) {
  constexpr size_t kSize = 300'000;  // A pipe holds 64 KiB.
  fcntl(fds_[1], F_SETFL, O_NONBLOCK);
  LineWriter writer(fds_[1], [] {});
  std::vector<std::thread> threads;
  for (const char c : {'a', 'b', 'c', 'd'}) {
    threads.emplace_back([&writer, c] { writer.WriteLine(std::string(kSize, c)); });
  }
  LineReader reader(fds_[0], kSize);
  std::string letters;
  for (int i = 0; i < 4; ++i) {
    std::string line;
    ASSERT_EQ(reader.Next(line), Event::kLine);
    EXPECT_EQ(line, std::string(kSize, line[0]));
    letters.push_back(line[0]);
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(letters, testing::UnorderedElementsAre('a', 'b', 'c', 'd'));
}

TEST_F(StdioTest, WriterReportsOnlyWritesThatCannotBlock) {
  LineWriter writer(fds_[1], [] {});
  int calls = 0;
  const auto count = [this, &calls] {
    ++calls;
    pollfd room = {.fd = fds_[1], .events = POLLOUT, .revents = 0};
    EXPECT_EQ(poll(&room, 1, /*timeout=*/0), 1);
  };
  EXPECT_TRUE(writer.WriteLine("short", count));
  EXPECT_EQ(calls, 1);
  EXPECT_TRUE(writer.WriteLine(std::string(10'000, 'x'), count));
  EXPECT_EQ(calls, 1);
  fcntl(fds_[1], F_SETFL, O_NONBLOCK);
  while (write(fds_[1], "x", 1) == 1) {
  }
  std::thread thread([&] { writer.WriteLine("short", count); });
  LineReader reader(fds_[0], 100'000);
  std::string line;
  for (int i = 0; i < 3; ++i) EXPECT_EQ(reader.Next(line), Event::kLine);
  thread.join();
}

TEST_F(StdioTest, WriterReportsClosedPipeOnce) {
  int calls = 0;
  LineWriter writer(fds_[1], [&calls] { ++calls; });
  EXPECT_TRUE(writer.WriteLine("x"));
  EXPECT_FALSE(writer.closed());
  CloseReadEnd();
  EXPECT_FALSE(writer.WriteLine("y"));
  EXPECT_FALSE(writer.WriteLine("z"));
  EXPECT_TRUE(writer.closed());
  EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace callslip::bridge
