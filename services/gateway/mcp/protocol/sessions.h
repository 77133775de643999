#pragma once

#include <deque>
#include <map>
#include <optional>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "auth/principal.h"
#include "gateway/mcp/protocol/exchange.h"
#include "gateway/mcp/protocol/session_id.h"

namespace callslip::gateway {

// The sessions of legacy clients. A session is its signed id and survives a restart of the gateway.
// Memory holds only state that may be lost in a restart: the session's running requests, its log
// level, and whether its client has ended it.
class Sessions {
 public:
  // `key` signs the ids; 32 bytes.
  explicit Sessions(std::string key) : ids_(std::move(key)) {}

  // Replaces the key. Sessions signed with the previous key become unknown, and their clients open
  // new ones.
  void SetKey(std::string key) { ids_ = SessionIds(std::move(key)); }

  // Returns the id of a new session. `client`: the opening client's ClientNameOf().
  std::string Open(const std::string& version, const Principal& principal,
                   const std::string& client) const;
  // Nullopt if the id was never issued to this principal, or if its session has ended.
  std::optional<SessionInfo> Find(const std::string& id, const Principal& principal) const;
  void End(const std::string& id);

  void SetLogLevel(const std::string& id, int level);
  std::optional<int> LogLevel(const std::string& id) const;

  // Keeps `exchange`, a request of its session, reachable until this is destroyed.
  class UnderWay {
   public:
    UnderWay(Sessions* sessions, Exchange* exchange);
    ~UnderWay();
    UnderWay(const UnderWay&) = delete;
    // False if another running request has the same id.
    bool unique() const { return unique_; }

   private:
    Sessions* const sessions_;
    const std::string session_;
    const std::string request_;
    bool unique_;
  };

  // Cancels the request if it is running.
  void Cancel(const std::string& session, const Json& request_id);
  // Passes a client's reply to our request that it answers, if there is one.
  void Reply(const std::string& session, const Json& id, RpcOutcome outcome);

 private:
  struct State {
    std::map<std::string, Exchange*> under_way;  // By the request's id as JSON.
    std::optional<int> log_level;
    bool ended = false;

    bool lasting() const { return log_level.has_value() || ended; }
  };
  // Sessions kept without running requests; the oldest is evicted first.
  static constexpr size_t kMaxLasting = 10'000;

  State& Lasting(const std::string& id);

  SessionIds ids_;
  absl::flat_hash_map<std::string, State> states_;
  std::deque<std::string> lasting_;
};

}  // namespace callslip::gateway
