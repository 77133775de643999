#ifndef CALLSLIP_GATEWAY_MCP_PROTOCOL_CALL_TALLY_H_
#define CALLSLIP_GATEWAY_MCP_PROTOCOL_CALL_TALLY_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>

namespace callslip::gateway {

// How tools/call went, by tool: `ok`; `error`, which the model gets to read; `refused`, an error of
// the protocol. Calls of tools that there are not count for `unknown`. Not thread-safe.
class CallTally {
 public:
  void Count(const std::string& tool, const std::string& status) { ++calls_[{tool, status}]; }

  // By tool and status.
  const std::map<std::pair<std::string, std::string>, int64_t>& calls() const { return calls_; }

 private:
  std::map<std::pair<std::string, std::string>, int64_t> calls_;
};

}  // namespace callslip::gateway

#endif  // CALLSLIP_GATEWAY_MCP_PROTOCOL_CALL_TALLY_H_
