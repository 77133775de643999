#include "gateway/http/http_metrics.h"

#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/log.h"
#include "gateway/http/address_quota.h"

namespace callslip::gateway {

HttpMetrics::Route* HttpMetrics::Add(const std::string& method, const std::string& path) {
  return &routes_.emplace_back(Route{.method = method, .path = path});
}

void HttpMetrics::Measure(Route* route, const std::string& address, Responder& responder) {
  ++route->under_way;
  responder.respond = [this, route, address, begun = clock_->Now(), has_left = responder.has_left,
                       respond = std::move(responder.respond)](HttpResponse response) mutable {
    const int status = has_left != nullptr && *has_left ? kPeerHasLeft
                       : response.upgrade != nullptr    ? 101
                                                        : response.status;
    --route->under_way;
    ++route->ended[status];
    const absl::Time now = clock_->Now();
    route->latency.Observe(absl::ToInt64Nanoseconds(now - begun), response.span,
                           absl::ToUnixNanos(now));
    if (status == 401 || status == 403) {
      NoteRefusal(*route, address, response);
    } else {
      LogTrouble(*route, status, response.span);
    }
    std::move(respond)(std::move(response));
  };
}

void HttpMetrics::NoteRefusal(const Route& route, const std::string& address,
                              const HttpResponse& response) {
  ++refused_[response.error];
  const std::optional<int64_t> left_out = audit_.Admit();
  if (!left_out.has_value()) return;
  const Principal nobody;
  const Principal& who = response.refused != nullptr ? *response.refused : nobody;
  Log(LogLevel::kWarning, "audit",
      {{"verdict", "refused"},
       {"reason", response.error},
       {"method", route.method},
       {"route", route.path},
       {"principal", who.name},
       {"role", who.name.empty() ? "" : std::string(RoleName(who.role))},
       {"address", AddressText(address)},
       {"left_out", absl::StrCat(*left_out)}});
}

void HttpMetrics::NoteAllowed(const Route& route, const Principal& who) {
  if (!IsLogged(LogLevel::kInfo)) return;
  const std::optional<int64_t> left_out = allowed_.Admit();
  if (!left_out.has_value()) return;
  Log(LogLevel::kInfo, "audit",
      {{"verdict", "allowed"},
       {"method", route.method},
       {"route", route.path},
       {"principal", who.name},
       {"role", std::string(RoleName(who.role))},
       {"left_out", absl::StrCat(*left_out)}});
}

void HttpMetrics::LogTrouble(const Route& route, int status, const TraceContext& span) {
  const bool refused = status == 429;
  if (!refused && status < 500) return;
  const std::optional<int64_t> left_out = (refused ? refusals_ : failures_).Admit();
  if (!left_out.has_value()) return;
  Log(LogLevel::kInfo, refused ? "request refused" : "request failed",
      {{"method", route.method},
       {"route", route.path},
       {"status", absl::StrCat(status)},
       {"traceparent", span.ToString()},
       {"left_out", absl::StrCat(*left_out)}});
}

}  // namespace callslip::gateway
