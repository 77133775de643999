#include "tracker/storage/session_json.h"

#include <utility>

#include "tracker/storage/json.h"

namespace callslip::tracker {
namespace {

// The largest integer that every JSON reader represents exactly; a larger one is damage.
constexpr int64_t kMaxSeq = int64_t{1} << 53;

FileJson MakerJson(const Maker& maker) {
  FileJson json = {{"acp_server", maker.place.acp_server},
                   {"working_dir", maker.place.working_dir}};
  if (!maker.runner_id.empty()) json["runner_id"] = maker.runner_id;
  return json;
}

Maker MakerFrom(const Json& json, std::string session_id) {
  return {{TextOf(json, "acp_server"), TextOf(json, "working_dir")},
          TextOf(json, "runner_id"),
          std::move(session_id)};
}

FileJson MessageJson(const QueuedMessage& message) {
  FileJson json = FileJson::object();
  json["id"] = message.id;
  json["message"] = message.message;
  json["image_ids"] = message.image_ids;
  json["queued_at"] = FormatTimestamp(message.queued_at);
  json["client_id"] = message.client_id;
  if (!message.prompt_id.empty()) json["prompt_id"] = message.prompt_id;
  if (message.sending()) {
    json["state"] = "sending";
    json["turn_id"] = message.turn_id;
  }
  if (message.by.has_value()) {
    json["by"] = MakerJson(*message.by);
    json["by"]["session_id"] = message.by->session_id;
  }
  return json;
}

std::optional<QueuedMessage> MessageOf(const Json& json) {
  QueuedMessage message{.id = TextOf(json, "id"),
                        .message = TextOf(json, "message"),
                        .queued_at = TimeAt(json, "queued_at").value_or(absl::UnixEpoch()),
                        .client_id = TextOf(json, "client_id"),
                        .prompt_id = TextOf(json, "prompt_id")};
  if (message.id.empty()) return std::nullopt;
  if (TextOf(json, "state") == "sending") message.turn_id = TextOf(json, "turn_id");
  if (json.contains("by")) {
    const Json& by = MemberOf(json, "by");
    message.by = MakerFrom(by, TextOf(by, "session_id"));
  }
  const Json& images = MemberOf(json, "image_ids");
  if (!images.is_array()) return message;
  for (const Json& image : images) {
    if (image.is_string()) message.image_ids.push_back(image.get<std::string>());
  }
  return message;
}

FileJson AgentJson(const AgentState& agent) {
  FileJson json = FileJson::object();
  if (!agent.runner_id.empty()) json["runner_id"] = agent.runner_id;
  if (!agent.agent_session_id.empty()) json["session_id"] = agent.agent_session_id;
  const std::optional<Json> details = ParseJson(agent.details.str());
  if (details.has_value()) json["details"] = *details;
  return json;
}

AgentState AgentOf(const Json& json) {
  AgentState agent{.runner_id = TextOf(json, "runner_id"),
                   .agent_session_id = TextOf(json, "session_id")};
  const Json& details = MemberOf(json, "details");
  if (details.is_object()) agent.details = SharedText(Dump(details));
  return agent;
}

std::optional<Turn> TurnOf(const Json& json) {
  std::optional<QueuedMessage> prompt = MessageOf(MemberOf(json, "prompt"));
  if (!prompt.has_value() || TextOf(json, "id").empty()) return std::nullopt;
  return Turn{.id = TextOf(json, "id"),
              .prompt = *std::move(prompt),
              .started_at = TimeAt(json, "started_at").value_or(absl::UnixEpoch())};
}

DeliveryState DeliveryOf(const Json& json) {
  DeliveryState delivery;
  if (json.contains("enabled")) delivery.settings.enabled = MemberOf(json, "enabled") != false;
  if (const Json& delay = MemberOf(json, "delay_seconds"); delay.is_number()) {
    delivery.settings.delay = absl::Seconds(delay.get<double>());
  }
  delivery.send_at = TimeAt(json, "send_at");
  delivery.last_turn_id = TextOf(json, "last_turn_id");
  delivery.turn = TurnOf(MemberOf(json, "turn"));
  if (json.contains("pause")) {
    const Json& pause = MemberOf(json, "pause");
    delivery.pause = QueuePause{.reason = TextOf(pause, "reason"),
                                .message = TextOf(pause, "message"),
                                .at = TimeAt(pause, "at").value_or(absl::UnixEpoch()),
                                .failed = MessageOf(MemberOf(pause, "failed"))};
  }
  return delivery;
}

}  // namespace

std::string EncodeMetadata(const SessionMetadata& metadata) {
  FileJson json = FileJson::object();
  json["session_id"] = metadata.session_id;
  json["name"] = metadata.name;
  if (!metadata.owner.empty()) json["owner"] = metadata.owner;
  json["acp_server"] = metadata.acp_server;
  json["working_dir"] = metadata.working_dir;
  json["created_at"] = FormatTimestamp(metadata.created_at);
  json["updated_at"] = FormatTimestamp(metadata.updated_at);
  const absl::string_view state = SessionStateName(metadata.state);
  json["status"] = std::string(state);
  if (!metadata.end_reason.empty()) json["end_reason"] = metadata.end_reason;
  if (metadata.archived) {
    json["archived"] = true;
    json["archived_at"] = FormatTimestamp(metadata.archived_at);
  }
  if (metadata.image_bytes > 0) json["image_bytes"] = metadata.image_bytes;
  if (!metadata.parent_session_id.empty()) {
    json["parent_session_id"] = metadata.parent_session_id;
    json["depth"] = metadata.depth;
    json["detached"] = metadata.detached;
  }
  if (metadata.maker.has_value()) json["maker"] = MakerJson(*metadata.maker);
  if (!metadata.only_runner.empty()) json["only_runner"] = metadata.only_runner;
  const FileJson agent = AgentJson(metadata.agent);
  if (!agent.empty()) json["agent"] = agent;
  if (!metadata.agent_token_hash.empty()) json["agent_token_hash"] = metadata.agent_token_hash;
  json["event_count"] = metadata.event_count;
  json["log_bytes"] = metadata.log_bytes;
  json["max_seq"] = metadata.max_seq;
  return Dump(json) + "\n";
}

std::optional<SessionMetadata> DecodeMetadata(absl::string_view text) {
  const std::optional<Json> json = ParseJson(text);
  if (!json.has_value()) return std::nullopt;
  const std::optional<absl::Time> created_at = TimeAt(*json, "created_at");
  if (TextOf(*json, "session_id").empty() || !created_at.has_value()) return std::nullopt;
  SessionMetadata metadata{.session_id = TextOf(*json, "session_id"),
                           .name = TextOf(*json, "name"),
                           .owner = TextOf(*json, "owner"),
                           .acp_server = TextOf(*json, "acp_server"),
                           .working_dir = TextOf(*json, "working_dir"),
                           .created_at = *created_at,
                           .updated_at = TimeAt(*json, "updated_at").value_or(*created_at)};
  metadata.state =
      TextOf(*json, "status") == "completed" ? SessionState::kCompleted : SessionState::kActive;
  metadata.end_reason = TextOf(*json, "end_reason");
  metadata.archived = IsTrue(*json, "archived");
  if (metadata.archived) {
    metadata.archived_at = TimeAt(*json, "archived_at").value_or(metadata.updated_at);
  }
  metadata.image_bytes = IntAt(*json, "image_bytes");
  metadata.parent_session_id = TextOf(*json, "parent_session_id");
  metadata.depth = static_cast<int>(IntAt(*json, "depth"));
  metadata.detached = IsTrue(*json, "detached");
  if (json->contains("maker")) {
    metadata.maker = MakerFrom(MemberOf(*json, "maker"), metadata.parent_session_id);
  }
  metadata.only_runner = TextOf(*json, "only_runner");
  metadata.agent = AgentOf(MemberOf(*json, "agent"));
  metadata.agent_token_hash = TextOf(*json, "agent_token_hash");
  metadata.event_count = IntAt(*json, "event_count");
  metadata.log_bytes = IntAt(*json, "log_bytes");
  metadata.max_seq = IntAt(*json, "max_seq");
  if (metadata.max_seq < 0 || metadata.max_seq > kMaxSeq) return std::nullopt;
  return metadata;
}

std::string EncodeQueue(const std::deque<QueuedMessage>& messages, const DeliveryState& delivery,
                        absl::Time updated_at) {
  FileJson json = FileJson::object();
  json["messages"] = FileJson::array();
  for (const QueuedMessage& message : messages) json["messages"].push_back(MessageJson(message));
  json["updated_at"] = FormatTimestamp(updated_at);
  if (delivery.settings.enabled.has_value()) json["enabled"] = *delivery.settings.enabled;
  if (delivery.settings.delay.has_value()) {
    json["delay_seconds"] = absl::ToDoubleSeconds(*delivery.settings.delay);
  }
  if (delivery.send_at.has_value()) json["send_at"] = FormatTimestamp(*delivery.send_at);
  if (delivery.turn.has_value()) {
    FileJson& turn = json["turn"];
    turn["id"] = delivery.turn->id;
    turn["started_at"] = FormatTimestamp(delivery.turn->started_at);
    turn["prompt"] = MessageJson(delivery.turn->prompt);
  }
  if (delivery.pause.has_value()) {
    FileJson& pause = json["pause"];
    pause["reason"] = delivery.pause->reason;
    pause["message"] = delivery.pause->message;
    pause["at"] = FormatTimestamp(delivery.pause->at);
    if (delivery.pause->failed.has_value()) pause["failed"] = MessageJson(*delivery.pause->failed);
  }
  if (!delivery.last_turn_id.empty()) json["last_turn_id"] = delivery.last_turn_id;
  return Dump(json) + "\n";
}

std::optional<QueueFile> DecodeQueue(absl::string_view text) {
  const std::optional<Json> json = ParseJson(text);
  if (!json.has_value()) return std::nullopt;
  const Json& messages = MemberOf(*json, "messages");
  if (!messages.is_array()) return std::nullopt;
  QueueFile file{.delivery = DeliveryOf(*json)};
  for (const Json& member : messages) {
    std::optional<QueuedMessage> message = MessageOf(member);
    if (!message.has_value()) return std::nullopt;
    file.messages.push_back(*std::move(message));
  }
  return file;
}

QueueSummary SummaryOf(const QueueFile& file) {
  return {.length = file.messages.size(),
          .turn_id = file.delivery.turn.has_value() ? file.delivery.turn->id : "",
          .paused = file.delivery.pause.has_value(),
          .pause_reason = file.delivery.pause.has_value() ? file.delivery.pause->reason : "",
          .enabled = file.delivery.settings.enabled,
          .writers = WritersOf(file.messages)};
}

}  // namespace callslip::tracker
