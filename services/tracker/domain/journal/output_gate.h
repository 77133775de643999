#pragma once

#include <functional>

#include "absl/status/status.h"

namespace callslip::tracker {

// Gate for all output of a server: no output leaves before the state that it depends on is stored.
// Thread-safe.
class OutputGate {
 public:
  // If OK, the output can leave; else it must not, and the caller receives this error instead.
  using Output = std::function<void(const absl::Status& kept)>;

  virtual ~OutputGate() = default;

  // Whether an output would leave at once, so that it need not be deferred.
  virtual bool IsOpen() const = 0;
  // Calls `output` once, now or later, from any thread.
  virtual void Pass(Output output) = 0;

  // Outputs that the calling thread passes between these two are handled together. Must not be
  // nested.
  virtual void BeginBatch() = 0;
  virtual void EndBatch() = 0;
};

}  // namespace callslip::tracker
