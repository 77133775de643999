#include "gateway/tracker_access.h"

#include <chrono>
#include <optional>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "auth/principal.h"
#include "boost/asio/redirect_error.hpp"
#include "boost/asio/steady_timer.hpp"
#include "boost/asio/this_coro.hpp"
#include "boost/asio/use_awaitable.hpp"
#include "common/error_details.h"
#include "common/log.h"
#include "gateway/timeouts.h"

namespace callslip::gateway {
namespace {

constexpr char kRefused[] = "tracker_refuses_gateway";
// A client that probably has no commands: the list is not used.
constexpr char kProbe[] = "readiness";
// A call costs next to nothing, and a fix should be noticed soon.
constexpr std::chrono::seconds kPauseWhenRefused{2};
constexpr std::chrono::seconds kPause{15};

constexpr char kOrSocket[] =
    "; or let the tracker listen on a unix socket (--listen unix:PATH) and the gateway connect to "
    "it (--tracker unix:PATH).";

// The hint: what to do, on which side.
std::string AdviceFor(absl::string_view reason) {
  if (reason == "token_missing") {
    return absl::StrCat(
        "The tracker asks for tokens: give the gateway's --token-file a line of the role gateway "
        "that the tracker's --token-file has, too (both may be one file)",
        kOrSocket);
  }
  if (reason == "token_unknown") {
    return absl::StrCat(
        "The gateway shows the token of the role gateway in its --token-file: start the tracker "
        "with a --token-file that has the same line (both may be one file)",
        kOrSocket);
  }
  return absl::StrCat(
      "The tracker does not accept this gateway as a gateway: start the tracker with "
      "--token-file, and give that and the gateway's --token-file the same line of the role "
      "gateway (both may be one file)",
      kOrSocket);
}

}  // namespace

struct TrackerAccess::Looking {
  explicit Looking(const boost::asio::any_io_executor& executor)
      : over(executor, boost::asio::steady_timer::time_point::max()) {}

  // Expires when it is canceled.
  boost::asio::steady_timer over;
  // Empty if the check was canceled before there was a response.
  std::optional<absl::Status> seen;
};

TrackerAccess::TrackerAccess(TrackerClient* tracker, bool has_names)
    : tracker_(tracker), client_id_(has_names ? kProbe : kLocalName) {}

boost::asio::awaitable<absl::Status> TrackerAccess::Look() {
  const boost::asio::any_io_executor executor = co_await boost::asio::this_coro::executor;
  while (!looking_.expired()) {
    const std::shared_ptr<Looking> other = looking_.lock();
    boost::system::error_code woken;
    co_await other->over.async_wait(boost::asio::redirect_error(boost::asio::use_awaitable, woken));
    if (other->seen.has_value()) co_return *other->seen;
    if (looking_.lock() == other) looking_.reset();
  }
  const auto own = std::make_shared<Looking>(executor);
  looking_ = own;
  const absl::Cleanup wake = [own] { own->over.cancel(); };
  own->seen = co_await Ask();
  looking_.reset();
  co_return *own->seen;
}

boost::asio::awaitable<absl::Status> TrackerAccess::Ask() {
  v1::ListCommandsRequest request;
  request.set_client_id(client_id_);
  request.set_page_size(1);
  const auto listed = co_await tracker_->Call(std::move(request), {.deadline = kReadinessDeadline});
  const std::string reason = DetailsOf(listed.status()).reason;
  if (listed.ok()) Note(absl::OkStatus());
  const bool is_refused =
      absl::IsUnauthenticated(listed.status()) || absl::IsPermissionDenied(listed.status());
  // An error without a reason comes from the connection.
  if (!is_refused || reason.empty()) co_return listed.status();
  absl::Status refused = ErrorWithDetails(
      absl::StatusCode::kUnavailable,
      absl::StrCat("The tracker refuses this gateway's calls (", reason,
                   "): ", std::string(listed.status().message())),
      {.reason = kRefused, .hint = AdviceFor(reason), .retry_after = absl::Seconds(2)});
  Note(refused);
  co_return refused;
}

void TrackerAccess::Note(const absl::Status& refused) {
  const std::string message(refused.message());
  if (message == std::exchange(refused_for_, message)) return;
  if (refused.ok()) return Log(LogLevel::kInfo, "the tracker lets this gateway in");
  Log(LogLevel::kError, "the tracker refuses this gateway: it is not ready",
      {{"reason", message}, {"hint", DetailsOf(refused).hint}});
}

boost::asio::awaitable<void> TrackerAccess::Watch(const bool* is_over) {
  const auto executor = co_await boost::asio::this_coro::executor;
  boost::asio::steady_timer timer(executor);
  while (!*is_over) {
    const absl::Status looked = co_await Look();
    timer.expires_after(looked.ok() ? kPause : kPauseWhenRefused);
    co_await timer.async_wait(boost::asio::use_awaitable);
  }
}

}  // namespace callslip::gateway
