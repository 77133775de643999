#include "tracker/deadline_thread.h"

#include <memory>

#include "common/fake_clock.h"
#include "common/mutex.h"
#include "common/status_matchers.h"
#include "gtest/gtest.h"

namespace callslip::tracker {
namespace {

class NotifyingWatcher : public CommandWatcher {
 public:
  void OnCommand(const CommandSnapshot& command) override {
    if (IsTerminal(command.state)) ended.Notify();
  }
  void OnWaitOver() override { over.Notify(); }

  Notification ended;
  Notification over;
};

TEST(DeadlineThreadTest, FiresDeadlinesThatWereAddedWhileItSlept) {
  FakeClock clock;
  CommandTable table{CommandDeadlines{}};
  DeadlineThread thread(&clock, &table);

  CommandSpec spec;
  spec.type = "execute_js";
  ASSERT_OK_AND_ASSIGN(const CommandRegistration registration, table.Register(spec, clock.Now()));
  auto watcher = std::make_shared<NotifyingWatcher>();
  ASSERT_OK(
      table.Watch("", registration.command.spec->id, 1, absl::Seconds(8), watcher, clock.Now()));
  clock.Advance(absl::Seconds(8));
  watcher->over.Wait();

  auto until_the_end = std::make_shared<NotifyingWatcher>();
  ASSERT_OK(table.Watch("", registration.command.spec->id, 1, absl::Seconds(55), until_the_end,
                        clock.Now()));
  clock.Advance(absl::Seconds(22));
  until_the_end->ended.Wait();
}

}  // namespace
}  // namespace callslip::tracker
