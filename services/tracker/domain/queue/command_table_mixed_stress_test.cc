#include <atomic>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "common/mutex.h"
#include "tracker/domain/queue/command_table_fixture.h"
#include "tracker/domain/queue/deadline_thread.h"

// Everything at once, with time that passes. See also command_table_stress_test.cc.
namespace callslip::tracker {
namespace {

#ifdef __SANITIZE_THREAD__
constexpr int kSteps = 30'000;  // Of each client.
#else
constexpr int kSteps = 50'000;
#endif
constexpr int kClients = 3;
constexpr int kWorkers = 3;

// A reader that takes its updates at any time, and checks that they keep the promises of a feed.
class CheckedFeed : public CommandFeed {
 public:
  void OnReady() override { ready_ = true; }

  void Begin(int64_t watch_id) { open_.insert(watch_id); }
  // After this the watch must be silent.
  void End(int64_t watch_id) {
    Read();
    open_.erase(watch_id);
  }

  void ReadIfReady() {
    if (ready_.exchange(false)) Read();
  }
  void Read() {
    for (auto updates = Take(kAtOnce); !updates.empty(); updates = Take(kAtOnce)) {
      for (const CommandUpdate& update : updates) Check(update);
    }
  }

  const std::set<int64_t>& open() const { return open_; }

 private:
  static constexpr size_t kAtOnce = 10;

  void Check(const CommandUpdate& update) {
    EXPECT_TRUE(open_.contains(update.watch_id)) << "a watch that is over speaks";
    if (update.last) open_.erase(update.watch_id);
    if (update.command == nullptr) return;
    int64_t& revision = revisions_[{update.watch_id, IdOf(*update.command)}];
    EXPECT_GE(update.command->revision, revision) << "out of order";
    revision = update.command->revision;
  }

  std::atomic<bool> ready_{false};
  // Used by the reading thread.
  std::set<int64_t> open_;
  std::map<std::pair<int64_t, std::string>, int64_t> revisions_;
};

class Random {
 public:
  explicit Random(int seed) : generator_(seed) {}
  bool OneIn(int n) { return Below(n) == 0; }
  int Below(int n) { return static_cast<int>(generator_() % n); }

 private:
  std::mt19937 generator_;
};

// Registers, watches, reads, cancels and so on, until the table drains.
class BusyClient {
 public:
  BusyClient(FakeClock* clock, CommandTable* table, int number)
      : clock_(clock), table_(table), name_("client-" + std::to_string(number)), random_(number) {}

  void Run(std::atomic<int>& steps) {
    while (Step()) {
      ++steps;
      if (random_.OneIn(3)) feed_->ReadIfReady();
    }
    Unwatch();
  }

  // Called at the end: every watch must have reported its end.
  void ExpectNoWatch() {
    feed_->Read();
    EXPECT_THAT(feed_->open(), testing::IsEmpty());
  }

 private:
  // Returns false once the table drains.
  bool Step() {
    switch (random_.Below(8)) {
      case 0:
      case 1:
      case 2: return Register();
      case 3: return Watch();
      case 4:
        if (watching_.size() > 20) Unwatch();
        return true;
      case 5:
        if (random_.OneIn(2)) {
          ExpectKnown(table_->Cancel(name_, SomeId(), clock_->Now()).status());
        } else {
          ExpectKnown(table_->Expire(name_, SomeId(), {}, clock_->Now()).status());
        }
        return true;
      case 6: ExpectKnown(table_->Get(name_, SomeId(), random_.OneIn(2)).status()); return true;
      default:
        if (random_.OneIn(10)) return WatchAll();
        if (random_.OneIn(10)) ExpectKnown(table_->List(name_, {}, 10, "").status());
        return Goes(table_->Replay(name_, SomeId(), "", clock_->Now()).status());
    }
  }

  bool Register() {
    CommandRequest request;
    request.client_id = name_;
    request.target = "target-" + std::to_string(random_.Below(3));
    request.type = "execute_js";
    request.idempotent = random_.OneIn(2);
    request.priority = random_.Below(3);
    if (random_.OneIn(3)) request.ordering_key = "tab-" + std::to_string(random_.Below(3));
    if (random_.OneIn(5)) request.not_before = clock_->Now() + absl::Seconds(random_.Below(5));
    if (random_.OneIn(5)) request.deadlines.result_retention = absl::Seconds(1);
    if (random_.OneIn(10)) {
      request.command_class = CommandClass::kHuman;
      request.deadlines = {.schedule_to_close = absl::Seconds(5)};
      request.not_before = absl::InfinitePast();
    }
    if (random_.OneIn(5)) request.request_id = "r" + std::to_string(random_.Below(1'000));
    const auto registration = table_->Register(std::move(request), clock_->Now());
    if (registration.ok()) {
      ids_.push_back(IdOf(*registration->command));
      if (ids_.size() > 50) ids_.pop_front();
    }
    return Goes(registration.status());
  }

  bool Watch() {
    WatchRequest request = {.clients = name_, .feed = feed_, .watch_id = ++last_watch_id_};
    request.only_end = random_.OneIn(2);
    if (random_.OneIn(2)) request.until = clock_->Now() + absl::Seconds(random_.Below(10));
    return Began(table_->Watch(SomeId(), std::move(request)));
  }

  bool WatchAll() {
    FilterWatch watch = {.clients = name_, .feed = feed_, .watch_id = ++last_watch_id_};
    if (random_.OneIn(2)) watch.filter.target = "target-1";
    return Began(table_->WatchAll(std::move(watch)));
  }

  bool Began(absl::StatusOr<CommandTable::Watching> watching) {
    if (watching.ok()) {
      feed_->Begin(last_watch_id_);
      watching_.emplace_back(last_watch_id_, *std::move(watching));
    }
    return Goes(watching.status());
  }

  // Removes up to ten watches.
  void Unwatch() {
    for (int i = 0; i < 10 && !watching_.empty(); ++i) {
      table_->Unwatch(watching_.front().second);
      feed_->End(watching_.front().first);
      watching_.pop_front();
    }
  }

  std::string SomeId() {
    if (ids_.empty()) return "corr-1-00000000000000000000000000000000";
    return ids_[random_.Below(static_cast<int>(ids_.size()))];
  }

  static void ExpectKnown(const absl::Status& status) {
    EXPECT_TRUE(status.ok() || absl::IsNotFound(status) || absl::IsFailedPrecondition(status))
        << status;
  }
  static bool Goes(const absl::Status& status) {
    if (absl::IsUnavailable(status)) return false;
    if (!absl::IsResourceExhausted(status) && !absl::IsAlreadyExists(status)) ExpectKnown(status);
    return true;
  }

  FakeClock* const clock_;
  CommandTable* const table_;
  const std::string name_;
  const std::shared_ptr<CheckedFeed> feed_ = std::make_shared<CheckedFeed>();
  Random random_;
  std::deque<std::string> ids_;
  std::deque<std::pair<int64_t, CommandTable::Watching>> watching_;
  int64_t last_watch_id_ = 0;
};

// Leases, gives calls up, reports, gives back and falls silent, until the table drains.
class MoodyWorker {
 public:
  MoodyWorker(FakeClock* clock, CommandTable* table, int number)
      : clock_(clock), table_(table), name_("w" + std::to_string(number)), random_(100 + number) {}

  void Run() {
    while (Poll()) {
      for (const CommandLease& lease : TakeInbox()) Handle(lease);
    }
    for (const CommandLease& lease : TakeInbox()) table_->GiveBack(lease, clock_->Now());
  }

 private:
  bool Poll() {
    {
      MutexLock lock(&mutex_);
      answered_ = false;
    }
    LeaseRequest request = {.target = "target-" + std::to_string(random_.Below(3)),
                            .worker_id = name_};
    if (random_.OneIn(2)) request.hold_until = clock_->Now() + absl::Seconds(1);
    const auto call = table_->Lease(std::move(request), clock_->Now(), [this](WorkerNews news) {
      MutexLock lock(&mutex_);
      EXPECT_FALSE(answered_) << "an answer too many";
      answered_ = true;
      inbox_.insert(inbox_.end(), news.leases.begin(), news.leases.end());
      changed_.NotifyAll();
    });
    if (!call.ok()) return false;
    MutexLock lock(&mutex_);
    if (random_.OneIn(2) && !answered_) {
      mutex_.Unlock();
      const bool abandoned = table_->Abandon(*call, clock_->Now());
      mutex_.Lock();
      if (abandoned) {
        EXPECT_FALSE(answered_);
        return true;
      }
    }
    while (!answered_) changed_.Wait(&mutex_);
    return true;
  }

  CommandLeases TakeInbox() {
    MutexLock lock(&mutex_);
    return std::exchange(inbox_, {});
  }

  void Handle(const CommandLease& lease) {
    if (random_.OneIn(6)) {
      table_->GiveBack(lease, clock_->Now());
      return;
    }
    if (random_.OneIn(6)) return;
    if (random_.OneIn(2)) {
      ExpectKnown(table_
                      ->Acknowledge(IdOf(lease), ProofOf(lease), CommandProgress{0.5, "half"},
                                    nullptr, clock_->Now())
                      .status());
    }
    if (random_.OneIn(6)) return;
    const int times = random_.OneIn(6) ? 2 : 1;
    for (int i = 0; i < times; ++i) {
      const CommandOutcome outcome = random_.OneIn(3)
                                         ? CommandOutcome(CommandFailure{{"failed", ""}})
                                         : CommandOutcome(CommandResult{Bytes("result")});
      ExpectKnown(
          table_->Complete(IdOf(lease), ProofOf(lease), outcome, nullptr, clock_->Now()).status());
    }
  }

  static void ExpectKnown(const absl::Status& status) {
    EXPECT_TRUE(status.ok() || absl::IsNotFound(status)) << status;
  }

  FakeClock* const clock_;
  CommandTable* const table_;
  const std::string name_;
  Random random_;
  Mutex mutex_;
  CondVar changed_;
  bool answered_ ABSL_GUARDED_BY(mutex_) = false;
  CommandLeases inbox_ ABSL_GUARDED_BY(mutex_);
};

class CommandTableMixedStressTest : public CommandTableTest {
 protected:
  CommandTableMixedStressTest() : CommandTableTest({.failed_of_client = 20, .tombstones = 100}) {}
};

TEST_F(CommandTableMixedStressTest, NothingIsLostOrLeftUnderMixedLoad) {
  std::optional<DeadlineThread> deadline_thread(std::in_place, &clock_, &table_);
  std::vector<std::unique_ptr<BusyClient>> clients;
  std::vector<std::unique_ptr<MoodyWorker>> workers;
  std::atomic<int> steps = 0;
  std::atomic<bool> over = false;
  std::vector<std::thread> threads;
  for (int i = 0; i < kClients; ++i) {
    clients.push_back(std::make_unique<BusyClient>(&clock_, &table_, i));
    threads.emplace_back([&, client = clients.back().get()] { client->Run(steps); });
  }
  for (int i = 0; i < kWorkers; ++i) {
    workers.push_back(std::make_unique<MoodyWorker>(&clock_, &table_, i));
    threads.emplace_back([worker = workers.back().get()] { worker->Run(); });
  }
  std::thread time([&] {
    while (!over) {
      clock_.Advance(absl::Milliseconds(10));
      std::this_thread::yield();
    }
  });

  while (steps < kClients * kSteps) std::this_thread::yield();
  table_.Drain();
  for (std::thread& thread : threads) thread.join();
  Notification no_leases;
  table_.OnNoLeases([&] { no_leases.Notify(); });
  no_leases.Wait();  // Silent workers are given up in time.
  EXPECT_EQ(table_.leased(), 0);
  EXPECT_EQ(table_.waits(), 0);
  for (const auto& client : clients) client->ExpectNoWatch();

  over = true;
  time.join();
  deadline_thread.reset();
  table_.SetDeadlineListener(nullptr);
  for (int i = 0; i < 4; ++i) Advance(absl::Hours(1));
  EXPECT_EQ(table_.commands(), 0);
  EXPECT_EQ(table_.payload_bytes(), 0);
  EXPECT_EQ(table_.waits(), 0);
  EXPECT_EQ(table_.leased(), 0);
  EXPECT_EQ(table_.NextDeadlineTime(), absl::InfiniteFuture());
}

TEST_F(CommandTableMixedStressTest, FilterDuringDrainGetsNoUpdatesAfterItsEnd) {
  constexpr int kTimes = 300;
  for (int i = 0; i < kTimes; ++i) {
    CommandTable table{CommandDeadlines{}};
    for (int k = 0; k < 400; ++k) {
      CommandRequest request = Request();
      request.target = "target-" + std::to_string(k % 16);
      ASSERT_TRUE(table.Register(std::move(request), clock_.Now()).ok());
    }
    const auto feed = std::make_shared<RecordingFeed>(RecordingFeed::Reader::kSlow);
    std::atomic<bool> begun = false;
    std::atomic<int> moments = 0;
    std::thread drain([&] {
      while (!begun) std::this_thread::yield();
      while (moments < 10 * (i % 100)) ++moments;  // A little later each time.
      table.Drain();
    });
    begun = true;
    const auto watching = table.WatchAll({.clients = kClient, .feed = feed});
    drain.join();
    feed->Read();
    if (!watching.ok()) {
      EXPECT_THAT(watching, FailsWith(absl::StatusCode::kUnavailable, "draining"));
      EXPECT_THAT(feed->seen, testing::IsEmpty());
      continue;
    }
    ASSERT_FALSE(feed->seen.empty());
    for (size_t k = 0; k < feed->seen.size(); ++k) {
      EXPECT_EQ(feed->seen[k].last, k + 1 == feed->seen.size());
    }
  }
}

}  // namespace
}  // namespace callslip::tracker
