#ifndef CALLSLIP_TRACKER_POSTGRES_POSTGRES_JOURNAL_STORAGE_H_
#define CALLSLIP_TRACKER_POSTGRES_POSTGRES_JOURNAL_STORAGE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tracker/domain/journal/journal.h"
#include "tracker/postgres/cell.h"
#include "tracker/postgres/connection.h"
#include "tracker/storage/entry_row.h"

namespace callslip::tracker {

// The journal of commands and drawings in the tables of a cell, as its owner of an epoch writes
// them: one append is one statement, which moves the count of appends where epoch and count are as
// they are known, and writes the rows. So what another tracker has taken over takes nothing more.
//
// Whether an append whose answer is lost was stored is found out before the next one, by a look
// that waits for it to end. It does no harm where the same entries are appended again.
class PostgresJournalStorage final : public JournalStorage {
 public:
  // As many as a table keeps, in all of its partitions.
  static constexpr int64_t kMaxTombstones = 1'600'000;

  // For the owner of `epoch`. UNAVAILABLE; FAILED_PRECONDITION where the cell has another owner.
  // `format` is what its tables are to be of, and `max_tombstones` how many of these it keeps.
  static absl::StatusOr<std::unique_ptr<PostgresJournalStorage>> Open(
      std::string url, uint64_t epoch, int64_t format = kPostgresFormat,
      int64_t max_tombstones = kMaxTombstones);
  // For whoever looks at it as it is now, while others use it: nothing can be appended. Errors as
  // those of a connection.
  static absl::StatusOr<std::unique_ptr<PostgresJournalStorage>> OpenToRead(std::string url);

  uint64_t position() const override { return position_; }
  absl::Status Append(uint64_t position, absl::Span<const JournalEntry> entries) override;
  absl::StatusOr<Summary> Summarize() override;
  absl::Status Replay(const ClocksOf& clocks,
                      const std::function<void(JournalEntry)>& each) override;

 private:
  struct Rows;

  // The epoch of whoever reads only.
  static constexpr int64_t kNoEpoch = -1;

  PostgresJournalStorage(std::string url, int64_t epoch, int64_t format, int64_t max_tombstones)
      : url_(std::move(url)), epoch_(epoch), format_(format), max_tombstones_(max_tombstones) {}

  // Connects where that is needed, and learns the position then.
  absl::Status Connect();
  absl::StatusOr<Rows> RowsOf(absl::Span<const JournalEntry> entries);
  // These read page by page.
  absl::Status ReadEntries(EntryRowDecoder decoder);
  absl::Status ReadTombstones(EntryRowDecoder decoder);

  const std::string url_;
  const int64_t epoch_;
  const int64_t format_;
  const int64_t max_tombstones_;
  std::unique_ptr<PostgresConnection> connection_;
  uint64_t position_ = 0;
  int64_t tombstones_ = 0;
  EntryRowEncoder encoder_;
};

}  // namespace callslip::tracker

#endif  // CALLSLIP_TRACKER_POSTGRES_POSTGRES_JOURNAL_STORAGE_H_
