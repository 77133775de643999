// Calls of sessions that wait for the commands' storage, and calls that do not.
#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "grpcpp/generic/generic_stub.h"
#include "support/session_events.h"
#include "tracker/rpc/session_server_fixture.h"

namespace callslip::tracker {
namespace {

using ::testing::SizeIs;

// Commands' storage that hangs between Shut() and Open().
class TestGate final : public OutputGate {
 public:
  bool IsOpen() const override {
    MutexLock lock(&mutex_);
    return open_;
  }
  void Pass(Output output) override {
    {
      MutexLock lock(&mutex_);
      if (!open_) {
        waiting_.push_back(std::move(output));
        changed_.NotifyAll();
        return;
      }
    }
    output(absl::OkStatus());
  }
  void BeginBatch() override {}
  void EndBatch() override {}

  void Shut() {
    MutexLock lock(&mutex_);
    open_ = false;
  }
  void Open() {
    std::vector<Output> outputs;
    {
      MutexLock lock(&mutex_);
      open_ = true;
      outputs = std::exchange(waiting_, {});
    }
    for (const Output& output : outputs) output(absl::OkStatus());
  }
  // Blocks until an output waits.
  void AwaitOutput() {
    MutexLock lock(&mutex_);
    while (waiting_.empty()) changed_.Wait(&mutex_);
  }

 private:
  mutable Mutex mutex_;
  CondVar changed_;
  bool open_ ABSL_GUARDED_BY(mutex_) = true;
  std::vector<Output> waiting_ ABSL_GUARDED_BY(mutex_);
};

class WithGate {
 protected:
  TestGate test_gate_;
};

class SessionGateTest : public WithGate, public SessionServerTest {
 protected:
  SessionGateTest() : SessionServerTest({}, &test_gate_) { CreateSession(); }
  ~SessionGateTest() override { gate().Open(); }

  TestGate& gate() { return test_gate_; }

  // The status of an empty call of any kind. A stream that goes on counts as OK.
  grpc::Status CallEmpty(const std::string& method) {
    grpc::GenericStub stub(channel_);
    grpc::ClientContext context;
    grpc::CompletionQueue queue;
    const auto call = stub.PrepareCall(&context, method, &queue);
    const auto next = [&] {
      void* tag = nullptr;
      bool ok = false;
      EXPECT_TRUE(queue.Next(&tag, &ok));
      return ok;
    };
    call->StartCall(nullptr);
    EXPECT_TRUE(next());
    call->WriteLast(grpc::ByteBuffer(nullptr, 0), {}, nullptr);
    next();
    grpc::ByteBuffer answer;
    call->Read(&answer, nullptr);
    if (next()) {
      context.TryCancel();
      return grpc::Status::OK;
    }
    grpc::Status status;
    call->Finish(&status, nullptr);
    next();
    return status;
  }
};

// The gate of a tracker whose lease is over.
class ShutGate final : public OutputGate {
 public:
  bool IsOpen() const override { return !shut; }
  void Pass(Output output) override {
    output(shut ? absl::UnavailableError("shut") : absl::OkStatus());
  }
  void BeginBatch() override {}
  void EndBatch() override {}

  std::atomic<bool> shut = false;
};

class WithShutGates {
 protected:
  ShutGate shut_gate_;
};

class SharedCellTest : public WithShutGates, public SessionServerTest {
 protected:
  SharedCellTest() : SessionServerTest({}, &shut_gate_, &shut_gate_) { CreateSession(); }
};

// Also calls that wait for no storage, because another tracker might have changed the session.
TEST_F(SharedCellTest, CallsOfSessionsFailWhileTheGateIsShut) {
  EXPECT_OK(Call(&S::GetSession, "session_id: 's'"));
  auto watch = Watch("session_id: 's'");
  EXPECT_TRUE(watch->Next().has_value());
  shut_gate_.shut = true;
  EXPECT_EQ(Call(&S::GetSession, "session_id: 's'").status().code(),
            absl::StatusCode::kUnavailable);
  EXPECT_EQ(Call(&S::GetSession, "session_id: 'x'").status().code(),
            absl::StatusCode::kUnavailable);
  EXPECT_EQ(Call(&S::ListSessions, "").status().code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(Call(&Q::ListMessages, "session_id: 's'").status().code(),
            absl::StatusCode::kUnavailable);
  EXPECT_EQ(Call(&S::AppendEvents, "session_id: 's' events { type: 'agent_message' data: '{}' }")
                .status()
                .code(),
            absl::StatusCode::kUnavailable);
  EXPECT_EQ(watch->Finish().code(), absl::StatusCode::kUnavailable);
}

TEST_F(SessionGateTest, OnlyCommandsWaitForTheStorageOfCommands) {
  gate().Shut();
  int methods = 0;
  for (const google::protobuf::Descriptor* any :
       {v1::GetSessionRequest::descriptor(), v1::GetQueueStatusRequest::descriptor()}) {
    const google::protobuf::ServiceDescriptor* service = any->file()->service(0);
    for (int i = 0; i < service->method_count(); ++i) {
      const std::string name = service->method(i)->name();
      SCOPED_TRACE(name);
      // A call that waited would hang, or end because its storage takes too long.
      EXPECT_NE(CallEmpty(absl::StrCat("/", service->full_name(), "/", name)).error_code(),
                grpc::StatusCode::DEADLINE_EXCEEDED);
      ++methods;
    }
  }
  EXPECT_GE(methods, 35);
  EXPECT_OK(Call(&S::AppendEvents, "session_id: 's' events { type: 'agent_message' data: '{}' }"));
  EXPECT_OK(Call(&S::AddAgentText, "session_id: 's' text: 'no command'"));
}

TEST_F(SessionGateTest, CommandsOfAnAnswerWaitForTheirStorage) {
  gate().Shut();
  absl::StatusOr<v1::AddAgentTextResponse> found;
  std::thread agent(
      [&] { found = Call(&S::AddAgentText, "session_id: 's' text: '<shell>ls</shell>'"); });
  gate().AwaitOutput();
  gate().Open();
  agent.join();
  ASSERT_OK(found);
  EXPECT_THAT(found->commands(), SizeIs(1));
}

// A session also reports that a command runs and how it ends.
TEST_F(SessionGateTest, SessionReportsTheEndOfACommandOnceItIsStored) {
  ASSERT_OK(Call(&S::AddAgentText, "session_id: 's' text: '<shell>ls</shell>'"));
  ASSERT_OK_AND_ASSIGN(const auto leased,
                       Call(&C::LeaseCommands, "target: 'session-s' max_commands: 1"));
  gate().Shut();
  const std::string proof =
      absl::StrCat("command_id: '", leased.leases(0).command().command_id(), "' lease_token: '",
                   leased.leases(0).lease_token(), "' result: 'done'");
  std::thread worker([&] { EXPECT_OK(Call(&C::CompleteCommand, proof)); });
  gate().AwaitOutput();
  // Events that the session has received by now would be recorded before this.
  EXPECT_THAT(Events(), SizeIs(2));
  gate().Open();
  worker.join();
  const auto watch = Watch("session_id: 's' after_seq: 2");
  while (true) {
    const auto update = watch->Next();
    ASSERT_TRUE(update.has_value());
    if (update->has_event() && MemberOf(update->event(), "status") == "completed") break;
  }
}

}  // namespace
}  // namespace callslip::tracker
