#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "tracker/domain/journal/journal.h"
#include "tracker/storage/journal_encoding.h"

// The contents of the journal as rows of a database of any kind: the same records as in the log, up
// to three per sequence. The first has what never changes and can be large, such as a command's
// parameters, and is written once. The second has what has changed since. The third states that the
// result was delivered. The state of a sequence is the combination of its rows; see Supersede().
namespace callslip::tracker {

// Empty or absent members are NULL. All but `key`, `until`, `number`, `crc` and `record` are for
// people.
struct EntryRow {
  int64_t key = 0;               // 4 * sequence + 0: the first record, 1: the newest, 2: a receipt.
  std::optional<int64_t> until;  // Of a tombstone: when it expires, in nanoseconds since 1970,
  std::optional<int64_t> number;  // and its order among those that expire together.
  absl::string_view kind;
  std::string id;
  // These refer to the entry.
  absl::string_view client, target, type;
  std::optional<int64_t> registered;
  absl::string_view state, worker, error_code;
  int64_t crc = 0;     // CRC-32 of the key, as 8 bytes, and the record.
  std::string record;  // An Entry of journal.proto.
};

// How an entry changes the rows of its sequence.
struct EntryRowChange {
  // The first and the last key of the rows to remove; none if the last is below the first.
  int64_t remove_from = 0;
  int64_t remove_to = -1;
  bool puts = false;
  EntryRow row;  // Replaces the row with its key, if `puts`.
};

// Not thread-safe: use on one thread at a time.
class EntryRowEncoder {
 public:
  // `change` refers to `entry` afterwards. UNAVAILABLE if it is larger than a row can be.
  absl::Status Encode(const JournalEntry& entry, EntryRowChange& change);

 private:
  JournalEncoder encoder_;
};

// Converts rows to entries.
class EntryRowDecoder {
 public:
  // Returns DATA_LOSS for an entry that it cannot accept.
  using Visitor = std::function<absl::Status(JournalEntry)>;

  EntryRowDecoder(JournalStorage::ClocksOf clocks, Visitor each)
      : clocks_(std::move(clocks)), each_(std::move(each)) {}

  // Must be called with the rows in the order of their keys, as far as they belong to one sequence.
  // DATA_LOSS if a row is damaged or invalid.
  absl::Status Take(int64_t key, absl::string_view record, int64_t crc);
  // Must be called after the last row.
  absl::Status Finish();

 private:
  const JournalStorage::ClocksOf clocks_;
  const Visitor each_;
  std::optional<JournalEntry> entry_;  // From the rows so far of the current sequence.
};

// Passes entries on in the order of JournalStorage::Replay(). Commands, drawings and answers must
// come by key, then tombstones by time and number.
class EntryOrder {
 public:
  explicit EntryOrder(std::function<void(JournalEntry)> each) : each_(std::move(each)) {}

  // For rows that are not tombstones. DATA_LOSS for others.
  absl::Status Take(JournalEntry entry);
  // For rows that are tombstones, after all others.
  absl::Status TakeTombstone(JournalEntry entry);
  void Finish();

 private:
  const std::function<void(JournalEntry)> each_;
  std::vector<JournalEntry> drawings_;
  std::vector<JournalEntry> answers_;
};

}  // namespace callslip::tracker
