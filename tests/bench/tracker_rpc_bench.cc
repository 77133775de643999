// The tracker over gRPC against bare completion queues with the same messages: calls, wake-ups, and
// many waits. Prints ratios of one run and judges nothing.

#include <atomic>
#include <chrono>
#include <cstdio>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "bench/child_process.h"
#include "bench/die.h"
#include "bench/latencies.h"
#include "bench/table.h"
#include "bench/tracker_floor.h"
#include "callslip/tracker/v1/command_service.grpc.pb.h"
#include "common/clock.h"
#include "grpcpp/grpcpp.h"
#include "tracker/domain/queue/command_table.h"
#include "tracker/domain/queue/deadline_thread.h"
#include "tracker/rpc/tracker_server.h"

namespace callslip::bench {
namespace {

using SteadyClock = std::chrono::steady_clock;
using Stub = v1::CommandService::Stub;

constexpr int kRounds = 5;
constexpr int kOutstanding = 64;
constexpr std::chrono::milliseconds kLoadTime{700};
constexpr int kWakes = 1500;
constexpr int kIdleWakes = 10;
constexpr int kWaits = 50'000;
constexpr int kStreams = 5;
constexpr int kTogether = 10'000;
constexpr char kPoked[] = "poked";

// The tracker without limits, and with a poke that completes all commands with the label kPoked.
// All commands are of one client, since a caller over TCP without a token has one name only.
void ServeTracker(const ParentLink& parent) {
  tracker::CommandLimits limits;
  limits.queued = limits.queued_of_client = limits.commands = limits.commands_of_client = int64_t{1}
                                                                                          << 40;
  limits.payload_bytes = limits.payload_bytes_of_client = int64_t{1} << 40;
  limits.waits = limits.waits_of_client = 2 * kWaits;
  RealClock clock;
  tracker::CommandTable table(tracker::CommandDeadlines(), limits);
  OnPoke([&] {
    std::vector<std::string> ids;
    std::string token;
    do {
      const auto page = table.List("local", {.label = kPoked}, 1000, token);
      for (const auto& command : page->commands) ids.push_back(command->spec->id.ToString());
      token = page->next_page_token;
    } while (!token.empty());
    const auto result = std::make_shared<const std::string>(R"({"ok":true})");
    parent.Event('p');
    for (const std::string& id : ids) {
      (void)table.Complete(id, {}, tracker::CommandResult{result}, nullptr, clock.Now());
    }
  });
  tracker::DeadlineThread deadlines(&clock, &table);
  tracker::TrackerServer server(&clock, &table);
  const auto bound = server.Start(*ParseAddress("127.0.0.1:0"), 1);
  if (!bound.ok()) Die("the tracker could not listen");
  parent.Listening(bound->port);
  std::promise<void>().get_future().wait();
}

std::unique_ptr<Stub> Connect(const ChildProcess& server) {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(64 << 20);
  // A connection for each stub.
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  return v1::CommandService::NewStub(grpc::CreateCustomChannel(
      "127.0.0.1:" + std::to_string(server.port()), grpc::InsecureChannelCredentials(), arguments));
}

void Check(const grpc::Status& status, const char* what) {
  if (!status.ok()) Die(std::string(what) + ": " + status.error_message());
}

// Keeps kOutstanding calls of one method in flight on one connection and one queue, for kLoadTime.
// Returns the number of answers per second.
template <typename Request, typename Response>
double CallsPerSecond(Stub* stub,
                      std::unique_ptr<grpc::ClientAsyncResponseReader<Response>> (Stub::*start)(
                          grpc::ClientContext*, const Request&, grpc::CompletionQueue*),
                      const Request& request) {
  struct Call {
    grpc::ClientContext context;
    Response response;
    grpc::Status status;
    std::unique_ptr<grpc::ClientAsyncResponseReader<Response>> reader;
  };
  grpc::CompletionQueue queue;
  const auto begin = [&] {
    auto* call = new Call;
    call->reader = (stub->*start)(&call->context, request, &queue);
    call->reader->Finish(&call->response, &call->status, call);
  };
  const auto started = SteadyClock::now();
  const auto end = started + kLoadTime;
  for (int i = 0; i < kOutstanding; ++i) begin();
  int64_t answered = 0;
  int live = kOutstanding;
  void* tag = nullptr;
  bool ok = false;
  while (live > 0 && queue.Next(&tag, &ok)) {
    const std::unique_ptr<Call> call(static_cast<Call*>(tag));
    Check(call->status, "call");
    ++answered;
    if (SteadyClock::now() < end) {
      begin();
    } else {
      --live;
    }
  }
  const std::chrono::duration<double> seconds = SteadyClock::now() - started;
  return static_cast<double>(answered) / seconds.count();
}

v1::RegisterCommandRequest Registration(const std::string& label = "", bool human = false) {
  v1::RegisterCommandRequest request;
  request.set_label(label);
  request.set_type("click");
  request.set_params(R"({"action":"click","selector":"#submit"})");
  if (human) request.set_command_class(v1::COMMAND_CLASS_HUMAN);
  return request;
}

std::string Register(Stub* stub, const v1::RegisterCommandRequest& request) {
  grpc::ClientContext context;
  v1::RegisterCommandResponse response;
  Check(stub->RegisterCommand(&context, request, &response), "register");
  return response.command().command_id();
}

// Registers `count` commands one after another.
std::vector<std::string> RegisterMany(Stub* stub, const v1::RegisterCommandRequest& request,
                                      int count) {
  std::vector<std::string> ids;
  ids.reserve(static_cast<size_t>(count));
  for (int i = 0; i < count; ++i) ids.push_back(Register(stub, request));
  return ids;
}

void BenchCalls(const ChildProcess& tracker, const ChildProcess& floor) {
  const auto ours = Connect(tracker);
  const auto bare = Connect(floor);
  v1::GetCommandRequest get;
  get.set_command_id(Register(ours.get(), Registration("", /*human=*/true)));
  get.set_peek(true);
  struct Figures {
    std::vector<double> bare;
    std::vector<double> ours;
  } gets, registrations;
  for (int round = 0; round < kRounds; ++round) {
    gets.bare.push_back(CallsPerSecond(bare.get(), &Stub::AsyncGetCommand, get));
    gets.ours.push_back(CallsPerSecond(ours.get(), &Stub::AsyncGetCommand, get));
    registrations.bare.push_back(
        CallsPerSecond(bare.get(), &Stub::AsyncRegisterCommand, Registration()));
    registrations.ours.push_back(
        CallsPerSecond(ours.get(), &Stub::AsyncRegisterCommand, Registration()));
  }
  std::printf("Unary calls, %d outstanding, one connection; medians of %d\n\n", kOutstanding,
              kRounds);
  Table table({"", "bare k/s", "tracker k/s", "ratio"});
  const auto add = [&](const char* name, const Figures& figures) {
    const double floor_rate = Median(figures.bare);
    const double rate = Median(figures.ours);
    table.Add({name, Fixed(floor_rate / 1000, 1), Fixed(rate / 1000, 1), Ratio(rate, floor_rate)});
  };
  add("GetCommand", gets);
  add("RegisterCommand", registrations);
  table.Print();
}

// From the sending of CompleteCommand to the last message on a waiting stream.
std::chrono::nanoseconds WakeOnce(Stub* stub, const std::string& wait_id,
                                  const std::string& complete_id,
                                  std::chrono::milliseconds idle_before) {
  grpc::ClientContext wait_context;
  v1::WaitForCommandRequest wait;
  wait.set_command_id(wait_id);
  grpc::CompletionQueue queue;
  const auto stream = stub->AsyncWaitForCommand(&wait_context, wait, &queue, nullptr);
  void* tag = nullptr;
  bool ok = false;
  queue.Next(&tag, &ok);
  v1::WaitForCommandResponse message;
  stream->Read(&message, &message);
  queue.Next(&tag, &ok);
  if (!ok) Die("a wait ended before its time");
  stream->Read(&message, &message);
  if (idle_before.count() > 0) std::this_thread::sleep_for(idle_before);

  grpc::ClientContext context;
  v1::CompleteCommandRequest complete;
  complete.set_command_id(complete_id);
  complete.set_result(R"({"ok":true})");
  v1::CompleteCommandResponse completed;
  grpc::Status status;
  const auto sent = SteadyClock::now();
  const auto reader = stub->AsyncCompleteCommand(&context, complete, &queue);
  reader->Finish(&completed, &status, &completed);
  std::chrono::nanoseconds woken{};
  for (int done = 0; done < 2; ++done) {
    queue.Next(&tag, &ok);
    if (tag == &message) woken = SteadyClock::now() - sent;
  }
  Check(status, "complete");
  grpc::Status end;
  stream->Finish(&end, &end);
  queue.Next(&tag, &ok);
  Check(end, "wait");
  return woken;
}

void BenchWakes(const ChildProcess& tracker, const ChildProcess& floor) {
  const auto ours = Connect(tracker);
  const auto bare = Connect(floor);
  int next_bare = 0;
  const auto wake_bare = [&](std::chrono::milliseconds idle) {
    // A call before the wait, as in wake_ours, so that both clients were idle for the same time.
    Register(bare.get(), Registration());
    return WakeOnce(bare.get(), "", std::to_string(next_bare++), idle);
  };
  const auto wake_ours = [&](std::chrono::milliseconds idle) {
    const std::string id = Register(ours.get(), Registration("", /*human=*/true));
    return WakeOnce(ours.get(), id, id, idle);
  };
  Latencies warm_bare, warm_ours, idle_bare, idle_ours;
  for (int i = 0; i < kWakes; ++i) {
    warm_bare.Add(wake_bare({}));
    warm_ours.Add(wake_ours({}));
  }
  for (int i = 0; i < kIdleWakes; ++i) {
    idle_bare.Add(wake_bare(std::chrono::milliseconds(1050)));
    idle_ours.Add(wake_ours(std::chrono::milliseconds(1050)));
  }
  std::printf("\nCompleteCommand sent to waiter's message received, microseconds\n\n");
  Table table({"", "bare", "tracker", "ratio"});
  const auto add = [&](const char* name, double floor_time, double time) {
    table.Add({name, Fixed(floor_time, 0), Fixed(time, 0), Ratio(time, floor_time)});
  };
  add("median", warm_bare.Percentile(50), warm_ours.Percentile(50));
  add("99th percentile", warm_bare.Percentile(99), warm_ours.Percentile(99));
  add("90th percentile after an idle second", idle_bare.Percentile(90), idle_ours.Percentile(90));
  table.Print();
}

// One WatchCommands stream that waits for the ends of commands.
class Watcher {
 public:
  explicit Watcher(const ChildProcess& server)
      : stub_(Connect(server)), stream_(stub_->WatchCommands(&context_)) {}
  ~Watcher() {
    context_.TryCancel();
    (void)stream_->Finish();
  }

  void Add(const std::vector<std::string>& ids) {
    v1::WatchCommandsRequest request;
    for (const std::string& id : ids) {
      v1::CommandWatch& watch = *request.add_add();
      watch.set_watch_id(next_id_++);
      watch.set_command_id(id);
      watch.set_only_end(true);
      if (request.add_size() == 1000) Send(request);
    }
    if (request.add_size() > 0) Send(request);
  }

  // Returns once `count` ends have come, with the number of their messages.
  int AwaitEnds(int count) {
    int messages = 0;
    v1::WatchCommandsResponse response;
    while (count > 0) {
      if (!stream_->Read(&response)) Die("a watch stream ended");
      ++messages;
      for (const v1::CommandUpdate& update : response.updates()) count -= update.last() ? 1 : 0;
    }
    if (count < 0) Die("more ends than watches");
    return messages;
  }

 private:
  void Send(v1::WatchCommandsRequest& request) {
    if (!stream_->Write(request)) Die("a watch stream ended");
    request.Clear();
  }

  const std::unique_ptr<Stub> stub_;
  grpc::ClientContext context_;
  const std::unique_ptr<
      grpc::ClientReaderWriter<v1::WatchCommandsRequest, v1::WatchCommandsResponse>>
      stream_;
  int64_t next_id_ = 0;
};

void Complete(Stub* stub, const std::string& id) {
  grpc::ClientContext context;
  v1::CompleteCommandRequest complete;
  complete.set_command_id(id);
  complete.set_result(R"({"ok":true})");
  v1::CompleteCommandResponse completed;
  Check(stub->CompleteCommand(&context, complete, &completed), "complete");
}

void BenchManyWaits(const ChildProcess& tracker) {
  const auto stub = Connect(tracker);
  std::vector<std::vector<std::string>> ids;
  for (int i = 0; i < kStreams; ++i) {
    ids.push_back(RegisterMany(stub.get(), Registration("waits", true), kWaits / kStreams));
  }
  v1::GetCommandRequest get;
  get.set_command_id(Register(stub.get(), Registration("", /*human=*/true)));
  get.set_peek(true);
  std::vector<double> before, beside;
  const auto rate = [&] { return CallsPerSecond(stub.get(), &Stub::AsyncGetCommand, get); };
  for (int i = 0; i < kRounds; ++i) before.push_back(rate());

  const int64_t bytes_before = tracker.ResidentBytes();
  std::vector<std::unique_ptr<Watcher>> watchers;
  for (int i = 0; i < kStreams; ++i) {
    watchers.push_back(std::make_unique<Watcher>(tracker));
    watchers.back()->Add(ids[i]);
    // Answered after all waits are registered.
    Complete(stub.get(), ids[i].back());
    watchers.back()->AwaitEnds(1);
  }
  const int64_t bytes = tracker.ResidentBytes() - bytes_before;
  for (int i = 0; i < kRounds; ++i) beside.push_back(rate());

  // Each completion must be reported once: anything else ends the benchmark in AwaitEnds().
  for (int i = 0; i < kStreams; ++i) {
    Complete(stub.get(), ids[i][0]);
    watchers[i]->AwaitEnds(1);
  }
  std::printf("\n%d waits on %d WatchCommands streams\n\n", kWaits, kStreams);
  Table table({"", "figure"});
  table.Add({"bytes in the tracker for each", Fixed(static_cast<double>(bytes) / kWaits, 0)});
  table.Add(
      {"unrelated GetCommand beside them, against without", Ratio(Median(beside), Median(before))});
  table.Print();
}

void BenchTogether(const ChildProcess& tracker, const ChildProcess& floor) {
  const auto bare = Connect(floor);
  std::vector<double> bare_ms, ours_ms;
  int messages = 0;
  for (int round = 0; round < kRounds; ++round) {
    {
      grpc::CompletionQueue queue;
      struct Wait {
        grpc::ClientContext context;
        std::unique_ptr<grpc::ClientAsyncReader<v1::WaitForCommandResponse>> reader;
        v1::WaitForCommandResponse message;
        int step = 0;
      };
      std::vector<std::unique_ptr<Wait>> waits;
      for (int i = 0; i < kTogether; ++i) {
        waits.push_back(std::make_unique<Wait>());
        Wait* wait = waits.back().get();
        wait->reader = bare->AsyncWaitForCommand(&wait->context, {}, &queue, wait);
      }
      // Until `count` waits have reached `step`, and read on.
      const auto advance = [&](int step, int count) {
        void* tag = nullptr;
        bool ok = false;
        while (count > 0 && queue.Next(&tag, &ok)) {
          auto* wait = static_cast<Wait*>(tag);
          if (!ok) Die("a bare stream ended");
          if (++wait->step == step) --count;
          if (wait->step < 3) wait->reader->Read(&wait->message, wait);
        }
      };
      advance(2, kTogether);
      for (int i = 0; i < kTogether / 1000; ++i) {
        if (!floor.AwaitEvent('w', std::chrono::seconds(10))) Die("streams were not held");
      }
      const auto start = SteadyClock::now();
      floor.Poke();
      advance(3, kTogether);
      bare_ms.push_back(
          std::chrono::duration<double, std::milli>(SteadyClock::now() - start).count());
      for (const auto& wait : waits) {
        grpc::Status status;
        wait->reader->Finish(&status, wait.get());
        void* tag = nullptr;
        bool ok = false;
        queue.Next(&tag, &ok);
      }
    }
    const auto stub = Connect(tracker);
    const auto ids = RegisterMany(stub.get(), Registration(kPoked, true), kTogether);
    Watcher watcher(tracker);
    watcher.Add(ids);
    const std::string last = Register(stub.get(), Registration("marker", true));
    watcher.Add({last});
    Complete(stub.get(), last);
    watcher.AwaitEnds(1);
    tracker.Poke();
    if (!tracker.AwaitEvent('p', std::chrono::seconds(10))) Die("the tracker was not poked");
    const auto start = SteadyClock::now();
    messages = watcher.AwaitEnds(kTogether);
    ours_ms.push_back(
        std::chrono::duration<double, std::milli>(SteadyClock::now() - start).count());
  }
  std::printf("\n%d waits that end together, milliseconds until all are told; medians of %d\n\n",
              kTogether, kRounds);
  Table table({"as many bare streams", "one WatchCommands stream", "ratio", "its messages"});
  table.Add({Fixed(Median(bare_ms), 1), Fixed(Median(ours_ms), 1),
             Ratio(Median(ours_ms), Median(bare_ms)), std::to_string(messages)});
  table.Print();
}

void Main() {
  SampleMessages();
  RunOnCore(1);
  const ChildProcess floor = ChildProcess::Fork(ServeFloor);
  const ChildProcess tracker = ChildProcess::Fork(ServeTracker);
  const ChildProcess waits_tracker = ChildProcess::Fork(ServeTracker);
  const ChildProcess together_floor = ChildProcess::Fork(ServeFloor);
  const ChildProcess together_tracker = ChildProcess::Fork(ServeTracker);
  RunOnCore(0);
  BenchWakes(tracker, floor);
  BenchCalls(tracker, floor);
  BenchManyWaits(waits_tracker);
  BenchTogether(together_tracker, together_floor);
}

}  // namespace
}  // namespace callslip::bench

int main() { callslip::bench::Main(); }
