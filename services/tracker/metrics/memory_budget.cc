#include "tracker/metrics/memory_budget.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "tracker/domain/journal/journal.h"
#include "tracker/domain/worker/worker_limits.h"

namespace callslip::tracker {
namespace {

constexpr int64_t kMiB = int64_t{1} << 20;

// The size of one item without its payload; see ./dev bench.
constexpr int64_t kCommandBytes = 700;
constexpr int64_t kTombstoneBytes = 96;
constexpr int64_t kWaitBytes = 2000;
constexpr int64_t kSessionBytes = 2000;
// Of commands; each has its own tombstones.
constexpr int64_t kPartitions = 16;
// A claim of a place in a worker's log.
constexpr int64_t kClaimBytes = 256;
// What gRPC holds for calls in transit: a dozen of the largest requests.
constexpr int64_t kCallBytes = 192 * kMiB;
// The program and its threads, and what StatisticsHistory keeps.
constexpr int64_t kProcessBytes = 64 * kMiB;
// Below this, not even a few of the largest params and results would fit.
constexpr int64_t kLeastPayloadBytes = 64 * kMiB;

int64_t WorkerLogBytes(const WorkerLogLimits& limits) {
  return static_cast<int64_t>(limits.workers * limits.kinds_of_worker * limits.bytes_of_kind) +
         static_cast<int64_t>(limits.claiming_workers * limits.claims_of_worker) * kClaimBytes;
}

// The shares that do not scale with the budget.
std::vector<MemoryBudget::Share> FixedShares(const SessionLimits& sessions) {
  return {
      {"sessions", static_cast<int64_t>(sessions.sessions) * kSessionBytes},
      {"worker_reports", static_cast<int64_t>(kMaxWorkers * kMaxTabsBytes)},
      {"worker_logs", WorkerLogBytes(WorkerLogLimits())},
      // Held three times: as entries, as one message, and as a record of the log.
      {"journal", 3 * Journal::kMaxBatchBytes},
      {"calls", kCallBytes},
      {"process", kProcessBytes},
  };
}

int64_t SumOf(const std::vector<MemoryBudget::Share>& shares) {
  return std::accumulate(shares.begin(), shares.end(), int64_t{0},
                         [](int64_t sum, const auto& share) { return sum + share.bytes; });
}

std::string InMiB(int64_t bytes) { return absl::StrCat((bytes + kMiB - 1) / kMiB, "MiB"); }

// How much of a table is used; nullopt if it is not counted.
std::optional<int64_t> UseOf(const std::string& table, const MemoryUse& use) {
  if (table == "payloads") return use.payload_bytes;
  if (table == "commands") return use.commands * kCommandBytes;
  if (table == "waits") return use.waits * kWaitBytes;
  if (table == "feeds") return use.feed_bytes;
  if (table == "drawings") return use.drawing_bytes;
  if (table == "sessions") return use.sessions * kSessionBytes;
  if (table == "worker_reports") return use.worker_report_bytes;
  if (table == "worker_logs") return use.worker_log_bytes;
  return std::nullopt;
}

}  // namespace

std::vector<MemoryBudget::Share> MemoryBudget::Shares() const {
  std::vector<Share> shares = {
      // Results are accepted beyond the limit of registrations, up to twice as much.
      {"payloads", 2 * commands.payload_bytes},
      {"commands", commands.commands * kCommandBytes},
      {"tombstones", kPartitions * static_cast<int64_t>(commands.tombstones) * kTombstoneBytes},
      {"waits", commands.waits * kWaitBytes},
      {"feeds", commands.feed_bytes},
      {"drawings", annotations.bytes},
      {"agent_answers", kSessionThreads * static_cast<int64_t>(sessions.agent_text_bytes)},
  };
  for (const Share& share : FixedShares(sessions)) shares.push_back(share);
  return shares;
}

int64_t MemoryBudget::CallBytes() const { return kCallBytes + commands.waits * kWaitBytes; }

absl::StatusOr<MemoryBudget> MemoryBudget::Of(int64_t bytes) {
  MemoryBudget budget{.bytes = bytes};
  const int64_t fixed = SumOf(FixedShares(budget.sessions));
  const double scale =
      std::min(1.0, static_cast<double>(bytes - fixed) / static_cast<double>(kDefault - fixed));
  const auto scaled = [scale](auto& limit) {
    using Limit = std::remove_reference_t<decltype(limit)>;
    limit = static_cast<Limit>(std::max(0.0, static_cast<double>(limit) * scale));
  };
  scaled(budget.commands.commands);
  scaled(budget.commands.commands_of_client);
  scaled(budget.commands.payload_bytes);
  scaled(budget.commands.payload_bytes_of_client);
  scaled(budget.commands.waits);
  scaled(budget.commands.waits_of_client);
  scaled(budget.commands.tombstones);
  scaled(budget.commands.feed_bytes);
  scaled(budget.annotations.bytes);
  scaled(budget.annotations.bytes_of_client);
  scaled(budget.annotations.bytes_of_session);
  scaled(budget.sessions.agent_text_bytes);
  scaled(budget.sessions.agent_text_bytes_of_client);
  const int64_t sum = SumOf(budget.Shares());
  if (sum <= bytes && budget.commands.payload_bytes_of_client >= kLeastPayloadBytes / 4) {
    return budget;
  }
  const int64_t default_payload = CommandLimits().payload_bytes_of_client;
  const int64_t least =
      fixed + (kDefault - fixed) / (default_payload / (kLeastPayloadBytes / 4)) + 1;
  return absl::InvalidArgumentError(absl::StrCat(
      "--memory ", InMiB(bytes), " is too little: what does not shrink with it takes ",
      InMiB(fixed), ", and the rest has to hold a few of the largest results. Set at least ",
      InMiB(least)));
}

void AddMemory(const MemoryBudget& budget, const MemoryUse& use, MetricsPage& page) {
  const auto gauge = [&](const char* name, const char* help, int64_t bytes, const char* table) {
    page.Gauge(name, help, static_cast<double>(bytes), {{"table", table}});
  };
  const std::vector<MemoryBudget::Share> shares = budget.Shares();
  for (const auto& [table, bytes] : shares) {
    gauge("callslip_memory_limit_bytes", "Memory limit of a table.", bytes, table);
  }
  for (const auto& [table, bytes] : shares) {
    const std::optional<int64_t> used = UseOf(table, use);
    if (!used.has_value()) continue;
    gauge("callslip_memory_used_bytes", "Memory that a table uses, where it is counted.", *used,
          table);
  }
  page.Gauge("callslip_memory_bytes", "Memory limit of the process (--memory).",
             static_cast<double>(budget.bytes));
}

}  // namespace callslip::tracker
