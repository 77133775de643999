#include <optional>
#include <string>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gateway/extension/extension_handlers.h"
#include "gateway/http/error_response.h"
#include "gateway/http/page_check.h"
#include "gateway/json/command_json.h"
#include "gateway/timeouts.h"
#include "google/protobuf/util/time_util.h"

namespace callslip::gateway {
namespace {

// The longest that the tracker accepts.
constexpr absl::Duration kMaxBackWithin = absl::Seconds(60);
// Longer than any delivery stays unacknowledged.
constexpr absl::Duration kMaxKnownFor = absl::Seconds(60);

// Sets `duration` to the seconds in the query parameter `name`, if present. Returns an error with
// the code `invalid_<name>` unless the value is a number from 0 to `longest`.
std::optional<HttpResponse> TakeSeconds(const HttpRequest& request, const std::string& name,
                                        absl::Duration longest, absl::string_view hint,
                                        google::protobuf::Duration& duration) {
  const std::string text = request.Query(name);
  if (text.empty()) return std::nullopt;
  double seconds = 0;
  // Written so that NaN is refused.
  if (!absl::SimpleAtod(text, &seconds) || !(seconds >= 0) ||
      seconds > absl::ToDoubleSeconds(longest)) {
    return ErrorResponse(400, absl::StrCat("invalid_", name),
                         absl::StrCat(name, "=", text, " is not a number of seconds from 0 to ",
                                      absl::ToInt64Seconds(longest), "."),
                         std::string(hint));
  }
  duration = google::protobuf::util::TimeUtil::NanosecondsToDuration(
      absl::ToInt64Nanoseconds(absl::Seconds(seconds)));
  return std::nullopt;
}

}  // namespace

boost::asio::awaitable<HttpResponse> HandlePendingQueries(
    TrackerClient* tracker, std::shared_ptr<const HttpRequest> request) {
  if (auto refusal = ExcludePages(*request); refusal.has_value()) co_return *std::move(refusal);
  v1::LeaseCommandsRequest lease;
  if (auto refusal = TakeSeconds(*request, "wait", kMaxPollHold,
                                 "Leave it out for an answer at once.", *lease.mutable_max_wait());
      refusal.has_value()) {
    co_return *std::move(refusal);
  }
  if (auto refusal = TakeSeconds(*request, "back_within", kMaxBackWithin,
                                 "Leave it out where the worker is not suspended.",
                                 *lease.mutable_back_within());
      refusal.has_value()) {
    co_return *std::move(refusal);
  }
  std::string target = request->Query("target");
  std::string worker = request->Query("worker");
  // Pollers that do not name themselves do not know leases.
  lease.set_without_proof(worker.empty() && !request->principal.scope.holds());
  const absl::Status held = EnforceScope(request->principal, target, worker);
  if (!held.ok()) co_return ErrorResponse(held);
  lease.set_target(std::move(target));
  lease.set_worker_id(std::move(worker));
  if (request->query.contains("known")) {
    v1::KnownDeliveries& known = *lease.mutable_known_deliveries();
    if (auto refusal = TakeSeconds(*request, "known_for", kMaxKnownFor,
                                   "Say for how long the worker has remembered its deliveries.",
                                   *known.mutable_reaches_back());
        refusal.has_value()) {
      co_return *std::move(refusal);
    }
    for (const absl::string_view id :
         absl::StrSplit(request->Query("known"), ',', absl::SkipEmpty())) {
      known.add_lease_tokens(std::string(id));
    }
  }
  const auto leased = co_await tracker->Call(std::move(lease));
  if (!leased.ok()) co_return ErrorResponse(leased.status());

  Json queries = Json::array();
  if (request->Query("cancels") == "1") {
    for (int i = 0; i < leased->ended_command_ids_size(); ++i) {
      queries.push_back(CancelNotice(leased->ended_command_ids(i), leased->ended_lease_tokens(i)));
    }
  }
  for (const v1::CommandLease& each : leased->leases()) queries.push_back(PendingQuery(each));
  HttpResponse response{.body = Dump(queries)};
  // A cached answer would run its commands again.
  response.headers.emplace_back("Cache-Control", "no-store");
  co_return response;
}

}  // namespace callslip::gateway
