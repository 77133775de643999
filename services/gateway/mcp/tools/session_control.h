#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "boost/asio/awaitable.hpp"
#include "gateway/json/parse.h"
#include "rpc_client/tracker_calls.h"

namespace callslip::gateway {

// An agent's operations on the sessions of other agents. The tracker decides on the permissions of
// an agent that runs in a session itself. Errors are the tracker's, and those named below.
class SessionControl {
 public:
  template <typename T>
  using Result = boost::asio::awaitable<absl::StatusOr<T>>;

  // The caller, a client or an agent in a session.
  struct Caller {
    std::string client;
    std::string session;  // The calling agent's session; empty if it runs in none.
  };
  // The properties of a new session. Empty members default to those of the caller's session, or to
  // the only choice.
  struct Wish {
    std::string agent;
    std::string workspace;  // The workspace's name.
    std::string name;       // May be empty.
    std::string message;    // The prompt of its first turn.
    bool detach = false;    // It does not end with its parent.
  };

  explicit SessionControl(TrackerCalls* sessions) : sessions_(sessions) {}

  // {"agents": [{"name", "title"?, "problem"?}], "workspaces": [{"name", "dir", "agents"}]}.
  Result<Json> Agents() const;
  // Creates a session and queues its first message: both or neither, unless the tracker is lost in
  // between. INVALID_ARGUMENT, reasons `unknown_agent` and `unknown_workspace`, which list the
  // valid names.
  Result<v1::Session> Make(Caller caller, Wish wish) const;
  Result<v1::QueueStatus> Stop(Caller caller, std::string session_id) const;
  Result<v1::Session> End(Caller caller, std::string session_id) const;
  // Answers a permission request of a session's agent, on behalf of an agent.
  Result<v1::Permission> Permit(Caller caller, std::string session_id, std::string permission_id,
                                std::string option_id) const;

  // FAILED_PRECONDITION, reason `waits_for_itself`, if one of them is the caller's session or an
  // ancestor of it: their turns do not end before the caller's.
  boost::asio::awaitable<absl::Status> MayWait(Caller caller, std::vector<std::string> ids) const;

 private:
  TrackerCalls* const sessions_;
};

}  // namespace callslip::gateway
