#ifndef CALLSLIP_GATEWAY_MCP_TOOLS_SESSION_CONTROL_H_
#define CALLSLIP_GATEWAY_MCP_TOOLS_SESSION_CONTROL_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "boost/asio/awaitable.hpp"
#include "gateway/json/parse.h"
#include "rpc_client/tracker_calls.h"

namespace callslip::gateway {

// What an agent does to the sessions of other agents. What one that lives in a session itself may
// do is decided by the tracker. Errors are the tracker's, and those that are named.
class SessionControl {
 public:
  template <typename T>
  using Result = boost::asio::awaitable<absl::StatusOr<T>>;

  // Who calls.
  struct Caller {
    std::string client;
    std::string session;  // Of the agent; empty where it lives in none.
  };
  // What a new session is to be. Empty: as the caller's session has it, or the only one there is.
  struct Wish {
    std::string agent;
    std::string workspace;  // By its name.
    std::string name;       // May be empty.
    std::string message;    // Begins its first turn.
    bool detach = false;    // It does not end with its parent.
  };

  explicit SessionControl(TrackerCalls* sessions) : sessions_(sessions) {}

  // {"agents": [{"name", "title"?, "problem"?}], "workspaces": [{"name", "dir", "agents"}]}.
  Result<Json> Agents() const;
  // Makes a session and queues its first message: both or neither, but for a tracker that is lost
  // between them. INVALID_ARGUMENT, reasons `unknown_agent` and `unknown_workspace`, which name
  // those that there are.
  Result<v1::Session> Make(Caller caller, Wish wish) const;
  Result<v1::QueueStatus> Stop(Caller caller, std::string session_id) const;
  Result<v1::Session> End(Caller caller, std::string session_id) const;
  // Answers what the agent of a session asks for, as an agent.
  Result<v1::Permission> Permit(Caller caller, std::string session_id, std::string permission_id,
                                std::string option_id) const;

  // FAILED_PRECONDITION, reason `waits_for_itself`, where one of them is the session of the caller
  // or was made for it to be in: these turns do not end before its own.
  boost::asio::awaitable<absl::Status> MayWait(Caller caller, std::vector<std::string> ids) const;

 private:
  TrackerCalls* const sessions_;
};

}  // namespace callslip::gateway

#endif  // CALLSLIP_GATEWAY_MCP_TOOLS_SESSION_CONTROL_H_
