#ifndef CALLSLIP_TRACKER_DOMAIN_SESSION_SESSION_EVENT_H_
#define CALLSLIP_TRACKER_DOMAIN_SESSION_SESSION_EVENT_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"

// What a session's log holds: one payload for each of the twelve event types, and one for what is
// not among them. An empty text stands for a member that is absent, but for those of the twelve
// that every event of its type has.
namespace callslip::tracker {

struct SessionStart {
  std::string session_id;
  std::string acp_server;
  std::string working_dir;
  std::string owner;  // Empty also where a log was begun before it was recorded.
  friend bool operator==(const SessionStart&, const SessionStart&) = default;
};

struct SessionEnd {
  std::string reason;
  std::optional<int64_t> event_count;
  friend bool operator==(const SessionEnd&, const SessionEnd&) = default;
};

struct ImageRef {
  std::string id;
  std::string name;
  std::string mime_type;
  friend bool operator==(const ImageRef&, const ImageRef&) = default;
};

struct UserPrompt {
  std::string message;
  std::vector<ImageRef> images;
  // What the client named the prompt; the same one twice makes one turn.
  std::string prompt_id;
  // Which message of the queue this was. Empty for a prompt that was recorded by hand.
  std::string queue_id;
  friend bool operator==(const UserPrompt&, const UserPrompt&) = default;
};

struct AgentMessage {
  std::string text;
  // Which of the agent's answers it is, where it came as one (see AgentAnswers).
  std::optional<int64_t> iteration = {};
  // Pieces with the same id are one message.
  std::string message_id = {};
  friend bool operator==(const AgentMessage&, const AgentMessage&) = default;
};

struct AgentThought {
  std::string text;
  std::string message_id = {};  // As of AgentMessage.
  friend bool operator==(const AgentThought&, const AgentThought&) = default;
};

struct ToolCall {
  std::string tool_call_id;
  std::string title;
  std::string status;
  std::string kind;
  // JSON, opaque here. What comes back from the log says the same, maybe in other bytes.
  std::string raw_input;
  std::string raw_output;
  std::string content = {};    // JSON as well: what it has put out…
  std::string locations = {};  // …and where.
  std::string name = {};       // Of the tool, for programs.
  friend bool operator==(const ToolCall&, const ToolCall&) = default;
};

struct ToolCallUpdate {
  std::string tool_call_id;
  std::optional<std::string> status;
  std::optional<std::string> title;
  std::optional<std::string> kind = {};
  // JSON, as of ToolCall; an empty text is absent.
  std::optional<std::string> raw_input = {};
  std::optional<std::string> raw_output = {};
  std::optional<std::string> content = {};
  std::optional<std::string> locations = {};
  friend bool operator==(const ToolCallUpdate&, const ToolCallUpdate&) = default;
};

struct PlanEntry {
  std::string content;
  std::string priority;
  std::string status;
  friend bool operator==(const PlanEntry&, const PlanEntry&) = default;
};

struct Plan {
  std::vector<PlanEntry> entries;
  friend bool operator==(const Plan&, const Plan&) = default;
};

struct PermissionRecord {
  std::string title;
  std::string selected_option;
  std::string outcome;
  std::string permission_id = {};
  std::string tool_call_id = {};
  std::string decided_by = {};  // "person", "agent" or "policy"; empty where it was cancelled.
  friend bool operator==(const PermissionRecord&, const PermissionRecord&) = default;
};

struct FileRead {
  std::string path;
  int64_t size = 0;  // Bytes.
  friend bool operator==(const FileRead&, const FileRead&) = default;
};

struct FileWrite {
  std::string path;
  int64_t size = 0;  // Bytes.
  friend bool operator==(const FileWrite&, const FileWrite&) = default;
};

struct ErrorEvent {
  std::string message;
  std::string code;
  friend bool operator==(const ErrorEvent&, const ErrorEvent&) = default;
};

// An event of another type, or one whose data are not as its type has them: kept as it is.
struct OtherEvent {
  std::string type;
  std::string data;  // JSON.
  friend bool operator==(const OtherEvent&, const OtherEvent&) = default;
};

using EventPayload = std::variant<SessionStart, SessionEnd, UserPrompt, AgentMessage, AgentThought,
                                  ToolCall, ToolCallUpdate, Plan, PermissionRecord, FileRead,
                                  FileWrite, ErrorEvent, OtherEvent>;

// The name of the payload's type as the log has it, such as "user_prompt".
absl::string_view EventTypeOf(const EventPayload& payload);

// One recorded event. Immutable once it is made, and shared by all who read it.
struct SessionEvent {
  // From 1, strictly increasing within its session, never used again.
  int64_t seq = 0;
  absl::Time timestamp;
  EventPayload payload;
  // How long its line in the log is; what it counts for in buffers and pages.
  size_t bytes = 0;
  friend bool operator==(const SessionEvent&, const SessionEvent&) = default;
};

using EventPtr = std::shared_ptr<const SessionEvent>;

// Which events to read. They come in the order of their seq in every case.
struct EventQuery {
  enum class From {
    kAfterSeq,   // The first ones whose seq is above `value`.
    kBeforeSeq,  // The last ones whose seq is below `value`.
    kPosition,   // The ones from the `value`-th on; 0 is the first that the log still holds.
  };
  From from = From::kAfterSeq;
  int64_t value = 0;
  // 0: the default; more than the most there may be: that.
  int limit = 0;
  // A page ends before it exceeds this, but has one event at least, however long that is. 0, and
  // what is above kMaxPageBytes: that.
  size_t max_bytes = 0;
  // Only events of this type; empty: of all. A page may then be empty and have more after it.
  std::string type;
};

struct EventPage {
  std::vector<EventPtr> events;
  // In the direction of the query: after the page, or before it for kBeforeSeq.
  bool has_more = false;
  // Of this page; both 0 where it is empty.
  int64_t first_seq = 0;
  int64_t last_seq = 0;
  // The newest event of the session; 0 where there is none.
  int64_t max_seq = 0;
  // Where a query by position goes on, and one by after_seq.
  int64_t next_position = 0;
  int64_t next_after_seq = 0;
  // How many events the log holds.
  int64_t length = 0;
};

}  // namespace callslip::tracker

#endif  // CALLSLIP_TRACKER_DOMAIN_SESSION_SESSION_EVENT_H_
