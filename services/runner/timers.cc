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

}  // namespace callslip::runner
