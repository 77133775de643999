#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <utility>

#include "absl/time/time.h"
#include "runner/timers.h"

namespace callslip::runner {

// Timers for tests. The time stands still until Advance().
class FakeTimers final : public Timers {
 public:
  absl::Time Now() override { return now_; }
  std::unique_ptr<Timer> After(absl::Duration wait, std::function<void()> call) override {
    auto timer = std::make_unique<FakeTimer>();
    due_.emplace(now_ + wait, [lives = std::weak_ptr<bool>(timer->lives), call = std::move(call)] {
      if (!lives.expired()) call();
    });
    return timer;
  }
  // Makes the calls that come due, in order.
  void Advance(absl::Duration by) {
    const absl::Time until = now_ + by;
    while (!due_.empty() && due_.begin()->first <= until) {
      now_ = std::max(now_, due_.begin()->first);
      const std::function<void()> call = std::move(due_.begin()->second);
      due_.erase(due_.begin());
      call();
    }
    now_ = until;
  }

 private:
  struct FakeTimer final : Timer {
    const std::shared_ptr<bool> lives = std::make_shared<bool>(true);
  };

  absl::Time now_ = absl::FromUnixSeconds(1'700'000'000);
  std::multimap<absl::Time, std::function<void()>> due_;
};

}  // namespace callslip::runner
