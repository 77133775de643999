// Who may call what, for each method of the protos, as docs/access.md says.
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "auth/credentials.h"
#include "callslip/tracker/v1/command_service.grpc.pb.h"
#include "callslip/tracker/v1/queue_service.pb.h"
#include "callslip/tracker/v1/session_service.grpc.pb.h"
#include "common/error_details.h"
#include "common/fake_clock.h"
#include "common/rpc_status.h"
#include "common/status_macros.h"
#include "common/status_matchers.h"
#include "gmock/gmock.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/message.h"
#include "grpc/support/time.h"
#include "grpcpp/generic/generic_stub.h"
#include "grpcpp/grpcpp.h"
#include "grpcpp/impl/codegen/proto_utils.h"
#include "gtest/gtest.h"
#include "support/temporary_folder.h"
#include "tracker/deadline_thread.h"
#include "tracker/domain/session/session_table.h"
#include "tracker/rpc/rpc_access.h"
#include "tracker/rpc/tracker_server.h"
#include "tracker/storage/file_session_storage.h"
#include "tracker/storage/measured_disk.h"

namespace callslip::tracker {
namespace {

using google::protobuf::DescriptorPool;
using google::protobuf::Message;
using google::protobuf::MessageFactory;
using google::protobuf::MethodDescriptor;
using google::protobuf::ServiceDescriptor;
using ::testing::IsEmpty;

constexpr const char* kServices[] = {"callslip.tracker.v1.AdminService",
                                     "callslip.tracker.v1.AnnotationService",
                                     "callslip.tracker.v1.CommandService",
                                     "callslip.tracker.v1.QueueService",
                                     "callslip.tracker.v1.SessionService",
                                     "callslip.tracker.v1.WorkerService",
                                     "grpc.health.v1.Health"};

std::vector<const MethodDescriptor*> AllMethods() {
  std::vector<const MethodDescriptor*> methods;
  for (const char* name : kServices) {
    const ServiceDescriptor* service = DescriptorPool::generated_pool()->FindServiceByName(name);
    EXPECT_NE(service, nullptr) << name;
    for (int i = 0; service != nullptr && i < service->method_count(); ++i) {
      methods.push_back(service->method(i));
    }
  }
  return methods;
}

// The rows of the table of methods in docs/access.md: who may, by method and by the column's name.
std::map<std::string, std::set<std::string>> DocumentedAccess() {
  std::map<std::string, std::set<std::string>> access;
  std::ifstream file(CALLSLIP_SOURCE_DIR "/docs/access.md");
  EXPECT_TRUE(file) << "docs/access.md is missing";
  std::vector<std::string> columns;
  for (std::string line; std::getline(file, line);) {
    std::vector<std::string> cells =
        absl::StrSplit(absl::StripSuffix(absl::StripPrefix(line, "|"), "|"), '|');
    for (std::string& cell : cells) cell = std::string(absl::StripAsciiWhitespace(cell));
    if (absl::StartsWith(line, "| method |")) columns = cells;
    if (line.empty()) columns.clear();
    if (columns.empty() || !absl::StartsWith(cells.front(), "`")) continue;
    std::set<std::string>& who = access[cells.front().substr(1, cells.front().size() - 2)];
    for (size_t i = 1; i < cells.size() && i < columns.size(); ++i) {
      if (cells[i] == "yes") who.insert(columns[i]);
    }
  }
  return access;
}

std::string TokenOf(const std::string& name) { return name + std::string(40, '-'); }

// Somebody at the door.
struct Caller {
  std::string column;  // In the docs.
  std::string name;
  std::string token;  // Empty: shows none.
  bool over_unix_socket = false;
};

std::vector<Caller> Callers() {
  std::vector<Caller> callers;
  for (const char* role : {"client", "viewer", "admin", "worker", "runner", "gateway"}) {
    callers.push_back({role, role, TokenOf(role)});
  }
  callers.push_back({"worker", "worker of shells", TokenOf("shells")});
  callers.push_back({"client", "other client", TokenOf("other")});
  callers.push_back({"nobody", "no token", ""});
  callers.push_back({"nobody", "unknown token", TokenOf("unknown")});
  callers.push_back({"nobody", "revoked token", TokenOf("revoked")});
  callers.push_back({"gateway", "over the unix socket", "", true});
  callers.push_back({"client", "over the unix socket with a token", TokenOf("client"), true});
  callers.push_back({"nobody", "over the unix socket with an unknown token", TokenOf("no"), true});
  return callers;
}

class AccessTest : public testing::Test {
 protected:
  explicit AccessTest(bool guarded = false) {
    if (guarded) UseTokens();
    const std::vector<Address> bound = *server_.Start(
        {{.host = "127.0.0.1", .port = 0}, {.unix_path = folder_.path() + "/tracker.sock"}}, 2);
    tcp_ = grpc::CreateChannel(bound[0].ToString(), grpc::InsecureChannelCredentials());
    unix_ = grpc::CreateChannel(bound[1].ToString(), grpc::InsecureChannelCredentials());
  }
  ~AccessTest() override { server_.Drain(absl::ZeroDuration()); }

  static std::vector<TokenFile::Entry> Entries() {
    std::vector<TokenFile::Entry> entries;
    for (const Role role : kTokenRoles) {
      const std::string name(RoleName(role));
      entries.push_back({{name, role, {}}, TokenOf(name)});
    }
    entries.push_back({{"other", Role::kClient, {}}, TokenOf("other")});
    entries.push_back({{"shells", Role::kWorker, {{"shell"}, ""}}, TokenOf("shells")});
    entries.push_back({{"laptop", Role::kWorker, {{}, "laptop"}}, TokenOf("laptop")});
    return entries;
  }
  void UseTokens() {
    auto entries = Entries();
    entries.push_back({{"revoked", Role::kAdmin, {}}, TokenOf("revoked")});
    credentials_ = std::make_shared<Credentials>(entries);
    credentials_->Replace(Entries());
    server_.SetCredentials(credentials_);
  }

  // What becomes of a call: its error, or OK where it is let in and answered, sends something, or
  // stays open for a moment.
  absl::Status Outcome(const MethodDescriptor& method, const Caller& caller,
                       const std::function<void(Message&)>& fill = nullptr) {
    const auto request = std::unique_ptr<Message>(
        MessageFactory::generated_factory()->GetPrototype(method.input_type())->New());
    if (fill != nullptr) fill(*request);
    grpc::ByteBuffer bytes;
    bool own = false;
    EXPECT_TRUE(
        (grpc::GenericSerialize<grpc::ProtoBufferWriter, Message>(*request, &bytes, &own)).ok());
    grpc::ClientContext context;
    // For streams that have nothing to tell.
    const bool is_silent = method.name() == "StreamCommands";
    context.set_deadline(gpr_time_from_millis(is_silent ? 100 : 30'000, GPR_TIMESPAN));
    if (!caller.token.empty()) context.AddMetadata("authorization", "Bearer " + caller.token);
    grpc::GenericStub stub(caller.over_unix_socket ? unix_ : tcp_);
    grpc::CompletionQueue queue;
    const auto await = [&queue] {
      void* tag = nullptr;
      bool ok = false;
      queue.Next(&tag, &ok);
      return ok;
    };
    const auto call = stub.PrepareCall(
        &context, absl::StrCat("/", method.service()->full_name(), "/", method.name()), &queue);
    call->StartCall(nullptr);
    await();
    call->WriteLast(bytes, grpc::WriteOptions(), nullptr);
    await();
    grpc::ByteBuffer answer;
    call->Read(&answer, nullptr);
    const bool answered = await();
    if (answered) context.TryCancel();
    grpc::Status status;
    call->Finish(&status, nullptr);
    await();
    queue.Shutdown();
    await();
    if (answered || status.ok()) return absl::OkStatus();
    if (is_silent && status.error_code() == grpc::DEADLINE_EXCEEDED) return absl::OkStatus();
    return FromGrpc(status, context);
  }

  static bool IsRefusal(const absl::Status& outcome) {
    const std::string reason = DetailsOf(outcome).reason;
    return absl::IsUnauthenticated(outcome) || reason == "role_not_allowed";
  }

  // Every deviation from docs/access.md.
  std::vector<std::string> Deviations(const std::vector<Caller>& callers) {
    const auto documented = DocumentedAccess();
    std::vector<std::string> deviations;
    for (const MethodDescriptor* method : AllMethods()) {
      const auto row = documented.find(method->full_name());
      if (row == documented.end()) {
        deviations.push_back(absl::StrCat(method->full_name(), " has no row in docs/access.md"));
        continue;
      }
      for (const Caller& caller : callers) {
        const absl::Status outcome = Outcome(*method, caller);
        const bool may = row->second.count(caller.column) > 0;
        if (IsRefusal(outcome) != may) continue;
        deviations.push_back(absl::StrCat(method->full_name(), " by ", caller.name, ": ",
                                          outcome.ToString(), ", docs: ", may ? "yes" : "no"));
      }
    }
    return deviations;
  }

  const TemporaryFolder folder_;
  FakeClock clock_;
  MeasuredDisk disk_{&clock_};
  std::unique_ptr<FileSessionStorage> storage_ = *FileSessionStorage::Open(folder_.path(), &disk_);
  std::unique_ptr<SessionTable> sessions_ =
      *SessionTable::Open(storage_.get(), &clock_, {}, {}, /*threads=*/2);
  CommandTable table_{CommandDeadlines{}};
  DeadlineThread deadlines_{&clock_, &table_};
  TrackerServer server_{&clock_, &table_, sessions_.get()};
  std::shared_ptr<Credentials> credentials_;
  std::shared_ptr<grpc::Channel> tcp_;
  std::shared_ptr<grpc::Channel> unix_;
};

class GuardedAccessTest : public AccessTest {
 protected:
  GuardedAccessTest() : AccessTest(/*guarded=*/true) {}
};

TEST_F(AccessTest, EveryMethodHasOneRow) {
  std::vector<std::string> methods;
  for (const MethodDescriptor* method : AllMethods()) methods.push_back(method->full_name());
  std::vector<std::string> rows;
  for (const RpcAccess& row : RpcAccessTable()) rows.emplace_back(row.method);
  EXPECT_THAT(rows, testing::UnorderedElementsAreArray(methods));
  std::vector<std::string> documented;
  for (const auto& [method, who] : DocumentedAccess()) documented.push_back(method);
  EXPECT_THAT(documented, testing::UnorderedElementsAreArray(methods));
}

TEST_F(GuardedAccessTest, IsAsTheDocsSay) { EXPECT_THAT(Deviations(Callers()), IsEmpty()); }

TEST_F(AccessTest, WithoutTokensIsAsTheDocsSay) {
  EXPECT_THAT(Deviations({{"local", "without a token", ""},
                          {"nobody", "with a token", TokenOf("admin")},
                          {"gateway", "over the unix socket", "", true}}),
              IsEmpty());
}

// What belongs to whom.

void SetText(Message& message, const char* name, const std::string& value) {
  const auto* field = message.GetDescriptor()->FindFieldByName(name);
  if (field != nullptr && field->type() == google::protobuf::FieldDescriptor::TYPE_STRING) {
    message.GetReflection()->SetString(&message, field, value);
  }
}

bool Names(const MethodDescriptor& method, const char* field) {
  return method.input_type()->FindFieldByName(field) != nullptr;
}

class OwnershipTest : public GuardedAccessTest {
 protected:
  template <typename Stub, typename Request, typename Response>
  absl::StatusOr<Response> Call(grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&,
                                                             Response*),
                                const std::string& as, const Request& request) {
    grpc::ClientContext context;
    context.AddMetadata("authorization", "Bearer " + TokenOf(as));
    Response response;
    Stub stub(tcp_);
    const grpc::Status status = (stub.*method)(&context, request, &response);
    if (!status.ok()) return FromGrpc(status, context);
    return response;
  }

  std::string Register(const std::string& as = "client", const std::string& target = "") {
    v1::RegisterCommandRequest request;
    request.set_type("execute_js");
    request.set_target(target);
    const auto registered = Call(&v1::CommandService::Stub::RegisterCommand, as, request);
    EXPECT_OK(registered);
    return registered.ok() ? registered->command().command_id() : "";
  }
  absl::StatusOr<v1::CommandLease> Lease(const std::string& as, const std::string& target = "",
                                         bool without_proof = false) {
    v1::LeaseCommandsRequest request;
    request.set_target(target);
    request.set_without_proof(without_proof);
    ASSIGN_OR_RETURN(auto leased, (Call(&v1::CommandService::Stub::LeaseCommands, as, request)));
    if (leased.leases().empty()) return absl::NotFoundError("nothing to lease");
    return leased.leases(0);
  }
  absl::StatusOr<v1::CompleteCommandResponse> Complete(const std::string& as, const std::string& id,
                                                       const std::string& lease_token,
                                                       const std::string& result) {
    v1::CompleteCommandRequest request;
    request.set_command_id(id);
    request.set_lease_token(lease_token);
    request.set_result(result);
    return Call(&v1::CommandService::Stub::CompleteCommand, as, request);
  }
  absl::StatusOr<v1::GetCommandResponse> Get(const std::string& as, const std::string& id) {
    v1::GetCommandRequest request;
    request.set_command_id(id);
    return Call(&v1::CommandService::Stub::GetCommand, as, request);
  }
  void CreateSession(const std::string& id) {
    v1::CreateSessionRequest request;
    request.set_session_id(id);
    ASSERT_OK((Call(&v1::SessionService::Stub::CreateSession, "client", request)));
  }
};

TEST_F(OwnershipTest, AForeignIdIsUnknownToEveryMethodOfClients) {
  const std::string command = Register();
  CreateSession("mine");
  const Caller other{"client", "other client", TokenOf("other")};
  int looked_up = 0;
  for (const MethodDescriptor* method : AllMethods()) {
    if (!FindRpcAccess(method->full_name())->Allows(Role::kClient)) continue;
    const bool of_command = Names(*method, "command_id");
    if (!of_command && !Names(*method, "session_id")) continue;
    if (method->name() == "CreateSession") continue;
    const absl::Status outcome = Outcome(*method, other, [&](Message& request) {
      SetText(request, "command_id", command);
      SetText(request, "session_id", "mine");
      // What is looked at before the session.
      if (auto* append = dynamic_cast<v1::AppendEventsRequest*>(&request)) {
        append->add_events()->mutable_user_prompt()->set_message("x");
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

TEST_F(OwnershipTest, NobodyButGatewaysAndAdministratorsSpeaksForOthers) {
  for (const MethodDescriptor* method : AllMethods()) {
    if (!Names(*method, "client_id")) continue;
    const RpcAccess* access = FindRpcAccess(method->full_name());
    for (const Caller& caller : Callers()) {
      const std::optional<Role> role = ParseRole(caller.column);
      if (!role.has_value() || !access->Allows(*role)) continue;
      const absl::Status outcome = Outcome(
          *method, caller, [](Message& request) { SetText(request, "client_id", "mallory"); });
      const bool may = *role == Role::kAdmin || *role == Role::kGateway;
      EXPECT_EQ(DetailsOf(outcome).reason == "not_your_client", !may)
          << method->full_name() << " by " << caller.name << ": " << outcome;
    }
  }
}

TEST_F(OwnershipTest, AForgedResultIsRefusedAndTheGenuineOneStands) {
  const std::string id = Register("client");
  ASSERT_OK_AND_ASSIGN(const v1::CommandLease lease, Lease("worker"));
  for (const char* forger : {"other", "client", "viewer", "worker", "shells", "runner", "admin"}) {
    EXPECT_FALSE(Complete(forger, id, "", R"({"forged":true})").ok()) << forger;
    EXPECT_FALSE(Complete(forger, id, "lease-0000000000000000", "{}").ok()) << forger;
  }
  ASSERT_OK(Complete("worker", id, lease.lease_token(), R"({"genuine":true})"));
  EXPECT_EQ(Get("client", id)->command().result(), R"({"genuine":true})");
}

TEST_F(OwnershipTest, ViewersAndAdministratorsReachEverybodysCommands) {
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

TEST_F(OwnershipTest, AWorkerTakesNothingButItsTargets) {
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

TEST_F(OwnershipTest, AWorkerHeldToItsNameReportsWithoutProofOnlyOnWhatItHolds) {
  const std::string theirs = Register("client");
  ASSERT_OK(Lease("worker", "", /*without_proof=*/true));
  EXPECT_EQ(DetailsOf(Complete("laptop", theirs, "", "1").status()).reason, "unknown_command");
  const std::string its_own = Register("client");
  ASSERT_OK_AND_ASSIGN(const v1::CommandLease lease, Lease("laptop", "", /*without_proof=*/true));
  EXPECT_EQ(lease.command().command_id(), its_own);
  EXPECT_OK(Complete("laptop", its_own, "", "1"));
  EXPECT_OK(Complete("worker", theirs, "", "1"));
}

TEST_F(OwnershipTest, ARunnerWorksOffNothingButSessions) {
  Register("client");
  const std::string shell = Register("client", "session-s");
  EXPECT_EQ(DetailsOf(Lease("runner").status()).reason, "not_your_target");
  EXPECT_EQ(DetailsOf(Lease("runner", "browser").status()).reason, "not_your_target");
  ASSERT_OK_AND_ASSIGN(const v1::CommandLease lease, Lease("runner", "session-s"));
  EXPECT_EQ(lease.command().command_id(), shell);
  EXPECT_OK(Complete("runner", shell, lease.lease_token(), "1"));
}

TEST_F(OwnershipTest, AWatchOfOneCommandFindsAnothersForWhomMayAndCollectsNothing) {
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
  EXPECT_EQ(Get("client", id)->command().state(), v1::COMMAND_STATE_EXPIRED);
}

TEST_F(OwnershipTest, AGatewaySaysAsWhatItCalls) {
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

TEST_F(OwnershipTest, WhatAWithdrawnTokenHasBegunEndsAndNothingElse) {
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
  Poll withdrawn;
  Poll other;
  begin(withdrawn, "worker");
  begin(other, "shells");
  while (table_.waits() < 2) (void)Get("viewer", "corr-0-00000000000000000000000000000000");
  std::vector<TokenFile::Entry> left = Entries();
  std::erase_if(left, [](const auto& entry) { return entry.principal.name == "worker"; });
  credentials_->Replace(left);
  server_.EndWithdrawn();
  withdrawn.thread.join();
  EXPECT_EQ(withdrawn.status.error_code(), grpc::CANCELLED);
  EXPECT_TRUE(absl::IsUnauthenticated(Lease("worker").status()));
  while (table_.waits() > 1) (void)Get("viewer", "corr-0-00000000000000000000000000000000");
  const std::string id = Register("client", "shell");
  other.thread.join();
  EXPECT_TRUE(other.status.ok());
  EXPECT_EQ(other.response.leases(0).command().command_id(), id);
}

// The door of the unix socket is its mode.
TEST_F(AccessTest, TheUnixSocketIsForItsOwnerAlone) {
  struct stat info = {};
  ASSERT_EQ(stat((folder_.path() + "/tracker.sock").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
}

TEST_F(AccessTest, AnotherUserDoesNotGetInOverTheUnixSocket) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can become another user";
  // The socket alone keeps them out.
  ASSERT_EQ(chmod(folder_.path().c_str(), 0755), 0);
  const pid_t other = fork();
  if (other == 0) {
    sockaddr_un name = {};
    name.sun_family = AF_UNIX;
    (folder_.path() + "/tracker.sock").copy(name.sun_path, sizeof(name.sun_path) - 1);
    const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    const bool changed = setgid(65534) == 0 && setuid(65534) == 0;
    const int result = connect(fd, reinterpret_cast<sockaddr*>(&name), sizeof(name));
    _exit(changed && result != 0 && errno == EACCES ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(other, &status, 0), other);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace callslip::tracker
