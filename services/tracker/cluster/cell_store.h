#ifndef CALLSLIP_TRACKER_CLUSTER_CELL_STORE_H_
#define CALLSLIP_TRACKER_CLUSTER_CELL_STORE_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace callslip::tracker {

// Whose a cell is.
struct CellState {
  uint64_t epoch = 0;  // Counts the owners; 0 where there was none.
  uint64_t beat = 0;   // Moves as long as the owner lives.
  std::string owner;
  bool released = true;  // Its owner has given it up, and answers nobody any more.
  friend bool operator==(const CellState&, const CellState&) = default;
};

// Where that is written down, for all trackers to see. Each change is one transaction, which is on
// the disk of every copy that is waited for when the call returns; where it returns an error of
// another kind than those that are named, whether it was made is not known.
class CellStore {
 public:
  virtual ~CellStore() = default;

  virtual absl::StatusOr<CellState> Read() = 0;
  // Makes `owner` the owner, with the epoch after the one that was seen, and returns that.
  // FAILED_PRECONDITION where epoch or beat are not as they were seen any more.
  virtual absl::StatusOr<uint64_t> Take(const CellState& seen, const std::string& owner) = 0;
  // Moves the beat. FAILED_PRECONDITION where the epoch is another one: whoever had this one is the
  // owner no more.
  virtual absl::Status Beat(uint64_t epoch) = 0;
  // The owner of this epoch gives the cell up. FAILED_PRECONDITION as above.
  virtual absl::Status Release(uint64_t epoch) = 0;

  // Whether what is changed is on another machine as well when a call returns, as of the last beat.
  // Thread-safe.
  virtual bool has_copy() const { return true; }
};

}  // namespace callslip::tracker

#endif  // CALLSLIP_TRACKER_CLUSTER_CELL_STORE_H_
