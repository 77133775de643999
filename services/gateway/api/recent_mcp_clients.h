#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "common/clock.h"

namespace callslip::gateway {

// The MCP clients that have called this gateway since it started. Used on one executor.
class RecentMcpClients {
 public:
  struct McpClient {
    std::string principal;  // The principal as which it calls.
    std::string name;       // From ClientNameOf(); may be empty.
    absl::Time last_call;
  };

  // Beyond this, the client that has not called for the longest time is evicted.
  static constexpr size_t kMaxClients = 256;
  // The client name of the bridge's doctor, which is omitted.
  static constexpr char kDoctor[] = "callslip-doctor";

  // The clock must outlive this.
  explicit RecentMcpClients(Clock* clock) : clock_(clock) {}

  void Note(const std::string& principal, const std::string& name);

  // The most recent caller comes first.
  const std::vector<McpClient>& List() const { return clients_; }

 private:
  Clock* const clock_;
  std::vector<McpClient> clients_;
};

}  // namespace callslip::gateway
