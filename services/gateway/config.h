#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "common/address.h"
#include "common/config.h"
#include "common/tls_files.h"
#include "gateway/memory_budget.h"
#include "gateway/oauth/oauth_config.h"

namespace callslip::gateway {

// The origin of the reference extension: the `key` in its manifest fixes its id.
constexpr char kReferenceExtension[] = "chrome-extension://fkcobmieoejemhgkfajpliikanmfnppi";

// All settings of callslip-gateway with their defaults.
struct GatewayConfig {
  std::vector<Address> listen{{.host = "127.0.0.1", .port = 7890}};
  bool listen_when_free = false;
  bool allow_insecure_bind = false;
  std::string token_file;  // Empty: no tokens; loopback only.
  TlsFiles tls;            // For all TCP listeners. Empty: no TLS.
  OAuthConfig oauth;
  std::vector<std::string> allowed_hosts;
  std::vector<std::string> allowed_origins = {kReferenceExtension};
  std::vector<std::string> trusted_proxies;
  std::vector<Address> tracker = {{.host = "127.0.0.1", .port = 7900}};
  absl::Duration drain_delay = absl::ZeroDuration();
  absl::Duration drain_grace = absl::Seconds(2);
  // Empty: no TLS to the tracker.
  std::string tls_ca;
  std::string web_root;       // Empty: the page built into this program.
  std::string extension_dir;  // Empty: not known.
  std::string log_level = "info";
  std::string otlp_endpoint;                // Empty: taken from OpenTelemetry's variables.
  int64_t memory = MemoryBudget::kDefault;  // Bytes.

  void AddTo(OptionSet& options);
  std::optional<TlsFiles> TrackerTls() const;
  // Requires valid settings.
  MemoryBudget Memory() const { return *MemoryBudget::Of(memory); }
  // INVALID_ARGUMENT if the settings contradict each other; the message states what to change.
  absl::Status Validate() const;
};

}  // namespace callslip::gateway
