#include <array>
#include <atomic>
#include <barrier>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "common/mutex.h"
#include "tracker/domain/queue/command_table_fixture.h"

// Many threads at once, above all for ThreadSanitizer. The clock stands still while the threads
// run, so that a thread that is not notified of an end waits for ever.
namespace callslip::tracker {
namespace {

#ifdef __SANITIZE_THREAD__
constexpr int kShare = 1;
#else
constexpr int kShare = 4;
#endif

using Threads = std::vector<std::thread>;

void Join(Threads& threads) {
  for (std::thread& thread : threads) thread.join();
  threads.clear();
}

// Counts the ends that it receives, and checks each. Thread-safe.
class EndsFeed : public CommandFeed {
 public:
  using Check = std::function<void(const CommandUpdate&)>;

  explicit EndsFeed(Check check = nullptr) : check_(std::move(check)) {}

  void OnReady() override {
    for (auto updates = Take(kAtOnce); !updates.empty(); updates = Take(kAtOnce)) {
      for (const CommandUpdate& update : updates) {
        EXPECT_TRUE(update.last);
        if (check_ != nullptr) check_(update);
        NoteReceived(update);
      }
      MutexLock lock(&mutex_);
      ends_ += static_cast<int64_t>(updates.size());
      changed_.NotifyAll();
    }
  }

  void WaitFor(int64_t ends) {
    MutexLock lock(&mutex_);
    while (ends_ < ends) changed_.Wait(&mutex_);
  }

  int64_t ends() {
    MutexLock lock(&mutex_);
    return ends_;
  }

 private:
  static constexpr size_t kAtOnce = 100;

  const Check check_;
  Mutex mutex_;
  CondVar changed_;
  int64_t ends_ ABSL_GUARDED_BY(mutex_) = 0;
};

// A worker whose calls are held. Its leases go to `handle`, on the thread that answers its call.
class Poller {
 public:
  Poller(FakeClock* clock, CommandTable* table, std::string name,
         std::function<void(CommandLease)> handle)
      : clock_(clock), table_(table), name_(std::move(name)), handle_(std::move(handle)) {}

  // Polls until the table drains.
  void Run() {
    while (true) {
      {
        MutexLock lock(&mutex_);
        answered_ = false;
      }
      const auto call =
          table_->Lease({.worker_id = name_, .hold_until = absl::InfiniteFuture()}, clock_->Now(),
                        [this](WorkerNews news) { OnAnswer(std::move(news)); });
      if (!call.ok()) return;
      MutexLock lock(&mutex_);
      while (!answered_) changed_.Wait(&mutex_);
    }
  }

 private:
  void OnAnswer(WorkerNews news) {
    for (CommandLease& lease : news.leases) handle_(std::move(lease));
    MutexLock lock(&mutex_);
    answered_ = true;
    changed_.NotifyAll();
  }

  FakeClock* const clock_;
  CommandTable* const table_;
  const std::string name_;
  const std::function<void(CommandLease)> handle_;
  Mutex mutex_;
  CondVar changed_;
  bool answered_ ABSL_GUARDED_BY(mutex_) = false;
};

// Results are removed as soon as the clock moves, so that the table stays small.
CommandDeadlines ShortRetention() {
  CommandDeadlines clocks;
  clocks.result_retention = kTick;
  return clocks;
}

class CommandTableStressTest : public CommandTableTest {
 protected:
  CommandTableStressTest()
      : CommandTableTest({.queued_of_client = 5'000, .queued = 100'000, .tombstones = 100},
                         ShortRetention()) {}
};

TEST_F(CommandTableStressTest, WatchDuringCompletionReportsEnd) {
  constexpr int kBatch = 200;
  constexpr int kBatches = 5'000 / kShare;
  // Commands for people, which need no lease: the test is about the end.
  const CommandRequest request = HumanRequest();
  const Payload result = Bytes("1");
  const auto feed = std::make_shared<EndsFeed>();
  std::vector<std::string> ids(kBatch);
  std::array<std::atomic<int>, 2> done = {};
  std::array<int64_t, 2> told_at_once = {};
  std::barrier in_step(2);

  // The thread that is ahead waits a little, so that the two meet at each command.
  const auto stay_together = [&](int self, int i) {
    for (int spins = 0; spins < 20 && i > done[1 - self] + 1; ++spins) continue;
    done[self] = i;
  };
  // Each thread completes one half of the commands and watches the other's half.
  const auto run = [&](int self) {
    for (int batch = 1; batch <= kBatches; ++batch) {
      for (int i = self; i < kBatch; i += 2) ids[i] = IdOf(*TryRegister(request)->command);
      done[self] = 0;
      in_step.arrive_and_wait();
      for (int i = 0; i < kBatch; ++i) {
        stay_together(self, i);
        if (i % 2 == self) {
          ASSERT_TRUE(
              table_.Complete(ids[i], {}, CommandResult{result}, nullptr, clock_.Now()).ok());
          continue;
        }
        const auto watching =
            table_.Watch(ids[i], {.clients = kClient, .feed = feed, .only_end = true});
        ASSERT_TRUE(watching.ok());
        if (watching->command == nullptr) ++told_at_once[self];
      }
      in_step.arrive_and_wait();
      if (self == 0) {
        EXPECT_EQ(feed->ends(), int64_t{batch} * kBatch);
        Advance(kTick);
      }
      in_step.arrive_and_wait();
    }
  };
  std::thread other([&] { run(1); });
  run(0);
  other.join();
  EXPECT_EQ(table_.commands(), 0);
  EXPECT_EQ(table_.waits(), 0);
  // The completion and the watch each came first many times.
  const int64_t at_once = told_at_once[0] + told_at_once[1];
  EXPECT_GT(at_once, kBatches);
  EXPECT_LT(at_once, int64_t{kBatches} * (kBatch - 1));
}

TEST_F(CommandTableStressTest, ImmediateRepliesReachTheirCommandsAndWatches) {
  constexpr int kCallers = 2;
  constexpr int kCommands = 50'000 / kShare;  // Of each client.
  constexpr int kUnfinished = 50;
  const auto reply = [&](const CommandLease& lease) {
    const auto completed = Complete(lease, "reply to " + IdOf(lease));
    ASSERT_OK(completed);
    EXPECT_TRUE(completed->accepted);
  };
  // One worker replies before its call has been answered altogether, the other one through a thread
  // of its own.
  Poller at_once(&clock_, &table_, "at once", reply);
  Mutex mutex;
  CondVar changed;
  std::deque<CommandLease> to_reply;
  bool over = false;
  Poller through_thread(&clock_, &table_, "through thread", [&](CommandLease lease) {
    MutexLock lock(&mutex);
    to_reply.push_back(std::move(lease));
    changed.NotifyAll();
  });
  std::thread replier([&] {
    while (true) {
      CommandLease lease;
      {
        MutexLock lock(&mutex);
        while (to_reply.empty() && !over) changed.Wait(&mutex);
        if (to_reply.empty()) return;
        lease = std::move(to_reply.front());
        to_reply.pop_front();
      }
      reply(lease);
    }
  });
  Threads workers;
  workers.emplace_back([&] { at_once.Run(); });
  workers.emplace_back([&] { through_thread.Run(); });

  Threads clients;
  for (int number = 0; number < kCallers; ++number) {
    clients.emplace_back([&, name = "client-" + std::to_string(number)] {
      const auto feed = std::make_shared<EndsFeed>([](const CommandUpdate& update) {
        EXPECT_EQ(*update.command->result, "reply to " + IdOf(*update.command));
      });
      for (int i = 0; i < kCommands; ++i) {
        feed->WaitFor(i - kUnfinished);
        const auto registration = TryRegister(Request(name));
        ASSERT_OK(registration);
        ASSERT_OK(table_.Watch(IdOf(*registration->command),
                               {.clients = name, .feed = feed, .only_end = true}));
      }
      feed->WaitFor(kCommands);
    });
  }
  Join(clients);
  table_.Drain();
  Join(workers);
  {
    MutexLock lock(&mutex);
    over = true;
    changed.NotifyAll();
  }
  replier.join();
  EXPECT_EQ(table_.commands(), kCallers * kCommands);
  EXPECT_EQ(table_.late_results(), 0);
  EXPECT_EQ(table_.leased(), 0);
  EXPECT_EQ(table_.waits(), 0);
}

// How often each client of a test was served, while all of them have work.
class Tally {
 public:
  Tally(int clients, int sure_of) : sure_of_(sure_of), served_(clients) {}

  // Counts the clients of one answer. `most_apart`: by how much the clients may differ.
  void Count(const std::vector<int>& clients, int most_apart) {
    MutexLock lock(&mutex_);
    for (const int client : clients) ++served_[client];
    const auto [least, most] = std::minmax_element(served_.begin(), served_.end());
    if (*least < sure_of_) {
      EXPECT_LE(*most - *least, most_apart);
    }
  }

 private:
  const int sure_of_;
  Mutex mutex_;
  std::vector<int> served_ ABSL_GUARDED_BY(mutex_);
};

TEST_F(CommandTableStressTest, FiftyClientsGetTheirOwnResultsAndEqualTurns) {
  constexpr int kCallers = 50;
  constexpr int kCommands = 1'000;  // Of each client.
  constexpr int kLeasers = 4;
  struct Client {
    std::string name;
    std::shared_ptr<EndsFeed> feed;
  };
  std::vector<Client> clients;
  for (int i = 0; i < kCallers; ++i) {
    const std::string name = std::to_string(i);
    clients.push_back({name, std::make_shared<EndsFeed>([name](const CommandUpdate& update) {
                         const CommandSpec& spec = *update.command->spec;
                         ASSERT_EQ(spec.client_id(), name);
                         ASSERT_EQ(update.command->state, CommandState::kCompleted);
                         EXPECT_EQ(*update.command->result, "result of " + *spec.params);
                       })});
  }
  const auto register_half = [&](const Client& client, int first) {
    for (int i = first; i < first + kCommands / 2; ++i) {
      CommandRequest request = Request(client.name);
      request.params = Bytes(client.name + "/" + std::to_string(i));
      const auto registration = TryRegister(std::move(request));
      ASSERT_OK(registration);
      ASSERT_OK(table_.Watch(IdOf(*registration->command),
                             {.clients = client.name, .feed = client.feed, .only_end = true}));
    }
  };
  Threads threads;
  for (const Client& client : clients) threads.emplace_back([&] { register_half(client, 0); });
  Join(threads);

  // The other half comes while the first one is served.
  Tally counters(kCallers, kCommands / 2);
  std::atomic<int> left = kCallers * kCommands;
  for (const Client& client : clients) {
    threads.emplace_back([&] {
      register_half(client, kCommands / 2);
      client.feed->WaitFor(kCommands);
    });
  }
  for (int i = 0; i < kLeasers; ++i) {
    threads.emplace_back([&, name = "w" + std::to_string(i)] {
      while (left > 0) {
        const CommandLeases leases = Lease(name);
        std::vector<int> served;
        for (const CommandLease& lease : leases) {
          served.push_back(std::stoi(std::string(lease.command->spec->client_id())));
        }
        // Each worker may have one command of a client that is not counted yet.
        counters.Count(served, 1 + kLeasers);
        for (const CommandLease& lease : leases) {
          EXPECT_TRUE(Complete(lease, "result of " + *lease.command->spec->params)->accepted);
        }
        left -= static_cast<int>(leases.size());
      }
    });
  }
  Join(threads);
  for (const Client& client : clients) EXPECT_EQ(client.feed->ends(), kCommands);
  EXPECT_EQ(table_.commands(), kCallers * kCommands) << "nothing was evicted";
  EXPECT_EQ(table_.waits(), 0);
  EXPECT_EQ(table_.leased(), 0);
}

}  // namespace
}  // namespace callslip::tracker
