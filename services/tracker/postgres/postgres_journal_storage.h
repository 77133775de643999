#pragma once

#include <cstdint>
#include <functional>
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

// The journal of commands and drawings in the tables of a cell, written by its owner under an
// epoch. An append is one statement, which increments the count of appends if epoch and count have
// the expected values, and writes the rows. So a tracker whose cell was taken over can append
// nothing more.
//
// If the answer to an append is lost, a query before the next append determines whether it was
// stored; the query waits for that append to end. Appending the same entries again is harmless.
class PostgresJournalStorage final : public JournalStorage {
 public:
  // As many as the table keeps in all of its partitions.
  static constexpr int64_t kMaxTombstones = 1'600'000;

  // For the owner of `epoch`. UNAVAILABLE; FAILED_PRECONDITION if the cell has another owner.
  // `format` is the required format of its tables, `max_tombstones` the number of tombstones that
  // it keeps.
  static absl::StatusOr<std::unique_ptr<PostgresJournalStorage>> Open(
      std::string url, uint64_t epoch, int64_t format = kPostgresFormat,
      int64_t max_tombstones = kMaxTombstones);
  // For reading a consistent state while others use it: nothing can be appended. Errors are those
  // of a connection.
  static absl::StatusOr<std::unique_ptr<PostgresJournalStorage>> OpenToRead(std::string url);

  uint64_t position() const override { return position_; }
  absl::Status Append(uint64_t position, absl::Span<const JournalEntry> entries) override;
  absl::StatusOr<Summary> Summarize() override;
  absl::Status Replay(const ClocksOf& clocks,
                      const std::function<void(JournalEntry)>& each) override;

 private:
  struct Rows;

  // The epoch of a reader.
  static constexpr int64_t kNoEpoch = -1;

  PostgresJournalStorage(std::string url, int64_t epoch, int64_t format, int64_t max_tombstones)
      : url_(std::move(url)), epoch_(epoch), format_(format), max_tombstones_(max_tombstones) {}

  // Connects if necessary, and then reads the position.
  absl::Status Connect();
  absl::StatusOr<Rows> RowsOf(absl::Span<const JournalEntry> entries);
  // Decodes the rows of `sql` from `first` on, page by page, each while the next one is read.
  // `after` returns the parameters of the page that follows a row.
  absl::Status ReadPages(
      const char* sql, PostgresParameters first,
      const std::function<PostgresParameters(const PostgresResult&, int row)>& after,
      EntryRowDecoder decoder);

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
