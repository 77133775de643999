// A tracker process that is killed under load, and restarted on its data directory.
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "callslip/tracker/v1/command_service.grpc.pb.h"
#include "common/mutex.h"
#include "grpcpp/grpcpp.h"
#include "gtest/gtest.h"
#include "support/temporary_folder.h"

namespace callslip {
namespace {

namespace v1 = tracker::v1;
using Stub = v1::CommandService::Stub;

// A tracker that ends with this object, or before by Kill().
class TrackerProcess {
 public:
  TrackerProcess(const std::string& folder, const std::string& durability) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) std::abort();
    pid_ = fork();
    if (pid_ == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      dup2(ends[1], STDERR_FILENO);
      execl(CALLSLIP_TRACKER, CALLSLIP_TRACKER, "--listen", "127.0.0.1:0", "--data-dir",
            folder.c_str(), "--durability", durability.c_str(), "--poll-threads", "2", nullptr);
      _exit(127);
    }
    close(ends[1]);
    const std::string label = "listening on ";
    std::string line;
    for (char byte = 0; address_.empty() && read(ends[0], &byte, 1) == 1;) {
      if (byte != '\n') {
        line += byte;
      } else {
        said_ += line + "\n";
        if (line.starts_with(label)) address_ = line.substr(label.size());
        line.clear();
      }
    }
    // The later output is discarded; a full pipe must not stop the tracker.
    reader_ = std::thread([from = ends[0]] {
      char bytes[4096];
      while (read(from, bytes, sizeof(bytes)) > 0) continue;
      close(from);
    });
  }
  ~TrackerProcess() {
    Kill();
    reader_.join();
  }
  TrackerProcess(const TrackerProcess&) = delete;
  TrackerProcess& operator=(const TrackerProcess&) = delete;

  void Kill() {
    if (pid_ <= 0) return;
    kill(pid_, SIGKILL);
    waitpid(std::exchange(pid_, -1), nullptr, 0);
  }

  std::unique_ptr<Stub> Connect() const {
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    return v1::CommandService::NewStub(
        grpc::CreateCustomChannel(address_, grpc::InsecureChannelCredentials(), arguments));
  }
  // The output until it listened, for failures.
  const std::string& said() const { return said_; }
  bool is_listening() const { return !address_.empty(); }

 private:
  pid_t pid_ = -1;
  std::string address_;
  std::string said_;
  std::thread reader_;
};

// The acknowledged facts about one command.
struct Acknowledged {
  std::string target;
  std::string request_id;
  std::string command_id;
  std::string lease_token;
  bool completed = false;
};

template <typename Request, typename Response>
bool Call(Stub* stub, grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&, Response*),
          const Request& request, Response& response) {
  grpc::ClientContext context;
  return ((*stub).*method)(&context, request, &response).ok();
}

v1::RegisterCommandRequest Registration(const Acknowledged& command) {
  v1::RegisterCommandRequest request;
  request.set_target(command.target);
  request.set_type("click");
  request.set_request_id(command.request_id);
  request.set_params(absl::StrCat("{\"of\":\"", command.request_id, "\"}"));
  return request;
}

std::string ResultOf(const Acknowledged& command) {
  return absl::StrCat("\"result of ", command.request_id, "\"");
}

bool Complete(Stub* stub, const Acknowledged& command, v1::CompleteCommandResponse& completed) {
  v1::CompleteCommandRequest complete;
  complete.set_command_id(command.command_id);
  complete.set_lease_token(command.lease_token);
  complete.set_result(ResultOf(command));
  return Call(stub, &Stub::CompleteCommand, complete, completed);
}

// Registers commands, leases two of three and completes one of three, until the tracker is killed.
std::vector<Acknowledged> Load(Stub* stub, int round, int thread, std::atomic<int>& calls) {
  std::vector<Acknowledged> all;
  for (int i = 0;; ++i) {
    all.emplace_back();
    Acknowledged& command = all.back();
    command.request_id = absl::StrCat(round, "/", thread, "/", i);
    command.target = absl::StrCat("target ", command.request_id);
    v1::RegisterCommandResponse registered;
    if (!Call(stub, &Stub::RegisterCommand, Registration(command), registered)) return all;
    ++calls;
    command.command_id = registered.command().command_id();
    if (i % 3 == 0) continue;
    v1::LeaseCommandsRequest lease;
    lease.set_target(command.target);
    v1::LeaseCommandsResponse leased;
    if (!Call(stub, &Stub::LeaseCommands, lease, leased)) return all;
    ++calls;
    EXPECT_EQ(leased.leases_size(), 1);
    command.lease_token = leased.leases(0).lease_token();
    if (i % 3 == 1) continue;
    v1::CompleteCommandResponse completed;
    if (!Complete(stub, command, completed)) return all;
    ++calls;
    command.completed = true;
  }
}

void ExpectKept(Stub* stub, const Acknowledged& command) {
  SCOPED_TRACE(command.request_id);
  v1::RegisterCommandResponse registered;
  ASSERT_TRUE(Call(stub, &Stub::RegisterCommand, Registration(command), registered));
  if (command.command_id.empty()) return;
  EXPECT_TRUE(registered.existed());
  EXPECT_EQ(registered.command().command_id(), command.command_id);
  if (!command.lease_token.empty() && !command.completed) {
    v1::CompleteCommandResponse completed;
    ASSERT_TRUE(Complete(stub, command, completed));
    // Or the earlier call was executed, and its answer was lost.
    EXPECT_TRUE(completed.accepted() || completed.state() == v1::COMMAND_STATE_COMPLETED);
  }
  v1::GetCommandRequest get;
  get.set_command_id(command.command_id);
  v1::GetCommandResponse got;
  ASSERT_TRUE(Call(stub, &Stub::GetCommand, get, got));
  if (!command.lease_token.empty()) {
    EXPECT_EQ(got.command().state(), v1::COMMAND_STATE_COMPLETED);
    EXPECT_EQ(got.command().result(), ResultOf(command));
  } else {
    EXPECT_TRUE(got.command().state() == v1::COMMAND_STATE_QUEUED ||
                got.command().state() == v1::COMMAND_STATE_DELIVERED);
  }
}

class TrackerKillTest : public testing::TestWithParam<const char*> {};

TEST_P(TrackerKillTest, AcknowledgedCallsSurviveKill) {
  constexpr int kRounds = 5;
  constexpr int kThreads = 8;
  constexpr int kCalls = 300;
  const TemporaryFolder folder;
  std::vector<Acknowledged> before;
  for (int round = 0; round < kRounds; ++round) {
    TrackerProcess tracker(folder.path(), GetParam());
    ASSERT_TRUE(tracker.is_listening()) << tracker.said();
    const auto stub = tracker.Connect();
    for (const Acknowledged& command : before) ExpectKept(stub.get(), command);
    std::atomic<int> calls{0};
    std::vector<std::vector<Acknowledged>> loads(kThreads);
    std::vector<std::unique_ptr<Stub>> stubs;
    std::vector<std::thread> threads;
    for (int i = 0; i < kThreads; ++i) {
      stubs.push_back(tracker.Connect());
      threads.emplace_back([&load = loads[i], stub = stubs.back().get(), round, i, &calls] {
        load = Load(stub, round, i, calls);
      });
    }
    // In the middle of the load.
    while (calls < kCalls + 37 * round) std::this_thread::yield();
    tracker.Kill();
    for (std::thread& thread : threads) thread.join();
    before.clear();
    for (const auto& load : loads) before.insert(before.end(), load.begin(), load.end());
  }
  TrackerProcess tracker(folder.path(), GetParam());
  ASSERT_TRUE(tracker.is_listening()) << tracker.said();
  const auto stub = tracker.Connect();
  for (const Acknowledged& command : before) ExpectKept(stub.get(), command);
}

INSTANTIATE_TEST_SUITE_P(, TrackerKillTest, testing::Values("relaxed", "strict"));

TEST(TrackerStartTest, DamagedDatabasePreventsStart) {
  const TemporaryFolder folder;
  {
    TrackerProcess tracker(folder.path(), "relaxed");
    ASSERT_TRUE(tracker.is_listening()) << tracker.said();
  }
  const int file = open((folder.path() + "/commands.db").c_str(), O_WRONLY | O_TRUNC);
  ASSERT_EQ(write(file, "garbage that is no database", 27), 27);
  close(file);
  unlink((folder.path() + "/commands.db-wal").c_str());
  TrackerProcess tracker(folder.path(), "relaxed");
  EXPECT_FALSE(tracker.is_listening());
  EXPECT_NE(tracker.said().find("is damaged"), std::string::npos) << tracker.said();
}

}  // namespace
}  // namespace callslip
