#ifndef CALLSLIP_TRACKER_DOMAIN_SESSION_AGENT_STATE_H_
#define CALLSLIP_TRACKER_DOMAIN_SESSION_AGENT_STATE_H_

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/time/time.h"

namespace callslip::tracker {

enum class AgentStatus {
  kNone,  // Nobody runs it.
  kWaiting,
  kStarting,
  kIdle,
  kPrompting,        // In a turn; never told, but found out.
  kNeedsPermission,  // In a turn, with an open permission; never told, but found out.
  kStopping,
  kStopped,
  kFailed,
};
inline constexpr size_t kAgentStatusCount = 9;
// "none", "waiting", …, "needs_permission", …
const char* AgentStatusName(AgentStatus status);

// A text that all copies of it share.
class SharedText {
 public:
  SharedText() = default;
  explicit SharedText(std::string text)
      : text_(text.empty() ? nullptr : std::make_shared<const std::string>(std::move(text))) {}

  bool empty() const { return text_ == nullptr; }
  std::string str() const { return text_ == nullptr ? std::string() : *text_; }
  size_t size() const { return text_ == nullptr ? 0 : text_->size(); }
  friend bool operator==(const SharedText& a, const SharedText& b) {
    return a.text_ == b.text_ || (!a.empty() && !b.empty() && *a.text_ == *b.text_);
  }

 private:
  std::shared_ptr<const std::string> text_;
};

// The agent of a session, as its runner has told it.
struct AgentState {
  // Not stored: after a restart nobody has told it yet.
  AgentStatus status = AgentStatus::kNone;
  std::string reason;     // For programs; not stored.
  std::string message;    // For people; not stored.
  absl::Time updated_at;  // Not stored; UnixEpoch() where nothing was told.
  // Stored.
  std::string runner_id;         // Who runs it; empty while nobody does.
  std::string agent_session_id;  // The agent's own name of its session.
  // A JSON object, or empty. What many hold in memory is without it: see WithoutDetails().
  SharedText details;
  friend bool operator==(const AgentState&, const AgentState&) = default;
};

// What is to change of it: absent members stay.
struct AgentChange {
  // kPrompting and kNeedsPermission mean kIdle: whether it is in a turn is known without.
  std::optional<AgentStatus> status;
  std::optional<std::string> reason;   // Cut to kMaxReasonBytes.
  std::optional<std::string> message;  // Cut to kMaxReasonTextBytes.
  std::optional<std::string> runner_id;
  std::optional<std::string> agent_session_id;  // Up to kMaxAgentSessionIdBytes.
  std::optional<std::string> details;           // Up to kMaxAgentDetailsBytes.
  // Of the token by which the session's agent is known; empty: there is none.
  std::optional<std::string> token_hash;
  int64_t failure = 0;  // Of kFailed, as SetAgentStateRequest has it.
};

// InvalidField for what is too long. Cuts what is to be cut.
absl::Status CheckAndCut(AgentChange& change);

// Applies it. Returns whether anything has changed that is stored. `token_hash` is the caller's.
bool Apply(const AgentChange& change, absl::Time now, AgentState& state);

}  // namespace callslip::tracker

#endif  // CALLSLIP_TRACKER_DOMAIN_SESSION_AGENT_STATE_H_
