#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "common/address.h"
#include "common/config.h"
#include "common/tls_files.h"
#include "tracker/domain/command/command_deadlines.h"
#include "tracker/domain/session/queue_delivery.h"
#include "tracker/domain/session/session_metadata.h"
#include "tracker/metrics/memory_budget.h"

namespace callslip::tracker {

// All settings of callslip-tracker with their defaults.
struct TrackerConfig {
  std::vector<Address> listen = {{.host = "127.0.0.1", .port = 7900}};
  bool allow_insecure_bind = false;
  std::string token_file;  // Empty: TCP callers are `local`, and only loopback is served.
  std::string tls_cert;
  std::string tls_key;
  std::string tls_client_ca;
  // Empty: data is in a temporary directory and ends with the process.
  std::string data_dir;
  std::string command;  // Only for inspect.
  // postgres://…, replaces the directory; empty: none.
  std::string storage;
  bool storage_without_standby = false;
  // For commands: "memory", "relaxed" or "strict".
  std::string durability = "relaxed";
  int poll_threads = 1;
  std::string metrics_listen;  // HOST:PORT; empty: metrics are not served.
  std::vector<std::string> metrics_allowed_hosts;
  bool metrics_allow_insecure_bind = false;
  absl::Duration drain_grace = absl::Seconds(5);
  std::string log_level = "info";
  std::string otlp_endpoint;  // Empty: OpenTelemetry's environment variables apply.
  CommandDeadlines deadlines;
  bool queue_enabled = true;
  int queue_delay_seconds = 0;
  // Zero: unlimited.
  int max_session_events = 0;
  int max_session_mebibytes = 0;
  absl::Duration keep_ended_sessions = absl::ZeroDuration();
  int64_t memory = MemoryBudget::kDefault;  // Bytes.

  void AddTo(OptionSet& options);
  // INVALID_ARGUMENT, with what to change, if settings contradict each other.
  absl::Status Validate() const;
  // The same for inspect, import and export, where --data-dir and --storage name the data to
  // inspect or copy. `moves`: both are required; otherwise exactly one.
  absl::Status ValidateForCopy(bool moves) const;

  // The address for metrics, if they are served. Only for valid settings.
  std::optional<Address> MetricsAddress() const;

  // Nullopt: TCP without TLS.
  std::optional<TlsFiles> Tls() const;

  // Only for valid settings.
  MemoryBudget Memory() const { return *MemoryBudget::Of(memory); }
  QueueDefaults Queue() const;
  SessionRetention Retention() const;
};

}  // namespace callslip::tracker
