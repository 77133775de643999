#include "tracker/rpc/worker_stream.h"

#include <utility>

namespace callslip::tracker {

WorkerStream::WorkerStream(Clock* clock, CommandTable* table, LeaseRequest request,
                           std::shared_ptr<Stream> stream)
    : clock_(clock), table_(table), request_(std::move(request)), stream_(std::move(stream)) {}

std::optional<Outgoing<v1::StreamCommandsResponse>> WorkerStream::Next() {
  std::optional<WorkerNews> news;
  {
    MutexLock lock(&mutex_);
    news = std::exchange(news_, std::nullopt);
    if (!news.has_value()) {
      if (leasing_ || caller_left_) return std::nullopt;
      leasing_ = true;
    }
  }
  if (news.has_value()) {
    // A call without an end returns no news only when the tracker shuts down.
    if (news->empty()) {
      stream_->Finish(absl::OkStatus());
      return std::nullopt;
    }
    Outgoing<v1::StreamCommandsResponse> next{ToProto<v1::StreamCommandsResponse>(*news), nullptr};
    next.if_lost = [self = shared_from_this(), lost = *std::move(news)] { self->GiveBack(lost); };
    return next;
  }

  auto call = table_->Lease(request_, clock_->Now(), [self = shared_from_this()](WorkerNews got) {
    self->OnNews(std::move(got));
  });
  if (!call.ok()) {
    // A started stream ends with OK when the tracker shuts down.
    const bool draining = call.status().code() == absl::StatusCode::kUnavailable;
    stream_->Finish(begun_ && draining ? absl::OkStatus() : call.status());
    return std::nullopt;
  }
  begun_ = true;
  bool abandon = false;
  {
    MutexLock lock(&mutex_);
    if (leasing_) call_ = *call;
    abandon = caller_left_;
  }
  if (abandon) table_->Abandon(*call, clock_->Now());
  return std::nullopt;
}

void WorkerStream::OnNews(WorkerNews news) {
  bool lost = false;
  {
    MutexLock lock(&mutex_);
    leasing_ = false;
    call_ = nullptr;
    lost = caller_left_;
    if (!lost) news_ = std::move(news);
  }
  if (lost) {
    GiveBack(news);
  } else {
    stream_->Wake();
  }
}

void WorkerStream::OnCallerLeft() {
  std::shared_ptr<HeldCall> call;
  std::optional<WorkerNews> news;
  {
    MutexLock lock(&mutex_);
    caller_left_ = true;
    call = std::move(call_);
    news = std::exchange(news_, std::nullopt);
  }
  table_->Abandon(call, clock_->Now());
  if (news.has_value()) GiveBack(*news);
}

void WorkerStream::GiveBack(const WorkerNews& news) {
  for (const CommandLease& lease : news.leases) table_->GiveBack(lease, clock_->Now());
}

}  // namespace callslip::tracker
