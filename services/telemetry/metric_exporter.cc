#include "telemetry/metric_exporter.h"

#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "common/mutex.h"
#include "telemetry/export_thread.h"
#include "telemetry/otlp_encoding.h"
#include "telemetry/otlp_metrics.h"

namespace callslip {
namespace {

// The time to send the last metrics: more than a working collector takes.
constexpr absl::Duration kLastWithin = absl::Seconds(2);

}  // namespace

// The state that the thread shares with the exporter, which it can outlive.
class MetricExporter::Worker {
 public:
  Worker(Clock* clock, const TelemetrySettings& settings, std::unique_ptr<OtlpTransport> transport)
      : clock_(clock),
        resource_(EncodeResource(settings.resource)),
        start_nanos_(absl::ToUnixNanos(ProcessStart())),
        thread_(clock, "metrics", std::move(transport)) {}

  ExportThread& thread() { return thread_; }

  void Begin(Collect collect) {
    MutexLock lock(&mutex_);
    collect_ = std::move(collect);
  }

  void Finish() {
    {
      MutexLock lock(&mutex_);
      last_ = Collected();
      collect_ = nullptr;
    }
    thread_.RequestStop(kLastWithin);
  }

  // Called on the thread.
  void Round() {
    const std::string request = Next();
    if (!request.empty()) (void)thread_.Send(request);
  }

 private:
  std::string Next() {
    MutexLock lock(&mutex_);
    return collect_ != nullptr ? Collected() : std::exchange(last_, "");
  }

  std::string Collected() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    MetricsPage page;
    collect_(page);
    return EncodeMetrics(resource_, page.families(),
                         {start_nanos_, absl::ToUnixNanos(ToWallTime(clock_->Now()))});
  }

  Clock* const clock_;
  const std::string resource_;
  const int64_t start_nanos_;
  ExportThread thread_;
  Mutex mutex_;
  Collect collect_ ABSL_GUARDED_BY(mutex_);   // Null once collection has ended.
  std::string last_ ABSL_GUARDED_BY(mutex_);  // Collected, but not sent.
};

MetricExporter::MetricExporter(Clock* clock, const TelemetrySettings& settings,
                               std::unique_ptr<OtlpTransport> transport)
    : interval_(settings.metric_interval),
      worker_(std::make_shared<Worker>(clock, settings, std::move(transport))) {}

MetricExporter::~MetricExporter() { Stop(absl::ZeroDuration()); }

MetricExporter::Collection MetricExporter::Start(Collect collect) {
  worker_->Begin(std::move(collect));
  worker_->thread().Start(interval_, [worker = worker_] { worker->Round(); });
  return Collection(this);
}

void MetricExporter::FinishCollection() { worker_->Finish(); }

void MetricExporter::Stop(absl::Duration within) { worker_->thread().Stop(within); }

}  // namespace callslip
