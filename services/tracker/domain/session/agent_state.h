#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/time/time.h"

namespace callslip::tracker {

enum class AgentStatus {
  kNone,  // No runner runs it.
  kWaiting,
  kStarting,
  kIdle,
  kPrompting,        // In a turn; never reported, but derived.
  kNeedsPermission,  // In a turn, with an open permission request; never reported, but derived.
  kStopping,
  kStopped,
  kFailed,
};
inline constexpr size_t kAgentStatusCount = 9;
// "none", "waiting", …, "needs_permission", …
const char* AgentStatusName(AgentStatus status);

// A text that all of its copies share.
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

// The agent of a session, as reported by its runner.
struct AgentState {
  // Not stored: unknown after a restart until it is reported.
  AgentStatus status = AgentStatus::kNone;
  std::string reason;     // For programs; not stored.
  std::string message;    // For people; not stored.
  absl::Time updated_at;  // Not stored; UnixEpoch() if nothing was reported.
  // Stored.
  std::string runner_id;         // Its runner; empty while it has none.
  std::string agent_session_id;  // The agent's own id of its session.
  // A JSON object, or empty. Lists in memory omit it: see WithoutDetails().
  SharedText details;
  friend bool operator==(const AgentState&, const AgentState&) = default;
};

// A change of it: absent members stay.
struct AgentChange {
  // kPrompting and kNeedsPermission mean kIdle: whether it is in a turn is derived.
  std::optional<AgentStatus> status;
  std::optional<std::string> reason;   // Truncated to kMaxReasonBytes.
  std::optional<std::string> message;  // Truncated to kMaxReasonTextBytes.
  std::optional<std::string> runner_id;
  std::optional<std::string> agent_session_id;  // Up to kMaxAgentSessionIdBytes.
  std::optional<std::string> details;           // Up to kMaxAgentDetailsBytes.
  // Hash of the token that identifies the session's agent; empty: there is none.
  std::optional<std::string> token_hash;
  int64_t failure = 0;  // For kFailed: see SetAgentStateRequest.
};

// InvalidField for members that are too long. Truncates `reason` and `message`.
absl::Status CheckAndCut(AgentChange& change);

// Applies it. Returns whether any stored member has changed. The caller applies `token_hash`.
bool Apply(const AgentChange& change, absl::Time now, AgentState& state);

}  // namespace callslip::tracker
