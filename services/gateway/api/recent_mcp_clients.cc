#include "gateway/api/recent_mcp_clients.h"

#include <algorithm>

namespace callslip::gateway {

void RecentMcpClients::Note(const std::string& principal, const std::string& name) {
  if (name == kDoctor) return;
  auto client = std::find_if(clients_.begin(), clients_.end(), [&](const McpClient& each) {
    return each.name == name && each.principal == principal;
  });
  if (client == clients_.end()) {
    if (clients_.size() == kMaxClients) clients_.pop_back();
    client = clients_.insert(clients_.end(), {.principal = principal, .name = name});
  }
  client->last_call = clock_->Now();
  std::rotate(clients_.begin(), client, client + 1);
}

}  // namespace callslip::gateway
