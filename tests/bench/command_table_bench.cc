// The cost of the tracker's domain by itself: Google Benchmark on a CommandTable, no transport.
//
// One cycle is the life of a command: registered, delivered, completed, read, and removed after its
// retention, with every deadline set and moved as in the tracker. The fake time passes at a rate
// that keeps about a thousand commands of finished cycles, whatever other commands there are.

#include <malloc.h>

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "bench/die.h"
#include "benchmark/benchmark.h"
#include "tracker/domain/queue/command_table.h"

namespace callslip::bench {
namespace {

using tracker::CommandDeadlines;
using tracker::CommandFilter;
using tracker::CommandLimits;
using tracker::CommandRequest;
using tracker::CommandState;
using tracker::CommandTable;
using tracker::Journal;
using tracker::LeaseProof;
using tracker::Payload;
using tracker::WorkerNews;

// With a retention of a second: 1,000 commands are kept, and 10,000 tombstones.
constexpr absl::Duration kTimePerCycle = absl::Milliseconds(1);
constexpr int kTargets = 64;

// A sixtieth of the default retentions, and a day until a command has to start.
CommandDeadlines Deadlines() {
  CommandDeadlines deadlines;
  deadlines.result_retention = absl::Seconds(1);
  deadlines.tombstone_retention = absl::Seconds(10);
  deadlines.schedule_to_start = absl::Hours(24);
  return deadlines;
}

const Payload& Params() {
  static const auto& params = *new Payload(
      std::make_shared<const std::string>(R"({"action":"click","selector":"#submit"})"));
  return params;
}

const Payload& Result() {
  static const auto& result = *new Payload(std::make_shared<const std::string>(R"({"ok":true})"));
  return result;
}

CommandLimits NoLimits() {
  CommandLimits limits;
  limits.queued = limits.queued_of_client = limits.commands = limits.commands_of_client = int64_t{1}
                                                                                          << 40;
  return limits;
}

enum class Kept { kNot, kInJournal };

class Bench {
 public:
  explicit Bench(Kept kept = Kept::kNot)
      : table_(Deadlines(), NoLimits(), kept == Kept::kNot ? nullptr : &journal_) {
    for (int i = 0; i < kTargets; ++i) targets_.push_back("tab-group-" + std::to_string(i));
  }

  // Commands that wait for the rest of the day in queues of their own, a hundred in each.
  void AddLive(int64_t count) {
    CommandRequest request;
    request.client_id = "agent-1";
    request.type = "click";
    request.params = Params();
    for (int64_t i = 0; i < count; ++i) {
      request.target = "waiting-" + std::to_string(i / 100);
      if (!table_.Register(CommandRequest(request), now_).ok()) Die("a command was refused");
    }
  }

  void Cycle() {
    const std::string& target = targets_[next_++ % kTargets];
    CommandRequest request;
    request.client_id = "local";
    request.target = target;
    request.type = "click";
    request.params = Params();
    const auto registered = table_.Register(std::move(request), now_);
    if (!registered.ok()) Die("a command was refused");
    const std::string id = registered->command->spec->id.ToString();

    LeaseAndComplete(target, id);
    if (!table_.Get("local", id, /*peek=*/false).ok()) Die("a command was not found");
    now_ += kTimePerCycle;
    if (next_ % 64 == 0) {
      table_.FireDeadlines(now_);
      journal_.Take();
    }
  }

  // `count` commands of one client; every other command is completed; the first `kLabelled` have
  // the label `wanted`.
  void AddLabelled(int64_t count) {
    for (int64_t i = 0; i < count; ++i) {
      CommandRequest request;
      request.client_id = "agent-1";
      request.type = "click";
      request.params = Params();
      request.target = i % 2 == 0 ? "waiting-" + std::to_string(i / 100) : "busy";
      request.label = i < kLabelled ? "wanted" : "other";
      const std::string target = request.target;
      const auto registered = table_.Register(std::move(request), now_);
      if (!registered.ok()) Die("a command was refused");
      if (i % 2 != 0) LeaseAndComplete(target, registered->command->spec->id.ToString());
    }
  }
  size_t List(const CommandFilter& filter) {
    const auto page = table_.ListGroups("agent-1", filter, 100);
    if (!page.ok()) Die("no list");
    return page->commands.size();
  }

  static constexpr int kLabelled = 10;

  int64_t commands() const { return table_.commands(); }

 private:
  void LeaseAndComplete(const std::string& target, const std::string& id) {
    WorkerNews news;
    const auto lease = table_.Lease({.target = target, .worker_id = "w1", .max_commands = 1}, now_,
                                    [&](WorkerNews got) { news = std::move(got); });
    if (!lease.ok() || news.leases.size() != 1) Die("a command was not delivered");
    const LeaseProof proof{news.leases[0].token, 1};
    if (!table_.Complete(id, proof, tracker::CommandResult{Result()}, nullptr, now_).ok()) {
      Die("a command was not completed");
    }
  }

  Journal journal_;
  CommandTable table_;
  std::vector<std::string> targets_;
  absl::Time now_ = absl::FromUnixSeconds(1'700'000'000);
  uint64_t next_ = 0;
};

// Made once for all repetitions.
Bench& BenchBeside(int64_t live, Kept kept = Kept::kNot) {
  static auto& benches = *new std::map<std::pair<int64_t, Kept>, std::unique_ptr<Bench>>;
  std::unique_ptr<Bench>& bench = benches[{live, kept}];
  if (bench == nullptr) {
    bench = std::make_unique<Bench>(kept);
    bench->AddLive(live);
    for (int i = 0; i < 20'000; ++i) bench->Cycle();
  }
  return *bench;
}

void FullCycle(benchmark::State& state) {
  Bench& bench = BenchBeside(state.range(0));
  for (auto _ : state) bench.Cycle();
  state.SetItemsProcessed(state.iterations());
  state.counters["live"] = static_cast<double>(bench.commands());
}
BENCHMARK(FullCycle)->Arg(0)->Arg(1'000'000)->MinTime(1.0)->Repetitions(5)->ReportAggregatesOnly();

// The same with every change in a journal, as with --durability.
void JournalledCycle(benchmark::State& state) {
  Bench& bench = BenchBeside(0, Kept::kInJournal);
  for (auto _ : state) bench.Cycle();
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(JournalledCycle)->MinTime(1.0)->Repetitions(5)->ReportAggregatesOnly();

// Lists few of a client's many commands: by their label, and by a state that none has.
void ListFew(benchmark::State& state, const CommandFilter& filter) {
  static auto& benches = *new std::map<int64_t, std::unique_ptr<Bench>>;
  std::unique_ptr<Bench>& bench = benches[state.range(0)];
  if (bench == nullptr) {
    bench = std::make_unique<Bench>();
    bench->AddLabelled(state.range(0));
  }
  size_t listed = 0;
  for (auto _ : state) listed = bench->List(filter);
  state.counters["listed"] = static_cast<double>(listed);
}
BENCHMARK_CAPTURE(ListFew, ByLabel, CommandFilter{.label = "wanted"})
    ->Arg(1)
    ->Arg(1000)
    ->Arg(100'000);
BENCHMARK_CAPTURE(ListFew, ByState, CommandFilter{.states = {CommandState::kFailed}})
    ->Arg(1)
    ->Arg(1000)
    ->Arg(100'000);

void BytesPerLiveCommand(benchmark::State& state) {
  for (auto _ : state) {
    const size_t before = mallinfo2().uordblks + mallinfo2().hblkhd;
    Bench bench;
    bench.AddLive(state.range(0));
    const size_t after = mallinfo2().uordblks + mallinfo2().hblkhd;
    state.counters["bytes"] =
        static_cast<double>(after - before) / static_cast<double>(state.range(0));
  }
}
BENCHMARK(BytesPerLiveCommand)->Arg(1'000'000)->Iterations(1);

}  // namespace
}  // namespace callslip::bench

BENCHMARK_MAIN();
