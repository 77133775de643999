#include "tracker/domain/queue/deadline_thread.h"

#include <memory>
#include <string>
#include <utility>

#include "common/fake_clock.h"
#include "common/mutex.h"
#include "common/status_matchers.h"
#include "gtest/gtest.h"

namespace callslip::tracker {
namespace {

// Notifies of the last update of its watch.
class NotifyingFeed : public CommandFeed {
 public:
  void OnReady() override {
    for (const CommandUpdate& update : Take(1)) {
      last_ = update;
      if (update.last) over_.Notify();
    }
  }

  // Waits for it.
  const CommandUpdate& Last() {
    over_.Wait();
    return last_;
  }

 private:
  CommandUpdate last_;
  Notification over_;
};

class DeadlineThreadTest : public testing::Test {
 protected:
  std::string Register() {
    CommandRequest request;
    request.type = "execute_js";
    const auto registration = table_.Register(std::move(request), clock_.Now());
    EXPECT_OK(registration);
    return registration->command->spec->id.ToString();
  }

  std::shared_ptr<NotifyingFeed> Watch(const std::string& id, absl::Duration wait) {
    auto feed = std::make_shared<NotifyingFeed>();
    EXPECT_OK(table_.Watch(id, {.until = clock_.Now() + wait, .feed = feed, .only_end = true}));
    return feed;
  }

  FakeClock clock_;
  CommandTable table_{CommandDeadlines{}};
  DeadlineThread thread_{&clock_, &table_};
};

TEST_F(DeadlineThreadTest, FiresDeadlinesAddedWhileItSleeps) {
  const std::string id = Register();
  const auto feed = Watch(id, absl::Seconds(8));
  clock_.Advance(absl::Seconds(8));
  EXPECT_EQ(feed->Last().command, nullptr);

  const auto until_the_end = Watch(id, absl::Seconds(55));
  clock_.Advance(absl::Seconds(22));
  EXPECT_EQ(until_the_end->Last().command->state, CommandState::kExpired);
}

TEST_F(DeadlineThreadTest, FiresEarlierDeadlinesAddedAfterLaterOnes) {
  const std::string id = Register();
  const auto late = Watch(id, absl::Seconds(20));
  const auto early = Watch(id, absl::Seconds(1));
  clock_.Advance(absl::Seconds(1));
  EXPECT_EQ(early->Last().command, nullptr);
  const auto earliest = Watch(id, absl::Milliseconds(1));
  clock_.Advance(absl::Milliseconds(1));
  EXPECT_EQ(earliest->Last().command, nullptr);
  clock_.Advance(absl::Seconds(20));
  EXPECT_EQ(late->Last().command, nullptr);
}

TEST_F(DeadlineThreadTest, FiresDeadlineThatHasAlreadyPassed) {
  EXPECT_EQ(Watch(Register(), -absl::Seconds(1))->Last().command, nullptr);
}

TEST_F(DeadlineThreadTest, EndsHeldCallsOnTime) {
  Notification answered;
  ASSERT_OK(table_.Lease({.hold_until = clock_.Now() + absl::Seconds(5)}, clock_.Now(),
                         [&](WorkerNews news) {
                           EXPECT_TRUE(news.empty());
                           answered.Notify();
                         }));
  clock_.Advance(absl::Seconds(5));
  answered.Wait();
}

}  // namespace
}  // namespace callslip::tracker
