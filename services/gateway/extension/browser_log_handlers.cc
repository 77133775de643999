#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "gateway/extension/sync_handlers.h"
#include "gateway/extension/sync_request.h"
#include "gateway/http/error_response.h"
#include "gateway/json/json_members.h"
#include "gateway/timeouts.h"

namespace callslip::gateway {

boost::asio::awaitable<HttpResponse> HandleSyncHealth(TrackerClient* tracker,
                                                      std::shared_ptr<const HttpRequest>) {
  v1::ListWorkersRequest all;
  const auto listed = co_await tracker->Call(std::move(all), {.deadline = kReadinessDeadline});
  if (!listed.ok()) co_return ErrorResponse(listed.status());
  bool connected = false;
  for (const v1::Worker& worker : listed->workers()) {
    connected = connected || (worker.connected() && absl::StartsWith(worker.worker_id(), "sync-"));
  }
  const Json capture = {{"available", true}, {"extension_connected", connected}};
  co_return HttpResponse{.body = Dump({{"status", "ok"}, {"capture", capture}})};
}

boost::asio::awaitable<HttpResponse> HandleBrowserLog(TrackerClient* tracker, BrowserLogPath path,
                                                      std::shared_ptr<const HttpRequest> request) {
  const absl::StatusOr<Json> body = ParseObject(request->body);
  if (!body.ok()) co_return ErrorResponse(body.status());
  const bool whole = std::string(path.member).empty();
  const Json one = whole ? Json::array({*body}) : Json();
  const Json& entries = whole ? one : MemberOf(*body, path.member);
  if (!entries.is_array()) {
    co_return ErrorResponse(400, "invalid_body",
                            std::string("The body must have an array ") + path.member + ".", "");
  }
  v1::AppendWorkerLogRequest append;
  append.set_client_id(OnBehalfOf(request->principal));
  const std::string named = request->Query("worker");
  append.set_worker_id(named.empty() && request->principal.scope.worker_id.empty()
                           ? SyncClientName(*request)
                           : named);
  const absl::Status held =
      EnforceScope(request->principal, *append.mutable_target(), *append.mutable_worker_id());
  if (!held.ok()) co_return ErrorResponse(held);
  append.set_kind(path.kind);
  AddEntries(LogEntries(entries), append);
  const int kept = append.entries_size();
  const auto appended = co_await tracker->Call(std::move(append));
  if (!appended.ok()) co_return ErrorResponse(appended.status());
  co_return HttpResponse{.body = Dump({{"status", "ok"}, {"entries", kept}})};
}

boost::asio::awaitable<HttpResponse> HandleScreenshots(TrackerClient* tracker,
                                                       std::shared_ptr<const HttpRequest> request) {
  const absl::StatusOr<Json> body = ParseObject(request->body);
  if (!body.ok()) co_return ErrorResponse(body.status());
  std::optional<v1::CompleteCommandRequest> result = ScreenshotResult(*body);
  // A screenshot taken by the user: no command waits for it, and it is not stored.
  if (!result.has_value()) co_return HttpResponse{.body = R"({"status":"ok","stored":false})"};
  // A screenshot may name its command alone, without its lease.
  if (request->principal.scope.holds()) co_return LeaseMissing();
  const auto completed = co_await tracker->Call(*std::move(result));
  if (!completed.ok()) co_return ErrorResponse(completed.status());
  co_return HttpResponse{.body = R"({"status":"ok","stored":true})"};
}

}  // namespace callslip::gateway
