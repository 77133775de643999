#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "auth/credentials.h"
#include "callslip/tracker/v1/command_service.grpc.pb.h"
#include "callslip/tracker/v1/session_service.grpc.pb.h"
#include "common/fake_clock.h"
#include "common/rpc_status.h"
#include "common/status_macros.h"
#include "common/status_matchers.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/message.h"
#include "grpc/support/time.h"
#include "grpcpp/generic/generic_stub.h"
#include "grpcpp/grpcpp.h"
#include "grpcpp/impl/codegen/proto_utils.h"
#include "gtest/gtest.h"
#include "support/temporary_folder.h"
#include "tracker/domain/queue/deadline_thread.h"
#include "tracker/domain/session/session_table.h"
#include "tracker/rpc/tracker_server.h"
#include "tracker/storage/file_session_storage.h"
#include "tracker/storage/measured_disk.h"

namespace callslip::tracker {

inline constexpr const char* kServices[] = {
    "callslip.tracker.v1.AdminService",   "callslip.tracker.v1.AnnotationService",
    "callslip.tracker.v1.CommandService", "callslip.tracker.v1.QueueService",
    "callslip.tracker.v1.RunnerService",  "callslip.tracker.v1.SessionService",
    "callslip.tracker.v1.WorkerService",  "grpc.health.v1.Health"};

inline std::vector<const google::protobuf::MethodDescriptor*> AllMethods() {
  std::vector<const google::protobuf::MethodDescriptor*> methods;
  for (const char* name : kServices) {
    const google::protobuf::ServiceDescriptor* service =
        google::protobuf::DescriptorPool::generated_pool()->FindServiceByName(name);
    EXPECT_NE(service, nullptr) << name;
    for (int i = 0; service != nullptr && i < service->method_count(); ++i) {
      methods.push_back(service->method(i));
    }
  }
  return methods;
}

inline std::string TokenOf(const std::string& name) { return name + std::string(40, '-'); }

// A caller of the tracker.
struct Caller {
  std::string column;  // The role's column in the docs.
  std::string name;
  std::string token;  // Empty: sends none.
  bool over_unix_socket = false;
};

inline std::vector<Caller> Callers() {
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

inline void SetText(google::protobuf::Message& message, const char* name,
                    const std::string& value) {
  const auto* field = message.GetDescriptor()->FindFieldByName(name);
  if (field != nullptr && field->type() == google::protobuf::FieldDescriptor::TYPE_STRING) {
    message.GetReflection()->SetString(&message, field, value);
  }
}

inline bool Names(const google::protobuf::MethodDescriptor& method, const char* field) {
  return method.input_type()->FindFieldByName(field) != nullptr;
}

// A tracker that distinguishes its callers.
class AccessTest : public testing::Test {
 protected:
  using Message = google::protobuf::Message;
  using MethodDescriptor = google::protobuf::MethodDescriptor;

  ~AccessTest() override { server_.Drain(absl::ZeroDuration()); }

  // Call it at the end of a constructor.
  void Serve(const std::optional<TlsFiles>& tls = std::nullopt, int pollers = 2) {
    bound_ = *server_.Start(
        {{.host = "127.0.0.1", .port = 0}, {.unix_path = folder_.path() + "/tracker.sock"}},
        pollers, tls);
    tcp_ = grpc::CreateChannel(bound_[0].ToString(), grpc::InsecureChannelCredentials());
    unix_ = grpc::CreateChannel(bound_[1].ToString(), grpc::InsecureChannelCredentials());
  }

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

  // The outcome of a call: its error, or OK if it is accepted and answered, sends a message, or
  // stays open for a moment.
  absl::Status Outcome(const MethodDescriptor& method, const Caller& caller,
                       const std::function<void(Message&)>& fill = nullptr) {
    const auto request =
        std::unique_ptr<Message>(google::protobuf::MessageFactory::generated_factory()
                                     ->GetPrototype(method.input_type())
                                     ->New());
    if (fill != nullptr) fill(*request);
    grpc::ByteBuffer bytes;
    bool own = false;
    EXPECT_TRUE(
        (grpc::GenericSerialize<grpc::ProtoBufferWriter, Message>(*request, &bytes, &own)).ok());
    grpc::ClientContext context;
    // For streams that have nothing to send.
    const bool is_silent = method.name() == "StreamCommands";
    if (is_silent) context.set_deadline(gpr_time_from_millis(100, GPR_TIMESPAN));
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

  // One call with a principal's token.
  template <typename Stub, typename Request, typename Response>
  absl::StatusOr<Response> Call(grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&,
                                                             Response*),
                                const std::string& as, const Request& request) {
    return CallOver(tcp_, method, TokenOf(as), request);
  }
  // Without a token if `token` is empty.
  template <typename Stub, typename Request, typename Response>
  static absl::StatusOr<Response> CallOver(const std::shared_ptr<grpc::Channel>& channel,
                                           grpc::Status (Stub::*method)(grpc::ClientContext*,
                                                                        const Request&, Response*),
                                           const std::string& token, const Request& request) {
    grpc::ClientContext context;
    if (!token.empty()) context.AddMetadata("authorization", "Bearer " + token);
    Response response;
    Stub stub(channel);
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
  std::vector<Address> bound_;
  std::shared_ptr<grpc::Channel> tcp_;
  std::shared_ptr<grpc::Channel> unix_;
};

class GuardedAccessTest : public AccessTest {
 protected:
  GuardedAccessTest() {
    UseTokens();
    Serve();
  }
};

}  // namespace callslip::tracker
