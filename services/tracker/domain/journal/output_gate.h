#ifndef CALLSLIP_TRACKER_DOMAIN_JOURNAL_OUTPUT_GATE_H_
#define CALLSLIP_TRACKER_DOMAIN_JOURNAL_OUTPUT_GATE_H_

#include <functional>

#include "absl/status/status.h"

namespace callslip::tracker {

// Where everything that leaves a server has to pass: nothing does before what it may depend on is
// kept. Thread-safe.
class OutputGate {
 public:
  // OK: may leave; else it must not, and the caller is told of this error instead.
  using Output = std::function<void(const absl::Status& kept)>;

  virtual ~OutputGate() = default;

  // Whether an output would leave at once, so that it need not be put aside.
  virtual bool IsOpen() const = 0;
  // Calls `output` once, now or later, from any thread.
  virtual void Pass(Output output) = 0;

  // What the calling thread has to pass in between, it does together. Not to be nested.
  virtual void BeginBatch() = 0;
  virtual void EndBatch() = 0;
};

}  // namespace callslip::tracker

#endif  // CALLSLIP_TRACKER_DOMAIN_JOURNAL_OUTPUT_GATE_H_
