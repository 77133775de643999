#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "bridge/http/fake_gateway.h"
#include "bridge/json/json_rpc.h"
#include "bridge/relay/stdio.h"
#include "common/clock.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace callslip::bridge {
namespace {

constexpr char kPing[] = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n";
constexpr char kWait[] =
    "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\",\"params\":{\"name\":\"observe\","
    "\"arguments\":{\"what\":\"command_result\",\"correlation_id\":\"ann_1\"}}}\n";

// The real program beside a gateway that answers everything but `tools/call`.
class ProcessTest : public testing::Test {
 protected:
  ProcessTest() {
    EXPECT_EQ(pipe2(in_, O_CLOEXEC), 0);
    EXPECT_EQ(pipe2(out_, O_CLOEXEC), 0);
    reader_ = std::make_unique<LineReader>(out_[0], kMaxLineBytes);
  }
  ~ProcessTest() override {
    CloseStdin();
    CloseStdout();
  }

  // Starts a program with the pipes as its stdin and stdout, and `control` as its descriptor 9.
  void Start(std::vector<std::string> arguments, int control = -1) {
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, in_[0], STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, out_[1], STDOUT_FILENO);
    if (control >= 0) posix_spawn_file_actions_adddup2(&actions, control, 9);
    std::vector<char*> argv;
    for (std::string& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    ASSERT_EQ(posix_spawn(&pid_, argv[0], &actions, nullptr, argv.data(), environ), 0);
    posix_spawn_file_actions_destroy(&actions);
    Close(in_[0]);
    Close(out_[1]);
  }
  void StartBridge() {
    Start({CALLSLIP_BRIDGE_BINARY, "--gateway", gateway_.url(), "--log-level", "error"});
  }

  void Send(const std::string& bytes) {
    ASSERT_EQ(write(in_[1], bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  }
  nlohmann::json Read() {
    std::string line;
    EXPECT_EQ(reader_->Next(line), LineReader::Event::kLine);
    return nlohmann::json::parse(line, nullptr, false);
  }
  void ExpectEndOfStdout() {
    std::string line;
    EXPECT_EQ(reader_->Next(line), LineReader::Event::kEnd);
  }
  int WaitForExit() {
    int status = 0;
    waitpid(pid_, &status, 0);
    return status;
  }
  // The contract says: within a second. A slow machine may need longer, so that only the exit
  // itself is tested.
  void ExpectCleanExit() { EXPECT_EQ(WEXITSTATUS(WaitForExit()), 0); }

  void CloseStdin() { Close(in_[1]); }
  void CloseStdout() { Close(out_[0]); }
  static void Close(int& fd) {
    if (fd >= 0) close(fd);
    fd = -1;
  }

  FakeGateway gateway_{{.handler = [](FakeGateway& gateway, const httplib::Request& request,
                                      httplib::Response& response) {
    if (absl::StrContains(request.body, "tools/call")) gateway.Freeze();
    AnswerPlainly(request.body, response);
  }}};
  int in_[2];
  int out_[2];
  std::unique_ptr<LineReader> reader_;
  pid_t pid_ = 0;
};

TEST_F(ProcessTest, ExitsAtEndOfStdinAfterAllAnswers) {
  StartBridge();
  Send(kPing);
  CloseStdin();
  EXPECT_EQ(Read()["id"], 1);
  ExpectCleanExit();
}

TEST_F(ProcessTest, AnswersCallsInFlightAtEndOfStdin) {
  StartBridge();
  Send(kWait);
  gateway_.AwaitRequests(1);
  CloseStdin();
  EXPECT_EQ(Read()["result"]["structuredContent"]["correlation_id"], "ann_1");
  ExpectCleanExit();
  ExpectEndOfStdout();
}

TEST_F(ProcessTest, AnswersCallsInFlightOnSigterm) {
  StartBridge();
  Send(kWait);
  gateway_.AwaitRequests(1);
  kill(pid_, SIGTERM);
  EXPECT_EQ(Read()["result"]["structuredContent"]["reason"], "bridge_closing");
  ExpectCleanExit();
}

TEST_F(ProcessTest, ExitsWhenStdoutIsClosed) {
  StartBridge();
  Send(kWait);
  gateway_.AwaitRequests(1);
  CloseStdout();
  Send(kPing);
  ExpectCleanExit();
}

TEST_F(ProcessTest, ExitsWithItsParent) {
  // The shell passes its stdin to the bridge, and ends when it reads a line from descriptor 9.
  constexpr char kScript[] =
      "exec 8<&0; \"$0\" --gateway \"$1\" --log-level error 0<&8 8<&- 9<&- & read _ <&9";
  int control[2];
  ASSERT_EQ(pipe2(control, O_CLOEXEC), 0);
  Start({"/bin/sh", "-c", kScript, CALLSLIP_BRIDGE_BINARY, gateway_.url()}, control[0]);
  Send(kPing);
  EXPECT_EQ(Read()["id"], 1);
  ASSERT_EQ(write(control[1], "\n", 1), 1);
  WaitForExit();
  ExpectEndOfStdout();
  Close(control[0]);
  Close(control[1]);
}

TEST_F(ProcessTest, RefusesToStartWithTimeoutsThatDoNotNest) {
  Start({CALLSLIP_BRIDGE_BINARY, "--timeout-blocking", "50s"});
  EXPECT_EQ(WEXITSTATUS(WaitForExit()), 2);
}

}  // namespace
}  // namespace callslip::bridge
