#pragma once

#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common/mutex.h"
#include "telemetry/otlp_transport.h"

namespace callslip {

// Lets a test observe and control a transport that an exporter owns. Must outlive the transport.
class FakeCollector {
 public:
  std::unique_ptr<OtlpTransport> Transport() { return std::make_unique<Way>(this); }

  void Hang(bool hangs) {
    MutexLock lock(&mutex_);
    hangs_ = hangs;
    changed_.NotifyAll();
  }
  // The results of the next requests; after these, OK.
  void AnswerWith(std::deque<OtlpAnswer> answers) {
    MutexLock lock(&mutex_);
    answers_ = std::move(answers);
  }
  // Returns all requests once there are at least `requests`.
  std::vector<std::string> Await(size_t requests) {
    MutexLock lock(&mutex_);
    while (taken_.size() < requests) changed_.Wait(&mutex_);
    return taken_;
  }

 private:
  class Way final : public OtlpTransport {
   public:
    explicit Way(FakeCollector* collector) : collector_(collector) {}
    OtlpAnswer Send(const std::string& request, absl::Duration) override {
      return collector_->Take(request);
    }
    void Abort() override { collector_->Abort(); }

   private:
    FakeCollector* const collector_;
  };

  OtlpAnswer Take(const std::string& request) {
    MutexLock lock(&mutex_);
    taken_.push_back(request);
    changed_.NotifyAll();
    while (hangs_ && !aborted_) changed_.Wait(&mutex_);
    if (answers_.empty()) return {};
    const OtlpAnswer answer = answers_.front();
    answers_.pop_front();
    return answer;
  }
  void Abort() {
    MutexLock lock(&mutex_);
    aborted_ = true;
    changed_.NotifyAll();
  }

  Mutex mutex_;
  CondVar changed_;
  std::vector<std::string> taken_ ABSL_GUARDED_BY(mutex_);
  std::deque<OtlpAnswer> answers_ ABSL_GUARDED_BY(mutex_);
  bool hangs_ ABSL_GUARDED_BY(mutex_) = false;
  bool aborted_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace callslip
