// Owners of commands and sessions, and callers that act for other clients.
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "callslip/tracker/v1/queue_service.pb.h"
#include "common/error_details.h"
#include "gtest/gtest.h"
#include "tracker/rpc/access_fixture.h"
#include "tracker/server/rpc_access.h"

namespace callslip::tracker {
namespace {

using google::protobuf::Message;
using google::protobuf::MethodDescriptor;

class OwnershipTest : public GuardedAccessTest {};

TEST_F(OwnershipTest, ForeignIdIsUnknownToEveryMethodOfClients) {
  const std::string command = Register();
  CreateSession("mine");
  const Caller other{"client", "other client", TokenOf("other")};
  int looked_up = 0;
  for (const MethodDescriptor* method : AllMethods()) {
    if (!AccessOf(*method)->Allows(Role::kClient)) continue;
    const bool of_command = Names(*method, "command_id");
    if (!of_command && !Names(*method, "session_id")) continue;
    if (method->name() == "CreateSession") continue;
    const absl::Status outcome = Outcome(*method, other, [&](Message& request) {
      SetText(request, "command_id", command);
      SetText(request, "session_id", "mine");
      // Members that are checked before the session.
      if (auto* append = dynamic_cast<v1::AppendEventsRequest*>(&request)) {
        append->add_events()->set_type("usage");
      }
      if (auto* finish = dynamic_cast<v1::FinishTurnRequest*>(&request)) {
        finish->set_outcome(v1::FinishTurnRequest::OUTCOME_COMPLETED);
      }
    });
    EXPECT_EQ(DetailsOf(outcome).reason, of_command ? "unknown_command" : "unknown_session")
        << method->full_name() << ": " << outcome;
    ++looked_up;
  }
  EXPECT_GT(looked_up, 30);
}

// A runner gets sessions of all clients, and names their owners.
TEST_F(OwnershipTest, OnlyAdminsGatewaysAndRunnersActForOtherClients) {
  for (const MethodDescriptor* method : AllMethods()) {
    if (!Names(*method, "client_id")) continue;
    const std::optional<RpcAccess> access = AccessOf(*method);
    for (const Caller& caller : Callers()) {
      const std::optional<Role> role = ParseRole(caller.column);
      if (!role.has_value() || !access->Allows(*role)) continue;
      const absl::Status outcome = Outcome(
          *method, caller, [](Message& request) { SetText(request, "client_id", "mallory"); });
      const bool may = RoleSet{Role::kAdmin, Role::kGateway, Role::kRunner}.Has(*role);
      EXPECT_EQ(DetailsOf(outcome).reason == "not_your_client", !may)
          << method->full_name() << " by " << caller.name << ": " << outcome;
    }
  }
}

TEST_F(OwnershipTest, ForgedResultIsRefusedAndGenuineOneIsAccepted) {
  const std::string id = Register("client");
  ASSERT_OK_AND_ASSIGN(const v1::CommandLease lease, Lease("worker"));
  for (const char* forger : {"other", "client", "viewer", "worker", "shells", "runner", "admin"}) {
    EXPECT_FALSE(Complete(forger, id, "", R"({"forged":true})").ok()) << forger;
    EXPECT_FALSE(Complete(forger, id, "lease-0000000000000000", "{}").ok()) << forger;
  }
  ASSERT_OK(Complete("worker", id, lease.lease_token(), R"({"genuine":true})"));
  EXPECT_EQ(Get("client", id)->command().result(), R"({"genuine":true})");
}

TEST_F(OwnershipTest, ViewersAndAdminsReadCommandsOfAllClients) {
  const std::string id = Register("client");
  EXPECT_EQ(DetailsOf(Get("other", id).status()).reason, "unknown_command");
  EXPECT_OK(Get("viewer", id));
  EXPECT_OK(Get("admin", id));
  const auto listed = [&](const std::string& as, const std::string& owner) {
    v1::ListCommandsRequest request;
    request.set_owner(owner);
    const auto page = Call(&v1::CommandService::Stub::ListCommands, as, request);
    return page.ok() ? page->commands_size() : -1;
  };
  EXPECT_EQ(listed("viewer", ""), 0);
  EXPECT_EQ(listed("viewer", "client"), 1);
  EXPECT_EQ(listed("viewer", "other"), 0);
  EXPECT_EQ(listed("admin", "*"), 1);
  EXPECT_EQ(listed("client", "client"), 1);
  EXPECT_EQ(listed("client", "*"), -1);
  EXPECT_EQ(listed("other", "client"), -1);
}

TEST_F(OwnershipTest, WorkerLeasesOnlyFromItsTargets) {
  Register("client");
  const std::string shell = Register("client", "shell");
  EXPECT_EQ(DetailsOf(Lease("shells", "browser").status()).reason, "not_your_target");
  ASSERT_OK_AND_ASSIGN(const v1::CommandLease lease, Lease("shells"));
  EXPECT_EQ(lease.command().command_id(), shell);
  ASSERT_OK_AND_ASSIGN(const v1::CommandLease other, Lease("worker"));
  EXPECT_EQ(
      DetailsOf(Complete("shells", other.command().command_id(), other.lease_token(), "1").status())
          .reason,
      "unknown_command");
  EXPECT_OK(Complete("shells", shell, lease.lease_token(), "1"));
}

TEST_F(OwnershipTest, NamedWorkerReportsWithoutProofOnlyOnItsOwnLeases) {
  const std::string theirs = Register("client");
  ASSERT_OK(Lease("worker", "", /*without_proof=*/true));
  EXPECT_EQ(DetailsOf(Complete("laptop", theirs, "", "1").status()).reason, "unknown_command");
  const std::string its_own = Register("client");
  ASSERT_OK_AND_ASSIGN(const v1::CommandLease lease, Lease("laptop", "", /*without_proof=*/true));
  EXPECT_EQ(lease.command().command_id(), its_own);
  EXPECT_OK(Complete("laptop", its_own, "", "1"));
  EXPECT_OK(Complete("worker", theirs, "", "1"));
}

TEST_F(OwnershipTest, RunnerLeasesOnlyFromTargetsOfSessions) {
  Register("client");
  const std::string shell = Register("client", "session-s");
  EXPECT_EQ(DetailsOf(Lease("runner").status()).reason, "not_your_target");
  EXPECT_EQ(DetailsOf(Lease("runner", "browser").status()).reason, "not_your_target");
  ASSERT_OK_AND_ASSIGN(const v1::CommandLease lease, Lease("runner", "session-s"));
  EXPECT_EQ(lease.command().command_id(), shell);
  EXPECT_OK(Complete("runner", shell, lease.lease_token(), "1"));
}

TEST_F(OwnershipTest, WatchOfAForeignCommandNeedsAccessAndDoesNotCollect) {
  const std::string id = Register("client");
  ASSERT_OK_AND_ASSIGN(const v1::CommandLease lease, Lease("worker"));
  ASSERT_OK(Complete("worker", id, lease.lease_token(), "1"));
  const auto watch = [&](const std::string& as, const std::string& owner) {
    grpc::ClientContext context;
    context.AddMetadata("authorization", "Bearer " + TokenOf(as));
    const auto stream = v1::CommandService::NewStub(tcp_)->WatchCommands(&context);
    v1::WatchCommandsRequest request;
    v1::CommandWatch& added = *request.add_add();
    added.set_watch_id(1);
    added.set_command_id(id);
    added.set_owner(owner);
    stream->Write(request);
    v1::WatchCommandsResponse response;
    const bool answered = stream->Read(&response);
    context.TryCancel();
    stream->Finish();
    return answered ? response.updates(0).error().reason() : "no answer";
  };
  for (const char* owner : {"", "*", "client"}) EXPECT_EQ(watch("viewer", owner), "") << owner;
  EXPECT_EQ(watch("other", ""), "unknown_command");
  EXPECT_EQ(watch("other", "client"), "not_your_client");
  clock_.Advance(absl::Seconds(61));
  table_.FireDeadlines(clock_.Now());  // As the deadline thread is about to.
  EXPECT_EQ(Get("client", id)->command().state(), v1::COMMAND_STATE_EXPIRED);
}

TEST_F(OwnershipTest, GatewayNamesTheClientAndRoleThatItActsAs) {
  const std::string id = Register("client");
  const auto get = [&](const std::string& client) {
    v1::GetCommandRequest request;
    request.set_command_id(id);
    request.set_client_id(client);
    return DetailsOf(Call(&v1::CommandService::Stub::GetCommand, "gateway", request).status())
        .reason;
  };
  EXPECT_EQ(get("client"), "");
  EXPECT_EQ(get("other"), "unknown_command");
  EXPECT_EQ(get("other@client"), "unknown_command");
  EXPECT_EQ(get("bob@viewer"), "");
  EXPECT_EQ(get("bob@admin"), "");
  for (const char* bad : {"bob@gateway", "bob@local", "bob@", "@admin", "*", "*@admin", "bob@x"}) {
    EXPECT_NE(get(bad), "") << bad;
  }
  const auto lists = [&](const std::string& client) {
    v1::ListCommandsRequest request;
    request.set_owner("*");
    request.set_client_id(client);
    return Call(&v1::CommandService::Stub::ListCommands, "gateway", request).ok();
  };
  EXPECT_TRUE(lists("bob@viewer"));
  EXPECT_TRUE(lists(""));
  EXPECT_FALSE(lists("client")) << "a client sees its own alone, whoever asks for it";
  EXPECT_FALSE(lists("gateway")) << "also one that has the gateway's name";
  v1::CancelCommandRequest cancel;
  cancel.set_command_id(id);
  cancel.set_client_id("bob@viewer");
  EXPECT_EQ(
      DetailsOf(Call(&v1::CommandService::Stub::CancelCommand, "gateway", cancel).status()).reason,
      "role_not_allowed");
}

TEST_F(OwnershipTest, RevokedTokenEndsOnlyItsOwnCalls) {
  v1::LeaseCommandsRequest request;
  request.mutable_max_wait()->set_seconds(30);
  struct Poll {
    grpc::ClientContext context;
    v1::LeaseCommandsResponse response;
    grpc::Status status;
    std::thread thread;
  };
  const auto begin = [&](Poll& poll, const std::string& as) {
    poll.context.AddMetadata("authorization", "Bearer " + TokenOf(as));
    poll.thread = std::thread([&poll, &request, this] {
      poll.status =
          v1::CommandService::NewStub(tcp_)->LeaseCommands(&poll.context, request, &poll.response);
    });
  };
  Poll revoked;
  Poll other;
  begin(revoked, "worker");
  begin(other, "shells");
  while (table_.waits() < 2) (void)Get("viewer", "corr-0-00000000000000000000000000000000");
  std::vector<TokenFile::Entry> left = Entries();
  std::erase_if(left, [](const auto& entry) { return entry.principal.name == "worker"; });
  credentials_->Replace(left);
  server_.CancelRevokedCalls();
  revoked.thread.join();
  EXPECT_EQ(revoked.status.error_code(), grpc::CANCELLED);
  EXPECT_TRUE(absl::IsUnauthenticated(Lease("worker").status()));
  while (table_.waits() > 1) (void)Get("viewer", "corr-0-00000000000000000000000000000000");
  const std::string id = Register("client", "shell");
  other.thread.join();
  EXPECT_TRUE(other.status.ok());
  EXPECT_EQ(other.response.leases(0).command().command_id(), id);
}

}  // namespace
}  // namespace callslip::tracker
