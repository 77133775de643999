#include "bench/tracker_floor.h"

#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "bench/die.h"
#include "callslip/tracker/v1/command_service.grpc.pb.h"
#include "grpcpp/grpcpp.h"
#include "tracker/domain/queue/command_table.h"
#include "tracker/rpc/command_convert.h"

namespace callslip::bench {
namespace {

using Async = v1::CommandService::AsyncService;

// As many as AsyncServer accepts for each method.
constexpr int kAccepts = 16;

class Tag {
 public:
  virtual ~Tag() = default;
  virtual void OnCompletion(bool ok) = 0;
};

// A unary call; `answer` makes the response.
template <typename Request, typename Response, auto kAccept>
class Unary final : public Tag {
 public:
  using Answer = const Response& (*)(const Request&);

  static void AcceptNext(Async* service, grpc::ServerCompletionQueue* queue, Answer answer) {
    auto* call = new Unary(service, queue, answer);
    (service->*kAccept)(&call->context_, &call->request_, &call->writer_, queue, queue, call);
  }

  void OnCompletion(bool) override {
    if (answered_) {
      delete this;
      return;
    }
    AcceptNext(service_, queue_, answer_);
    answered_ = true;
    writer_.Finish(answer_(request_), grpc::Status::OK, this);
  }

 private:
  Unary(Async* service, grpc::ServerCompletionQueue* queue, Answer answer)
      : service_(service), queue_(queue), answer_(answer) {}

  Async* const service_;
  grpc::ServerCompletionQueue* const queue_;
  const Answer answer_;
  grpc::ServerContext context_;
  Request request_;
  grpc::ServerAsyncResponseWriter<Response> writer_{&context_};
  bool answered_ = false;
};

class Stream;

// The held streams, by number.
struct Held {
  std::mutex mutex;
  std::deque<Stream*> streams;
  const ParentLink* parent = nullptr;
};
Held& AllHeld() {
  static auto& held = *new Held;
  return held;
}

class Stream final : public Tag {
 public:
  static void AcceptNext(Async* service, grpc::ServerCompletionQueue* queue) {
    auto* stream = new Stream(service, queue);
    service->RequestWaitForCommand(&stream->context_, &stream->request_, &stream->writer_, queue,
                                   queue, stream);
  }

  void OnCompletion(bool) override {
    switch (step_++) {
      case 0:
        AcceptNext(service_, queue_);
        writer_.Write(SampleMessages().waiting, this);
        return;
      case 1: {
        Held& held = AllHeld();
        const std::lock_guard<std::mutex> lock(held.mutex);
        held.streams.push_back(this);
        if (held.streams.size() % 1000 == 0) held.parent->Event('w');
        return;
      }
      default: delete this;
    }
  }

  void End() { writer_.WriteAndFinish(SampleMessages().ended, {}, grpc::Status::OK, this); }

 private:
  Stream(Async* service, grpc::ServerCompletionQueue* queue) : service_(service), queue_(queue) {}

  Async* const service_;
  grpc::ServerCompletionQueue* const queue_;
  grpc::ServerContext context_;
  v1::WaitForCommandRequest request_;
  grpc::ServerAsyncWriter<v1::WaitForCommandResponse> writer_{&context_};
  int step_ = 0;
};

const v1::CompleteCommandResponse& Complete(const v1::CompleteCommandRequest& request) {
  static const auto& response = *new v1::CompleteCommandResponse([] {
    v1::CompleteCommandResponse accepted;
    accepted.set_accepted(true);
    accepted.set_state(v1::COMMAND_STATE_COMPLETED);
    return accepted;
  }());
  Stream* stream = nullptr;
  {
    Held& held = AllHeld();
    const std::lock_guard<std::mutex> lock(held.mutex);
    std::swap(stream, held.streams.at(std::stoul(request.command_id())));
  }
  stream->End();
  return response;
}

void EndAll() {
  Held& held = AllHeld();
  const std::lock_guard<std::mutex> lock(held.mutex);
  for (Stream*& stream : held.streams) {
    if (stream != nullptr) std::exchange(stream, nullptr)->End();
  }
}

template <typename Request, typename Response, auto kAccept>
void Serve(Async* service, grpc::ServerCompletionQueue* queue,
           const Response& (*answer)(const Request&)) {
  for (int i = 0; i < kAccepts; ++i) {
    Unary<Request, Response, kAccept>::AcceptNext(service, queue, answer);
  }
}

const v1::RegisterCommandResponse& Registered(const v1::RegisterCommandRequest&) {
  return SampleMessages().registered;
}
const v1::GetCommandResponse& Got(const v1::GetCommandRequest&) { return SampleMessages().got; }

TrackerMessages MakeMessages() {
  using tracker::CommandView;
  const absl::Time now = absl::FromUnixNanos(1'700'000'000'123'456'789);
  tracker::CommandTable table{tracker::CommandDeadlines()};
  tracker::CommandRequest request;
  request.type = "click";
  request.params =
      std::make_shared<const std::string>(R"({"action":"click","selector":"#submit"})");
  const auto registered = *table.Register(std::move(request), now);
  const std::string id = registered.command->spec->id.ToString();
  TrackerMessages messages;
  Fill(*registered.command, CommandView::kWithoutParams, *messages.registered.mutable_command());
  Fill(*registered.command, CommandView::kFull, *messages.got.mutable_command());
  tracker::WorkerNews news;
  (void)table.Lease({}, now, [&](tracker::WorkerNews got) { news = std::move(got); });
  Fill(**table.Get("", id, true), CommandView::kWithoutParams, *messages.waiting.mutable_command());
  (void)table.Complete(id, {news.leases.at(0).token, 1},
                       tracker::CommandResult{std::make_shared<const std::string>("{\"ok\":true}")},
                       nullptr, now);
  Fill(**table.Get("", id, true), CommandView::kWithoutParams, *messages.ended.mutable_command());
  return messages;
}

}  // namespace

const TrackerMessages& SampleMessages() {
  static const auto& messages = *new TrackerMessages(MakeMessages());
  return messages;
}

void ServeFloor(const ParentLink& parent) {
  AllHeld().parent = &parent;
  OnPoke(EndAll);
  Async service;
  grpc::ServerBuilder builder;
  const auto queue = builder.AddCompletionQueue();
  int port = 0;
  builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
  builder.RegisterService(&service);
  const auto server = builder.BuildAndStart();
  if (server == nullptr) Die("the floor could not listen");
  Serve<v1::RegisterCommandRequest, v1::RegisterCommandResponse, &Async::RequestRegisterCommand>(
      &service, queue.get(), Registered);
  Serve<v1::GetCommandRequest, v1::GetCommandResponse, &Async::RequestGetCommand>(&service,
                                                                                  queue.get(), Got);
  Serve<v1::CompleteCommandRequest, v1::CompleteCommandResponse, &Async::RequestCompleteCommand>(
      &service, queue.get(), Complete);
  for (int i = 0; i < kAccepts; ++i) Stream::AcceptNext(&service, queue.get());
  parent.Listening(static_cast<uint16_t>(port));
  void* tag = nullptr;
  bool ok = false;
  while (queue->Next(&tag, &ok)) static_cast<Tag*>(tag)->OnCompletion(ok);
}

}  // namespace callslip::bench
