#include "gateway/json/health_json.h"

#include <string>
#include <utility>

#include "common/version.h"
#include "gateway/json/command_json.h"
#include "gateway/json/tracker_error.h"

namespace callslip::gateway {
namespace {

Json TrackerEntry(const v1::GetHealthResponse& health) {
  Json commands = Json::object();
  for (const v1::GetHealthResponse::StateCount& count : health.states()) {
    const absl::string_view state =
        IsFinal(count.state()) ? WireStatus(count.state()) : StageOf(count.state());
    commands[std::string(state)] = count.commands();
  }
  Json queue = {{"depth", health.queued()}, {"longest", health.longest_queue()}};
  if (health.has_oldest_queued()) {
    queue["oldest_ms"] = absl::ToInt64Milliseconds(DurationOf(health.oldest_queued()));
  }
  return {
      {"version", health.version()},
      {"uptime_s", health.uptime().seconds()},
      {"commands", std::move(commands)},
      {"queue", std::move(queue)},
      {"workers", {{"connected", health.workers_connected()}, {"known", health.workers_known()}}},
      {"waits", health.waits()},
      {"failed", health.failed()},
      {"late_results", health.late_results()},
      {"payload_bytes", health.payload_bytes()},
      {"sessions", health.sessions()},
      {"storage", {{"events", health.events_appended()}, {"failures", health.storage_failures()}}}};
}

double Milliseconds(const google::protobuf::Duration& duration) {
  return absl::ToDoubleMilliseconds(DurationOf(duration));
}

Json HistoryEntry(const v1::HistorySample& sample) {
  Json failed = Json::object();
  for (const v1::HistorySample::Failures& each : sample.failures()) {
    failed[each.code()] = each.commands();
  }
  Json entry = {{"time", WireTime(sample.time())},
                {"length_ms", absl::ToInt64Milliseconds(DurationOf(sample.length()))},
                {"registered", sample.registered()},
                {"completed", sample.completed()},
                {"failed", std::move(failed)},
                {"queued", sample.queued()},
                {"sessions", sample.sessions()},
                {"sessions_in_turn", sample.sessions_in_turn()}};
  if (sample.has_delivery()) {
    entry["delivery_p50_ms"] = Milliseconds(sample.delivery().p50());
    entry["delivery_p95_ms"] = Milliseconds(sample.delivery().p95());
  }
  if (sample.has_completion()) {
    entry["completion_p50_ms"] = Milliseconds(sample.completion().p50());
    entry["completion_p95_ms"] = Milliseconds(sample.completion().p95());
  }
  return entry;
}

}  // namespace

Json HealthJson(const absl::StatusOr<v1::GetHealthResponse>& tracker, absl::Duration uptime) {
  Json reasons = Json::array();
  Json health = {{"gateway", {{"version", kVersion}, {"uptime_s", absl::ToInt64Seconds(uptime)}}}};
  if (tracker.ok()) {
    health["tracker"] = TrackerEntry(*tracker);
    for (const std::string& reason : tracker->reasons()) reasons.push_back(reason);
    if (tracker->workers_connected() == 0) reasons.push_back("no_worker");
  } else {
    reasons.push_back(TrackerErrorOf(tracker.status()).reason);
  }
  health["ready"] = tracker.ok() && tracker->ready();
  health["reasons"] = std::move(reasons);
  return health;
}

Json HistoryJson(const v1::GetHealthResponse& health) {
  Json samples = Json::array();
  for (const v1::HistorySample& sample : health.history()) samples.push_back(HistoryEntry(sample));
  return {{"time", WireTime(health.time())}, {"samples", std::move(samples)}};
}

}  // namespace callslip::gateway
