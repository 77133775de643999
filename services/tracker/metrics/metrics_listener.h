#pragma once

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

// GET /metrics over HTTP, and nothing else: other paths get 404, other methods 405. A Host header
// that is not one of ours is rejected with 403, as in the gateway, so that no web page can read the
// numbers by DNS rebinding; so are requests whose headers name another site.
//
// CivetWeb, with one thread that serves requests one after the other: one scrape per second is
// already frequent. A slow peer is disconnected after 5 s.
class MetricsListener {
 public:
  // Makes the answer for a scraper with that Accept header, on the listener's thread.
  using Page = std::function<MetricsAnswer(absl::string_view accept)>;

  // Listens on `address`, which must contain an IP address. `allowed_hosts`, each NAME:PORT, are
  // accepted in addition to the address and the loopback names. UNAVAILABLE if it cannot listen.
  static absl::StatusOr<std::unique_ptr<MetricsListener>> Start(
      const Address& address, const std::vector<std::string>& allowed_hosts, Page page);
  // Ends the thread, which takes up to 2 s because the thread polls its port at that interval.
  ~MetricsListener();

  MetricsListener(const MetricsListener&) = delete;
  MetricsListener& operator=(const MetricsListener&) = delete;

  // With the bound port.
  const Address& bound() const { return bound_; }

 private:
  explicit MetricsListener(Page page);

  // Returns the status of the answer, which was sent.
  static int Serve(mg_connection* connection);
  int Answer(mg_connection* connection) const;

  const Page page_;
  Address bound_;
  std::vector<std::string> hosts_;
  mg_context* context_ = nullptr;
  // Notified when `bound_` and `hosts_` are set.
  mutable Notification ready_;
};

}  // namespace callslip::tracker
