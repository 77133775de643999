#pragma once

// The typed calls that services use, on top of AsyncServer's untyped ones. Thin, because they are
// compiled for each method. Included only by the server's own files.

#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "google/protobuf/message.h"
#include "tracker/server/call_context.h"
#include "tracker/server/server_stream.h"

namespace callslip::tracker::internal {

using google::protobuf::Message;
using AnyMessage = std::unique_ptr<Message>;

// The message types of a method, each as its empty message.
struct MessageTypes {
  const Message* request;
  const Message* response;
};

// An untyped call of the server, together with its typed counterpart for the service.
template <typename Base>
class AnyCall : public Base {
 public:
  std::shared_ptr<void> typed;
};
using AnyReply = AnyCall<DeferredReply<AnyMessage>>;
using AnyStream = AnyCall<ServerStream<AnyMessage>>;
using AnyDuplex = AnyCall<DuplexStream<Message, AnyMessage>>;

// The typed view of `call`, which also holds `call`.
template <typename Typed, typename Call>
std::shared_ptr<Typed> TypedOf(const std::shared_ptr<Call>& call) {
  const auto typed = std::make_shared<Typed>(call.get());
  call->typed = typed;
  return std::shared_ptr<Typed>(call, typed.get());
}

using UnaryHandler = std::function<absl::Status(const CallContext&, const Message&, Message&)>;
using HeldHandler =
    std::function<void(const CallContext&, const Message&, const std::shared_ptr<AnyReply>&)>;
using StreamHandler =
    std::function<void(const CallContext&, const Message&, const std::shared_ptr<AnyStream>&)>;
using DuplexHandler = std::function<void(const CallContext&, const std::shared_ptr<AnyDuplex>&)>;

template <typename Response>
class TypedReply final : public DeferredReply<Response> {
 public:
  explicit TypedReply(AnyReply* call) : call_(call) {}

  void Finish(Response response, std::function<void()> if_lost) override {
    call_->Finish(std::make_unique<Response>(std::move(response)), std::move(if_lost));
  }
  void Fail(const absl::Status& status) override { call_->Fail(status); }
  void OnCallerLeft(std::function<void()> action) override {
    call_->OnCallerLeft(std::move(action));
  }

 private:
  AnyReply* const call_;
};

// `Base` is ServerStream<Response> or derived from it, `Call` its untyped counterpart. Like the
// other typed calls it lives as long as its call.
template <typename Response, typename Base, typename Call>
class TypedSender : public Base {
 public:
  explicit TypedSender(Call* call) : call_(call) {}

  void SetSource(typename Base::Source source) override {
    call_->SetSource([source = std::move(source)]() -> std::optional<Outgoing<AnyMessage>> {
      std::optional<Outgoing<Response>> next = source();
      if (!next.has_value()) return std::nullopt;
      return Outgoing<AnyMessage>{std::make_unique<Response>(std::move(next->message)),
                                  std::move(next->if_lost), std::move(next->if_sent)};
    });
  }
  void Wake() override { call_->Wake(); }
  void Finish(const absl::Status& status) override { call_->Finish(status); }
  void OnCallerLeft(std::function<void()> action) override {
    call_->OnCallerLeft(std::move(action));
  }

 protected:
  Call& call() { return *call_; }

 private:
  Call* const call_;
};

template <typename Response>
using TypedStream = TypedSender<Response, ServerStream<Response>, AnyStream>;

template <typename Request, typename Response>
class TypedDuplex final : public TypedSender<Response, DuplexStream<Request, Response>, AnyDuplex> {
 public:
  using TypedDuplex::TypedSender::TypedSender;

  void SetReceiver(std::function<void(const Request&)> on_request,
                   std::function<void()> on_requests_done) override {
    this->call().SetReceiver(
        [on_request = std::move(on_request)](const Message& request) {
          on_request(static_cast<const Request&>(request));
        },
        std::move(on_requests_done));
  }
};

}  // namespace callslip::tracker::internal
