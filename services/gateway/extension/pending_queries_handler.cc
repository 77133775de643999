#include <string>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "gateway/extension/extension_handlers.h"
#include "gateway/http/error_response.h"
#include "gateway/json/command_json.h"
#include "gateway/timeouts.h"

namespace callslip::gateway {

boost::asio::awaitable<HttpResponse> PendingQueriesHandler::Handle(
    std::shared_ptr<const HttpRequest> request) const {
  double wait_seconds = 0;
  if (const std::string wait = request->Query("wait");
      !wait.empty() && (!absl::SimpleAtod(wait, &wait_seconds) || !(wait_seconds >= 0) ||
                        wait_seconds > absl::ToDoubleSeconds(kMaxPollHold))) {
    co_return ErrorResponse(400, "invalid_wait",
                            absl::StrCat("wait=", wait, " is no number of seconds from 0 to ",
                                         absl::ToInt64Seconds(kMaxPollHold), "."),
                            "Leave it out for an answer at once.");
  }
  v1::LeaseCommandsRequest lease;
  lease.set_target(request->Query("target"));
  lease.set_worker_id(request->Query("worker"));
  const int64_t nanos = absl::ToInt64Nanoseconds(absl::Seconds(wait_seconds));
  lease.mutable_max_wait()->set_seconds(nanos / 1'000'000'000);
  lease.mutable_max_wait()->set_nanos(static_cast<int32_t>(nanos % 1'000'000'000));
  const auto leased = co_await tracker_->Lease(std::move(lease));
  if (!leased.ok()) co_return ErrorResponse(leased.status());

  Json queries = Json::array();
  for (const v1::CommandLease& each : leased->leases()) queries.push_back(PendingQuery(each));
  HttpResponse response{.body = Dump(queries)};
  // A cached answer would run its commands again.
  response.headers.emplace_back("Cache-Control", "no-store");
  co_return response;
}

}  // namespace callslip::gateway
