// The cost of recorded sessions: appends that are answered once they are on the disk, against bare
// loops of write and fsync with the same bytes in the same run; pages from the beginning to the end
// of long logs; and memory. Usage: session_bench [FOLDER], a folder on the measured disk, by
// default one for temporary files.

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "absl/time/clock.h"
#include "bench/die.h"
#include "bench/latencies.h"
#include "bench/table.h"
#include "common/clock.h"
#include "tracker/domain/session/session_table.h"
#include "tracker/storage/event_json.h"
#include "tracker/storage/file_session_storage.h"

namespace callslip::bench {
namespace {

using std::chrono::steady_clock;
using tracker::AgentMessage;
using tracker::EventPage;
using tracker::EventPtr;
using tracker::EventQuery;
using tracker::Session;
using tracker::SessionTable;

constexpr int kSessions = 100;
constexpr int kEventsOfSession = 10'000;
constexpr int kWriters = 16;
// One writer that does not wait for each answer, like a handler of streamed text.
constexpr int kOutstanding = 64;
// Each rate is the mean of some rounds in which all of them take turns, so that other load of the
// machine affects all of them.
constexpr int kRounds = 4;
constexpr auto kMeasured = std::chrono::milliseconds(700);
constexpr int kPage = 100;

const std::string kText(120, 'x');

double SecondsSince(steady_clock::time_point start) {
  return std::chrono::duration<double>(steady_clock::now() - start).count();
}

double ResidentMiB() {
  std::ifstream in("/proc/self/statm");
  long total = 0;
  long resident = 0;
  in >> total >> resident;
  return static_cast<double>(resident * sysconf(_SC_PAGESIZE)) / (1 << 20);
}

// Appends per second of `threads` that each write a line to a file of their own and sync it.
double BareLoop(const std::string& folder, int threads) {
  const std::string line =
      tracker::EncodeEvents(5000, absl::Now(), {AgentMessage{kText}})->front().line;
  std::atomic<int64_t> appends{0};
  const auto start = steady_clock::now();
  std::vector<std::thread> running;
  for (int i = 0; i < threads; ++i) {
    running.emplace_back([&, i] {
      const std::string path = folder + "/bare-" + std::to_string(i);
      const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0600);
      if (file < 0) Die("open " + path);
      while (steady_clock::now() - start < kMeasured) {
        if (write(file, line.data(), line.size()) != static_cast<ssize_t>(line.size())) {
          Die("write");
        }
        if (fsync(file) != 0) Die("fsync");
        ++appends;
      }
      close(file);
    });
  }
  for (std::thread& thread : running) thread.join();
  return static_cast<double>(appends) / SecondsSince(start);
}

// Limits the number of calls in flight.
class Window {
 public:
  explicit Window(int size) : free_(size), size_(size) {}
  void Enter() {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [&] { return free_ > 0; });
    --free_;
  }
  void Leave() {
    const std::lock_guard<std::mutex> lock(mutex_);
    ++free_;
    changed_.notify_all();
  }
  void Drain() {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [&] { return free_ == size_; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int free_;
  const int size_;
};

std::string IdOf(int session) { return "s" + std::to_string(session); }

class Bench {
 public:
  explicit Bench(const std::string& folder) {
    auto storage = tracker::FileSessionStorage::Open(folder, &disk_);
    if (!storage.ok()) Die(storage.status().ToString());
    storage_ = *std::move(storage);
    auto table = SessionTable::Open(storage_.get(), &clock_);
    if (!table.ok()) Die(table.status().ToString());
    table_ = *std::move(table);
    Window window(kOutstanding);
    for (int i = 0; i < kSessions; ++i) {
      window.Enter();
      table_->Create({.session_id = IdOf(i)}, [&](const auto& created) {
        if (!created.ok()) Die(created.status().ToString());
        window.Leave();
      });
    }
    window.Drain();
  }

  // Appends per second of all writers, each with `outstanding` appends in flight. Writers take
  // turns over `sessions` sessions, until `stop` returns true.
  double Append(int sessions, int outstanding, const std::function<bool(int64_t done)>& stop) {
    std::atomic<int64_t> begun{0};
    const int64_t before = answered_;
    const auto start = steady_clock::now();
    std::vector<std::thread> writers;
    for (int i = 0; i < kWriters; ++i) {
      writers.emplace_back([&] {
        Window window(outstanding);
        while (true) {
          const int64_t number = begun++;
          if (stop(number)) break;
          window.Enter();
          table_->With<EventPtr>(
              IdOf(static_cast<int>(number % sessions)),
              [](Session& session, absl::Time now) {
                return session.Record(AgentMessage{kText}, now);
              },
              [&](const absl::StatusOr<EventPtr>& event) {
                if (!event.ok()) Die(event.status().ToString());
                ++answered_;
                window.Leave();
              });
        }
        window.Drain();
      });
    }
    for (std::thread& writer : writers) writer.join();
    return static_cast<double>(answered_ - before) / SecondsSince(start);
  }

  double AppendForAWhile(int sessions, int outstanding) {
    const auto start = steady_clock::now();
    return Append(sessions, outstanding,
                  [&](int64_t) { return steady_clock::now() - start >= kMeasured; });
  }

  EventPage Read(int session, int64_t after_seq) {
    EventPage read;
    Window window(1);
    window.Enter();
    EventQuery query;
    query.value = after_seq;
    query.limit = kPage;
    table_->With<EventPage>(
        IdOf(session), [&](Session& s, absl::Time) { return s.Read(query); },
        [&](absl::StatusOr<EventPage> page) {
          if (!page.ok()) Die(page.status().ToString());
          read = *std::move(page);
          window.Leave();
        });
    window.Drain();
    return read;
  }

  // The median time of a page at a part of each log, in microseconds.
  double PageAt(double part) {
    Latencies latencies;
    for (int round = 0; round < 2; ++round) {
      for (int i = 0; i < kSessions; ++i) {
        const int64_t length = table_->Get(IdOf(i))->event_count;
        const auto after = static_cast<int64_t>(part * static_cast<double>(length - kPage));
        // The first read may have to load the session.
        Read(i, after);
        const auto start = steady_clock::now();
        if (Read(i, after).events.size() != kPage) Die("a page was not full");
        latencies.Add(steady_clock::now() - start);
      }
    }
    return latencies.Percentile(50);
  }

 private:
  RealClock clock_;
  tracker::Disk disk_;
  std::unique_ptr<tracker::FileSessionStorage> storage_;
  std::unique_ptr<SessionTable> table_;
  std::atomic<int64_t> answered_{0};
};

void Run(const std::string& folder) {
  std::printf("Appends, each answered when it is on the disk (%d writers)\n\n", kWriters);
  Bench bench(folder);
  const std::vector<std::pair<std::string, std::function<double()>>> loops = {
      {"bare write and fsync, 1 thread, 1 file", [&] { return BareLoop(folder, 1); }},
      {"bare write and fsync, 16 threads, 16 files", [&] { return BareLoop(folder, kWriters); }},
      {"each writer waits, 1 session", [&] { return bench.AppendForAWhile(1, 1); }},
      {"each writer waits, 16 sessions", [&] { return bench.AppendForAWhile(16, 1); }},
      {"each writer waits, 100 sessions", [&] { return bench.AppendForAWhile(kSessions, 1); }}};
  std::vector<double> means(loops.size());
  for (int round = 0; round < kRounds; ++round) {
    for (size_t i = 0; i < loops.size(); ++i) means[i] += loops[i].second() / kRounds;
  }
  Table rates({"", "appends/s", "x bare loop", "x 16 bare loops"});
  const auto add = [&](const std::string& name, double rate) {
    rates.Add({name, Fixed(rate, 0), Ratio(rate, means[0]), Ratio(rate, means[1])});
  };
  for (size_t i = 0; i < loops.size(); ++i) add(loops[i].first, means[i]);
  constexpr int64_t kTotal = int64_t{kSessions} * kEventsOfSession;
  const double empty = ResidentMiB();
  const double fill =
      bench.Append(kSessions, kOutstanding, [&](int64_t number) { return number >= kTotal; });
  const double full = ResidentMiB();
  add("64 under way each, 100 sessions x 10,000", fill);
  rates.Print();

  std::printf("\nA page of %d events after a seq (100 logs of 10,000 events and more)\n\n", kPage);
  Table pages({"", "median us"});
  for (const auto& [name, part] :
       std::vector<std::pair<std::string, double>>{{"first page", 0},
                                                   {"page at a quarter", 0.25},
                                                   {"page at the half", 0.5},
                                                   {"page at three quarters", 0.75},
                                                   {"last page", 1}}) {
    pages.Add({name, Fixed(bench.PageAt(part), 0)});
  }
  pages.Print();

  std::printf(
      "\nMemory: %.1f MiB before, %.1f MiB after %lld appends, %.1f MiB after the reads\n\n", empty,
      full, static_cast<long long>(kTotal), ResidentMiB());
}

}  // namespace
}  // namespace callslip::bench

int main(int argc, char** argv) {
  namespace fs = std::filesystem;
  const fs::path parent = argc > 1 ? fs::path(argv[1]) : fs::temp_directory_path();
  std::string pattern = (parent / "session_bench-XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr) callslip::bench::Die("mkdtemp " + pattern);
  callslip::bench::Run(pattern);
  fs::remove_all(pattern);
}
