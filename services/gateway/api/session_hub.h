#ifndef CALLSLIP_GATEWAY_API_SESSION_HUB_H_
#define CALLSLIP_GATEWAY_API_SESSION_HUB_H_

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

// One thing that observers are told.
struct ObservedUpdate {
  int64_t seq = 0;  // Of an event; 0 for a notice.
  std::string type;
  // A message in JSON, {"type", "data"} and the members of events. Encoded once for all observers.
  std::shared_ptr<const std::string> message;
};

class SessionHub;

// A place in what happens to a session, or to all sessions of a client. Leaves by its destruction.
class SessionObserver {
 public:
  struct Watched;  // Private to session_hub.cc.

  SessionObserver(std::shared_ptr<SessionHub> hub, std::shared_ptr<Watched> watched);
  SessionObserver(const SessionObserver&) = delete;
  ~SessionObserver();

  // The newest event when it joined: those up to there are to be read from the log, those after it
  // come here, each exactly once and in order.
  int64_t joined_seq() const { return joined_seq_; }
  // The newest event that any observer of the session was told of.
  int64_t max_seq() const;
  // The questions that are open, oldest first. What has changed since it joined comes here as well.
  const v1::ListPermissionsResponse& permissions() const;
  // How the agent is, with its details.
  const v1::AgentState& agent() const;
  // What there is of an answer that streams in, {"iteration", "offset", "text"}; null where none
  // does. What came since it joined comes here as well.
  Json agent_text() const;

  // Called once where more has come than waits for an observer, so that one that is held up
  // elsewhere hears of it. Must not destroy the observer.
  void OnTooSlow(std::function<void()> hear) { on_too_slow_ = std::move(hear); }

  // The next of what has come, some at a time, once there is something; empty where nothing comes
  // in time. One call at a time.
  //
  // An error is the end: NOT_FOUND where the session was deleted; RESOURCE_EXHAUSTED, reason
  // `too_slow`, where more has come than waits for an observer; UNAVAILABLE, reason `draining`.
  boost::asio::awaitable<absl::StatusOr<std::vector<ObservedUpdate>>> Next(
      std::chrono::milliseconds at_most = std::chrono::hours(24));

 private:
  friend class SessionHub;

  const std::shared_ptr<SessionHub> hub_;
  const std::shared_ptr<Watched> watched_;
  const int64_t joined_seq_;
  // The numbers of the updates that it has to see next, and that it takes next: those between are
  // on their way to it until it asks for more, and are kept until then.
  uint64_t next_;
  uint64_t taken_to_;
  std::function<void()> on_too_slow_;
  boost::asio::steady_timer news_;  // Cancelled for its reader to look again.
};

// Watches sessions for any number of observers: one call to the tracker for all that look at the
// same session on behalf of the same client. The call is opened anew where it breaks, after the
// last event that came, so that no event is missed or told twice; a notice `notices_missed` then
// says that others may have been.
//
// Made by std::make_shared, since its observers hold it. Used on the executor.
class SessionHub : public std::enable_shared_from_this<SessionHub> {
 public:
  // Updates of one session that some observer has not taken yet. They are kept once for all of
  // them, and are as many as the tracker keeps for one observer: the newest one however large it
  // is.
  static constexpr size_t kMaxWaitingBytes = 8 << 20;
  static constexpr size_t kMaxWaiting = 4096;

  // `sessions` must live as long as the executor runs. What waits for observers counts among
  // `waiting`, on the account of the client.
  SessionHub(boost::asio::any_io_executor executor, TrackerCalls* sessions,
             std::shared_ptr<ByteBudget> waiting)
      : executor_(std::move(executor)), sessions_(sessions), waiting_(std::move(waiting)) {}

  using Joined = boost::asio::awaitable<absl::StatusOr<std::unique_ptr<SessionObserver>>>;

  // Follows a session from now on: returns once nothing is missed any more. NOT_FOUND, reason
  // `unknown_session`, and whatever else the tracker says; UNAVAILABLE without a reason where that
  // takes longer than `at_most`.
  Joined Join(std::string client_id, std::string session_id,
              std::chrono::milliseconds at_most = std::chrono::hours(24));
  // Follows all sessions of the client: what is created, ended or changed, and their queues.
  // Returns once nothing is missed any more: list the sessions then.
  Joined JoinAll(std::string client_id, std::string owner = "");

  // Ends all observers, and later ones at once.
  void End();

 private:
  friend class SessionObserver;
  using Watched = SessionObserver::Watched;
  struct Key {
    std::string client_id;
    std::string session_id;  // Empty: all of them,
    std::string owner;       // of this client; see ListSessionsRequest.

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

#endif  // CALLSLIP_GATEWAY_API_SESSION_HUB_H_
