#ifndef CALLSLIP_TRACKER_METRICS_METRICS_LISTENER_H_
#define CALLSLIP_TRACKER_METRICS_METRICS_LISTENER_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "common/address.h"
#include "common/metrics_text.h"
#include "common/mutex.h"

struct mg_context;
struct mg_connection;

namespace callslip::tracker {

// GET /metrics over HTTP, and nothing else: other paths are 404, other methods 405. A Host header
// that is not one of ours is refused with 403, as the gateway does, so that no web page can read
// the numbers by rebinding its name; so is whatever says that it comes from another site.
//
// CivetWeb, with one thread of its own that serves one request after the other: a scrape a second
// is many. A peer that is slow is cut off after 5 s.
class MetricsListener {
 public:
  // Makes the answer to a scraper with that Accept header, on the listener's thread.
  using Page = std::function<MetricsAnswer(absl::string_view accept)>;

  // Listens on `address`, which must name an IP address. `allowed_hosts` are accepted besides it
  // and the loopback names, each NAME:PORT. UNAVAILABLE where that is not possible.
  static absl::StatusOr<std::unique_ptr<MetricsListener>> Start(
      const Address& address, const std::vector<std::string>& allowed_hosts, Page page);
  // Ends the thread, which takes up to 2 s: that long it may not look up from its port.
  ~MetricsListener();

  MetricsListener(const MetricsListener&) = delete;
  MetricsListener& operator=(const MetricsListener&) = delete;

  // With the port that was bound.
  const Address& bound() const { return bound_; }

 private:
  explicit MetricsListener(Page page);

  // The status of the answer, which was sent.
  static int Serve(mg_connection* connection);
  int Answer(mg_connection* connection) const;

  const Page page_;
  Address bound_;
  std::vector<std::string> hosts_;
  mg_context* context_ = nullptr;
  // The two above it are set.
  mutable Notification ready_;
};

}  // namespace callslip::tracker

#endif  // CALLSLIP_TRACKER_METRICS_METRICS_LISTENER_H_
