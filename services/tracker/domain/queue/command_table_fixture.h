#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common/fake_clock.h"
#include "common/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tracker/domain/queue/command_table.h"

// Shared code of the command table's tests. Test code only.
namespace callslip::tracker {

// Names used in nearly every test.
using ::absl::StatusCode;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using State = CommandState;

inline constexpr char kClient[] = "agent";
// The resolution of deadlines.
inline constexpr absl::Duration kTick = absl::Milliseconds(1);

inline Payload Bytes(std::string text) {
  return std::make_shared<const std::string>(std::move(text));
}

inline std::string IdOf(const CommandSnapshot& command) { return command.spec->id.ToString(); }
inline std::string IdOf(const CommandLease& lease) { return IdOf(*lease.command); }

inline std::vector<std::string> IdsOf(const CommandLeases& leases) {
  std::vector<std::string> ids;
  for (const CommandLease& lease : leases) ids.push_back(IdOf(lease));
  return ids;
}

inline std::vector<std::string> IdsOf(const std::vector<EndedLease>& ended) {
  std::vector<std::string> ids;
  for (const EndedLease& lease : ended) ids.push_back(lease.id.ToString());
  return ids;
}

// The proof that a worker quotes in its reports if it follows the protocol.
inline LeaseProof ProofOf(const CommandLease& lease) {
  return {.token = lease.token, .attempt = lease.command->attempt};
}

// A reader that takes its updates when it is notified or, if it is slow, on Read(). For tests with
// one thread.
class RecordingFeed : public CommandFeed {
 public:
  enum class Reader { kPrompt, kSlow };

  explicit RecordingFeed(Reader reader = Reader::kPrompt) : reader_(reader) {}

  void OnReady() override {
    ++times_ready;
    if (reader_ == Reader::kPrompt) Read();
  }

  void Read() {
    for (std::vector<CommandUpdate> updates = Take(kAtOnce); !updates.empty();
         updates = Take(kAtOnce)) {
      for (const CommandUpdate& update : updates) NoteReceived(update);
      seen.insert(seen.end(), updates.begin(), updates.end());
    }
  }

  std::vector<CommandState> States() const {
    std::vector<CommandState> states;
    for (const CommandUpdate& update : seen) {
      if (update.command != nullptr) states.push_back(update.command->state);
    }
    return states;
  }

  // Ids of the updated commands, one for each update.
  std::vector<std::string> Ids() const {
    std::vector<std::string> ids;
    for (const CommandUpdate& update : seen) {
      if (update.command != nullptr) ids.push_back(IdOf(*update.command));
    }
    return ids;
  }

  std::vector<CommandUpdate> seen;
  int times_ready = 0;

 private:
  static constexpr size_t kAtOnce = 2;  // Small, so that most tests take more than once.

  const Reader reader_;
};

// A watch that ended before its command: its time was over, or the tracker shuts down.
MATCHER(IsWatchOver, "") { return arg.command == nullptr && arg.error.ok() && arg.last; }

// A table with a fake clock, a client and workers.
class CommandTableTest : public testing::Test {
 protected:
  explicit CommandTableTest(const CommandLimits& limits = {}, const CommandDeadlines& clocks = {})
      : table_(clocks, limits) {}

  static CommandRequest Request(std::string client = kClient) {
    CommandRequest request;
    request.client_id = std::move(client);
    request.type = "execute_js";
    request.params = Bytes(R"({"script":"1"})");
    return request;
  }
  static CommandRequest IdempotentRequest() {
    CommandRequest request = Request();
    request.idempotent = true;
    return request;
  }
  static CommandRequest HumanRequest() {
    CommandRequest request = Request();
    request.command_class = CommandClass::kHuman;
    return request;
  }

  absl::StatusOr<CommandRegistration> TryRegister(CommandRequest request) {
    return table_.Register(std::move(request), clock_.Now());
  }
  // Registers a command that must be accepted, and returns its id.
  std::string Register(CommandRequest request = Request()) {
    const auto registration = TryRegister(std::move(request));
    EXPECT_OK(registration);
    return registration.ok() ? IdOf(*registration->command) : "";
  }

  // Requests news without waiting for them.
  WorkerNews Poll(LeaseRequest request) {
    WorkerNews news;
    EXPECT_OK(table_.Lease(std::move(request), clock_.Now(),
                           [&](WorkerNews got) { news = std::move(got); }));
    return news;
  }
  CommandLeases Lease(std::string worker = "w1", int max = 0) {
    return Poll({.worker_id = std::move(worker), .max_commands = max}).leases;
  }
  // Leases one command; fails the test if there is none.
  CommandLease LeaseOne(std::string worker = "w1") {
    const CommandLeases leases = Lease(std::move(worker), 1);
    EXPECT_THAT(leases, testing::SizeIs(1));
    return leases.empty() ? CommandLease{} : leases[0];
  }

  absl::StatusOr<AcknowledgeResult> Acknowledge(const CommandLease& lease) {
    return table_.Acknowledge(IdOf(lease), ProofOf(lease), std::nullopt, nullptr, clock_.Now());
  }
  absl::StatusOr<CompleteResult> Complete(const CommandLease& lease, CommandOutcome outcome) {
    return table_.Complete(IdOf(lease), ProofOf(lease), std::move(outcome), nullptr, clock_.Now());
  }
  absl::StatusOr<CompleteResult> Complete(const CommandLease& lease, std::string result = "42") {
    return Complete(lease, CommandResult{Bytes(std::move(result))});
  }
  absl::StatusOr<CommandPtr> Cancel(const std::string& id) {
    return table_.Cancel(kClient, id, clock_.Now());
  }

  absl::StatusOr<CommandPtr> Get(const std::string& id, std::string client = kClient) {
    return table_.Get(std::move(client), id, /*peek=*/false);
  }
  // Reads a command that must exist, without collecting its result.
  CommandSnapshot Peek(const std::string& id) {
    const auto command = table_.Get(kClient, id, /*peek=*/true);
    EXPECT_OK(command);
    return command.ok() ? **command : CommandSnapshot{};
  }
  CommandState StateOf(const std::string& id) { return Peek(id).state; }

  // Watches from the present state on.
  CommandTable::Watching Watch(const std::string& id, const std::shared_ptr<CommandFeed>& feed,
                               WatchRequest request = {}) {
    if (request.clients.Covers(kDefaultClient)) request.clients = kClient;
    request.feed = feed;
    auto watching = table_.Watch(id, std::move(request));
    EXPECT_OK(watching);
    return watching.ok() ? *watching : CommandTable::Watching{};
  }

  // Moves the clock in one step, so that an overlooked deadline is missed.
  void Advance(absl::Duration by) {
    clock_.Advance(by);
    table_.FireDeadlines(clock_.Now());
  }

  // Expects that the command has just ended in this way.
  void ExpectEnd(const std::string& id, CommandState state, const std::string& code,
                 bool may_have_executed) {
    const CommandSnapshot command = Peek(id);
    EXPECT_EQ(CommandStateName(command.state), CommandStateName(state));
    ASSERT_NE(command.error, nullptr);
    EXPECT_EQ(command.error->code, code);
    EXPECT_EQ(command.error->may_have_executed, may_have_executed);
    EXPECT_FALSE(command.error->message.empty());
    EXPECT_EQ(command.end_time(), clock_.Now());
    EXPECT_EQ(command.trace.back().stage, TraceEntry::Stage::kResolved);
  }
  // Expects that it is still in its present state a tick before `after` from now, and ends then.
  void ExpectEndAfter(absl::Duration after, const std::string& id, CommandState state,
                      const std::string& code, bool may_have_executed) {
    const CommandState before = StateOf(id);
    Advance(after - kTick);
    EXPECT_EQ(CommandStateName(StateOf(id)), CommandStateName(before)) << "too early";
    Advance(kTick);
    ExpectEnd(id, state, code, may_have_executed);
  }

  FakeClock clock_;
  CommandTable table_;
};

// Workers whose calls are held until there are news.
class HeldCallTest : public CommandTableTest {
 protected:
  using CommandTableTest::CommandTableTest;

  struct Answer {
    std::string worker;
    WorkerNews news;
  };

  std::shared_ptr<HeldCall> Hold(const std::string& worker = "w1",
                                 absl::Duration wait = absl::Seconds(5)) {
    return Hold({.worker_id = worker, .hold_until = clock_.Now() + wait});
  }
  std::shared_ptr<HeldCall> Hold(const LeaseRequest& request) {
    auto call =
        table_.Lease(request, clock_.Now(), [this, worker = request.worker_id](WorkerNews news) {
          answers_.push_back({worker, std::move(news)});
        });
    EXPECT_OK(call);
    return call.ok() ? *call : nullptr;
  }

  std::vector<Answer> answers_;
};

}  // namespace callslip::tracker
