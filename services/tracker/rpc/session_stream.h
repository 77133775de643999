#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "callslip/tracker/v1/queue_service.pb.h"
#include "callslip/tracker/v1/session_service.pb.h"
#include "common/mutex.h"
#include "tracker/domain/session/session.h"
#include "tracker/domain/session/session_caller.h"
#include "tracker/domain/session/session_feed.h"
#include "tracker/domain/session/session_notices.h"
#include "tracker/server/server_stream.h"

namespace callslip::tracker {

// The call behind an object that a session holds; it releases the call when the caller has left.
// Thread-safe.
template <typename Response>
class StreamOfSession {
 public:
  using Stream = ServerStream<Response>;

  explicit StreamOfSession(std::shared_ptr<Stream> stream) : stream_(std::move(stream)) {}

  void Wake() {
    if (const auto stream = Get()) stream->Wake();
  }
  // Call it once; messages not sent yet are still sent.
  void Finish(const absl::Status& status) {
    if (const auto stream = LetGo()) stream->Finish(status);
  }
  std::shared_ptr<Stream> LetGo() {
    MutexLock lock(&mutex_);
    return std::exchange(stream_, nullptr);
  }

 private:
  std::shared_ptr<Stream> Get() {
    MutexLock lock(&mutex_);
    return stream_;
  }

  Mutex mutex_;
  std::shared_ptr<Stream> stream_ ABSL_GUARDED_BY(mutex_);
};

// A session's updates as messages of a call: each takes the next update from the feed when the
// stream can send it, so that updates for a slow caller wait where their number is limited.
template <typename Response>
class FeedStream : public SessionFeed, public LastingCall {
 public:
  explicit FeedStream(std::shared_ptr<ServerStream<Response>> stream)
      : stream_(std::move(stream)) {}

  void OnReady() override { stream_.Wake(); }
  void End(const absl::Status& status) override {
    ended_ = true;
    stream_.Finish(status);
  }
  void OnCallerLeft() {
    ended_ = true;
    stream_.LetGo();
  }

  // The source of the stream.
  std::optional<Outgoing<Response>> Next() {
    while (!ended_) {
      Outgoing<Response> next;
      if (TakeExtra(next.message)) return next;
      std::optional<SessionUpdate> update = TakeUpdate();
      if (!update.has_value()) return std::nullopt;
      if (const auto* end = std::get_if<FeedEnd>(&update->what)) {
        stream_.Finish(end->status);
        return std::nullopt;
      }
      if (FillIn(*update, next.message)) return next;
    }
    return std::nullopt;
  }

 protected:
  // Fills in a message that follows from the last update, if there is one.
  virtual bool TakeExtra(Response&) { return false; }
  // False if the update does not concern this caller.
  virtual bool FillIn(const SessionUpdate& update, Response& message) = 0;

 private:
  // Enough that the feed's lock costs little; few enough that the buffer is small, like the feed.
  static constexpr size_t kUpdates = 64;
  static constexpr size_t kBytes = size_t{256} << 10;

  std::optional<SessionUpdate> TakeUpdate() {
    if (taken_.empty()) {
      for (SessionUpdate& update : Take(kUpdates, kBytes)) taken_.push_back(std::move(update));
    }
    if (taken_.empty()) return std::nullopt;
    SessionUpdate update = std::move(taken_.front());
    taken_.pop_front();
    return update;
  }

  StreamOfSession<Response> stream_;
  std::atomic<bool> ended_{false};
  std::deque<SessionUpdate> taken_;  // Used only by the source.
};

// One WatchSession call.
class WatchSessionStream final : public FeedStream<v1::SessionUpdate> {
 public:
  WatchSessionStream(int64_t after_seq, std::shared_ptr<ServerStream<v1::SessionUpdate>> stream)
      : FeedStream(std::move(stream)), seen_(after_seq) {}

 private:
  bool TakeExtra(v1::SessionUpdate& message) override;
  bool FillIn(const SessionUpdate& update, v1::SessionUpdate& message) override;

  int64_t seen_;
  // The number of the newest event when the watch began; nullopt once `caught_up` was sent.
  std::optional<int64_t> catch_up_to_;
};

// One WatchSessions call.
class WatchSessionsStream final : public NoticeFeed, public LastingCall {
 public:
  using Stream = ServerStream<v1::SessionNotice>;

  explicit WatchSessionsStream(std::shared_ptr<Stream> stream) : stream_(std::move(stream)) {}

  // Call it once subscribed: no notice is missed from here on, and the caller is notified of that.
  void Begin();
  void OnReady() override { stream_.Wake(); }
  void End(const absl::Status& status) override { stream_.Finish(status); }
  void OnCallerLeft() { stream_.LetGo(); }

  // The source of the stream.
  std::optional<Outgoing<v1::SessionNotice>> Next();

 private:
  StreamOfSession<v1::SessionNotice> stream_;
  std::atomic<bool> begun_{false};
  bool started_ = false;  // Used only by the source.
};

// One Play call.
class PlayStream final : public FeedStream<v1::SessionEvent> {
 public:
  // Called with each event before it is sent. False: the event is past the end, and ends the
  // stream.
  using Progress = std::function<bool(const SessionEvent& event)>;

  PlayStream(Progress progress, std::shared_ptr<ServerStream<v1::SessionEvent>> stream)
      : FeedStream(std::move(stream)), progress_(std::move(progress)) {}

 private:
  bool FillIn(const SessionUpdate& update, v1::SessionEvent& message) override;

  const Progress progress_;
};

// One ReceiveMessages call.
class ReceiveStream final : public MessageReceiver, public LastingCall {
 public:
  using Stream = ServerStream<v1::ReceivedMessage>;

  explicit ReceiveStream(std::shared_ptr<Stream> stream) : stream_(std::move(stream)) {}

  void OnMessage(const std::string& turn_id, const QueuedMessage& message) override;
  void OnStop(const std::string& turn_id) override;
  void OnEnd(const absl::Status& status) override { stream_.Finish(status); }
  void End(const absl::Status& status) override { stream_.Finish(status); }
  void OnCallerLeft() { stream_.LetGo(); }

  // The runner began this turn itself, so it is not sent.
  void Skip(const std::string& turn_id);

  // The source of the stream.
  std::optional<Outgoing<v1::ReceivedMessage>> Next();

 private:
  void Put(v1::ReceivedMessage message);

  StreamOfSession<v1::ReceivedMessage> stream_;
  Mutex mutex_;
  // Limited by what a session sends: a message, until its turn begins or it is queued again.
  std::deque<v1::ReceivedMessage> waiting_ ABSL_GUARDED_BY(mutex_);
  std::set<std::string> skipped_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace callslip::tracker
