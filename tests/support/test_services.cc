#include "support/test_services.h"

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>

#include "httplib.h"

namespace callslip {
namespace {

Address ValueOrDie(absl::StatusOr<Address> address) {
  if (!address.ok()) {
    std::fprintf(stderr, "%s\n", std::string(address.status().message()).c_str());
    std::abort();
  }
  return *address;
}

template <typename T>
std::unique_ptr<T> ValueOrDie(absl::StatusOr<std::unique_ptr<T>> value) {
  if (!value.ok()) {
    std::fprintf(stderr, "%s\n", std::string(value.status().message()).c_str());
    std::abort();
  }
  return *std::move(value);
}

// A few threads suffice, and start faster.
constexpr int kSessionThreadsOfTests = 2;

TestServices::Answer ToAnswer(const httplib::Result& result) {
  if (!result) return {};
  TestServices::Answer answer;
  answer.status = result->status;
  if (!result->body.empty()) answer.body = nlohmann::json::parse(result->body);
  answer.header_allow = result->get_header_value("Allow");
  answer.header_retry_after = result->get_header_value("Retry-After");
  answer.header_session_id = result->get_header_value("Mcp-Session-Id");
  return answer;
}

}  // namespace

TestServices::TestServices(gateway::GatewayConfig config,
                           const std::optional<TokenFile>& token_file)
    : tracker_address_{.unix_path = socket_dir_.path() + "/tracker.sock"} {
  // The HTTP client under Post() writes to connections that the gateway has closed.
  std::signal(SIGPIPE, SIG_IGN);
  StartTracker();
  for (Address& address : config.listen) address.port = 0;
  config.tracker = {tracker_address_};
  gateway_ = std::make_unique<gateway::GatewayServer>(config, token_file);
  const absl::StatusOr<std::vector<Address>> bound = gateway_->Start();
  gateway_address_ = ValueOrDie(bound.ok() ? absl::StatusOr<Address>(bound->front())
                                           : absl::StatusOr<Address>(bound.status()));
  const nlohmann::json initialize = {{"jsonrpc", "2.0"},
                                     {"id", 0},
                                     {"method", "initialize"},
                                     {"params", {{"protocolVersion", "2025-11-25"}}}};
  session_id_ = Post("/mcp", initialize.dump(), {}).header_session_id;
}

TestServices::~TestServices() {
  gateway_ = nullptr;
  if (tracker_ != nullptr) StopTracker();
}

TestServices::Tracker::Tracker(Clock* clock, const std::string& data_dir)
    : disk(clock),
      storage(ValueOrDie(tracker::FileSessionStorage::Open(data_dir, &disk))),
      sessions(ValueOrDie(
          tracker::SessionTable::Open(storage.get(), clock, {}, {}, kSessionThreadsOfTests))),
      log(clock),
      table(tracker::CommandDeadlines{}),
      deadlines(clock, &table),
      server(clock, &table, sessions.get(), nullptr, {.sessions = &disk}) {
  table.SetFailureListener(
      [this](const tracker::CommandSnapshot& command) { log.Failed(command); });
}

void TestServices::StartTracker() {
  tracker_ = std::make_unique<Tracker>(&clock_, data_dir_.path());
  tracker_address_ = ValueOrDie(tracker_->server.Start(tracker_address_, 1));
}

void TestServices::StopTracker() {
  // No call needs time to be answered.
  tracker_->server.Drain(absl::ZeroDuration());
  tracker_ = nullptr;
}

void TestServices::StopGateway(absl::Duration grace) {
  gateway_->Drain(grace);
  gateway_ = nullptr;
}

TestServices::Answer TestServices::Get(const std::string& target) const {
  httplib::Client client(gateway_address_.host, gateway_address_.port);
  return ToAnswer(client.Get(target));
}

TestServices::Answer TestServices::Post(const std::string& path, const std::string& body) const {
  return Post(path, body, {{"Mcp-Session-Id", session_id_}});
}

TestServices::Answer TestServices::Post(const std::string& path, const std::string& body,
                                        const std::map<std::string, std::string>& headers) const {
  httplib::Client client(gateway_address_.host, gateway_address_.port);
  client.set_tcp_nodelay(true);
  return ToAnswer(client.Post(path, httplib::Headers(headers.begin(), headers.end()), body,
                              "application/json"));
}

nlohmann::json TestServices::CallTool(const std::string& name,
                                      const nlohmann::json& arguments) const {
  // Concurrent requests of a session need different ids.
  static std::atomic<int> id = 0;
  const nlohmann::json request = {{"jsonrpc", "2.0"},
                                  {"id", ++id},
                                  {"method", "tools/call"},
                                  {"params", {{"name", name}, {"arguments", arguments}}}};
  return Post("/mcp", request.dump()).body["result"];
}

nlohmann::json TestServices::ToolAnswer(const std::string& name,
                                        const nlohmann::json& arguments) const {
  return CallTool(name, arguments)["structuredContent"];
}

void TestServices::AwaitWaits(int64_t count) {
  while (table().waits() != count) {
    (void)ToolAnswer("observe", {{"what", "command_result"}, {"correlation_id", "nobody"}});
  }
}

}  // namespace callslip
