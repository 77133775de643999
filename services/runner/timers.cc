#include "runner/timers.h"

#include <utility>

#include "absl/time/clock.h"
#include "boost/asio/steady_timer.hpp"
#include "common/clock.h"

namespace callslip::runner {
namespace {

class AsioTimer final : public Timers::Timer {
 public:
  AsioTimer(boost::asio::io_context& context, absl::Duration wait, std::function<void()> call)
      : timer_(context, absl::ToChronoNanoseconds(wait)) {
    // The timer can be destroyed in the same iteration of the event loop in which it expires.
    timer_.async_wait([call = std::move(call), lives = std::weak_ptr<bool>(lives_)](
                          const boost::system::error_code& error) {
      if (!error && !lives.expired()) call();
    });
  }

 private:
  const std::shared_ptr<bool> lives_ = std::make_shared<bool>(true);
  boost::asio::steady_timer timer_;
};

class AsioTimers final : public Timers {
 public:
  explicit AsioTimers(boost::asio::io_context& context) : context_(context) {}

  absl::Time Now() override { return clock_.Now(); }
  std::unique_ptr<Timer> After(absl::Duration wait, std::function<void()> call) override {
    return std::make_unique<AsioTimer>(context_, wait, std::move(call));
  }

 private:
  boost::asio::io_context& context_;
  RealClock clock_;
};

}  // namespace

std::unique_ptr<Timers> TimersOf(boost::asio::io_context& context) {
  return std::make_unique<AsioTimers>(context);
}

class FakeTimers::FakeTimer final : public Timers::Timer {
 public:
  FakeTimer(std::shared_ptr<Due> due, absl::Time at, std::function<void()> call)
      : due_(std::move(due)) {
    const auto lives = std::weak_ptr<bool>(lives_);
    due_->emplace(at, [lives, call = std::move(call)] {
      if (!lives.expired()) call();
    });
  }

 private:
  const std::shared_ptr<bool> lives_ = std::make_shared<bool>(true);
  const std::shared_ptr<Due> due_;
};

std::unique_ptr<Timers::Timer> FakeTimers::After(absl::Duration wait, std::function<void()> call) {
  return std::make_unique<FakeTimer>(due_, now_ + wait, std::move(call));
}

void FakeTimers::Advance(absl::Duration by) {
  const absl::Time until = now_ + by;
  while (!due_->empty() && due_->begin()->first <= until) {
    now_ = std::max(now_, due_->begin()->first);
    const std::function<void()> call = std::move(due_->begin()->second);
    due_->erase(due_->begin());
    call();
  }
  now_ = until;
}

}  // namespace callslip::runner
