#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "tracker/domain/queue/command_table_fixture.h"

namespace callslip::tracker {
namespace {

// The order of clients, of commands and of workers.
class CommandTurnsTest : public HeldCallTest {
 protected:
  static CommandRequest WithKey(std::string key, int priority = 0) {
    CommandRequest request = IdempotentRequest();
    request.ordering_key = std::move(key);
    request.priority = priority;
    return request;
  }
  static CommandRequest WithPriority(int priority) { return WithKey("", priority); }

  std::string RegisterOf(const std::string& client, int priority = 0) {
    CommandRequest request = WithPriority(priority);
    request.client_id = client;
    return Register(std::move(request));
  }

  // Leases and completes one command after the other, and returns their clients.
  std::vector<std::string> ClientsServed(int commands) {
    std::vector<std::string> clients;
    for (int i = 0; i < commands; ++i) {
      const CommandLease lease = LeaseOne();
      clients.emplace_back(lease.command->spec->client_id());
      EXPECT_OK(Complete(lease));
    }
    return clients;
  }
};

TEST_F(CommandTurnsTest, CommandsOfAClientGoOldestFirst) {
  const std::string first = Register();
  const std::string second = Register();
  EXPECT_THAT(IdsOf(Lease()), ElementsAre(first, second));
}

TEST_F(CommandTurnsTest, ClientsTakeTurnsRegardlessOfQueueLength) {
  for (int i = 0; i < 4; ++i) RegisterOf("many");
  RegisterOf("one");
  for (int i = 0; i < 2; ++i) RegisterOf("two");
  EXPECT_THAT(ClientsServed(7), ElementsAre("many", "one", "two", "many", "two", "many", "many"));
}

TEST_F(CommandTurnsTest, ClientsTakeTurnsWithinOneAnswerToo) {
  for (int i = 0; i < 3; ++i) RegisterOf("many");
  RegisterOf("one");
  std::vector<std::string> clients;
  for (const CommandLease& lease : Lease("w1", 3)) {
    clients.emplace_back(lease.command->spec->client_id());
  }
  EXPECT_THAT(clients, ElementsAre("many", "one", "many"));
}

TEST_F(CommandTurnsTest, NewClientWaitsForOneTurnOfEachOtherClient) {
  for (int i = 0; i < 3; ++i) RegisterOf("a");
  for (int i = 0; i < 3; ++i) RegisterOf("b");
  EXPECT_THAT(ClientsServed(1), ElementsAre("a"));
  RegisterOf("late");
  EXPECT_THAT(ClientsServed(4), ElementsAre("b", "a", "late", "b"));
}

TEST_F(CommandTurnsTest, ClientWithoutCommandsLosesItsTurn) {
  RegisterOf("a");
  EXPECT_THAT(ClientsServed(1), ElementsAre("a"));
  for (int i = 0; i < 2; ++i) RegisterOf("b");
  for (int i = 0; i < 2; ++i) RegisterOf("a");
  EXPECT_THAT(ClientsServed(4), ElementsAre("b", "a", "b", "a"));
}

TEST_F(CommandTurnsTest, FiftyClientsAreServedEquallyAtEveryMoment) {
  for (int client = 0; client < 50; ++client) {
    // The earlier a client came, the more it has.
    for (int i = 0; i < 20 - client / 5; ++i) RegisterOf("client-" + std::to_string(client));
  }
  std::vector<int> served(50);
  for (int i = 0; i < 50 * 10; ++i) {
    const std::string client = ClientsServed(1)[0];
    ++served[std::stoi(client.substr(client.find('-') + 1))];
    const auto [least, most] = std::minmax_element(served.begin(), served.end());
    ASSERT_LE(*most - *least, 1) << "after " << i + 1;
  }
}

TEST_F(CommandTurnsTest, HigherPriorityGoesFirstThenOlderCommand) {
  const std::string low = Register(WithPriority(-100));
  const std::string first = Register(WithPriority(0));
  const std::string second = Register(WithPriority(0));
  const std::string high = Register(WithPriority(100));
  const std::string higher_than_most = Register(WithPriority(1));
  EXPECT_THAT(IdsOf(Lease()), ElementsAre(high, higher_than_most, first, second, low));
}

TEST_F(CommandTurnsTest, PriorityCountsOnlyWithinOneClient) {
  RegisterOf("modest", -100);
  RegisterOf("pushing", 100);
  RegisterOf("pushing", 100);
  EXPECT_THAT(ClientsServed(3), ElementsAre("modest", "pushing", "pushing"));
}

TEST_F(CommandTurnsTest, ReturnedCommandIsOrderedByAge) {
  const std::string first = Register(IdempotentRequest());
  LeaseOne("w1");
  const std::string second = Register(IdempotentRequest());
  Advance(absl::Seconds(3));
  EXPECT_THAT(IdsOf(Lease("w2")), ElementsAre(first, second));
}

// Ordering keys.

TEST_F(CommandTurnsTest, CommandsWithSameKeyGoOneAtATimeWhileOthersPass) {
  const std::string first = Register(WithKey("tab-1"));
  const std::string second = Register(WithKey("tab-1"));
  const std::string other_key = Register(WithKey("tab-2"));
  const std::string without_key = Register();
  const auto leases = Lease();
  EXPECT_THAT(IdsOf(leases), ElementsAre(first, other_key, without_key));
  EXPECT_THAT(Lease("w2"), IsEmpty());
  Hold("w2");
  ASSERT_OK(Acknowledge(leases[0]));
  EXPECT_THAT(answers_, IsEmpty());
  ASSERT_OK(Complete(leases[0]));
  ASSERT_THAT(answers_, SizeIs(1));
  EXPECT_THAT(IdsOf(answers_[0].news.leases), ElementsAre(second));
}

TEST_F(CommandTurnsTest, KeysAreSharedByClientsButNotByTargets) {
  Register(WithKey("tab-1"));
  CommandRequest of_other = WithKey("tab-1");
  of_other.client_id = "other";
  ASSERT_OK(TryRegister(of_other));
  EXPECT_THAT(Lease(), SizeIs(1));
  of_other.target = "elsewhere";
  ASSERT_OK(TryRegister(of_other));
  EXPECT_THAT(Poll({.target = "elsewhere"}).leases, SizeIs(1));
}

TEST_F(CommandTurnsTest, HigherPriorityGoesFirstAmongCommandsWithSameKey) {
  const std::string low = Register(WithKey("tab-1", 0));
  const std::string high = Register(WithKey("tab-1", 5));
  const auto leases = Lease();
  EXPECT_THAT(IdsOf(leases), ElementsAre(high));
  ASSERT_OK(Complete(leases[0]));
  EXPECT_THAT(IdsOf(Lease()), ElementsAre(low));
}

TEST_F(CommandTurnsTest, ClientBlockedByKeyIsPassedOver) {
  CommandRequest blocking = WithKey("tab-1");
  blocking.client_id = "other";
  ASSERT_OK(TryRegister(blocking));
  const CommandLease lease = LeaseOne();
  Register(WithKey("tab-1"));
  RegisterOf("other");
  EXPECT_EQ(LeaseOne().command->spec->client_id(), "other");
  EXPECT_THAT(Lease(), IsEmpty());
  ASSERT_OK(Complete(lease));
  EXPECT_EQ(LeaseOne().command->spec->client_id(), kClient);
}

TEST_F(CommandTurnsTest, KeyIsReleasedHoweverDeliveryEnds) {
  struct End {
    std::string name;
    std::function<void(const CommandLease&)> cause;
  };
  const std::vector<End> ends = {
      {"result", [&](auto& lease) { EXPECT_OK(Complete(lease)); }},
      {"error",
       [&](auto& lease) {
         EXPECT_OK(Complete(lease, CommandFailure{{"e", ""}}));
       }},
      {"time-out", [&](auto& lease) { EXPECT_OK(Complete(lease, CommandTimeout{})); }},
      {"cancel", [&](auto& lease) { EXPECT_OK(Cancel(IdOf(lease))); }},
      {"expiry on request",
       [&](auto& lease) { EXPECT_OK(table_.Expire(kClient, IdOf(lease), {}, clock_.Now())); }},
      {"give-back", [&](auto& lease) { table_.GiveBack(lease, clock_.Now()); }},
      {"ack wait", [&](auto&) { Advance(absl::Seconds(3)); }},
      {"heartbeat",
       [&](auto& lease) {
         EXPECT_OK(Acknowledge(lease));
         Advance(absl::Seconds(10));
       }},
      {"start to close", [&](auto& lease) {
         for (int i = 0; i < 6; ++i) {
           EXPECT_OK(Acknowledge(lease));
           Advance(absl::Seconds(2));
         }
       }}};
  for (const End& end : ends) {
    CommandRequest urgent = WithKey("tab-" + end.name, 1);
    urgent.idempotent = end.name == "give-back";
    Register(std::move(urgent));
    const std::string next = Register(WithKey("tab-" + end.name));
    const CommandLease lease = LeaseOne("w1");
    ASSERT_THAT(Lease("w2"), IsEmpty()) << end.name;
    end.cause(lease);
    const CommandLease second = LeaseOne("w2");
    if (end.name == "give-back") {
      EXPECT_EQ(IdOf(second), IdOf(lease));
      ASSERT_OK(Complete(second));
      ASSERT_OK(Complete(LeaseOne("w2")));
    } else {
      EXPECT_EQ(IdOf(second), next) << end.name;
      ASSERT_OK(Complete(second));
    }
  }
}

TEST_F(CommandTurnsTest, RedeliveredCommandHoldsItsKey) {
  const std::string id = Register(WithKey("tab-1"));
  const CommandLease stale = LeaseOne("w1");
  Advance(absl::Seconds(3));
  ASSERT_EQ(StateOf(id), State::kQueued);
  // Its first worker may be at work all the same.
  const std::string urgent = Register(WithKey("tab-1", 5));
  EXPECT_EQ(IdOf(LeaseOne("w2")), id);
  EXPECT_THAT(Lease("w3"), IsEmpty());
  ASSERT_OK(Complete(stale));
  EXPECT_EQ(IdOf(LeaseOne("w3")), urgent);
}

// Workers.

TEST_F(CommandTurnsTest, WorkersTakeTurns) {
  std::vector<std::string> served;
  for (const char* worker : {"w1", "w2", "w3"}) Hold(worker, absl::Hours(1));
  for (int i = 0; i < 6; ++i) {
    Register();
    ASSERT_THAT(answers_, SizeIs(1));
    served.push_back(answers_[0].worker);
    ASSERT_OK(Complete(answers_[0].news.leases[0]));
    answers_.clear();
    Hold(served.back(), absl::Hours(1));
  }
  EXPECT_THAT(served, ElementsAre("w1", "w2", "w3", "w1", "w2", "w3"));
}

TEST_F(CommandTurnsTest, WorkersWithSeveralCallsTakeTurns) {
  for (const char* worker : {"w1", "w2"}) {
    for (int i = 0; i < 3; ++i) Hold(worker, absl::Hours(1));
  }
  for (int i = 0; i < 6; ++i) Register();
  std::vector<std::string> served;
  for (const Answer& answer : answers_) served.push_back(answer.worker);
  EXPECT_THAT(served, ElementsAre("w1", "w2", "w1", "w2", "w1", "w2"));
}

TEST_F(CommandTurnsTest, WorkerWithoutRoomIsPassedOver) {
  for (int i = 0; i < 5; ++i) Register();
  ASSERT_THAT(Lease("w1"), SizeIs(5));
  Hold("w1");
  Hold("w2");
  Register();
  ASSERT_THAT(answers_, SizeIs(1));
  EXPECT_EQ(answers_[0].worker, "w2");
}

// A call for one client.
LeaseRequest ForOne(const std::string& client, const std::string& worker, absl::Time until) {
  return {.worker_id = worker, .hold_until = until, .clients = ClientScope(client)};
}

TEST_F(CommandTurnsTest, WorkerOfOneClientTakesOnlyItsCommands) {
  RegisterOf("a");
  const std::string own = RegisterOf("b");
  RegisterOf("a");
  EXPECT_THAT(IdsOf(Poll(ForOne("b", "w1", clock_.Now())).leases), ElementsAre(own));
  EXPECT_THAT(IdsOf(Poll(ForOne("b", "w1", clock_.Now())).leases), IsEmpty());
  EXPECT_THAT(ClientsServed(2), ElementsAre("a", "a"));
}

TEST_F(CommandTurnsTest, WorkerOfOneClientIsPassedOverForOtherClients) {
  const absl::Time until = clock_.Now() + absl::Seconds(5);
  Hold(ForOne("b", "first", until));
  Hold(ForOne("b", "shared", until));
  Hold("shared");
  Hold("last");
  const std::string a1 = RegisterOf("a");
  const std::string a2 = RegisterOf("a");
  RegisterOf("a");
  ASSERT_THAT(answers_, SizeIs(2));
  EXPECT_EQ(answers_[0].worker, "shared");
  EXPECT_THAT(IdsOf(answers_[0].news.leases), ElementsAre(a1));
  EXPECT_EQ(answers_[1].worker, "last");
  EXPECT_THAT(IdsOf(answers_[1].news.leases), ElementsAre(a2));
  const std::string b = RegisterOf("b");
  ASSERT_THAT(answers_, SizeIs(3));
  EXPECT_EQ(answers_[2].worker, "first");
  EXPECT_THAT(IdsOf(answers_[2].news.leases), ElementsAre(b));
}

TEST_F(CommandTurnsTest, WorkersWithSameNameButOtherScopeAreSeparate) {
  RegisterOf("a");
  const CommandLease lease = LeaseOne("w1");
  // A call for one client takes back no delivery of another client.
  LeaseRequest call = ForOne("b", "w1", clock_.Now());
  call.known.reach_back = absl::Hours(1);
  EXPECT_TRUE(Poll(call).empty());
  EXPECT_EQ((*table_.Get("a", IdOf(lease), /*peek=*/true))->state, State::kDelivered);
  // The deliveries of the other worker do not fill its window, and it is not notified of their
  // ends.
  for (int i = 0; i < kWorkerWindow; ++i) RegisterOf("b");
  EXPECT_THAT(Poll(ForOne("b", "w1", clock_.Now())).leases, SizeIs(kWorkerWindow));
  ASSERT_OK(table_.Cancel("a", IdOf(lease), clock_.Now()));
  EXPECT_TRUE(Poll(ForOne("b", "w1", clock_.Now())).empty());
  EXPECT_THAT(IdsOf(Poll({.worker_id = "w1"}).ended), ElementsAre(IdOf(lease)));
}

TEST_F(CommandTurnsTest, ReportAboutCommandOfOtherClientIsRejected) {
  const std::string id = RegisterOf("a");
  const CommandLease lease = LeaseOne();
  LeaseProof proof = ProofOf(lease);
  proof.clients = ClientScope("b");
  EXPECT_THAT(table_.Acknowledge(id, proof, std::nullopt, nullptr, clock_.Now()).status(),
              FailsWith(absl::StatusCode::kNotFound, "unknown_command"));
  EXPECT_THAT(
      table_.Complete(id, proof, CommandResult{Bytes("42")}, nullptr, clock_.Now()).status(),
      FailsWith(absl::StatusCode::kNotFound, "unknown_command"));
  EXPECT_OK(Complete(lease));
}

}  // namespace
}  // namespace callslip::tracker
