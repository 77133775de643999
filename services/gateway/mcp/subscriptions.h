#pragma once

#include <list>
#include <memory>
#include <string>

#include "boost/asio/awaitable.hpp"
#include "gateway/mcp/protocol/exchange.h"
#include "gateway/tracker_client/tracker_client.h"

namespace callslip::gateway {

// subscriptions/listen of 2026-07-28: a stream of changes that its caller has chosen, open as long
// as the caller stays connected, even through failures of the tracker: a task that can no longer be
// looked up is reported as expired. Offers changes of tasks and of the resources with their
// results; changes of lists only if the server announces them.
class Subscriptions {
 public:
  // The most tasks and resources in one stream.
  static constexpr size_t kMaxIds = 100;

  // `announces_lists`: whether Announce() will ever be called.
  Subscriptions(TrackerClient* tracker, bool announces_lists)
      : tracker_(tracker), announces_lists_(announces_lists) {}

  // Serves one request until its caller leaves or End() is called.
  boost::asio::awaitable<RpcOutcome> Listen(std::shared_ptr<Exchange> exchange);

  // Notifies subscribers that the list of "tools" or "prompts" has changed.
  void Announce(const std::string& list);

  // Ends all streams with their answers, because the gateway is stopping.
  void End();

 private:
  struct Listener;

  TrackerClient* const tracker_;
  const bool announces_lists_;
  // Shared with its entries: a coroutine may be destroyed after this, together with its executor.
  const std::shared_ptr<std::list<Listener*>> listeners_ = std::make_shared<std::list<Listener*>>();
  bool ended_ = false;
};

}  // namespace callslip::gateway
