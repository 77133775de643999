#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "callslip/tracker/v1/queue_service.pb.h"
#include "callslip/tracker/v1/session.pb.h"
#include "callslip/tracker/v1/session_service.pb.h"
#include "tracker/domain/session/agent_state.h"
#include "tracker/domain/session/image.h"
#include "tracker/domain/session/message_queue.h"
#include "tracker/domain/session/permissions.h"
#include "tracker/domain/session/queue_delivery.h"
#include "tracker/domain/session/session_event.h"
#include "tracker/domain/session/session_feed.h"
#include "tracker/domain/session/session_metadata.h"
#include "tracker/domain/session/session_notices.h"
#include "tracker/server/call_context.h"

// Conversions between the messages of SessionService and QueueService and the domain's types, and
// nothing else. Values that the domain cannot represent are INVALID_ARGUMENT; the domain checks
// limits.
namespace callslip::tracker {

void Fill(const SessionMetadata& session, v1::Session& message);
void Fill(const ImageRef& image, v1::ImageRef& message);
void Fill(const Image& image, v1::GetImageResponse& message);
void Fill(const AgentState& agent, v1::AgentState& message);
void Fill(const SessionEvent& event, v1::SessionEvent& message);
void Fill(const EventPage& page, v1::ReadEventsResponse& message);
void Fill(const QueuedMessage& queued, v1::QueuedMessage& message);
void Fill(const std::vector<QueuedMessage>& queued, v1::ListMessagesResponse& message);
// `sending_turn_id`: the turn of the message that is being sent, if any.
void Fill(const SessionSnapshot& snapshot, const std::string& sending_turn_id,
          v1::QueueStatus& message);
void Fill(const PermissionRequest& request, v1::Permission& message);
void Fill(const PermissionAnswer& answer, v1::Permission& message);
void Fill(const SessionNotice& notice, v1::SessionNotice& message);
// `update` must not be a FeedEnd.
void Fill(const SessionUpdate& update, v1::SessionUpdate& message);

absl::StatusOr<SessionFilter> FilterFrom(const v1::ListSessionsRequest& request);
// InvalidField for event types that only the tracker records.
absl::StatusOr<ClientEvent> EventFrom(const v1::SessionEvent& message);
// InvalidField for an invalid status.
absl::StatusOr<AgentStatus> StatusFrom(v1::AgentStatus status);
EventQuery QueryFrom(const v1::ReadEventsRequest& request);
PermissionRequest RequestFrom(const v1::AskPermissionRequest& request);
MessageRequest RequestFrom(const CallContext& caller, const v1::AddMessageRequest& request);
MessageRequest RequestFrom(const v1::EditMessageRequest& request);
// For a prompt that the runner begins by itself.
MessageRequest RequestFrom(const v1::StartTurnRequest::Prompt& prompt,
                           const std::string& client_id);
absl::StatusOr<QueueSettings> SettingsFrom(const v1::QueueSettings& message);
absl::StatusOr<TurnOutcome> OutcomeFrom(const v1::FinishTurnRequest& request);

}  // namespace callslip::tracker
