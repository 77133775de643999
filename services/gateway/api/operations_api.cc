#include "gateway/api/operations_api.h"

#include <chrono>
#include <functional>
#include <utility>

#include "boost/asio/steady_timer.hpp"
#include "boost/asio/this_coro.hpp"
#include "boost/asio/use_awaitable.hpp"
#include "gateway/api/socket_messages.h"
#include "gateway/http/error_response.h"
#include "gateway/http/scoped_task.h"
#include "gateway/json/health_json.h"
#include "gateway/json/json_fields.h"
#include "gateway/json/worker_json.h"
#include "gateway/timeouts.h"

namespace callslip::gateway {
namespace {

namespace asio = boost::asio;

// The most that the tracker lists at once.
constexpr int kMaxOperationsListed = 1000;
constexpr int kDefaultListed = 200;
constexpr int kDefaultLogEntries = 100;
// The most bytes of worker logs in one answer.
constexpr size_t kMaxLogBytes = size_t{1} << 20;

constexpr std::chrono::seconds kEvery{1};

// Sets the client of a list, which covers all clients if the caller may see them.
template <typename List>
void SetWhose(const Principal& principal, List& list) {
  list.set_client_id(OnBehalfOf(principal));
  list.set_all_clients(SeesAllClients(principal.role));
}

int32_t ReadLimit(JsonFields& fields, int by_default) {
  return static_cast<int32_t>(
      fields.Integer("limit", 1, kMaxOperationsListed).value_or(by_default));
}

asio::awaitable<void> SendStatistics(std::shared_ptr<RecentStatistics> recent,
                                     std::shared_ptr<WebSocket> socket) {
  asio::steady_timer timer(co_await asio::this_coro::executor);
  while (true) {
    const auto statistics = co_await recent->Read();
    if (statistics.ok()) {
      SendMessage(*socket, "stats", *statistics);
    } else {
      SendFailure(*socket, statistics.status());
    }
    timer.expires_after(kEvery);
    co_await timer.async_wait(asio::use_awaitable);
    co_await socket->AwaitRoom();
  }
}

}  // namespace

void OperationsApi::AddRoutes(Router& router) const {
  router.Add("GET", "/api/targets", kReaders, std::bind_front(&OperationsApi::ListTargets, this));
  router.Add("GET", "/api/workers", kReaders, std::bind_front(&OperationsApi::ListWorkers, this));
  router.Add("GET", "/api/worker-log", kReaders,
             std::bind_front(&OperationsApi::ListWorkerLog, this));
  router.Add("GET", "/api/mcp-clients", kReaders,
             [this](Request request) -> Answer { co_return ListMcpClients(*request); });
  router.Add("GET", "/api/health", kOperators, [this](const Request&) { return GetHealth(); });
  router.Add("GET", "/api/stats/history", kOperators,
             [this](const Request&) { return GetHistory(); });
  router.AddWebSocket("/api/stats/ws", kOperators,
                      [this](const Request&, std::shared_ptr<WebSocket> socket) {
                        return ServeStatistics(std::move(socket));
                      });
}

OperationsApi::Answer OperationsApi::ListTargets(Request request) const {
  JsonFields fields = JsonFields::OfQuery(request->query);
  v1::ListTargetsRequest list;
  SetWhose(request->principal, list);
  list.set_contains(fields.Text("contains"));
  list.set_page_size(ReadLimit(fields, kDefaultListed));
  if (!fields.status().ok()) co_return ErrorResponse(fields.status());
  const auto listed = co_await tracker_->Call(std::move(list));
  if (!listed.ok()) co_return ErrorResponse(listed.status());
  Json body = {{"targets", Json::array()}, {"total", listed->total()}};
  for (const v1::Target& target : listed->targets()) {
    body["targets"].push_back(TargetEntry(target));
  }
  co_return HttpResponse{.body = Dump(body)};
}

OperationsApi::Answer OperationsApi::ListWorkers(Request request) const {
  JsonFields fields = JsonFields::OfQuery(request->query);
  v1::ListWorkersRequest list;
  SetWhose(request->principal, list);
  list.set_target(fields.Text("target"));
  list.set_page_size(ReadLimit(fields, kDefaultListed));
  list.set_page_token(fields.Text("page_token"));
  if (!fields.status().ok()) co_return ErrorResponse(fields.status());
  const auto listed = co_await tracker_->Call(std::move(list));
  if (!listed.ok()) co_return ErrorResponse(listed.status());
  Json body = {{"workers", Json::array()}};
  for (const v1::Worker& worker : listed->workers()) {
    body["workers"].push_back(WorkerEntry(worker));
  }
  if (!listed->next_page_token().empty()) body["next_page_token"] = listed->next_page_token();
  co_return HttpResponse{.body = Dump(body)};
}

OperationsApi::Answer OperationsApi::ListWorkerLog(Request request) const {
  JsonFields fields = JsonFields::OfQuery(request->query);
  v1::ListWorkerLogRequest list;
  list.set_client_id(OnBehalfOf(request->principal));
  list.set_target(fields.Text("target"));
  list.set_worker_id(fields.Text("worker"));
  list.set_kind(fields.Text("kind"));
  list.set_page_size(ReadLimit(fields, kDefaultLogEntries));
  if (!fields.status().ok()) co_return ErrorResponse(fields.status());
  const auto listed = co_await tracker_->Call(std::move(list));
  if (!listed.ok()) co_return ErrorResponse(listed.status());
  co_return HttpResponse{.body = Dump({{"entries", WorkerLogEntries(*listed, kMaxLogBytes)}})};
}

OperationsApi::Answer OperationsApi::GetHealth() const {
  const auto health =
      co_await tracker_->Call(v1::GetHealthRequest(), {.deadline = kReadinessDeadline});
  co_return HttpResponse{.body = Dump(HealthJson(health, clock_->Now() - started_))};
}

OperationsApi::Answer OperationsApi::GetHistory() const {
  v1::GetHealthRequest request;
  request.set_with_history(true);
  const auto health = co_await tracker_->Call(std::move(request), {.deadline = kReadinessDeadline});
  if (!health.ok()) co_return ErrorResponse(health.status());
  co_return HttpResponse{.body = Dump(HistoryJson(*health))};
}

HttpResponse OperationsApi::ListMcpClients(const HttpRequest& request) const {
  const Principal& caller = request.principal;
  const absl::Time now = clock_->Now();
  Json clients = Json::array();
  for (const RecentMcpClients::McpClient& each : clients_->List()) {
    if (each.principal != caller.name && !SeesAllClients(caller.role)) continue;
    clients.push_back({{"name", each.name},
                       {"client", each.principal},
                       {"last_call_ms_ago", absl::ToInt64Milliseconds(now - each.last_call)}});
  }
  return HttpResponse{.body = Dump({{"mcp_clients", std::move(clients)}})};
}

asio::awaitable<void> OperationsApi::ServeStatistics(std::shared_ptr<WebSocket> socket) const {
  SendMessage(*socket, "connected", Json::object());
  const auto executor = co_await asio::this_coro::executor;
  asio::awaitable<void> work = SendStatistics(recent_, socket);
  const ScopedTask sending(executor, std::move(work));
  co_await AnswerKeepalives(socket);
}

}  // namespace callslip::gateway
