#include <utility>

#include "gateway/extension/extension_handlers.h"
#include "gateway/extension/worker_status.h"
#include "gateway/http/error_response.h"

namespace callslip::gateway {

boost::asio::awaitable<HttpResponse> HandleWorkerStatus(
    TrackerClient* tracker, std::shared_ptr<const HttpRequest> request) {
  absl::StatusOr<v1::ReportWorkerRequest> report = ParseWorkerStatus(request->body);
  if (!report.ok()) co_return ErrorResponse(report.status());
  const absl::Status held =
      EnforceScope(request->principal, *report->mutable_target(), *report->mutable_worker_id());
  if (!held.ok()) co_return ErrorResponse(held);
  const auto reported = co_await tracker->Call(*std::move(report));
  if (!reported.ok()) co_return ErrorResponse(reported.status());
  co_return HttpResponse{.body = R"({"status":"ok"})"};
}

}  // namespace callslip::gateway
