#include "telemetry/span_exporter.h"

#include <algorithm>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "common/mutex.h"
#include "telemetry/export_thread.h"
#include "telemetry/otlp_encoding.h"

namespace callslip {

// The state that the thread shares with the exporter, which it can outlive.
class SpanExporter::Worker {
  using Lost = std::vector<std::pair<int, std::string>>;

 public:
  Worker(Clock* clock, const TelemetrySettings& settings, std::unique_ptr<OtlpTransport> transport,
         std::unique_ptr<SpanFile> file)
      : limits_(settings.limits),
        resource_(EncodeResource(settings.resource)),
        file_(std::move(file)),
        lost_(file_ == nullptr ? Lost() : file_->TakeLost()),
        thread_(clock, "spans", std::move(transport)) {}

  // Saves the span as it must read if it never ends.
  void Begin(Span& span) {
    if (file_ == nullptr) return;
    Span cut = span;
    cut.end_nanos = cut.start_nanos;
    cut.failed = true;
    cut.attributes.push_back({"error.type", std::string("process_ended")});
    span.place = file_->Put(EncodeSpan(cut));
  }

  void Add(Span span) {
    if (file_ != nullptr) Keep(span);
    int dropped = SpanFile::kNowhere;
    bool is_batch = false;
    {
      MutexLock lock(&mutex_);
      if (waiting_.size() >= limits_.queue) {
        ++counts_.dropped;
        dropped = span.place;
      } else {
        waiting_.push_back(std::move(span));
        is_batch = waiting_.size() == limits_.batch;
      }
    }
    if (file_ != nullptr) file_->Free(dropped);
    if (is_batch) thread_.Wake();
  }

  SpanCounts Counts() {
    MutexLock lock(&mutex_);
    return counts_;
  }

  ExportThread& thread() { return thread_; }

  // Called on the thread.
  void Round() {
    ExportLost();
    for (std::vector<Span> batch; !(batch = TakeBatch()).empty();) Export(batch);
  }

 private:
  // The spans that have waited longest. Empty once the time has run out.
  std::vector<Span> TakeBatch() {
    MutexLock lock(&mutex_);
    if (thread_.IsOver()) {
      counts_.dropped += static_cast<int64_t>(waiting_.size());
      waiting_.clear();
    }
    std::vector<Span> batch;
    batch.reserve(std::min(waiting_.size(), limits_.batch));
    for (; batch.size() < limits_.batch && !waiting_.empty(); waiting_.pop_front()) {
      batch.push_back(std::move(waiting_.front()));
    }
    return batch;
  }

  // Saves the span in its new place before freeing the place from its beginning.
  void Keep(Span& span) {
    std::string bytes = EncodeSpan(span);
    if (bytes.size() > SpanFile::kMaxBytes) {
      Span shorter = span;
      shorter.attributes.clear();
      shorter.links.clear();
      bytes = EncodeSpan(shorter);
    }
    file_->Free(std::exchange(span.place, file_->Put(bytes)));
  }

  // Exports the spans that earlier processes left behind. What the collector does not take now
  // stays for the next round, or for the next process.
  void ExportLost() {
    while (!lost_.empty()) {
      const size_t begin = lost_.size() - std::min(limits_.batch, lost_.size());
      std::vector<std::string> batch;
      for (size_t i = begin; i < lost_.size(); ++i) batch.push_back(lost_[i].second);
      const OtlpAnswer answer = thread_.Send(EncodeRequest(resource_, batch));
      if (absl::IsUnavailable(answer.status) || absl::IsCancelled(answer.status)) return;
      Count(answer, batch.size());
      for (; lost_.size() > begin; lost_.pop_back()) file_->Free(lost_.back().first);
    }
  }

  void Export(const std::vector<Span>& batch) {
    const OtlpAnswer answer = thread_.Send(EncodeSpans(resource_, batch));
    Count(answer, batch.size());
    // Spans that cannot be sent at the end are left to the next process.
    if (file_ == nullptr || (!answer.status.ok() && thread_.IsStopping())) return;
    for (const Span& span : batch) file_->Free(span.place);
  }

  void Count(const OtlpAnswer& answer, size_t spans) {
    const auto count = static_cast<int64_t>(spans);
    const int64_t failed = answer.status.ok() ? std::min(answer.rejected, count) : count;
    MutexLock lock(&mutex_);
    counts_.failed += failed;
    counts_.exported += count - failed;
  }

  const SpanLimits limits_;
  const std::string resource_;
  const std::unique_ptr<SpanFile> file_;  // May be null.
  Lost lost_;                             // Used only by the thread.
  ExportThread thread_;
  Mutex mutex_;
  std::deque<Span> waiting_ ABSL_GUARDED_BY(mutex_);  // limits_.queue at most.
  SpanCounts counts_ ABSL_GUARDED_BY(mutex_);
};

SpanExporter::SpanExporter(Clock* clock, const TelemetrySettings& settings,
                           std::unique_ptr<OtlpTransport> transport, std::unique_ptr<SpanFile> file)
    : clock_(clock),
      sampler_(settings.sampler),
      worker_(std::make_shared<Worker>(clock, settings, std::move(transport), std::move(file))) {
  worker_->thread().Start(settings.limits.delay, [worker = worker_] { worker->Round(); });
  worker_->thread().Wake();  // Spans left behind by earlier processes are sent at once.
}

SpanExporter::~SpanExporter() { Stop(absl::ZeroDuration()); }

void SpanExporter::Stop(absl::Duration within) { worker_->thread().Stop(within); }

bool SpanExporter::Samples(const TraceContext& parent, const TraceContext& context) const {
  return sampler_.Samples(parent, context);
}

int64_t SpanExporter::NowNanos() const { return absl::ToUnixNanos(ToWallTime(clock_->Now())); }

void SpanExporter::Begin(Span& span) { worker_->Begin(span); }

void SpanExporter::Record(Span span) { worker_->Add(std::move(span)); }

SpanCounts SpanExporter::Counts() const { return worker_->Counts(); }

}  // namespace callslip
