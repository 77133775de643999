// A caller at a port without authentication is `local`: worker and runner of its own commands and
// sessions only, whatever comes over the unix socket beside it.
#include <memory>
#include <optional>
#include <string>

#include "callslip/tracker/v1/annotation_service.grpc.pb.h"
#include "callslip/tracker/v1/runner_service.grpc.pb.h"
#include "callslip/tracker/v1/worker_service.grpc.pb.h"
#include "common/error_details.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tracker/domain/worker/worker_limits.h"
#include "tracker/rpc/access_fixture.h"

namespace callslip::tracker {
namespace {

using google::protobuf::Message;
using google::protobuf::MethodDescriptor;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

class OpenPortTest : public AccessTest {
 protected:
  OpenPortTest() { Serve(); }

  template <typename Stub, typename Request, typename Response>
  absl::StatusOr<Response> OpenCall(grpc::Status (Stub::*method)(grpc::ClientContext*,
                                                                 const Request&, Response*),
                                    const Request& request) {
    return CallOver(tcp_, method, "", request);
  }
  template <typename Stub, typename Request, typename Response>
  absl::StatusOr<Response> UnixCall(grpc::Status (Stub::*method)(grpc::ClientContext*,
                                                                 const Request&, Response*),
                                    const Request& request) {
    return CallOver(unix_, method, "", request);
  }

  std::string RegisterFor(const std::string& client) {
    v1::RegisterCommandRequest request;
    request.set_client_id(client);
    request.set_type("execute_js");
    const auto registered = UnixCall(&v1::CommandService::Stub::RegisterCommand, request);
    EXPECT_OK(registered);
    return registered.ok() ? registered->command().command_id() : "";
  }
  void CreateSessionFor(const std::string& client, const std::string& id) {
    v1::CreateSessionRequest request;
    request.set_client_id(client);
    request.set_session_id(id);
    request.set_acp_server("claude");
    request.set_working_dir("/web");
    ASSERT_OK(UnixCall(&v1::SessionService::Stub::CreateSession, request));
    v1::AddMessageRequest message;
    message.set_client_id(client);
    message.set_session_id(id);
    message.set_message("go");
    ASSERT_OK(UnixCall(&v1::QueueService::Stub::AddMessage, message));
  }
  static std::vector<std::string> IdsOf(const v1::LeaseCommandsResponse& response) {
    std::vector<std::string> ids;
    for (const v1::CommandLease& lease : response.leases()) {
      ids.push_back(lease.command().command_id());
    }
    return ids;
  }
  // The session of the first assignment.
  std::string Assigned(const std::shared_ptr<grpc::Channel>& channel, const std::string& runner) {
    v1::ServeRequest request;
    request.set_runner_id(runner);
    request.set_instance(runner);
    request.set_max_agents(4);
    request.add_agents()->set_name("claude");
    v1::Workspace& workspace = *request.add_workspaces();
    workspace.set_name("web");
    workspace.set_dir("/web");
    grpc::ClientContext context;
    const auto reader = v1::RunnerService::Stub(channel).Serve(&context, request);
    v1::Assignment assignment;
    std::string session;
    while (session.empty() && reader->Read(&assignment))
      session = assignment.session().session_id();
    context.TryCancel();
    reader->Finish();
    return session;
  }
};

TEST_F(OpenPortTest, ForeignIdIsUnknownToEveryMethod) {
  const std::string command = RegisterFor("alice");
  CreateSessionFor("alice", "hers");
  const Caller local{"local", "without a token", ""};
  int looked_up = 0;
  for (const MethodDescriptor* method : AllMethods()) {
    const bool of_command = Names(*method, "command_id");
    if (!of_command && !Names(*method, "session_id")) continue;
    if (method->name() == "CreateSession") continue;
    const absl::Status outcome = Outcome(*method, local, [&](Message& request) {
      SetText(request, "command_id", command);
      SetText(request, "session_id", "hers");
      // Members that are checked before the session.
      if (auto* append = dynamic_cast<v1::AppendEventsRequest*>(&request)) {
        append->add_events()->set_type("usage");
      }
      if (auto* finish = dynamic_cast<v1::FinishTurnRequest*>(&request)) {
        finish->set_outcome(v1::FinishTurnRequest::OUTCOME_COMPLETED);
      }
      if (auto* complete = dynamic_cast<v1::CompleteCommandRequest*>(&request)) {
        complete->set_result("{}");
      }
      if (auto* state = dynamic_cast<v1::SetAgentStateRequest*>(&request)) {
        state->set_status(v1::AGENT_STATUS_IDLE);
      }
    });
    EXPECT_EQ(DetailsOf(outcome).reason, of_command ? "unknown_command" : "unknown_session")
        << method->full_name() << ": " << outcome;
    ++looked_up;
  }
  EXPECT_GT(looked_up, 40);
}

TEST_F(OpenPortTest, CallerLeasesOnlyItsOwnCommands) {
  RegisterFor("alice");
  const std::string own = RegisterFor("local");
  v1::LeaseCommandsRequest lease;
  lease.set_worker_id("open");
  ASSERT_OK_AND_ASSIGN(const auto leased,
                       OpenCall(&v1::CommandService::Stub::LeaseCommands, lease));
  EXPECT_THAT(IdsOf(leased), ElementsAre(own));
  grpc::ClientContext context;
  context.set_deadline(gpr_time_from_millis(100, GPR_TIMESPAN));
  v1::StreamCommandsRequest stream;
  stream.set_worker_id("open");
  const auto reader = v1::CommandService::Stub(tcp_).StreamCommands(&context, stream);
  v1::StreamCommandsResponse response;
  EXPECT_FALSE(reader->Read(&response));
  EXPECT_EQ(reader->Finish().error_code(), grpc::DEADLINE_EXCEEDED);
}

// Old pollers report without a lease.
TEST_F(OpenPortTest, CallerCannotCompleteForeignCommandLeasedWithoutProof) {
  const std::string id = RegisterFor("alice");
  v1::LeaseCommandsRequest lease;
  lease.set_without_proof(true);
  ASSERT_OK(UnixCall(&v1::CommandService::Stub::LeaseCommands, lease));
  v1::CompleteCommandRequest complete;
  complete.set_command_id(id);
  complete.set_result("{}");
  EXPECT_EQ(
      DetailsOf(OpenCall(&v1::CommandService::Stub::CompleteCommand, complete).status()).reason,
      "unknown_command");
  EXPECT_OK(UnixCall(&v1::CommandService::Stub::CompleteCommand, complete));
}

TEST_F(OpenPortTest, CallerCannotUseTheNameOfAForeignWorker) {
  v1::LeaseCommandsRequest lease;
  lease.set_worker_id("laptop");
  ASSERT_OK(UnixCall(&v1::CommandService::Stub::LeaseCommands, lease));
  v1::ReportWorkerRequest report;
  report.set_worker_id("laptop");
  report.mutable_report()->set_name("Fake");
  v1::AppendWorkerLogRequest log;
  log.set_worker_id("laptop");
  log.set_kind("console");
  log.add_entries("{}");
  EXPECT_EQ(DetailsOf(OpenCall(&v1::CommandService::Stub::LeaseCommands, lease).status()).reason,
            "worker_taken");
  EXPECT_EQ(DetailsOf(OpenCall(&v1::WorkerService::Stub::ReportWorker, report).status()).reason,
            "worker_taken");
  EXPECT_EQ(DetailsOf(OpenCall(&v1::WorkerService::Stub::AppendWorkerLog, log).status()).reason,
            "worker_taken");
}

TEST_F(OpenPortTest, WorkerThatReportsKeepsItsName) {
  RegisterFor("alice");
  v1::LeaseCommandsRequest lease;
  lease.set_worker_id("laptop");
  ASSERT_OK_AND_ASSIGN(const auto leased,
                       UnixCall(&v1::CommandService::Stub::LeaseCommands, lease));
  ASSERT_THAT(leased.leases(), SizeIs(1));
  clock_.Advance(kNameKeptFor + absl::Seconds(1));
  v1::AcknowledgeCommandRequest at_work;
  at_work.set_command_id(leased.leases(0).command().command_id());
  at_work.set_lease_token(leased.leases(0).lease_token());
  ASSERT_OK(UnixCall(&v1::CommandService::Stub::AcknowledgeCommand, at_work));
  EXPECT_EQ(DetailsOf(OpenCall(&v1::CommandService::Stub::LeaseCommands, lease).status()).reason,
            "worker_taken");
}

TEST_F(OpenPortTest, StreamEndedByTheTrackerReleasesItsWorkerName) {
  v1::StreamCommandsRequest stream;
  stream.set_worker_id("laptop");
  stream.set_max_unfinished(kWorkerWindow + 1);
  grpc::ClientContext context;
  const auto reader = v1::CommandService::Stub(unix_).StreamCommands(&context, stream);
  v1::StreamCommandsResponse response;
  EXPECT_FALSE(reader->Read(&response));
  EXPECT_EQ(reader->Finish().error_code(), grpc::INVALID_ARGUMENT);
  v1::LeaseCommandsRequest lease;
  lease.set_worker_id("laptop");
  // The tracker may notice the end of the stream later than the caller.
  absl::Status taken;
  for (int i = 0; i < 100 && (i == 0 || !taken.ok()); ++i) {
    clock_.Advance(kNameKeptFor + absl::Seconds(1));
    taken = OpenCall(&v1::CommandService::Stub::LeaseCommands, lease).status();
  }
  EXPECT_OK(taken);
}

TEST_F(OpenPortTest, CallerCannotClaimAPlaceOfAForeignWorker) {
  RegisterFor("local");
  v1::LeaseCommandsRequest lease;
  lease.set_worker_id("laptop");
  ASSERT_OK_AND_ASSIGN(const auto leased,
                       OpenCall(&v1::CommandService::Stub::LeaseCommands, lease));
  ASSERT_THAT(leased.leases(), SizeIs(1));
  // A worker of all clients comes back and reports an entry.
  ASSERT_OK(UnixCall(&v1::CommandService::Stub::LeaseCommands, lease));
  v1::AppendWorkerLogRequest log;
  log.set_worker_id("laptop");
  log.set_kind("console");
  log.add_entries("{}");
  log.add_places("7");
  log.set_client_id("alice");
  ASSERT_OK(UnixCall(&v1::WorkerService::Stub::AppendWorkerLog, log));
  v1::CompleteCommandRequest complete;
  complete.set_command_id(leased.leases(0).command().command_id());
  complete.set_lease_token(leased.leases(0).lease_token());
  complete.set_place("7");
  complete.set_result("{}");
  ASSERT_OK(OpenCall(&v1::CommandService::Stub::CompleteCommand, complete));
  ASSERT_OK(UnixCall(&v1::WorkerService::Stub::AppendWorkerLog, log));
  v1::ListWorkerLogRequest list;
  list.set_client_id("local");
  ASSERT_OK_AND_ASSIGN(const auto listed, UnixCall(&v1::WorkerService::Stub::ListWorkerLog, list));
  EXPECT_THAT(listed.entries(), IsEmpty());
}

TEST_F(OpenPortTest, CallerDrawsOnlyForItself) {
  v1::RequestAnnotationsRequest ask;
  ask.set_client_id("alice");
  ASSERT_OK_AND_ASSIGN(const auto asked,
                       UnixCall(&v1::AnnotationService::Stub::RequestAnnotations, ask));
  v1::AppendAnnotationsRequest draw;
  draw.mutable_drawing()->set_content(R"({"annotations":[]})");
  draw.add_command_ids(asked.command().command_id());
  ASSERT_OK_AND_ASSIGN(const auto drawn,
                       OpenCall(&v1::AnnotationService::Stub::AppendAnnotations, draw));
  EXPECT_THAT(drawn.completed_command_ids(), IsEmpty());
  v1::ListAnnotationsRequest list;
  list.set_client_id("alice");
  ASSERT_OK_AND_ASSIGN(const auto listed,
                       UnixCall(&v1::AnnotationService::Stub::ListAnnotations, list));
  EXPECT_THAT(listed.drawings(), IsEmpty());
}

TEST_F(OpenPortTest, CallerServesOnlyItsOwnSessions) {
  CreateSessionFor("alice", "hers");
  CreateSessionFor("local", "own");
  EXPECT_EQ(Assigned(tcp_, "open"), "own");
  EXPECT_EQ(Assigned(unix_, "all"), "hers");
}

}  // namespace
}  // namespace callslip::tracker
