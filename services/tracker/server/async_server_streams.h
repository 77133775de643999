#pragma once

// The streaming calls behind AsyncServer. Included only by async_server.cc.

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "common/rpc_status.h"
#include "grpcpp/grpcpp.h"
#include "tracker/server/async_server_calls.h"
#include "tracker/server/server_stream.h"
#include "tracker/server/typed_calls.h"

namespace callslip::tracker::internal {

// A call that sends messages from a source; `Stream` is AnyStream or AnyDuplex.
//
// Uses no locks: one thread at a time has the right to ask the source and to start an operation,
// and holds it (kBusy) until that operation is done. Other threads leave a flag, which the holder
// checks before it releases the right. Once the stream has ended or its caller has left, the right
// is never released.
template <typename Self, typename Stream>
class SendingCall : public LongCall<Self>, public Stream {
 public:
  using Base = LongCall<Self>;
  using Source = ServerStream<AnyMessage>::Source;

  explicit SendingCall(std::shared_ptr<const Method<Self>> method)
      : Base(std::move(method)), sent_([](Self& call, bool ok) { call.OnSent(ok); }) {}

  void SetSource(Source source) override {
    if ((state_.fetch_or(kBusy) & kBusy) != 0) return;
    source_ = std::move(source);
    if (!TryRest(state_.load())) Pump();
  }

  void Wake() override {
    if ((state_.fetch_or(kWoken | kBusy) & kBusy) == 0) Pump();
  }

  void Finish(const absl::Status& status) override {
    if ((state_.fetch_or(kEndChosen) & kEndChosen) != 0) return;
    end_ = status;
    if ((state_.fetch_or(kEnding | kWoken | kBusy) & kBusy) == 0) Pump();
  }

  void OnCallerLeft(std::function<void()> action) override {
    this->SetCallerLeftAction(std::move(action));
  }

 protected:
  // True once the last operation of this side has been started.
  bool HasSentEnd() const { return (state_.load() & kEndSent) != 0; }

 private:
  friend Base;

  static constexpr uint8_t kBusy = 1;
  static constexpr uint8_t kWoken = 2;      // The source must be asked, again.
  static constexpr uint8_t kEndChosen = 4;  // Finish() was called.
  static constexpr uint8_t kEnding = 8;     // end_ can be read.
  static constexpr uint8_t kEndSent = 16;
  static constexpr uint8_t kOver = 32;  // The caller has left or has received the status.

  void OnOver() {
    if ((state_.fetch_or(kOver | kBusy) & kBusy) == 0) Drop();
  }

  // Releases the right if there is nothing to do. `state` is the last known state.
  bool TryRest(uint8_t state) {
    while ((state & (kWoken | kEnding | kOver)) == 0) {
      if (state_.compare_exchange_weak(state, static_cast<uint8_t>(state & ~kBusy))) return true;
    }
    return false;
  }

  // Starts the next operation, if any.
  void Pump() {
    while (true) {
      if (std::optional<Outgoing<AnyMessage>> next = Next()) return Send(*std::move(next));
      const uint8_t state = state_.load();
      if ((state & kOver) != 0) return Drop();
      if ((state & kWoken) != 0) continue;
      if ((state & kEnding) != 0) return SendEnd();
      if (TryRest(state)) return;
    }
  }

  // The next message of the source. Asks again while Wake() is called meanwhile.
  std::optional<Outgoing<AnyMessage>> Next() {
    if (ahead_ != nullptr) return std::move(*std::exchange(ahead_, nullptr));
    do {
      const uint8_t before = state_.fetch_and(static_cast<uint8_t>(~kWoken));
      if ((before & kOver) != 0 || source_ == nullptr) break;
      if (std::optional<Outgoing<AnyMessage>> next = source_()) return next;
    } while ((state_.load() & kWoken) != 0);
    return std::nullopt;
  }

  void Send(Outgoing<AnyMessage> next) {
    // The last message travels with the status in one operation; gRPC requires that status to be
    // OK.
    bool last = false;
    if ((state_.load() & kEnding) != 0 && end_.ok()) {
      if (std::optional<Outgoing<AnyMessage>> more = Next()) {
        ahead_ = std::make_unique<Outgoing<AnyMessage>>(*std::move(more));
      } else {
        last = true;
      }
    }
    if (!this->TryBegin()) {
      if (next.if_lost != nullptr) next.if_lost();
      return Drop();
    }
    if_lost_ = std::move(next.if_lost);
    if_sent_ = std::move(next.if_sent);
    sent_.Hold(this->shared_from_this());
    if (this->method().LetsOut()) return Write(*next.message, last);
    put_aside_ = std::move(next.message);
    this->method().gate->Pass([this, last](const absl::Status& kept) {
      const AnyMessage message = std::move(put_aside_);
      if (kept.ok()) return Write(*message, last);
      if_sent_ = nullptr;
      const std::function<void()> if_lost = std::exchange(if_lost_, nullptr);
      if (if_lost != nullptr) if_lost();
      this->EndAsIfCallerLeft();
      Drop();
      WriteEnd(kept);
    });
  }

  void Write(const Message& message, bool last) {
    if (!last) {
      this->stream_.Write(message, &sent_);
      return;
    }
    state_.fetch_or(kEndSent);
    source_ = nullptr;
    this->EndSpan(absl::OkStatus());
    this->stream_.WriteAndFinish(message, grpc::WriteOptions(), grpc::Status::OK, &sent_);
  }

  void WriteEnd(const absl::Status& status) {
    this->SetCode(status.code());
    this->EndSpan(status);
    state_.fetch_or(kEndSent);
    source_ = nullptr;
    this->stream_.Finish(ToGrpc(status, this->context_), &sent_);
  }

  void SendEnd() {
    if (!this->TryBegin()) return Drop();
    sent_.Hold(this->shared_from_this());
    if (this->method().LetsOut()) return WriteEnd(end_);
    this->method().gate->Pass(
        [this](const absl::Status& kept) { WriteEnd(kept.ok() ? end_ : kept); });
  }

  void OnSent(bool ok) {
    const std::function<void()> if_lost = std::exchange(if_lost_, nullptr);
    const std::function<void()> if_sent = std::exchange(if_sent_, nullptr);
    if (ok && if_sent != nullptr) if_sent();
    if (!ok) {
      if (if_lost != nullptr) if_lost();
      // The caller has left, and OnOver() will follow.
      Drop();
    } else if (!HasSentEnd()) {
      Pump();
    }
  }

  // Discards the source and the message ahead: nothing will be sent any more.
  void Drop() {
    source_ = nullptr;
    const auto ahead = std::move(ahead_);
    if (ahead != nullptr && ahead->if_lost != nullptr) ahead->if_lost();
  }

  std::atomic<uint8_t> state_{0};
  typename Base::Tag sent_;
  // The following members belong to the holder of kBusy.
  Source source_;
  // For the message that is being sent.
  std::function<void()> if_lost_;
  std::function<void()> if_sent_;
  // The message after it, if it was fetched to find out whether the former is the last.
  std::unique_ptr<Outgoing<AnyMessage>> ahead_;
  AnyMessage put_aside_;  // The message that waits for the gate.
  // Written by the first Finish(), before kEnding is set.
  absl::Status end_;
};

class StreamCall final : public SendingCall<StreamCall, AnyStream> {
 public:
  using Handler = StreamHandler;
  static constexpr bool kRequestsStream = false;
  static constexpr bool kResponsesStream = true;

  explicit StreamCall(std::shared_ptr<const Method<StreamCall>> method)
      : SendingCall(std::move(method)), request_(this->method().types.request->New()) {}

 private:
  friend LongCall;

  IncomingRequest* incoming() { return &incoming_; }
  void Begin(const CallContext& caller) {
    // Streams outlive the use of their requests.
    const AnyMessage request = std::move(request_);
    method().handler(caller, *request, shared_from_this());
  }
  void EndWith(const absl::Status& status) { Finish(status); }

  AnyMessage request_;
  IncomingRequest incoming_{request_.get(), method().shape, {}};
};

class DuplexCall final : public SendingCall<DuplexCall, AnyDuplex> {
 public:
  using Handler = DuplexHandler;
  static constexpr bool kRequestsStream = true;
  static constexpr bool kResponsesStream = true;

  explicit DuplexCall(std::shared_ptr<const Method<DuplexCall>> method)
      : SendingCall(std::move(method)), read_([](DuplexCall& call, bool ok) { call.OnRead(ok); }) {}

  void SetReceiver(std::function<void(const Message&)> on_request,
                   std::function<void()> on_requests_done) override {
    on_request_ = std::move(on_request);
    on_requests_done_ = std::move(on_requests_done);
    Read();
  }

 private:
  friend LongCall;

  // Requests are read one by one, not here.
  static IncomingRequest* incoming() { return nullptr; }
  void Begin(const CallContext& caller) { method().handler(caller, shared_from_this()); }
  void EndWith(const absl::Status& status) { Finish(status); }

  void Read() {
    if (!TryBegin()) {
      on_request_ = nullptr;
      on_requests_done_ = nullptr;
      return;
    }
    read_.Hold(shared_from_this());
    // A new message, because a large request would leave its buffers behind in an idle stream.
    request_.reset(method().types.request->New());
    incoming_ = {request_.get(), method().shape, {}};
    stream_.Read(&incoming_, &read_);
  }

  void OnRead(bool ok) {
    if (ok) {
      if (incoming_.refused.ok()) {
        on_request_(*request_);
      } else {
        Finish(incoming_.refused);
      }
      Read();
      return;
    }
    // gRPC does not distinguish a caller that has half-closed from one that has left. A second read
    // passes through the call after the event that ended the first, so that OnOver() has been
    // called by then if the caller has left.
    if (!std::exchange(saw_end_, true)) {
      Read();
      return;
    }
    on_request_ = nullptr;
    const std::function<void()> on_requests_done = std::exchange(on_requests_done_, nullptr);
    if (!IsOver() && !HasSentEnd()) on_requests_done();
  }

  Tag read_;
  // The following members belong to the read in progress.
  AnyMessage request_;
  IncomingRequest incoming_;
  std::function<void(const Message&)> on_request_;
  std::function<void()> on_requests_done_;
  bool saw_end_ = false;
};

}  // namespace callslip::tracker::internal
