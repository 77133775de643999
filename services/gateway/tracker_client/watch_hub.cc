#include "gateway/tracker_client/watch_hub.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "boost/asio/post.hpp"
#include "common/error_details.h"
#include "gateway/timeouts.h"
#include "google/protobuf/util/time_util.h"

namespace callslip::gateway {
namespace {

// The tracker's limits for a stream and for a message.
constexpr size_t kMaxWatchesOfStream = 25'000;
constexpr int kMaxWatchesInMessage = 1000;
// Far below the size that the tracker refuses, and small enough not to delay messages behind it.
constexpr size_t kMaxMessageBytes = size_t{1} << 20;
// The size of a watch in a message without its texts.
constexpr size_t kWatchBytes = 64;
// The delay between a broken stream and the next one, doubling: as for the channel itself.
constexpr absl::Duration kMinBackoff = absl::Milliseconds(100);
constexpr absl::Duration kMaxBackoff = absl::Seconds(1);

absl::Status FromError(const v1::WatchError& error) {
  return ErrorWithDetails(static_cast<absl::StatusCode>(error.code()), error.message(),
                          {.reason = error.reason(), .hint = error.hint()});
}

bool IsDraining(const absl::Status& status) { return DetailsOf(status).reason == "draining"; }

absl::Status GatewayStops() {
  return ErrorWithDetails(absl::StatusCode::kCancelled, "The gateway stops.",
                          {.reason = "draining", .hint = "Ask again."});
}

absl::Status NameTooLong() {
  return ErrorWithDetails(absl::StatusCode::kInvalidArgument,
                          absl::StrCat("The name of a watched item is longer than ",
                                       WatchHub::kMaxNameBytes, " bytes."),
                          {.reason = "invalid_argument", .hint = "Use the id as it was given."});
}

bool HasLongName(const Watch::Subject& subject) {
  const auto is_long = [](const std::string& name) {
    return name.size() > WatchHub::kMaxNameBytes;
  };
  return is_long(subject.client_id) || is_long(subject.command_id) ||
         (subject.filter != nullptr &&
          (is_long(subject.filter->target()) || is_long(subject.filter->label())));
}

size_t BytesOf(const Watch::Subject& subject) {
  return kWatchBytes + subject.client_id.size() + subject.command_id.size() +
         (subject.filter == nullptr ? 0 : subject.filter->ByteSizeLong());
}

}  // namespace

// Some of the watches, and the call that carries them: opened when there is a watch to carry, and
// reopened after a delay when it has ended.
class WatchHub::Stream final : public WatchCall::Listener {
 public:
  Stream(WatchHub* hub, size_t number) : index(number), hub_(hub), retry_(hub->executor_) {}

  void Add(int64_t watch_id) {
    ++watches_;
    to_add_.insert(watch_id);
    if (call_ == nullptr && !retrying_) call_ = hub_->open_(this);
    SendSoon();
  }

  void Remove(int64_t watch_id, bool sent) {
    --watches_;
    if (!sent) {
      to_add_.erase(watch_id);
      declined_.erase(watch_id);
    } else {
      to_remove_.push_back(watch_id);
      SendSoon();
    }
  }

  // The tracker has ended a watch.
  void Forget() { --watches_; }
  // A look that was sent has been answered or canceled.
  void ForgetLook() {
    --looks_;
    if (!holds_back()) SendSoon();
  }
  // Schedules a watch for the next call: this one has ended, or its tracker has declined the watch.
  void AddAgain(int64_t watch_id) { (call_ == nullptr ? to_add_ : declined_).insert(watch_id); }

  bool full() const { return watches_ >= kMaxWatchesOfStream; }

  void OnReady() override { Send(); }

  void OnUpdates(v1::WatchCommandsResponse response) override {
    backoff_ = kMinBackoff;
    for (v1::CommandUpdate& update : *response.mutable_updates()) hub_->OnUpdate(*this, update);
  }

  void OnEnd(absl::Status status) override {
    call_ = nullptr;
    looks_ = 0;
    to_remove_.clear();
    to_add_.insert(declined_.begin(), declined_.end());
    declined_.clear();
    hub_->OnBroken(*this, status);
    if (watches_ == 0) return;
    retrying_ = true;
    retry_.expires_after(absl::ToChronoNanoseconds(backoff_));
    retry_.async_wait([this](boost::system::error_code error) {
      if (error) return;
      retrying_ = false;
      if (watches_ > 0) call_ = hub_->open_(this);
    });
    backoff_ = std::min(backoff_ * 2, kMaxBackoff);
  }

  const size_t index;

 private:
  // Sends soon, together with other watches that begin or end meanwhile.
  void SendSoon() {
    if (to_add_.empty() && to_remove_.empty()) return;
    if (std::exchange(send_posted_, true)) return;
    boost::asio::post(hub_->executor_, [this] {
      send_posted_ = false;
      Send();
    });
  }

  // Whether to wait until as many looks wait as are in progress: two messages keep both sides busy,
  // and more would only cost.
  bool holds_back() const { return looks_ > to_add_.size(); }

  void Send() {
    if (to_add_.empty() && to_remove_.empty()) return;
    if (holds_back() || call_ == nullptr || !call_->IsReady()) return;
    v1::WatchCommandsRequest request;
    const size_t removed = std::min<size_t>(to_remove_.size(), kMaxWatchesInMessage);
    request.mutable_remove()->Add(to_remove_.begin(), to_remove_.begin() + removed);
    to_remove_.erase(to_remove_.begin(), to_remove_.begin() + removed);
    size_t bytes = 0;
    while (!to_add_.empty() && request.add_size() < kMaxWatchesInMessage) {
      const int64_t watch_id = *to_add_.begin();
      Watch& watch = *hub_->watches_.at(watch_id);
      bytes += BytesOf(watch.subject_);
      if (bytes > kMaxMessageBytes && request.add_size() > 0) break;
      to_add_.erase(to_add_.begin());
      *request.add_add() = hub_->MessageFor(watch_id, watch);
      if (watch.subject_.is_look()) ++looks_;
    }
    call_->Send(request);
    SendSoon();
  }

  WatchHub* const hub_;
  std::unique_ptr<WatchCall> call_;
  bool send_posted_ = false;
  size_t watches_ = 0;
  size_t looks_ = 0;                   // Sent and not answered.
  absl::btree_set<int64_t> to_add_;    // In the order in which they began.
  absl::btree_set<int64_t> declined_;  // By the tracker of this call, which is shutting down.
  std::vector<int64_t> to_remove_;     // At most those that the call has had: none of them is added
                                       // again.
  boost::asio::steady_timer retry_;
  bool retrying_ = false;
  absl::Duration backoff_ = kMinBackoff;
};

WatchHub::WatchHub(boost::asio::any_io_executor executor, Clock* clock, OpenCall open)
    : executor_(std::move(executor)), clock_(clock), open_(std::move(open)), timer_(executor_) {}

WatchHub::~WatchHub() = default;

int64_t WatchHub::Begin(std::unique_ptr<Watch> watch) {
  const int64_t watch_id = next_id_++;
  if (ended_ || HasLongName(watch->subject_)) {
    watch->OnEnd(ended_ ? GatewayStops() : NameTooLong());
    return watch_id;
  }
  Stream& stream = StreamWithRoom();
  watch->stream_ = stream.index;
  if (watch->subject_.until < absl::InfiniteFuture()) {
    deadlines_.emplace(watch->subject_.until + kRpcMargin, watch_id);
    ArmTimer();
  }
  if (watch->subject_.is_wait()) {
    watch->begun_ = clock_->Now();
    ++waits_;
  }
  watches_[watch_id] = std::move(watch);
  stream.Add(watch_id);
  return watch_id;
}

std::unique_ptr<Watch> WatchHub::Take(int64_t watch_id, bool tell) {
  const auto it = watches_.find(watch_id);
  if (it == watches_.end()) return nullptr;
  std::unique_ptr<Watch> watch = std::move(it->second);
  watches_.erase(it);
  if (watch->subject_.is_wait()) {
    --waits_;
    waited_.Observe(absl::ToInt64Nanoseconds(clock_->Now() - watch->begun_));
  }
  deadlines_.erase({watch->subject_.until + kRpcMargin, watch_id});
  Stream& stream = *streams_[watch->stream_];
  if (watch->sent_ && watch->subject_.is_look()) stream.ForgetLook();
  if (tell) {
    stream.Remove(watch_id, watch->sent_);
  } else {
    stream.Forget();
  }
  return watch;
}

void WatchHub::EndAll() {
  ended_ = true;
  std::vector<int64_t> ids;
  for (const auto& [watch_id, watch] : watches_) ids.push_back(watch_id);
  for (const int64_t watch_id : ids) {
    End(watch_id, GatewayStops());
  }
}

void WatchHub::End(int64_t watch_id, absl::Status status) {
  if (const std::unique_ptr<Watch> watch = Remove(watch_id)) watch->OnEnd(std::move(status));
}

WatchHub::Stream& WatchHub::StreamWithRoom() {
  for (const auto& stream : streams_) {
    if (!stream->full()) return *stream;
  }
  streams_.push_back(std::make_unique<Stream>(this, streams_.size()));
  return *streams_.back();
}

v1::CommandWatch WatchHub::MessageFor(int64_t watch_id, Watch& watch) {
  const Watch::Subject& subject = watch.subject_;
  v1::CommandWatch message;
  message.set_watch_id(watch_id);
  message.set_client_id(subject.client_id);
  if (subject.filter != nullptr) {
    message.set_owner(subject.owner);
    message.set_only_changes(subject.only_changes);
    message.set_removals(true);
    *message.mutable_filter() = *subject.filter;
  } else {
    message.set_command_id(subject.command_id);
    message.set_after_revision(subject.after_revision);
    // The rest of the time; 0 would mean no limit.
    const absl::Duration left = std::max(subject.until - clock_->Now(), absl::Milliseconds(1));
    *message.mutable_max_wait() =
        google::protobuf::util::TimeUtil::NanosecondsToDuration(absl::ToInt64Nanoseconds(left));
  }
  message.set_only_end(subject.only_end);
  watch.sent_ = true;
  return message;
}

void WatchHub::OnUpdate(Stream& stream, v1::CommandUpdate& update) {
  const int64_t watch_id = update.watch_id();
  const auto it = watches_.find(watch_id);
  if (it == watches_.end()) return;
  Watch& known = *it->second;
  if (known.subject_.filter != nullptr && !update.last() && !update.has_error()) {
    known.OnUpdate(std::move(update));
    return;
  }
  const bool declined = update.draining() || update.error().reason() == "draining";
  if (known.subject_.is_wait() && declined) {
    known.sent_ = false;
    stream.AddAgain(watch_id);
    return;
  }
  const std::unique_ptr<Watch> watch = Take(watch_id, /*tell=*/!update.last());
  if (update.has_command()) {
    watch->OnUpdate(std::move(update));
  } else {
    watch->OnEnd(update.has_error() ? FromError(update.error()) : absl::OkStatus());
  }
}

void WatchHub::OnBroken(Stream& stream, const absl::Status& status) {
  std::vector<int64_t> lost;
  for (const auto& [watch_id, watch] : watches_) {
    if (watch->stream_ != stream.index) continue;
    const bool is_feed = watch->subject_.filter != nullptr;
    const bool ends = is_feed ? watch->sent_ : watch->subject_.is_look() && IsDraining(status);
    if (ends) lost.push_back(watch_id);
    if (watch->sent_) stream.AddAgain(watch_id);
    watch->sent_ = false;
  }
  for (const int64_t watch_id : lost) {
    if (const std::unique_ptr<Watch> watch = Take(watch_id, /*tell=*/true)) {
      watch->OnEnd(IsDraining(status) ? status
                                      : absl::UnavailableError("the stream of changes broke"));
    }
  }
}

void WatchHub::ArmTimer() {
  if (deadlines_.empty()) return;
  const absl::Time first = deadlines_.begin()->first;
  if (timer_until_ <= first) return;
  timer_until_ = first;
  timer_.expires_after(absl::ToChronoNanoseconds(first - clock_->Now()));
  timer_.async_wait([this](boost::system::error_code error) {
    if (!error) OnTimer();
  });
}

void WatchHub::OnTimer() {
  timer_until_ = absl::InfiniteFuture();
  const absl::Time now = clock_->Now();
  while (!deadlines_.empty() && deadlines_.begin()->first <= now) {
    End(deadlines_.begin()->second, absl::UnavailableError("the tracker did not answer in time"));
  }
  ArmTimer();
}

}  // namespace callslip::gateway
