#ifndef CALLSLIP_TRACKER_STORAGE_ENTRY_ROW_H_
#define CALLSLIP_TRACKER_STORAGE_ENTRY_ROW_H_

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

// What the journal keeps, as rows of a database, whichever that is: records as the log has them, up
// to three of a sequence. The first one has what never changes and may be large, such as a
// command's parameters, and is written once; what has changed since is in the second; the third
// says that somebody was given the result. What a sequence stands for is what these make of each
// other; see Supersede().
namespace callslip::tracker {

// What is empty or absent is NULL. All but `key`, `until`, `number`, `crc` and `record` is for
// people.
struct EntryRow {
  int64_t key = 0;               // 4 * sequence + 0: the first record, 1: the newest, 2: a receipt.
  std::optional<int64_t> until;  // Of a tombstone: when it goes, in nanoseconds since 1970,
  std::optional<int64_t> number;  // and its place among those that go at the same time.
  absl::string_view kind;
  std::string id;
  // These are the entry's.
  absl::string_view client, target, type;
  std::optional<int64_t> registered;
  absl::string_view state, worker, error_code;
  int64_t crc = 0;     // CRC-32 of the key, as 8 bytes, and the record.
  std::string record;  // An Entry of journal.proto.
};

// What an entry makes of the rows of its sequence.
struct EntryRowChange {
  // The first and the last key of those that go before; none where the last is below the first.
  int64_t remove_from = 0;
  int64_t remove_to = -1;
  bool puts = false;
  EntryRow row;  // In place of the one with its key, where it `puts` one.
};

// Used by one thread at a time.
class EntryRowEncoder {
 public:
  // `change` refers to `entry` afterwards. UNAVAILABLE where it is larger than a row can be.
  absl::Status Encode(const JournalEntry& entry, EntryRowChange& change);

 private:
  JournalEncoder encoder_;
};

// Makes entries of rows again.
class EntryRowDecoder {
 public:
  // DATA_LOSS of what `each` can't make anything of.
  using Visitor = std::function<absl::Status(JournalEntry)>;

  EntryRowDecoder(JournalStorage::ClocksOf clocks, Visitor each)
      : clocks_(std::move(clocks)), each_(std::move(each)) {}

  // Takes rows in the order of their keys, as far as they are of one sequence. DATA_LOSS where one
  // is damaged or makes no sense.
  absl::Status Take(int64_t key, absl::string_view record, int64_t crc);
  // There are no more of them.
  absl::Status Finish();

 private:
  const JournalStorage::ClocksOf clocks_;
  const Visitor each_;
  std::optional<JournalEntry> entry_;  // Of the rows so far of the present sequence.
};

// Gives what is kept in the order of JournalStorage::Replay(), where commands, drawings and answers
// come by their keys and tombstones after them, by their time and number.
class EntryOrder {
 public:
  explicit EntryOrder(std::function<void(JournalEntry)> each) : each_(std::move(each)) {}

  // Of rows that are no tombstones. DATA_LOSS of others.
  absl::Status Take(JournalEntry entry);
  // Of rows that are tombstones, after all others.
  absl::Status TakeTombstone(JournalEntry entry);
  void Finish();

 private:
  const std::function<void(JournalEntry)> each_;
  std::vector<JournalEntry> drawings_;
  std::vector<JournalEntry> answers_;
};

// DATA_LOSS, of a row whose contents no tracker has written.
absl::Status NonsensicalRow(absl::string_view table, int64_t key);
// DATA_LOSS, of a row that does not have its checksum.
absl::Status DamagedRow(absl::string_view table, int64_t key);

}  // namespace callslip::tracker

#endif  // CALLSLIP_TRACKER_STORAGE_ENTRY_ROW_H_
