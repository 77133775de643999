#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "callslip/tracker/v1/queue_service.pb.h"
#include "callslip/tracker/v1/session_service.pb.h"
#include "gateway/json/json_fields.h"
#include "gateway/json/parse.h"
#include "gateway/json/tracker_error.h"

// Sessions and their queues in the form for HTTP, WebSockets and agents. The only place that knows
// both forms; docs/sessions.md describes them.
namespace callslip::gateway {

namespace v1 = callslip::tracker::v1;

// A response of the tracker, as the body of an HTTP response.
Json ToJson(const v1::Session& session);
Json ToJson(const v1::AgentState& agent);
Json ToJson(const v1::ImageRef& image);
Json ToJson(const v1::ListSessionsResponse& listed);
Json ToJson(const v1::AppendEventsResponse& appended);
// The position of a page in its log: the members of the page except its `events`, which EventText()
// writes.
Json PlaceJson(const v1::ReadEventsResponse& page);
// {"seq", "timestamp", "type", "data"}: EventText(), parsed.
Json ToJson(const v1::SessionEvent& event);
Json ToJson(const v1::Player& player);
Json ToJson(const v1::MovePlayerResponse& moved);
Json ToJson(const v1::AddAgentTextResponse& found);
Json ToJson(const v1::Permission& permission);
Json ToJson(const v1::ListPermissionsResponse& listed);
Json ToJson(const v1::QueuedMessage& message);
Json ToJson(const v1::ListMessagesResponse& listed);
Json ToJson(const v1::QueueStatus& status);
Json ToJson(const v1::SessionUpdate::AgentText& text);
Json ToJson(const v1::StartTurnResponse& started);
Json ToJson(const v1::ReceivedMessage& received);
// {"id", "message", "queued_at"}: the response to a client that has queued a message.
Json QueuedJson(const v1::QueuedMessage& message);

// Changes of a session for an observer, as messages {"type", "data"}: `session_updated`,
// `queue_updated`, `queue_message_sending`, `queue_message_sent`, `permission_asked`,
// `permission_answered`, `permission_cancelled`, `turn_started`, `turn_ended`, `agent_updated`,
// `agent_text`. Null for an event, which EventText() writes, and for an update without content.
Json ToMessage(const v1::SessionUpdate& update);
// The same for all sessions of a client: `session_created`, `session_updated`, `session_ended`,
// `session_resumed`, `session_deleted`, `session_agent`, `session_activity`, and those for queues,
// turns and permissions, with the `session_id`.
Json ToMessage(const v1::SessionNotice& notice);

// {"type": "request_failed", "data": {"error", "message", "hint", "retry_after_ms"?, "request"?,
// "request_id"?}}: sent over a stream or a socket instead of an HTTP error. `request` is the type
// of the message that failed, `request_id` its sender's ID for it.
Json FailureMessage(const TrackerError& error, const std::string& request = "",
                    const std::string& request_id = "");

// An event from the body {"type", "data"}. INVALID_ARGUMENT, reason `invalid_field`.
absl::StatusOr<v1::SessionEvent> EventOf(Json json);

// Copies the members of a body or a query into the request to the tracker. Errors are in
// `fields.status()`.
void ReadFields(JsonFields& fields, v1::CreateSessionRequest& request);
void ReadFields(JsonFields& fields, v1::ListSessionsRequest& request);
void ReadFields(JsonFields& fields, v1::UpdateSessionRequest& request);
void ReadFields(JsonFields& fields, v1::EndSessionRequest& request);
void ReadFields(JsonFields& fields, v1::AppendEventsRequest& request);
void ReadFields(JsonFields& fields, v1::ReadEventsRequest& request);
void ReadFields(JsonFields& fields, v1::MovePlayerRequest& request);
void ReadFields(JsonFields& fields, v1::PlayRequest& request);
void ReadFields(JsonFields& fields, v1::AddAgentTextRequest& request);
void ReadFields(JsonFields& fields, v1::AskPermissionRequest& request);
void ReadFields(JsonFields& fields, v1::AnswerPermissionRequest& request);
void ReadFields(JsonFields& fields, v1::GetImageRequest& request);
void ReadFields(JsonFields& fields, v1::AddMessageRequest& request);
void ReadFields(JsonFields& fields, v1::EditMessageRequest& request);
void ReadFields(JsonFields& fields, v1::MoveMessageRequest& request);
void ReadFields(JsonFields& fields, v1::ConfigureQueueRequest& request);
void ReadFields(JsonFields& fields, v1::PauseQueueRequest& request);
void ReadFields(JsonFields& fields, v1::ResumeQueueRequest& request);
void ReadFields(JsonFields& fields, v1::StartTurnRequest& request);
void ReadFields(JsonFields& fields, v1::FinishTurnRequest& request);

}  // namespace callslip::gateway
