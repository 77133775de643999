#include "telemetry/export_thread.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/log.h"
#include "common/random.h"

namespace callslip {
namespace {

constexpr int kAttempts = 3;
// At most, before the second attempt; twice as long before the third.
constexpr absl::Duration kRetryPause = absl::Seconds(1);
// A collector that asks for a longer pause gets later requests only.
constexpr absl::Duration kMaxPause = absl::Seconds(30);
// The time for an aborted call to return.
constexpr absl::Duration kAbortGrace = absl::Milliseconds(500);

// At random between half and all of the pause, so that programs do not retry at the same time.
absl::Duration PauseBefore(int attempt, const OtlpAnswer& last) {
  const double part = 0.5 + 0.5 * static_cast<double>(Random64()) / static_cast<double>(UINT64_MAX);
  return std::max(kRetryPause * (attempt - 1) * part, last.retry_after);
}

}  // namespace

ExportThread::ExportThread(Clock* clock, absl::string_view what,
                           std::unique_ptr<OtlpTransport> transport)
    : clock_(clock),
      what_(what),
      transport_(std::move(transport)),
      sleeper_(clock->NewSleeper()),
      pause_(clock->NewSleeper()) {}

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

OtlpAnswer ExportThread::Send(const std::string& request) {
  OtlpAnswer answer{.status = absl::CancelledError("stopping")};
  for (int attempt = 1; attempt <= kAttempts; ++attempt) {
    const absl::Duration left = StopsAt() - clock_->Now();
    if (left <= absl::ZeroDuration()) break;
    answer = transport_->Send(request, left);
    const bool again = absl::IsUnavailable(answer.status) && answer.retry_after <= kMaxPause;
    // At the end, do not wait for a collector to recover.
    if (!again || attempt == kAttempts || IsStopping()) break;
    pause_->SleepUntil(clock_->Now() + PauseBefore(attempt + 1, answer));
  }
  Note(answer);
  return answer;
}

void ExportThread::Note(const OtlpAnswer& answer) {
  const absl::Status& sent = answer.status;
  if (answer.rejected > 0 && !std::exchange(rejects_, true)) {
    Log(LogLevel::kWarning, absl::StrCat("the collector rejects some ", what_),
        {{"rejected", absl::StrCat(answer.rejected)}});
  }
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
  pause_->Wake();
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
