#include "gateway/tracker_access.h"

#include <memory>
#include <vector>

#include "boost/asio/bind_cancellation_slot.hpp"
#include "boost/asio/cancellation_signal.hpp"
#include "boost/asio/co_spawn.hpp"
#include "boost/asio/io_context.hpp"
#include "boost/asio/steady_timer.hpp"
#include "boost/asio/use_awaitable.hpp"
#include "common/fake_clock.h"
#include "gtest/gtest.h"
#include "support/fake_tracker_client.h"

namespace callslip::gateway {
namespace {

class TrackerAccessTest : public testing::Test {
 protected:
  void Look(boost::asio::cancellation_signal* leave = nullptr) {
    const auto done = [this](const std::exception_ptr& thrown, const absl::Status& status) {
      ++(thrown == nullptr && status.ok() ? answered_ : left_);
    };
    if (leave == nullptr) return boost::asio::co_spawn(io_, access_.Look(), done);
    boost::asio::co_spawn(io_, access_.Look(),
                          boost::asio::bind_cancellation_slot(leave->slot(), done));
  }
  void Run() {
    io_.restart();
    io_.poll();
  }

  FakeClock clock_;
  FakeTrackerClient tracker_{&clock_};
  boost::asio::io_context io_;
  TrackerAccess access_{&tracker_, /*has_names=*/true};
  int answered_ = 0;
  int left_ = 0;
};

TEST_F(TrackerAccessTest, SimultaneousLooksShareOneCall) {
  for (int i = 0; i < 100; ++i) Look();
  Run();
  EXPECT_EQ(answered_, 100);
  EXPECT_EQ(tracker_.lists(), 1);
  Look();
  Run();
  EXPECT_EQ(answered_, 101);
  EXPECT_EQ(tracker_.lists(), 2);
}

TEST_F(TrackerAccessTest, CancelledLookDoesNotBlockOthers) {
  boost::asio::steady_timer never(io_, boost::asio::steady_timer::time_point::max());
  tracker_.on_list = [&]() -> boost::asio::awaitable<void> {
    if (tracker_.lists() == 1) co_await never.async_wait(boost::asio::use_awaitable);
  };
  boost::asio::cancellation_signal leave;
  Look(&leave);
  Look();
  Look();
  Run();
  EXPECT_EQ(answered_ + left_, 0);
  leave.emit(boost::asio::cancellation_type::all);
  Run();
  EXPECT_EQ(left_, 1);
  EXPECT_EQ(answered_, 2);
  EXPECT_EQ(tracker_.lists(), 2);
}

}  // namespace
}  // namespace callslip::gateway
