// The cost of durability: the same commands over gRPC in memory, relaxed and strict, and strict
// without gRPC against a bare loop that commits as many rows; a restart against a bare scan; and
// whether file and memory stay flat. Prints ratios of one run and judges nothing.

#include <sched.h>
#include <sqlite3.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "bench/child_process.h"
#include "bench/die.h"
#include "bench/latencies.h"
#include "bench/table.h"
#include "callslip/tracker/v1/command_service.grpc.pb.h"
#include "common/clock.h"
#include "grpcpp/grpcpp.h"
#include "tracker/domain/queue/command_table.h"
#include "tracker/domain/queue/deadline_thread.h"
#include "tracker/process/durable_journal.h"
#include "tracker/rpc/tracker_server.h"
#include "tracker/storage/logged_journal_storage.h"

namespace callslip::bench {
namespace {

using SteadyClock = std::chrono::steady_clock;
namespace v1 = tracker::v1;
using Stub = v1::CommandService::Stub;

constexpr int kRounds = 5;
constexpr int kCallers = 64;
constexpr std::chrono::milliseconds kLoadTime{1000};
constexpr int kLiveCommands = 100'000;
// The commands of an hour.
constexpr int kCommandsPerSecond = 100;
constexpr int kManyCommands = 3600 * kCommandsPerSecond;
constexpr char kParams[] = R"({"action":"click","selector":"#submit"})";
constexpr char kResult[] = R"({"success":true,"data":"Example"})";

void Check(const absl::Status& status, const char* what) {
  if (!status.ok()) Die(std::string(what) + ": " + status.ToString());
}
void Check(const grpc::Status& status, const char* what) {
  if (!status.ok()) Die(std::string(what) + ": " + status.error_message());
}

double SecondsSince(SteadyClock::time_point start) {
  return std::chrono::duration<double>(SteadyClock::now() - start).count();
}

// A folder on the disk that the tracker would use.
class Folder {
 public:
  Folder() {
    const char* const parent = std::getenv("CALLSLIP_BENCH_DIR");
    path_ = std::string(parent == nullptr ? "." : parent) + "/durability-XXXXXX";
    if (mkdtemp(path_.data()) == nullptr) Die("make a folder at " + path_);
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  const std::string& path() const { return path_; }
  std::string Database() const { return path_ + "/commands.db"; }
  double Mebibytes() const {
    double bytes = 0;
    for (const auto& file : std::filesystem::directory_iterator(path_)) {
      bytes += static_cast<double>(file.file_size());
    }
    return bytes / (1 << 20);
  }

 private:
  std::string path_;
};

tracker::CommandLimits NoLimits() {
  tracker::CommandLimits limits;
  limits.queued = limits.queued_of_client = limits.commands = limits.commands_of_client = int64_t{1}
                                                                                          << 40;
  limits.payload_bytes = limits.payload_bytes_of_client = int64_t{1} << 40;
  return limits;
}

std::function<void(const ParentLink&)> Tracker(const std::string& folder,
                                               const std::string& durability) {
  return [folder, durability](const ParentLink& parent) {
    RealClock clock;
    tracker::TrackerConfig config;
    config.durability = durability;
    auto kept = tracker::DurableJournal::Open(config, folder, &clock);
    Check(kept.status(), "open");
    tracker::CommandTable table(tracker::CommandDeadlines(), NoLimits(), (*kept)->journal());
    tracker::AnnotationStore annotations(&table, {}, (*kept)->journal());
    Check((*kept)->Restore(table, annotations), "restore");
    tracker::DeadlineThread deadlines(&clock, &table);
    tracker::TrackerServer server(&clock, &table, nullptr, (*kept)->gate(), {}, &annotations);
    const auto bound = server.Start(*ParseAddress("127.0.0.1:0"), 1);
    Check(bound.status(), "listen");
    parent.Listening(bound->port);
    std::promise<void>().get_future().wait();
  };
}

// One of many callers that repeatedly register a command, lease it, complete it and read it.
class Caller {
 public:
  Caller(Stub* stub, grpc::CompletionQueue* queue, int number, bool only_register)
      : stub_(stub), queue_(queue), only_register_(only_register) {
    register_.set_target("target-" + std::to_string(number));
    register_.set_type("click");
    register_.set_params(kParams);
    if (only_register) register_.set_command_class(v1::COMMAND_CLASS_HUMAN);
    lease_.set_target(register_.target());
    complete_.set_result(kResult);
  }

  void Begin() {
    Start(registered_, &Stub::AsyncRegisterCommand, register_);
    step_ = 0;
  }

  // A call was answered. Starts the next one, or returns true at the end of a command.
  bool Go() {
    Check(status_, "call");
    switch (step_++) {
      case 0:
        if (only_register_) return true;
        Start(leased_, &Stub::AsyncLeaseCommands, lease_);
        return false;
      case 1:
        if (leased_.leases_size() != 1) Die("nothing to lease");
        complete_.set_command_id(leased_.leases(0).command().command_id());
        complete_.set_lease_token(leased_.leases(0).lease_token());
        Start(completed_, &Stub::AsyncCompleteCommand, complete_);
        return false;
      case 2:
        get_.set_command_id(complete_.command_id());
        Start(got_, &Stub::AsyncGetCommand, get_);
        return false;
      default: return true;
    }
  }

 private:
  template <typename Request, typename Response>
  void Start(Response& response,
             std::unique_ptr<grpc::ClientAsyncResponseReader<Response>> (Stub::*method)(
                 grpc::ClientContext*, const Request&, grpc::CompletionQueue*),
             const Request& request) {
    context_ = std::make_unique<grpc::ClientContext>();
    auto reader = (stub_->*method)(context_.get(), request, queue_);
    reader->Finish(&response, &status_, this);
    reader_ = std::move(reader);
  }

  Stub* const stub_;
  grpc::CompletionQueue* const queue_;
  const bool only_register_;
  v1::RegisterCommandRequest register_;
  v1::LeaseCommandsRequest lease_;
  v1::CompleteCommandRequest complete_;
  v1::GetCommandRequest get_;
  v1::RegisterCommandResponse registered_;
  v1::LeaseCommandsResponse leased_;
  v1::CompleteCommandResponse completed_;
  v1::GetCommandResponse got_;
  std::unique_ptr<grpc::ClientContext> context_;
  std::shared_ptr<void> reader_;
  grpc::Status status_;
  int step_ = 0;
};

double CommandsPerSecond(const ChildProcess& server, bool only_register) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  const auto stub = v1::CommandService::NewStub(grpc::CreateCustomChannel(
      "127.0.0.1:" + std::to_string(server.port()), grpc::InsecureChannelCredentials(), arguments));
  grpc::CompletionQueue queue;
  std::vector<std::unique_ptr<Caller>> callers;
  for (int i = 0; i < kCallers; ++i) {
    callers.push_back(std::make_unique<Caller>(stub.get(), &queue, i, only_register));
    callers.back()->Begin();
  }
  const auto start = SteadyClock::now();
  int64_t commands = 0;
  int live = kCallers;
  void* tag = nullptr;
  bool ok = false;
  while (live > 0 && queue.Next(&tag, &ok)) {
    auto* caller = static_cast<Caller*>(tag);
    if (!caller->Go()) continue;
    ++commands;
    if (SteadyClock::now() - start < kLoadTime) {
      caller->Begin();
    } else {
      --live;
    }
  }
  return static_cast<double>(commands) / SecondsSince(start);
}

// SQLite by itself.
class BareDatabase {
 public:
  explicit BareDatabase(const std::string& path) {
    if (sqlite3_open(path.c_str(), &handle_) != SQLITE_OK) Die("open " + path);
  }
  ~BareDatabase() { sqlite3_close(handle_); }
  BareDatabase(const BareDatabase&) = delete;
  BareDatabase& operator=(const BareDatabase&) = delete;

  void Run(const char* sql) {
    if (sqlite3_exec(handle_, sql, nullptr, nullptr, nullptr) != SQLITE_OK) Die(sql);
  }
  sqlite3_stmt* Prepare(const char* sql) {
    sqlite3_stmt* statement = nullptr;
    if (sqlite3_prepare_v2(handle_, sql, -1, &statement, nullptr) != SQLITE_OK) Die(sql);
    return statement;
  }

 private:
  sqlite3* handle_ = nullptr;
};

// Commits copies of a row that a tracker has written, in batches of kCallers, each synced.
class BareWriter {
 public:
  BareWriter(const Folder& folder, const std::string& written)
      : database_(folder.path() + "/bare.db") {
    database_.Run("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL");
    database_.Run(tracker::kEntryTables);
    BareDatabase source(written);
    sqlite3_stmt* const row = source.Prepare("SELECT * FROM entries LIMIT 1");
    if (sqlite3_step(row) != SQLITE_ROW) Die("nothing to copy");
    std::string sql = "INSERT INTO entries VALUES (?";
    for (int i = 1; i < sqlite3_column_count(row); ++i) {
      values_.push_back(sqlite3_value_dup(sqlite3_column_value(row, i)));
      sql += ", ?";
    }
    sqlite3_finalize(row);
    insert_ = database_.Prepare((sql + ")").c_str());
  }
  ~BareWriter() {
    sqlite3_finalize(insert_);
    for (sqlite3_value* value : values_) sqlite3_value_free(value);
  }
  BareWriter(const BareWriter&) = delete;
  BareWriter& operator=(const BareWriter&) = delete;

  double RowsPerSecond() {
    const auto start = SteadyClock::now();
    int64_t rows = 0;
    for (; SteadyClock::now() - start < kLoadTime; rows += kCallers) {
      database_.Run("BEGIN IMMEDIATE");
      for (int i = 0; i < kCallers; ++i) Insert();
      database_.Run("COMMIT");
    }
    return static_cast<double>(rows) / SecondsSince(start);
  }

 private:
  void Insert() {
    sqlite3_bind_int64(insert_, 1, ++sequence_);
    for (size_t i = 0; i < values_.size(); ++i) {
      sqlite3_bind_value(insert_, static_cast<int>(i) + 2, values_[i]);
    }
    if (sqlite3_step(insert_) != SQLITE_DONE) Die("write a row");
    sqlite3_reset(insert_);
  }

  BareDatabase database_;
  sqlite3_stmt* insert_ = nullptr;
  std::vector<sqlite3_value*> values_;
  int64_t sequence_ = 0;
};

void BenchThroughput(const ChildProcess& memory, const ChildProcess& relaxed,
                     const ChildProcess& strict) {
  std::printf("Commands per second, %d callers on one connection; medians of %d\n\n", kCallers,
              kRounds);
  Table table({"", "memory k/s", "relaxed k/s", "of memory", "strict k/s", "of memory"});
  for (const bool only_register : {true, false}) {
    std::vector<double> in_memory, is_relaxed, is_strict;
    for (int round = 0; round < kRounds; ++round) {
      in_memory.push_back(CommandsPerSecond(memory, only_register));
      is_relaxed.push_back(CommandsPerSecond(relaxed, only_register));
      is_strict.push_back(CommandsPerSecond(strict, only_register));
    }
    table.Add({only_register ? "registered" : "registered, leased, completed, read",
               Fixed(Median(in_memory) / 1000, 1), Fixed(Median(is_relaxed) / 1000, 1),
               Ratio(Median(is_relaxed), Median(in_memory)), Fixed(Median(is_strict) / 1000, 1),
               Ratio(Median(is_strict), Median(in_memory))});
  }
  table.Print();
}

// Callers in the tracker's process. Each registers a command once its previous one was committed:
// the cost of --durability=strict by itself, since gRPC alone takes longer than SQLite.
class StrictCallers {
 public:
  explicit StrictCallers(const Folder& folder)
      : storage_(*tracker::LoggedJournalStorage::Open(
            folder.path(), tracker::LoggedJournalStorage::Sync::kAlways)),
        table_(tracker::CommandDeadlines(), NoLimits(), &journal_) {
    Check(table_.Restore(*storage_, clock_.Now()), "restore");
    request_.type = "click";
    request_.params = std::make_shared<const std::string>(kParams);
    request_.command_class = tracker::CommandClass::kHuman;
  }

  double CommandsPerSecond() {
    const auto start = SteadyClock::now();
    int64_t commands = 0;
    while (SteadyClock::now() - start < kLoadTime) {
      const int ready = AwaitReady();
      committer_.BeginBatch();
      for (int i = 0; i < ready; ++i) Register();
      committer_.EndBatch();
      commands += ready;
    }
    return static_cast<double>(commands) / SecondsSince(start);
  }

  void WriteRows() { Check(storage_->WriteRows(), "write rows"); }

 private:
  int AwaitReady() {
    MutexLock lock(&mutex_);
    while (ready_ == 0) let_out_.Wait(&mutex_);
    return std::exchange(ready_, 0);
  }

  void Register() {
    Check(table_.Register(tracker::CommandRequest(request_), clock_.Now()).status(), "register");
    committer_.Pass([this](const absl::Status& kept) {
      Check(kept, "keep");
      MutexLock lock(&mutex_);
      if (ready_++ == 0) let_out_.NotifyOne();
    });
  }

  RealClock clock_;
  tracker::CommandRequest request_;
  tracker::Journal journal_;
  std::unique_ptr<tracker::LoggedJournalStorage> storage_;
  tracker::CommandTable table_;
  Mutex mutex_;
  CondVar let_out_;
  int ready_ = kCallers;
  // Last, so that it answers the waiting callers before the other members are destroyed.
  tracker::JournalCommitter committer_{&clock_, &journal_, storage_.get(),
                                       tracker::JournalCommitter::Where::kOnThread};
};

void BenchStrict() {
  const Folder folder, bare_folder;
  StrictCallers callers(folder);
  // A growing log takes longer to sync than one that is overwritten.
  constexpr int kWarmUps = 6;
  for (int round = 0; round < kWarmUps; ++round) callers.CommandsPerSecond();
  callers.WriteRows();
  BareWriter writer(bare_folder, folder.Database());
  for (int round = 0; round < kWarmUps; ++round) writer.RowsPerSecond();
  std::vector<double> strict, bare;
  for (int round = 0; round < kRounds; ++round) {
    strict.push_back(callers.CommandsPerSecond());
    bare.push_back(writer.RowsPerSecond());
  }
  std::printf("\nRegistered per second by %d callers in the process; medians of %d\n\n", kCallers,
              kRounds);
  Table table({"bare, synced k/s", "strict k/s", "ratio"});
  table.Add({Fixed(Median(bare) / 1000, 1), Fixed(Median(strict) / 1000, 1),
             Ratio(Median(strict), Median(bare))});
  table.Print();
}

// A table with its journal and storage, driven without a network and on a fake clock.
class KeptTable {
 public:
  explicit KeptTable(const Folder& folder)
      : storage_(*tracker::LoggedJournalStorage::Open(folder.path(),
                                                      tracker::LoggedJournalStorage::Sync::kNever)),
        table_(tracker::CommandDeadlines(), NoLimits(), &journal_) {
    Check(table_.Restore(*storage_, now_), "restore");
  }

  tracker::CommandTable& table() { return table_; }
  absl::Time now() const { return now_; }
  void Advance(absl::Duration by) {
    now_ += by;
    table_.FireDeadlines(now_);
  }

  void Commit() {
    const tracker::Journal::Batch batch = journal_.Take();
    Check(storage_->Append(storage_->position(), batch.entries), "append");
  }

  std::string Register(bool human) {
    tracker::CommandRequest request;
    request.client_id = "client";
    request.type = "click";
    request.params = params_;
    if (human) request.command_class = tracker::CommandClass::kHuman;
    const auto registered = table_.Register(std::move(request), now_);
    Check(registered.status(), "register");
    return registered->command->spec->id.ToString();
  }

  void RunOne() {
    const std::string id = Register(/*human=*/false);
    tracker::CommandLeases leases;
    Check(
        table_.Lease({}, now_, [&](tracker::WorkerNews&& news) { leases = news.leases; }).status(),
        "lease");
    Check(table_
              .Complete(id, {.token = leases[0].token}, tracker::CommandResult{result_}, nullptr,
                        now_)
              .status(),
          "complete");
    Check(table_.Get("client", id, /*peek=*/false).status(), "get");
  }

 private:
  const tracker::Payload params_ = std::make_shared<const std::string>(kParams);
  const tracker::Payload result_ = std::make_shared<const std::string>(kResult);
  absl::Time now_ = absl::FromUnixSeconds(1'769'947'200);
  std::unique_ptr<tracker::LoggedJournalStorage> storage_;
  tracker::Journal journal_;
  tracker::CommandTable table_;
};

void BenchRestart() {
  const Folder folder;
  {
    KeptTable kept(folder);
    for (int i = 0; i < kLiveCommands; ++i) {
      kept.Register(/*human=*/true);
      if (i % 1000 == 999) kept.Commit();
    }
    kept.Commit();
  }
  std::vector<double> scans, restarts;
  for (int round = 0; round < kRounds; ++round) {
    {
      const auto start = SteadyClock::now();
      BareDatabase database(folder.Database());
      sqlite3_stmt* const row = database.Prepare("SELECT * FROM entries ORDER BY key");
      int64_t bytes = 0;
      while (sqlite3_step(row) == SQLITE_ROW) {
        for (int column = 0; column < sqlite3_column_count(row); ++column) {
          if (sqlite3_column_type(row, column) == SQLITE_INTEGER) {
            bytes += sqlite3_column_int64(row, column) != 0 ? 8 : 0;
          } else if (sqlite3_column_blob(row, column) != nullptr) {
            bytes += sqlite3_column_bytes(row, column);
          }
        }
      }
      sqlite3_finalize(row);
      if (bytes == 0) Die("nothing to scan");
      scans.push_back(SecondsSince(start) * 1000);
    }
    const auto start = SteadyClock::now();
    KeptTable kept(folder);
    restarts.push_back(SecondsSince(start) * 1000);
    if (kept.table().commands() != kLiveCommands) Die("commands are missing");
  }
  std::printf("\nRestart with %d live commands, milliseconds; medians of %d\n\n", kLiveCommands,
              kRounds);
  Table table({"bare scan of the table", "restart", "ratio"});
  table.Add({Fixed(Median(scans), 0), Fixed(Median(restarts), 0),
             Ratio(Median(restarts), Median(scans))});
  table.Print();
}

double ResidentMebibytes() {
  int64_t pages = 0;
  int64_t resident = 0;
  std::ifstream("/proc/self/statm") >> pages >> resident;
  return static_cast<double>(resident * sysconf(_SC_PAGESIZE)) / (1 << 20);
}

// An hour on a fake clock: each command is removed a minute later, and its tombstone ten minutes
// after that.
void BenchFlatness() {
  const Folder folder;
  KeptTable kept(folder);
  std::printf("\n%d commands through their life, %d a second\n\n", kManyCommands,
              kCommandsPerSecond);
  Table table({"after min", "alive", "file and log MiB", "resident MiB"});
  const auto start = SteadyClock::now();
  for (int i = 1; i <= kManyCommands; ++i) {
    kept.RunOne();
    if (i % (kCommandsPerSecond / 2) == 0) {
      kept.Advance(absl::Milliseconds(500));
      kept.Commit();
    }
    if (i % (kManyCommands / 5) == 0) {
      table.Add({std::to_string(i / kCommandsPerSecond / 60),
                 std::to_string(kept.table().commands()), Fixed(folder.Mebibytes(), 1),
                 Fixed(ResidentMebibytes(), 1)});
    }
  }
  const double rate = kManyCommands / SecondsSince(start);
  table.Print();
  std::printf("\nTable and storage by themselves: %.1f k commands a second\n", rate / 1000);
}

void RunOnAllCores() {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  for (int core = 0; core < CPU_SETSIZE; ++core) CPU_SET(core, &cores);
  if (sched_setaffinity(0, sizeof(cores), &cores) != 0) Die("choose cores");
}

void BenchServers() {
  const Folder memory_folder, relaxed_folder, strict_folder;
  RunOnCore(1);
  const ChildProcess memory = ChildProcess::Fork(Tracker(memory_folder.path(), "memory"));
  const ChildProcess relaxed = ChildProcess::Fork(Tracker(relaxed_folder.path(), "relaxed"));
  const ChildProcess strict = ChildProcess::Fork(Tracker(strict_folder.path(), "strict"));
  RunOnCore(0);
  BenchThroughput(memory, relaxed, strict);
  RunOnAllCores();
}

void Main(const std::string& part) {
  if (part.empty() || part == "servers") BenchServers();
  if (part.empty() || part == "strict") BenchStrict();
  if (part.empty() || part == "restart") BenchRestart();
  if (part.empty() || part == "hour") BenchFlatness();
}

}  // namespace
}  // namespace callslip::bench

// argv[1]: a single part: servers, strict, restart or hour.
int main(int argc, char** argv) { callslip::bench::Main(argc > 1 ? argv[1] : ""); }
