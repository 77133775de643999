#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "tracker/domain/session/message_queue.h"
#include "tracker/domain/session/queue_delivery.h"
#include "tracker/domain/session/session_limits.h"
#include "tracker/domain/session/session_metadata.h"

// metadata.json and queue.json.
namespace callslip::tracker {

inline constexpr char kMetadataFile[] = "metadata.json";
// With all escapes of what an agent reports about itself.
inline constexpr size_t kMaxMetadataBytes = (size_t{64} << 10) + 8 * kMaxAgentDetailsBytes;
inline constexpr char kQueueFile[] = "queue.json";
// With all escapes, including the failed message, the message of the current turn and all writers.
inline constexpr size_t kMaxQueueFileBytes = 8 * kMaxQueueBytes;

// Stored of the agent: "agent"?: {"runner_id"?, "session_id"?, "details"?: {…}}, and
// "agent_token_hash"?. Of a child: "parent_session_id", "depth", "detached", and if an agent
// created it "maker": {"acp_server", "working_dir", "runner_id"?}. Of a session that is reserved
// for one runner: "only_runner". Of images: "image_bytes"?.
std::string EncodeMetadata(const SessionMetadata& metadata);
// Nullopt if the text is not metadata of a session.
std::optional<SessionMetadata> DecodeMetadata(absl::string_view text);

// The messages in the format of the seed, and the state of their delivery, which must survive a
// restart:
//
//   {"messages": [{"id", "message", "image_ids", "queued_at", "client_id", "prompt_id"?,
//                  "state"?: "sending", "turn_id"?,
//                  "by"?: {"session_id", "acp_server", "working_dir", "runner_id"?}}],
//    "updated_at",
//    "enabled"?, "delay_seconds"?,
//    "send_at"?,
//    "turn"?: {"id", "started_at", "prompt": {a message}},
//    "pause"?: {"reason", "message", "at", "failed"?: {a message}},
//    "last_turn_id"?}
std::string EncodeQueue(const std::deque<QueuedMessage>& messages, const DeliveryState& delivery,
                        absl::Time updated_at);
struct QueueFile {
  std::deque<QueuedMessage> messages;
  DeliveryState delivery;
};
// Nullopt if the text is not a queue.
std::optional<QueueFile> DecodeQueue(absl::string_view text);
QueueSummary SummaryOf(const QueueFile& file);

}  // namespace callslip::tracker
