#ifndef CALLSLIP_TRACKER_STORAGE_JOURNAL_LOG_H_
#define CALLSLIP_TRACKER_STORAGE_JOURNAL_LOG_H_

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "tracker/storage/file.h"

// The newest appends of the journal, as bytes: two files that take turns, so that one can be
// written while what the other one holds is brought to its place in the database.
//
// A record is a size and a checksum of 32 bits each, the position of its append in 64 bits, and the
// bytes; all numbers are little-endian, and the checksum is a CRC-32 of what follows it. Positions
// follow each other without a gap. A file is written over from its beginning, so that its end is
// where the next position isn't: in what a crash has cut off, or in what is left from before. Where
// both files have a position, it counts in the one that begins later.
namespace callslip::tracker {

// Used by one thread at a time.
class JournalLog {
 public:
  static constexpr std::array<const char*, 2> kFileNames = {"commands-0.log", "commands-1.log"};
  // Before the bytes of a record.
  static constexpr size_t kHeadBytes = 16;
  // A file that is larger when its turn ends shrinks to this.
  static constexpr int64_t kKeptBytes = int64_t{16} << 20;

  // Opens both files, and makes them where they are missing. UNAVAILABLE.
  static absl::StatusOr<JournalLog> Open(const std::string& folder);

  // What the files hold is gone once this has returned. To be called before the first append.
  // UNAVAILABLE.
  absl::Status Empty();

  // Writes the head of a record into its first kHeadBytes.
  static void Seal(uint64_t position, std::string& record);

  // Writes a record; it survives the end of the process once this has returned. Its
  // first kHeadBytes are for the head. One that failed is as if it had not been tried.
  // UNAVAILABLE.
  absl::Status Append(uint64_t position, std::string& record);
  // All records survive a power cut once this has returned; one whose sync has failed is to be
  // appended again.
  absl::Status Sync();

  // How much the present file holds.
  int64_t bytes() const { return end_; }
  // Goes on with the other file, if nothing in that is needed any more.
  void Turn();
  // Of the file before the present one nothing is needed any more.
  void Release() { is_other_needed_ = false; }

 private:
  explicit JournalLog(std::string folder) : folder_(std::move(folder)) {}

  std::string PathOf(size_t file) const;

  std::string folder_;
  std::array<File, 2> files_;
  size_t present_ = 0;
  bool is_other_needed_ = false;
  int64_t end_ = 0;
  int64_t last_size_ = 0;  // Of the last record.
};

// What is in the files of a log: read at one go, and before the database that it adds to, since a
// tracker may go on meanwhile.
class JournalLogContents {
 public:
  // Where a file is missing, it is as if it were empty. UNAVAILABLE.
  static absl::StatusOr<JournalLogContents> Read(const std::string& folder);

  JournalLogContents() = default;
  explicit JournalLogContents(std::array<std::string, 2> files) : files_(std::move(files)) {}

  // Shows the records from `position` on, in their order, up to where one is missing. Passes an
  // error of `each` on.
  using Visitor = std::function<absl::Status(uint64_t position, absl::string_view bytes)>;
  absl::Status ForEach(uint64_t position, const Visitor& each) const;

  // Whether there is a whole record with that position, or one after it.
  bool HasFrom(uint64_t position) const;

 private:
  std::array<std::string, 2> files_;
};

}  // namespace callslip::tracker

#endif  // CALLSLIP_TRACKER_STORAGE_JOURNAL_LOG_H_
