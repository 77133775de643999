#include "telemetry/export_thread.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/log.h"

namespace callslip {
namespace {

constexpr int kAttempts = 3;
// Before the second attempt; twice as long before the third.
constexpr absl::Duration kRetryPause = absl::Seconds(1);
// The time for an aborted call to return.
constexpr absl::Duration kAbortGrace = absl::Milliseconds(500);

}  // namespace

ExportThread::ExportThread(Clock* clock, absl::string_view what,
                           std::unique_ptr<OtlpTransport> transport)
    : clock_(clock), what_(what), transport_(std::move(transport)), sleeper_(clock->NewSleeper()) {}

void ExportThread::Start(absl::Duration every, std::function<void()> round) {
  thread_ = std::thread([this, every, round = std::move(round)] { Run(every, round); });
}

void ExportThread::Run(absl::Duration every, const std::function<void()>& round) {
  bool stops = false;
  while (!stops) {
    sleeper_->SleepUntil(clock_->Now() + every);
    stops = IsStopping();
    round();
  }
  done_.set_value();
}

absl::Status ExportThread::Send(const std::string& request) {
  absl::Status sent = absl::CancelledError("stopping");
  for (int attempt = 1; attempt <= kAttempts; ++attempt) {
    const absl::Duration left = StopsAt() - clock_->Now();
    if (left <= absl::ZeroDuration()) break;
    sent = transport_->Send(request, left);
    const bool again = absl::IsUnavailable(sent) && attempt < kAttempts;
    // At the end, do not wait for a collector to recover.
    if (!again || IsStopping()) break;
    sleeper_->SleepUntil(clock_->Now() + kRetryPause * attempt);
  }
  Note(sent);
  return sent;
}

void ExportThread::Note(const absl::Status& sent) {
  if (sent.ok() == works_) return;
  works_ = sent.ok();
  if (works_) {
    Log(LogLevel::kInfo, absl::StrCat(what_, " are exported again"));
  } else {
    Log(LogLevel::kWarning, absl::StrCat(what_, " can't be exported"),
        {{"code", absl::StatusCodeToString(sent.code())}, {"reason", std::string(sent.message())}});
  }
}

absl::Time ExportThread::StopsAt() {
  MutexLock lock(&mutex_);
  return stops_at_;
}

void ExportThread::RequestStop(absl::Duration within) {
  {
    MutexLock lock(&mutex_);
    stops_at_ = std::min(stops_at_, clock_->Now() + within);
  }
  sleeper_->Wake();
}

bool ExportThread::AwaitEnd(absl::Duration within) {
  return is_done_.wait_for(absl::ToChronoNanoseconds(within)) == std::future_status::ready;
}

void ExportThread::Stop(absl::Duration within) {
  if (!thread_.joinable()) return;
  RequestStop(within);
  bool has_ended = AwaitEnd(std::max(StopsAt() - clock_->Now(), absl::ZeroDuration()));
  if (!has_ended) {
    transport_->Abort();
    has_ended = AwaitEnd(kAbortGrace);
  }
  if (has_ended) {
    thread_.join();
  } else {
    thread_.detach();
  }
}

}  // namespace callslip
