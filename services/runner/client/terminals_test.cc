#include "runner/client/terminals.h"

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "boost/asio/executor_work_guard.hpp"
#include "common/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runner/fake_timers.h"

namespace callslip::runner {
namespace {

class TerminalsTest : public testing::Test {
 protected:
  TerminalsTest() {
    std::signal(SIGPIPE, SIG_IGN);
    std::string made = testing::TempDir() + "/terminals-XXXXXX";
    dir_ = std::filesystem::canonical(mkdtemp(made.data()));
    std::filesystem::create_directory(dir_ + "/sub");
    auto files = FileAccess::Of({FolderWay{dir_}});
    EXPECT_OK(files);
    files_ = std::make_shared<const FileAccess>(*std::move(files));
    terminals_ = std::make_unique<Terminals>(
        CommandHost{.context = &context_,
                    .keeper = CALLSLIP_KEEPER_BINARY,
                    .environment = {{"PATH", "/usr/bin:/bin"}, {"OF", "agent"}},
                    .wrapper = {}},
        files_, &disk_);
  }
  ~TerminalsTest() override {
    terminals_ = nullptr;
    context_.restart();
    context_.run();
    std::filesystem::remove_all(dir_);
  }

  // The answer that comes at once, or as soon as the folder is open; an error as its code and
  // message.
  std::optional<Json> Call(absl::string_view method, const Json& params) {
    auto answer = std::make_shared<std::optional<Json>>();
    terminals_->Call(method, params, [answer](const RpcAnswer& given) {
      EXPECT_FALSE(answer->has_value());
      if (const auto* error = std::get_if<RpcError>(&given)) {
        *answer = absl::StrCat(error->code, " ", error->message);
      } else {
        *answer = std::get<Json>(given);
      }
    });
    const auto work = boost::asio::make_work_guard(context_);
    context_.restart();
    while (method == "terminal/create" && !answer->has_value()) context_.run_one();
    return *answer;
  }
  bool Is(const std::string& path) { return std::filesystem::exists(dir_ + path); }
  void AwaitFile(const std::string& path) {
    while (!Is(path)) context_.run_for(std::chrono::milliseconds(5));
  }
  std::string Create(const std::string& line) {
    const Json answer = Call("terminal/create", {{"command", line}}).value();
    EXPECT_TRUE(answer.is_object()) << answer;
    return answer.is_object() ? answer["terminalId"].get<std::string>() : "";
  }
  Json Refused(Json params) { return Call("terminal/create", std::move(params)).value(); }
  Json Output(const std::string& id) {
    return Call("terminal/output", {{"terminalId", id}}).value();
  }
  Json AwaitExit(const std::string& id) {
    std::optional<Json> status;
    terminals_->Call("terminal/wait_for_exit", {{"terminalId", id}}, [&](const RpcAnswer& given) {
      if (std::holds_alternative<Json>(given)) status = std::get<Json>(given);
    });
    while (!status.has_value()) context_.run_one();
    return *status;
  }
  std::string AwaitLine(const std::string& id) {
    for (;;) {
      const std::string text = Output(id)["output"].get<std::string>();
      if (absl::EndsWith(text, "\n")) return text;
      context_.run_one();
    }
  }

  boost::asio::io_context context_;
  std::string dir_;
  FakeTimers timers_;
  DiskThread disk_{context_.get_executor(), &timers_, DiskUser()};
  std::shared_ptr<const FileAccess> files_;
  std::unique_ptr<Terminals> terminals_;
};

TEST_F(TerminalsTest, HasTheMethodsOfTheProtocol) {
  for (const char* method : {"create", "output", "wait_for_exit", "kill", "release"}) {
    EXPECT_TRUE(Terminals::Has(absl::StrCat("terminal/", method)));
  }
  EXPECT_FALSE(Terminals::Has("terminal/cancel"));
}

TEST_F(TerminalsTest, RunsCommandToItsEnd) {
  const Json created = Call("terminal/create", {{"command", "sh"},
                                                {"args", {"-c", "pwd; echo $OF $MY; exit 3"}},
                                                {"env", {{{"name", "MY"}, {"value", "own"}}}},
                                                {"cwd", dir_ + "/sub"}})
                           .value();
  EXPECT_EQ(created, Json({{"terminalId", "terminal-1"}}));
  const Json status = {{"exitCode", 3}, {"signal", nullptr}};
  EXPECT_EQ(AwaitExit("terminal-1"), status);
  EXPECT_EQ(AwaitExit("terminal-1"), status);  // And again.
  EXPECT_EQ(
      Output("terminal-1"),
      Json({{"output", dir_ + "/sub\nagent own\n"}, {"truncated", false}, {"exitStatus", status}}));
}

TEST_F(TerminalsTest, StartsInDirectoryOfSession) {
  const std::string id = Create("pwd | cat");
  AwaitExit(id);
  EXPECT_EQ(Output(id)["output"], dir_ + "\n");
}

TEST_F(TerminalsTest, OutputIsAvailableWhileRunningAndTruncated) {
  const Json created =
      Call("terminal/create", {{"command", "echo 12345; sleep 1000"}, {"outputByteLimit", 3}})
          .value();
  const std::string id = created["terminalId"];
  EXPECT_EQ(AwaitLine(id), "45\n");
  EXPECT_EQ(Output(id)["truncated"], true);
}

// The agent may use a server that a shell has started with `&` in its next steps.
TEST_F(TerminalsTest, BackgroundProcessesLiveUntilRelease) {
  const std::string id = Create(
      "setsid sh -c 'while ! [ -e go ]; do sleep 0.01; done; echo later; touch gone; sleep 1000' & "
      "echo $! started");
  const Json status = {{"exitCode", 0}, {"signal", nullptr}};
  EXPECT_EQ(AwaitExit(id), status);
  const std::string said = Output(id)["output"].get<std::string>();
  EXPECT_TRUE(absl::EndsWith(said, " started\n")) << said;
  const int server = std::atoi(said.c_str());
  EXPECT_EQ(kill(server, 0), 0);
  std::ofstream(dir_ + "/go") << "";
  AwaitFile("/gone");
  while (!absl::EndsWith(Output(id)["output"].get<std::string>(), "later\n")) context_.run_one();
  EXPECT_EQ(Output(id)["exitStatus"], status);
  EXPECT_EQ(Call("terminal/release", {{"terminalId", id}}), Json::object());
  context_.restart();
  context_.run();  // Until nothing is left.
  EXPECT_EQ(kill(server, 0), -1);
}

TEST_F(TerminalsTest, KillEndsBackgroundProcessesToo) {
  const std::string id = Create("sleep 1000 & echo $!");
  const Json status = AwaitExit(id);
  const int server = std::atoi(Output(id)["output"].get<std::string>().c_str());
  EXPECT_EQ(Call("terminal/kill", {{"terminalId", id}}), Json::object());
  context_.restart();
  context_.run();
  EXPECT_EQ(kill(server, 0), -1);
  EXPECT_EQ(AwaitExit(id), status);  // As it was.
}

TEST_F(TerminalsTest, KillRetainsOutput) {
  const std::string id = Create("echo ready; sleep 1000");
  AwaitLine(id);
  EXPECT_FALSE(Output(id).contains("exitStatus"));
  EXPECT_EQ(Call("terminal/kill", {{"terminalId", id}}), Json::object());
  EXPECT_EQ(AwaitExit(id), Json({{"exitCode", nullptr}, {"signal", "SIGKILL"}}));
  EXPECT_EQ(Output(id)["output"], "ready\n");
  EXPECT_EQ(Call("terminal/kill", {{"terminalId", id}}), Json::object());
}

TEST_F(TerminalsTest, ReleaseKillsCommandAndForgetsTerminal) {
  const std::string id = Create("setsid sh -c 'echo $$; exec sleep 1000' & wait");
  int fugitive = 0;
  ASSERT_TRUE(absl::SimpleAtoi(AwaitLine(id), &fugitive));
  std::string told;
  terminals_->Call("terminal/wait_for_exit", {{"terminalId", id}},
                   [&](const RpcAnswer& answer) { told = std::get<RpcError>(answer).message; });
  EXPECT_EQ(Call("terminal/release", {{"terminalId", id}}), Json::object());
  EXPECT_EQ(told, "the terminal was released");
  EXPECT_EQ(Output(id), "-32002 there is no terminal \"terminal-1\"");
  context_.run();  // Until nothing is left.
  EXPECT_EQ(kill(fugitive, 0), -1);
}

TEST_F(TerminalsTest, AllCommandsEndWithSession) {
  std::vector<int> all;
  for (int i = 0; i < 3; ++i) {
    int pid = 0;
    ASSERT_TRUE(absl::SimpleAtoi(AwaitLine(Create("echo $$; exec sleep 1000")), &pid));
    all.push_back(pid);
  }
  terminals_ = nullptr;
  context_.run();
  for (const int pid : all) EXPECT_EQ(kill(pid, 0), -1);
}

TEST_F(TerminalsTest, NumberOfTerminalsIsLimited) {
  for (size_t i = 0; i < Terminals::kMaxTerminals; ++i) Create("true");
  EXPECT_EQ(Refused({{"command", "true"}}),
            "-32602 a session has 16 terminals at most: release one");
  Call("terminal/release", {{"terminalId", "terminal-5"}});
  EXPECT_EQ(Create("true"), "terminal-17");
}

// Calls that wait for a folder count together with those that wait for files.
TEST_F(TerminalsTest, LargeCommandsDoNotPileUp) {
  std::vector<std::string> answers;
  for (int i = 0; i < 3; ++i) {
    terminals_->Call("terminal/create",
                     {{"command", "true"}, {"args", {std::string(size_t{15} << 20, 'x')}}},
                     [&](const RpcAnswer& given) {
                       const auto* error = std::get_if<RpcError>(&given);
                       answers.push_back(error == nullptr ? "" : error->message);
                     });
  }
  EXPECT_THAT(answers, testing::ElementsAre(testing::HasSubstr("above 32 MiB")));
  const auto work = boost::asio::make_work_guard(context_);
  while (answers.size() < 3) context_.run_one();
}

TEST_F(TerminalsTest, InvalidParametersAreReportedAndNothingRuns) {
  std::filesystem::create_directory_symlink("/tmp", dir_ + "/link");
  const std::string text = "`args` has to be a list of texts";
  EXPECT_EQ(Refused({}), "-32602 `command` has to be a text");
  EXPECT_EQ(Refused({{"command", ""}}), "-32602 there is no command");
  EXPECT_EQ(Refused({{"command", "a"}, {"args", "b"}}), "-32602 " + text);
  EXPECT_EQ(Refused({{"command", "a"}, {"args", {1}}}), "-32602 " + text);
  EXPECT_EQ(Refused({{"command", std::string("a\0b", 3)}}),
            "-32602 a command can't have a NUL in it");
  EXPECT_EQ(Refused({{"command", "a"}, {"env", {{"A", "b"}}}}),
            "-32602 `env` has to be a list of {name, value}");
  EXPECT_EQ(Refused({{"command", "a"}, {"env", {{{"name", "A=B"}, {"value", ""}}}}}),
            "-32602 \"A=B\" can't be set in `env`");
  EXPECT_EQ(Refused({{"command", "a"}, {"outputByteLimit", -1}}),
            "-32602 `outputByteLimit` has to be a whole number, 0 or more");
  EXPECT_EQ(Refused({{"command", "a"}, {"cwd", dir_ + "/none"}}), "-32002 none is not there");
  for (const std::string& cwd : {std::string("/tmp"), std::string("sub"), dir_ + "/link"}) {
    EXPECT_TRUE(
        absl::StartsWith(Refused({{"command", "a"}, {"cwd", cwd}}).get<std::string>(), "-32602"))
        << cwd;
  }
  EXPECT_EQ(Call("terminal/output", Json::object()), "-32602 `terminalId` has to be a text");
  EXPECT_EQ(terminals_->size(), 0u);
}

}  // namespace
}  // namespace callslip::runner
