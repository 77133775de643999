// What it costs to be known at the tracker's listener: RegisterCommand and the whole life of a
// command over each way to call it, against TCP that asks for nothing. Prints ratios of one run
// beside what they are meant to be, and judges nothing.

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <future>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "auth/credentials.h"
#include "bench/child_process.h"
#include "bench/die.h"
#include "bench/latencies.h"
#include "bench/table.h"
#include "callslip/tracker/v1/command_service.grpc.pb.h"
#include "common/clock.h"
#include "common/rpc_credentials.h"
#include "grpcpp/grpcpp.h"
#include "support/temporary_folder.h"
#include "support/test_authority.h"
#include "tracker/domain/queue/command_table.h"
#include "tracker/domain/queue/deadline_thread.h"
#include "tracker/rpc/tracker_server.h"

namespace callslip::bench {
namespace {

namespace v1 = callslip::tracker::v1;
using SteadyClock = std::chrono::steady_clock;
using Stub = v1::CommandService::Stub;

constexpr int kRounds = 15;
constexpr int kOutstanding = 64;
constexpr int kCalls = 3'000;
constexpr int kCycles = 150;

// One way to call the tracker.
struct Listener {
  std::string name;
  std::string bar;  // Of its ratio to plain TCP.
  bool over_unix_socket = false;
  bool with_token = false;
  bool with_tls = false;
  bool with_certificate = false;

  bool asks() const { return with_token || with_certificate; }
};

std::vector<Listener> Listeners() {
  return {
      {.name = "TCP", .bar = ""},
      // How far two of the same are apart.
      {.name = "TCP once more", .bar = ""},
      {.name = "unix socket", .bar = "1.00x", .over_unix_socket = true},
      {.name = "TCP, token", .bar = "1.05x", .with_token = true},
      {.name = "TLS, token", .bar = "1.35x", .with_token = true, .with_tls = true},
      {.name = "mTLS, certificate", .bar = "1.35x", .with_tls = true, .with_certificate = true}};
}

// What both sides show each other.
class Papers {
 public:
  Papers() : token_(64, 'a') {
    const TestAuthority authority;
    Write("ca", authority.certificate());
    for (const char* side : {"server", "client"}) {
      const TestAuthority::Pair pair = authority.Issue();
      Write(side, pair.certificate);
      Write(std::string(side) + "-key", pair.key);
    }
  }

  const std::string& token() const { return token_; }
  std::string Path(const std::string& name) const { return folder_.path() + "/" + name; }

  // As many lines as a file for a team has.
  std::vector<TokenFile::Entry> Entries() const {
    std::vector<TokenFile::Entry> entries;
    for (int i = 0; i < 20; ++i) {
      const std::string name = "client-" + std::to_string(i);
      entries.push_back({{name, Role::kClient, {}}, name + std::string(40, '-')});
    }
    entries.push_back({{"edge", Role::kGateway, {}}, token_});
    entries.push_back({{"edge", Role::kGateway, {}}, "", "localhost"});
    return entries;
  }

  TlsFiles OfServer(const Listener& listener) const {
    return {Path("server"), Path("server-key"), listener.with_certificate ? Path("ca") : ""};
  }
  TlsFiles OfClient(const Listener& listener) const {
    if (!listener.with_certificate) return {.authorities = Path("ca")};
    return {Path("client"), Path("client-key"), Path("ca")};
  }

 private:
  void Write(const std::string& name, const std::string& text) const {
    std::ofstream(Path(name)) << text;
  }

  const TemporaryFolder folder_;
  const std::string token_;
};

// The tracker as it is, but for its limits, behind one listener.
void ServeTracker(const Listener& listener, const Papers& papers, const ParentLink& parent) {
  tracker::CommandLimits limits;
  limits.queued = limits.queued_of_client = limits.commands = limits.commands_of_client = int64_t{1}
                                                                                          << 40;
  limits.payload_bytes = limits.payload_bytes_of_client = int64_t{1} << 40;
  RealClock clock;
  tracker::CommandTable table(tracker::CommandDeadlines(), limits);
  tracker::DeadlineThread deadlines(&clock, &table);
  tracker::TrackerServer server(&clock, &table);
  if (listener.asks()) server.SetCredentials(std::make_shared<Credentials>(papers.Entries()));
  const Address address = listener.over_unix_socket ? Address{.unix_path = papers.Path("socket")}
                                                    : Address{.host = "127.0.0.1"};
  std::optional<TlsFiles> tls;
  if (listener.with_tls) tls = papers.OfServer(listener);
  const auto bound = server.Start(std::vector{address}, 1, tls);
  if (!bound.ok()) Die("the tracker could not listen");
  parent.Listening(bound->front().port);
  std::promise<void>().get_future().wait();
}

void Check(const grpc::Status& status, const char* what) {
  if (!status.ok()) Die(std::string(what) + ": " + status.error_message());
}

// A client at one listener, on one connection that is kept.
class Caller {
 public:
  Caller(const Listener& listener, const Papers& papers, const ChildProcess* server)
      : listener_(listener), server_(server) {
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    std::optional<TlsFiles> tls;
    if (listener.with_tls) tls = papers.OfClient(listener);
    if (listener.with_token) authorization_ = "Bearer " + papers.token();
    stub_ = v1::CommandService::NewStub(grpc::CreateCustomChannel(
        listener.over_unix_socket ? "unix:" + papers.Path("socket")
                                  : "127.0.0.1:" + std::to_string(server->port()),
        ChannelCredentials(tls), arguments));
  }

  const Listener& listener() const { return listener_; }
  std::chrono::nanoseconds ServerTime() const { return server_->CpuTime(); }

  // Seconds for kCalls of RegisterCommand, kOutstanding of them under way.
  double Register() {
    const v1::RegisterCommandRequest request = Registration("registered");
    grpc::CompletionQueue queue;
    const auto begin = [&] {
      auto* call = new Call;
      Introduce(call->context);
      call->reader = stub_->AsyncRegisterCommand(&call->context, request, &queue);
      call->reader->Finish(&call->response, &call->status, call);
    };
    const auto started = SteadyClock::now();
    int begun = 0;
    while (begun < kOutstanding) begin(), ++begun;
    for (int answered = 0; answered < kCalls; ++answered) {
      void* tag = nullptr;
      bool ok = false;
      queue.Next(&tag, &ok);
      const std::unique_ptr<Call> call(static_cast<Call*>(tag));
      Check(call->status, "register");
      if (begun < kCalls) begin(), ++begun;
    }
    return SecondsSince(started);
  }

  // Seconds for kCycles commands, one call after the other: registered, leased, completed, looked
  // at.
  double Cycle() {
    const auto started = SteadyClock::now();
    for (int i = 0; i < kCycles; ++i) {
      const std::string id =
          Ask(&Stub::RegisterCommand, Registration("cycles")).command().command_id();
      v1::LeaseCommandsRequest lease;
      lease.set_target("cycles");
      lease.set_max_commands(1);
      const v1::LeaseCommandsResponse leased = Ask(&Stub::LeaseCommands, lease);
      if (leased.leases().empty() || leased.leases(0).command().command_id() != id) {
        Die("another command was leased");
      }
      v1::CompleteCommandRequest complete;
      complete.set_command_id(id);
      complete.set_lease_token(leased.leases(0).lease_token());
      complete.set_result(R"({"ok":true})");
      Ask(&Stub::CompleteCommand, complete);
      v1::GetCommandRequest get;
      get.set_command_id(id);
      Ask(&Stub::GetCommand, get);
    }
    return SecondsSince(started);
  }

 private:
  struct Call {
    grpc::ClientContext context;
    v1::RegisterCommandResponse response;
    grpc::Status status;
    std::unique_ptr<grpc::ClientAsyncResponseReader<v1::RegisterCommandResponse>> reader;
  };

  static v1::RegisterCommandRequest Registration(const std::string& target) {
    v1::RegisterCommandRequest request;
    request.set_target(target);
    request.set_type("click");
    request.set_params(R"({"action":"click","selector":"#submit"})");
    return request;
  }

  static double SecondsSince(SteadyClock::time_point start) {
    return std::chrono::duration<double>(SteadyClock::now() - start).count();
  }

  void Introduce(grpc::ClientContext& context) const {
    if (!authorization_.empty()) context.AddMetadata("authorization", authorization_);
  }

  template <typename Request, typename Response>
  Response Ask(grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&, Response*),
               const Request& request) {
    grpc::ClientContext context;
    Introduce(context);
    Response response;
    Check((stub_.get()->*method)(&context, request, &response), "a call of the cycle");
    return response;
  }

  const Listener listener_;
  const ChildProcess* const server_;
  std::string authorization_;
  std::unique_ptr<Stub> stub_;
};

// What `work` takes at each listener in turn, in rounds: a machine that gets slower meanwhile does
// so for all of them.
void Compare(std::vector<std::unique_ptr<Caller>>& callers, const char* title, int calls,
             double (Caller::*work)()) {
  struct Figures {
    std::vector<double> seconds;
    std::vector<double> ratios;  // To plain TCP in the same round.
    // Of the processors, which a busy machine changes little: in microseconds a call.
    std::vector<double> server_time;
    std::vector<double> both_time;
  };
  std::vector<Figures> figures(callers.size());
  for (auto& caller : callers) (caller.get()->*work)();  // Connects, and warms up.
  for (int round = 0; round < kRounds; ++round) {
    for (size_t turn = 0; turn < callers.size(); ++turn) {
      const size_t i = (turn + static_cast<size_t>(round)) % callers.size();
      const auto server_before = callers[i]->ServerTime();
      const std::clock_t own_before = std::clock();
      figures[i].seconds.push_back((callers[i].get()->*work)());
      const std::chrono::duration<double, std::micro> server =
          callers[i]->ServerTime() - server_before;
      const double own = 1e6 * static_cast<double>(std::clock() - own_before) / CLOCKS_PER_SEC;
      figures[i].server_time.push_back(server.count() / calls);
      figures[i].both_time.push_back((server.count() + own) / calls);
    }
    for (Figures& each : figures) {
      each.ratios.push_back(each.seconds.back() / figures.front().seconds.back());
    }
  }
  std::printf("%s; medians of %d\n\n", title, kRounds);
  Table table({"", "us a call", "against TCP", "at best", "bar", "us of processors", "against TCP",
               "us in the tracker"});
  for (size_t i = 0; i < callers.size(); ++i) {
    const Figures& each = figures[i];
    table.Add({callers[i]->listener().name, Fixed(1e6 * Median(each.seconds) / calls, 1),
               Ratio(Median(each.ratios), 1),
               Ratio(*std::min_element(each.ratios.begin(), each.ratios.end()), 1),
               callers[i]->listener().bar, Fixed(Median(each.both_time), 1),
               Ratio(Median(each.both_time), Median(figures.front().both_time)),
               Fixed(Median(each.server_time), 1)});
  }
  table.Print();
}

void Main() {
  const Papers papers;
  std::vector<ChildProcess> servers;
  const std::vector<Listener> listeners = Listeners();
  RunOnCore(1);
  for (const Listener& listener : listeners) {
    servers.push_back(ChildProcess::Fork(
        [&](const ParentLink& parent) { ServeTracker(listener, papers, parent); }));
  }
  RunOnCore(0);
  std::vector<std::unique_ptr<Caller>> callers;
  for (size_t i = 0; i < listeners.size(); ++i) {
    callers.push_back(std::make_unique<Caller>(listeners[i], papers, &servers[i]));
  }
  Compare(callers, "RegisterCommand, 64 outstanding, one connection", kCalls, &Caller::Register);
  Compare(callers, "A command registered, leased, completed, looked at; one call at a time",
          4 * kCycles, &Caller::Cycle);
}

}  // namespace
}  // namespace callslip::bench

int main() { callslip::bench::Main(); }
