#include <string>
#include <utility>
#include <vector>

#include "tracker/domain/command/command_limits.h"
#include "tracker/domain/queue/command_table_fixture.h"

namespace callslip::tracker {
namespace {

using ::testing::HasSubstr;

class CommandRegisteringTest : public CommandTableTest {
 protected:
  using CommandTableTest::CommandTableTest;

  static CommandRequest WithRequestId(std::string request_id) {
    CommandRequest request = Request();
    request.request_id = std::move(request_id);
    return request;
  }

  // Expects a refusal because of a limit, of this client or of all.
  void ExpectNoRoom(CommandRequest request, const std::string& reason, bool of_client) {
    const auto refused = TryRegister(std::move(request));
    EXPECT_THAT(refused, FailsWith(StatusCode::kResourceExhausted, reason));
    EXPECT_THAT(std::string(refused.status().message()),
                HasSubstr(of_client ? "of this client" : "of all clients"));
    EXPECT_GT(DetailsOf(refused.status()).retry_after, absl::ZeroDuration());
  }
};

// Validation.

TEST_F(CommandRegisteringTest, OmittedFieldsHaveDefaults) {
  CommandRequest request;
  request.type = "execute_js";
  ASSERT_OK_AND_ASSIGN(const CommandRegistration registration, TryRegister(std::move(request)));
  EXPECT_FALSE(registration.existed);
  const CommandSpec& spec = *registration.command->spec;
  EXPECT_EQ(spec.client_id(), "local");
  EXPECT_EQ(spec.target(), "browser");
  EXPECT_EQ(*spec.params, "{}");
  EXPECT_OK(table_.Get("", spec.id.ToString(), true));
  EXPECT_THAT(Poll({}).leases, SizeIs(1));
}

TEST_F(CommandRegisteringTest, ErrorOfInvalidRegistrationNamesField) {
  const std::string long_name(kMaxNameBytes + 1, 'x');
  const auto expect_invalid = [&](const std::string& field, auto spoil) {
    CommandRequest request = Request();
    spoil(request);
    const auto refused = TryRegister(std::move(request));
    EXPECT_THAT(refused, FailsWith(StatusCode::kInvalidArgument, "invalid_argument"));
    EXPECT_THAT(std::string(refused.status().message()), testing::StartsWith(field));
  };
  expect_invalid("type", [](auto& request) { request.type = ""; });
  expect_invalid("type", [](auto& request) { request.type = std::string(65, 'x'); });
  expect_invalid("client_id", [&](auto& request) { request.client_id = long_name; });
  expect_invalid("target", [&](auto& request) { request.target = long_name; });
  expect_invalid("target", [](auto& request) { request.target = "two\nlines"; });
  expect_invalid("request_id", [&](auto& request) { request.request_id = long_name; });
  expect_invalid("label", [&](auto& request) { request.label = long_name; });
  expect_invalid("ordering_key", [&](auto& request) { request.ordering_key = long_name; });
  expect_invalid("priority", [](auto& request) { request.priority = 101; });
  expect_invalid("priority", [](auto& request) { request.priority = -101; });
  expect_invalid("params", [](auto& request) {
    request.params = Bytes(std::string(kMaxParamsBytes + 1, 'x'));
  });
  expect_invalid("not_before", [&](auto& request) {
    request.not_before = clock_.Now() + absl::Hours(24) + kTick;
  });
  expect_invalid("not_before", [&](auto& request) {
    request.command_class = CommandClass::kHuman;
    request.not_before = clock_.Now() + absl::Seconds(1);
  });
  EXPECT_EQ(table_.commands(), 0);
  EXPECT_THAT(Lease(), IsEmpty());
}

TEST_F(CommandRegisteringTest, LargestRegistrationIsAccepted) {
  const std::string name(kMaxNameBytes, 'x');
  CommandRequest request = Request(name);
  request.target = request.request_id = request.label = request.ordering_key = name;
  request.type = std::string(kMaxTypeBytes, 't');
  request.params = Bytes(std::string(kMaxParamsBytes, 'p'));
  request.priority = 100;
  request.not_before = clock_.Now() + absl::Hours(24);
  ASSERT_OK_AND_ASSIGN(const CommandRegistration registration, TryRegister(request));
  const CommandSpec& spec = *registration.command->spec;
  EXPECT_EQ(spec.client_id(), name);
  EXPECT_EQ(spec.target(), name);
  EXPECT_EQ(spec.type(), request.type);
  EXPECT_EQ(spec.request_id(), name);
  EXPECT_EQ(spec.label(), name);
  EXPECT_EQ(spec.ordering_key(), name);
  EXPECT_TRUE(spec.IsFor(request));
}

// Request ids.

TEST_F(CommandRegisteringTest, SameRequestIdReturnsSameCommand) {
  CommandRequest request = WithRequestId("r1");
  const std::string id = Register(request);
  Lease();
  request.label = "another label";
  ASSERT_OK_AND_ASSIGN(const CommandRegistration again, TryRegister(request));
  EXPECT_TRUE(again.existed);
  EXPECT_EQ(IdOf(*again.command), id);
  EXPECT_EQ(again.command->state, State::kDelivered);
  EXPECT_EQ(table_.commands(), 1);

  request.client_id = "other";
  EXPECT_FALSE(TryRegister(request)->existed);
}

TEST_F(CommandRegisteringTest, RequestIdWithOtherContentIsRefused) {
  CommandRequest request = WithRequestId("r1");
  request.not_before = clock_.Now() + absl::Seconds(1);
  Register(request);
  EXPECT_TRUE(TryRegister(request)->existed);
  const auto expect_reused = [&](auto change) {
    CommandRequest changed = request;
    change(changed);
    EXPECT_THAT(TryRegister(changed), FailsWith(StatusCode::kAlreadyExists, "request_id_reused"));
  };
  expect_reused([](auto& changed) { changed.target = "elsewhere"; });
  expect_reused([](auto& changed) { changed.type = "navigate"; });
  expect_reused([](auto& changed) { changed.params = Bytes(R"({"script":"2"})"); });
  expect_reused([](auto& changed) { changed.ordering_key = "tab-1"; });
  expect_reused([](auto& changed) { changed.priority = 1; });
  expect_reused([](auto& changed) { changed.idempotent = true; });
  expect_reused([](auto& changed) { changed.not_before += kTick; });
  expect_reused([](auto& changed) { changed.deadlines.ack_wait = absl::Seconds(4); });
  expect_reused([](auto& changed) {
    changed.command_class = CommandClass::kHuman;
    changed.not_before = absl::InfinitePast();
  });
  EXPECT_EQ(table_.commands(), 1);
}

TEST_F(CommandRegisteringTest, RepeatIsRecognizedAfterNotBeforeHasPassed) {
  CommandRequest request = WithRequestId("r1");
  request.not_before = clock_.Now() + absl::Seconds(1);
  Register(request);
  Advance(absl::Seconds(2));
  EXPECT_TRUE(TryRegister(request)->existed);
  CommandRequest of_the_past = WithRequestId("r2");
  of_the_past.not_before = clock_.Now() - absl::Seconds(1);
  Register(of_the_past);
  EXPECT_TRUE(TryRegister(of_the_past)->existed);
}

TEST_F(CommandRegisteringTest, RequestIdIsUniquePerClientAcrossTargets) {
  CommandRequest request = WithRequestId("r1");
  request.target = "target-0";
  Register(request);
  for (int i = 1; i < 64; ++i) {
    request.target = "target-" + std::to_string(i);
    EXPECT_THAT(TryRegister(request), FailsWith(StatusCode::kAlreadyExists, "request_id_reused"));
  }
}

TEST_F(CommandRegisteringTest, RequestIdIsFreeAfterTombstoneIsDropped) {
  const std::string id = Register(WithRequestId("r1"));
  ASSERT_OK(Cancel(id));
  EXPECT_TRUE(TryRegister(WithRequestId("r1"))->existed);
  // After the retention of the command, and then of its tombstone.
  Advance(absl::Minutes(10));
  Advance(absl::Minutes(10));
  ASSERT_OK_AND_ASSIGN(const CommandRegistration anew, TryRegister(WithRequestId("r1")));
  EXPECT_FALSE(anew.existed);
  EXPECT_NE(IdOf(*anew.command), id);
  EXPECT_TRUE(TryRegister(WithRequestId("r1"))->existed);
}

TEST_F(CommandRegisteringTest, RefusedRegistrationDoesNotUseUpItsRequestId) {
  for (int i = 0; i < 100; ++i) Register();
  EXPECT_THAT(TryRegister(WithRequestId("r1")),
              FailsWith(StatusCode::kResourceExhausted, "queue_full"));
  Lease("w1", 1);
  EXPECT_FALSE(TryRegister(WithRequestId("r1"))->existed);
  // A known request is answered even if the queue is full.
  EXPECT_TRUE(TryRegister(WithRequestId("r1"))->existed);
}

// Limits.

TEST_F(CommandRegisteringTest, FullQueueRefusesAndReportsDepth) {
  for (int i = 0; i < 100; ++i) Register();
  ExpectNoRoom(Request(), "queue_full", true);
  EXPECT_EQ(DetailsOf(TryRegister(Request()).status()).depth, 100);
  EXPECT_OK(TryRegister(Request("other"))) << "others have their own places";
  EXPECT_OK(TryRegister(HumanRequest())) << "no worker is to take it";
  CommandRequest elsewhere = Request();
  elsewhere.target = "elsewhere";
  EXPECT_OK(TryRegister(std::move(elsewhere)));
  Lease("w1", 1);
  EXPECT_OK(TryRegister(Request()));
}

TEST_F(CommandRegisteringTest, QueueOfAllClientsHasItsOwnLimit) {
  for (int i = 0; i < 1000; ++i) ASSERT_OK(TryRegister(Request("c" + std::to_string(i / 100))));
  ExpectNoRoom(Request("one more"), "queue_full", false);
  EXPECT_EQ(DetailsOf(TryRegister(Request("one more")).status()).depth, 1000);
  Lease("w1", 1);
  EXPECT_OK(TryRegister(Request("one more")));
}

TEST_F(CommandRegisteringTest, DelayedAndReturnedCommandsCountInQueue) {
  CommandRequest request = IdempotentRequest();
  const std::string returned = Register(request);
  Lease();
  request.not_before = clock_.Now() + absl::Hours(1);
  request.request_id = "delayed";
  const std::string delayed = Register(request);
  for (int i = 0; i < 99; ++i) Register(IdempotentRequest());
  ExpectNoRoom(Request(), "queue_full", true);
  // A command that returns to the queue is never refused.
  Advance(absl::Seconds(3));
  EXPECT_EQ(DetailsOf(TryRegister(Request()).status()).depth, 101);
  ASSERT_OK(Cancel(returned));
  ASSERT_OK(Cancel(delayed));
  EXPECT_OK(TryRegister(Request()));
}

class FewCommandsTest : public CommandRegisteringTest {
 protected:
  FewCommandsTest()
      : CommandRegisteringTest({.failed_of_client = 1, .commands = 3, .commands_of_client = 2}) {}
};

TEST_F(FewCommandsTest, CommandsAreLimitedPerClientAndInTotal) {
  CommandRequest elsewhere = Request();
  elsewhere.target = "elsewhere";
  const std::string id = Register(elsewhere);
  Register(HumanRequest());
  ExpectNoRoom(Request(), "too_many_commands", true);
  ASSERT_OK(TryRegister(Request("other")));
  ExpectNoRoom(Request("other"), "too_many_commands", false);
  // Ended commands count as long as they are kept.
  ASSERT_OK(Cancel(id));
  ExpectNoRoom(Request("other"), "too_many_commands", false);
  Advance(absl::Minutes(10));
  EXPECT_OK(TryRegister(Request("other")));
}

class FewBytesTest : public CommandRegisteringTest {
 protected:
  FewBytesTest() : CommandRegisteringTest({.payload_bytes = 300, .payload_bytes_of_client = 200}) {}

  static CommandRequest WithParams(size_t bytes, std::string client = kClient) {
    CommandRequest request = Request(std::move(client));
    request.params = Bytes(std::string(bytes, 'p'));
    return request;
  }
};

TEST_F(FewBytesTest, RegistrationsAreRefusedAboveClientAndTotalLimit) {
  ExpectNoRoom(WithParams(201), "too_many_bytes", true);
  const std::string id = Register(WithParams(200));
  ExpectNoRoom(WithParams(1), "too_many_bytes", true);
  ASSERT_OK(TryRegister(WithParams(100, "other")));
  ExpectNoRoom(WithParams(1, "other"), "too_many_bytes", false);
  EXPECT_EQ(table_.payload_bytes(), 300);
  ASSERT_OK(Cancel(id));
  Advance(absl::Minutes(10));
  EXPECT_EQ(table_.payload_bytes(), 100);
  EXPECT_OK(TryRegister(WithParams(200)));
}

TEST_F(FewBytesTest, ResultsAboveTwiceTheLimitAreDropped) {
  Register(WithParams(100));
  const std::string dropped = Register(WithParams(100));
  const auto leases = Lease();
  ASSERT_THAT(leases, SizeIs(2));
  EXPECT_TRUE(Complete(leases[0], std::string(200, 'r'))->accepted);
  ASSERT_OK_AND_ASSIGN(const CompleteResult refused, Complete(leases[1], "a byte more"));
  EXPECT_TRUE(refused.accepted);
  EXPECT_EQ(refused.state, State::kFailed);
  ExpectEnd(dropped, State::kFailed, "result_dropped", true);
  EXPECT_EQ(Peek(dropped).result, nullptr);
  EXPECT_EQ(table_.payload_bytes(), 400);
  EXPECT_FALSE(Complete(leases[1], "a byte more")->accepted);
  EXPECT_EQ(Peek(dropped).late_result, nullptr) << "for which there is no room either";
}

TEST_F(FewBytesTest, AllPayloadsOfCommandCount) {
  const std::string id = Register(WithParams(100));
  const CommandLease lease = LeaseOne();
  ASSERT_OK(table_.Acknowledge(id, ProofOf(lease), std::nullopt, Bytes("12345"), clock_.Now()));
  EXPECT_EQ(table_.payload_bytes(), 105);
  ASSERT_OK(Cancel(id));
  ASSERT_OK(Complete(lease, "1234567890"));
  EXPECT_EQ(table_.payload_bytes(), 115);
  Advance(absl::Minutes(10));
  EXPECT_EQ(table_.payload_bytes(), 0);
}

}  // namespace
}  // namespace callslip::tracker
