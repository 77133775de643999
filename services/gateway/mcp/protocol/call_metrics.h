#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>

namespace callslip::gateway {

// Counts tools/call by tool and status: `ok`; `error`, which the model can read; `refused`, a
// protocol error. Calls of nonexistent tools count as `unknown`. Not thread-safe.
class CallMetrics {
 public:
  void Count(const std::string& tool, const std::string& status) { ++calls_[{tool, status}]; }

  // By tool and status.
  const std::map<std::pair<std::string, std::string>, int64_t>& calls() const { return calls_; }

 private:
  std::map<std::pair<std::string, std::string>, int64_t> calls_;
};

}  // namespace callslip::gateway
