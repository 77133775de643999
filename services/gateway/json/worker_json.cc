#include "gateway/json/worker_json.h"

#include <string>
#include <utility>

#include "gateway/json/command_json.h"

namespace callslip::gateway {
namespace {

constexpr size_t kMaxTabs = 20;

int64_t Milliseconds(const google::protobuf::Duration& duration) {
  return absl::ToInt64Milliseconds(DurationOf(duration));
}

void AddReport(const v1::WorkerReport& report, Json& entry) {
  for (const auto& [name, text] :
       {std::pair("name", &report.name()), std::pair("version", &report.version()),
        std::pair("browser", &report.browser())}) {
    if (!text->empty()) entry[name] = *text;
  }
  entry["paused"] = report.paused();
  Json tabs = JsonOrText(report.tabs());
  if (!tabs.is_array()) return;
  if (tabs.size() > kMaxTabs) {
    entry["more_tabs"] = tabs.size() - kMaxTabs;
    tabs.erase(tabs.begin() + kMaxTabs, tabs.end());
  }
  entry["tabs"] = std::move(tabs);
}

Json DoingEntry(const v1::WorkerCommand& command) {
  return {{"correlation_id", command.command_id()},
          {"command", command.type()},
          {"stage", std::string(StageOf(command.state()))},
          {"since", WireTime(command.deliver_time())}};
}

}  // namespace

Json WorkerEntry(const v1::Worker& worker) {
  Json entry = {{"worker", worker.worker_id()},
                {"target", worker.target()},
                {"connected", worker.connected()},
                {"last_seen_ms_ago", Milliseconds(worker.seen_ago())},
                {"doing", Json::array()}};
  if (worker.has_report()) AddReport(worker.report(), entry);
  for (const v1::WorkerCommand& command : worker.commands()) {
    entry["doing"].push_back(DoingEntry(command));
  }
  if (worker.other_commands() > 0) entry["doing_for_others"] = worker.other_commands();
  return entry;
}

Json WorkerLogEntries(const v1::ListWorkerLogResponse& listed, size_t max_bytes) {
  Json entries = Json::array();
  size_t bytes = 0;
  for (const v1::WorkerLogEntry& each : listed.entries()) {
    Json entry = {{"kind", each.kind()},
                  {"target", each.target()},
                  {"worker", each.worker_id()},
                  {"time", WireTime(each.time())}};
    if (bytes + each.entry().size() <= max_bytes) {
      bytes += each.entry().size();
      entry["entry"] = JsonOrText(each.entry());
    } else {
      entry["entry_bytes"] = each.entry().size();
    }
    entries.push_back(std::move(entry));
  }
  return entries;
}

Json TargetEntry(const v1::Target& target) {
  Json entry = {{"target", target.target()},
                {"queued", target.queued()},
                {"delivered", target.delivered()},
                {"running", target.running()},
                {"workers_connected", target.workers_connected()},
                {"workers_known", target.workers_known()},
                {"limit", target.queue_limit()}};
  if (target.has_oldest_queued()) entry["oldest_ms"] = Milliseconds(target.oldest_queued());
  return entry;
}

}  // namespace callslip::gateway
