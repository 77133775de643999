#pragma once

#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "callslip/tracker/v1/command_service.grpc.pb.h"
#include "callslip/tracker/v1/queue_service.grpc.pb.h"
#include "callslip/tracker/v1/runner_service.grpc.pb.h"
#include "callslip/tracker/v1/session_service.grpc.pb.h"
#include "common/fake_clock.h"
#include "common/rpc_status.h"
#include "common/status_matchers.h"
#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "grpcpp/grpcpp.h"
#include "gtest/gtest.h"
#include "support/session_events.h"
#include "tracker/domain/queue/deadline_thread.h"
#include "tracker/domain/session/session_table.h"
#include "tracker/domain/session/session_table_fixture.h"
#include "tracker/rpc/tracker_server.h"
#include "tracker/storage/failing_disk.h"
#include "tracker/storage/file_session_storage.h"

namespace callslip::tracker {

inline std::vector<int64_t> SeqsOf(
    const google::protobuf::RepeatedPtrField<v1::SessionEvent>& events) {
  std::vector<int64_t> seqs;
  for (const v1::SessionEvent& event : events) seqs.push_back(event.seq());
  return seqs;
}

// A server's stream, read by gRPC's own client. Cancelled on destruction.
template <typename Response>
class StreamReader {
 public:
  template <typename Open>
  explicit StreamReader(Open open) : reader_(open(&context_)) {}
  ~StreamReader() {
    context_.TryCancel();
    if (!finished_) (void)reader_->Finish();
  }

  // Waits for the next message, without a timeout; nullopt at the end.
  std::optional<Response> Next() {
    Response response;
    if (!reader_->Read(&response)) return std::nullopt;
    return response;
  }

  // The final status of the stream; skips unread messages.
  absl::Status Finish() {
    while (Next().has_value()) {
    }
    finished_ = true;
    const grpc::Status status = reader_->Finish();
    return status.ok() ? absl::OkStatus() : FromGrpc(status, context_);
  }

 private:
  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientReader<Response>> reader_;
  bool finished_ = false;
};

// A tracker with sessions on its real listener, with real files and a fake clock, and gRPC's own
// clients for it. Requests are written in protobuf's text format.
class SessionServerTest : public testing::Test {
 protected:
  using S = v1::SessionService::Stub;
  using Q = v1::QueueService::Stub;
  using C = v1::CommandService::Stub;
  using R = v1::RunnerService::Stub;

  explicit SessionServerTest(const SessionLimits& limits = {}, OutputGate* gate = nullptr,
                             OutputGate* free_gate = nullptr)
      : limits_(limits), gate_(gate), free_gate_(free_gate) {
    Start();
  }
  ~SessionServerTest() override { Stop(absl::ZeroDuration()); }

  void Start() {
    storage_ = *FileSessionStorage::Open(folder_.path(), &disk_);
    sessions_ = *SessionTable::Open(storage_.get(), &clock_, limits_, {}, /*threads=*/2);
    commands_ = std::make_unique<CommandTable>(CommandDeadlines{});
    deadlines_ = std::make_unique<DeadlineThread>(&clock_, commands_.get());
    server_ = std::make_unique<TrackerServer>(&clock_, commands_.get(), sessions_.get(), gate_);
    server_->SetFreeGate(free_gate_);
    const Address address =
        *server_->Start(Address{.unix_path = socket_folder_.path() + "/tracker.sock"}, 2);
    channel_ = grpc::CreateChannel(address.ToString(), grpc::InsecureChannelCredentials());
    stubs_ = {v1::SessionService::NewStub(channel_), v1::QueueService::NewStub(channel_),
              v1::CommandService::NewStub(channel_), v1::RunnerService::NewStub(channel_)};
  }

  void Stop(absl::Duration grace) {
    if (server_ == nullptr) return;
    server_->Drain(grace);
    server_ = nullptr;
    deadlines_ = nullptr;
    commands_ = nullptr;
    sessions_ = nullptr;
    storage_ = nullptr;
  }

  template <typename Message>
  static Message Parse(const std::string& text) {
    Message message;
    EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &message)) << text;
    return message;
  }

  template <typename Stub, typename Request, typename Response>
  absl::StatusOr<Response> Send(grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&,
                                                             Response*),
                                const Request& request) {
    grpc::ClientContext context;
    Response response;
    const grpc::Status status =
        ((*std::get<std::unique_ptr<Stub>>(stubs_)).*method)(&context, request, &response);
    if (!status.ok()) return FromGrpc(status, context);
    return response;
  }
  template <typename Stub, typename Request, typename Response>
  absl::StatusOr<Response> Call(grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&,
                                                             Response*),
                                const std::string& request) {
    return Send(method, Parse<Request>(request));
  }

  std::unique_ptr<StreamReader<v1::SessionUpdate>> Watch(const std::string& request) {
    return Open<v1::SessionUpdate>(&S::WatchSession, request);
  }
  std::unique_ptr<StreamReader<v1::SessionNotice>> WatchSessions(const std::string& request) {
    return Open<v1::SessionNotice>(&S::WatchSessions, request);
  }
  std::unique_ptr<StreamReader<v1::SessionEvent>> Play(const std::string& request) {
    return Open<v1::SessionEvent>(&S::Play, request);
  }
  std::unique_ptr<StreamReader<v1::ReceivedMessage>> Receive(const std::string& request) {
    return Open<v1::ReceivedMessage>(&Q::ReceiveMessages, request);
  }
  std::unique_ptr<StreamReader<v1::Assignment>> Serve(const std::string& request) {
    return Open<v1::Assignment>(&R::Serve, request);
  }

  void CreateSession(const std::string& id = "s") {
    ASSERT_OK(Call(&S::CreateSession, "session_id: '" + id + "'"));
  }
  // Records agent messages with these texts in session `s`.
  void Append(const std::vector<std::string>& texts) {
    v1::AppendEventsRequest request;
    request.set_session_id("s");
    for (const std::string& text : texts) {
      *request.add_events() = v1::MakeMessage(text);
    }
    ASSERT_OK(Send(&S::AppendEvents, request));
  }
  // All events of session `s`.
  std::vector<v1::SessionEvent> Events() {
    const auto page = Call(&S::ReadEvents, "session_id: 's' limit: 1000");
    EXPECT_OK(page);
    return {page->events().begin(), page->events().end()};
  }

  const SessionLimits limits_;
  OutputGate* const gate_;
  OutputGate* const free_gate_;
  FakeClock clock_;
  TemporaryFolder socket_folder_;
  TemporaryFolder folder_;
  FailingDisk disk_;
  std::unique_ptr<FileSessionStorage> storage_;
  std::unique_ptr<SessionTable> sessions_;
  std::unique_ptr<CommandTable> commands_;
  std::unique_ptr<DeadlineThread> deadlines_;
  std::unique_ptr<TrackerServer> server_;
  std::shared_ptr<grpc::Channel> channel_;
  std::tuple<std::unique_ptr<S>, std::unique_ptr<Q>, std::unique_ptr<C>, std::unique_ptr<R>> stubs_;

 private:
  template <typename Response, typename Stub, typename Request>
  std::unique_ptr<StreamReader<Response>> Open(
      std::unique_ptr<grpc::ClientReader<Response>> (Stub::*method)(grpc::ClientContext*,
                                                                    const Request&),
      const std::string& request) {
    return std::make_unique<StreamReader<Response>>([&](grpc::ClientContext* context) {
      return ((*std::get<std::unique_ptr<Stub>>(stubs_)).*method)(context, Parse<Request>(request));
    });
  }
};

}  // namespace callslip::tracker
