#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "boost/asio/any_io_executor.hpp"
#include "boost/asio/awaitable.hpp"
#include "boost/asio/steady_timer.hpp"
#include "gateway/http/byte_budget.h"
#include "gateway/json/parse.h"
#include "rpc_client/tracker_calls.h"

namespace callslip::gateway {

// One update for observers.
struct ObservedUpdate {
  int64_t seq = 0;  // For an event; 0 for a notice.
  std::string type;
  // A JSON message, {"type", "data"} and the members of events. Encoded once for all observers.
  std::shared_ptr<const std::string> message;
};

class SessionHub;

// Observes the updates of a session, or of all sessions of a client. Its destructor unsubscribes
// it.
class SessionObserver {
 public:
  struct Watched;  // Private to session_hub.cc.

  SessionObserver(std::shared_ptr<SessionHub> hub, std::shared_ptr<Watched> watched);
  SessionObserver(const SessionObserver&) = delete;
  ~SessionObserver();

  // The newest event when it joined: read the events up to this one from the log; later ones arrive
  // here, each exactly once and in order.
  int64_t joined_seq() const { return joined_seq_; }
  // The newest event that the session's observers have received.
  int64_t max_seq() const;
  // The open permission requests, oldest first. Includes changes since it joined.
  const v1::ListPermissionsResponse& permissions() const;
  // The agent's state, with its details.
  const v1::AgentState& agent() const;
  // The unfinished answer, {"iteration", "offset", "text"}; null if none is streaming. Includes
  // pieces since it joined.
  Json agent_text() const;

  // Calls `hear` once when more has arrived than is kept for an observer, so that an observer that
  // is blocked elsewhere learns of it. `hear` must not destroy the observer.
  void OnTooSlow(std::function<void()> hear) { on_too_slow_ = std::move(hear); }

  // Waits for updates and returns the next ones; empty if none arrive in time. One call at a time.
  //
  // An error is final: NOT_FOUND if the session was deleted; RESOURCE_EXHAUSTED, reason `too_slow`,
  // if more has arrived than is kept for an observer; UNAVAILABLE, reason `draining`.
  boost::asio::awaitable<absl::StatusOr<std::vector<ObservedUpdate>>> Next(
      std::chrono::milliseconds at_most = std::chrono::hours(24));

 private:
  friend class SessionHub;

  const std::shared_ptr<SessionHub> hub_;
  const std::shared_ptr<Watched> watched_;
  const int64_t joined_seq_;
  // The numbers of the next update to see and the next update to take. Those in between are being
  // processed until the next call of Next(), and are kept until then.
  uint64_t next_;
  uint64_t taken_to_;
  std::function<void()> on_too_slow_;
  boost::asio::steady_timer news_;  // Cancelled to wake the reader.
};

// Watches sessions for any number of observers: one call to the tracker serves all observers of the
// same session on behalf of the same client. Reopens a call that breaks, after the last received
// event, so that no event is missed or repeated; a notice `notices_missed` then reports that other
// updates may have been missed.
//
// Create it with std::make_shared, since its observers hold it. Used on the executor.
class SessionHub : public std::enable_shared_from_this<SessionHub> {
 public:
  // Limits of the updates of one session that some observer has not taken yet. They are kept once
  // for all observers. The tracker has the same limits for one observer; the newest update is kept
  // regardless of its size.
  static constexpr size_t kMaxWaitingBytes = 8 << 20;
  static constexpr size_t kMaxWaiting = 4096;

  // `sessions` must live as long as the executor runs. Queued updates count against `waiting`, in
  // the client's share.
  SessionHub(boost::asio::any_io_executor executor, TrackerCalls* sessions,
             std::shared_ptr<ByteBudget> waiting)
      : executor_(std::move(executor)), sessions_(sessions), waiting_(std::move(waiting)) {}

  using Joined = boost::asio::awaitable<absl::StatusOr<std::unique_ptr<SessionObserver>>>;

  // Follows a session from now on: returns once no further update can be missed. NOT_FOUND, reason
  // `unknown_session`, or other errors of the tracker; UNAVAILABLE without a reason if that takes
  // longer than `at_most`.
  Joined Join(std::string client_id, std::string session_id,
              std::chrono::milliseconds at_most = std::chrono::hours(24));
  // Follows all sessions of the client: creation, end and changes of sessions, and their queues.
  // Returns once no further update can be missed: list the sessions then.
  Joined JoinAll(std::string client_id, std::string owner = "");

  // Ends all observers, and later ones immediately.
  void End();

 private:
  friend class SessionObserver;
  using Watched = SessionObserver::Watched;
  struct Key {
    std::string client_id;
    std::string session_id;  // Empty: all sessions of `owner`.
    std::string owner;       // See ListSessionsRequest.

    auto operator<=>(const Key&) const = default;
  };

  Joined Begin(Key key, int64_t max_seq, std::chrono::milliseconds at_most);
  std::unique_ptr<SessionObserver> Observe(const Key& key, int64_t max_seq);
  boost::asio::awaitable<void> Follow(std::shared_ptr<SessionHub> self,
                                      std::shared_ptr<Watched> watched);
  boost::asio::awaitable<absl::Status> FollowOne(std::shared_ptr<Watched> watched);
  boost::asio::awaitable<absl::Status> FollowAll(std::shared_ptr<Watched> watched);
  void Leave(SessionObserver* observer);

  const boost::asio::any_io_executor executor_;
  TrackerCalls* const sessions_;
  const std::shared_ptr<ByteBudget> waiting_;
  std::map<Key, std::shared_ptr<Watched>> watched_;
  bool ended_ = false;
};

}  // namespace callslip::gateway
