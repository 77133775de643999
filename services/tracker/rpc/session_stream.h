#ifndef CALLSLIP_TRACKER_RPC_SESSION_STREAM_H_
#define CALLSLIP_TRACKER_RPC_SESSION_STREAM_H_

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

// The call behind something that a session holds, which it lets go of when its caller has left.
// Thread-safe.
template <typename Response>
class StreamOfSession {
 public:
  using Stream = ServerStream<Response>;

  explicit StreamOfSession(std::shared_ptr<Stream> stream) : stream_(std::move(stream)) {}

  void Wake() {
    if (const auto stream = Get()) stream->Wake();
  }
  // Once; what has not been sent is still sent.
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

// What a session tells one caller, as messages of its call: each takes the next update from the
// feed when the stream can take it, so that what waits for a slow caller waits where it is bounded.
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
  // Puts in what follows from the last update, if anything does.
  virtual bool TakeExtra(Response&) { return false; }
  // False where the update is none for this caller.
  virtual bool FillIn(const SessionUpdate& update, Response& message) = 0;

 private:
  // Enough that their lock is no matter; few enough that their buffer is bounded as the feed is.
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
  std::deque<SessionUpdate> taken_;  // The source's own.
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
  // Of the newest event when the watch began; none once that was sent.
  std::optional<int64_t> catch_up_to_;
};

// One WatchSessions call.
class WatchSessionsStream final : public NoticeFeed, public LastingCall {
 public:
  using Stream = ServerStream<v1::SessionNotice>;

  explicit WatchSessionsStream(std::shared_ptr<Stream> stream) : stream_(std::move(stream)) {}

  // Once it is subscribed: from here on nothing is missed, and the caller is told so.
  void Begin();
  void OnReady() override { stream_.Wake(); }
  void End(const absl::Status& status) override { stream_.Finish(status); }
  void OnCallerLeft() { stream_.LetGo(); }

  // The source of the stream.
  std::optional<Outgoing<v1::SessionNotice>> Next();

 private:
  StreamOfSession<v1::SessionNotice> stream_;
  std::atomic<bool> begun_{false};
  bool started_ = false;  // The source's own.
};

// One Play call.
class PlayStream final : public FeedStream<v1::SessionEvent> {
 public:
  // Told how many events were sent, after each. False: that was the last one to be played.
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

  // The runner knows of this turn already: it has begun it by itself.
  void Skip(const std::string& turn_id);

  // The source of the stream.
  std::optional<Outgoing<v1::ReceivedMessage>> Next();

 private:
  void Put(v1::ReceivedMessage message);

  StreamOfSession<v1::ReceivedMessage> stream_;
  Mutex mutex_;
  // Bounded by what a session hands out: a message, until its turn begins or it waits again.
  std::deque<v1::ReceivedMessage> waiting_ ABSL_GUARDED_BY(mutex_);
  std::set<std::string> skipped_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace callslip::tracker

#endif  // CALLSLIP_TRACKER_RPC_SESSION_STREAM_H_
