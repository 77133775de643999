#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace callslip::tracker {

// The ownership of a cell.
struct CellState {
  uint64_t epoch = 0;  // Counts the owners; 0 before the first one.
  uint64_t beat = 0;   // Changes as long as the owner lives.
  std::string owner;
  bool released = true;  // The owner has given up the cell and answers no caller anymore.
  friend bool operator==(const CellState&, const CellState&) = default;
};

// Stores the ownership of a cell, visible to all trackers. Each change is one transaction, which on
// return is on the disk of every copy that commits wait for. After an error other than the named
// ones, it is unknown whether the change was made.
class CellStore {
 public:
  virtual ~CellStore() = default;

  virtual absl::StatusOr<CellState> Read() = 0;
  // Makes `owner` the owner, and returns its epoch, which follows the seen one. FAILED_PRECONDITION
  // if epoch or beat have changed since they were seen.
  virtual absl::StatusOr<uint64_t> Take(const CellState& seen, const std::string& owner) = 0;
  // Changes the beat. FAILED_PRECONDITION if the epoch has changed: the caller is no longer the
  // owner.
  virtual absl::Status Beat(uint64_t epoch) = 0;
  // Gives up the cell as the owner of this epoch. FAILED_PRECONDITION as above.
  virtual absl::Status Release(uint64_t epoch) = 0;

  // Whether changes are also on another machine when a call returns, as of the last beat.
  // Thread-safe.
  virtual bool has_copy() const { return true; }
};

}  // namespace callslip::tracker
