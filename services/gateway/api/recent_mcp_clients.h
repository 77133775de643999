#ifndef CALLSLIP_GATEWAY_API_RECENT_MCP_CLIENTS_H_
#define CALLSLIP_GATEWAY_API_RECENT_MCP_CLIENTS_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "common/clock.h"

namespace callslip::gateway {

// Which MCP clients have called this gateway since it started. Used on one executor.
class RecentMcpClients {
 public:
  struct McpClient {
    std::string principal;  // As whom it calls.
    std::string name;       // ClientNameOf() it; may be empty.
    absl::Time last_call;
  };

  // Of more, those that have not called for longest make room.
  static constexpr size_t kMaxClients = 256;
  // What the bridge's doctor calls itself, which is left out.
  static constexpr char kDoctor[] = "callslip-doctor";

  // The clock must outlive this.
  explicit RecentMcpClients(Clock* clock) : clock_(clock) {}

  void Note(const std::string& principal, const std::string& name);

  // The one that has called last comes first.
  const std::vector<McpClient>& List() const { return clients_; }

 private:
  Clock* const clock_;
  std::vector<McpClient> clients_;
};

}  // namespace callslip::gateway

#endif  // CALLSLIP_GATEWAY_API_RECENT_MCP_CLIENTS_H_
