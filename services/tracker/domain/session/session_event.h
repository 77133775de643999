#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "absl/time/time.h"
#include "tracker/domain/session/queue_delivery.h"

// The events of a session's log. Each is a type and a JSON object, which the tracker does not
// interpret, except for the members in EventFacts.
namespace callslip::tracker {

// The events that the tracker records itself. An empty text stands for an absent member, except for
// those members that each event of the type has. docs/sessions.md describes them.

struct SessionStart {
  std::string session_id;
  std::string acp_server;
  std::string working_dir;
  std::string owner;
};

struct SessionEnd {
  std::string reason;
  int64_t event_count = 0;  // Of the events before it.
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
  // The client's own id of the prompt: the same id twice begins one turn.
  std::string prompt_id;
  std::string queue_id;  // Of the queued message.
};

struct AgentMessage {
  std::string text;
  // The number of the answer, if it was streamed (see AgentAnswers).
  std::optional<int64_t> iteration = {};
};

struct ToolCall {
  std::string tool_call_id;
  std::string title;
  std::string status;
  std::string kind;
};

struct ToolCallUpdate {
  std::string tool_call_id;
  std::string status;
  std::string title = {};
};

struct PermissionRecord {
  std::string title;
  std::string selected_option;
  std::string outcome;
  std::string permission_id = {};
  std::string tool_call_id = {};
  std::string decided_by = {};  // "person", "agent" or "policy"; empty if it was cancelled.
};

struct ErrorEvent {
  std::string message;
  std::string code;
};

// An event that a client sends.
struct ClientEvent {
  std::string type;
  std::string data;  // A JSON object.
};

// An event to be recorded.
using NewEvent = std::variant<SessionStart, SessionEnd, UserPrompt, AgentMessage, ToolCall,
                              ToolCallUpdate, PermissionRecord, ErrorEvent, EndedTurn, ClientEvent>;

// A user_prompt of the log.
struct RecordedPrompt {
  std::string prompt_id;
  std::string queue_id;
  size_t content = 0;  // ContentOf() the prompt. Not stored: valid only in this process.
  int64_t seq = 0;
};

// A hash of what a prompt says. It distinguishes a prompt that is sent again from another prompt
// under the same id.
size_t ContentOf(const std::string& message, const std::vector<std::string>& image_ids);

// The members of an event's data that the tracker reads. A storage finds them when it appends an
// event and when it loads a log.
struct EventFacts {
  struct ToolCall {
    std::string id;
    std::string status;
    bool begins = false;  // A tool_call, not a tool_call_update.
  };
  std::optional<RecordedPrompt> prompt;  // Of a user_prompt.
  std::optional<int64_t> iteration;      // Of an agent_message.
  std::optional<ToolCall> tool_call;
};

// One recorded event. Immutable, and shared by all its readers.
struct SessionEvent {
  // From 1, strictly increasing within its session, never reused.
  int64_t seq = 0;
  absl::Time timestamp;
  std::string type;
  std::string data;  // A JSON object on one line.
  // The length of its line in the log, which counts in buffers and pages.
  size_t bytes = 0;
  friend bool operator==(const SessionEvent&, const SessionEvent&) = default;
};

using EventPtr = std::shared_ptr<const SessionEvent>;

// An event that was just appended.
struct AppendedEvent {
  EventPtr event;
  EventFacts facts;
};

// Selects events to read. They always come in the order of their seq.
struct EventQuery {
  enum class From {
    kAfterSeq,   // The first ones whose seq is above `value`.
    kBeforeSeq,  // The last ones whose seq is below `value`.
    kPosition,   // The ones from the `value`-th on; 0 is the first that the log still holds.
  };
  From from = From::kAfterSeq;
  int64_t value = 0;
  // 0: the default. Values above the maximum mean the maximum.
  int limit = 0;
  // A page ends before it exceeds this, but has at least one event, however long that is. 0 and
  // values above kMaxPageBytes mean kMaxPageBytes.
  size_t max_bytes = 0;
  // Only events of this type; empty: all types. A page can then be empty although more follow.
  std::string type;
};

struct EventPage {
  std::vector<EventPtr> events;
  // In the direction of the query: after the page, or before it for kBeforeSeq.
  bool has_more = false;
  // Of this page; both 0 if it is empty.
  int64_t first_seq() const { return events.empty() ? 0 : events.front()->seq; }
  int64_t last_seq() const { return events.empty() ? 0 : events.back()->seq; }
  // The newest event of the session; 0 if there is none.
  int64_t max_seq = 0;
  // Where a query by position continues, and one by after_seq.
  int64_t next_position = 0;
  int64_t next_after_seq = 0;
  // Number of events in the log.
  int64_t length = 0;
};

}  // namespace callslip::tracker
